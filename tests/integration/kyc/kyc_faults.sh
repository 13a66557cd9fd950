#!/usr/bin/env bash
# Tests webhooks and decisions of KYC with faults K1-K8 and K11-K13, each by its name: approvals that are withdrawn,
# gone or doubled, pruned rows, a flood of forged webhooks, random losses and restarts, the audit log.
#   KYC_FAULTS_ONLY="k1 flood"   some of them      KYC_FLOOD_S=60      a longer flood
#   KYC_FLOOD_MS=200             limit in ms for genuine webhooks during it, for an idle machine (default 1000)
#   KYC_SCHEDULES=50 KYC_SEED=7  more random schedules, and their first seed
# label: all, label: sanitize
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../_pg.sh"
. "$here/../_api.sh"
[ -x "$TIDE_BIN/tidemark-api" ] || { echo "no tidemark-api"; exit 1; }
command -v python3 >/dev/null || { echo "no python3"; exit 1; }
pg_start
api_index 16
export TIDEMARK_KYC_DATABASE_URL="host=$PG_DIR port=5432 user=tidemark_kyc dbname=tidemark"
timeout 900 python3 "$here/_kyc_faults.py" "$PG_DIR" "$PG_BIN" || fail "$(grep -v ' info ' "$PG_DIR/api.log" | tail -5)"
! grep -nE 'PLANTED|-secret|S[A-Z2-7]{55}' "$PG_DIR/api.log" || fail "a person or a secret in the log"
! "$PG_BIN/pg_dump" -n kyc | grep -n PLANTED || fail "a person in the database"
echo ok
