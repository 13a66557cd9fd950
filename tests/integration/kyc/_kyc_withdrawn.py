"""Approvals that no longer stand: withdrawn while another approval of the address stands, of one person in two
sessions, of a person whom the provider no longer knows, of another person; and pruning by age. Parts of
_kyc_faults.py."""
import base64
import concurrent.futures
import os
import subprocess
import time
from datetime import datetime, timezone

import _providers
from _kyc import BIN, COUNTRY, PG_BIN, REAL, Session, approved, check, each, idle, pause, rows, sql, until

WORDS = "jurisdiction, expires_at, encode(meta_hash, 'hex')"
OTHER_COUNTRY = {"sumsub": "DEU", "didit": "DEU", "persona": "DE", "veriff": "DE"}


def newest(s):
    """The last intent of its address: session, action, state, what it says."""
    return sql(f"SELECT session_id, action, state, {WORDS} FROM kyc.outbox WHERE subject = '{s.address}' ORDER BY id DESC LIMIT 1")


def says(s):
    return sql(f"SELECT {WORDS} FROM kyc.outbox WHERE session_id = '{s.id}' AND action = 'attest' ORDER BY decision_rev DESC LIMIT 1")


def confirm(*sessions):
    for s in sessions:
        sql(f"UPDATE kyc.outbox SET state = 'confirmed', confirmed_ledger = 9 WHERE session_id = '{s.id}' AND state = 'queued'")


def override(statement):
    """As no login of a program may: intents that are over are moved too."""
    sql(f"SET session_replication_role = replica; {statement}; RESET session_replication_role")


def day(after):
    return datetime.fromtimestamp(time.time() + after * 86400, timezone.utc).strftime("%Y-%m-%d")


def check_again(s):
    sql(f"UPDATE kyc.session SET next_check = now() WHERE id = '{s.id}'")


def pair(mock, one, other):
    """Two approvals of one address: the second of another country, and for less long where its provider says so."""
    a = approved(mock, one)
    b = Session(mock, other, of=a)
    b.decide("approved", country=OTHER_COUNTRY[other], validUntil=day(40), send=True)
    b.becomes("approved", ["attest"])
    confirm(a, b)
    return a, b


def withdraw(s):
    pause(s.provider)
    s.decide("declined", send=True)
    s.becomes("revoked")


def two(api, mock):
    def one(provider):
        other = REAL[(REAL.index(provider) + 1) % len(REAL)]
        a, b = pair(mock, provider, other)
        withdraw(a)
        check(newest(a) == f"{a.id}|attest|queued|{says(b)}", f"{provider}: {newest(a)}, wanted what {other} gave: {says(b)}")
        noted = sql(f"SELECT detail->>'action', detail->>'because', detail->>'other' FROM kyc.audit WHERE about = '{a.id}' ORDER BY id DESC LIMIT 1")
        check(noted == f"attest|another_approval_stands|{b.id}", f"{provider}: the audit says {noted}")
        confirm(a)
        withdraw(b)
        check(newest(b).split("|")[:3] == [b.id, "revoke", "queued"], f"{provider}: the last approval withdrawn: {newest(b)}")
        # The second one withdrawn: the first is said again, which may last longer.
        a, b = pair(mock, provider, other)
        withdraw(b)
        check(newest(a) == f"{b.id}|attest|queued|{says(a)}", f"{provider}: {newest(a)}")
        # An attestation that the chain never got must not be taken over: it is revoked, then the other one is attested.
        a, b = pair(mock, provider, other)
        override(f"UPDATE kyc.outbox SET state = 'queued' WHERE session_id = '{b.id}'")
        words = says(b)
        withdraw(a)
        check(newest(a) == f"{b.id}|attest|queued|{words}" and a.intents() == ["attest", "revoke"], f"{provider}: {newest(a)} {a.intents()}")
        check((b.rev(), b.intents(), b.state()) == (2, ["attest", "attest"], "approved"), f"{provider}: {b.rev()} {b.intents()}")
        noted = sql(f"SELECT detail->>'because' FROM kyc.audit WHERE about = '{a.id}' ORDER BY id DESC LIMIT 1")
        check(noted == "another_approval_follows", f"{provider}: the audit says {noted}")
        withdraw(b)
        check(newest(b).split("|")[:2] == [b.id, "revoke"], f"{provider}: {newest(b)}")
        # A session without a standing approval keeps no attestation.
        for change in ("outbox SET state = 'parked', reason = 'manual_review' WHERE session_id", "outbox SET expires_at = 1 WHERE session_id",
                       "session SET state = 'expired', jurisdiction = NULL WHERE id"):
            a, b = pair(mock, provider, other)
            override(f"UPDATE kyc.{change} = '{b.id}'")
            withdraw(a)
            check(newest(a).split("|")[1] == "revoke", f"{provider}: {change}: {newest(a)}")

    each(one)
    print("ok two approvals: one withdrawn, the chain is to say what the other gave, no longer; both withdrawn, it is revoked")


