#!/usr/bin/env python3
"""usage: _scope_limited.py names         what statements name is there; api/sql/view_tables.def is what the database says
       _scope_limited.py routes PORT    groups of tables are left out, one after the other (scope_limited.sh)"""
import http.client
import json
import os
import re
import sys
import time

sys.dont_write_bytecode = True
from _sql import API, routes, samples, sql

SCHEMAS = "state|history|event|rollup|chain|analyst"
NAME = re.compile(rf'(?<![\w.])({SCHEMAS})\."?([a-z_0-9]+)"?')
# Members that depend on the wall clock, or that state the scope of the index.
OTHER = {"evaluatedAt", "pollAfterMs", "complete", "requestId", "since24hAt"}


def tables():
    """schema.table of all that --only may leave out, and those of chain that it never does."""
    rows = sql("SELECT regexp_replace(relnamespace::regnamespace::text, '_rows$', '') || '.' || relname FROM pg_class"
               " WHERE relkind IN ('r', 'p') AND NOT relispartition AND relnamespace::regnamespace::text IN"
               " ('state', 'history_rows', 'event_rows', 'rollup', 'chain', 'chain_rows')").split()
    optional = {r for r in rows if not r.startswith("chain.")} | {"chain.tx", "chain.call"}
    return optional - {"rollup.built"}, set(rows) - optional


def stored(table):
    """Tables that grow by the ledger are views of what is stored."""
    grows = table.startswith(("event.", "history.")) or table in ("chain.tx", "chain.call")
    return table.replace(".", "_rows.", 1) if grows else table


def statements():
    """file -> names in its SQL. Of C the string literals, of routes that the index scope may refuse: not of attester, console, KYC."""
    for file in sorted([*API.glob("sql/queries/**/*.sql"), *API.glob("[!ack]*/**/*.c"), *(API.parent / "schema").glob("[pr]*/*.c")]):
        text = file.read_text()
        if file.suffix == ".c":
            text = " ".join(re.findall(r'"((?:[^"\\]|\\.)*)"', re.sub(r"/\*.*?\*/|^#include.*?$", "", text, flags=re.S | re.M))).replace('\\"', '"')
        else:
            text = re.sub(r"--.*", "", text)
        yield file.name, {".".join(m) for m in NAME.findall(text)}


def names():
    optional, always = tables()
    bodies = {}
    for line in sql("SELECT n || E'\\t' || regexp_replace(b, '\\s+', ' ', 'g') FROM ("
                    " SELECT oid::regclass::text AS n, pg_get_viewdef(oid) AS b FROM pg_class WHERE relkind = 'v'"
                    " AND relnamespace::regnamespace::text IN ('chain', 'rollup', 'analyst')"
                    " AND oid::regclass::text NOT IN ('chain.tx', 'chain.call') UNION ALL"
                    " SELECT pronamespace::regnamespace || '.' || proname, coalesce(pg_get_function_sqlbody(oid), prosrc) FROM pg_proc"
                    " WHERE pronamespace::regnamespace::text IN ('chain', 'rollup', 'analyst')) AS x").split("\n"):
        name, body = line.split("\t", 1)
        bodies[name] = bodies.get(name, "") + " " + body

    free = {"chain.decimals_at", "chain.quote_decimals", "chain.market_decimals", "chain.pool_decimals", "chain.collateral_decimals",
            "chain.vault_decimals", "chain.cut_decimals"}  # where their tables are not filled, decimals are not known
    assert free <= set(bodies), free - set(bodies)

    def behind(name):
        found = set()
        for inner in {".".join(m) for m in NAME.findall(bodies[name])} - {name}:
            if inner not in free:
                found |= behind(inner) if inner in bodies else {inner} & optional
        return set() if name in free else found

    said = {}
    for name, texts in re.findall(r'^TIDE_VIEW_TABLES\(("[^"]*"),\s*((?:"[^"]*"\s*)+)\)', (API / "sql/view_tables.def").read_text(), re.M):
        listed = set(" ".join(re.findall(r'"([^"]*)"', texts)).split())
        if listed == {"event.*"}:
            listed = {t for t in optional if t.startswith("event.")} - {"event.log", "event.raw"}
        said[name.strip('"')] = listed
    assert len(said) >= 4, said
    used = set()
    for file, found in statements():
        unknown = found - optional - always - set(bodies)
        assert not unknown, f"{file} names {unknown}"
        used |= found
    for name in sorted(used & set(bodies)):
        assert behind(name) == said.get(name, set()), f"{name} reads {sorted(behind(name) ^ said.get(name, set()))}: see view_tables.def"
    assert set(said) <= used, f"nobody names {set(said) - used}"
    assert used - set(bodies) >= {"event.log", "chain.call", "state.liquidity_pool_pool", "rollup.candle"}, "statements are not found"
    print(f"{len(used)} names in statements are there, {len(said)} of them stand for others")


