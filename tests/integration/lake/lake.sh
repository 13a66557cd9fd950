#!/usr/bin/env bash
# Makes a lake (Iceberg tables) of a simulated chain: every row once, exact values, no personal ones. DuckDB answers
# the ten questions as PostgreSQL does. Differences are found and repaired.
. "$(dirname "$0")/_lake.sh"
here=$(cd "$(dirname "$0")" && pwd)
pg_start
lake_chain --first-ledger 1856 --ledgers 384 --txs 8 --seed 7
logs=(analyst.swaps analyst.ledgers event.liquidity_pool_swap)
# As on an installation, where no login but the daemons' may take advisory locks.
"$PG_BIN/psql" -Xqv ON_ERROR_STOP=1 -f "$TIDE_SOURCE_DIR/tools/packaging/roles.sql" -f "$TIDE_SOURCE_DIR/tools/packaging/database.sql" >"$PG_DIR/roles.log" 2>&1 ||
    fail "roles: $(tail -n 3 "$PG_DIR/roles.log")"

LAKE_AS=$TIDEMARK_DATABASE_URL refused 65 "the role postgres can read jurisdictions" lake update a --range 20
lake update a --range 20 --tables 'analyst.*' event.liquidity_pool_swap event.compliance_registry_attest >"$PG_DIR/out" || fail "update: $(cat "$PG_DIR/out")"
grep -q "^analyst.swaps: ledgers 2000 to 2199, [1-9]" "$PG_DIR/out" || fail "no range of swaps: $(cat "$PG_DIR/out")"
[ -z "${TIDE_LONG:-}" ] || refused 65 "has ranges of 20 ledgers, not of 30" lake update a --range 30
[ -z "$(lake update a --tables 'analyst.*')" ] || fail "a second run wrote something"
"$lake_python" "$here/_questions.py" "$TIDE_SOURCE_DIR/migrations/README.md" "$PG_DIR/a" duckdb || fail "questions"
"$lake_python" "$here/_exact.py" "$PG_DIR/a" || fail "columns"

# A difference is found, named and written again. (The ledger's close time stays; one of its counts changes.)
[ -z "${TIDE_LONG:-}" ] || lake check a --tables "${logs[@]}" || fail "check finds differences where there are none" # as after --repair
sql "UPDATE chain.ledger SET tx_count = tx_count + 1 WHERE ledger = 2040"
refused 1 "^DIFFERS analyst.ledgers: ledgers 2000 to 2199 .*--repair" lake check a --tables "${logs[@]}"
refused 0 "0 differ, 1 repaired" lake check a --tables "${logs[@]}" --repair
lake check a --tables "${logs[@]}" || fail "still different after --repair"

# A second writer of a lake is refused while the first one lives, and one of another lake is not.
lake_waits
coproc PYTHONPATH=$lake_tool "$lake_python" -c 'import sys; from database import Database; from lake_folder import opened
database = Database(sys.argv[1], None)
database.lock(opened(sys.argv[2], {}).location)
print("writes", flush=True)
sys.stdin.read()' "$LAKE_URL" "$PG_DIR/a"
writer=$COPROC_PID
read -r said <&"${COPROC[0]}" && [ "$said" = writes ] || fail "no first writer"
lake_sessions=1
refused 65 "another process is writing" lake update a --tables analyst.swaps
lake update b --tables analyst.swaps >"$PG_DIR/out" || fail "another lake: $(cat "$PG_DIR/out")"
grep -q "^deployment 1: no range of 10000 ledgers is closed yet" "$PG_DIR/out" || fail "an empty lake is silent"
kill "$writer"
wait "$writer" 2>/dev/null || :
lake_sessions=0

[ -n "${TIDE_LONG:-}" ] || exit 0
# Questions end with a message. A chart shows one deployment, the newest or the one that is named.
refused 65 "^lake: DuckDB: .*nothing" lake query a 'SELECT nothing FROM analyst.swaps'
"$TIDE_BIN/tidemark-sim" write --lake "$PG_DIR/second/lake" --ledgers 96 --seed 9 --quiet
"$TIDE_BIN/tidemark-indexer" run --lake "$PG_DIR/second/lake" --deployment "$PG_DIR/second/deployment.json" --stop-at-end 2>"$PG_DIR/run.log" || fail "indexing: $(tail "$PG_DIR/run.log")"
lake update a --tables analyst.swaps >"$PG_DIR/out" || fail "update: $(cat "$PG_DIR/out")"
lake chart a "$PG_DIR/newest.svg" || fail "chart"
lake chart a --deployment 1 "$PG_DIR/first.svg" || fail "chart of the first deployment"
grep -q "Swaps a minute, deployment 2" "$PG_DIR/newest.svg" && grep -q "Swaps a minute, deployment 1" "$PG_DIR/first.svg" || fail "the chart does not name its deployment"
refused 65 "no swaps of deployment 7" lake chart a --deployment 7 "$PG_DIR/none.svg"
refused 65 "no table analyst.swaps\|has no swaps" lake chart b "$PG_DIR/none.svg"