def both_at_once(api, mock):
    pairs = [pair(mock, p, REAL[(i + 1) % len(REAL)]) for i, p in enumerate(REAL)]
    held = []
    for p in REAL:
        pause(p)
    for a, b in pairs:
        for s in (a, b):
            s.decide("declined")
            held.append(s.tell(hold=True)["request"])
    with concurrent.futures.ThreadPoolExecutor(len(held)) as pool:
        check({answer["code"] for answer in pool.map(_providers.send, held)} == {200}, "webhooks at once")
    for a, b in pairs:
        a.becomes("revoked")
        b.becomes("revoked")
        check(newest(a).split("|")[1] == "revoke", f"{a.provider} and {b.provider} withdrawn at once: {newest(a)}")
    print("ok both at once: the second one revokes")


def run_out(api, mock):
    """The approval that stands ends before the attester took it to the chain: what the other gave may not stay."""
    a, b = pair(mock, "sumsub", "didit")
    withdraw(a)  # handed over to b, and still queued
    sql(f"UPDATE kyc.session SET attested_until = now() WHERE id = '{b.id}'")
    check_again(b)
    b.becomes("expired")
    check(newest(a).split("|")[:2] == [b.id, "revoke"], f"ended: {newest(a)}")
    a, b = pair(mock, "persona", "veriff")  # a shorter one ends while a longer stands
    sql(f"UPDATE kyc.session SET attested_until = now() WHERE id = '{b.id}'")
    check_again(b)
    b.becomes("expired")
    check(newest(a) == f"{b.id}|attest|queued|{says(a)}", f"a longer one stands: {newest(a)}")
    print("ok run out: nothing lasts longer than an approval that stands")


def twins(api, mock):
    """Two sessions of one person at one provider are one check: what is news of one is news of both, and neither keeps the other."""
    def one(provider):
        a = approved(mock, provider)
        b = Session(mock, provider, of=a)
        check_again(b)
        b.becomes("approved", ["attest"])
        confirm(a, b)
        pause(provider)
        a.decide("declined", send=True)
        for s in (a, b):
            s.becomes("revoked", ["attest", "revoke"])

    each(one)
    print("ok twins: withdrawn in each of their sessions")


