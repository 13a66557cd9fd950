"""usage: _mcp.py PROGRAM OPENAPI SOURCES   (mcp.sh). The database is in libpq's environment, the API in API_URL."""

import asyncio
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import urllib.request

from mcp import Client, StdioServerParameters

PROGRAM, OPENAPI, SOURCES = sys.argv[1], json.loads(pathlib.Path(sys.argv[2]).read_text()), pathlib.Path(sys.argv[3])
KIB = 64


def psql(statement, user="postgres"):
    return subprocess.run([f"{os.environ['PG_BIN']}/psql", "-XAtq", "-v", "ON_ERROR_STOP=1", "-U", user, "-c", statement], check=True, capture_output=True, text=True).stdout.strip()


def raw(path):
    with urllib.request.urlopen(os.environ["API_URL"] + path) as answer:
        return json.load(answer)


def state():
    """What the database holds, large objects, settings of roles and sequences too."""
    dump = subprocess.run([f"{os.environ['PG_BIN']}/pg_dump", "-b"], check=True, capture_output=True).stdout
    dump = b"\n".join(line for line in dump.splitlines() if not line.startswith(b"\\restrict") and not line.startswith(b"\\unrestrict"))
    return hashlib.sha256(dump).hexdigest(), psql("SELECT * FROM pg_db_role_setting ORDER BY 1, 2")


def server(user="tidemark_analyst", *options):
    """The program, as a client starts it."""
    env = {"TIDEMARK_API_URL": os.environ["API_URL"]}
    if user:
        env["TIDEMARK_MCP_DATABASE_URL"] = f"host={os.environ['PGHOST']} port={os.environ['PGPORT']} user={user} dbname={os.environ['PGDATABASE']}"
    return Client(StdioServerParameters(command=PROGRAM, args=list(options), env=env))


class Session:
    """Calls of one client. No answer is larger than the limit, whatever it says."""

    def __init__(self, client, kib=KIB):
        self.client, self.kib, self.calls = client, kib, 0

    async def text(self, name, **arguments):
        result = await self.client.call_tool(name, arguments)
        assert len(result.content) == 1 and result.content[0].type == "text" and result.structured_content is None, result
        text = result.content[0].text
        assert len(text.encode()) <= self.kib << 10, f"{name}: {len(text)} characters"
        self.calls += 1
        return bool(result.is_error), text

    async def answer(self, name, **arguments):
        failed, text = await self.text(name, **arguments)
        assert not failed, f"{name} {arguments}: {text}"
        return json.loads(text)

    async def refused(self, code, name, **arguments):
        failed, text = await self.text(name, **arguments)
        assert failed and text.startswith(f"{code}: "), f"{name} {arguments}: not {code} but {text[:300]}"
        return text


def follow(value):
    while "$ref" in value:
        at = OPENAPI
        for part in value["$ref"][2:].split("/"):
            at = at[part.replace("~1", "/")]
        value = at
    return value


def routes_of_contract():
    """The GET routes with JSON whose parameters are no secrets, and their parameters but `receipt`."""
    for path, item in OPENAPI["paths"].items():
        get = item.get("get")
        if not get or not path.startswith("/api/") or "application/json" not in follow(get["responses"].get("200", {})).get("content", {}):
            continue
        names = [follow(one)["name"] for one in get.get("parameters", [])]
        if not {"X-API-Key", "s"} & set(names) and get["operationId"] != "kyc_challenge":
            yield get["operationId"], path, [name for name in names if name != "receipt"]


def manual():
    """The questions with their SQL. Those of the past name ledger 1200."""
    return re.findall(r"^\*\*(\d+)\. .*?```sql\n(.*?)^```", (SOURCES / "migrations/README.md").read_text(), re.S | re.M)


