"""usage: _chain.py --seed N | --seconds S [--ledgers N] [--tail N] [--attacks LIST] [--index-alone] [--keep]   called by chain

For each seed: the chain of that seed with attackers and without, each in a database of its own.
The first part of the hostile chain spares what people own, so both must answer alike about it;
in the second part (--tail ledgers) nothing is spared, and only health is judged. Then the hostile
chain is indexed again in steps: what each step answers is what the whole index says as of its last ledger.
"""
import argparse
import http.client
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import threading
import time

from _chain_ask import Crawl, Failure, compare, strict
from _chain_past import START, follow

BIN = pathlib.Path(os.environ["TIDE_BIN"])
DIR = pathlib.Path(os.environ["PG_DIR"])
FIRST = 1024
# Stored bytes of rows without indexes over uncompressed ledgers, and what each ledger may cost beside.
RATIO, EACH = 8, 2048
RSS_MIB, RSS_MORE_MIB = 700, 160
PATIENCE_S = int(os.environ.get("TIDE_PATIENCE_S", "300"))  # until a program that does not end has failed


def psql(database, text, check=True, user="postgres"):
    done = subprocess.run([os.environ["PG_BIN"] + "/psql", "-XAtqv", "ON_ERROR_STOP=1", "-U", user, "-d", database, "-c", text],
                          capture_output=True, check=False)
    if check and done.returncode:
        raise Failure(f"{text[:200]}: {done.stderr.decode(errors='replace')[:400]}")
    return done


def rows(database, text):
    out = psql(database, f"SELECT coalesce(json_agg(x), '[]') FROM ({text}) AS x").stdout
    return strict(out)


class Index:
    """One chain in one database, with its API."""

    def __init__(self, folder, name):
        self.folder, self.name, self.api, self.port, self.peak, self.ratio = folder / name, name, None, None, 0, "?"
        self.folder.mkdir(parents=True)
        psql("postgres", f"CREATE DATABASE {name}")
        self.env = {**os.environ, "TIDEMARK_DATABASE_URL": f"host={DIR} port=5432 user=postgres dbname={name}",
                    "TIDEMARK_DEPLOYMENT": str(self.folder / "deployment.json"), "PGDATABASE": name}

    def tool(self, program, *args, ok=(0,)):
        """Runs it to its end; peak memory in MiB of an indexer is kept."""
        log = self.folder / f"{program}-{args[0]}.log"
        with open(log, "wb") as err, open(self.folder / "out", "wb") as out:
            child = subprocess.Popen([BIN / program, *map(str, args)], env=self.env, stdout=out, stderr=err)
            alarm = threading.Timer(PATIENCE_S, child.kill)
            alarm.start()
            _, status, usage = os.wait4(child.pid, 0)
            alarm.cancel()
            child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode == -9:
            raise Failure(f"{self.name}: {program} {args[0]} does not end within {PATIENCE_S} s: {log.read_bytes()[-800:].decode(errors='replace')}")
        if child.returncode not in ok:
            said = (self.folder / "out").read_bytes()[-600:] + log.read_bytes()[-1500:]
            raise Failure(f"{self.name}: {program} {args[0]} ended with {child.returncode}: {said.decode(errors='replace')}")
        if program == "tidemark-indexer" and args[0] == "run":
            self.peak = max(self.peak, usage.ru_maxrss / 1024)
        return (self.folder / "out").read_bytes()

    def write(self, ledgers, *more, lake="lake"):
        self.chain = [ledgers, *(option for option in more if option != "--append")]
        self.tool("tidemark-sim", "write", "--lake", self.folder / lake, "--ledgers", ledgers, "--first-ledger", FIRST,
                  "--start-time", START, "--quiet", *more)

    def other_node(self, salt):
        """The lake of a node that lists the same entry changes in another order."""
        self.write(*self.chain, "--shuffle", salt, lake="other")
        return self.folder / "other"

    def kill(self, seconds, *args):
        """Runs the indexer and kills it then, unless it ended before."""
        with open(self.folder / "killed.log", "wb") as log:
            child = subprocess.Popen([BIN / "tidemark-indexer", *map(str, args)], env=self.env, stdout=log, stderr=log)
            try:
                code = child.wait(seconds)
            except subprocess.TimeoutExpired:
                child.kill()
                code = child.wait()
        if code not in (0, -signal.SIGKILL):
            raise Failure(f"{self.name}: before it was killed it ended with {code}: {self.tail('killed.log')}")

    def index(self):
        self.tool("tidemark-indexer", "run", "--lake", self.folder / "lake", "--stop-at-end")

    def start(self):
        file = self.folder / "api.port"
        log = open(self.folder / "api.log", "ab")
        env = {**self.env, "TIDEMARK_COMPLIANCE_AGE_S": "0", "TIDEMARK_STALE_AFTER_MS": "86400000", "TIDEMARK_API_LISTEN": "127.0.0.1:0", "TIDEMARK_API_DRAIN_MS": "0",
               "TIDEMARK_API_CACHE": str(self.folder / "cache")}
        self.api = subprocess.Popen([BIN / "tidemark-api", "--api-port-file", file, "--api-rate-lookup", "0", "--api-rate-query", "0"], env=env, stderr=log)
        for _ in range(1200):
            if self.api.poll() is not None:
                raise Failure(f"{self.name}: tidemark-api ended with {self.api.returncode}: {self.tail('api.log')}")
            if file.exists() and file.read_text().strip():
                self.port = int(file.read_text())
                if self.ready():
                    return
            time.sleep(0.05)
        raise Failure(f"{self.name}: tidemark-api is not ready: {self.last_ready} {self.tail('api.log')}")

    def ready(self):
        try:
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
            connection.request("GET", "/api/prices")
            answer = connection.getresponse()
            self.last_ready = answer.status, answer.read()[:300]
            self.at = int(answer.headers.get("Ledger-Sequence") or 0)
            connection.close()
            return answer.status == 200
        except (OSError, http.client.HTTPException) as e:
            self.last_ready = e
            return False

    def wait_for(self, ledger):
        for _ in range(1200):
            if self.ready() and self.at >= ledger:
                return
            time.sleep(0.05)
        raise Failure(f"{self.name}: the API stays at ledger {self.at}, not {ledger}: {self.tail('api.log')}")

    def tail(self, name):
        path = self.folder / name
        return path.read_bytes()[-1200:].decode(errors="replace") if path.exists() else ""

    def stop(self):
        if self.api and self.api.poll() is None:
            self.api.terminate()
            try:
                self.api.wait(20)
            except subprocess.TimeoutExpired:
                self.api.kill()
                self.api.wait()
        if self.api and self.api.returncode not in (0, -9):
            raise Failure(f"{self.name}: tidemark-api ended with {self.api.returncode}: {self.tail('api.log')}")

    def drop(self):
        if self.api and self.api.poll() is None:
            self.api.kill()
            self.api.wait()
        psql("postgres", f"DROP DATABASE IF EXISTS {self.name} WITH (FORCE)", check=False)