def gone(api, mock):
    def one(provider):
        s = approved(mock, provider)
        words = says(s)
        confirm(s)
        held = s.tell(hold=True, event={"sumsub": "applicantDeleted", "persona": "inquiry.redacted"}.get(provider))["request"]
        mock.forget(provider, s.person.id, marked=True)
        check(_providers.send(held)["code"] == 200, f"{provider}: told that a person was deleted")
        if provider == "veriff":  # says nothing of it, so it is found when he is looked at again
            check_again(s)
        until(lambda: sql(f"SELECT reason FROM kyc.session WHERE id = '{s.id}'"), "gone", f"{provider}: gone")
        check((s.state(), s.intents()) == ("approved", ["attest", "revoke"]), f"{provider}: {s.state()} {s.intents()}")
        parked = sql(f"SELECT state, reason, last_status FROM kyc.outbox WHERE session_id = '{s.id}' AND action = 'revoke'")
        check(parked == "parked|manual_review|gone_at_provider", f"{provider}: parked {parked}")
        noted = sql(f"SELECT detail->>'reason', detail->>'because' FROM kyc.audit WHERE about = '{s.id}' ORDER BY id DESC LIMIT 1")
        check(noted == "gone|a_person_decides", f"{provider}: the audit says {noted}")
        check_again(s)
        until(lambda: rows("session", f"id = '{s.id}' AND next_check > now() + interval '1 hour'"), 1, f"{provider}: asked again")
        check(s.intents() == ["attest", "revoke"], f"{provider}: parked twice: {s.intents()}")
        # The provider had made a mistake and repeats its earlier decision: nothing changes on the chain.
        s.person.deleted = False
        mock.people[s.person.id] = s.person
        check_again(s)
        until(lambda: sql(f"SELECT reason IS NULL FROM kyc.session WHERE id = '{s.id}'"), "t", f"{provider}: known again")
        check((s.intents(), says(s)) == (["attest", "revoke", "attest"], words), f"{provider}: {s.intents()} {says(s)}, wanted {words}")
        # Another provider approved the address: the chain says so, and no review is needed.
        other = REAL[(REAL.index(provider) + 1) % len(REAL)]
        a, b = pair(mock, provider, other)
        mock.forget(provider, a.person.id)
        check_again(a)
        until(lambda: newest(a), f"{a.id}|attest|queued|{says(b)}", f"{provider}: gone, and {other} stands")
        # A deleted person does not keep another person's approval.
        withdraw(b)
        check(newest(a).split("|")[:2] == [b.id, "revoke"], f"{provider}: gone, and kept an attestation: {newest(a)}")
        # No approval: there is nothing to decide.
        s = Session(mock, provider, next_check="now()")
        s.decide("pending", send=True)
        s.becomes("pending", [])
        mock.forget(provider, s.person.id)
        check_again(s)
        until(lambda: rows("session", f"id = '{s.id}' AND next_check > now() + interval '20 s'"), 1, f"{provider}: asked about nobody")
        check((s.state(), s.intents()) == ("pending", []), f"{provider}: {s.state()} {s.intents()}")

    each(one)
    print("ok gone at the provider: neither kept nor taken back by guessing: parked for a person; known again: as before")


def another_person(api, mock):
    def one(provider):
        s = Session(mock, provider)
        s.decide("approved")
        held = s.tell(hold=True)["request"]
        s.person.ref = "SOMEBODY-ELSE"
        check(_providers.send(held)["code"] == 200, f"{provider}: a webhook")
        s.becomes("review", [])
        check(sql(f"SELECT reason FROM kyc.session WHERE id = '{s.id}'") == "reference", f"{provider}: why")
        a = approved(mock, provider)
        right, a.person.ref = a.person.ref, "SOMEBODY-ELSE"
        doubted(a, "reference")
        a.person.ref = right
        settled(a)

    each(one)
    print("ok another person: a decision about another reference attests no one and withdraws nothing")


def parked(s):
    return sql(f"SELECT coalesce(string_agg(action || ' ' || last_status, ' ' ORDER BY id), '') FROM kyc.outbox"
               f" WHERE session_id = '{s.id}' AND state = 'parked' AND reason = 'manual_review'")


