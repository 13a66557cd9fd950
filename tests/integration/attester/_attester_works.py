"""The cases of attester.sh: each is a function whose docstring says the expected result."""
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import time

import _attester
from _attester import ATTESTER, World, check, until


PG_DUMP = os.path.join(os.environ["PG_BIN"], "pg_dump")


def ends(w, intent, state, seconds=30):
    until(lambda: w.row(intent)[0] == state, f"{intent} {state}: {w.row(intent)}", seconds)
    return w.row(intent)


def attested_quickly(w):
    """decisions reach the chain while ledgers close each second; the audit has each step"""
    w.tick(1000)
    with w.attester("--poll-ms", "1000"):
        took = []
        for _ in range(3):
            began = time.monotonic()
            intent, subject, _ = w.plant()
            ends(w, intent, "confirmed")
            took.append(time.monotonic() - began)
    check(w.audit(intent) == ["signed", "submitted", "confirmed"], f"{w.audit(intent)}")
    check(w.attested(subject) == 1, "not on the chain")
    return ", ".join(f"{t:.1f} s" for t in took)


def revoked(w):
    """a withdrawn decision is revoked once; one that was never attested needs no transaction"""
    w.tick(20)
    with w.attester():
        first, subject, session = w.plant()
        ends(w, first, "confirmed")
        second, _, _ = w.plant(subject, "revoke", 2, session)
        ends(w, second, "confirmed")
        check(w.attested(subject, "revoke") == 1, "not revoked")
        nothing, _, _ = w.plant(action="revoke")
        check(ends(w, nothing, "confirmed")[2] == "nothing_to_revoke", f"{w.row(nothing)}")


def postponed_by_a_wrong_clock(w):
    """an intent that was queued while the database's clock was 40 days ahead is sent once the clock is right"""
    w.tick(20)
    intent, _, _ = w.plant()
    w.db.ask(f"UPDATE kyc.outbox SET next_try = now() + interval '40 days' WHERE id = {intent}")
    with w.attester():
        ends(w, intent, "confirmed")


def handed_over(w):
    """another approval's words instead of a revocation: sent where the chain says something else, and only there"""
    w.tick(20)
    with w.attester():
        one, subject, first = w.plant()
        ends(w, one, "confirmed")
        two, _, second = w.plant(subject, expires=4102444860)
        ends(w, two, "confirmed")
        words = {"expires": 4102444860, "meta": f"{second} 1"}
        same, _, _ = w.plant(subject, "attest", 2, first, **words)
        check(ends(w, same, "confirmed")[2] == "already_so", f"{w.row(same)}")
        check(w.attested(subject) == 2, "the chain said so already")
        again, _, _ = w.plant(subject, "attest", 3, first)
        ends(w, again, "confirmed")
        other, _, _ = w.plant(subject, "attest", 4, first, **words)
        ends(w, other, "confirmed")
        check(w.attested(subject) == 4 and w.attested(subject, "revoke") == 0, f"attested {w.attested(subject)} times")


def gone_at_the_provider(w):
    """what the provider cannot vouch for any more: parked by the worker, and a person says whether it is revoked"""
    def parked(subject, session):
        return int(w.db.one(w.intent(subject, session, 2, "revoke", 756, 4102444800, "x", state="parked", reason="manual_review",
                                     last_status="gone_at_provider")))

    w.tick(20)
    with w.attester():
        first, subject, session = w.plant()
        ends(w, first, "confirmed")
        gone = parked(subject, session)
        code, said, wrong = w.once("status")
        check(f"parked {gone} revoke: reason=manual_review detail=gone_at_provider" in said, said + wrong)
        check(w.once("requeue", str(gone))[0] == 0, "requeue")
        ends(w, gone, "confirmed")
        check(w.attested(subject, "revoke") == 1, "released, and not revoked")
        first, subject, session = w.plant()
        ends(w, first, "confirmed")
        gone = parked(subject, session)
        back, _, _ = w.plant(subject, "attest", 3, session, meta=f"{session} 1")
        check(ends(w, back, "confirmed")[2] == "already_so", f"{w.row(back)}")
        check(w.once("requeue", str(gone))[0] == 0, "requeue")
        ends(w, gone, "superseded")
        check((w.attested(subject), w.attested(subject, "revoke")) == (1, 0), "known again, and revoked")


