#!/usr/bin/env bash
# A14: pages through lists while ledgers are written: no row is skipped or shown twice.
. "$(dirname "$0")/../_pg.sh"
[ -x "$TIDE_BIN/tidemark-sim" ] || { echo "no tidemark-sim"; exit 1; }
pg_start
ledgers=320
[ -z "${TIDE_LONG:-}" ] || ledgers=512
"$TIDE_BIN/tidemark-sim" write --stream "$PG_DIR/stream" --deployment "$PG_DIR/deployment.json" --first-ledger 1920 \
    --ledgers "${TIDE_LEDGERS:-$ledgers}" --quiet
export TIDEMARK_DEPLOYMENT=$PG_DIR/deployment.json PG_BIN PG_DIR
"$(dirname "$0")/_sql_paging.py" "$PG_DIR/stream" || fail "$(tail -2 "$PG_DIR/run.log")"
