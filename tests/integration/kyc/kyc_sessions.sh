#!/usr/bin/env bash
# Tests KYC sessions over HTTP, with test providers: who may create and read them, refusals with their places, limits,
# challenges (forged, replayed, expired, of another network), and which pages may read an answer. Equal requests give
# the same session (K9, K10: also when the provider fails, hangs or its answer is lost). A search for planted values
# proves that no personal value and no content of the KYC file is in the database, the logs, /proc or an answer.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../_pg.sh"
. "$here/../_api.sh"
[ -x "$TIDE_BIN/tidemark-sim" ] && [ -x "$TIDE_BIN/tidemark-api" ] || { echo "programs not built"; exit 1; }
pg_start
api_index 64
export PG_DIR PG_BIN
python3 "$here/../_providers.py" serve --ready "$PG_DIR/mock" >"$PG_DIR/mock.log" 2>&1 &
AWAIT_PID=$! AWAIT_LOG=$PG_DIR/mock.log await "the providers" test -s "$PG_DIR/mock"
MOCK_URL=$(cat "$PG_DIR/mock")
python3 "$here/_kyc_sessions.py" file "$MOCK_URL" "$PG_DIR/kyc.json"
kyc_start() { # FILE [OPTION]…
    local file=$1
    shift
    TIDEMARK_RPC="http://127.0.0.1:1/,$MOCK_URL/rpc,$MOCK_URL/rpc/second" TIDEMARK_KYC_FILE=$file TIDEMARK_KYC_DATABASE_URL="host=$PG_DIR port=5432 user=tidemark_kyc dbname=tidemark" \
        api_start --api-rate-lookup 0 --api-rate-query 0 --api-proxies 127.0.0.1 --api-access-log all "$@"
}
kyc_start "$PG_DIR/kyc.json"
python3 "$here/_kyc_sessions.py" all "$API_URL" "$MOCK_URL" "$API_PID" || fail "sessions: $(grep -a 'kyc\|sql' "$PG_DIR/api.log" | tail -3)"
{ kill -9 "$API_PID" && wait "$API_PID"; } 2>/dev/null || true # in the middle of whatever: the row is all that counts
kyc_start "$PG_DIR/kyc.json"
python3 "$here/_kyc_sessions.py" again "$API_URL" "$MOCK_URL" "$API_PID" || fail "after a kill"
until_sql "count(*) >= 2 FROM kyc.audit WHERE what = 'settings_opened'" 60 # a worker of the API writes the second row
pg_stop fast
python3 "$here/_kyc_sessions.py" away "$API_URL" "$MOCK_URL" "$API_PID" || fail "database away"
pg_again
api_stop || fail "tidemark-api ended with $?"
grep -q kyc.webhook_secrets_ended "$PG_DIR/api.log" && fail "a secret that holds is called ended"
python3 - "$PG_DIR/kyc.json" "$PG_DIR/ended.json" <<'END'
import json, os, sys
doc = json.load(open(sys.argv[1]))
for secret in next(p for p in doc["providers"] if p["key"] == "didit")["webhookSecrets"]:
    secret["notAfter"] = "2020-01-01T00:00:00Z"
with os.fdopen(os.open(sys.argv[2], os.O_WRONLY | os.O_CREAT, 0o600), "w") as file:
    json.dump(doc, file)
END
# Each start is in the audit log with a digest of its KYC file. Only equal files have equal digests.
opened() { sql "SELECT count(*), count(DISTINCT detail) FROM kyc.audit WHERE what = 'settings_opened'"; }
IFS='|' read -r starts files <<<"$(opened)"
[ "$starts" -ge 2 ] && [ "$files" = 1 ] || fail "starts in the audit: $(opened)"
kyc_start "$PG_DIR/ended.json"
for _ in $(seq 600); do
    [ "$(opened)" = "$((starts + 1))|2" ] && break
    sleep 0.1
done
[ "$(opened)" = "$((starts + 1))|2" ] || fail "another file in the audit: $(opened)"
api_stop || fail "tidemark-api ended with $?"
[ "$(grep -o 'kyc.webhook_secrets_ended provider=[a-z]*' "$PG_DIR/api.log")" = "kyc.webhook_secrets_ended provider=didit" ] ||
    fail "secrets that all ended: $(grep kyc "$PG_DIR/api.log" | tail -3)"
# A start that cannot keep what it promises ends with a configuration error that names the setting.
refused() { # WORDS [OPTION]…
    local words=$1 code=0
    shift
    TIDEMARK_KYC_FILE=$PG_DIR/kyc.json TIDEMARK_API_LISTEN=127.0.0.1:0 TIDEMARK_API_CACHE=$PG_DIR/cache2 \
        timeout 20 env -u TIDEMARK_DEPLOYMENT "$TIDE_BIN/tidemark-api" --api-port-file "$PG_DIR/none" "$@" 2>"$PG_DIR/refused.log" || code=$?
    [ $code -eq 78 ] && grep -q "$words" "$PG_DIR/refused.log" || fail "not refused, $words: $code $(tail -2 "$PG_DIR/refused.log")"
}
refused "api_idle_ms: identity checks need at least 15000" --api-idle-ms 14999
refused "rpc" --rpc "$MOCK_URL/rpc,$MOCK_URL/rpc"
sql "UPDATE chain.deployment SET passphrase = 'Public Global Stellar Network ; September 2015',
     network_id = sha256('Public Global Stellar Network ; September 2015')"
refused "the public main network forbids"
python3 "$here/_kyc_sessions.py" grep "$PG_DIR/kyc.json" || fail "planted values"
echo "the main network is refused; planted values are nowhere"