# --- stored bytes -----------------------------------------------------------------------------------

def lake_bytes(index):
    """Uncompressed."""
    total = 0
    for path in (index.folder / "lake").rglob("*.zst"):
        total += len(subprocess.run(["zstd", "-dc", path], capture_output=True, check=True).stdout)
    return total


def stored_bytes(index):
    tables = rows(index.name, """SELECT format('%I.%I', n.nspname, c.relname) AS name, pg_indexes_size(c.oid) AS indexes
        FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
        WHERE c.relkind = 'r' AND n.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast', 'kyc')""")
    query = " UNION ALL ".join(f"SELECT sum(pg_column_size(t.*)) AS n FROM {t['name']} AS t" for t in tables)
    total = rows(index.name, f"SELECT sum(n)::bigint AS n FROM ({query}) AS all_tables")[0]["n"]
    return total, sum(t["indexes"] for t in tables)


def judge_bytes(index, ledgers):
    source, (stored, indexes) = lake_bytes(index), stored_bytes(index)
    limit = RATIO * source + EACH * ledgers
    index.ratio = f"{stored / source:.2f} ({(stored + indexes) / source:.2f} with indexes)"
    if stored > limit:
        raise Failure(f"{index.name}: {stored} bytes of rows from {source} bytes of {ledgers} ledgers, the limit is {limit}")


# --- what must hold -----------------------------------------------------------------------------------


def judge_privacy(index):
    """Views leave out answers of the registry that may hold a jurisdiction."""
    told = rows(index.name, "SELECT answer FROM analyst.calls WHERE role = 'compliance_registry' AND (json_typeof(answer) <> 'boolean' OR answer_xdr IS NOT NULL)")
    if told:
        raise Failure(f"{index.name}: analyst.calls: {told[0]} and {len(told) - 1} more")


