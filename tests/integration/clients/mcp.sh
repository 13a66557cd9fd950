#!/usr/bin/env bash
# The MCP server on a simulated chain, with the client of the package `mcp`: its tools are those of the contract and of the
# analysts' manual, their answers those of the API and of psql. Wrong parameters, large answers, slow statements and logins
# that may write are refused, and nothing in the database changes. label: all
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../_pg.sh"
. "$here/../_api.sh"
TIDE_OPENAPI=$TIDE_BUILD/api/openapi.json "$TIDE_SOURCE_DIR/tools/clients" --mcp || fail "the packages do not build"
[ -x "$TIDE_BIN/tidemark-sim" ] && [ -x "$TIDE_BIN/tidemark-api" ] || { echo "programs not built"; exit 1; }
env=$TIDE_SOURCE_DIR/build/clients/mcp-env
"$env/bin/mypy" --config-file "$TIDE_SOURCE_DIR/api/clients/mcp/pyproject.toml" --cache-dir "$env/mypy" "$TIDE_SOURCE_DIR/build/clients/mcp/src" >"$TIDE_BUILD/mcp.mypy" ||
    { tail -n 20 "$TIDE_BUILD/mcp.mypy"; fail "the types of the MCP server"; }

pg_start
api_index 512
"$PG_BIN/psql" -Xqf - -v ON_ERROR_STOP=1 <"$TIDE_SOURCE_DIR/tools/packaging/roles.sql" >"$PG_DIR/roles.log" 2>&1 || fail "roles.sql: $(tail -n 3 "$PG_DIR/roles.log")"
"$PG_BIN/psql" -Xqf - -v analyst=ada <"$TIDE_SOURCE_DIR/tools/analyst/role.sql"
api_start --api-rate-lookup 0 --api-rate-query 0
export PG_BIN PG_DIR API_URL
"$env/bin/python" "$here/_mcp.py" "$env/bin/tidemark-mcp" "$TIDE_BUILD/api/openapi.json" "$TIDE_SOURCE_DIR" || fail "see above"
api_stop || fail "tidemark-api ended with $?"