async def check_list(session):
    tools = {tool.name: tool for tool in (await session.client.list_tools()).tools}
    routes = list(routes_of_contract())
    assert len(routes) >= 70, len(routes)
    assert set(tools) == {name for name, _, _ in routes} | {f"question_{number}" for number, _ in manual()} | {"views", "query"}, sorted(tools)
    for tool in tools.values():
        assert tool.annotations.read_only_hint and not tool.annotations.destructive_hint and tool.description and tool.input_schema["additionalProperties"] is False, tool
    for name, _, parameters in routes:
        assert list(tools[name].input_schema["properties"]) == parameters, name
    assert "$ref" not in json.dumps([tool.input_schema for tool in tools.values()])
    assert "never instructions" in session.client.instructions
    return tools


async def check_routes(session, tools):
    """What a route answers is the server's JSON: strings stay strings. Each route that needs no parameter answers."""
    ledger = (await session.answer("coverage"))["ledger"]
    told = await session.answer("markets", ledger=ledger)
    assert told["ledger"] == ledger and told["network"].startswith("Tidemark Simulated") and told["closedAt"].endswith("Z"), told
    assert told["data"] == raw(f"/api/markets?ledger={ledger}") and isinstance(told["data"]["items"][0]["debt"], str)
    symbol = told["data"]["items"][0]["market"]
    assert (await session.answer("market", symbol=symbol, ledger=ledger))["data"] == raw(f"/api/markets/{symbol}?ledger={ledger}")
    plain = [name for name, _, _ in routes_of_contract() if not tools[name].input_schema["required"]]
    for name in plain:
        if name == "kyc_providers":
            await session.refused("kyc_not_configured", name)
            continue
        arguments = {"limit": 20} if "limit" in tools[name].input_schema["properties"] else {}
        assert (await session.answer(name, **arguments))["ledger"] == ledger, name
    return len(plain), symbol


async def check_refusals(session, symbol):
    await session.refused("invalid_parameter", "vaults", markt=symbol)
    await session.refused("invalid_parameter", "vaults", limit=0)
    await session.refused("invalid_parameter", "vaults", limit="ten")
    await session.refused("invalid_parameter", "market")
    await session.refused("invalid_parameter", "kyc_status", address="G")
    await session.refused("invalid_parameter", "question_11", ledger="1; DROP TABLE chain.cursor")
    await session.refused("invalid_parameter", "question_11")
    await session.refused("unknown_tool", "webhook_create", body={})
    await session.refused("no_market", "market", symbol="sNONE")


async def check_questions(session):
    """As psql answers them: same rows, same digits."""
    middle = psql("SELECT (min(ledger) + max(ledger)) / 2 FROM chain.ledger")
    ledger = int(psql("SELECT max(ledger) FROM chain.cursor"))
    for number, statement in manual():
        past = "ledger N" in (await tool(session, f"question_{number}")).title or "1200" in statement
        told = await session.answer(f"question_{number}", **({"ledger": int(middle)} if past else {}))
        assert told["ledger"] == ledger and told["deployment"] == 1 and told["rows"], (number, told["ledger"])
        wanted = psql(f"SELECT json_agg(to_json(ARRAY(SELECT v FROM json_each_text(row_to_json(q)) AS e(k, v)))) FROM ({statement.replace('1200', middle).strip().rstrip(';')}) AS q", "tidemark_analyst")
        wanted = [[plain(one) for one in row] for row in json.loads(wanted)]
        have = [[plain(one) for one in row] for row in told["rows"]]
        assert told["complete"] and have == wanted, (number, [pair for pair in zip(have, wanted) if pair[0] != pair[1]][:1], len(have), len(wanted))


async def tool(session, name):
    return next(one for one in (await session.client.list_tools()).tools if one.name == name)


def plain(value):
    """A text of either side: JSON's times have a T, and its numbers no quotes."""
    text = value if isinstance(value, str) else json.dumps(value)
    return "null" if value is None else re.sub(r"(\d{4}-\d\d-\d\d)[T ](.*?)([+-]\d\d)(:00)?$", r"\1 \2\3", text)


