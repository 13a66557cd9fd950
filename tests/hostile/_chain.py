"""usage: _chain.py --seed N | --seconds S [--ledgers N] [--tail N] [--attacks LIST] [--keep]   called by chain

For each seed: the chain of that seed with attackers and without, each in a database of its own.
The first part of the hostile chain spares what people own, so both must answer alike about it;
in the second part (--tail ledgers) nothing is spared, and only health is judged.
"""
import argparse
import csv
import http.client
import io
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

BIN = pathlib.Path(os.environ["TIDE_BIN"])
DIR = pathlib.Path(os.environ["PG_DIR"])
FIRST = 1024
OBJECT = 64  # ledgers in a file of the lake
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

    def write(self, ledgers, *more):
        self.tool("tidemark-sim", "write", "--lake", self.folder / "lake", "--ledgers", ledgers, "--first-ledger", FIRST, "--quiet", *more)

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

FORMULA = re.compile(r"^[=+\-@\t\r]")
NUMBER = re.compile(r"^-?[0-9]+(\.[0-9]+)?$")
csv.field_size_limit(1 << 26)  # a cell may be a whole entry in hex


def judge_csv(name, raw):
    text = raw.decode("utf-8")
    if "\0" in text:
        raise Failure(f"{name}: NUL in CSV")
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    width = None
    for row in reader:
        width = width or len(row)
        if len(row) != width:
            raise Failure(f"{name}: {len(row)} columns, not {width}: {row}")
        for cell in row:
            if FORMULA.match(cell) and not NUMBER.match(cell):
                raise Failure(f"{name}: a cell that a spreadsheet executes: {cell[:80]!r}")


def judge_exports(index):
    for what in ("events", "calls", "state"):
        for line in index.tool("tidemark-indexer", "export", what).split(b"\n"):
            if line:
                strict(line)
        judge_csv(f"{index.name} {what}", index.tool("tidemark-indexer", "export", what, "--format", "csv"))


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


class Seed:
    """One seed's two chains, and all that was wrong with them."""

    def __init__(self, seed, options):
        self.seed, self.options, self.folder = seed, options, DIR / f"chain{seed}"
        self.faults, self.answers, self.views = [], 0, 0
        self.base, self.hostile = Index(self.folder, f"base_{seed}"), Index(self.folder, f"hostile_{seed}")
        self.chain = ["--seed", seed % 1000 + 1, "--txs", options.txs]
        self.attack = ["--hostile", seed, "--hostile-all-from", FIRST + options.ledgers]
        if options.attacks:
            self.attack += ["--hostile-attacks", options.attacks]

    def see(self, judge, *args):
        """What one judgement finds does not hide what the next one would."""
        try:
            return judge(*args)
        except (Failure, ValueError, csv.Error) as e:
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

    def health(self):
        self.see(self.hostile.tool, "tidemark-indexer", "verify", "--lake", self.hostile.folder / "lake")
        self.see(judge_exports, self.hostile)
        self.views = self.see(judge_views, self.hostile) or 0
        self.see(self.crawl)

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
        self.health()

    def second_part(self):
        ledgers = self.options.ledgers + self.options.tail
        self.hostile.write(ledgers, *self.chain, *self.attack, "--append")
        self.hostile.index()
        self.hostile.wait_for(FIRST + ledgers - 1)
        self.see(self.alike, FIRST + self.options.ledgers - 1)
        self.health()

    def run(self):
        self.first_part()
        if self.options.tail:
            self.second_part()
        self.see(self.memory)
        self.see(judge_bytes, self.hostile, self.options.ledgers + self.options.tail)
        self.base.stop()
        self.hostile.stop()

    def close(self):
        for index in (self.base, self.hostile):
            index.drop()
        if not self.options.keep:
            shutil.rmtree(self.folder, ignore_errors=True)


def one_seed(number, options):
    """Ledgers and answers; what was wrong is printed."""
    seed = Seed(number, options)
    try:
        seed.see(seed.run)
        ledgers = options.ledgers + options.tail
        print(f"seed {number}: {ledgers} ledgers, {seed.answers} answers, {seed.views} views, rows {seed.hostile.ratio} times the ledgers' bytes, "
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
    parser.add_argument("--ledgers", type=int, default=256, help="that spare what people own, whole objects of 64")
    parser.add_argument("--tail", type=int, default=64, help="more that spare nothing")
    parser.add_argument("--txs", type=int, default=8)
    parser.add_argument("--attacks", help="comma list; default: all")
    parser.add_argument("--keep", action="store_true")
    options = parser.parse_args()
    if (options.seed is None) == (options.seconds is None):
        parser.error("one of --seed and --seconds")
    if options.ledgers <= 0 or options.ledgers % OBJECT:
        parser.error(f"--ledgers: the simulator writes whole objects of {OBJECT} ledgers; the rest of one would spare nothing")
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


main()
