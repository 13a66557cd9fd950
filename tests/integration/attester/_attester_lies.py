"""The cases of attester_lies.sh: each is a function whose docstring says the expected result."""
import base64
import os
import re
import subprocess
import sys
import time

import _attester
from _attester import ATTESTER, World, check, until
from _liar import (FOOTPRINTS, FOREIGN, Liar, add_foreign_code, alter_footprint, event_of, forge_success, hide_entries, make_dear,
                   name_foreign_code, refuse_all, restore_code, restore_foreign_code, shift_ledger, shift_time, swallow, unready)

NOW = ["--clock-skew-s", "3600", "--attester-valid-s", "30"]


def ends(w, intent, state, seconds=30):
    until(lambda: w.row(intent)[0] == state, lambda: f"{intent} {state}: {w.row(intent)}", seconds)
    return w.row(intent)


def lying(w, lies, honest=None):
    """A server that lies, asked before so many honest ones: as many as it takes to go on, unless said otherwise."""
    liar = Liar(w.url, lies, w.deployment["network"])
    liar.__enter__()
    honest = (1 if w.index else 2) if honest is None else honest
    w.rpc = ",".join([liar.url, w.url, w.twin][:1 + honest])
    return liar


def at_once(w, intent):
    """Whatever it waits for is over."""
    w.db.ask(f"UPDATE kyc.outbox SET next_try = now() WHERE id = {intent}")


def attest(w):
    """A person whom the chain knows."""
    w.rpc = f"{w.url},{w.twin}"
    with w.attester(*NOW):
        intent, subject, session = w.plant()
        ends(w, intent, "confirmed")
    return subject, session


def swallowed_revocation(w):
    """the first of two servers swallows a revocation and forges SUCCESS: confirmed only once the chain did it"""
    subject, session = attest(w)
    with lying(w, {"sendTransaction": swallow, "getTransaction": forge_success}, honest=1) as liar:
        with w.attester(*NOW):
            intent, _, _ = w.plant(subject, "revoke", 2, session)
            until(lambda: w.row(intent)[0] in ("confirmed", "parked"), lambda: f"ends: {w.row(intent)}", 60)
            check(liar.told > 0, "nothing was lied about")
            check(w.row(intent)[0] == "confirmed" and not w.compliant(subject), f"{w.row(intent)}, and still compliant")
            check(w.attested(subject, "revoke") == 1, "not revoked once")


def denied_attestation(w):
    """one server says that there is nothing to revoke, and the index, or one other, that there is: the intent waits"""
    subject, session = attest(w)
    with lying(w, {"getLedgerEntries": hide_entries(["Kyc"])}, honest=0 if w.index else 1) as liar:
        with w.attester(*NOW) as attester:
            if w.index:
                w.still()  # else the index is always a ledger behind the server, on a slow machine
            intent, _, _ = w.plant(subject, "revoke", 2, session)
            until(lambda: liar.told > 1 and ("attester.contradicted" if w.index else "not_borne_out") in attester.said(),
                  attester.said)
            check(w.row(intent)[0] == "queued" and w.compliant(subject), f"{w.row(intent)}")
            liar.lies = {}
            w.tick(50)
            at_once(w, intent)
            ends(w, intent, "confirmed")
    check(not w.compliant(subject), "not revoked")


