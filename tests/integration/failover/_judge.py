#!/usr/bin/env python3
"""Judges the answers that _clients.py recorded, and measures the outages. usage: _judge.py WORD…

Every answer is held against PostgreSQL as of the ledger that it names; each ledger and event of a stream too, once and in
order. Words are what may happen besides:  query  503s of SQL queries · lookup  503s of look-ups · stale  those that say so ·
cut  answers of a node that is down · back  ledgers that step back (back:query  those of SQL) · behind  a stream that says so, which it then must ·
late:NODE  answers that are as late as the marks say, and then stale · late:NODE/query  only those of SQL."""
import collections
import datetime
import json
import os
import pathlib
import subprocess
import sys

PG_DIR = pathlib.Path(os.environ["PG_DIR"])
STALE_MS = int(os.environ.get("TIDEMARK_STALE_AFTER_MS", 60000))
SETTLED_S = 10  # from then on nothing is refused
allowed = set(sys.argv[1:])


def sql(statement):
    done = subprocess.run([os.environ["PG_BIN"] + "/psql", "-XAtqv", "ON_ERROR_STOP=1", "-c", statement], capture_output=True, text=True, check=True)
    return [line.split("|") for line in done.stdout.splitlines()]


def wrong(what):
    sys.exit(f"FAIL: {what}")


records = [json.loads(line) for line in open(PG_DIR / "clients")]
answers = [r for r in records if r["kind"] in ("lookup", "query")]
marked = [line.split() for line in open(PG_DIR / "marks")]
marks = dict(marked)
closed = {int(n): at for n, at in sql("SELECT ledger, chain.rfc3339(closed_at) FROM chain.ledger")}
newest = max(closed)


# --- what may be refused, and for how long ----------------------------------------------------------
def is_down(r):
    """Whether its node was killed at that time: between the marks NODE.down and NODE.up."""
    down, up = ([float(at) for name, at in marked if name == f"{r['node']}.{which}"] for which in ("down", "up"))
    return any(begun - r["took"] <= r["at"] <= ended for begun, ended in zip(down, up))


def check_statuses():
    counts = collections.Counter()
    for r in answers:
        code = (r["body"] or {}).get("code")
        if r["status"] == 200:
            continue
        counts[r["node"], r["kind"], code or "cut"] += 1
        if r["status"] == 0:
            word = "cut"
        elif r["status"] != 503 or not r["retry"]:
            wrong(f'{r["path"]}: {r["status"]} {r["body"]}')
        elif code == "stale" and r["kind"] == "lookup":
            word = "stale"
        elif code in ("database_unavailable", "not_ready", "stale", "query_too_long"):
            word = r["kind"]
        else:
            wrong(f'{r["path"]}: {r["body"]}')
        late = word != "stale" and r["at"] > float(marks["writes"]) + SETTLED_S
        if word == "cut" and not is_down(r):
            wrong(f"{r['node']} lives, and does not answer {r['path']}")
        if word not in allowed and f'{word}:{r["node"]}' not in allowed or late:
            wrong(f'{r["node"]} {r["path"]} at {r["at"] - float(marks.get("lost", r["at"])):+.1f} s: {r["status"]} {r["body"]}')
    for node in sorted({r["node"] for r in answers}):
        bad = [r for r in answers if r["node"] == node and r["status"] != 200]
        good = sum(r["node"] == node and r["status"] == 200 for r in answers)
        span = f', between {bad[0]["at"] - float(marks["lost"]):+.1f} and {max(r["at"] + r["took"] for r in bad) - float(marks["lost"]):+.1f} s' if bad and "lost" in marks else ""
        kinds = ", ".join(f"{n} x {kind} {code}" for (of, kind, code), n in sorted(counts.items()) if of == node) or "none"
        print(f"   {node}: {good} answers, refused: {kinds}{span}; the slowest took {max(r['took'] for r in answers if r['node'] == node):.1f} s")
    return sum(r["status"] == 503 for r in answers)


