#!/usr/bin/env python3
"""Tests the analyst's schema with the analyst's role. The database is in libpq's environment.

usage: _analyst.py README            README: migrations/README.md
       _analyst.py README DATABASE   the questions have the same answers there: it holds the current deployment alone

- every SQL block of its ten questions, and of those as of a ledger, runs as tidemark_analyst and answers
- every table and every other schema is refused; nothing can be written
- every view and every column has a comment; no view says where a person lives
- every numeric has a declared type, the same for a name in all views; every view of events has the transaction's hash
- the views that only reckon (ratios, joins) agree with the tables
"""
import json
import re
import subprocess
import sys


def psql(user, sql, check=True, database=None):
    done = subprocess.run(["psql", "-XAtq", "-v", "ON_ERROR_STOP=1", "-U", user, *(["-d", database] if database else []), "-c", sql],
                          capture_output=True, text=True)
    if check and done.returncode:
        sys.exit(f"as {user}: {sql}\n{done.stderr}")
    return done


def rows(user, sql, database=None):
    out = psql(user, f"SELECT coalesce(json_agg(x), '[]') FROM ({sql.rstrip().rstrip(';')}) AS x", database=database).stdout
    return json.loads(out)


def section(readme, title, count):
    found = re.search(rf"^##+ {title}\n(.*?)^##", readme, re.S | re.M)
    blocks = re.findall(r"^```sql\n(.*?)^```", found[1], re.S | re.M) if found else []
    if len(blocks) != count:
        sys.exit(f"migrations/README.md asks {len(blocks)} questions in \"{title}\", not {count}")
    return blocks


def questions(readme):
    """Those as of a ledger name one: in its place the middle one of the current deployment is asked about."""
    middle = rows("tidemark_analyst", """
        SELECT (min(ledger) + max(ledger)) / 2 AS ledger FROM analyst.ledgers
        WHERE deployment = (SELECT deployment FROM analyst.current_deployment)""")[0]["ledger"]
    past = section(readme, "As of a ledger", 3)
    if sum("1200" in sql for sql in past) < 2:
        sys.exit("questions as of a ledger do not name ledger 1200")
    return section(readme, "Ten questions", 10) + [sql.replace("1200", str(middle)) for sql in past]


def compare_current(readme, alone):
    """Deployments do not mix: the answers are those of a database without the others."""
    if len(rows("tidemark_analyst", "SELECT deployment FROM analyst.networks")) < 2:
        sys.exit("there is one deployment only: this proves nothing")
    for number, sql in enumerate(questions(readme), 1):
        here, there = rows("tidemark_analyst", sql), rows("tidemark_analyst", sql, alone)
        if not there or here != there:
            sys.exit(f"question {number}: {len(here)} rows beside another deployment, {len(there)} without it:\n{sql}")
    print("the questions are about the current deployment")


def ask(readme):
    for number, sql in enumerate(questions(readme), 1):
        answer = rows("tidemark_analyst", sql)
        print(f"question {number}: {len(answer)} rows")
        if not answer:
            sys.exit(f"question {number} has no answer:\n{sql}")


def refused(sql):
    done = psql("tidemark_analyst", sql, check=False)
    if done.returncode == 0 or "permission denied" not in done.stderr + done.stdout and \
            "read-only" not in done.stderr:
        sys.exit(f"not refused to the analyst: {sql}\n{done.stderr}")


def see_refusals():
    tables = rows("postgres", """
        SELECT format('%I.%I', n.nspname, c.relname) AS name
        FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
        WHERE n.nspname IN ('chain', 'event', 'state', 'history', 'asof', 'chain_rows', 'event_rows', 'history_rows', 'rollup') AND c.relkind IN ('r', 'p', 'v')""")
    if len(tables) < 150:
        sys.exit(f"only {len(tables)} tables to be refused")
    script = "".join(f"SELECT 1 FROM {table['name']} LIMIT 1;\n" for table in tables)
    done = subprocess.run(["psql", "-XAtq", "-U", "tidemark_analyst"], input=script,
                          capture_output=True, text=True)
    denials = done.stderr.count("permission denied for schema")
    if done.stdout or denials != len(tables):
        sys.exit(f"{denials} of {len(tables)} tables refused\n{done.stdout[:500]}{done.stderr[:500]}")
    refused("CREATE TABLE analyst.mine (x int)")
    refused("CALL analyst.grant_access()")
    refused("BEGIN; SET TRANSACTION READ WRITE; INSERT INTO event.log DEFAULT VALUES")
    refused("SELECT pg_read_file('/etc/passwd')")
    others = rows("postgres", """
        SELECT nspname FROM pg_namespace
        WHERE has_schema_privilege('tidemark_analyst', oid, 'USAGE')
          AND nspname NOT IN ('analyst', 'pg_catalog', 'information_schema', 'public')
          AND nspname NOT LIKE 'pg_t%'""")
    if others:
        sys.exit(f"the analyst may use {others}")
    timeout = psql("tidemark_analyst", "SHOW statement_timeout").stdout.strip()
    if timeout != "1min":
        sys.exit(f"the analyst's statement_timeout is {timeout}")
    print(f"{len(tables)} tables refused")