def index_before_the_attestation(w):
    """one server hides what was attested, and the index has not read that ledger yet: the revocation waits for it"""
    if not w.index:
        return
    subject, session = attest(w)
    table, newest = "state.compliance_registry_kyc", w.latest()
    until(lambda: int(w.db.one("SELECT max(ledger) FROM chain.cursor")) >= newest, "indexed")
    w.db.ask(f"CREATE TABLE public.saved AS SELECT * FROM {table} WHERE deployment = {w.served}; DELETE FROM {table} WHERE deployment = {w.served}")
    w.db.ask(f"""BEGIN; ALTER TABLE kyc.outbox DISABLE TRIGGER keep_final; UPDATE kyc.outbox SET confirmed_ledger = {w.latest() + 400}
        WHERE session_id = '{session}'; ALTER TABLE kyc.outbox ENABLE TRIGGER keep_final; COMMIT""")
    with lying(w, {"getLedgerEntries": hide_entries(["Kyc"])}, honest=0) as liar:
        with w.attester(*NOW) as attester:
            intent, _, _ = w.plant(subject, "revoke", 2, session)
            until(lambda: re.search("not_borne_out|index_behind", attester.said()) or w.row(intent)[0] != "queued", attester.said)
            check(liar.told > 0 and w.row(intent)[0] == "queued", f"{w.row(intent)}")
            w.db.ask(f"INSERT INTO {table} SELECT * FROM public.saved ON CONFLICT DO NOTHING; DROP TABLE public.saved")
            liar.lies = {}
            at_once(w, intent)
            ends(w, intent, "confirmed")
    check(not w.compliant(subject), "not revoked")


def ten_years_ahead(w):
    """a close time ten years ahead is refused, and signs nothing that is good for years"""
    with lying(w, {m: shift_time(315360000) for m in ("getLatestLedger", "getTransaction")}):
        with w.attester(*NOW):
            intent, subject, _ = w.plant()
            ends(w, intent, "confirmed")
    latest = int(w.db.one("SELECT max(max_time) FROM kyc.outbox"))
    check(latest <= time.time() + 3600 + 30, f"signed until {latest}")
    check(w.attested(subject) == 1, "not once")


def ledgers_ahead(w):
    """a ledger 9 000 ahead makes no honest server late"""
    with lying(w, {m: shift_ledger(9000) for m in ("getLatestLedger", "getTransaction", "getLedgerEntries")}):
        with w.attester(*NOW):
            for _ in range(2):
                intent, subject, _ = w.plant()
                ends(w, intent, "confirmed")
                check(w.attested(subject) == 1, "not once")


def split_servers_wait(w):
    """two servers, one of them ten years ahead, and no index: what is sent is not confirmed before both say so"""
    if w.index:
        return
    with lying(w, {m: shift_time(315360000) for m in ("getLatestLedger", "getTransaction")}, honest=1) as liar:
        with w.attester(*NOW):
            intent, subject, _ = w.plant()
            until(lambda: w.attested(subject) == 1, lambda: f"on the chain: {w.row(intent)}")
            check(w.row(intent)[0] in ("signed", "submitted"), f"{w.row(intent)}")
            liar.lies = {}
            ends(w, intent, "confirmed")
    check(w.attested(subject) == 1, "not once")


def sent_foreign(liar):
    return sum(FOREIGN in base64.b64decode(e) for e in liar.envelopes.values())


def restored_code(w):
    """a simulation that restores the registry's own code is signed, as an archived one needs it"""
    with lying(w, {"simulateTransaction": alter_footprint(restore_code)}) as liar:
        with w.attester(*NOW) as attester:
            intent, subject, _ = w.plant()
            ends(w, intent, "confirmed")
            check(liar.told > 0 and "attester.policy" not in attester.said(), attester.said())
    check(w.attested(subject) == 1, "not once")


def footprints_are_the_registrys(w):
    """no lie about footprints and archived entries gets another key, other code or a list out of order signed"""
    for lie in FOOTPRINTS:
        with lying(w, {"simulateTransaction": alter_footprint(lie)}) as liar:
            with w.attester(*NOW):
                intent, subject, _ = w.plant()
                ends(w, intent, "confirmed")
                check(liar.told > 0 and sent_foreign(liar) == 0, f"{lie.__name__}: signed")
        check(w.attested(subject) == 1, f"{lie.__name__}: not once")


