"""The faults of attester_faults.sh: each is a function whose docstring says the expected result."""
import json
import os
import re
import resource
import signal
import stat
import subprocess
import sys
import time

import _attester
from _attester import World, check, has_points, raw_key, strkey, until

POINTS = has_points()
# While ledgers tick, an envelope of the default life is dead in half a second, and a slow machine would sign another.
LASTING = "--attester-valid-s", "300"


def reaches(w, intent, state, seconds=30):
    until(lambda: w.row(intent)[0] == state, f"{intent} {state}: {w.row(intent)} {w.audit(intent)}", seconds)


def is_once(w, intent, subject, envelopes=1):
    """Confirmed, one call on the chain, and so many envelopes signed."""
    state, attempts, ledger = w.row(intent, "state, attempts, confirmed_ledger")
    check(state == "confirmed" and int(ledger) > 0, f"{intent}: {w.row(intent)}")
    check(w.attested(subject) == 1, f"{intent}: {w.attested(subject)} calls on the chain")
    check(int(attempts) == envelopes, f"{intent}: {attempts} envelopes, {envelopes} expected")


def x1(w):
    """X1 sendTransaction times out, the transaction applied: found by its hash, one call"""
    intent, subject, _ = w.plant()
    w.fault("sendTransaction=cut:5x1")
    w.tick(30)
    with w.attester(*LASTING):
        reaches(w, intent, "confirmed")
    is_once(w, intent, subject)


def x2(w):
    """X2 times out, never applied: dead once ledger time has passed it, a new number, one call"""
    intent, subject, _ = w.plant()
    w.fault("sendTransaction=status:504")
    w.tick(30)
    with w.attester("--attester-valid-s", "30"):
        until(lambda: "requeued" in w.audit(intent), "requeued")
        w.calm()
        reaches(w, intent, "confirmed")
    is_once(w, intent, subject, int(w.row(intent, "attempts")[0]))
    check(int(w.row(intent, "attempts")[0]) >= 2, "the envelope was not made anew")


def x3(w):
    """X3 TRY_AGAIN_LATER twenty times: the same envelope, a ledger apart; then for good: dead, anew"""
    intent, subject, _ = w.plant()
    w.fault("sendTransaction=says:TRY_AGAIN_LATERx20")
    sends, first = w.sends(), w.latest()
    w.tick(150)  # the envelope lives for 60 ledgers, and is sent in 21 of them
    with w.attester(*LASTING):
        reaches(w, intent, "confirmed", 60)
        is_once(w, intent, subject)
        sends, ledgers = w.sends() - sends, w.latest() - first
        check(20 < sends <= ledgers + 1, f"{sends} sends in {ledgers} ledgers")
    intent, subject, _ = w.plant()
    w.fault("sendTransaction=says:TRY_AGAIN_LATER")
    with w.attester("--attester-valid-s", "30"):
        until(lambda: "requeued" in w.audit(intent), "requeued")
        w.calm()
        reaches(w, intent, "confirmed")
    is_once(w, intent, subject, int(w.row(intent, "attempts")[0]))


def x4(w):
    """X4 DUPLICATE on the first send that is heard of: taken as PENDING"""
    intent, subject, _ = w.plant()
    if POINTS:
        with w.attester(points="attester.sent=kill") as dead:
            dead.process.wait(30)
        check(w.row(intent)[0] == "signed", f"{w.row(intent)} after a kill behind the send")
    else:
        w.fault("sendTransaction=claims:DUPLICATEx1")
    with w.attester():
        reaches(w, intent, "submitted")
        check(w.row(intent)[2] == "DUPLICATE", f"{w.row(intent)}")
        w.tick(30)
        reaches(w, intent, "confirmed")
    is_once(w, intent, subject)