def see_comments():
    naked = rows("postgres", """
        SELECT c.relname, a.attname FROM pg_class AS c
          JOIN pg_namespace AS n ON n.oid = c.relnamespace AND n.nspname = 'analyst'
          JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum >= 0 AND NOT a.attisdropped
        WHERE c.relkind = 'v' AND col_description(c.oid, a.attnum) IS NULL
        UNION ALL
        SELECT c.relname, NULL FROM pg_class AS c
          JOIN pg_namespace AS n ON n.oid = c.relnamespace AND n.nspname = 'analyst'
        WHERE c.relkind = 'v' AND obj_description(c.oid) IS NULL""")
    if naked:
        sys.exit(f"without comment: {naked}")
    telling = rows("postgres", """
        SELECT viewname FROM pg_views WHERE schemaname = 'analyst' AND definition ILIKE '%jurisdiction%'
        UNION
        SELECT table_name FROM information_schema.columns
        WHERE table_schema = 'analyst' AND column_name ILIKE '%jurisdiction%'""")
    if telling:
        sys.exit(f"these say where people live: {telling}")
    args = rows("tidemark_analyst", """
        SELECT fn FROM analyst.calls WHERE fn IN ('attest', 'submit_attestation') AND args IS NOT NULL""")
    if args:
        sys.exit("attestations' arguments are shown")


def see_types():
    columns = rows("postgres", """
        SELECT c.relname AS view, a.attname AS name, format_type(a.atttypid, a.atttypmod) AS type
        FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace AND n.nspname = 'analyst'
          JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 WHERE c.relkind = 'v'""")
    # Many engines have 38 digits at most (tools/analyst).
    wide = {f"{c['view']}.{c['name']} {c['type']}" for c in columns if re.fullmatch(r"numeric\((39|[4-9].|...+),.*", c["type"])}
    if wide:
        sys.exit(f"numbers of more than 38 digits: {sorted(wide)}")
    open_types = {f"{c['view']}.{c['name']}" for c in columns if c["type"] == "numeric"}
    if open_types:
        sys.exit(f"numeric without a precision: {sorted(open_types)}")
    raw = {f"{c['view']}.{c['name']} {c['type']}" for c in columns if c["name"].endswith("_raw") and c["type"] != "numeric(38,0)"}
    if raw:
        sys.exit(f"raw amounts of other types: {sorted(raw)}")
    names = {(c["view"], c["name"]) for c in columns}
    alone = {(c["view"], c["name"]) for c in columns if c["type"] == "numeric(38,0)" and (c["view"], c["name"] + "_text") not in names}
    if alone:
        sys.exit(f"whole numbers without their text: {sorted(alone)}")
    types = {}
    for c in columns:
        if c["type"].startswith("numeric"):
            types.setdefault(c["name"], {}).setdefault(c["type"], []).append(c["view"])
    # Candles of a pool have the decimals of a quotient.
    mixed = {n: t for n, t in types.items() if len(t) > 1 and n not in ("open", "high", "low", "close")}
    if mixed:
        sys.exit(f"names of several types: {mixed}")
    views = {c["view"] for c in columns if c["name"] == "tx_order"}
    without = views - {c["view"] for c in columns if c["name"] == "tx_hash"}
    if without or len(views) < 13:
        sys.exit(f"events without their transaction's hash: {sorted(without)}; {len(views)} views")
    wrong = rows("postgres", """
        SELECT s.ledger, s.tx_order, s.tx_hash FROM analyst.swaps AS s LEFT JOIN chain.tx AS t
          ON t.deployment = s.deployment AND t.ledger = s.ledger AND t.tx = s.tx_order
        WHERE s.tx_hash IS DISTINCT FROM encode(t.hash, 'hex') OR s.tx_hash IS NULL""")
    if wrong:
        sys.exit(f"hashes of other transactions: {wrong[:5]}")
    print(f"{len(columns)} columns, {len(types)} names of numerics, each of one type; {len(views)} views with hashes")


def see_every_view():
    views = rows("tidemark_analyst", "SELECT viewname FROM pg_views WHERE schemaname = 'analyst'")
    empty = []
    for view in sorted(v["viewname"] for v in views):
        if rows("tidemark_analyst", f"SELECT count(*) AS n FROM (SELECT * FROM analyst.{view} OFFSET 0) AS v")[0]["n"] == 0:
            empty.append(view)
    print(f"{len(views)} views read, empty: {' '.join(empty) or 'none'}")


def main():
    readme = open(sys.argv[1], encoding="utf-8").read()
    if len(sys.argv) > 2:
        compare_current(readme, sys.argv[2])
        return
    ask(readme)
    see_refusals()
    see_comments()
    see_types()
    see_every_view()


main()
