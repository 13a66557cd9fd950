#!/usr/bin/env bash
# Compares the routes of partners, earnings, oracle, DAO, multisig and compliance with plain SQL over history.
# label: all
. "$(dirname "$0")/../_pg.sh"
[ -x "$TIDE_BIN/tidemark-sim" ] || { echo "no tidemark-sim"; exit 1; }
pg_start
pg_writable
# long enough for epochs to close, proposals to be executed and providers to come and go
"$TIDE_BIN/tidemark-sim" write --lake "$PG_DIR/sim/lake" --first-ledger 1920 --ledgers "${TIDE_LEDGERS:-640}" \
    --close-step 3600 --quiet
export TIDEMARK_DEPLOYMENT=$PG_DIR/sim/deployment.json
"$TIDE_BIN/tidemark-indexer" run --lake "$PG_DIR/sim/lake" --stop-at-end 2>"$PG_DIR/run.log" || fail "run: $(tail -2 "$PG_DIR/run.log")"
export PG_BIN PG_DIR
"$(dirname "$0")/_routes_governance.py"