def superseded(w):
    """a newer decision of the session stands: the older one is never sent, not even released later"""
    older, subject, session = w.plant()
    newer, _, _ = w.plant(subject, "attest", 2, session, expires=4102444860)
    w.tick(20)
    with w.attester():
        ends(w, newer, "confirmed")
        ends(w, older, "superseded")
    check(w.attested(subject) == 1, "both were sent")
    check("superseded" in w.audit(older), "not in the audit")
    w.db.ask(f"""SET session_replication_role = replica; UPDATE kyc.outbox SET state = 'parked', reason = 'test' WHERE id = {older};
        RESET session_replication_role""")
    code, said, wrong = w.once("requeue", str(older))
    check(code == 0, said + wrong)
    with w.attester():
        ends(w, older, "superseded")
    check(w.attested(subject) == 1, "a lower one was sent after a higher one")


def sent_to_a_person(w):
    """suspended, sanctioned, frozen, blocked: manual_review, nothing is signed; a person may release it"""
    subjects = {word: w.subject() for word in ("suspend", "sanction", "freeze")}
    for word, subject in subjects.items():
        w.tx(word, "--as", "admin", "--subject", subject, "--text", "case")
    w.tx("block_jurisdiction", "--as", "daowallet", "--country", "499")
    expected = {"suspend": "suspended", "sanction": "sanctioned", "freeze": "frozen"}
    w.tick(20)
    with w.attester() as attester:
        for word, subject in subjects.items():
            intent, _, _ = w.plant(subject)
            row = ends(w, intent, "parked")
            check(row[1:] == ["manual_review", expected[word]], f"{word}: {row}")
            check(w.audit(intent) == ["parked"], f"{word}: {w.audit(intent)}")
            check(w.attested(subject) == 0, f"{word}: attested")
        intent, _, _ = w.plant(jurisdiction=499)
        check(ends(w, intent, "parked")[1:] == ["manual_review", "jurisdiction_blocked"], f"{w.row(intent)}")
        frozen, subject = w.db.one("SELECT id, subject FROM kyc.outbox WHERE last_status = 'frozen'").split("|")
        w.tx("unfreeze", "--as", "admin", "--subject", subject)
        code, said, wrong = w.once("requeue", frozen)
        check(code == 0 and "queued again" in said, said + wrong)
        ends(w, int(frozen), "confirmed")
        check(w.attested(subject) == 1 and w.audit(int(frozen))[:2] == ["parked", "released"], f"{w.audit(int(frozen))}")
        check(not re.search(r"\b499\b", attester.said()), "a jurisdiction in the log")  # a hash may have these digits
    code, _, wrong = w.once("requeue", frozen)
    check(code == 67 and "not parked" in wrong, f"{code} {wrong}")
    w.tx("unblock_jurisdiction", "--as", "daowallet", "--country", "499")


def suspended_in_between(w):
    """suspended between the first look and the signature: seen, and nothing is signed"""
    subject = w.subject()
    intent, _, _ = w.plant(subject)
    w.fault("simulateTransaction=delay:1500x1")
    with w.attester() as attester:
        until(lambda: json.loads(w.post("/faults", None, "GET"))[0]["struck"] > 0, "simulating")
        attester.send(signal.SIGSTOP)
        w.tx("suspend", "--as", "admin", "--subject", subject, "--text", "case")
        attester.send(signal.SIGCONT)
        check(ends(w, intent, "parked")[1:] == ["manual_review", "suspended"], f"{w.row(intent)}")
    check(w.attested(subject) == 0, "a suspension was overwritten")