def foreign_code_is_not_borne_out(w):
    """a server that names other code as the registry's, and has it restored: another server says otherwise"""
    for lie in restore_foreign_code, add_foreign_code:
        lies = {"simulateTransaction": alter_footprint(lie), "getLedgerEntries": name_foreign_code}
        with lying(w, lies) as liar:
            with w.attester(*NOW) as attester:
                intent, subject, _ = w.plant()
                until(lambda: at_once(w, intent) or w.row(intent)[0] == "confirmed", lambda: f"{w.row(intent)}", 60)
                check("not_borne_out" in attester.said(), attester.said())
                check(liar.told > 1 and sent_foreign(liar) == 0, "signed")
        check(w.attested(subject) == 1, "not once")


def trouble_is_no_verdict(w):
    """a server that cannot simulate parks nothing: another one does, or it is asked again after a pause"""
    with lying(w, {"simulateTransaction": unready}):
        with w.attester(*NOW):
            intent, _, _ = w.plant()
            ends(w, intent, "confirmed")
    with lying(w, {"simulateTransaction": unready}, honest=0 if w.index else 1) as liar:
        if not w.index:
            w.rpc = f"{liar.url},{liar.url.replace('127.0.0.1', 'localhost')}"
        with w.attester(*NOW) as attester:
            intent, subject, _ = w.plant()
            until(lambda: attester.said().count("later") > 2, attester.said)
            check(w.row(intent)[0] == "queued", f"{w.row(intent)}")
            liar.lies = {}
            ends(w, intent, "confirmed")
    check(w.attested(subject) == 1, "not once")
    with lying(w, {"simulateTransaction": unready}) as liar:  # all are asked before it waits
        w.rpc = f"{liar.url},{liar.url.replace('127.0.0.1', 'localhost')},{w.url},{w.twin}"
        with w.attester(*NOW) as attester:
            intent, subject, _ = w.plant()
            ends(w, intent, "confirmed")
            check(liar.told > 1 and not re.search("attester.later .*why=simulation_unavailable", attester.said()), attester.said())
    check(w.attested(subject) == 1, "not once")


def refusal_of_one_beside_trouble(w):
    """a server that refuses each simulation parks nothing while the others cannot simulate"""
    with lying(w, {"simulateTransaction": unready}) as ill:
        with lying(w, {"simulateTransaction": refuse_all}) as liar:
            w.rpc = f"{ill.url},{liar.url}"
            with w.attester(*NOW) as attester:
                intent, subject, _ = w.plant()
                until(lambda: liar.told > 2 and attester.said().count("later") > 1, attester.said)
                check(w.row(intent)[0] == "queued", f"{w.row(intent)}")
                ill.lies, liar.lies = {}, {}
                ends(w, intent, "confirmed")
    check(w.attested(subject) == 1, "not once")


def refusals_need_all(w):
    """one server that refuses each simulation parks nothing while another simulates"""
    with lying(w, {"simulateTransaction": refuse_all}):
        with w.attester(*NOW):
            intent, subject, _ = w.plant()
            ends(w, intent, "confirmed")
    check(w.attested(subject) == 1, "not once")


def budget_holds(w):
    """past four fifths of the day's budget attestations wait, and a revocation still gets to the chain"""
    subject, session = attest(w)
    w.db.ask("UPDATE kyc.attester_fee SET signed_at = signed_at - interval '2 days'")
    w.db.ask("UPDATE kyc.attester_fee SET signed_at = now(), charged = 8000000 WHERE outbox = (SELECT max(outbox) FROM kyc.attester_fee)")
    with w.attester(*NOW, "--attester-budget-xlm", "1") as attester:
        waits, _, _ = w.plant()
        until(lambda: w.row(waits)[2] == "fee_budget", lambda: f"waits: {w.row(waits)}")
        revoke, _, _ = w.plant(subject, "revoke", 2, session)
        ends(w, revoke, "confirmed")
        check(w.row(waits)[0] == "queued" and "attester.budget" in attester.said(), f"{w.row(waits)}")
    code, said, wrong = w.once("status", "--attester-budget-xlm", "1")
    check(code == 0 and "of 1 XLM used in 24 hours" in said, said + wrong)
    w.db.ask("UPDATE kyc.attester_fee SET signed_at = signed_at - interval '2 days'")
    at_once(w, waits)
    with w.attester(*NOW):
        ends(w, waits, "confirmed")