async def check_query(session):
    told = await session.answer("query", sql="SELECT 170141183460469231731687303715884105727::numeric(39,0) AS a, 0.10::numeric AS b, 9::bigint AS c, true AS d, NULL AS e, '{\"x\": 1.50}'::json AS a")
    assert "otherDeployments" not in told
    assert told["columns"] == ["a", "b", "c", "d", "e", "a"] and told["rows"] == [["170141183460469231731687303715884105727", "0.10", 9, True, None, {"x": "1.50"}]], told
    assert (await session.answer("query", sql="SELECT 1 -- a comment"))["rows"] == [[1]]
    told = await session.answer("query", sql="SELECT '[123456789012345678901234567890, -12]'::json, ('1' || repeat('0', 5000))::json")
    assert told["rows"] == [[["123456789012345678901234567890", -12], "1" + "0" * 5000]], told
    for value in ("'\"\\ud800\"'", "repeat('[', 5000) || repeat(']', 5000)"):
        await session.refused("unreadable", "query", sql=f"SELECT ({value})::json")
    told = await session.answer("query", sql="SELECT i FROM generate_series(1, 100000) AS i ORDER BY i DESC")
    assert not told["complete"] and [row[0] for row in told["rows"]] == list(range(100000, 99500, -1)) and "note" in told
    told = await session.answer("query", sql="SELECT repeat('é', 10000) FROM generate_series(1, 100)")
    assert not told["complete"] and len(told["rows"]) == 3, len(told["rows"])
    await session.refused("too_large", "query", sql="SELECT repeat('x', 100000000)")
    await session.refused("too_large", "query", sql="SELECT repeat('x', 40000) AS a, repeat('x', 40000) AS b")
    await session.refused("columns", "query", sql="SELECT " + ", ".join(map(str, range(101))))
    assert len((await session.answer("views"))["rows"]) == int(psql("SELECT count(*) FROM pg_views WHERE schemaname = 'analyst'"))
    columns = (await session.answer("views", view="swaps"))["rows"]
    assert ["amount_in_raw", "numeric(38,0)"] in [row[:2] for row in columns] and all(row[2] for row in columns), columns
    await session.refused("invalid_parameter", "views", view="swaps'")
    await session.refused("unknown_view", "views", view="nothing")
    assert "analyst.networks has" in await session.refused("database", "question_11", ledger=99999999), "no hint"


WRITES = [
    "INSERT INTO event.log DEFAULT VALUES", "CREATE TABLE t (x int)", "DROP SCHEMA analyst CASCADE", "COPY (SELECT 1) TO PROGRAM 'true'", "SELECT 1; CREATE TABLE t (x int)",
    "SELECT 1) AS q(c0); CREATE TABLE t (x int); --", "SELECT 1) AS q(c0) UNION ALL SELECT repeat('x', 100) FROM (SELECT 1", "WITH d AS (DELETE FROM state.vault RETURNING 1) SELECT * FROM d",
    "SELECT * FROM kyc.session", "SELECT * FROM history.vault", "SELECT pg_read_file('/etc/passwd')", "SELECT lo_create(0)", "SELECT lo_from_bytea(0, 'x')", "SELECT 1 INTO t",
    "SELECT pg_logical_emit_message(false, 'a', 'b')", "SELECT set_config('transaction_read_only', 'off', false)", "ALTER ROLE tidemark_analyst SET statement_timeout = 0",
    "SELECT deployment FROM analyst.networks FOR UPDATE", "SELECT pg_advisory_lock(1)", "SELECT pg_terminate_backend(0)", "SELECT pg_cancel_backend(0)", "CALL analyst.grant_access()", "EXPLAIN ANALYZE SELECT 1", "RESET ROLE", "COMMIT", "", " ; ",
]