# --- what was told is true ------------------------------------------------------------------------
def latest(table, key, columns):
    """{key: [(ledger, columns…)…]} of a history table, oldest first; removed: None."""
    found = collections.defaultdict(list)
    for name, ledger, removed, *rest in sql(f"SELECT {key}, ledger, removed, {columns} FROM history.{table} ORDER BY 1, ledger, tx, seq"):
        found[name].append((int(ledger), None if removed == "t" else rest))
    return found


def as_of(versions, ledger):
    now = [rest for at, rest in versions if at <= ledger]
    return now[-1] if now else None


def check_lookups(good):
    feeds = latest("oracle_feed", "asset", "latest_price, twap_price")
    people = latest("compliance_registry_compliance_rec", "address", "status, updated_at")
    frozen = latest("compliance_registry_frozen", "address", "1")
    answers_of_people = collections.Counter()
    for r in good:
        body, at = r["body"], int(r["ledger"])
        if r["path"] == "/api/prices":
            told = {i["asset"]: [i["latestPrice"], i["twapPrice"]] for i in body["items"]}
            want = {asset: as_of(v, at) for asset, v in feeds.items() if as_of(v, at)}
        else:
            record = body["record"]
            told, want = record and [str(record["status"]), datetime.datetime.fromisoformat(record["updatedAt"]).timestamp()], as_of(people[body["address"]], at)
            want = want and [want[0], float(want[1])]
            answers_of_people[body["compliant"], bool(as_of(frozen[body["address"]], at))] += 1
            if body["compliant"] and as_of(frozen[body["address"]], at):
                wrong(f"compliant, and frozen since before ledger {at}: {r}")
            if body["compliant"] and int(r["age"]) > STALE_MS:
                wrong(f"compliant, and {r['age']} ms old: {r}")
        if told != want:
            wrong(f"at ledger {at}: {r['path']} told {told}, PostgreSQL has {want}")
    if (PG_DIR / "freezes").exists():
        if not (answers_of_people[True, False] and answers_of_people[False, True]):
            wrong(f"no answer was compliant, or none about a frozen address: {answers_of_people}")
        print(f"   {answers_of_people[True, False]} answers compliant, {answers_of_people[False, True]} about frozen addresses")


def check_queries(good):
    pool = latest("liquidity_pool_pool", "pool_id", "reserve_a, reserve_b")["XLMUSDC"]
    events = [(int(l), i) for l, i in sql("SELECT ledger, chain.event_id(ledger, tx, op, event) FROM event.log ORDER BY ledger, tx, op, event")]
    swaps = [(int(l), i) for l, i in sql("SELECT ledger, chain.event_id(ledger, tx, op, event) FROM event.liquidity_pool_swap WHERE pool_id = 'XLMUSDC' ORDER BY ledger, tx, op, event")]
    ledgers = [(int(l), h) for l, h in sql("SELECT ledger, encode(hash, 'hex') FROM chain.ledger ORDER BY 1")]
    rows = {"/api/events?limit=20": (events, "id", 20), "/api/ledgers?limit=5": (ledgers, "hash", 5), "/api/pools/XLMUSDC/swaps?limit=10": (swaps, "id", 10)}
    for r in good:
        if r["path"] not in rows:
            told, want = [r["body"]["reserveA"], r["body"]["reserveB"]], as_of(pool, int(r["ledger"]))
        else:
            all_rows, name, limit = rows[r["path"]]
            told, want = [i[name] for i in r["body"]["items"]], [i for l, i in all_rows if l <= int(r["ledger"])][:-limit - 1:-1]
        if told != want:
            wrong(f"at ledger {r['ledger']}: {r['path']} told {told}, PostgreSQL has {want}")


def check_answers():
    good = [r for r in answers if r["status"] == 200]
    for r in good:
        if r["closed"] != closed.get(int(r["ledger"])) or r["body"]["ledger"] != r["ledger"]:
            wrong(f"{r['path']}: ledger {r['ledger']} closed {r['closed']}, PostgreSQL has {closed.get(int(r['ledger']))}")
    check_lookups([r for r in good if r["kind"] == "lookup"])
    check_queries([r for r in good if r["kind"] == "query"])
    return len(good)


