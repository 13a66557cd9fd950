#!/usr/bin/env bash
# Sends invented input: bodies with members that a route does not know, misspelt or doubled, and cursors with a valid
# checksum around any key. Every route with a JSON body refuses the bodies and names the place. Every list refuses the
# cursor or starts somewhere. No request fails with a 5xx.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../_pg.sh"
. "$here/../_api.sh"
pg_start
api_index 128
export PG_DIR PG_BIN
(umask 077 && python3 - "$here/.." >"$PG_DIR/kyc.json" <<'END'
import json, sys
sys.path.insert(0, sys.argv[1])
import _providers
print(json.dumps(_providers.kyc_file("http://127.0.0.1:9", "http://127.0.0.1:8080", ("sandbox",), open=True, webhookKey="55" * 32, webhookLocal=True)))
END
)
"$TIDE_BIN/tidemark-indexer" integrator put acme Acme >/dev/null
# Bytes, because \u depends on the locale.
for name in $'\xe2\x80\xae''emca' $'a\xe2\x80\x8bb' $'\xe3\x80\x80' $'a\xe2\x81\xa6b' '' $'\xcc\x81'; do
    "$TIDE_BIN/tidemark-indexer" integrator put other "$name" >/dev/null 2>"$PG_DIR/put.log" && fail "a name that cannot be read was taken: $(printf %q "$name")"
done
key=$("$TIDE_BIN/tidemark-indexer" key add acme --scopes webhooks)
TIDEMARK_KYC_FILE=$PG_DIR/kyc.json TIDEMARK_KYC_DATABASE_URL="host=$PG_DIR port=5432 user=tidemark_kyc dbname=tidemark" \
    api_start --api-rate-lookup 0 --api-rate-query 0
python3 "$here/_inputs.py" "$API_URL" "$key" || fail "$(grep -a 'sql.failed\|kyc.*failed' "$PG_DIR/api.log" | tail -3)"
api_stop || fail "tidemark-api ended with $?"
