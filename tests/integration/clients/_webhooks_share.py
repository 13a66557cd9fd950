#!/usr/bin/env python3
"""Measures how many senders hanging endpoints occupy: see webhooks_share.sh."""
import os
import random
import subprocess
import sys

SHARES = [1, 1, 2, 2, 3, 3, 3, 3]  # of the senders of a node: notify_impl.h
PSQL = subprocess.Popen([os.environ["PG_BIN"] + "/psql", "-XAtqv", "ON_ERROR_STOP=1"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def sql(statement):
    """Rows as lists of texts. One session, so that thousands of statements take no time."""
    PSQL.stdin.write(statement + ";\n\\echo done\n")
    PSQL.stdin.flush()
    rows = []
    while (line := PSQL.stdout.readline().rstrip("\n")) != "done":
        if not line and PSQL.poll() is not None:
            sys.exit(f"FAIL: {statement}")
        rows.append(line.split("|"))
    return rows


def check(condition, what):
    if not condition:
        sys.exit(f"FAIL: {what}")


def integrator(name):
    sql(f"INSERT INTO kyc.integrator (id, name) VALUES ('{name}', '{name}')")


class Hooks:
    """Endpoints of one integrator, at most eight at a time, and its notifications."""
    count = 0

    def __init__(self, name):
        self.name = name
        integrator(name)

    def make(self, host=None):
        Hooks.count += 1
        hook = f"{Hooks.count:032x}"
        sql(f"INSERT INTO kyc.hook (id, deployment, integrator, url, events) VALUES ('{hook}', {DEPLOYMENT}, '{self.name}',"
            f" 'https://{host or self.name}.example/{Hooks.count}', '{{price.stale}}')")
        return hook

    def leave(self):
        sql(f"UPDATE kyc.hook SET state = 'deleted' WHERE integrator = '{self.name}'")

    def notify(self, hook):
        Hooks.count += 1
        sql(f"SELECT kyc.hook_emit({DEPLOYMENT}::smallint, 'price.stale', 'asset:{Hooks.count}', ARRAY['{Hooks.count}'], '{{}}', '{self.name}', '{hook}')")


class Senders:
    """The senders of a node. A sender that holds a notification is not free until it is done."""

    def __init__(self):
        self.held = {}  # sender: (delivery, attempt, integrator, hook)

    def claim(self, sender):
        rows = sql(f"SELECT id, attempts, integrator, hook FROM kyc.hook_claim({DEPLOYMENT}::smallint, {SHARES[sender]}, interval '1 hour') WHERE id IS NOT NULL")
        if rows:
            self.held[sender] = rows[0]
        return bool(rows)

    def claim_all(self):
        """Every free sender takes what it may, in any order."""
        free = [i for i in range(len(SHARES)) if i not in self.held]
        RNG.shuffle(free)
        for sender in free:
            self.claim(sender)

    def done(self, sender, succeeded, slow):
        delivery, attempt, _, _ = self.held.pop(sender)
        sql(f"SELECT kyc.hook_done({delivery}, {attempt}, {succeeded}, {200 if succeeded else 'NULL'}, NULL, interval '5 s',"
            f" interval '{1 if slow or not succeeded else 0} s', {slow}, NULL)")

    def of(self, *names):
        return [sender for sender, one in self.held.items() if one[2] in names]


def prove(senders, hooks, hook):
    """The endpoint takes one in time."""
    hooks.notify(hook)
    for _ in range(50):
        senders.claim_all()
        for sender in senders.of(hooks.name):
            mine = senders.held[sender][3] == hook
            senders.done(sender, True, False)
            if mine:
                return True
        if all(one[2] != hooks.name for one in senders.held.values()):
            return False
    return False


def hang(senders, hostile, proven):
    """Each makes eight endpoints anew, some of them proven, and something is due to each of them."""
    for one in hostile:
        one.leave()
        for hook in [one.make() for _ in range(8)]:
            one.notify(hook)
        # Marks some endpoints as proven, as if they had accepted a notification in time before the load.
        sql(f"UPDATE kyc.hook SET proven = true WHERE id IN (SELECT id FROM kyc.hook WHERE integrator = '{one.name}' AND state = 'enabled' LIMIT {proven})")
    for _ in range(4):
        senders.claim_all()


def innocent_is_served(senders, innocent, hook, what):
    innocent.notify(hook)
    for _ in range(20):  # each claim places new notifications of a few endpoints only
        if not senders.of(innocent.name):
            senders.claim_all()
    mine = senders.of(innocent.name)
    check(mine, f"{what}: no sender is free for it: {sorted((i, one[2]) for i, one in senders.held.items())}")
    for sender in mine:
        senders.done(sender, True, False)


def attack(count, rounds):
    """count integrators whose endpoints hang, for ever new ones. The most senders that they held once each is known as slow."""
    senders, hostile = Senders(), [Hooks(f"hostile{count}_{i}") for i in range(count)]
    innocent, newcomer, most = Hooks(f"innocent{count}"), Hooks(f"newcomer{count}"), 0
    hook = innocent.make()
    check(prove(senders, innocent, hook), "an endpoint that is not disturbed")
    names, before = [one.name for one in hostile], set()  # what they held before each was known
    turn = judged = known = 0
    while judged < rounds:
        turn += 1
        check(turn < 100, f"{known} of {count} are known as slow")
        hang(senders, hostile, RNG.choice([0, 1, 4]))
        held = senders.of(*names)
        known = int(sql(f"SELECT count(*) FROM kyc.hook_slow WHERE what LIKE 'integrator hostile{count}%' AND slow_until > now()")[0][0])
        if count < 4 or known == count:
            innocent_is_served(senders, innocent, hook, f"turn {turn}, {count} hostile integrators")
        if known < count:
            before = {one[0] for one in senders.held.values()}
        else:
            # An attempt takes ten seconds at most, so that none from before they were known lasts.
            for sender in [i for i in held if senders.held[i][0] in before]:
                senders.done(sender, False, True)
            held = senders.of(*names)
            since = [SHARES[i] for i in held]
            judged += 1
            most = max(most, len(since))
            check(since.count(1) <= 2 and since.count(2) == 0 and since.count(3) <= 2, f"turn {turn}: {count} slow integrators hold senders of {since}")
            innocent_is_served(senders, newcomer, newcomer.make(), f"turn {turn}, a new endpoint beside {count} hostile integrators")
        for sender in RNG.sample(held, RNG.randrange(len(held) + 1)):
            senders.done(sender, RNG.choice([True, False]), True)
    for one in hostile:
        one.leave()
    for sender in senders.of(*names):
        senders.done(sender, False, True)
    return most


def hosts():
    """A slow host counts for new endpoints alone."""
    senders, hostile, innocent = Senders(), Hooks("shared_hostile"), Hooks("shared_innocent")
    hook = innocent.make("gateway")
    check(prove(senders, innocent, hook), "an endpoint of a shared host")
    hostile.notify(hostile.make("gateway"))
    senders.claim_all()
    for sender in senders.of(hostile.name):
        senders.done(sender, False, True)
    check(sql("SELECT kyc.hook_is_slow(1::smallint, 'host gateway.example')") == [["t"]], "a slow host")
    innocent.notify(hook)
    check(senders.claim(7), "a proven endpoint of a slow host waits for a sender that takes anything")
    senders.done(7, True, False)
    innocent.notify(innocent.make("gateway"))
    check(not senders.claim(2) and not senders.claim(7) and senders.claim(0), "a new endpoint of a slow host")
    senders.done(0, True, False)
    for one in (hostile, innocent):
        one.leave()


def deleted():
    """What is under way to a deleted endpoint counts until it has ended."""
    senders, one = Senders(), Hooks("deleting")
    for _ in range(6):
        one.notify(one.make())
        senders.claim_all()
        one.leave()
        sql(f"SELECT kyc.hook_maintain({DEPLOYMENT}::smallint)")
    check(len(senders.of(one.name)) == 1, f"{len(senders.of(one.name))} senders are held by endpoints that were deleted")


RNG = random.Random(int(os.environ.get("TIDE_SHARE_SEED", "25")))
DEPLOYMENT = sql("SELECT max(id) FROM chain.deployment")[0][0]
deleted()
hosts()
FIGURES = [f"{count} hold {attack(count, 4)}" for count in (3, 5)]
print(f"ok integrators whose new endpoints hang, once they are known as slow: {', '.join(FIGURES)} of 8 senders at most; others find one at once")