def suspended_after_signing(w):
    """suspended between the signature and the next ledger: not sent again; parked once it is dead"""
    subject = w.subject()
    intent, _, _ = w.plant(subject)
    w.fault("sendTransaction=says:TRY_AGAIN_LATERx1")
    with w.attester("--attester-valid-s", "300") as attester:
        until(lambda: w.row(intent)[2] == "TRY_AGAIN_LATER", "sent once")
        attester.send(signal.SIGSTOP)
        w.tick(300)  # an envelope's time is not over before the suspension is there
        w.tx("suspend", "--as", "admin", "--subject", subject, "--text", "case")
        w.still()
        w.ledgers()
        attester.send(signal.SIGCONT)
        until(lambda: w.row(intent)[2] == "held", "held")
        w.tick(30)
        check(ends(w, intent, "parked")[1:] == ["manual_review", "suspended"], f"{w.row(intent)}")
        check("attester.held" in attester.said(), attester.said())
    check(w.attested(subject) == 0, "a suspension was overwritten")


def looked_at_dry(w):
    """--dry-run says what would happen, signs and writes nothing; --once drains and ends"""
    intent, subject, _ = w.plant()
    other, _, _ = w.plant(jurisdiction=840)
    before = w.db.one("SELECT count(*) FROM kyc.audit"), w.row(intent)
    code, said, wrong = w.once("--dry-run")
    check(code == 0 and f"{intent} attest: would be signed, for" in said, f"{code} {said} {wrong}")
    check(f"{other} attest: would be parked (jurisdiction_blocked)" in said, said)
    check("840" not in said + wrong, "a jurisdiction was printed")
    check(before == (w.db.one("SELECT count(*) FROM kyc.audit"), w.row(intent)), "something was written")
    w.tick(20)
    code, said, wrong = w.once("--once")
    check(code == 0, said + wrong)
    check(w.row(intent)[0] == "confirmed" and w.row(other)[0] == "parked", f"{w.row(intent)} {w.row(other)}")


def status_is_told(w):
    """status: counts, what is parked and why, the audit; an altered audit shows, exit 68"""
    w.plant()
    code, said, wrong = w.once("status")
    check(code == 0 and "queued      1, the oldest for" in said and "intact" in said, f"{code} {said} {wrong}")
    check("reason=manual_review detail=jurisdiction_blocked" in said, said)
    head = w.db.one("SELECT encode(hash, 'hex') FROM kyc.audit ORDER BY id DESC LIMIT 1")
    check(f"intact, head {head}\n" in said + "\n", f"{head}: {said}")
    w.db.ask("CREATE TABLE kept AS SELECT * FROM kyc.audit; UPDATE kyc.audit SET actor = 'nobody' WHERE id = 3")
    code, said, wrong = w.once("status")
    check(code == 68 and "row 3" in wrong, f"{code} {said} {wrong}")
    w.db.ask("UPDATE kyc.audit a SET actor = k.actor FROM kept k WHERE k.id = a.id; DROP TABLE kept")
    # Millions of rows take longer than any statement of the daemon may: no end is set for these.
    looks = "\n".join(w.db.ask("SELECT pg_get_functiondef('kyc.audit_broken()'::regprocedure)"))
    w.db.ask("CREATE OR REPLACE FUNCTION kyc.audit_broken() RETURNS bigint LANGUAGE sql AS "
             "$$ SELECT CASE WHEN current_setting('statement_timeout') <> '0' THEN 7 END $$")
    code, said, wrong = w.once("status")
    check(code == 0 and "intact" in said, f"{code} {said} {wrong}")
    w.db.ask(looks)
    check("row_number" in "".join(w.db.ask("SELECT pg_get_functiondef('kyc.audit_broken()'::regprocedure)")), "it is as it was")
    w.tick(20)
    check(w.once("--once")[0] == 0, "drained")


