#!/usr/bin/env bash
# Webhooks and decisions of KYC against everything that may go wrong with them: faults K1-K8, K11-K13, each by its
# name; approvals withdrawn, gone or doubled; what is pruned; a flood of forgeries; random losses and restarts; the audit.
#   KYC_FAULTS_ONLY="k1 flood"   some of them      KYC_FLOOD_S=60      a longer flood
#   KYC_FLOOD_MS=200             what genuine ones may take then, for a quiet machine (default 1000)
#   KYC_SCHEDULES=50 KYC_SEED=7  more random schedules, and where they begin
# label: all
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../_pg.sh"
. "$here/../_api.sh"
[ -x "$TIDE_BIN/tidemark-api" ] || { echo "skipped: no tidemark-api"; exit 77; }
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }
pg_start
api_index 16
export TIDEMARK_KYC_DATABASE_URL="host=$PG_DIR port=5432 user=tidemark_kyc dbname=tidemark"
timeout 900 python3 "$here/_kyc_faults.py" "$PG_DIR" "$PG_BIN" || fail "$(grep -v ' info ' "$PG_DIR/api.log" | tail -5)"
! grep -nE 'PLANTED|-secret|S[A-Z2-7]{55}' "$PG_DIR/api.log" || fail "a person or a secret in the log"
! "$PG_BIN/pg_dump" -n kyc | grep -n PLANTED || fail "a person in the database"
echo ok
