#!/usr/bin/env bash
# Lists of vaults by risk, and the riskiest of a market, are in the order of collateral / debt, compared with integers: for debts
# from one raw unit to the largest, now and as of a ledger, page by page.
. "$(dirname "$0")/../_pg.sh"
[ -x "$TIDE_BIN/tidemark-sim" ] || { echo "skipped: no tidemark-sim"; exit 77; }
pg_start
pg_writable
export PG_BIN PG_DIR
"$TIDE_BIN/tidemark-sim" write --lake "$PG_DIR/sim/lake" --first-ledger 1920 --ledgers 128 --quiet
"$TIDE_BIN/tidemark-indexer" run --lake "$PG_DIR/sim/lake" --deployment "$PG_DIR/sim/deployment.json" --stop-at-end 2>"$PG_DIR/run.log" ||
    fail "run: $(tail -2 "$PG_DIR/run.log")"
"$(dirname "$0")/_vault_order.py"
