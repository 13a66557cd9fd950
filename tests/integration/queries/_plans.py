#!/usr/bin/env python3
"""usage: _plans.py grow|plans|times   asks every list route of a database that is there (plans.sh).

grow    copies positions, vaults, deposits, claims, votes to people that are not, TIDE_GROW of each: what lists of
        state page over is large too
plans   reads what auto_explain logged of each statement: no large table is scanned from end to end, none is
        sorted, and no scan reads more than 3 rows for each that could be shown, or is shown within an item
times   asks each question again and again and prints how long it took, and what the database worked for it: that is
        the same beside other work, and judged if TIDE_SLACK is more than 1
"""
import json
import os
import re
import sys

sys.dont_write_bytecode = True
from _sql import Driver, Route, params, questions, routes, samples, sql

LIMIT = 50
LARGE = 2000  # rows: what is smaller may be read whole
MOST = 3 * (LIMIT + 1)
LATE_MS = {False: 50, True: 1000}  # now, as of a ledger


# Tables of state that may become large, and whose row it is.
GROW = {"liquidity_pool_lp_pos": "provider", "synthetic_engine_vault": "key_owner", "stability_pool_deposit": "depositor",
        "earnings_distributor_claimed": "claimer", "dao_governance_has_voted": "voter", "compliance_registry_attestation": "address",
        "compliance_registry_compliance_rec": "address"}
# A day of the protocol is summed up from the last word on each pool, token and feed: so many times more may be read. It
# grows with those, not with events: sums kept by day would have to be made again whenever an earlier day comes later.
# The last 24 hours of each pool are at most 47 candles, whatever happened in them.
# Of stats_daily each day also looks up the words of the few tokens that are collateral, and of their contracts.
# A liquidation reads eight rows of the one table of events: itself, back to its burn, and what two transfers may be. All versions of one vault may be sorted: the planner expects few.
# Prices of all feeds are many of all events: read in the order of the ledger, with what is between them.
DETAILS = {"oracle_observations": 8, "stats_daily": 6, "pools": 16, "stats": 16, "liquidations": 3, "vault_history": 2}
# A sum over many rows stops at so many, and says so ("complete").
SUMS = {"market_risk": 10001, "vault": 10001, "compliance_counts": 200001, "compliance_daily": 200001}
# A row that is read may show so many words (keys are looked up in chain.word).
WORDS = 8
# Answered by a statement of its own kind, beside those of route.def's TIDE_QUERY.
PORTFOLIO = Route("portfolio", "/api/addresses/{address}/portfolio", "ledger")
SAMPLES = os.environ["PG_DIR"] + "/samples.json"


def children(node):
    for inner in node.get("Plans", []):
        yield inner
        yield from children(inner)


def rows_of(node):
    """Rows that a node gave, or threw away, over all its loops."""
    each = node.get("Actual Rows", 0) + node.get("Rows Removed by Filter", 0) + node.get("Rows Removed by Index Recheck", 0)
    return each * node.get("Actual Loops", 1)


def table_of(name):
    return re.sub(r"_p\d+_\d+$", "", name)


def schema_of(name):
    """Statements read views of what is stored."""
    return re.sub(r"_rows$", "", name)


def faults_of(plan, sizes, most):
    read = {}
    for node in [plan, *children(plan)]:
        kind = node["Node Type"]
        if "Relation Name" in node:
            table = f"{schema_of(node['Schema'])}.{table_of(node['Relation Name'])}"
            if sizes.get(f"{node['Schema']}.{node['Relation Name']}", 0) < LARGE:
                continue  # a small table, or a small partition
            key = (table, node.get("Alias", "").rstrip("_0123456789"))
            read[key] = read.get(key, 0) + rows_of(node)
            if kind == "Seq Scan" and rows_of(node) > most:  # a page of a small partition is none
                yield f"{table} is scanned"
        elif kind in ("Sort", "Incremental Sort"):
            # Each sort for itself: a small one for each item of a page reads no more than is counted below.
            taken = sum(rows_of(inner) for inner in node["Plans"]) / max(node.get("Actual Loops", 1), 1)
            if taken > max(most, LARGE / 4) and kind == "Sort":
                yield f"a sort of {taken:.0f} rows"
    for (table, _), rows in read.items():
        if rows > most * (WORDS if table == "chain.word" else 1):
            yield f"{rows} rows read of {table}"


def held_in(answer):
    """Rows that items show within themselves: the observations of a round."""
    return sum(len(value) for item in answer.get("items", []) for value in item.values() if isinstance(value, list))


