#!/usr/bin/env bash
# Calls the SQL routes through the worker pool without HTTP.
. "$(dirname "$0")/../_pg.sh"
[ -x "$TIDE_BIN/tidemark-sim" ] || { echo "no tidemark-sim"; exit 1; }
pg_start
pg_writable
"$TIDE_BIN/tidemark-sim" write --lake "$PG_DIR/sim/lake" --first-ledger 1920 --ledgers "${TIDE_LEDGERS:-256}" --quiet
export TIDEMARK_DEPLOYMENT=$PG_DIR/sim/deployment.json
"$TIDE_BIN/tidemark-indexer" run --lake "$PG_DIR/sim/lake" --stop-at-end 2>"$PG_DIR/run.log" || fail "run: $(tail -2 "$PG_DIR/run.log")"
export PG_BIN PG_DIR
"$(dirname "$0")/_sql_routes.py"
