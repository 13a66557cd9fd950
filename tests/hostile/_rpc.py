"""Runs the seeds of tests/hostile/rpc: RPC servers that lie to the attester."""
import argparse
import base64
import random
import sys
import time

from _attester import World, check, until
from _liar import FOREIGN, Liar, random_lies
from _steady import steady

SKEW, VALID = 3600, 30
QUICK = ["--clock-skew-s", str(SKEW), "--attester-valid-s", str(VALID), "--http-timeout-ms", "4000", "--attester-budget-xlm", "100000"]
WORLD_S = 90  # a ledger each 50 ms is a second of the chain: it runs ahead of the time of day


class Worlds:
    """One with an index and one without, made anew before their clocks are too far ahead."""

    def __init__(self):
        self.made, self.number, self.open = 0, 0, []

    def get(self, index):
        if not self.open or time.monotonic() - self.made > WORLD_S:
            self.close()
            self.number += 1
            start = int(time.time()) - 90 * 86400
            self.open = [World(f"{kind}{self.number}", "--wall-clock", "--start-time", str(start), index=kind == "indexed")
                         for kind in ("servers", "indexed")]
            self.made = time.monotonic()
        return self.open[index]

    def close(self):
        for w in self.open:
            check(w.db.one("SELECT kyc.audit_broken() IS NULL") == "t", "the audit does not hold together")
            w.close()
        self.open = []


def attest_some(w, rng):
    """People whom the chain knows before anything lies."""
    known = [w.plant() for _ in range(rng.randint(0, 2))]
    w.rpc = f"{w.url},{w.twin}"
    w.tick(50)
    with w.attester(*QUICK):
        for intent, _, _ in known:
            until(lambda: row_of(w, intent)[0] == "confirmed", lambda: f"attested before: {row_of(w, intent)}")
    w.still()
    return known


def plant(w, rng, known):
    planted = []
    for _ in range(rng.randint(1, 3)):
        if known and rng.random() < 0.6:
            _, subject, session = known.pop()
            planted.append((w.plant(subject, "revoke", 2, session)[0], subject, session, 2, "revoke"))
        else:
            intent, subject, session = w.plant()
            planted.append((intent, subject, session, 1, "attest"))
            if rng.random() < 0.3:
                planted.append((w.plant(subject, "revoke", 2, session)[0], subject, session, 2, "revoke"))
    return planted


def open_rows(w, planted):
    ids = ",".join(str(p[0]) for p in planted)
    latest = int(w.db.one(f"SELECT coalesce(max(max_time), 0) FROM kyc.outbox WHERE id IN ({ids}) AND state <> 'queued'"))
    check(latest <= time.time() + SKEW + VALID + 5, f"an envelope is good until {latest}")
    return int(w.db.one(f"""SELECT count(*) FROM kyc.outbox WHERE id IN ({ids})
        AND state IN ('queued', 'signed', 'submitted')"""))


def row_of(w, intent):
    return w.row(intent, "state, action, reason, last_status, attempts")


def judge(w, planted):
    """What the outbox says against what the chain says."""
    for subject in {p[1] for p in planted}:
        mine = w.db.ask(f"""SELECT state || ' ' || action || ' ' || coalesce(last_status, '') FROM kyc.outbox
            WHERE subject = '{subject}' ORDER BY id""")
        for action in "attest", "revoke":
            rows = [r.split(" ") for r in mine if r.split(" ")[1] == action]
            sure = sum(r[0] == "confirmed" and r[2] not in ("nothing_to_revoke", "already_so") for r in rows)
            maybe = sum(r[0] in ("parked", "signed", "submitted", "queued") for r in rows)
            calls = w.attested(subject, action)
            check(sure <= calls <= sure + maybe, f"{calls} calls of {action} on the chain for {mine}")
        newest = [r.split(" ") for r in mine if r.startswith("confirmed")]
        if newest and not any(r.split(" ")[0] in ("parked", "signed", "submitted") for r in mine):
            check(w.compliant(subject) == (newest[-1][1] == "attest"), f"the chain says otherwise than {mine}")
    ids = ",".join(str(p[0]) for p in planted)
    most = int(w.db.one(f"""SELECT coalesce(max(n), 0) FROM (SELECT count(*) AS n FROM kyc.attester_fee WHERE outbox IN ({ids})
        GROUP BY outbox) AS f"""))
    check(most <= 12, f"{most} envelopes signed for one intent")