def doubted(s, reason):
    """An answer that is no verdict: the approval stands, and a person is to decide."""
    check_again(s)
    until(lambda: sql(f"SELECT state, reason FROM kyc.session WHERE id = '{s.id}'"), f"approved|{reason}", f"{s.provider}: {reason}")
    check(parked(s) == f"revoke {reason}", f"{s.provider}: {reason}: parked {parked(s)!r}")
    check(rows("outbox", f"session_id = '{s.id}' AND action = 'revoke' AND state NOT IN ('parked', 'superseded')") == 0, f"{s.provider}: {reason} revoked")


def settled(s):
    """It was set right: the same words as before, which is nothing new to the chain."""
    words = says(s)
    check_again(s)
    until(lambda: sql(f"SELECT state, reason FROM kyc.session WHERE id = '{s.id}'"), "approved|", f"{s.provider}: set right")
    check(newest(s) == f"{s.id}|attest|queued|{words}", f"{s.provider}: set right: {newest(s)}, wanted {words}")


def doubts(api, mock):
    """What the provider's answer does not say is not a withdrawal: an unknown status, no country, an unknown country; another
    level, since the file was edited."""
    def one(provider):
        s = approved(mock, provider)
        for reason, wrong in (("status_unknown", {"status": "from-a-later-version"}), ("no_country", {"country": None}),
                              ("end_unknown", {"valid_until": "31.12.2040"}),
                              ("country_unknown", {"country": "XXA" if len(COUNTRY[provider]) == 3 else "XX"})):
            right = {key: getattr(s.person, key) for key in wrong}
            for key, value in wrong.items():
                setattr(s.person, key, value)
            doubted(s, reason)
            for key, value in right.items():
                setattr(s.person, key, value)
            settled(s)
            sql(f"UPDATE kyc.outbox SET state = 'superseded', reason = NULL WHERE session_id = '{s.id}' AND state = 'parked'")
        withdraw(s)
        check(newest(s).split("|")[1:3] == ["revoke", "queued"], f"{provider}: a verdict: {newest(s)}")

    each(one)
    people = {p: approved(mock, p) for p in REAL if "level" in _providers.ACCOUNTS[p]}
    file = _providers.kyc_file(mock.url, "http://127.0.0.1:1", open=True)
    for provider in file["providers"]:
        if "level" in provider:
            provider["level"] += "9"
    api.stop()
    api.start(settings=file)
    for s in people.values():
        doubted(s, "level")
    api.stop()
    api.start()
    for s in people.values():
        settled(s)
    print("ok doubts: another level, an unknown status or country takes nothing back; set right, all is as before")


def many(api, mock):
    """A provider that withdraws more approvals an hour than the file allows: the rest waits for a person."""
    people = [approved(mock, "veriff") for _ in range(5)]
    api.stop()
    before = rows("outbox", "action = 'revoke' AND reason IS DISTINCT FROM 'manual_review' AND created_at > now() - interval '1 hour'"
                            " AND session_id IN (SELECT id FROM kyc.session WHERE provider = 'veriff')")
    api.start(settings=_providers.kyc_file(mock.url, "http://127.0.0.1:1", open=True, revocationsPerHour=before + 2))
    for s in people:
        s.decide("declined")
        check_again(s)
    until(lambda: sum(s.intents() == ["attest", "revoke"] for s in people), 5, "all are withdrawn")
    held = [s for s in people if parked(s) == "revoke many_revocations"]
    check(len(held) == 3, f"{len(held)} of 5 wait for a person, 3 should")
    check([s.state() for s in held] == ["approved"] * 3, "those that wait are not revoked")
    check_again(held[0])
    until(lambda: rows("session", f"id = '{held[0].id}' AND next_check > now() + interval '1 hour'"), 1, "asked again")
    check(parked(held[0]) == "revoke many_revocations", "said again, it is parked once")
    held[0].decide("approved")
    settled(held[0])
    api.stop()
    api.start()
    print("ok many: the third withdrawal in an hour of two is a person's to decide")