def judge_views(index):
    views = [v["viewname"] for v in rows(index.name, "SELECT viewname FROM pg_views WHERE schemaname = 'analyst' ORDER BY 1")]
    version = int(rows(index.name, "SELECT current_setting('server_version_num') AS v")[0]["v"])
    forced = ("debug_parallel_query" if version >= 160000 else "force_parallel_mode") + " = on"
    plain = "SET statement_timeout = '120s'; SET ROLE tidemark_analyst;"
    parallel = (plain + f"SET {forced}; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;"
                "SET min_parallel_index_scan_size = 0; SET max_parallel_workers_per_gather = 2;")
    faults = []
    for mode, settings in (("plain", plain), ("parallel", parallel)):
        for view in views:
            done = psql(index.name, f"{settings} SELECT count(v::text) FROM (SELECT * FROM analyst.{view} OFFSET 0) AS v", check=False)
            if done.returncode:
                faults.append(f"{index.name}: analyst.{view} ({mode}): {done.stderr.decode(errors='replace').splitlines()[:2]}")
    if faults:
        raise Failure("\n".join(faults))
    return len(views)


# Each value of a column t.c, within others too, as text: PostgreSQL refuses U+0000 in whatever row holds it.
EXTRACTED = """WITH RECURSIVE v AS (SELECT c::json AS j, NULL::text AS told FROM {source} AS t WHERE c IS NOT NULL UNION ALL
    SELECT e.value, v.j ->> e.key FROM v CROSS JOIN LATERAL (SELECT key, value FROM json_each(CASE json_typeof(v.j) WHEN 'object' THEN v.j END)
        UNION ALL SELECT NULL, value FROM json_array_elements(CASE json_typeof(v.j) WHEN 'array' THEN v.j END)) AS e)
    SELECT count(j #>> '{{}}') + count(told) FROM v"""


def judge_json(index):
    """Every value of every JSON column can be had as text."""
    columns = rows(index.name, """SELECT format('(SELECT %I AS c FROM %I.%I)', a.column_name, a.table_schema, a.table_name) AS source
        FROM information_schema.columns AS a JOIN pg_class AS c ON c.oid = format('%I.%I', a.table_schema, a.table_name)::regclass
        WHERE a.data_type IN ('json', 'jsonb') AND NOT c.relispartition AND a.table_schema NOT IN ('pg_catalog', 'information_schema') ORDER BY 1""")
    if psql(index.name, EXTRACTED.format(source="""(SELECT '{"a":["\\u0000"]}'::json AS c)"""), check=False).returncode == 0:
        raise Failure(f"{index.name}: U+0000 is extracted")
    faults, values = [], 0
    for source in (column["source"] for column in columns):
        done = psql(index.name, EXTRACTED.format(source=source), check=False)
        values += int(done.stdout or 0)
        if done.returncode:
            faults.append(f"{source}: {done.stderr.decode(errors='replace').splitlines()[:2]}")
    if faults or not values:
        raise Failure(f"{index.name}: {values} values of {len(columns)} columns as text: " + "\n".join(faults))


def digests(index):
    """Table to its count of rows and digest; "total" too."""
    return dict(line.split(maxsplit=1) for line in index.tool("tidemark-indexer", "digest").decode().splitlines())


def other_rows(way, wanted, got):
    differ = [table for table in wanted.keys() | got.keys() if wanted.get(table) != got.get(table)]
    return f"{way}: other rows of {', '.join(sorted(differ))}" if differ else None


# Each event, and each call (event -1), that is there only as of a later ledger than its own: since which one.
SINCE = """WITH f AS (SELECT contract, greatest(min(ledger) FILTER (WHERE what = 'discovered'), min(ledger) FILTER (WHERE what <> 'discovered')) AS since
        FROM chain.contract_seen WHERE what IN ('discovered', 'asset', 'token') GROUP BY contract),
    e AS (SELECT ledger, tx, event, contract FROM event.log UNION ALL SELECT ledger, tx, event, contract FROM event.raw UNION ALL SELECT ledger, tx, -1, contract FROM chain.call)
    SELECT * FROM (SELECT e.ledger, e.tx, e.event, greatest(f.since, (SELECT min(coalesce(g.since, 0)) FROM chain.kept_for AS k LEFT JOIN f AS g USING (contract)
        WHERE k.ledger = e.ledger AND k.tx = e.tx AND k.event IN (-2, e.event))) AS since FROM e LEFT JOIN f USING (contract)) AS s WHERE since > ledger"""


