#!/usr/bin/env python3
"""Asks every route of a running tidemark-api the same questions before and after an attack.

usage: _trust.py PORT ask FILE [BEFORE]  asks each GET route of api/routes/route.def that reads state (BEFORE: what was asked
                                    then), writes the answers to FILE
       _trust.py same BEFORE AFTER  the answers are equal
       _trust.py views              every view reads each role's tables through the deployment file's contract of that role
       _trust.py statements LOG     so did every statement of the API in PostgreSQL's log; so will the rollups
Exits 1 when an answer is no 200 or differs, or a table is read without its contract, and says which.
"""
import http.client
import json
import os
import re
import sys

sys.dont_write_bytecode = True
from _sql import API, HERE, Route, questions, routes, samples, sql

# Members that depend on the time of the request, not on the ledger.
TIMED = {"evaluatedAt", "pollAfterMs", "instance", "heartbeatAt", "since24hAt"}
LONG = bool(os.environ.get("TIDE_LONG"))  # tools/test all
STRANGER = "GAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAWHF"


def hot_routes():
    text = (API / "routes/route.def").read_text()
    found = re.findall(r'^TIDE_ROUTE\((\w+),\s*GET,\s*"([^"]*)",\s*(?:HOT|SQL),\s*\d+,\s*\d+,\s*"[^"]*",\s*"([^"]*)"', text, re.M)
    assert len(found) >= 9, found
    # Other tests ask for snapshots, which are signed with the time of their making, and for proofs, which need archives.
    return [Route(*line) for line in found if not line[1].startswith(("/api/sdk/snapshot", "/api/proof"))]


def targets(last):
    hot, lists = hot_routes(), routes()
    values = samples(lists)
    values.update(amountIn="10000000", direction="b_to_a", partnerId=values["partnerId"])
    for route in hot:
        route.filters = [name for name in route.filters if name in values]
    people = sql("SELECT address FROM state.compliance_registry_compliance_rec ORDER BY address").split("\n")
    for route, more, target in questions(hot + lists, values):
        yield target
        if "ledger" in route.query and (LONG or not more):
            yield target + ("&" if "?" in target else "?") + f"ledger={last}"
    for who in people[:40 if LONG else 12] + [STRANGER]:
        yield f"/api/sdk/kyc/status/{who}"
        yield f"/api/sdk/kyc/status/{who}?ledger={last}"
        yield f"/api/compliance/{who}/history"


def without_time(value):
    if isinstance(value, dict):
        return {k: without_time(v) for k, v in value.items() if k not in TIMED}
    return [without_time(v) for v in value] if isinstance(value, list) else value


def ask(port, file, before=None):
    connection = http.client.HTTPConnection("127.0.0.1", int(port), timeout=60)
    answers = {}
    last = sql("SELECT ledger FROM chain.cursor")
    for target in json.load(open(before)) if before else dict.fromkeys(targets(last)):
        connection.request("GET", target)
        answer = connection.getresponse()
        body = json.loads(answer.read())
        if answer.status != 200:
            sys.exit(f"{target}: {answer.status} {body}")
        answers[target] = without_time(body)
    assert len(answers) > 150, f"only {len(answers)} questions"
    with open(file, "w") as out:
        json.dump(answers, out)
    print(len(answers), "answers")


def same(before, after):
    before, after = json.load(open(before)), json.load(open(after))
    wrong = [t for t in before if before[t] != after.get(t)]
    for target in wrong[:20]:
        print(f"{target}\n  before {json.dumps(before[target])[:600]}\n  after  {json.dumps(after.get(target))[:600]}")
    if wrong or set(before) != set(after):
        sys.exit(f"{len(wrong)} of {len(before)} answers differ")


# --- bindings ---------------------------------------------------------------------------------

SINGLE = ("liquidity_pool", "synthetic_engine", "stability_pool", "compliance_registry", "partner_registry",
          "earnings_distributor", "oracle", "dao_governance")
MANY = ("synth_token", "stellar_asset")  # a deployment has several, and the chain names more
TABLE = re.compile(r'\b(state|history|asof|event)\."?(\w+)"?')
# Functions that read such tables without the condition of views. Each is asked by the routes above, and has the contract from what calls it.
FUNCTIONS = {
    "chain.vault_market": "reads chain.role once, and compares with it",
    "chain.cut_decimals": "compares with chain.role", "chain.vault_decimals": "its contract is an argument",
    "chain.market_token_then": "its contract is an argument", "chain.pool_tokens_then": "its contract is an argument",
    "chain.collateral_then": "its contract is an argument",
    "chain.event_fields": "one event, by its identity in event.log, which statements read bound",
    "chain.undecoded": "its contract is an argument", "chain.undecoded_page": "chain.role_followed says of each contract whether it is",
    "kyc.hook_since": "finds entries by the hash of their key, and the program hashes the key with the deployment file's contract",
    "kyc.forgotten_attestation": "the same",
    "chain.grant_api": "rights", "kyc.grant_roles": "rights", "chain.grant_feeder": "rights", "chain.restrict_public": "rights",
}