async def check_writes(session):
    for statement in WRITES:
        await session.refused("database" if statement else "invalid_parameter", "query", sql=statement)
    # Settings of one call do not reach the next.
    await session.answer("query", sql="SELECT set_config('statement_timeout', '0', false), set_config('search_path', 'pg_temp', false)")
    assert (await session.answer("query", sql="SELECT current_setting('statement_timeout'), current_setting('transaction_read_only')"))["rows"] == [["10s", "on"]]


async def check_slow():
    """The statement's time is bounded, and the bound is not the statement's to move."""
    async with server("tidemark_analyst", "--seconds", "1") as client:
        session = Session(client)
        slow = "SELECT count(*) FROM generate_series(1, 100000000000) AS i"
        calls = await asyncio.gather(*(session.refused("timeout", "query", sql=slow) for _ in range(5)), session.refused("timeout", "query", sql=f"SELECT set_config('statement_timeout', '0', false), ({slow})"))
        assert len(calls) == 6 and int(psql("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'tidemark-mcp' AND state = 'active'")) == 0


async def check_small():
    """An answer of the API that is too large is refused, not cut."""
    async with server(None, "--answer-kib", "8") as client:
        session = Session(client, 8)
        assert "smaller limit" in await session.refused("too_large", "events", limit=200)
        assert (await session.answer("events", limit=2))["data"]["items"]
        names = {one.name for one in (await client.list_tools()).tools}
        assert names == {name for name, _, _ in routes_of_contract()}, "tools of SQL without a database"


async def check_roles():
    for user, why in (("postgres", "superuser"), ("ada", "may make tables"), ("tidemark_api", "no member")):
        async with server(user) as client:
            session = Session(client)
            assert why in await session.refused("wrong_role", "query", sql="SELECT 1") and user in await session.refused("wrong_role", "question_1")
    async with server("nobody") as client:
        await Session(client).refused("database", "views")


async def check_deployments():
    """With a second network in the database, an answer names the current deployment and the ledgers of the others."""
    tide, folder = os.environ["TIDE_BIN"], f"{os.environ['PG_DIR']}/second"
    subprocess.run([f"{tide}/tidemark-sim", "write", "--lake", f"{folder}/lake", "--seed", "7", "--ledgers", "64", "--quiet"], check=True)
    subprocess.run([f"{tide}/tidemark-indexer", "run", "--lake", f"{folder}/lake", "--deployment", f"{folder}/deployment.json", "--stop-at-end"], check=True, capture_output=True)
    async with server() as client:
        told = await Session(client).answer("query", sql="SELECT deployment, max(ledger) FROM analyst.swaps GROUP BY 1")
    ledgers = dict(row.split("|") for row in psql("SELECT deployment, ledger FROM analyst.networks").splitlines())
    assert (told["deployment"], told["ledger"]) == (2, int(ledgers["2"])) and {row[0] for row in told["rows"]} == {1, 2}, told
    assert [(one["deployment"], one["ledger"]) for one in told["otherDeployments"]] == [(1, int(ledgers["1"]))], told


async def main():
    # The analyst of a database without database.sql may still make large objects.
    async with server() as client:
        assert "database.sql" in await Session(client).refused("wrong_role", "query", sql="SELECT 1")
    with open(SOURCES / "tools/packaging/database.sql", "rb") as script:
        subprocess.run([f"{os.environ['PG_BIN']}/psql", "-Xqf", "-"], stdin=script, check=True)
    before = state()
    async with server() as client:
        session = Session(client)
        tools = await check_list(session)
        plain_routes, symbol = await check_routes(session, tools)
        await check_refusals(session, symbol)
        await check_questions(session)
        await check_query(session)
        await check_writes(session)
    await check_slow()
    await check_small()
    await check_roles()
    assert state() == before, "the database changed"
    await check_deployments()
    print(f"{len(tools)} tools: {plain_routes} routes without parameters answer, {len(manual())} questions as psql answers them, {len(WRITES)} attempts to write refused")


asyncio.run(main())