def charged_is_known(w):
    """what is over counts with what the chain charged, not with what was bid"""
    attest(w)
    bid, charged, fee = w.db.one("""SELECT f.bid, f.charged, t.fee_charged FROM kyc.attester_fee f LEFT JOIN chain.tx t
        ON t.hash = f.tx_hash ORDER BY f.outbox DESC LIMIT 1""").split("|")
    check(charged and 0 < int(charged) <= int(bid), f"bid {bid}, charged {charged}")
    check(not w.index or charged == fee, f"charged {charged}, the index says {fee}")


BAD = [("expires_at = -5, jurisdiction = -1", "queued"), ("expires_at = 0", "queued"), ("jurisdiction = 0", "queued"),
       ("state = 'signed', seq = 1, envelope = '\\x00', tx_hash = '\\x01', max_time = 1", "signed"),
       ("state = 'submitted', seq = 1, envelope = '\\x00', tx_hash = sha256('x'), max_time = 1", "submitted"),
       ("state = 'signed', seq = -1, envelope = '\\x00', tx_hash = sha256('y'), max_time = -1", "signed"),
       ("attempts = -1", "queued"), ("subject = 'nobody'", "queued")]


def bad_rows_make_way(w):
    """rows that no rule of the database kept out are parked one by one, and the others go on"""
    rules = w.db.ask("SELECT conname FROM pg_constraint WHERE conrelid = 'kyc.outbox'::regclass AND conname ~ '^outbox_[a-z_]*$' AND contype = 'c'")
    dropped = [r for r in rules if r in ("outbox_decision", "outbox_counts", "outbox_hashes", "outbox_under_way", "outbox_confirmed")]
    check(len(dropped) == 5, f"{rules}")
    w.db.ask("BEGIN; " + "; ".join(f"ALTER TABLE kyc.outbox DROP CONSTRAINT {r}" for r in dropped) + "; COMMIT")
    bad = [w.plant()[0] for _ in BAD]
    for intent, (change, _) in zip(bad, BAD):
        w.db.ask(f"UPDATE kyc.outbox SET {change} WHERE id = {intent}")
        w.sign(intent)
    good, subject, _ = w.plant()
    w.rpc = f"{w.url},{w.twin}"
    with w.attester(*NOW):
        ends(w, good, "confirmed")
        for intent in bad:
            ends(w, intent, "parked")
    check(w.attested(subject) == 1, "not once")
    said = {w.row(intent)[1] for intent in bad}
    check(said == {"bad_row", "bad_subject"}, f"{said}")


