#!/usr/bin/env bash
# KYC of two deployments in one database: each API works on its own sessions and webhooks, with its own accounts at the providers. label: all
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../_pg.sh"
. "$here/../_api.sh"
[ -x "$TIDE_BIN/tidemark-sim" ] && [ -x "$TIDE_BIN/tidemark-api" ] || { echo "programs not built"; exit 1; }
pg_start
api_index 16
"$TIDE_BIN/tidemark-sim" write --lake "$PG_DIR/other/lake" --deployment "$PG_DIR/other/deployment.json" --ledgers 16 --seed 7 \
    --passphrase "Another Network ; 2026" --quiet
TIDEMARK_DEPLOYMENT=$PG_DIR/other/deployment.json "$TIDE_BIN/tidemark-indexer" run --lake "$PG_DIR/other/lake" --stop-at-end 2>"$PG_DIR/run.log" ||
    fail "run: $(tail -2 "$PG_DIR/run.log")"
export TIDEMARK_KYC_DATABASE_URL="host=$PG_DIR port=5432 user=tidemark_kyc dbname=tidemark"
timeout 240 python3 "$here/_kyc_beside.py" "$PG_DIR" "$PG_BIN" "$PG_DIR/other/deployment.json" || fail "$(grep -v ' info ' "$PG_DIR/api.log" | tail -5)"
echo ok
