#!/usr/bin/env bash
# Makes a lake (Iceberg tables) of a simulated chain: every row once, exact values, no personal ones. DuckDB answers
# the ten questions as PostgreSQL does. Differences are found and repaired.
. "$(dirname "$0")/_lake.sh"
here=$(cd "$(dirname "$0")" && pwd)
pg_start
lake_chain --first-ledger 1856 --ledgers 384 --txs 8 --seed 7
logs=(analyst.swaps analyst.ledgers event.liquidity_pool_swap)

LAKE_AS=$TIDEMARK_DATABASE_URL refused 65 "the role postgres can read jurisdictions" lake update a --range 20
lake update a --range 20 --tables 'analyst.*' event.liquidity_pool_swap event.compliance_registry_attest >"$PG_DIR/out" || fail "update: $(cat "$PG_DIR/out")"
grep -q "^analyst.swaps: ledgers 2000 to 2199, [1-9]" "$PG_DIR/out" || fail "no range of swaps: $(cat "$PG_DIR/out")"
refused 65 "has ranges of 20 ledgers, not of 30" lake update a --range 30
[ -z "$(lake update a --tables 'analyst.*')" ] || fail "a second run wrote something"
"$lake_python" "$here/_questions.py" "$TIDE_SOURCE_DIR/migrations/README.md" "$PG_DIR/a" duckdb || fail "questions"
"$lake_python" "$here/_exact.py" "$PG_DIR/a" || fail "columns"

# A difference is found, named and written again. (The ledger's close time stays; one of its counts changes.)
lake check a --tables "${logs[@]}" || fail "check finds differences where there are none"
sql "UPDATE chain.ledger SET tx_count = tx_count + 1 WHERE ledger = 2040"
refused 1 "^DIFFERS analyst.ledgers: ledgers 2000 to 2199 .*--repair" lake check a --tables "${logs[@]}"
refused 0 "0 differ, 1 repaired" lake check a --tables "${logs[@]}" --repair
lake check a --tables "${logs[@]}" || fail "still different after --repair"