def x5(w):
    """X5 txBAD_SEQ although it succeeded: the hash is looked up first"""
    intent, subject, _ = w.plant()
    w.fault("sendTransaction=cut:5x1")
    with w.attester():
        until(lambda: w.row(intent)[2] == "unknown", "sent")
        w.fault("getTransaction=misses")
        w.ledgers()
        until(lambda: w.row(intent)[2] == "txBAD_SEQ" or w.row(intent)[0] == "confirmed", "sent again")
        w.calm()
        w.tick(30)
        reaches(w, intent, "confirmed")
    is_once(w, intent, subject)


def steal(w, attester, intent, before):
    """The envelope of intent is lost, and another program uses its number."""
    until(lambda: w.row(intent, "state, last_status, seq") [:2] == ["signed", "unknown"]
          and w.row(intent, "seq")[0] != before, "signed and lost")
    attester.send(signal.SIGSTOP)
    w.calm()
    seq = w.row(intent, "seq")[0]
    w.tx("attest", "--as", _attester.VERIFIER, "--subject", w.subject())
    return seq


def x6(w):
    """X6 txBAD_SEQ because another program used the key: a new number; three in a row: parked, alarm"""
    intent, subject, _ = w.plant()
    w.fault("sendTransaction=status:504x1")
    with w.attester() as attester:
        steal(w, attester, intent, "")
        attester.send(signal.SIGCONT)
        w.tick(30)
        reaches(w, intent, "confirmed")
        is_once(w, intent, subject, 2)
        w.still()
        seq = ""
        w.fault("sendTransaction=status:504x1")
        intent, subject, _ = w.plant()
        for _ in range(3):
            seq = steal(w, attester, intent, seq)
            w.fault("sendTransaction=says:ERROR -5x1", "sendTransaction=status:504@2x1")
            attester.send(signal.SIGCONT)
        reaches(w, intent, "parked")
        check(w.row(intent)[1] == "key_in_use", f"{w.row(intent)}")
        check("what=key_in_use" in attester.said(), "no alarm")
    check(w.attested(subject) == 0, "it was sent nevertheless")


def x7(w):
    """X7 txINSUFFICIENT_FEE, or no ledger takes it: a fee bump of the same envelope, its hash polled"""
    intent, subject, _ = w.plant()
    w.fault("sendTransaction=says:ERROR -9x1")
    w.tick(30)
    with w.attester(*LASTING):
        reaches(w, intent, "confirmed")
        is_once(w, intent, subject)
        check(w.row(intent, "bump_hash IS NOT NULL")[0] == "t", "no fee bump")
        w.still()
        intent, subject, _ = w.plant()
        w.post("/hold", "")
        reaches(w, intent, "submitted")
        w.ledgers(2)
        asked = w.requests()
        until(lambda: w.requests() > asked + 8, "it went on asking")
        check(w.row(intent, "bump_hash IS NULL")[0] == "t", "bumped too early")
        w.ledgers()
        until(lambda: w.row(intent, "bump_hash IS NOT NULL AND last_status = 'PENDING' AND sent_ledger IS NOT NULL")[0] == "t",
              "bumped")
        w.post("/hold", None, "DELETE")
        w.ledgers()
        reaches(w, intent, "confirmed")
    is_once(w, intent, subject)
    fee, = w.row(intent, "bump_fee")
    check(int(fee) >= 1000, f"the bump pays {fee}")