def undated(api, mock):
    """Didit says no time: an approval behind a decline may be the older answer, so a person decides."""
    s = approved(mock, "didit")
    withdraw(s)
    s.decide("approved")
    check_again(s)
    sql(f"UPDATE kyc.session SET next_check = now() WHERE id = '{s.id}'")
    s.tell()
    until(lambda: sql(f"SELECT state, reason FROM kyc.session WHERE id = '{s.id}'"), "approved|undated_approval", "didit: approved behind a decline")
    check((s.intents(), parked(s)) == (["attest", "revoke", "attest"], "attest undated_approval"), f"didit: {s.intents()} {parked(s)}")
    withdraw(s)
    check(newest(s).split("|")[1:3] == ["revoke", "queued"], f"didit: declined again: {newest(s)}")
    lapsed = approved(mock, "didit")  # Approved, Expired, Approved
    lapsed.decide("Kyc Expired", send=True)
    lapsed.becomes("expired", ["attest", "revoke"])
    lapsed.decide("approved", send=True)
    until(lambda: sql(f"SELECT state, reason FROM kyc.session WHERE id = '{lapsed.id}'"), "approved|undated_approval", "didit: approved after an expiry that it told")
    check(parked(lapsed) == "attest undated_approval", f"didit: {parked(lapsed)}")
    lacking = approved(mock, "didit")  # declined, then approved without a country: nothing to attest, and a person must know
    withdraw(lacking)
    lacking.decide("approved", country="RKS", send=True)
    until(lambda: sql(f"SELECT state, reason FROM kyc.session WHERE id = '{lacking.id}'"), "revoked|country_unknown", "didit: approved without a country behind a decline")
    lacking.decide("declined", send=True)
    until(lambda: sql(f"SELECT state, reason FROM kyc.session WHERE id = '{lacking.id}'"), "revoked|provider", "didit: declined again")
    dated = approved(mock, "veriff")
    withdraw(dated)
    pause("veriff")
    dated.decide("approved", send=True)
    dated.becomes("approved", ["attest", "revoke", "attest"])
    check(parked(dated) == "", f"veriff says when: {parked(dated)}")
    print("ok undated: an approval without a time does not undo a decline")