# Where each token was named first, by a market too, and since when it is found, and has shown what it is.
TOKENS = """SELECT contract, min(ARRAY[ledger, tx]) FILTER (WHERE what IN ('discovered', 'ignored', 'market')) AS named,
    min(ledger) FILTER (WHERE what = 'market') AS market, min(ledger) FILTER (WHERE what = 'discovered') AS found,
    min(ledger) FILTER (WHERE what IN ('asset', 'token')) AS shown FROM chain.contract_seen WHERE what <> 'created' GROUP BY contract ORDER BY contract"""


def other_tokens(way, wanted, got):
    differ = [(one, two) for one, two in zip(wanted, got) if one != two] if len(wanted) == len(got) else [(len(wanted), len(got))]
    return f"{way}: {len(differ)} of {len(wanted)} tokens are found elsewhere: {differ[0][1]}, not {differ[0][0]}" if differ else None


def others_since(way, wanted, got):
    """Reports rows that the two indexes found at different ledgers: their answers as of a ledger differ."""
    one, two = ({(r["ledger"], r["tx"], r["event"]): r["since"] for r in found} for found in (wanted, got))
    differ = sorted(at for at in one.keys() | two.keys() if one.get(at) != two.get(at))
    return f"{way}: {len(differ)} of {len(one)} rows found in other ledgers: {differ[0]}: {two.get(differ[0])}, not {one.get(differ[0])}" if differ else None


KILLS = 4
WAYS = ("ledger by ledger", "in pieces", "backwards", "killed")


def judge_ways(index, last, dice, ways=WAYS):
    """Indexes the chain in each way of WAYS, from another node and in partitions of any size, and expects the same rows."""
    wanted, faults = digests(index), []
    since, tokens = rows(index.name, SINCE), rows(index.name, TOKENS)
    lake = ["--lake", index.other_node(dice.randrange(1, 1 << 31))]
    index.tool("tidemark-indexer", "verify", *lake)
    for way in ways:
        again = Index(index.folder, f"{index.name}_{way.replace(' ', '_')}")
        again.env |= {name: index.env[name] for name in ("TIDEMARK_DEPLOYMENT", "TIDEMARK_DISCOVERED_TOKENS") if name in index.env}
        again.env["TIDEMARK_PARTITION_LEDGERS"] = str(dice.choice((dice.randrange(FIRST + 1, last), 1000000)))  # a border among them, or none
        again.env["TIDEMARK_CRASH_LIMIT"] = "0"
        try:
            for start, end in ranges(last, way, dice) if way != "killed" else ():
                again.tool("tidemark-indexer", "backfill", *lake, "--from", start, "--to", end,
                           "--batch-ledgers", 1 if way == "ledger by ledger" else dice.randrange(1, 12), "--array-kib", dice.choice([0, 30, 1024]))
            for _ in range(KILLS if way == "killed" else 0):
                again.kill(dice.uniform(0.1, 6), "run", *lake, "--stop-at-end", "--batch-ledgers", dice.randrange(1, 12))
            again.tool("tidemark-indexer", "run", *lake, "--stop-at-end")
            faults += [other_rows(way, wanted, digests(again)), others_since(way, since, rows(again.name, SINCE)),
                       other_tokens(way, tokens, rows(again.name, TOKENS))]
            if way == "backwards":
                again.tool("tidemark-indexer", "reproject")
                faults.append(other_rows("reprojected", wanted, digests(again)))
                again.tool("tidemark-indexer", "verify", "--lake", index.folder / "lake")
        finally:
            again.drop()
    if any(faults):
        raise Failure("\n".join(filter(None, faults)))


ROLLED = ("liquidity_pool_pool", "synthetic_engine_debt_total", "stability_pool_state", "oracle_feed", "stellar_asset_balance",
          "compliance_registry_compliance_rec")  # that rollups are folded from


def judge_removals(index):
    """Fails unless the chain removed an entry of each table that rollups are folded from: without one, batches of other sizes would agree anyway."""
    missing = [t for t in ROLLED if not rows(index.name, f"SELECT 1 FROM history.{t} WHERE removed LIMIT 1")]
    if missing:
        raise Failure(f"{index.name}: no entry is removed of {', '.join(missing)}: take another seed")