class Log:
    """The plans in the server's log, from where it was last read."""

    def __init__(self):
        self.file = open(os.environ["PG_DIR"] + "/log", encoding="utf-8", errors="replace")
        self.file.seek(0, 2)

    def plans(self):
        text = self.file.read()
        for match in re.finditer(r"plan:\n((?:\t.*\n)+)", text):
            found = json.loads(match.group(1).replace("\n\t", "\n"))
            if found["Query Text"].startswith(("-- list:", "-- one:")):
                yield found["Plan"]


def every_word(of, values):
    """The other words of each choice: an order or a state may be read in a way of its own."""
    known = params()
    for route in of:
        for name in route.filters:
            kind, _, words = known[name]
            for word in words.split("|") if kind == "CHOICE" and words else ():
                if word != route.value(values, name):
                    yield route, {name: word}, route.target(values, **{name: word})


def asked(d):
    """(route, target): first and later pages, now and as of a ledger, with each filter."""
    of, values = [*routes(), PORTFOLIO], json.load(open(SAMPLES))
    past = int(sql("SELECT (min(ledger) + max(ledger)) / 2 FROM chain.ledger"))
    for route, _, target in [*questions(of, values), *every_word(of, values)]:
        for at in (None, past) if "ledger" in route.query else (None,):
            first = target + ("" if at is None else ("&" if "?" in target else "?") + f"ledger={at}")
            yield route, at is not None, first
            if not route.is_list:
                continue
            join, cursor = "&" if "?" in first else "?", None
            for _ in range(6):
                status, _, page = d.timed(first + f"{join}limit=200" + (f"&cursor={cursor}" if cursor else ""))
                if status != 200 or page["next"] is None:
                    break
                cursor = page["next"]
            if cursor:
                yield route, at is not None, first + f"{join}cursor={cursor}"


def table_sizes():
    """Rows of each table, and of each partition."""
    rows = sql("""SELECT n.nspname || '.' || c.relname, greatest(c.reltuples, 0)::bigint
        FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE c.relkind = 'r' AND n.nspname IN ('chain', 'state', 'chain_rows', 'event_rows', 'history_rows', 'rollup')""")
    return {name: int(n) for name, n in (line.split("|") for line in rows.split("\n"))}


def cpu_of_database():
    """A function that tells CPU milliseconds of the only other session there is, or 0 where the system does not."""
    path = f"/proc/{sql('SELECT max(pid) FROM pg_stat_activity WHERE datname IS NOT NULL AND pid <> pg_backend_pid()')}/schedstat"

    def read():
        try:
            with open(path, encoding="ascii") as file:
                return int(file.read().split()[0]) / 1e6
        except OSError:
            return 0
    return read


def plans(d):
    log, sizes, bad, count, targets = Log(), table_sizes(), 0, 0, list(asked(d))
    cpu = cpu_of_database()
    for route, past, target in targets:
        for _ in range(5):  # the machine stood still if the database cancels after two seconds and worked for less than one
            for _ in log.plans():
                pass
            before = cpu()
            status, _, answer = d.timed(target)
            found = list(log.plans())
            if status != 503 or answer["code"] != "query_too_long" or not 0 < cpu() - before < LATE_MS[True]:
                break
        count += 1
        if status not in (200, 404):  # a statement that was cancelled leaves no plan; the other routes are still asked
            bad += 1
            print(f"{route.name}{' as of' if past else ''}: {status} {answer['code']}    {target[:150]}", flush=True)
            continue
        probed = route.is_list and (status == 404 or not answer["items"])  # whether what it is of exists
        asked_first = probed or route.name == PORTFOLIO.name  # and what the address may claim
        assert len(found) in ((1, 2) if asked_first else (1,)), f"{len(found)} plans of {target}"
        most = SUMS.get(route.name, (MOST + 3 * held_in(answer)) * DETAILS.get(route.name, 1))
        for fault in [f for plan in found for f in faults_of(plan, sizes, most)]:
            if past and not os.environ.get("TIDE_PAST"):
                continue  # as of a ledger it is time that counts
            bad += 1
            print(f"{route.name}{' as of' if past else ''}: {fault}    {target[:150]}")
    large = sum(1 for rows in sizes.values() if rows >= LARGE)
    print(f"{count} plans, {bad} faults; {large} tables and partitions of {LARGE} rows and more, {sum(sizes.values())} rows in all")
    sys.exit(bad > 0)