def role_of(table):
    return next((r for r in SINGLE if table.startswith(r + "_")), None)


def unbound(definition):
    """Tables that a view reads without the condition of migration 0095, as pg_get_viewdef writes it, and all that it reads."""
    text = " ".join(definition.split())
    bare, read = [], set()
    for found in TABLE.finditer(text):
        name, table = ".".join(found.groups()), found.group(2)
        read.add(name)
        if table.startswith(tuple(r + "_" for r in MANY)):
            continue
        bound = re.match(r'(?: (?P<alias>\w+))? JOIN \( SELECT\) \w+_bound ON \(+(?P<a>\w+)\.deployment, (?P<b>\w+)\.contract\) IN'
                         r' \( SELECT (?P<r>\w+)\.deployment, (?P=r)\.contract FROM chain\.role (?P=r)'
                         r" WHERE \((?P=r)\.role = '(?P<role>\w+)'::text\)\)\)", text[found.end():])
        alias = bound and (bound["alias"] or table)
        if not bound or {bound["a"], bound["b"]} != {alias} or bound["role"] != role_of(table):
            bare.append(name)
    return bare, read


def views():
    tables = set(sql("SELECT n.nspname || '.' || c.relname FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace"
                     " JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attname = 'contract' WHERE c.relkind IN ('r', 'v')"
                     " AND n.nspname IN ('state', 'history', 'asof', 'event')").split())
    assert len(tables) > 100, len(tables)
    found = json.loads(sql(
        "SET search_path = ''; SELECT json_agg(json_build_object('name', n.nspname || '.' || c.relname, 'text', pg_get_viewdef(c.oid),"
        " 'reads', ARRAY(SELECT DISTINCT tn.nspname || '.' || t.relname FROM pg_rewrite AS r JOIN pg_depend AS d"
        "   ON d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid AND d.refclassid = 'pg_class'::regclass"
        "   JOIN pg_class AS t ON t.oid = d.refobjid JOIN pg_namespace AS tn ON tn.oid = t.relnamespace WHERE r.ev_class = c.oid)))"
        " FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace"
        " WHERE c.relkind IN ('v', 'm') AND n.nspname NOT IN ('pg_catalog', 'information_schema')"))
    wrong, readers = [], 0
    for view in found:
        bare, read = unbound(view["text"])
        reads = tables & set(view["reads"]) - {view["name"]}
        assert read == reads, f"{view['name']} reads {reads}, its text names {read}"
        # A mirrored table shows the rows of all contracts, also where it is a view of another (state.ttl): its readers are bound.
        wrong += [f"{view['name']} reads {t}" for t in bare if view["name"] not in tables]
        readers += bool(reads)
    functions = json.loads(sql(
        "SELECT json_agg(json_build_object('name', n.nspname || '.' || p.proname, 'text', coalesce(pg_get_function_sqlbody(p.oid), p.prosrc)))"
        " FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace"
        " WHERE p.prokind IN ('f', 'p') AND n.nspname NOT IN ('pg_catalog', 'information_schema')"))
    wrong += [f"{f['name']} reads {sorted(set(map('.'.join, TABLE.findall(f['text']))))[:3]}" for f in functions
              if unbound(f["text"])[0] and f["name"] not in FUNCTIONS]
    if wrong:
        sys.exit("without the deployment file's contract: " + "; ".join(wrong))
    assert readers >= 25, f"only {readers} views read such tables"
    print(readers, "views are bound")


def statements(log):
    """Of tokens and logs the condition is another (schema/statements.py); what has none of either did not go through it."""
    records = re.split(r"\n(?!\t)", open(log, errors="replace").read())
    texts = {" ".join(m[1].split()) for m in (re.match(r"tidemark-(?:api|feeder)=LOG: +(?:execute [^:]*|statement): (.*)", r, re.S)
                                              for r in records) if m}
    wrong, seen = [], 0
    for text in texts:
        for found in TABLE.finditer(text):
            table = found.group(2)
            if not role_of(table) and table not in ("log", "raw"):
                continue
            seen += 1
            if not re.match(r"(?: AS (?P<alias>\w+))? JOIN \(SELECT\) AS \w+_bound ON \w+\.contract(_key)? =", text[found.end():]):
                wrong.append(f"{found.group()} in {text[:200]}")
    for file in (HERE.parent.parent / "indexer" / "rollup").glob("*.sql"):
        bare = re.findall(r"(?<![{!])\b(?:state|history|asof|event)\.\w+", re.sub(r"--.*", "", file.read_text()))
        wrong += [f"{name} without braces in {file.name}" for name in bare]
    if wrong:
        sys.exit(f"{len(wrong)} read without the deployment file's contract:\n" + "\n".join(wrong[:20]))
    assert seen > 100, f"only {seen} tables in {len(texts)} statements"
    print(len(texts), "statements are bound")


if sys.argv[1] == "same":
    same(*sys.argv[2:])
elif sys.argv[1] == "views":
    views()
elif sys.argv[1] == "statements":
    statements(*sys.argv[2:])
else:
    ask(sys.argv[1], *sys.argv[3:])
