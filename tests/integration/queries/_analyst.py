#!/usr/bin/env python3
"""Tests the analyst's schema with the analyst's role. Called with the database in libpq's environment and
migrations/README.md as the argument.

- every SQL block of its ten questions runs as tidemark_analyst and answers
- every table and every other schema is refused; nothing can be written
- every view and every column has a comment; no view says where a person lives
- the views that only reckon (ratios, joins) agree with the tables
"""
import json
import re
import subprocess
import sys


def psql(user, sql, check=True):
    done = subprocess.run(["psql", "-XAtq", "-v", "ON_ERROR_STOP=1", "-U", user, "-c", sql],
                          capture_output=True, text=True)
    if check and done.returncode:
        sys.exit(f"as {user}: {sql}\n{done.stderr}")
    return done


def rows(user, sql):
    out = psql(user, f"SELECT coalesce(json_agg(x), '[]') FROM ({sql.rstrip().rstrip(';')}) AS x").stdout
    return json.loads(out)


def questions(readme):
    section = re.search(r"^## Ten questions\n(.*?)^## ", readme, re.S | re.M)
    if not section:
        sys.exit("migrations/README.md has no section \"Ten questions\"")
    found = re.findall(r"^```sql\n(.*?)^```", section.group(1), re.S | re.M)
    if len(found) != 10:
        sys.exit(f"migrations/README.md asks {len(found)} questions, not ten")
    return found


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
        WHERE n.nspname IN ('chain', 'event', 'state', 'history', 'chain_rows', 'event_rows', 'history_rows', 'rollup') AND c.relkind IN ('r', 'p', 'v')""")
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


def see_every_view():
    views = rows("tidemark_analyst", "SELECT viewname FROM pg_views WHERE schemaname = 'analyst'")
    empty = []
    for view in sorted(v["viewname"] for v in views):
        if rows("tidemark_analyst", f"SELECT count(*) AS n FROM (SELECT * FROM analyst.{view} OFFSET 0) AS v")[0]["n"] == 0:
            empty.append(view)
    print(f"{len(views)} views read, empty: {' '.join(empty) or 'none'}")


def main():
    readme = open(sys.argv[1], encoding="utf-8").read()
    ask(readme)
    see_refusals()
    see_comments()
    see_every_view()


main()
