"""The random schedules of attester_random.sh, which says what they prove."""
import os
import random
import signal
import sys
import time

from _attester import World, check, has_points, until

SCHEDULES = int(os.environ.get("TIDE_SCHEDULES", "25"))
SEED = os.environ.get("TIDE_SEED", "1")
POINTS = has_points()
QUICK = ["--attester-valid-s", "30", "--http-timeout-ms", "1200"]

STEPS = ["look", "simulated", "sign", "keep", "kept", "send", "sent", "submitted", "found", "confirm", "confirmed", "bump",
         "bumped", "requeue", "park"]
WORDS = ["TRY_AGAIN_LATER", "DUPLICATE", "PENDING", "ERROR -5", "ERROR -9", "ERROR -3", "ERROR -17"]
LOST = ["status:503", "cut:9", "close:before", "close:after", "html", "null", "wrong-id", "truncate:30", "hang",
        "rpc-error:-32603 no", "429:1"]
METHODS = ["sendTransaction", "getTransaction", "getLedgerEntries", "simulateTransaction", "getLatestLedger", "getFeeStats",
           "getNetwork"]


def fault(rng):
    """One line for the simulator."""
    kind = rng.randrange(10)
    if kind < 3:
        line = f"sendTransaction={rng.choice(['says', 'claims'])}:{rng.choice(WORDS)}"
    elif kind < 6:
        line = f"{rng.choice(METHODS[:4] if rng.random() < 0.8 else METHODS)}={rng.choice(LOST)}"
    elif kind == 6:
        line = "getTransaction=misses"
    elif kind == 7:
        line = f"getTransaction=retention:{rng.randint(1, 12)}"
    elif kind == 8:
        line = f"{rng.choice(METHODS[:4])}=lag:{rng.randint(1, 20)}"
    else:
        line = "simulateTransaction=refuses:HostError: Error(Contract, #7)"
        return line + (f"@{rng.randint(1, 6)}x1")
    if rng.random() < 0.5:
        line += f"@{rng.randint(1, 4)}"
    return line + (f"x{rng.randint(1, 6)}" if rng.random() < 0.8 else "")


def plant(w, rng):
    """A few intents: most alone, some followed by a newer decision of their session."""
    planted = []
    for _ in range(rng.randint(2, 5)):
        intent, subject, session = w.plant()
        planted.append((intent, subject))
        if rng.random() < 0.25:
            action = rng.choice(["attest", "revoke"])
            planted.append((w.plant(subject, action, 2, session, expires=4102444800 + 60)[0], subject))
    return planted


def disturb(w, rng, tally):
    """One life of the attester, ended somehow."""
    points = None
    if POINTS and rng.random() < 0.7:
        points = f"attester.{rng.choice(STEPS)}=kill@{rng.randint(1, 3)}"
    with w.attester(*QUICK, points=points) as one:
        end = time.monotonic() + rng.choice([0.05, 0.1, 0.2, 0.4])
        other = w.attester(*QUICK) if rng.random() < 0.15 else None
        while time.monotonic() < end and one.process.poll() is None:
            if rng.random() < 0.1:
                one.send(signal.SIGSTOP)
                w.ledgers(rng.randint(1, 12))
                one.send(signal.SIGCONT)
            time.sleep(0.02)
        if rng.random() < 0.8 or points:
            one.kill()
            tally["kills"] += 1
        if other:
            with other:
                time.sleep(0.1)
                other.kill()
            tally["kills"] += 1


def ended(w, planted):
    ids = ",".join(str(i) for i, _ in planted)
    return w.db.one(f"""SELECT count(*) FROM kyc.outbox WHERE id IN ({ids})
        AND state IN ('queued', 'signed', 'submitted')""") == "0"


def judge(w, planted, name, tally):
    """What the outbox says against what the chain says, person by person."""
    for subject in {s for _, s in planted}:
        rows = [w.row(i, "state, action, reason, attempts, bump_hash IS NOT NULL, last_status") + [str(i)]
                for i, s in planted if s == subject]
        for action in "attest", "revoke":
            mine = [r for r in rows if r[1] == action]
            sure = sum(r[0] == "confirmed" and r[5] != "nothing_to_revoke" for r in mine)
            parked = sum(r[0] == "parked" for r in mine)
            calls = w.attested(subject, action)
            check(sure <= calls <= sure + parked, f"{name}: {calls} calls of {action} for {rows}")
        for row in rows:
            check(row[0] != "parked" or row[2], f"{name}: parked without a reason: {row}")
            tally[row[0]] += 1
            tally["bumps"] += row[4] == "t"
            tally["anew"] += max(0, int(row[3]) - 1)
            if row[0] == "parked":
                tally["reasons"][row[2]] = tally["reasons"].get(row[2], 0) + 1


def schedule(w, number, tally):
    rng = random.Random(f"{SEED} {number}")
    random.seed(f"{SEED} subjects {number}")
    name = f"schedule {number} of seed {SEED}"
    lines = [fault(rng) for _ in range(rng.randint(0, 5))]
    planted = plant(w, rng)
    if lines:
        w.fault(*lines)
    w.tick(rng.choice([8, 15, 30]))
    for _ in range(rng.randint(1, 3)):
        if rng.random() < 0.2:
            w.post("/hold", str(rng.randint(1, 8)))
        disturb(w, rng, tally)
    w.calm()
    w.post("/hold", None, "DELETE")
    with w.attester(*QUICK):
        until(lambda: ended(w, planted), f"{name}: not all ended, with {lines}", 40)
    w.still()
    judge(w, planted, name, tally)
    tally["faults"] += len(lines)


def main():
    first = int(os.environ.get("TIDE_FIRST", "0"))
    w = World("schedules")
    tally = dict.fromkeys(["queued", "signed", "submitted", "confirmed", "superseded", "parked", "kills", "faults", "bumps",
                           "anew"], 0) | {"reasons": {}}
    began = time.monotonic()
    for number in range(first, first + SCHEDULES):
        try:
            schedule(w, number, tally)
        except SystemExit as error:
            print(f"not ok {error}", flush=True)
            sys.exit(1)
        if SCHEDULES >= 200 and (number - first) % 50 == 49:
            print(f"... {number - first + 1} after {time.monotonic() - began:.0f} s", flush=True)
    check(w.db.one("SELECT kyc.audit_broken() IS NULL") == "t", "the audit does not hold together")
    check(tally["confirmed"] > tally["parked"], f"mostly parked: {tally}")
    w.close()
    reasons = ", ".join(f"{n} {r}" for r, n in sorted(tally["reasons"].items()))
    print(f"ok {SCHEDULES} schedules of seed {SEED} from {first}{'' if POINTS else ' (no failpoints)'}: {tally['confirmed']} "
          f"confirmed by exactly one call, {tally['superseded']} superseded, {tally['parked']} parked ({reasons}); "
          f"{tally['faults']} faults, {tally['kills']} kills, {tally['bumps']} fee bumps, {tally['anew']} envelopes made anew, "
          f"{time.monotonic() - began:.0f} s")


main()