def x8(w):
    """X8 a simulation that fails, a verifier no more: parked with why; a server that can't simulate: asked again; archived: restored"""
    w.tick(30)
    with w.attester(*LASTING) as attester:
        w.fault("simulateTransaction=refuses:HostError: Error(Contract, #7)x2")  # both servers
        refused, subject, _ = w.plant()
        reaches(w, refused, "parked")
        check(w.row(refused)[1] == "contract:7", f"{w.row(refused)}")
        w.calm()
        w.fault("simulateTransaction=unready")
        waits, person, _ = w.plant()
        until(lambda: w.row(waits)[2] == "simulation_unavailable", lambda: f"it waits: {w.row(waits)}")
        at_once(w, waits)
        until(lambda: attester.said().count("why=simulation_unavailable") > 1, attester.said)
        check(w.row(waits)[0] == "queued" and w.audit(waits) == [], f"{w.row(waits)} {w.audit(waits)}")
        w.calm()
        at_once(w, waits)
        reaches(w, waits, "confirmed")
        is_once(w, waits, person)
        w.fault("simulateTransaction=unreadyx1")  # of the first server: the other one is asked at once
        since = len(attester.said())
        reaches(w, w.plant()[0], "confirmed")
        check("why=simulation_unavailable detail=none" in attester.said()[since:], "not struck")
        check("attester.later" not in attester.said()[since:], "it waited though another server simulates")
        w.calm()
        w.tx("remove_verifier", "--as", "daowallet", "--subject", _attester.VERIFIER)
        no_verifier, _, _ = w.plant()
        reaches(w, no_verifier, "parked")
        check(w.row(no_verifier)[1] == "not_verifier", f"{w.row(no_verifier)}")
        w.tx("add_verifier", "--as", "daowallet", "--subject", _attester.VERIFIER)
        for intent in refused, no_verifier:
            code, said, wrong = w.once("requeue", str(intent))
            check(code == 0, said + wrong)
            reaches(w, intent, "confirmed")
        is_once(w, refused, subject)
    archived()


def at_once(w, intent):
    """Whatever it waits for is over."""
    w.db.ask(f"UPDATE kyc.outbox SET next_try = now() WHERE id = {intent}")


def archived():
    """Entries that lapsed are restored with the call; those that lapse between simulation and ledger, with the next call."""
    w = World("archived", "--life", 60)
    try:
        w.tick(20)
        with w.attester():
            first, subject, session = w.plant()
            reaches(w, first, "confirmed")
            w.still()
            w.ledgers(200)
            second, _, _ = w.plant(subject, rev=2, session=session)
            until(lambda: "submitted" in w.audit(second), lambda: f"submitted: {w.row(second)}")
            w.tick(20)
            reaches(w, second, "confirmed")
        check(w.attested(subject) == 2, f"{w.attested(subject)} calls for two decisions")
        check(steps(w, second) == "signed submitted confirmed", steps(w, second))
        w.still()
        w.ledgers(40)
        w.fault("sendTransaction=status:503")
        with w.attester("--attester-valid-s", "300"):
            third, person, _ = w.plant()
            until(lambda: "signed" in w.audit(third), lambda: f"signed: {w.row(third)}")
            w.ledgers(30)
            w.calm()
            w.ledgers()  # it is sent again in a new ledger, and has to be before its time is over
            until(lambda: "submitted" in w.audit(third), lambda: f"submitted: {w.row(third)}")
            w.tick(20)
            reaches(w, third, "confirmed")
        is_once(w, third, person, 2)
        check(steps(w, third) == "signed submitted requeued signed submitted confirmed", steps(w, third))
    finally:
        w.close()


def steps(w, intent):
    """Returns the steps of an intent without bumps: how many ledgers close before the attester asks again is the machine's."""
    return " ".join(step for step in w.audit(intent) if step != "bumped")


def x9(w):
    """X9 down for longer than the server remembers: decided by number and chain; else parked"""
    cases = []
    for lost in "cut:5", "status:504":
        w.fault(f"sendTransaction={lost}x1")
        intent, subject, _ = w.plant()
        with w.attester("--attester-valid-s", "30") as attester:
            until(lambda: w.row(intent)[2] == "unknown", "sent")
            attester.kill()
        w.ledgers(40)
        w.calm()
        w.fault("getTransaction=retention:5")
        w.tick(30)
        with w.attester(*LASTING):
            reaches(w, intent, "confirmed")
        w.still()
        w.calm()
        is_once(w, intent, subject, 1 if lost == "cut:5" else 2)
        cases.append(w.row(intent)[2])
    check(cases[0] == "chain_says_so", f"{cases}")
    w.fault("sendTransaction=status:504x1")
    intent, subject, _ = w.plant()
    with w.attester() as attester:
        steal(w, attester, intent, "")
        attester.kill()
    w.ledgers(40)
    w.fault("getTransaction=retention:5")
    with w.attester():
        reaches(w, intent, "parked")
    w.calm()
    check(w.row(intent)[1] == "unknown_outcome", f"{w.row(intent)}")
    check(w.attested(subject) == 0, "a call without a decision")


