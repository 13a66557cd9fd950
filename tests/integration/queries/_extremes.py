#!/usr/bin/env python3
"""usage: _extremes.py prepare|plant VALUES|views VALUES|routes VALUES|hot VALUES URL (extremes.sh)

prepare  notes what the routes are asked about, and which tables and columns the catalogue has
plant    sets every column that a contract chooses to its most, least, odd or mixed values; addresses, hashes and
         what joins rows stay (mixed alters half of the joining names too)
views    reads every column of every view, and of every function that gives a view as of a ledger, in a plan of one process and in a parallel one
routes   asks every SQL route, now and as of a ledger: 200, or 404 for what is no longer there
hot      asks the routes that answer from the cache
"""
import json
import os
import subprocess
import sys
import time
import urllib.error
import urllib.request

sys.dont_write_bytecode = True
from _sql import Driver, params, questions, routes, samples, sql

NOTES = os.environ["PG_DIR"] + "/extremes.json"
# By type: most, least, odd. The ledger's i128, u64 and u32 are numeric(39,0), numeric(20,0) and bigint here.
VALUES = {
    "numeric(39,0)": [str(2**127 - 1), str(-(2**127)), "-1"],
    "numeric(20,0)": [str(2**64 - 1), "0", str(2**63)],
    "bigint": [str(2**32 - 1), "0", str(2**31 - 1)],
    "boolean": ["true", "false", "true"],
    "bytea": [r"'\xff00fe22'", "''", r"'\x3d2b2d'"],
    "json": ["'{\"a\":[[null,{\"hex\":\"ff\"}]],\"symbol\":{}}'", "'null'", "'[1,\"\\\"\"]'"],
    "text[]": ["ARRAY['z', '', 'z']", "'{}'", "ARRAY['" + "_" * 32 + "']"],
    "bigint[]": [f"ARRAY[{2**32 - 1}, 0]::bigint[]", "'{}'", f"ARRAY[{2**31}]::bigint[]"],
    "numeric[]": [f"ARRAY[{2**64 - 1}, 0]::numeric[]", "'{}'", f"ARRAY[{2**63}]::numeric[]"],
    "action": ["'{\"action\":16,\"name\":\"upgrade_contract\",\"undecodable\":true,\"hex\":\"00\"}'",
               "'{\"action\":null,\"name\":\"none\"}'", "'{\"action\":4294967295,\"name\":\"generic\",\"hex\":\"\"}'"],
    "text": ["'" + "Z" * 32 + "'", "''", "'_9'"],
}
# Columns by which routes find rows, and which join rows: only `mixed` alters them.
NAMES = {"pool_id", "synth", "synth_asset", "symbol", "asset", "oracle_symbol", "coll_oracle_sym", "id", "partner_id", "epoch",
         "proposal_id", "tx_id", "wallet_id", "kind", "subject"}
ADDRESS = "^[GCMBL][A-Z2-7]{55,}$"
# The indexer's own columns: no contract chooses them.
OWN = {"deployment", "key_hash", "ledger", "tx", "op", "event", "seq", "closed_at", "contract", "removed", "hash", "source",
       "wallet_id",  # a key that a statement looks up: one row has it
       "executable", "wasm", "durability", "reason", "xdr", "key_xdr", "value_xdr", "live_until", "evicted", "type", "form"}


def prepare():
    lines = subprocess.run([os.environ["TIDE_BIN"] + "/tidemark-indexer", "tables"], capture_output=True, text=True,
                           check=True).stdout.splitlines()
    tables = {}
    for table, column, kind, *_ in (line.split("\t") for line in lines):
        if column and table.split(".")[0] in ("event", "state", "history") and column not in OWN:
            # what a proposal will do is JSON that the indexer makes: always an object with a name
            tables.setdefault(table, []).append((column, "action" if (column, kind) == ("action", "json") else kind))
    tables.pop("event.log")  # its columns follow from the events
    all_routes = routes()
    json.dump({"tables": tables, "values": samples(all_routes)}, open(NOTES, "w"))
    unknown = {kind for columns in tables.values() for _, kind in columns} - set(VALUES)
    assert not unknown, f"no extreme values of {unknown}"
    print(f"{len(tables)} tables, {sum(map(len, tables.values()))} columns")


def planted(column, kind, values):
    """The column's new value as SQL."""
    name, quoted = column in NAMES, f'"{column}"'
    if values != "mixed":
        if name:
            return quoted
        value = VALUES[kind][("most", "least", "odd").index(values)]
        return f"CASE WHEN {quoted} ~ '{ADDRESS}' THEN {quoted} ELSE {value} END" if kind == "text" else value
    chance = f"abs(hashtext(t::text || '{column}')::bigint)"
    cases = [f"WHEN {i} THEN {value}" for i, value in enumerate(VALUES[kind])]
    keep = [f"WHEN {quoted} ~ '{ADDRESS}' THEN {quoted}"] if kind == "text" else []
    keep += [f"WHEN {chance} / 7 % 2 = 0 THEN {quoted}"] if name else []
    mixed = f"CASE {chance} % {len(cases) + 1} {' '.join(cases)} ELSE {quoted} END"
    return f"CASE {' '.join(keep)} ELSE {mixed} END" if keep else mixed