def tells_how_it_is(w):
    """kyc.attester and status: what it does, its ledger, balance and counts; waiting while servers are away, then stopped"""
    read = lambda columns: w.db.one(f"SELECT {columns} FROM kyc.attester").split("|")
    counts = lambda: [int(n) for n in read("confirmed, parked, sent, failures")]
    w.tick(20)
    with w.attester() as attester:
        until(lambda: "attester.key" in attester.said(), "at work")
        until(lambda: w.db.one("SELECT count(*) FROM kyc.attester WHERE state = 'working'") == "1", "told")
        before = counts()
        intent, _, _ = w.plant()
        ends(w, intent, "confirmed")
        parked, _, _ = w.plant(jurisdiction=840)
        ends(w, parked, "parked")
        until(lambda: counts()[:2] == [before[0] + 1, before[1] + 1] and counts()[2] > before[2], f"counted: {before} {counts()}", 60)
        state, verifier, ledger, balance, late = read("state, verifier, ledger, balance, confirmed_at < now() - interval '5 minutes'")
        check([state, verifier, late] == ["working", w.address, "f"] and int(ledger) > 0, f"{state} {verifier} {ledger} {late}")
        check(0 < int(balance) < 10 ** 12, f"balance {balance}")
        w.fault("*=status:503")
        w.plant()
        until(lambda: read("state")[0] == "waiting" and counts()[3] > before[3], f"waiting: {read('state, failures')}", 60)
        check("503" in read("error")[0], read("error")[0])
        w.calm()
        until(lambda: read("state")[0] == "working", "working again", 60)
    check(read("state")[0] == "stopped", read("state")[0])
    w.tick(20)
    check(w.once("--once")[0] == 0 and w.db.one("SELECT count(*) FROM kyc.outbox WHERE state NOT IN ('confirmed', 'superseded', 'parked')") == "0", "idle")
    w.fault("getLedgerEntries=status:503")
    before = counts()
    with w.attester(): # nothing to do, and servers that are away: it goes on to wait, and to ask
        until(lambda: read("state")[0] == "waiting" and counts()[3] >= before[3] + 3, f"waiting while idle: {read('state, failures')}", 45)
    w.calm()
    code, said, wrong = w.once("status")
    check(code == 0 and f"attester    {w.address} stopped, " in said and " XLM; confirmed " in said, said + wrong)


def one_at_a_time(w):
    """a second attester waits for the lock and takes over when the first is killed"""
    w.tick(20)
    with w.attester() as first:
        until(lambda: "attester.key" in first.said(), "the first at work")
        code, _, wrong = w.once("--once")
        check(code == 68 and "another attester" in wrong, f"{code} {wrong}")
        with w.attester() as second:
            until(lambda: "attester.standby" in second.said(), "the second waits")
            intent, _, _ = w.plant()
            ends(w, intent, "confirmed")
            check("attester.signed" not in second.said(), "both sign")
            first.kill()
            intent, subject, _ = w.plant()
            ends(w, intent, "confirmed")
            check("attester.signed" in second.said() and w.attested(subject) == 1, "nobody took over")