def judge_cache(index, last, dice, steps=8):
    """A cache that was fed in steps of any size has the records of one that is built at once, as of each ledger."""
    faults = []
    for until in [*sorted(dice.sample(range(FIRST + 1, last), steps)), last]:
        shutil.rmtree(index.folder / "built", ignore_errors=True)
        fed, built = (index.tool("feed_driver", "step", index.folder / name, until).decode().strip() for name in ("fed", "built"))
        if fed != built:
            faults.append(f"the cache at {until}: fed {fed}, built {built}")
    if faults:
        raise Failure("\n".join(faults))


def ranges(last, way, dice):
    """Ranges from FIRST to last. The first one makes the partition, the others add to it."""
    if way == "ledger by ledger":
        return [(FIRST, FIRST), (FIRST + 1, last)]
    cuts = sorted({FIRST, *(dice.randrange(FIRST + 1, last + 1) for _ in range(5)), last + 1})
    out = [(start, end - 1) for start, end in zip(cuts, cuts[1:])]
    return out[::-1] if way == "backwards" else out


class Seed:
    """One seed's two chains, and all that was wrong with them."""

    def __init__(self, seed, options):
        self.seed, self.options, self.folder = seed, options, DIR / f"chain{seed}"
        self.faults, self.answers, self.views = [], 0, 0
        self.short = options.short and not os.environ.get("TIDE_LONG")  # tools/test all
        self.base, self.hostile = Index(self.folder, f"base_{seed}"), Index(self.folder, f"hostile_{seed}")
        self.then = Index(self.folder, f"then_{seed}")
        self.indexes, self.compared = (self.base, self.hostile, self.then), 0
        self.chain = ["--seed", seed % 1000 + 1, "--txs", options.txs, "--ledgers-per-object", 1]
        spared = options.ledgers if options.all_from is None else options.all_from
        self.attack = ["--hostile", seed, "--hostile-all-from", FIRST + spared]
        if options.attacks:
            self.attack += ["--hostile-attacks", options.attacks]

    def see(self, judge, *args):
        """What one judgement finds does not hide what the next one would."""
        try:
            return judge(*args)
        except (Failure, ValueError) as e:
            self.faults.append(f"{judge.__name__}: {e}")
            return None

    def alike(self, as_of=None):
        same = compare(self.base, self.hostile, rows, as_of)
        self.answers += same.asked
        if same.faults:
            raise Failure("answers differ from those without attackers:\n" + "\n".join(same.faults.lines()))

    def crawl(self):
        crawl = Crawl(self.hostile, rows, random.Random(self.seed))
        crawl.everything()
        self.answers += crawl.asked
        if crawl.faults:
            raise Failure("\n".join(crawl.faults.lines()))

    def exports(self):
        for judge in (judge_privacy, judge_json):
            self.see(judge, self.hostile)

    def health(self):
        self.see(self.hostile.tool, "tidemark-indexer", "verify", "--lake", self.hostile.folder / "lake")
        self.exports()
        self.views = self.see(judge_views, self.hostile) or 0
        self.see(self.crawl)

    def past(self, ledgers):
        done = follow(self.hostile, self.then, rows, random.Random(self.seed), range(FIRST + 8, FIRST + ledgers - 1), self.options)
        self.answers, self.compared = self.answers + done.asked, self.compared + done.compared
        if done.faults:
            raise Failure("past answers changed:\n" + "\n".join(done.faults.lines()))

    def memory(self):
        if self.hostile.peak > min(RSS_MIB, self.base.peak + RSS_MORE_MIB):
            raise Failure(f"the indexer took {self.hostile.peak:.0f} MiB, {self.base.peak:.0f} without attackers")

    def first_part(self):
        ledgers = self.options.ledgers
        self.base.write(ledgers, *self.chain)
        self.hostile.write(ledgers, *self.chain, *self.attack)
        for index in (self.base, self.hostile):
            index.index()
            index.start()
            index.wait_for(FIRST + ledgers - 1)
        self.see(self.alike)
        if not (self.short and self.options.tail):
            self.health()

    def second_part(self):
        ledgers = self.options.ledgers + self.options.tail
        self.hostile.write(ledgers, *self.chain, *self.attack, "--append")
        self.hostile.index()
        self.hostile.wait_for(FIRST + ledgers - 1)
        self.see(self.alike, FIRST + self.options.ledgers - 1)
        self.health()
        self.ways(FIRST + ledgers - 1, ("backwards",))

    def ways(self, last, few):
        """How the rows and the cache came about makes no difference; --short tries few ways."""
        self.see(judge_cache, self.hostile, last, random.Random(self.seed), 2 if self.short else 8)
        self.see(judge_ways, self.hostile, last, random.Random(self.seed), few if self.short else WAYS)

    def index_alone(self):
        """No API and no other chain: how the rows come about is all that is judged."""
        last = FIRST + self.options.ledgers + self.options.tail - 1
        # Fewer places than the default, so that short chains fill them, too.
        self.hostile.env.setdefault("TIDEMARK_DISCOVERED_TOKENS", random.Random(self.seed).choice(["0", "1", "7", "40", "128"]))
        self.hostile.write(last - FIRST + 1, *self.chain, *self.attack)
        self.hostile.index()
        self.see(self.hostile.tool, "tidemark-indexer", "verify", "--lake", self.hostile.folder / "lake")
        self.exports()
        self.ways(last, ("ledger by ledger", "backwards"))
        if self.options.seed is not None:
            self.see(judge_removals, self.hostile)

    def run(self):
        if self.options.index_alone:
            self.index_alone()
            return
        self.first_part()
        if self.options.tail:
            self.second_part()
        if self.options.past:
            self.see(self.past, self.options.ledgers + self.options.tail)
        self.see(self.memory)
        self.see(judge_bytes, self.hostile, self.options.ledgers + self.options.tail)
        for index in self.indexes:
            index.stop()

    def close(self):
        for index in self.indexes:
            index.drop()
        if not self.options.keep:
            shutil.rmtree(self.folder, ignore_errors=True)


