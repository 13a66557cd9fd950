#!/usr/bin/env bash
# Expects the names that the protocol's public document fixes (tests/integration/_documented.json) in the answers of a
# running API: assets, entrypoints, compliance, and a session at the sandbox provider.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../_pg.sh"
. "$here/../_api.sh"
pg_start
api_index 128
(umask 077 && python3 - "$here/.." >"$PG_DIR/kyc.json" <<'END'
import json, sys
sys.path.insert(0, sys.argv[1])
import _providers
print(json.dumps(_providers.kyc_file("http://127.0.0.1:9", "http://127.0.0.1:8080", ("sandbox",), open=True)))
END
)
TIDEMARK_KYC_FILE=$PG_DIR/kyc.json TIDEMARK_KYC_DATABASE_URL="host=$PG_DIR port=5432 user=tidemark_kyc dbname=tidemark" \
    api_start --api-rate-lookup 0 --api-rate-query 0
"$here/_documented.py" "$API_URL" || fail "documented names"
api_stop || fail "tidemark-api ended with $?"