def with_a_new_key(w):
    """the key is replaced while an envelope is under way: followed as the old one's, once; what that attested is not lost on a revoke"""
    sent, subject, session = w.plant()
    w.fault("sendTransaction=cut:5x1")
    with w.attester():
        until(lambda: w.row(sent)[2] == "unknown", "sent")
    w.calm()
    old, address = w.key.read_text(), w.address
    said = subprocess.run([_attester.SIM, "keys", "--name", "attester2"], capture_output=True, text=True, check=True).stdout.split()
    w.tx("fund", "--as", "attester2")
    w.tx("add_verifier", "--as", "daowallet", "--subject", "attester2")
    w.tick(20)
    with w.attester() as first:
        until(lambda: w.row(sent)[0] == "confirmed" or "attester.key" in first.said(), "at work")
        w.key.write_text(said[2] + "\n")
        code, _, wrong = w.once("--once")
        check(code == 68 and "another attester" in wrong, f"two keys on one outbox: {code} {wrong}")
        ends(w, sent, "confirmed")
    w.still()
    w.key.write_text(old)
    other, second, _ = w.plant()
    w.fault("sendTransaction=status:504x1")
    with w.attester():
        until(lambda: w.row(other)[2] == "unknown", "sent")
    w.calm()
    w.key.write_text(said[2] + "\n")
    w.tick(20)
    with w.attester():
        ends(w, other, "confirmed")
        check(w.attested(second) == 1 and w.row(other, "attempts") == ["1"], f"signed anew: {w.row(other, 'attempts')}")
        check(w.audit(other).count("signed") == 1, f"{w.audit(other)}")
        withdrawn, _, _ = w.plant(subject, "revoke", 2, session)
        check(ends(w, withdrawn, "parked")[1] == "other_key", f"{w.row(withdrawn)}")
        w.address = said[1]
        intent, third, _ = w.plant()
        ends(w, intent, "confirmed")
        w.cursor, w.calls = None, {}
        check(w.attested(third) == 1, "not with the new key")
    w.key.write_text(old)
    w.address, w.cursor, w.calls = address, None, {}
    code, said, wrong = w.once("requeue", str(withdrawn))
    check(code == 0, said + wrong)
    w.tick(20)
    with w.attester():
        ends(w, withdrawn, "confirmed")
    check(w.attested(subject, "revoke") == 1, "not revoked with the old key")


def other_servers(w):
    """a server that is away or behind is left for the next; one of another network ends it, exit 66"""
    other, url = World("elsewhere", "--passphrase", "Another Simulated Network ; 2026", verifier=False), w.rpc
    try:
        w.tick(20)
        w.rpc = f"http://127.0.0.1:9,{url}"
        with w.attester():
            intent, subject, _ = w.plant()
            ends(w, intent, "confirmed")
        check(w.attested(subject) == 1, "not once")
        w.rpc = other.url
        code, _, wrong = w.once("--once")
        check(code == 66 and "is of network" in wrong, f"{code} {wrong}")
        w.rpc = url
        w.fault("getLedgerEntries=lag:3x5", "getTransaction=lag:4x5")
        with w.attester():
            intent, subject, _ = w.plant()
            ends(w, intent, "confirmed")
        check(w.attested(subject) == 1, "not once")
    finally:
        w.rpc = url
        other.close()


def nonsense_is_no_answer(w):
    """whatever a server answers instead: asked again, one call on the chain, no crash"""
    bad = ["status:503", "cut:9", "close:before", "html", "empty", "null", "wrong-id", "two", "huge", "truncate:30", "nesting",
           "rpc-error:-32603 no", "queue", "lag:9"]
    w.tick(15)
    with w.attester():
        for method in ("sendTransaction", "getTransaction", "getLedgerEntries", "simulateTransaction", "getLatestLedger",
                       "getFeeStats", "getNetwork"):
            w.fault(*(f"{method}={kind}@{at + 1}x1" for at, kind in enumerate(bad) if method[3:10] != "Network" or kind != "lag:9"))
            planted = [w.plant() for _ in range(2)]
            for intent, subject, _ in planted:
                ends(w, intent, "confirmed")
                check(w.attested(subject) == 1, f"{method}: not once")
            w.calm()


def slow_is_not_dead(w):
    """systemd's watchdog hears of it while a server lets it wait; stopped at once nevertheless"""
    heard = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    heard.bind(str(w.path / "notify"))
    heard.settimeout(30)
    os.environ.update(NOTIFY_SOCKET=str(w.path / "notify"), WATCHDOG_USEC="600000")
    w.fault("*=hang")
    try:
        with w.attester("--http-timeout-ms", "360000") as attester:
            pings = 0
            while pings < 3:
                pings += heard.recv(1000) == b"WATCHDOG=1"
            check("attester.trouble" not in attester.said(), "the pings came behind the call")
            attester.send(signal.SIGTERM)
            while heard.recv(1000) != b"STOPPING=1":
                pass
    finally:
        del os.environ["NOTIFY_SOCKET"], os.environ["WATCHDOG_USEC"]
        heard.close()