def one_seed(number, options):
    """Ledgers and answers; what was wrong is printed."""
    seed = Seed(number, options)
    try:
        seed.see(seed.run)
        ledgers = options.ledgers + options.tail
        print(f"seed {number}: {ledgers} ledgers, {seed.answers} answers ({seed.compared} as of a ledger with an index that ends there), {seed.views} views, rows {seed.hostile.ratio} times the ledgers' bytes, "
              f"indexer {seed.hostile.peak:.0f} MiB ({seed.base.peak:.0f} without attackers), {len(seed.faults)} faults", flush=True)
        for fault in seed.faults:
            print(f"FAIL: seed {number}: {fault}", flush=True)
        return ledgers, seed.answers, bool(seed.faults)
    finally:
        seed.close()


def main():
    parser = argparse.ArgumentParser(prog="chain", description="a hostile chain, indexed and asked")
    parser.add_argument("--seed", type=int)
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--ledgers", type=int, default=256, help="that spare what people own")
    parser.add_argument("--tail", type=int, default=64, help="more that spare nothing")
    parser.add_argument("--all-from", type=int, help="ledgers that spare what people own; default: --ledgers")
    parser.add_argument("--txs", type=int, default=8)
    parser.add_argument("--past", type=int, default=6, help="ledgers at which the index is compared with one that ends there")
    parser.add_argument("--values", type=int, default=6, help="values of a parameter at each of them")
    parser.add_argument("--attacks", help="comma list; default: all")
    parser.add_argument("--index-alone", action="store_true", help="no API, and no chain without attackers")
    parser.add_argument("--short", action="store_true", help="judges the longer chain only, and tries few ways to index it; not with TIDE_LONG")
    parser.add_argument("--keep", action="store_true")
    options = parser.parse_args()
    if (options.seed is None) == (options.seconds is None):
        parser.error("one of --seed and --seconds")
    if options.ledgers <= 0:
        parser.error("--ledgers: at least one")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # what it started ends with it
    seeds = ledgers = answers = failed = 0
    end = time.monotonic() + (options.seconds or 0)
    while seeds == 0 or time.monotonic() < end:
        seed = options.seed if options.seed is not None else random.SystemRandom().randrange(1, 1 << 31)
        seeds += 1
        done = one_seed(seed, options)
        ledgers, answers, failed = ledgers + done[0], answers + done[1], failed + done[2]
        if options.seed is not None:
            break
    print(f"{seeds} seeds, {ledgers} ledgers, {answers} answers, {failed} failed")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
