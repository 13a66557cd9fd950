#!/usr/bin/env bash
# What signatures prove, as the API tells it: headers, readiness, ledgers, receipts, metrics; answers of proven ledgers
# alone; 503 forked wherever an answer would name a ledger.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../_pg.sh"
. "$here/../_api.sh"
[ -x "$TIDE_BIN/tidemark-api" ] || { echo "no tidemark-api"; exit 1; }
command -v openssl >/dev/null || { echo "no openssl"; exit 1; }
pg_start
api_index 96
(umask 077 && openssl genpkey -algorithm ed25519 -out "$PG_DIR/key.pem")
export PG_BIN
for require in false true; do
    api_start --api-receipt-keys "$PG_DIR/key.pem" --api-receipt-issuer me --api-require-signed=$require
    python3 "$here/_proven.py" "$API_URL" $require || fail "api_require_signed=$require: $(tail -3 "$PG_DIR/api.log")"
    api_stop || fail "exit code $?: $(tail -3 "$PG_DIR/api.log")"
done