def secrets_stay_inside(w):
    """the seed is in no argument, environment, log, answer or row; no other process may read its memory"""
    w.tick(20)
    with w.attester() as attester:
        intent, _, _ = w.plant()
        ends(w, intent, "confirmed")
        proc = pathlib.Path(f"/proc/{attester.process.pid}")
        shown = (proc / "cmdline").read_bytes()
        if os.geteuid() == 0:
            shown += (proc / "environ").read_bytes()
        check(w.seed.encode() not in shown, "the seed is in /proc")
        limits = (proc / "limits").read_text()
        check(any(line.split()[4:6] == ["0", "0"] for line in limits.splitlines() if line.startswith("Max core")), limits)
        # The kernel gives /proc/PID of a process that forbids looks to root. To root it shows no difference.
        if os.geteuid() != 0:
            check(os.stat(proc).st_uid == 0 and not os.access(proc / "environ", os.R_OK), "others may look in")
        check(w.seed not in attester.said(), "the seed is in the log")
    code, said, wrong = w.once("status")
    check(w.seed not in said + wrong, "the seed was printed")
    rows = w.db.ask("SELECT to_jsonb(a)::text FROM kyc.audit a") + w.db.ask("SELECT to_jsonb(o)::text FROM kyc.outbox o")
    check(not any(w.seed in row for row in rows), "the seed is in the database")
    check(any(w.address in row and "key_opened" in row for row in rows), "the audit does not know whose key")
    detail = w.db.ask("SELECT detail::text FROM kyc.audit")
    check(not any("jurisdiction\"" in row for row in detail), "a jurisdiction in the audit")


def with_its_own_rights(w):
    """the role tidemark_attester is enough, and may not make intents or alter the audit"""
    url, w.db.url = w.db.url, w.db.url.replace("user=postgres", "user=tidemark_attester")
    try:
        w.tick(20)
        with w.attester():
            intent, subject, _ = w.plant()
            ends(w, intent, "confirmed")
        check(w.once("status")[0] == 0, "status needs more")
        for sql in ("INSERT INTO kyc.outbox (deployment) VALUES (1)", "DELETE FROM kyc.outbox", "DELETE FROM kyc.audit",
                    "UPDATE kyc.audit SET actor = ''", "SELECT * FROM kyc.session", "UPDATE kyc.session SET state = 'approved'",
                    "UPDATE kyc.outbox SET subject = ''", "UPDATE kyc.outbox SET jurisdiction = 1", "UPDATE kyc.outbox SET expires_at = 0",
                    "DELETE FROM kyc.attester"):
            done = subprocess.run([_attester.PSQL, "-Xqc", sql, w.db.url], capture_output=True, text=True)
            check("permission denied" in done.stderr, f"{sql}: {done.stderr}")
    finally:
        w.db.url = url


def follows_a_reset(w):
    """after a reset of the network the new epoch's intents are sent without a restart, the old epoch's are not"""
    w.tick(20)
    with w.attester():
        intent, _, _ = w.plant()
        ends(w, intent, "confirmed")
        w.served = int(w.db.one("""INSERT INTO chain.deployment (passphrase, network_id, epoch, contracts_hash, contracts)
            SELECT passphrase, network_id, 1, contracts_hash, contracts FROM chain.deployment WHERE id = 1 RETURNING id"""))
        intent, _, _ = w.plant()
        ends(w, intent, "confirmed")
        new, w.served = w.served, 1
        old, _, _ = w.plant()
        w.served = new
        intent, _, _ = w.plant()
        ends(w, intent, "confirmed")
        check(w.row(old)[0] == "queued", f"the old epoch's: {w.row(old)}")


