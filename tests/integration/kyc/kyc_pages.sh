#!/usr/bin/env bash
# Tests pages of KYC over HTTP: who may frame them, the scope of links, the way to the sandbox provider, its decision,
# its webhook, and the way back. A verdict in the address has no effect (K13).
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../_pg.sh"
. "$here/../_api.sh"
. "$here/../../../tools/lib/stack.sh"
[ -x "$TIDE_BIN/tidemark-sim" ] && [ -x "$TIDE_BIN/tidemark-api" ] || { echo "programs not built"; exit 1; }
pg_start
api_index 64
stack_kyc "$PG_DIR" https://app.example https://app.example:8443
# As in the systemd unit, the KYC file and the database login are credentials, not settings.
mkdir "$PG_DIR/credentials"
mv "$PG_DIR/kyc.json" "$PG_DIR/credentials/tidemark_kyc_file"
echo "host=$PG_DIR port=5432 user=tidemark_kyc dbname=tidemark" >"$PG_DIR/credentials/tidemark_kyc_database_url"
CREDENTIALS_DIRECTORY=$PG_DIR/credentials \
    api_start --api-listen "127.0.0.1:$stack_kyc_port" --api-rate-query 0 --api-access-log all
python3 "$here/_kyc_pages.py" "$API_URL" "$stack_kyc_key" "$PG_DIR/tokens"
[ "$(sql "SELECT count(*), count(DISTINCT event_key) FROM kyc.inbox WHERE state = 'done'")" = "5|5" ] ||
    fail "inbox: $(sql "SELECT provider, event_key, state, last_error FROM kyc.inbox")"
[ "$(sql "SELECT action, jurisdiction, state FROM kyc.outbox ORDER BY id")" = "attest|756|queued" ] || fail "outbox: $(sql "SELECT * FROM kyc.outbox")"
api_stop || fail "tidemark-api ended with $?"
! grep -aFf "$PG_DIR/tokens" "$PG_DIR/api.log" || fail "a token is in the log"
echo "no token in the log"