def plain(value):
    if isinstance(value, dict):
        return {n: plain(v) for n, v in value.items() if n not in OTHER}
    return [plain(v) for v in value] if isinstance(value, list) else value


def scaled(got, wanted):
    """An answer with the scaled values of the whole index where it has none: without their tables, decimals are not known."""
    if isinstance(got, dict) and isinstance(wanted, dict):
        return {n: wanted.get(n) if v is None and n.endswith("Scaled") else scaled(v, wanted.get(n)) for n, v in got.items()}
    if isinstance(got, list) and isinstance(wanted, list) and len(got) == len(wanted):
        return [scaled(g, w) for g, w in zip(got, wanted)]
    return got


class Api:
    def __init__(self, port):
        self.connection = http.client.HTTPConnection("127.0.0.1", int(port), timeout=60)

    def ask(self, target, body=None):
        self.connection.request("POST" if body else "GET", target, body, {"Content-Type": "application/json"} if body else {})
        answer = self.connection.getresponse()
        return answer.status, answer.read()

    def stream(self, topics):
        """A stream's status; an accepted stream is not read."""
        connection = http.client.HTTPConnection("127.0.0.1", self.connection.port, timeout=60)
        connection.request("GET", f"/api/stream?{topics}")
        answer = connection.getresponse()
        found = answer.status, b"" if answer.status == 200 else answer.read()
        connection.close()
        return found

    def rebuilds(self):
        return int(re.search(rb"^tidemark_feeder_rebuilds_total (\d+)", self.ask("/metrics")[1], re.M).group(1))


def targets():
    last = sql("SELECT ledger FROM chain.cursor")
    plain_routes = [r for r in routes()]
    values = samples(plain_routes)
    one = lambda text: sql(text) or sys.exit(f"nothing: {text}")
    people = [one(f"SELECT address FROM {t} ORDER BY address LIMIT 1") for t in
              ("state.compliance_registry_compliance_rec WHERE status = 2", "state.compliance_registry_frozen", "state.compliance_registry_whitelist")]
    token = one("SELECT token FROM state.synthetic_engine_asset_config ORDER BY 1 LIMIT 1")
    pool = one(f"SELECT pool_id FROM state.liquidity_pool_pool WHERE token_a = '{token}' ORDER BY 1 LIMIT 1")
    market = one("SELECT symbol FROM state.synthetic_engine_asset_config ORDER BY 1 LIMIT 1")
    asset = one("SELECT asset FROM state.oracle_feed ORDER BY 1 LIMIT 1")
    claimer = one("SELECT depositor FROM state.stability_pool_deposit ORDER BY 1 LIMIT 1")
    asked = [(r.target(values), "ledger" in r.query) for r in plain_routes] + [
        (f"/api/events?kind={values['kind']}", True), ("/api/sdk/contracts", True), ("/api/sdk/assets", True),
        (f"/api/sdk/assets?partnerId={values['partnerId']}", True), ("/api/markets", True), (f"/api/markets/{market}", True),
        ("/api/markets/NONE", True), ("/api/prices", True), (f"/api/prices/{asset}", True), ("/api/prices/NONE", True),
        (f"/api/pools/{pool}/quote?amountIn=10000000", True), (f"/api/earnings/claimable/{claimer}", True),
        ("/readyz", False)] + [(f"/api/sdk/kyc/status/{p}", True) for p in people]
    for target, takes in asked:
        yield target, None
        if takes:
            yield target + ("&" if "?" in target else "?") + f"ledger={last}", None
    yield "/api/sdk/kyc/status", json.dumps({"addresses": people})


WRONG = []
EVENTS = ["topics=event", "topics=event&kinds=liquidity_pool_swap", "topics=event&kinds=stability_pool_deposit"]
# Without what which streams are refused, and which are not.
STREAMS = {"stability_pool events": (EVENTS[0::2], [EVENTS[1], "topics=ledger", "topics=price"]),
           "oracle_feed": (["topics=price", "topics=price,ledger"], EVENTS + ["topics=ledger"]),
           "event.log": (EVENTS, ["topics=price"]),
           "compliance_registry_frozen": (["topics=compliance&addresses={}"], EVENTS)}


def answers(api, asked):
    return {a: api.ask(*a) for a in asked}