def layout(rng, w, liar):
    """(servers, whether the intents must end while one of them lies)"""
    honest, twin = w.url, w.twin
    if w.index:
        return rng.choice([([liar, honest], True), ([honest, liar], True), ([liar], False)])
    return rng.choice([([liar, honest, twin], True), ([honest, liar, twin], True), ([liar, honest], False)])


def run_seed(worlds, seed, tally):
    rng = random.Random(seed)
    random.seed(f"subjects {seed}")
    w = worlds.get(rng.random() < 0.6)
    lies = random_lies(rng)
    with Liar(w.url, lies, w.deployment["network"]) as liar:
        servers, live = layout(rng, w, liar.url)
        told = {m: getattr(l, "__qualname__", "?").split(".")[0] for m, l in lies.items()}
        print(f"... seed {seed}: {'an index' if w.index else 'no index'}, liar {servers.index(liar.url) + 1} of {len(servers)}, {told}",
              flush=True)
        # A ledger that a server claimed is forgotten after 30 s; without an index after ten minutes, or with the process (rpc.h).
        claims = {"shift_ledger", "mutate"} & set(told.values())
        remembers = claims and not w.index
        planted = plant(w, rng, attest_some(w, rng))
        w.tick(50)
        w.rpc = ",".join(servers)
        with w.attester(*QUICK):
            end = steady() + (45 if live else rng.choice([1, 3, 6]))
            while open_rows(w, planted) and steady() < end:
                time.sleep(0.05)

            def rows():
                return [row_of(w, p[0]) for p in planted]

            def ended():
                return open_rows(w, planted) == 0
            judge(w, planted)
            check(not live or ended(), f"one server stopped the others: {rows()}")
            tally["late"] += liar.release()
            foreign = [h for h, e in liar.envelopes.items() if FOREIGN in base64.b64decode(e)]
            check(not foreign, f"signed for a foreign contract or code: {foreign}")
            liar.lies = {}
            if not remembers:
                until(ended, lambda: f"ended once nothing lied any more: {rows()}", 120 if claims else 60)
        if remembers:
            with w.attester(*QUICK):
                until(ended, lambda: f"ended once nothing lied any more: {rows()}", 60)
        w.ledgers(3)
        w.still()
        judge(w, planted)
        tally["lies"] += liar.told
    for planted_row in planted:
        tally[row_of(w, planted_row[0])[0]] += 1


def seeds_of(options, began):
    if options.seeds:
        yield from map(int, options.seeds.split(","))
        return
    seed = options.seed if options.seed is not None else random.SystemRandom().randrange(2 ** 31)
    if options.seconds is None:
        yield from range(seed, seed + (options.count or 1))
        return
    while time.monotonic() - began < options.seconds:
        yield seed
        seed += 1


def main():
    parse = argparse.ArgumentParser()
    parse.add_argument("--seed", type=int)
    parse.add_argument("--seconds", type=int)
    parse.add_argument("--count", type=int, help="so many seeds from --seed on")
    parse.add_argument("--seeds", help="these seeds, a comma list")
    options = parse.parse_args()
    tally = dict.fromkeys(["confirmed", "parked", "superseded", "lies", "late", "seeds"], 0)
    worlds, began = Worlds(), time.monotonic()
    for seed in seeds_of(options, began):
        try:
            run_seed(worlds, seed, tally)
        except (SystemExit, OSError) as error:
            for w in worlds.open:
                w.still()
            print(f"not ok seed {seed}: {error}", flush=True)
            sys.exit(1)
        tally["seeds"] += 1
    worlds.close()
    print(f"ok {tally['seeds']} seeds: {tally['lies']} answers by a server that lied, {tally['confirmed']} intents confirmed, "
          f"{tally['superseded']} superseded, {tally['parked']} parked, {tally['late']} envelopes sent late, "
          f"{time.monotonic() - began:.0f} s")


main()