STEPS = ("look simulated sign keep kept send sent submitted found confirm confirmed").split()


def x10(w):
    """X10 killed at each step: exactly one success"""
    if not POINTS:
        return "without failpoints: see attester_random"
    w.tick(30)
    for step in STEPS:
        intent, subject, _ = w.plant()
        with w.attester(points=f"attester.{step}=kill") as dead:
            until(lambda: dead.process.poll() is not None, f"killed at {step}")
        with w.attester():
            reaches(w, intent, "confirmed")
        is_once(w, intent, subject, int(w.row(intent, "attempts")[0]))
    for step in "bump", "bumped", "requeue", "park":
        intent, subject, _ = w.plant()
        w.fault({"bump": "sendTransaction=says:ERROR -9x1", "bumped": "sendTransaction=says:ERROR -9x1",
                 "requeue": "sendTransaction=status:504",
                 "park": "simulateTransaction=refuses:HostError: Error(Contract, #7)"}[step])
        with w.attester("--attester-valid-s", "30", points=f"attester.{step}=kill") as dead:
            until(lambda: dead.process.poll() is not None, f"killed at {step}")
        if step == "requeue":
            w.calm()
        with w.attester("--attester-valid-s", "30"):
            reaches(w, intent, "parked" if step == "park" else "confirmed")
        w.calm()
        if step != "park":
            is_once(w, intent, subject, int(w.row(intent, "attempts")[0]))
    return f"{len(STEPS) + 4} steps"


def cpu_of(pid):
    fields = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def idles(attester, seconds, meanwhile=lambda: None):
    """It does not spin: it uses less than 0.3 of a core."""
    before, began = cpu_of(attester.process.pid), time.monotonic()
    meanwhile()
    time.sleep(seconds)
    spent, took = cpu_of(attester.process.pid) - before, time.monotonic() - began
    check(spent < 0.3 * took, f"{spent} s of CPU in {took:.1f} s")


def x11(w):
    """X11 key unreadable, network or database away: a clear word, the queue grows, no busy loop"""
    for mode, why in ((0o644, "lets others"), (None, "No such file")):
        w.key.rename(w.path / "aside") if mode is None else w.key.chmod(mode)
        code, said, wrong = w.once("--once")
        check(code == 78 and why in wrong and str(w.key) in wrong and w.seed not in said + wrong,
              f"{code} {said} {wrong}")
        (w.path / "aside").rename(w.key) if mode is None else w.key.chmod(0o600)
    intents = [w.plant()]
    w.fault("*=status:503")
    w.tick(30)
    with w.attester(*LASTING) as attester:
        until(lambda: "attester.trouble" in attester.said(), "trouble is logged")
        idles(attester, 2, lambda: intents.append(w.plant()))
        check(w.row(intents[0][0])[0] == "queued", "not queued")
        w.calm()
        for intent, subject, _ in intents:
            reaches(w, intent, "confirmed")
            is_once(w, intent, subject)
    pg = lambda *words: subprocess.run(["bash", "-c", f'set -e; . "{stop_lib()}"; ' + " ".join(words)], check=True)
    with w.attester() as attester:
        until(lambda: "attester.key" in attester.said(), "at work")
        intents = [w.plant()]
        reaches(w, intents[0][0], "confirmed")
        w.db.close()
        pg('cluster_down "$PG_DIR" immediate')
        until(lambda: "attester.trouble" in attester.said(), "trouble is logged")
        idles(attester, 1)
        pg('cluster_up "$PG_DIR" -F')
        w.db.open()
        intent, subject, _ = w.plant()
        reaches(w, intent, "confirmed")
        is_once(w, intent, subject)


