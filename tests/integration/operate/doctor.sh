#!/usr/bin/env bash
# doctor finds each planted fault, names its remedy, shows no secret, and changes nothing; without a fault it ends with 0.
. "$(dirname "$0")/../_pg.sh"
pg_start
SERVE_DIR=$PG_DIR/serve
. "$(dirname "$0")/../_serve.sh"
indexer=$TIDE_BIN/tidemark-indexer
[ -x "$TIDE_BIN/tidemark-sim" ] || { echo "no tidemark-sim"; exit 77; }
serve_start --ledgers 16 --close-ms 0 --lake "$PG_DIR/lake" --deployment "$PG_DIR/deployment.json" || fail "serve"
export TIDEMARK_DEPLOYMENT=$PG_DIR/deployment.json TIDEMARK_RPC=$SERVE_URL TIDEMARK_LAKE=$PG_DIR/lake
export TIDEMARK_API_LISTEN=127.0.0.1:0 TIDEMARK_API_CACHE=$PG_DIR/cache TIDEMARK_CLOCK_SKEW_S=3153600000
mkdir "$PG_DIR/cache"

# doctor CODE [ARGUMENT]…: its lines in $PG_DIR/out.
doctor() {
    local want=$1 code=0
    shift
    "$indexer" doctor "$@" >"$PG_DIR/out" 2>"$PG_DIR/err" || code=$?
    [ $code = "$want" ] || fail "exit $code, not $want: $(cat "$PG_DIR/out" "$PG_DIR/err")"
    ! grep -q hush "$PG_DIR/out" "$PG_DIR/err" || fail "a secret is shown: $(grep -h hush "$PG_DIR/out" "$PG_DIR/err")"
}
# finds GRADE CHECK FOUND REMEDY: the check's line and the line below it.
finds() {
    grep -A 1 "^$1 *$2 " "$PG_DIR/out" >"$PG_DIR/line" || fail "$2 is not $1: $(cat "$PG_DIR/out")"
    grep -q -e "$3" "$PG_DIR/line" && grep -q -e "-> .*$4" "$PG_DIR/line" || fail "$2: $(cat "$PG_DIR/line")"
}
url() { echo "host=$PG_DIR port=5432 dbname=${2:-fresh} user=$1"; }

echo "before the installation"
"$PG_BIN/createdb" -T template0 fresh
export PGDATABASE=fresh TIDEMARK_DATABASE_URL=$(url postgres fresh)
doctor 1
finds failed migrations 'is not applied' 'tidemark-indexer migrate'
finds warning roles 'not in this cluster: tidemark_indexer' 'roles.sql'
grep -q '^skipped *writer *needs the schema' "$PG_DIR/out" || fail "$(cat "$PG_DIR/out")"
grep -q '^ok *rpc *1 server, newest ledger [0-9]*, of the' "$PG_DIR/out" || fail "$(cat "$PG_DIR/out")"
grep -q '^ok *lake *ledgers [0-9]* to [0-9]*' "$PG_DIR/out" || fail "$(cat "$PG_DIR/out")"
[ "$(sql "SELECT count(*) FROM pg_namespace WHERE nspname = 'chain'")" = 0 ] || fail "doctor changes the database"

echo "installed: nothing to do"
"$PG_BIN/psql" -Xqf "$TIDE_SOURCE_DIR/tools/packaging/roles.sql" 2>/dev/null
sql "ALTER DATABASE fresh OWNER TO tidemark_indexer"
"$PG_BIN/psql" -Xqf "$TIDE_SOURCE_DIR/tools/packaging/database.sql" 2>/dev/null
TIDEMARK_DATABASE_URL=$(url tidemark_indexer)
"$indexer" migrate >/dev/null 2>"$PG_DIR/err" || fail "migrate: $(tail -1 "$PG_DIR/err")"
doctor 0
! grep -qE '^(warning|failed)' "$PG_DIR/out" || fail "$(cat "$PG_DIR/out")"
doctor 0 --json
python3 - "$PG_DIR/out" <<'PY' || fail "$(cat "$PG_DIR/out")"
import json, sys
told = json.load(open(sys.argv[1]))
assert told["failed"] == told["warnings"] == 0 and len(told["checks"]) == 14, told
assert {c["grade"] for c in told["checks"]} <= {"ok", "skipped"}, told
PY