def plant(values):
    for table, columns in json.load(open(NOTES))["tables"].items():
        schema, name = table.split(".")
        sets = ", ".join(f'"{c}" = {planted(c, k, values)}' for c, k in columns)
        live = " WHERE NOT removed" if schema == "history" else ""
        sql(f'UPDATE {schema}."{name}" AS t SET {sets}{live}')


def views(values):
    names = sql("SELECT table_schema || '.' || table_name FROM information_schema.views"
                " WHERE table_schema IN ('analyst', 'rollup', 'chain') ORDER BY 1").split("\n")
    names += sql("SELECT format('analyst.%s(%s)', p.proname, n.ledger) FROM pg_proc AS p, analyst.networks AS n"
                 " WHERE p.pronamespace = 'analyst'::regnamespace AND p.proname LIKE '%\\_as\\_of' ORDER BY 1").split("\n")
    version = int(sql("SHOW server_version_num"))
    forced = "debug_parallel_query" if version >= 160000 else "force_parallel_mode"
    parallel = (f"SET {forced} = on; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0;"
                " SET min_parallel_table_scan_size = 0; SET min_parallel_index_scan_size = 0;"
                " SET max_parallel_workers_per_gather = 4; ")
    for name in names:
        read = f"SELECT count(*) FILTER (WHERE length(v::text) >= 0) FROM {name} AS v"
        one, many = sql("SET max_parallel_workers_per_gather = 0; " + read), sql(parallel + read)
        assert one == many, f"{name}: {one} rows, {many} by a parallel plan"
    print(f"{values}: {len(names)} views, each by two plans")


def asked(given, all_routes):
    ledger = given["toLedger"]
    for route, _, target in questions(all_routes, given):
        yield target
        if "ledger" in route.query:
            yield target + ("&" if "?" in target else "?") + f"ledger={ledger}"


def routes_answer(values):
    given, driver, count = json.load(open(NOTES))["values"], Driver(), 0
    bad = []
    for target in asked(given, routes()):
        status, _, answer = driver.timed(target)
        count += 1
        if status not in (200, 404):
            bad.append(f"{target}: {status} {answer.get('code')}: {answer.get('detail')}")
    driver.close()
    if bad:
        log = [line for line in open(os.environ["PG_DIR"] + "/driver.log") if "sql.failed" in line]
        sys.exit(f"{values}: {len(bad)} of {count} questions fail\n" + "\n".join(bad[:40] + log[:20]))
    print(f"{values}: {count} questions")


def not_ready(url):
    """The cache is being built."""
    try:
        urllib.request.urlopen(url, timeout=20).close()
        return False
    except urllib.error.HTTPError as error:
        return json.load(error)["code"] == "not_ready"


def hot(values, url):
    given, ledger = json.load(open(NOTES))["values"], json.load(open(NOTES))["values"]["toLedger"]
    targets = ["/api/sdk/contracts", "/api/sdk/assets", "/api/markets", f"/api/markets/{given['symbol']}", "/api/prices",
               f"/api/prices/{given['asset']}", f"/api/pools/{given['pool']}/quote?amountIn=1", "/metrics",
               f"/api/pools/{given['pool']}/quote?amountIn={10**38 - 1}&direction=b_to_a",
               f"/api/sdk/kyc/status/{given['compliance_history.address']}", "/readyz",
               f"/api/earnings/claimable/{given['earnings_claims.address']}"]
    targets += [t + ("&" if "?" in t else "?") + f"ledger={ledger}" for t in targets if t.startswith("/api")]
    until = time.monotonic() + 30
    while not_ready(url + targets[0]) and time.monotonic() < until:
        time.sleep(0.05)
    refused = {409, 422}  # an answer that the contracts would refuse as well, with why
    for target in targets:
        try:
            with urllib.request.urlopen(url + target, timeout=20) as answer:
                status, body = answer.status, answer.read()
        except urllib.error.HTTPError as error:
            status, body = error.code, error.read()
        if target != "/metrics":
            json.loads(body)
        if status not in {200, 404} | refused and not (status == 503 and target == "/readyz"):
            sys.exit(f"{values}: {target}: {status}: {body[:400]}")
    print(f"{values}: {len(targets)} look-ups")


def main(what, *more):
    {"prepare": prepare, "plant": plant, "views": views, "routes": routes_answer, "hot": hot}[what](*more)


main(*sys.argv[1:])