def forged_rows(w):
    """what the login of KYC writes without KYC's key: parked, supersedes nothing, takes no honest row's place, holds up nothing"""
    url = w.db.url.replace("user=postgres", "user=tidemark_kyc")

    def forge(subject, session, rev, action="attest", mac="NULL", more=""):
        columns = more and ", state"
        done = subprocess.run([_attester.PSQL, "-XAtqc", f"""INSERT INTO kyc.outbox (deployment, subject, session_id, decision_rev, action, jurisdiction,
            expires_at, meta_hash, mac{columns}) VALUES ({w.served}, '{subject}', '{session}', {rev}, '{action}', 756, 4102444800, sha256('x'), {mac}{more})
            RETURNING id""", url], capture_output=True, text=True)
        check(done.returncode == 0, done.stderr)
        return int(done.stdout)
    w.rpc = f"{w.url},{w.twin}"
    with w.attester(*NOW):
        first, subject, session = w.plant()
        ends(w, first, "confirmed")
    stranger, other = w.subject(), w.plant()[2]
    w.db.ask(f"UPDATE kyc.outbox SET state = 'superseded' WHERE session_id = '{other}'")
    copied = f"(SELECT mac FROM kyc.outbox WHERE id = {first})"
    revoked = w.plant(subject, "revoke", 2, session)[0]  # an honest word, and forged ones about the same and others
    forged = [forge(stranger, other, 2), forge(stranger, other, 3, mac=copied), forge(stranger, other, 4, mac="sha256('m')"),
              forge(subject, session, 9, mac=copied), forge(subject, session, 10, more=", 'parked'"), forge(subject, session, 11, more=", 'superseded'"),
              forge(subject, session, 3)]
    with w.attester(*NOW) as attester:
        ends(w, revoked, "confirmed")
        until(lambda: w.db.one("SELECT count(*) FROM kyc.outbox WHERE genuine IS NULL") == "0", "each row is judged")
        again = w.plant(subject, "attest", 3, session)[0]  # its place was taken by a forged row
        ends(w, again, "confirmed")
    check("reason=not_signed" in attester.said(), "nothing in the log")
    for intent in forged:
        state, reason, _ = w.row(intent)
        check(state in ("parked", "superseded") and w.row(intent, "genuine") == ["f"], f"forged {intent}: {state} {reason}")
    check("parked" in w.audit(forged[0]), f"{w.audit(forged[0])}")
    check(w.attested(stranger) == 0 and w.attested(subject, "revoke") == 1 and w.attested(subject) == 2, "a forged row was acted upon")
    check(w.once("requeue", str(forged[0]))[0] == 0, "requeue")
    with w.attester(*NOW):
        ends(w, forged[0], "parked")  # a person's word is no MAC
    # The attester's own login cannot make one either: the program looks at the MAC itself.
    w.db.ask(f"UPDATE kyc.outbox SET state = 'queued', genuine = true WHERE id = {forged[1]}")
    with w.attester(*NOW):
        ends(w, forged[1], "parked")
    check(w.row(forged[1])[1] == "bad_row" and w.attested(stranger) == 0, f"{w.row(forged[1])}")


def erased_session(w):
    """what KYC signed for a person who was erased attests no person, even if its login writes the saved rows again"""
    subject, session = attest(w)
    with w.attester(*NOW):
        revoke = w.plant(subject, "revoke", 2, session)[0]
        ends(w, revoke, "confirmed")
    signed = "deployment, subject, session_id, decision_rev, action, jurisdiction, expires_at, meta_hash, mac"
    w.db.ask(f"""CREATE TABLE public.saved AS SELECT {signed} FROM kyc.outbox WHERE session_id = '{session}' AND action = 'attest';
        CREATE TABLE public.saved_session AS SELECT * FROM kyc.session WHERE id = '{session}';
        GRANT SELECT ON public.saved, public.saved_session TO tidemark_kyc""")
    w.db.ask(f"CALL kyc.erase('{subject}')")
    done = subprocess.run([_attester.PSQL, "-XAtq", "-v", "ON_ERROR_STOP=1", "-c", "INSERT INTO kyc.session SELECT * FROM public.saved_session",
                           "-c", f"INSERT INTO kyc.outbox ({signed}) SELECT {signed} FROM public.saved RETURNING id",
                           w.db.url.replace("user=postgres", "user=tidemark_kyc")], capture_output=True, text=True)
    w.db.ask("DROP TABLE public.saved, public.saved_session")
    check(done.returncode == 0, done.stderr)
    again = int(done.stdout)
    with w.attester(*NOW):
        until(lambda: w.row(again)[0] in ("parked", "confirmed"), lambda: f"ends: {w.row(again)}")
    check(w.row(again)[:2] == ["parked", "not_signed"] and w.attested(subject) == 1, f"{w.row(again)}, attested {w.attested(subject)} times")
    w.db.ask(f"CALL kyc.erase('{subject}')")  # again
    check(w.db.one(f"SELECT count(*) FROM kyc.session WHERE address = '{subject}'") == "0", "what was written again stays")
    fresh, _, _ = w.plant(subject)  # a new session of the same person is another
    w.db.ask(f"UPDATE kyc.outbox SET created_at = (SELECT closed_at FROM chain.cursor) WHERE id = {fresh}") if w.index else None  # the chain's clock is ahead
    with w.attester(*NOW):
        ends(w, fresh, "confirmed")