def waits_out_a_fork(w):
    """while validators contradict the index nothing is signed or sent, also with two servers that agree; it goes on once the fork is dismissed"""
    w.tick(20)
    with w.attester() as attester:
        done, _, _ = w.plant()
        ends(w, done, "confirmed")
        w.db.ask(f"""INSERT INTO chain.fork (deployment, ledger, hash, signed_hash, signed_by)
            VALUES ({w.served}, 1100, decode(repeat('ab', 32), 'hex'), decode(repeat('cd', 32), 'hex'), '{{G}}')""")
        until(lambda: "forked at ledger 1100" in attester.said(), "the fork is told")
        intent, _, _ = w.plant()
        before = attester.said().count("attester.signed")
        until(lambda: w.db.one("SELECT error FROM kyc.attester WHERE error LIKE '%forked at ledger 1100%'"), "the heartbeat tells it")
        closed = w.latest()
        until(lambda: w.latest() >= closed + 20, "ledgers close")
        check(w.row(intent)[0] == "queued" and attester.said().count("attester.signed") == before, f"signed on a fork: {w.row(intent)}")
        w.db.ask("DELETE FROM chain.fork")
        ends(w, intent, "confirmed")


def beside_another(w):
    """two networks' attesters on one database, with the same key: each sends its own intents, to its own network, and none waits"""
    other = World("beside", "--passphrase", "Another Network ; 2026", beside=w)
    try:
        w.tick(20)
        other.tick(20)
        with w.attester(), other.attester() as second:
            planted = [(world, *world.plant()[:2]) for world in (w, other) * 3]
            for world, intent, subject in planted:
                ends(world, intent, "confirmed")
                check(world.attested(subject) == 1, "not once, and there")
            check("attester.standby" not in second.said(), "one waits for the other")
        check(not any(world.attested(subject) for world in (w, other) for of, _, subject in planted if of is not world),
              "sent to the other network")
        told = w.db.ask(f"SELECT DISTINCT deployment FROM kyc.attester WHERE deployment IN ({w.served}, {other.served}) ORDER BY 1")
        check(len(told) == 2, f"heartbeats: {told}")
    finally:
        other.close()


def restored(_):
    """a database of before forgets what the chain remembers: an approval that was withdrawn, and a revocation before a new approval, go to a person"""
    w = World("restored", "--wall-clock", index=True)
    try:
        w.tick(200)

        def dated(*intents, what="created_at"):  # by the chain's clock, which is ahead: its ledgers close more often than each second
            w.db.ask(f"UPDATE kyc.outbox SET {what} = (SELECT closed_at FROM chain.cursor) WHERE id IN ({', '.join(map(str, intents))})")
            at = w.db.one("SELECT ledger FROM chain.cursor")
            until(lambda: w.db.one(f"SELECT ledger > {at} FROM chain.cursor") == "t", "a ledger")

        with w.attester():
            first, renewed, one = w.plant()
            ends(w, first, "confirmed")
        (lifted, cleared, _), (kept, accused, _) = w.plant(), w.plant()  # a suspension that people lifted says nothing more, a sanction does
        dated(lifted, kept)
        for word, subject in ("suspend", cleared), ("sanction", accused), ("suspend", accused):
            w.tx(word, "--as", "admin", "--subject", subject, "--text", "case")
        for word, subject in ("unsuspend", cleared), ("unsuspend", accused), ("unfreeze", accused):
            w.tx(word, "--as", "admin", "--subject", subject)
        with w.attester():
            ends(w, lifted, "confirmed")
            row = ends(w, kept, "parked")
        check(re.fullmatch(r"status_since \d+", row[2]) and w.attested(accused) == 0, f"{row}")
        approval, withdrawn, two = w.plant()
        revocation, _, _ = w.plant(renewed, "revoke", 2, one)
        dated(approval, revocation)
        subprocess.run([PG_DUMP, "-Fc", "-f", w.path / "dump", w.db.url], check=True)
        with w.attester():
            for intent in approval, revocation:
                ends(w, intent, "confirmed")
            for intent in w.plant(withdrawn, "revoke", 2, two)[0], w.plant(renewed, "attest", 3, one)[0]:
                ends(w, intent, "confirmed")
        check(not w.compliant(withdrawn) and w.compliant(renewed), "the chain is not as the test means")
        sent = w.sends()
        w.stop_index()
        w.restore(w.path / "dump")
        code, said, _ = w.once("--dry-run")  # the index is a little behind: its history is waited for
        check("would be" not in said, f"a little behind: {code} {said}")
        w.db.ask("UPDATE chain.cursor SET closed_at = closed_at - interval '3 hours'")
        code, said, err = w.once("--dry-run", "--clock-skew-s", "3600")  # the servers' entries tell
        for intent, call, why in (approval, "attest", "revoked_since"), (revocation, "revoke", "attested_since"):
            check(re.search(rf"^{intent} {call}: would be parked \({why} \d+\)", said, re.M), f"behind: {code} {said} {err[-600:]}")
        w.start_index()
        with w.attester():
            for intent, why in (approval, "revoked_since"), (revocation, "attested_since"):
                row = ends(w, intent, "parked")
                check(row[1] == "manual_review" and re.fullmatch(rf"{why} \d+", row[2]), f"{row}")
            check(w.sends() == sent, "something was sent")
            shown = w.db.ask("SELECT id || ' ' || detail FROM kyc.console_review")
            check([s for s in shown if s.startswith(f"{approval} revoked_since")], f"the console: {shown}")
        again, _, _ = w.plant(withdrawn, "attest", 3, two)  # decided since
        subprocess.run(w.arguments("requeue", str(revocation)), check=True, capture_output=True)  # a person wants it
        dated(again)
        dated(revocation, what="reviewed_at")
        with w.attester():
            ends(w, again, "confirmed")
            ends(w, revocation, "confirmed")
        check(w.compliant(withdrawn) and not w.compliant(renewed), "not as decided")
    finally:
        w.close()


