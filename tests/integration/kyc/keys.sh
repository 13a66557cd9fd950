#!/usr/bin/env bash
# API keys of integrators on two nodes: added, used, limited by scopes, networks and rates, rotated with overlap, and
# revoked within two seconds. Also while the database is away, on a node without a KYC file, and the rights of each
# role. A key's text exists only with its owner.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../_pg.sh"
. "$here/../_api.sh"
[ -x "$TIDE_BIN/tidemark-sim" ] && [ -x "$TIDE_BIN/tidemark-api" ] || { echo "programs not built"; exit 1; }
pg_start
api_index 64
export PG_DIR PG_BIN
python3 - "$PG_DIR/kyc.json" "$here/.." <<'END'
import json, os, sys
sys.path.insert(0, sys.argv[2])
import _providers
with os.fdopen(os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT, 0o600), "w") as file:
    json.dump(_providers.kyc_file("http://127.0.0.1:1", "http://127.0.0.1:8080", ("sandbox",)), file)
END
export TIDEMARK_KYC_FILE=$PG_DIR/kyc.json TIDEMARK_KYC_DATABASE_URL="host=$PG_DIR port=5432 user=tidemark_kyc dbname=tidemark"
start() { api_start --api-cache "$PG_DIR/cache.$1" --api-proxies 127.0.0.1 --api-rate-lookup 100000 --api-rate-query 100000 --api-access-log all; }
start first
first=$API_URL first_pid=$API_PID
start second
python3 "$here/_keys.py" "$first" "$API_URL" || fail "keys: $(grep -a keys "$PG_DIR/api.log" | tail -3)"
nodes=("$first_pid" "$API_PID") second=$API_URL
TIDEMARK_KYC_FILE='' api_start --api-cache "$PG_DIR/cache.third" --api-proxies 127.0.0.1 --api-rate-lookup 20 --api-connections-per-ip 8 --api-access-log all
python3 "$here/_keys.py" account "$API_URL" || fail "without a KYC file: $(grep -a keys "$PG_DIR/api.log" | tail -3)"
api_stop || fail "the third node ended with $?"
pg_stop fast
python3 "$here/_keys.py" away "$first" "$second" || fail "database away"
pg_again
python3 "$here/_keys.py" back "$first" "$second" || fail "database back"
kill -TERM "${nodes[@]}"
wait "${nodes[@]}" || fail "tidemark-api ended with $?"
[ "$(grep -c 'keys.away' "$PG_DIR/api.log")" = 2 ] && [ "$(grep -c 'keys.back' "$PG_DIR/api.log")" = 2 ] || fail "told: $(grep keys "$PG_DIR/api.log")"
"$PG_BIN/pg_dump" -h "$PG_DIR" -U postgres tidemark >"$PG_DIR/dump.sql"
grep -q tk_ "$PG_DIR/dump.sql" || fail "the dump has no keys at all"
! grep -aFf "$PG_DIR/keys.secret" "$PG_DIR/dump.sql" "$PG_DIR/api.log" || fail "a key is in the database or the log"
echo "a key is neither in the database nor in a log"