def every_move_is_audited(w):
    """a state that a login changes by itself leaves a row of the audit"""
    intent = w.plant()[0]
    done = subprocess.run([_attester.PSQL, "-Xqc", f"UPDATE kyc.outbox SET state = 'confirmed', confirmed_ledger = 9 WHERE id = {intent}",
                           w.db.url.replace("user=postgres", "user=tidemark_attester")], capture_output=True, text=True)
    check(done.returncode == 0, done.stderr)
    noted = w.db.one(f"SELECT actor, what, detail ->> 'from', detail ->> 'ledger' FROM kyc.audit WHERE (detail ->> 'id')::bigint = {intent}")
    check(noted == "tidemark_attester outbox|confirmed|queued|9", f"{noted}")
    if not w.index:
        return
    w.rpc = w.url
    with w.attester(*NOW):
        attested, subject, session = w.plant()
        ends(w, attested, "confirmed")
    for ledger in (9, 2**32 - 1):
        revoke = w.plant(subject, "revoke", 2 if ledger == 9 else 3, session)[0]
        w.db.ask(f"UPDATE kyc.outbox SET state = 'confirmed', genuine = true, confirmed_ledger = {ledger} WHERE id = {revoke}")
        check(f"standing {revoke} revoke: confirmed in ledger {ledger}" in w.once("status")[1], w.last_said())
    standing = lambda: w.db.one("SELECT standing FROM kyc.attester ORDER BY heartbeat_at DESC LIMIT 1")
    with w.attester(*NOW):
        until(lambda: standing() == "1", lambda: f"counted: {standing()}")
    # As the manual says: the owner has a revocation sent again that was never on the chain.
    w.db.ask(f"""BEGIN; ALTER TABLE kyc.outbox DISABLE TRIGGER keep_final; UPDATE kyc.outbox SET state = 'parked', confirmed_ledger = NULL
        WHERE id = {revoke}; ALTER TABLE kyc.outbox ENABLE TRIGGER keep_final; COMMIT""")
    check(w.once("requeue", str(revoke))[0] == 0, w.last_said())
    with w.attester(*NOW):
        ends(w, revoke, "confirmed")
    until(lambda: "standing" not in w.once("status")[1], "the revocation is on the chain")
    with w.attester(*NOW):
        until(lambda: standing() == "0", lambda: f"counted: {standing()}")


def final_is_final(w):
    """the attester's login attests no revoked person again: neither the old attestation nor the judgement on the revocation can be moved"""
    url = w.db.url.replace("user=postgres", "user=tidemark_attester")
    subject, session = attest(w)
    with w.attester(*NOW):
        revoke = w.plant(subject, "revoke", 2, session)[0]
        ends(w, revoke, "confirmed")
    waits = w.plant(subject, "revoke", 3, session)[0]
    w.db.ask(f"UPDATE kyc.outbox SET state = 'parked', genuine = true WHERE id = {waits}")
    first = w.db.one(f"SELECT min(id) FROM kyc.outbox WHERE session_id = '{session}'")
    for intent, change in ((revoke, "genuine = false"), (revoke, "genuine = NULL"), (first, "state = 'queued'"), (first, "state = 'parked'"),
                           (waits, "genuine = false"), (waits, "state = 'queued', genuine = NULL")):
        done = subprocess.run([_attester.PSQL, "-Xqc", f"UPDATE kyc.outbox SET {change} WHERE id = {intent}", url], capture_output=True, text=True)
        check("stays as it is" in done.stderr, f"{intent} SET {change}: {done.stderr or 'taken'}")
    check(w.once("requeue", str(waits))[0] == 0, w.last_said())
    with w.attester(*NOW):
        until(lambda: w.row(waits)[0] in ("confirmed", "superseded", "parked"), lambda: f"ends: {w.row(waits)}")
    check(w.attested(subject) == 1, "attested again")