def refuses_wrong_settings(w):
    """what is missing or wrong is said at once, exit 64 or 78"""
    cases = [(["--deployment", "/nowhere"], 78, "/nowhere"), ([], 78, "deployment is not set"),
             (["fly"], 64, "no command"), (["requeue"], 64, "wrong arguments"), (["status", "--once"], 64, "wrong arguments"),
             (["--deployment", str(w.path / "deployment.json")], 78, "attester_key is not set"),
             (["--deployment", str(w.path / "deployment.json"), "--attester-key", str(w.key)], 78, "attester_intent_key is not set"),
             (["--deployment", str(w.path / "deployment.json"), "--attester-key", str(w.key), "--attester-intent-key", "44"], 78, "64 hexadecimal digits"),
             (["--deployment", str(w.path / "deployment.json"), "--attester-key", str(w.key), "--attester-intent-key", "44" * 32], 78, "rpc is not set")]
    for options, code, why in cases:
        done = subprocess.run([ATTESTER, *options], capture_output=True, text=True)
        check(done.returncode == code and why in done.stderr, f"{options}: {done.returncode} {done.stderr}")


WORKS = [attested_quickly, revoked, postponed_by_a_wrong_clock, handed_over, gone_at_the_provider, superseded, sent_to_a_person, suspended_in_between, suspended_after_signing, looked_at_dry, status_is_told,
         tells_how_it_is,
         one_at_a_time, with_a_new_key, other_servers,
         nonsense_is_no_answer, slow_is_not_dead, secrets_stay_inside, with_its_own_rights, beside_another, waits_out_a_fork, follows_a_reset, restored,
         refuses_wrong_settings]


def main():
    failed = 0
    w = World("works")
    for work in WORKS:
        if sys.argv[1:] and work.__name__ not in sys.argv[1:]:
            continue
        began = time.monotonic()
        try:
            note = work(w)
            print(f"ok {work.__name__}: {work.__doc__}{': ' + note if note else ''} ({time.monotonic() - began:.1f} s)", flush=True)
        except (SystemExit, subprocess.SubprocessError, OSError) as error:
            failed += 1
            print(f"not ok {work.__name__}: {error}", flush=True)
        w.still()
        w.calm()
    w.close()
    sys.exit(failed > 0)


main()
