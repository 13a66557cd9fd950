#!/usr/bin/env bash
# Calls candles, prices, days and figures of pools as SQL routes. The answers equal a computation from events and
# history with plain SQL and Python's integers: now and as of ledgers, in both directions, with and without filled
# gaps, and for ranges that an attacker would request.
. "$(dirname "$0")/../_pg.sh"
[ -x "$TIDE_BIN/tidemark-sim" ] || { echo "no tidemark-sim"; exit 1; }
pg_start
export PG_BIN PG_DIR
# The chain is ahead of the wall clock: "now" is its newest close time. The chain lasts a month.
"$TIDE_BIN/tidemark-sim" write --lake "$PG_DIR/sim/lake" --first-ledger 1664 --ledgers 448 --close-step 50 --txs 8 --start-time 4102444800 --quiet
"$TIDE_BIN/tidemark-indexer" run --lake "$PG_DIR/sim/lake" --deployment "$PG_DIR/sim/deployment.json" --stop-at-end 2>"$PG_DIR/run.log" ||
    fail "run: $(tail -2 "$PG_DIR/run.log")"
"$(dirname "$0")/_routes_series.py"