def in_one_ledger(w, intent, word, subject, ours_first):
    """Puts the admin's call and ours into one ledger, ours first if ours_first. Returns that ledger."""
    w.post("/hold", "")

    def theirs():
        sent = w.sends()
        call = w.background("tx", word, "--as", "admin", "--subject", subject, "--text", "case")
        until(lambda: w.sends() > sent, f"{word} sent")
        return call

    call = None if ours_first else theirs()
    with w.attester():
        reaches(w, intent, "submitted")
        call = call or theirs()
        w.post("/hold", None, "DELETE")
        w.ledgers()
        reaches(w, intent, "confirmed")
        check(call.wait(30) == 0, f"{word}: {call.stderr.read()}")
    return w.latest()


def x12(w):
    """X12 suspended by the admin in the same ledger, just before ours: on the chain, told loudly, a person sets it right"""
    for word, overwrote in ("suspend", "suspended"), ("sanction", "sanctioned"):
        intent, subject, _ = w.plant()
        ledger = in_one_ledger(w, intent, word, subject, False)
        is_once(w, intent, subject)
        row = w.row(intent, "confirmed_ledger, attention, attended_at IS NULL")
        check(row == [str(ledger), overwrote, "t"], f"{word}: {row}")
        check(w.audit(intent)[-2:] == ["confirmed", "attention"], f"{w.audit(intent)}")
        said = w.last_said()
        check(re.search(rf"ERROR.*attester.attention .*id={intent} .*overwrote={overwrote} subject={subject} ledger={ledger} ", said), said)
    code, said, wrong = w.once("status")
    check(code == 0 and f"attention {intent} attest: overwrote=sanctioned ledger={ledger} " in said and "intact" in said, said + wrong)
    code, said, wrong = w.once("attended", str(intent))
    check(code == 0 and w.audit(intent)[-1] == "attended", f"{code} {said} {wrong}")
    code, said, wrong = w.once("attended", str(intent))
    check(code == 67 and "needs no attention" in wrong, f"{code} {said} {wrong}")
    check(f"attention {intent} " not in w.once("status")[1], "attended, yet asked for again")
    # The other way round nothing was undone.
    intent, subject, _ = w.plant()
    in_one_ledger(w, intent, "suspend", subject, True)
    is_once(w, intent, subject)
    check(w.row(intent, "attention IS NULL") == ["t"], f"suspended behind ours: {w.row(intent, 'attention')}")
    revoked_over(w)


def revoked_over(w):
    """The same of a revocation: it resets a record that is ours, whatever stands in it."""
    w.tick(20)
    with w.attester():
        intent, subject, session = w.plant()
        reaches(w, intent, "confirmed")
    w.still()
    intent, _, _ = w.plant(subject, "revoke", 2, session)
    in_one_ledger(w, intent, "suspend", subject, False)
    check(w.attested(subject, "revoke") == 1, "not revoked")
    check(w.row(intent, "attention") == ["suspended"], f"{w.row(intent, 'attention')}")


def stops(w, attester, call):
    """The attester stands still while that call of its own, which is delayed, is under way: what it read before gets old."""
    until(lambda: json.loads(w.post("/faults", None, "GET"))[0]["struck"] > 0, f"{call} under way")
    attester.send(signal.SIGSTOP)
    w.calm()


def goes_on(w, attester, intent, sees):
    """It goes on, and sees that it was left behind: it changes nothing of the row and sends nothing."""
    before = w.sends(), w.row(intent, "*"), w.audit(intent)
    attester.send(signal.SIGCONT)
    until(lambda: sees in attester.said(), lambda: f"{sees}: {attester.said()}")
    check(before == (w.sends(), w.row(intent, "*"), w.audit(intent)), f"{intent}: {before} became {w.row(intent, '*')} {w.audit(intent)}")