def streams(api, group, person):
    """The stream notices the new scope, and readers that left, without a restart."""
    refused, taken = STREAMS[group]
    for topics, wanted in [(t, 503) for t in refused] + [(t, 200) for t in taken]:
        end = time.monotonic() + 60
        while (found := api.stream(topics.format(person)))[0] != wanted:
            assert time.monotonic() < end, f"without {group} {topics}: {found}"
            time.sleep(0.05)
        assert wanted == 200 or json.loads(found[1])["code"] == "incomplete", found


def groups(optional):
    """Returns the tables that the test leaves out, one group at a time: those that the cache reads, and some others.
    TIDE_EACH: each pair of state and history, and every other table."""
    cached = set(re.findall(r'\[PROJECT_\w+\] = \{\s*"(\w+)"', (API.parent / "schema/project/project.c").read_text()))
    assert len(cached) >= 22, cached
    if not os.environ.get("TIDE_EACH"):
        optional = {t for t in optional if t.split(".")[1] in cached or t.startswith("event.stability_pool")} | {
            "event.log", "chain.tx", "chain.call", "rollup.closing"}
    by = {}
    for table in sorted(optional):
        schema, name = table.split(".")
        apart = schema not in ("state", "history") and not name.startswith("stability_pool")
        by.setdefault(table if apart else "stability_pool events" if schema == "event" else name, set()).add(table)
    return by


def leave_out(optional, group):
    kept = ",".join(sorted({"chain.ledger", "chain.contract_seen"} | optional - group))
    sql(";".join([f'CREATE TABLE saved."{table}" AS TABLE {stored(table)}; DELETE FROM {stored(table)}' for table in sorted(group)] +
                 [f"UPDATE chain.deployment SET scope = '{kept}'"]))


def take_back(group):
    sql(";".join([f'INSERT INTO {stored(table)} SELECT * FROM saved."{table}"; DROP TABLE saved."{table}"' for table in sorted(group)] +
                 ["UPDATE chain.deployment SET scope = '*'"]))


def build_again(api):
    """The feeder builds anew when an earlier range is there; no route of those asked says how early."""
    before = api.rebuilds()
    sql("UPDATE chain.coverage SET from_ledger = from_ledger - 1; NOTIFY tidemark")
    end = time.monotonic() + 120
    while api.rebuilds() == before:
        assert time.monotonic() < end, "the feeder does not build anew"
        time.sleep(0.01)


def compare(group, whole, found):
    refused = []
    for asked, (status, body) in found.items():
        if status == 503 and json.loads(body).get("code") == "incomplete":
            refused.append(asked[0])
        elif asked[0] == "/readyz":
            said = json.loads(body)
            assert status == 503 and said["reasons"] == ["incomplete"], said
            assert said["agreesWithDao"] is (None if group == "dao_governance_instance" else True), said
        else:
            wanted = plain(json.loads(whole[asked][1]))
            if group == "dao_governance_instance" and "agreesWithDao" in wanted:
                wanted["agreesWithDao"] = None
            same = status == whole[asked][0] and scaled(plain(json.loads(body)), wanted) == wanted
            if not same:
                WRONG.append(f"without {group} {asked[0]}: {status} {body[:600]}\nnot {whole[asked][1][:600]}")
    return refused


def check():
    api = Api(sys.argv[2])
    optional, _ = tables()
    asked = [a for a in targets() if not a[0].startswith("/api/coverage")]
    person = json.loads(asked[-1][1])["addresses"][0]
    sql("CREATE SCHEMA saved")
    whole = answers(api, asked)
    for key, (status, body) in whole.items():
        assert status == 200 or "NONE" in key[0], f"{key}: {status} {body[:300]}"
    spared = set()
    for group, members in groups(optional).items():
        leave_out(optional, members)
        build_again(api)
        refused = compare(group, whole, answers(api, asked))
        if group in STREAMS:
            streams(api, group, person)
        take_back(members)
        if not refused:
            spared.add(group)
        if group.startswith("compliance_registry_") and "verifier" not in group and "instance" not in group:
            assert "/api/sdk/kyc/status" in refused, (group, refused)
        if group == "oracle_feed":
            assert {"/api/prices", "/api/prices/NONE", "/api/markets"} <= set(refused), refused
    assert set(STREAMS) <= set(groups(optional))
    build_again(api)
    end = compare("nothing", whole, {k: v for k, v in answers(api, asked).items() if k[0] != "/readyz"})
    assert not end, end
    if WRONG:
        sys.exit("\n".join(WRONG))
    print(f"{len(whole)} questions without each of {len(groups(optional))} tables; no route needs {', '.join(sorted(spared)) or 'none'}")


names() if sys.argv[1] == "names" else check()