def check_steps():
    """Ledgers that a client saw step back: the newest before, and the one after."""
    steps = []
    for series in sorted({(r["node"], r["kind"]) for r in answers}):
        seen = [int(r["ledger"]) for r in answers if (r["node"], r["kind"]) == series and r["status"] == 200]
        steps += [(*series, a, b) for a, b in zip(seen, seen[1:]) if b < a]
    surprising = [step for step in steps if "back" not in allowed and f"back:{step[1]}" not in allowed]
    if surprising:
        wrong(f"ledgers step back: {surprising}")
    return steps


def check_late(node, kind=None):
    """While a server is late, what comes from it says how late, and nothing from it is compliant once that is too late."""
    found = 0
    for begun, ended in zip(*([float(at) for name, at in marked if name == which] for which in ("paused", "resumed"))):
        for r in answers:
            ago = r["at"] - begun
            if r["node"] != node or kind not in (None, r["kind"]) or not 3 < ago < ended - begun - 3:
                continue
            found += 1
            if r["status"] == 200 and int(r["age"]) < 1000 * ago - 2000:
                wrong(f"{node}: {ago:.1f} s after its server was stopped, {r['path']} is {r['age']} ms old")
            if r["kind"] == "lookup" and ago > STALE_MS / 1000 + 2 and r["status"] != 503:
                wrong(f"{node}: {ago:.1f} s after its server was stopped: {r}")
    if not found:
        wrong(f"{node}: no answer while its server was stopped")
    print(f"   {node}: {found} answers{' of SQL' if kind else ''} while its server was stopped, each as late as it was, none compliant once stale")


# --- the streams -----------------------------------------------------------------------------------
def check_stream(node):
    told = [r for r in records if r["kind"] == "message" and r["node"] == node]
    ledgers = [(r["data"]["ledger"], r["data"]["hash"]) for r in told if r["event"] == "ledger"]
    first, last = int(ledgers[0][0]), int(ledgers[-1][0])
    want = [tuple(row) for row in sql(f"SELECT ledger, encode(hash, 'hex') FROM chain.ledger WHERE ledger BETWEEN {first} AND {last} ORDER BY 1")]
    if ledgers != want:
        wrong(f"{node}: the stream told {len(ledgers)} ledgers from {first} to {last}: {sorted(set(want) ^ set(ledgers))[:5]} {[l for l, n in collections.Counter(ledgers).items() if n > 1][:5]}")
    events = [r["data"]["id"] for r in told if r["event"] == "event" and int(r["data"]["ledger"]) <= last]
    want = [row[0] for row in sql(f"SELECT chain.event_id(ledger, tx, op, event) FROM event.log WHERE ledger BETWEEN {first} AND {last} ORDER BY ledger, tx, op, event")]
    if events != want or not events:
        wrong(f"{node}: the stream told {len(events)} events, PostgreSQL has {len(want)}")
    odd = [r for r in told if r["event"] in ("stale", "fresh", "dropped")]
    said = ", ".join(f'{r["event"]} {r["data"].get("reason", "")}'.strip() for r in odd) or "nothing else"
    opened = sum(r["kind"] == "stream" and r["node"] == node and r["status"] == 200 for r in records)
    print(f"   {node}: its stream told ledgers {first} to {last} and {len(events)} events, each once; {opened} connections; it said {said}")
    return [r["data"].get("reason") for r in odd]


for word in sorted(allowed):
    if word.startswith("late:"):
        check_late(*word[5:].split("/"))
refused = check_statuses()
checked = check_answers()
steps = check_steps()
reasons = [reason for node in sorted({r["node"] for r in answers}) for reason in check_stream(node)]
if "behind" in allowed and "behind" not in reasons:
    wrong("no stream says that it is behind")
for node, kind, a, b in steps:
    print(f"   {node}: {kind}: stepped back from ledger {a} to {b}")
print(f"ok {checked} answers equal PostgreSQL at the ledger that they name; {refused} times 503; {len(steps)} steps back")