def many_forged_rows(w):
    """2 000 forged rows about others and about the same person: the heartbeat goes on, an honest row gets to the chain"""
    w.rpc = f"{w.url},{w.twin}"
    stranger, other = w.plant()[1:]
    w.db.ask(f"UPDATE kyc.outbox SET state = 'superseded' WHERE session_id = '{other}'")
    forge = f"""INSERT INTO kyc.outbox (deployment, subject, session_id, decision_rev, action, jurisdiction, expires_at, meta_hash)
        SELECT {w.served}, '%s', '%s', n, 'attest', 756, 4102444800, sha256('x') FROM generate_series(%s) AS n"""
    honest, subject, session = w.plant()
    w.db.ask(forge % (stranger, other, "2, 1900"))
    w.db.ask(forge % (subject, session, "2, 100"))
    with w.attester(*NOW) as attester:
        ends(w, honest, "confirmed")
        until(lambda: w.db.one("SELECT count(*) FROM kyc.outbox WHERE genuine IS NULL") == "0", "each row is judged")
    check(attester.said().count("reason=not_signed") >= 2000 // 256, "not in batches")
    check(w.attested(subject) == 1 and w.attested(stranger) == 0, "a forged row was acted upon")
    # The place of a decision that stands is not free for a forged row.
    twin = w.db.one(forge % (subject, session, "101, 101") + " RETURNING id")
    with w.attester(*NOW):
        ends(w, twin, "parked")
    genuine = w.plant(subject, "attest", 101, session)[0]
    code, said, wrong = w.once("requeue", str(twin))
    check(code != 0 and "another row of the same decision" in wrong, f"{code} {said} {wrong}")
    with w.attester(*NOW):
        ends(w, genuine, "confirmed")


def standing_fails(w):
    """the count of standing revocations fails: the log says so, and the heartbeat goes on"""
    w.rpc = w.url
    w.db.ask("ALTER TABLE state.compliance_registry_kyc RENAME COLUMN metadata TO metadata_away")
    heartbeats = lambda: w.db.one("SELECT count(*) FROM kyc.attester WHERE heartbeat_at > now() - interval '3 s'")
    try:
        with w.attester(*NOW) as attester:
            until(lambda: "attester.standing_unknown" in attester.said(), attester.said)
            until(lambda: heartbeats() == "1", lambda: f"heartbeats: {heartbeats()}")
    finally:
        w.db.ask("ALTER TABLE state.compliance_registry_kyc RENAME COLUMN metadata_away TO metadata")


def rules_of_the_outbox(w):
    """tidemark_kyc states intents that are possible, and no progress of one"""
    intent, subject, session = w.plant()
    w.db.ask(f"UPDATE kyc.outbox SET state = 'superseded' WHERE id = {intent}")
    url = w.db.url.replace("user=postgres", "user=tidemark_kyc")

    def tried(columns, values):
        sql = f"""INSERT INTO kyc.outbox (deployment, subject, session_id, decision_rev, meta_hash, {columns})
            VALUES (1, '{subject}', '{session}', 7, sha256('x'), {values})"""
        return subprocess.run([_attester.PSQL, "-Xqc", sql, url], capture_output=True, text=True).stderr
    words = "action, jurisdiction, expires_at"
    for columns, values, why in ((words, "'attest', -1, -5", "outbox_decision"), (words, "'attest', 756, 0", "outbox_decision"),
                                 (words, "'attest', 0, 5", "outbox_decision"), (words, "'attest', 1000, 5", "outbox_decision"),
                                 (words, "'attest', 756, 253402300800", "outbox_decision"),
                                 (words + ", state", "'attest', 756, 5, 'confirmed'", "outbox_confirmed"),
                                 (words + ", state", "'attest', 756, 5, 'signed'", "violates check"),
                                 (words + ", tx_hash", "'attest', 756, 5, '\\x01'", "permission denied"),
                                 (words + ", confirmed_ledger", "'attest', 756, 5, 9", "permission denied"),
                                 (words + ", next_try", "'attest', 756, 5, now()", "permission denied")):
        said = tried(columns, values)
        check(why in said, f"{columns} {values}: {said or 'taken'}")
    check(tried(words, "'revoke', 756, 0") == "", "a revocation is refused")
    w.db.ask(f"UPDATE kyc.outbox SET state = 'superseded' WHERE session_id = '{session}'")


def no_witness_agrees(w):
    """one server and no index: nothing is signed, and the log says why"""
    if w.index:
        return
    w.rpc = w.url
    with w.attester(*NOW) as attester:
        intent, subject, session = w.plant()
        until(lambda: "why=no_witness" in attester.said(), "said")
        check(w.row(intent)[0] == "queued" and w.attested(subject) == 0, f"{w.row(intent)}")
    w.db.ask(f"UPDATE kyc.outbox SET state = 'superseded' WHERE id = {intent}")


def clocks_must_agree(w):
    """a host two years off the chain signs nothing; with the right time it goes on"""
    if not w.index:
        return
    w.still()
    w.rpc = w.url
    intent, subject, _ = w.plant()
    for years in 2, -2:  # of the chain, to this host: the index is stopped meanwhile
        w.stop_index()
        closed = w.db.one("SELECT closed_at FROM chain.cursor")
        w.db.ask(f"UPDATE chain.cursor SET closed_at = closed_at + interval '{years} years'")
        with w.attester(*NOW) as attester:
            until(lambda: "attester.trouble" in attester.said() or "no_witness" in attester.said(), "said")
            check(w.row(intent)[0] == "queued", f"{w.row(intent)}")
        w.db.ask(f"UPDATE chain.cursor SET closed_at = '{closed}'")
        w.start_index()
    w.tick(50)
    at_once(w, intent)
    with w.attester(*NOW):
        ends(w, intent, "confirmed")
    check(w.attested(subject) == 1, "not once")


LIES = [swallowed_revocation, denied_attestation, index_before_the_attestation, ten_years_ahead, ledgers_ahead, split_servers_wait, restored_code,
        footprints_are_the_registrys, foreign_code_is_not_borne_out, trouble_is_no_verdict, refusal_of_one_beside_trouble, refusals_need_all, budget_holds, charged_is_known, no_witness_agrees, rules_of_the_outbox, clocks_must_agree,
        forged_rows, many_forged_rows, erased_session, final_is_final, standing_fails, every_move_is_audited, bad_rows_make_way]
INDEXED = {"swallowed_revocation", "denied_attestation", "index_before_the_attestation", "ten_years_ahead", "ledgers_ahead", "restored_code", "budget_holds",
           "footprints_are_the_registrys", "foreign_code_is_not_borne_out", "trouble_is_no_verdict",
           "charged_is_known", "clocks_must_agree", "forged_rows", "erased_session", "every_move_is_audited"}
if not os.environ.get("TIDE_LONG"):  # the longest two, which the index has no part in: with servers alone only
    INDEXED -= {"footprints_are_the_registrys", "trouble_is_no_verdict"}


def main():
    failed = 0
    start = str(int(time.time()) - 90 * 86400)
    for index in False, True:
        w = World("indexed" if index else "servers", "--wall-clock", "--start-time", start, index=index)
        for case in LIES:
            if (sys.argv[1:] and case.__name__ not in sys.argv[1:]) or (index and case.__name__ not in INDEXED):
                continue
            began = time.monotonic()
            w.tick(50)
            name = f"{case.__name__}, {'an index' if index else 'servers alone'}"
            try:
                note = case(w)
                print(f"ok {name}: {case.__doc__}{': ' + note if note else ''} ({time.monotonic() - began:.1f} s)", flush=True)
            except (SystemExit, subprocess.SubprocessError, OSError) as error:
                failed += 1
                print(f"not ok {name}: {error}", flush=True)
                w.db.ask("UPDATE kyc.outbox SET state = 'superseded' WHERE state IN ('queued', 'signed', 'submitted')")
            w.still()
        w.close()
    sys.exit(failed > 0)


main()