echo "files and sources"
doctor 1 --deployment "$PG_DIR/none.json"
finds failed 'deployment file' 'No such file' 'permissions'
TIDEMARK_DEPLOYMENT='' doctor 1
finds failed 'deployment file' 'is not set' 'set deployment = FILE'
python3 -c 'import json, sys; d = json.load(open(sys.argv[1])); del d["contracts"]["oracle"]; d["network"] = "Another Network"; json.dump(d, open(sys.argv[2], "w"))' "$TIDEMARK_DEPLOYMENT" "$PG_DIR/other.json"
doctor 1 --deployment "$PG_DIR/other.json"
finds warning 'deployment file' 'does not name oracle' 'add them to the file'
finds failed rpc 'network' "of the deployment file's network"
doctor 1 --rpc "http://127.0.0.1:1/hush?key=hush" --rpc-header "X-Key: hush"
finds failed rpc 'http://127.0.0.1:1' 'correct rpc'
TIDEMARK_RPC='' TIDEMARK_LAKE='' doctor 1
finds failed rpc 'no ledger source' 'set rpc, lake or stream'
doctor 1 --lake "$PG_DIR/none"
finds failed lake "$PG_DIR/none" 'correct lake'
mkdir "$PG_DIR/empty"
doctor 0 --lake "$PG_DIR/empty"
finds warning lake 'no ledgers' 'check the path'

echo "port and cache"
python3 -c 'import socket, sys, time; s = socket.create_server(("127.0.0.1", 0)); open(sys.argv[1], "w").write(str(s.getsockname()[1])); time.sleep(600)' "$PG_DIR/taken" &
until [ -s "$PG_DIR/taken" ]; do sleep 0.05; done
doctor 1 --api-listen "127.0.0.1:$(cat "$PG_DIR/taken")" --http-connect-ms 200
finds failed port 'Address already in use' 'choose another api_listen'
doctor 1 --api-listen 192.0.2.1:8080
finds failed port 'Cannot assign' 'an address of this host'
doctor 1 --api-listen localhost
finds failed port 'no address' '127.0.0.1:8080'
doctor 1 --api-cache "$PG_DIR/none"
finds failed cache 'No such file' 'create the folder'
doctor 1 --api-cache "$TIDEMARK_DEPLOYMENT"
finds failed cache 'is no folder' 'name a folder'

echo "clock"
if [ -e "$TIDE_BIN/libwall_clock.so" ]; then
    export TIDE_WALL_FILE=$PG_DIR/wall
    echo -3600 >"$TIDE_WALL_FILE"
    LD_PRELOAD=$TIDE_BIN/libwall_clock.so doctor 1 --clock-skew-s 120
    finds failed clock '3[56][0-9][0-9].[0-9] s behind the database' 'NTP'
    echo 10 >"$TIDE_WALL_FILE"
    LD_PRELOAD=$TIDE_BIN/libwall_clock.so doctor 0
    finds warning clock 'ahead of the database' 'NTP'
fi

echo "database"
TIDEMARK_DATABASE_URL="host=$PG_DIR/none password=hush dbname=fresh" doctor 1
finds failed database 'connection' 'start PostgreSQL'
TIDEMARK_DATABASE_URL=$(url postgres) doctor 0
finds warning roles 'as a superuser' 'tidemark_indexer'
TIDEMARK_DATABASE_URL=$(url tidemark_kyc) doctor 1
finds failed grants 'tidemark_kyc does not own chain (owner tidemark_indexer)' 'name the owner'
PGDATABASE=postgres "$PG_BIN/createdb" -E SQL_ASCII -T template0 --locale C latin
TIDEMARK_DATABASE_URL=$(url postgres latin) doctor 1
finds failed encoding 'SQL_ASCII' 'encoding UTF8'
sql "GRANT EXECUTE ON FUNCTION pg_advisory_lock(bigint) TO PUBLIC"
doctor 0
finds warning roles 'every login may take the locks' 'database.sql'
sql "REVOKE EXECUTE ON FUNCTION pg_advisory_lock(bigint) FROM PUBLIC; REVOKE INSERT ON kyc.session FROM tidemark_kyc"
doctor 1
finds failed grants 'rights are missing: tidemark_kyc on kyc.session' 'CALL kyc.grant_roles'
sql "CALL kyc.grant_roles()"
sql "INSERT INTO chain.migration (name, checksum) SELECT '9999_later', checksum FROM chain.migration LIMIT 1"
doctor 1
finds failed migrations '9999_later' 'newer build'
sql "DELETE FROM chain.migration WHERE name = '9999_later'"

echo "the writer"
"$indexer" run --stop-at-end --rpc '' >"$PG_DIR/run" 2>&1 || fail "run: $(tail -2 "$PG_DIR/run")"
sql "UPDATE chain.lease SET renewed_at = now() - interval '1 hour'"
doctor 0
finds warning writer 'no process writes; ledger [0-9]* is the last' 'tidemark-indexer run'
sql "UPDATE chain.heartbeat SET state = 'frozen', error = 'ledger 7: another network'"
doctor 1
finds failed writer 'frozen at ledger [0-9]*: ledger 7: another network' 'table of faults'
serve_stop || fail "serve: exit $?"
echo ok