def erase(address, *options):
    done = subprocess.run([f"{BIN}/tidemark-indexer", "erase", *options, address], capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout + done.stderr


def erased(api, mock):
    """What is kept of an address goes at the owner's word: not while the chain's side of it is open, nor, unless it is said, while
    an approval stands. The audit keeps its rows, and has one more."""
    raw = bytes([6 << 3]) + os.urandom(32)
    crc = 0
    for byte in raw:
        for bit in range(8):
            crc = (crc << 1 ^ (0x1021 if (crc >> 15 ^ byte >> 7 - bit) & 1 else 0)) & 0xffff
    address = base64.b32encode(raw + crc.to_bytes(2, "little")).decode()
    s, other = Session(mock, "veriff", address=address), approved(mock, "veriff")
    sql(f"UPDATE kyc.session SET hosted_url = 'https://127.0.0.1/x', hosted_until = now() + interval '1 h' WHERE id = '{s.id}'")
    sql(f"INSERT INTO kyc.session_key SELECT deployment, sha256('{s.id}'), id FROM kyc.session WHERE id = '{s.id}'")
    s.decide("approved", send=True)
    s.becomes("approved", ["attest"])
    check(sql(f"SELECT hosted_url IS NULL AND hosted_until IS NULL FROM kyc.session WHERE id = '{s.id}'") == "t", "a closed session keeps its page")
    for code, words, options in ((0, "on its way", ()), (0, "on its way", ("--although-approved",))):
        told = erase(address, *options)
        check(told[0] != code and words in told[1], f"erase {options}, while its intent is queued: {told}")
    confirm(s)
    told = erase(address)
    check(told[0] != 0 and "approval of this address stands" in told[1], f"erase, approved: {told}")
    check(rows("session", f"address = '{address}'") == 1, "what was refused was done")
    before = int(sql("SELECT max(id) FROM kyc.audit"))
    told = erase(address, "--although-approved")
    check(told[0] == 0, f"erase: {told}")
    dump = subprocess.run([f"{PG_BIN}/pg_dump", "-U", "postgres", "--inserts", "--schema=kyc"], capture_output=True, text=True, check=True).stdout
    for word in (address, s.ref, s.person.id):
        check(word not in dump, f"{word} is in the database")
    check(other.address in dump, "somebody else was erased")
    noted = sql(f"SELECT actor, what, detail FROM kyc.audit WHERE about = '{s.id}' AND id > {before}")
    check(noted == 'postgres operator|erased|{"state": "approved", "provider": "veriff"}', f"the audit says {noted}")
    check(sql("SELECT kyc.audit_broken() IS NULL") == "t", "the audit is broken")
    s.tell()
    until(lambda: rows("inbox", f"provider_id = '{s.person.id}' AND state = 'ignored'"), 1, "a webhook of an erased person")
    check("nothing is kept" in erase(address)[1], "erased twice")
    check(erase("GABC")[0] == 64, "no address")
    print("ok erased: what was kept of an address is gone, and the audit says so")


def whose(api, mock):
    """Two sessions share a reference: an unknown id of the provider is given to the session that has none."""
    for provider in ("veriff", "persona"):
        lost = Session(mock, provider, provider_id=False)
        newer = Session(mock, provider)
        newer.person.ref = lost.ref
        sql(f"UPDATE kyc.session SET address = '{lost.address}', ref = '{lost.ref}', mode = 'direct' WHERE id = '{newer.id}'")
        lost.decide("approved", send=True)
        lost.becomes("approved", ["attest"])
        check((newer.state(), newer.intents()) == ("created", []), f"{provider}: {newer.state()} {newer.intents()}")
    known = Session(mock, "sumsub")
    without_id = Session(mock, "sumsub", provider_id=False)
    sql(f"UPDATE kyc.session SET address = '{known.address}', ref = '{known.ref}', mode = 'direct' WHERE id = '{without_id.id}'")
    known.decide("approved")
    body = '{"type": "applicantReviewed", "externalUserId": "%s", "sandboxMode": true}' % known.ref
    check(mock.webhook("sumsub", id=known.person.id, body=body)["sent"][0]["code"] == 200, "by reference alone")
    known.becomes("approved", ["attest"])
    print("ok whose: a session whose id was lost learns it; a reference alone finds one that can be asked about")


# For each table: rows that must be pruned, and similar rows that must stay.
def aged(api, mock):
    s = approved(mock, "didit")
    withdraw(s)
    idle()
    api.stop()
    sql("""INSERT INTO kyc.inbox (deployment, provider, event_key, body_sha256, received_at, sig_key, state)
           SELECT id, 'didit', 'aged-' || state || '-' || days, sha256('x'), now() - interval '1 day' * days, 0, state
           FROM chain.deployment, unnest(ARRAY['new', 'done', 'ignored', 'failed']) AS state, unnest(ARRAY[29, 31, 4000]) AS days""")
    sql("UPDATE kyc.inbox SET next_try = now() + interval '50 minutes' WHERE event_key LIKE 'aged-new-%'")
    sql("""INSERT INTO kyc.challenge SELECT sha256(minutes::text::bytea), now() - interval '1 minute' * minutes
           FROM unnest(ARRAY[-10, 30, 90, 100000]) AS minutes""")
    sql("UPDATE kyc.session SET created_at = now() - interval '9 years', updated_at = now() - interval '9 years',"
        f" expires_at = now() - interval '9 years' WHERE id = '{s.id}'")
    sql(f"UPDATE kyc.outbox SET created_at = now() - interval '9 years', updated_at = now() - interval '9 years' WHERE session_id = '{s.id}'")
    # The audit is as old as the rest: its chain made anew with these times, as it would be after as many years.
    sql("""DO $$ DECLARE r kyc.audit; before bytea := '\\x'; BEGIN
           FOR r IN SELECT * FROM kyc.audit ORDER BY id LOOP
             r.at := r.at - interval '9 years';
             UPDATE kyc.audit SET at = r.at, prev_hash = before, hash = kyc.audit_hash(before, r.id, r.at, r.actor, r.what, r.about, r.detail)
             WHERE id = r.id RETURNING hash INTO before;
           END LOOP; END $$""")
    check(sql("SELECT kyc.audit_broken() IS NULL") == "t", "the aged audit is broken as it is")
    stays = "SELECT count(*), md5(coalesce(string_agg(t::text, ',' ORDER BY t::text), '')) FROM {} AS t"
    kept = {table: sql(stays.format(table)) for table in ("kyc.outbox", "kyc.session", "kyc.sandbox")}
    paged = Session(mock, "didit")  # its page is over, and it was counted long ago
    sql(f"UPDATE kyc.session SET hosted_url = 'https://127.0.0.1/x', hosted_until = now() - interval '1 s', network = '\\x0102030405060708',"
        f" created_at = now() - interval '2 hours' WHERE id = '{paged.id}'")
    kept["kyc.session"] = sql(stays.format(f"(SELECT * FROM kyc.session WHERE id <> '{paged.id}')"))
    chain = sql("SELECT max(id), md5(string_agg(encode(hash, 'hex'), ',' ORDER BY id)) FROM kyc.audit").split("|")
    fresh = "(SELECT * FROM kyc.inbox WHERE event_key NOT LIKE 'aged-%')"
    others = sql(stays.format(fresh))
    api.start()
    until(lambda: rows("challenge", "expires_at < now() - interval '1 hour'"), 0, "challenges")  # pruned behind the inbox
    left = sql("SELECT string_agg(event_key, ' ' ORDER BY event_key) FROM kyc.inbox WHERE event_key LIKE 'aged-%'")
    check(left == "aged-done-29 aged-failed-29 aged-ignored-29 aged-new-29 aged-new-31 aged-new-4000", f"of the inbox is left: {left}")
    check(rows("challenge", "expires_at > now() - interval '1 hour'") >= 2, "a challenge that might still be shown went")
    check(sql(stays.format(fresh)) == others, f"the rest of the inbox: {sql(stays.format(fresh))}, was {others}")
    until(lambda: sql(f"SELECT hosted_url IS NULL AND hosted_until IS NULL AND network IS NULL FROM kyc.session WHERE id = '{paged.id}'"), "t",
          "a page that has ended, and a network")
    sql(f"DELETE FROM kyc.session WHERE id = '{paged.id}'")
    for table, was in kept.items():
        check(sql(stays.format(table)) == was, f"{table}: {sql(stays.format(table))}, was {was}")
    check(sql(f"SELECT md5(string_agg(encode(hash, 'hex'), ',' ORDER BY id)) FROM kyc.audit WHERE id <= {chain[0]}") == chain[1], "the audit changed")
    check(sql("SELECT kyc.audit_broken() IS NULL") == "t", "the audit is broken")
    check(rows("session", f"id = '{s.id}' AND state = 'revoked' AND decision_rev = 2") == 1, "what was decided is forgotten")
    # A webhook of then, whose row went: asked about, and without effect.
    sql("DELETE FROM kyc.inbox WHERE event_key LIKE 'aged-%'")
    check(s.codes() == [200], "told again, years later")
    idle()
    check((s.state(), s.intents()) == ("revoked", ["attest", "revoke"]), f"years later: {s.state()} {s.intents()}")
    print("ok aged: old webhooks and challenges go; sessions, outbox and the audit's chain stay")


PARTS = [two, both_at_once, run_out, twins, gone, another_person, doubts, many, undated, erased, whose, aged]