def grow(_):
    """A copy has one or two versions of what it is a copy of: there all the time, changed, or new."""
    wanted = int(os.environ.get("TIDE_GROW", "20000"))
    json.dump(samples(routes()), open(SAMPLES, "w"))  # people who are
    for table, person in GROW.items():
        count = int(sql(f"SELECT count(DISTINCT key_hash) FROM history.{table} WHERE NOT removed"))
        assert count, f"history.{table} is empty"
        names = sql(f"""SELECT string_agg(quote_ident(column_name), ',') FROM information_schema.columns
            WHERE table_schema = 'state' AND table_name = '{table}'""").split(",")
        keyed = sql(f"""SELECT regexp_replace(column_name, '_key$', '') FROM information_schema.columns
            WHERE table_schema = 'history' AND table_name = '{table}' AND column_name ~ '_key$'""").split()
        stored = [f"(SELECT w.id FROM chain.word AS w WHERE w.word = {n})" if n in keyed else n for n in names]
        other = "'G' || translate(upper(substr(encode(sha256(v.key_hash || i::text::bytea), 'hex'), 1, 55)), '0189', 'WXYZ')"
        given = {"key_hash": "sha256(v.key_hash || i::text::bytea)", person: other, "collateral": "v.collateral + i",
                 "opened_at": "extract(epoch FROM f.closed_at)::bigint"}
        shown = ", ".join(f"{given.get(n, 'v.' + n)} AS {n}" for n in names)
        sql(f"""CREATE TEMPORARY TABLE version AS
              SELECT *, row_number() OVER w AS n, count(*) OVER (PARTITION BY key_hash) AS of FROM history.{table} WHERE NOT removed
              WINDOW w AS (PARTITION BY key_hash ORDER BY ledger, tx, seq);
            CREATE TEMPORARY TABLE copy AS SELECT {shown}, v.n = l.n AS last
              FROM generate_series(1, {max(wanted // count, 1)}) AS i
                CROSS JOIN (SELECT key_hash, of FROM version WHERE n = 1) AS k
                CROSS JOIN LATERAL (SELECT 1 + i * 7919 % k.of AS n) AS b
                CROSS JOIN LATERAL (SELECT b.n + i * 104729 % (k.of - b.n + 1) AS n) AS l
                JOIN version AS f ON f.key_hash = k.key_hash AND f.n = b.n
                JOIN version AS v ON v.key_hash = k.key_hash AND v.n IN (b.n, l.n);
            INSERT INTO chain.word (word) SELECT DISTINCT {person} FROM copy;
            INSERT INTO history_rows.{table} ({", ".join(names)}, removed, life) SELECT {", ".join(stored)}, false, 0 FROM copy;
            INSERT INTO state.{table} ({", ".join(names)}) SELECT {", ".join(names)} FROM copy WHERE last""")
    sql("VACUUM ANALYZE")


def times(d):
    rounds = int(os.environ.get("TIDE_ROUNDS", "20"))
    late, failed, lines, targets = 0, 0, [], list(asked(d))
    cpu = cpu_of_database()
    slack = float(os.environ.get("TIDE_SLACK", "1"))
    for route, past, target in targets:
        for _ in range(1 if slack == 1 else 3):  # a machine that stood still is asked again
            d.timed(target)
            before = cpu()
            answers = [d.timed(target)[:2] for _ in range(rounds)]
            took, wrong = sorted(us for _, us in answers), {status for status, _ in answers} - {200, 404}
            used = (cpu() - before) / rounds
            p50, p99 = took[len(took) // 2] / 1000, took[min(len(took) - 1, len(took) * 99 // 100)] / 1000
            spent = used if slack > 1 and used else p99  # beside other work the database's own work counts
            if spent <= LATE_MS[past] * slack and not wrong:
                break
        if wrong == {503} and slack > 1 and used < LATE_MS[True]:
            wrong = set()  # the database cancels after two seconds, but worked for less than one: the machine stood still
        if wrong:
            failed += 1
            print(f"{route.name}{' as of' if past else ''}: {wrong}    {target[:150]}", flush=True)
        lines.append((p99, f"{route.name:24} {'as of' if past else 'now  '} p50 {p50:7.1f} ms  p99 {p99:7.1f} ms  cpu {used:6.1f} ms  {target[:90]}"))
        late += spent > LATE_MS[past] * slack
    for _, line in sorted(lines, reverse=True)[:int(os.environ.get("TIDE_SHOW", "12"))]:
        print(line)
    print(f"{len(lines)} questions, {rounds} times each: {failed} failed, {late} later than {LATE_MS[False]} ms (as of a ledger: {LATE_MS[True]} ms);"
          f" load of the machine {os.getloadavg()[1]:.1f} on {os.cpu_count()} cores")
    sys.exit(late + failed > 0)


def main():
    d = Driver(1)
    {"grow": grow, "plans": plans, "times": times}[sys.argv[1]](d)


main()