def locks_hold(w, hold):
    """Locks that do not hold are those of a pooler that gives each transaction another session: the fence alone is left."""
    for kind in "(bigint)", "(int, int)":
        if hold:
            w.db.ask(f"DROP FUNCTION pg_catalog.pg_try_advisory_lock{kind}; ALTER FUNCTION pg_catalog.real_lock{kind} RENAME TO pg_try_advisory_lock")
        else:
            w.db.ask(f"ALTER FUNCTION pg_catalog.pg_try_advisory_lock{kind} RENAME TO real_lock")
            w.db.ask(f"CREATE FUNCTION pg_catalog.pg_try_advisory_lock{kind} RETURNS bool LANGUAGE sql AS 'SELECT true'")


def decided_anew(w):
    """A newer decision comes between the choice of the row and its signature."""
    older, subject, session = w.plant()
    w.fault("simulateTransaction=delay:1000x1")
    with w.attester() as one:
        stops(w, one, "simulateTransaction")
        newer, _, _ = w.plant(subject, rev=2, session=session, expires=4102444860)
        one.send(signal.SIGCONT)
        reaches(w, newer, "confirmed")
        reaches(w, older, "superseded")
        check(f"attester.fenced id={older}" in one.said(), one.said())
    check(w.audit(older) == ["superseded"], f"{w.audit(older)}")
    is_once(w, newer, subject)


def taken_over(w, loses, sees):
    """Another one signed and sent before this one has signed; loses: how this one's claim ends."""
    w.still()
    intent, subject, _ = w.plant()
    w.fault("simulateTransaction=delay:1000x1")
    with w.attester(*LASTING) as one:
        stops(w, one, "simulateTransaction")
        loses()
        with w.attester(*LASTING):
            reaches(w, intent, "submitted")
            goes_on(w, one, intent, sees.format(intent))
            w.tick(30)
            reaches(w, intent, "confirmed")
    is_once(w, intent, subject)


def requeued_by_another(w):
    """Another one found this one's envelope dead and signed a new one: the end of the old one is not the new one's."""
    w.still()
    intent, subject, _ = w.plant()
    w.fault("sendTransaction=status:504x1")
    with w.attester("--attester-valid-s", "30") as one:
        until(lambda: w.row(intent)[2] == "unknown", "sent")
        one.send(signal.SIGSTOP)
        w.calm()
        w.ledgers(40)
        w.fault("getTransaction=delay:1000@4x1")  # two servers were asked twice each: the envelope is given up
        one.send(signal.SIGCONT)
        stops(w, one, "getTransaction")
        w.fault("sendTransaction=status:504")
        with w.attester(*LASTING):
            until(lambda: w.audit(intent) == ["signed", "requeued", "signed"] and w.row(intent)[2] == "unknown", lambda: f"{w.row(intent)} {w.audit(intent)}")
            goes_on(w, one, intent, f"attester.fenced id={intent}")
        w.calm()
        w.tick(30)
        reaches(w, intent, "confirmed")
    is_once(w, intent, subject, 2)


def x13(w):
    """X13 stopped while another one, or a newer decision, takes over: what it does by its old claim changes and sends nothing"""
    w.tick(30)
    decided_anew(w)
    cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'tidemark-attester'"
    taken_over(w, lambda: w.db.ask(cut), "attester.standby")
    locks_hold(w, False)
    try:
        taken_over(w, lambda: None, "attester.fenced id={}")
        requeued_by_another(w)
    finally:
        locks_hold(w, True)


def stop_lib():
    return os.path.join(os.environ["TIDE_SOURCE_DIR"], "tools/lib/cluster.sh")


FAULTS = [x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13]


def main():
    wanted, failed = sys.argv[1:], 0
    w = World("faults")
    for fault in FAULTS:
        if wanted and fault.__name__ not in wanted:
            continue
        began = time.monotonic()
        try:
            note = fault(w)
            print(f"ok {fault.__doc__}{': ' + note if note else ''} ({(time.monotonic() - began) * 1000:.0f} ms)", flush=True)
        except (SystemExit, subprocess.SubprocessError, OSError) as error:
            failed += 1
            print(f"not ok {fault.__doc__}: {error}", flush=True)
        w.still()
        w.calm()
    w.close()
    sys.exit(failed > 0)


main()
