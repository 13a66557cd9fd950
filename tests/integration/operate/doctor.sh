#!/usr/bin/env bash
# `doctor` finds each planted fault, names its remedy, shows no secret, and changes nothing. Without a fault it exits
# with 0.
. "$(dirname "$0")/../_pg.sh"
pg_start -c fsync=on # the clusters of other tests do without
SERVE_DIR=$PG_DIR/serve
. "$(dirname "$0")/../_serve.sh"
indexer=$TIDE_BIN/tidemark-indexer
[ -x "$TIDE_BIN/tidemark-sim" ] || { echo "no tidemark-sim"; exit 1; }
serve_start --ledgers 16 --close-ms 0 --lake "$PG_DIR/lake" --deployment "$PG_DIR/deployment.json" || fail "serve"
export TIDEMARK_DEPLOYMENT=$PG_DIR/deployment.json TIDEMARK_RPC=$SERVE_URL TIDEMARK_LAKE=$PG_DIR/lake
export TIDEMARK_API_LISTEN=127.0.0.1:0 TIDEMARK_API_CACHE=$PG_DIR/cache TIDEMARK_CLOCK_SKEW_S=3153600000
mkdir "$PG_DIR/cache"

# doctor CODE [ARGUMENT]…: runs it and expects the exit code. The output is in $PG_DIR/out.
doctor() {
    local want=$1 code=0
    shift
    "$indexer" doctor "$@" >"$PG_DIR/out" 2>"$PG_DIR/err" || code=$?
    [ $code = "$want" ] || fail "exit $code, not $want: $(cat "$PG_DIR/out" "$PG_DIR/err")"
    ! grep -q hush "$PG_DIR/out" "$PG_DIR/err" || fail "a secret is shown: $(grep -h hush "$PG_DIR/out" "$PG_DIR/err")"
}
# finds GRADE CHECK FOUND REMEDY: expects the check's line and the line below it.
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
finds failed roles 'not in this cluster: tidemark_indexer' 'roles.sql'
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
assert told["failed"] == told["warnings"] == 0 and len(told["checks"]) == 21, told
assert told["interrupted"] is False, told
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
doctor 0 --rpc "http://127.0.0.1:1,$SERVE_URL"
finds warning rpc '1 of 2 servers failed: .*http://127.0.0.1:1' 'correct rpc'
TIDEMARK_RPC='' TIDEMARK_LAKE='' doctor 1
finds failed rpc 'no ledger source' 'set rpc, lake or stream'
doctor 1 --lake "$PG_DIR/none"
finds failed lake "$PG_DIR/none" 'correct lake'
mkdir "$PG_DIR/empty"
doctor 0 --lake "$PG_DIR/empty"
finds warning lake 'no ledgers' 'check the path'

echo "a lake on a web server that begins with the protocol"
python3 -u -m http.server -d "$PG_DIR/lake" --bind 127.0.0.1 0 >"$PG_DIR/http" 2>&1 & # -u: else its port stays in a buffer
AWAIT_PID=$! AWAIT_LOG=$PG_DIR/http await "the port of the web server" grep -q 'port [0-9]' "$PG_DIR/http"
web=http://127.0.0.1:$(sed -n 's/.*port \([0-9]*\).*/\1/p' "$PG_DIR/http" | sed -n 1p)
doctor 0 --lake "$web"
grep -q '^ok *lake *ledgers [0-9]* to [0-9]*' "$PG_DIR/out" || fail "$(cat "$PG_DIR/out")"

echo "a stream"
TIDEMARK_LAKE='' TIDEMARK_RPC='' doctor 1 --stream "$PG_DIR/none"
finds failed stream 'No such file' 'correct stream'
doctor 1 --stream "$TIDEMARK_DEPLOYMENT"
finds failed stream 'stands alone' 'unset rpc and lake'

echo "port and cache"
python3 -c 'import socket, sys, time; s = socket.create_server(("127.0.0.1", 0)); open(sys.argv[1], "w").write(str(s.getsockname()[1])); time.sleep(600)' "$PG_DIR/taken" &
AWAIT_PID=$! await "the taken port" test -s "$PG_DIR/taken"
doctor 1 --api-listen "127.0.0.1:$(cat "$PG_DIR/taken")" --http-timeout-ms 2400
finds failed port 'Address already in use' 'choose another api_listen'
doctor 1 --api-listen 192.0.2.1:8080
finds failed port 'Cannot assign' 'an address of this host'
doctor 1 --api-listen localhost
finds failed port 'no address' '127.0.0.1:8080'
doctor 1 --api-cache "$PG_DIR/none/deeper"
finds failed cache 'No such file' 'create the folder'
if unshare -m true 2>/dev/null; then
    full() { # MIB PATH FOLDER: doctor where a volume of that size is mounted at FOLDER
        unshare -m sh -c 'mount -t tmpfs -o size=$1m,mode=777 none "$3" && exec "$4" doctor --api-cache "$2"' sh "$1" "$2" "$3" "$indexer" >"$PG_DIR/out" 2>"$PG_DIR/err"
    }
    mkdir "$PG_DIR/volume"
    ! full 8 "$PG_DIR/volume" "$PG_DIR/volume" || fail "a cache on a full volume: $(cat "$PG_DIR/out")"
    finds failed cache ': 8 MiB are free' 'free space'
    ! full 8 "$PG_DIR/volume/new" "$PG_DIR/volume" || fail "a cache that will be on a full volume: $(cat "$PG_DIR/out")"
    finds failed cache 'makes it): 8 MiB are free' 'free space'
    full 256 "$PG_DIR/volume" "$PG_DIR/volume" || fail "$(cat "$PG_DIR/out" "$PG_DIR/err")"
    finds warning cache ': 256 MiB are free' 'free space'
fi
doctor 0 --api-cache "$PG_DIR/none"
grep -q '^ok *cache .*tidemark-api makes it' "$PG_DIR/out" || fail "$(cat "$PG_DIR/out")"
if python3 -c 'import socket; socket.socket(socket.AF_INET6).bind(("::", 0))' 2>/dev/null; then
    python3 -c 'import socket, sys, time; s = socket.create_server(("0.0.0.0", 0)); open(sys.argv[1], "w").write(str(s.getsockname()[1])); time.sleep(600)' "$PG_DIR/any" &
    AWAIT_PID=$! await "the port taken on every address" test -s "$PG_DIR/any"
    doctor 0 --api-listen "[::]:$(cat "$PG_DIR/any")"
    grep -q '^ok *port .*is free' "$PG_DIR/out" || fail "$(cat "$PG_DIR/out")"
fi
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
for bad in postgresql://u:100%hush@h/db postgresql//u:hush@h/db postgresql://u:a@hush@h/db postgresql://u:7/hush@h/db postgresql://u:hush \
    'host=h password=a hush'; do
    TIDEMARK_DATABASE_URL=$bad doctor 1
    finds failed database 'no URI and no list of key=value' 'correct database_url'
    ! TIDEMARK_DATABASE_URL=$bad "$indexer" status >"$PG_DIR/out" 2>&1 || fail "status accepts $bad"
    ! grep -q hush "$PG_DIR/out" || fail "a secret is shown: $(cat "$PG_DIR/out")"
done
TIDEMARK_DATABASE_URL=$(url postgres) doctor 0
finds warning roles 'as a superuser' 'tidemark_indexer'
TIDEMARK_DATABASE_URL=$(url tidemark_kyc) doctor 1
finds failed grants 'tidemark_kyc does not own chain (owner tidemark_indexer)' 'name the owner'
PGDATABASE=postgres "$PG_BIN/createdb" -E SQL_ASCII -T template0 --locale C latin
TIDEMARK_DATABASE_URL=$(url postgres latin) doctor 1
finds failed encoding 'SQL_ASCII' 'encoding UTF8'
"$PG_BIN/psql" -Xqc "UPDATE pg_database SET datcollversion = '0.7' WHERE datname = 'fresh'"
doctor 0
finds warning collation 'built with version 0.7 of .*, the server has [^ ]*: they may miss rows' 'REINDEX DATABASE'
"$PG_BIN/psql" -Xqc "UPDATE pg_database SET datcollversion = pg_database_collation_actual_version(oid) WHERE datname = 'fresh'" 2>/dev/null
doctor 0
grep -q '^ok *collation ' "$PG_DIR/out" || fail "$(cat "$PG_DIR/out")"
last_key=$(sql "SELECT setval(pg_get_serial_sequence('chain.word', 'id'), 1200000000)")
doctor 0
finds warning words "$last_key keys (55 % of all) are used up, for about [0-9]* words" 'into a new database'
sql "ALTER TABLE chain.word ALTER id RESTART"
doctor 0
grep -q '^ok *words *0 keys' "$PG_DIR/out" || fail "$(cat "$PG_DIR/out")"
sql "GRANT EXECUTE ON FUNCTION pg_try_advisory_lock(integer, integer) TO PUBLIC"
doctor 0
finds warning roles 'every login may take the locks' 'database.sql'
sql "REVOKE EXECUTE ON FUNCTION pg_try_advisory_lock(integer, integer) FROM PUBLIC; REVOKE INSERT ON kyc.session FROM tidemark_kyc"
doctor 1
finds failed grants 'rights are missing: tidemark_kyc on kyc.session' 'CALL kyc.grant_roles'
sql "CALL kyc.grant_roles()"
for schema in event state rollup kyc analyst; do
    case $schema in kyc) role=tidemark_attester ;; analyst) role=tidemark_analyst ;; *) role=tidemark_api ;; esac
    sql "REVOKE USAGE ON SCHEMA $schema FROM $role"
    doctor 1
    finds failed grants "1 rights are missing: $role on schema $schema" 'CALL chain.grant_feeder'
    sql "GRANT USAGE ON SCHEMA $schema TO $role"
done
sql "REVOKE SELECT ON ALL TABLES IN SCHEMA event FROM tidemark_feeder, tidemark_api"
doctor 1
finds failed grants "[0-9]* rights are missing: tidemark_api on event.*" 'CALL chain.grant_feeder'
sql "CALL chain.grant_feeder(); CALL chain.grant_api()"
for table in kyc.outbox kyc.console_session chain.cursor; do
    sql "REVOKE ALL ON $table FROM tidemark_kyc, tidemark_attester, tidemark_console"
    doctor 1
    finds failed grants "rights are missing: .*$table" 'CALL kyc.grant_console'
    sql "CALL kyc.grant_roles(); CALL kyc.grant_console(); CALL chain.grant_feeder(); CALL chain.grant_api()"
done
doctor 0
"$PG_BIN/psql" -Xqc "ALTER ROLE tidemark_console RENAME TO gone"
doctor 1
finds failed roles 'not in this cluster: tidemark_console; their programs cannot log in' 'roles.sql'
"$PG_BIN/psql" -Xqc "ALTER ROLE gone RENAME TO tidemark_console"
for setting in full_page_writes synchronous_commit; do
    echo "$setting = off" >>"$PG_DIR/data/postgresql.conf" # ALTER SYSTEM RESET would not undo a line of this file
    sql "SELECT pg_reload_conf()" >/dev/null
    await "$setting = off" sql_says "current_setting('$setting') = 'off'"
    if [ $setting = synchronous_commit ]; then
        doctor 0
        finds warning durability 'synchronous_commit = off' 'ALTER SYSTEM SET synchronous_commit = on'
    else
        doctor 1
        finds failed durability "$setting = off: a crash" 'ALTER SYSTEM SET each of them = on'
    fi
    sql "ALTER SYSTEM SET $setting = on"
    sql "SELECT pg_reload_conf()" >/dev/null
    await "$setting = on" sql_says "current_setting('$setting') = 'on'"
done
sql "INSERT INTO chain.migration (name, checksum) SELECT '9999_later', checksum FROM chain.migration LIMIT 1"
doctor 1
finds failed migrations '9999_later' 'newer build'
sql "DELETE FROM chain.migration WHERE name = '9999_later'"

echo "inside a unit: systemctl and systemd-run are played, as root, by programs that do what their manuals say"
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
    mkdir -p "$PG_DIR/unit/bin" "$PG_DIR/unit/secrets"
    sed "s|/etc/tidemark/indexer.secrets|$PG_DIR/unit/secrets|; s|/etc/tidemark/tidemark.conf|$PG_DIR/unit/conf|; s|^User=.*|User=$(cluster_user)|
         s|^Environment=.*|Environment=PGHOST=$PG_DIR PGPORT=5432 PGDATABASE=fresh PGUSER=tidemark_indexer|" "$TIDE_SOURCE_DIR/tools/packaging/tidemark-indexer.service" >"$PG_DIR/unit/indexer"
    printf 'deployment = %s\nlake = %s\nclock_skew_s = 3153600000\napi_listen = 127.0.0.1:0\n' "$TIDEMARK_DEPLOYMENT" "$PG_DIR/lake" >"$PG_DIR/unit/conf"
    echo "$SERVE_URL" >"$PG_DIR/unit/secrets/rpc"
    chmod 711 "$PG_DIR/unit"
    printf '#!/bin/sh\ncase "$*" in "cat -- tidemark-"*) exec cat "%s/unit/${3#tidemark-}" 2>/dev/null ;; esac; exit 1\n' "$PG_DIR" >"$PG_DIR/unit/bin/systemctl"
    cat >"$PG_DIR/unit/bin/systemd-run" <<'PY'
#!/usr/bin/env python3
import os, shlex, shutil, subprocess, sys, tempfile
at = sys.argv.index("--")
assert sys.argv[1:5] == ["--quiet", "--pipe", "--wait", "--collect"], sys.argv
environment, user = {"PATH": "/usr/bin:/bin"}, None
for word in sys.argv[5:at]:
    assert word.startswith("--property="), word
    key, value = word[len("--property="):].split("=", 1)
    if key == "User":
        user = value
    elif key == "Environment":
        environment |= dict(pair.split("=", 1) for pair in shlex.split(value))
    elif key == "LoadCredential":
        name, folder = value.split(":", 1)
        given = tempfile.mkdtemp(dir=os.path.dirname(folder))
        for file in os.listdir(folder):
            shutil.copy(f"{folder}/{file}", f"{given}/{name}_{file}")
        subprocess.run(["chown", "-R", user, given], check=True)
        environment["CREDENTIALS_DIRECTORY"] = given
    else:
        sys.exit(f"an unexpected property: {word}")
os.chdir("/")
os.execvpe("setpriv", ["setpriv", f"--reuid={user}", "--clear-groups", *sys.argv[at + 1:]], environment)
PY
    chmod 755 "$PG_DIR/unit/bin"/*
    PATH=$PG_DIR/unit/bin:$PATH doctor 0 --unit tidemark-indexer
    grep -q '^ok *database *fresh, as role tidemark_indexer' "$PG_DIR/out" && grep -q '^ok *rpc *1 server' "$PG_DIR/out" &&
        ! grep -qE '^(warning|failed)' "$PG_DIR/out" || fail "$(cat "$PG_DIR/out")"
    PATH=$PG_DIR/unit/bin:$PATH doctor 0 --unit tidemark-indexer --json
    python3 -m json.tool "$PG_DIR/out" >"$PG_DIR/line" || fail "$(cat "$PG_DIR/out")"
    PATH=$PG_DIR/unit/bin:$PATH doctor 64 --unit tidemark-other
    PATH=$PG_DIR/unit/bin:$PATH doctor 64 --unit 'x; touch /tmp/x'

    echo "inside the API's unit: its login, port and cache, and nothing that only the indexer needs"
    mkdir "$PG_DIR/unit/cache" "$PG_DIR/unit/api.secrets"
    chown "$(cluster_user)" "$PG_DIR/unit/cache"
    sed "s|/etc/tidemark/api.secrets|$PG_DIR/unit/api.secrets|; s|/etc/tidemark/tidemark.conf|$PG_DIR/unit/conf|; s|^User=.*|User=$(cluster_user)|; s|/var/cache/tidemark|$PG_DIR/unit/cache|
         s|^Environment=PG.*|Environment=PGHOST=$PG_DIR PGPORT=5432 PGDATABASE=fresh PGUSER=tidemark_feeder|" "$TIDE_SOURCE_DIR/tools/packaging/tidemark-api.service" >"$PG_DIR/unit/api"
    PATH=$PG_DIR/unit/bin:$PATH doctor 0 --unit tidemark-api
    grep -q '^ok *grants *role tidemark_feeder reads as tidemark_feeder' "$PG_DIR/out" && grep -q "^ok *cache *$PG_DIR/unit/cache" "$PG_DIR/out" &&
        grep -q '^skipped *words *only tidemark-indexer needs it' "$PG_DIR/out" && ! grep -qE '^(warning|failed)' "$PG_DIR/out" || fail "$(cat "$PG_DIR/out")"
    echo "host=$PG_DIR port=5432 dbname=fresh user=tidemark_kyc" >"$PG_DIR/unit/api.secrets/api_database_url"
    chmod 755 "$PG_DIR/unit/cache" && chown root "$PG_DIR/unit/cache"
    PATH=$PG_DIR/unit/bin:$PATH doctor 1 --unit tidemark-api
    finds failed grants 'tidemark_kyc is no member of tidemark_feeder' 'tidemark_feeder'
    finds warning cache 'Permission denied, for this account' 'own the folder'
    cp "$TIDE_SOURCE_DIR/tools/packaging/tidemark-attester.service" "$PG_DIR/unit/attester"
    PATH=$PG_DIR/unit/bin:$PATH doctor 64 --unit tidemark-attester
    grep -q 'runs tidemark-attester; doctor checks tidemark-indexer and tidemark-api' "$PG_DIR/err" || fail "$(cat "$PG_DIR/err")"
    doctor 64 --daemon feeder
else
    echo "only root can take on another account: not tried"
fi

echo "the writer"
"$indexer" run --stop-at-end --rpc '' >"$PG_DIR/run" 2>&1 || fail "run: $(tail -2 "$PG_DIR/run")"
sql "UPDATE chain.lease SET renewed_at = now() - interval '1 hour'"
doctor 0
finds warning writer 'no process writes; ledger [0-9]* is the last' 'tidemark-indexer run'
sql "UPDATE chain.heartbeat SET state = 'frozen', error = 'ledger 7: another network'"
doctor 1
finds failed writer 'frozen at ledger [0-9]*: ledger 7: another network' 'table of faults'
sql "INSERT INTO chain.lease (deployment, writer, instance, writer_pid, writer_started, writer_name, renewed_at) SELECT deployment, gen_random_uuid(), 'x', 0, now(), 'x',
     now() + interval '1 hour' FROM chain.heartbeat ON CONFLICT (deployment) DO UPDATE SET renewed_at = EXCLUDED.renewed_at"
sql "UPDATE chain.heartbeat SET state = 'retrying', error = 'no space'"
doctor 0
finds warning writer 'the database fails at ledger [0-9]*: no space' 'log of the PostgreSQL'

echo "publications that do not send every row"
sql "UPDATE chain.heartbeat SET state = 'following', error = NULL"
published() { # DEFINITION
    "$PG_BIN/psql" -Xqc "DROP PUBLICATION IF EXISTS lake; CREATE PUBLICATION lake $1" 2>/dev/null || fail "publication: $1"
}
leaf=$(sql "SELECT inhrelid::regclass FROM pg_inherits JOIN pg_class AS c ON c.oid = inhrelid WHERE inhparent = 'event_rows.log'::regclass AND c.relkind = 'r' ORDER BY 1 LIMIT 1")
[ -n "$leaf" ] || fail "event_rows.log has no partition"
published "FOR TABLE $leaf"
doctor 0
finds warning publications 'one by one, so later ones are not sent: lake' 'name the partitioned tables'
published "FOR TABLE event_rows.log"
doctor 0
finds warning publications 'a table for each partition' 'publish_via_partition_root'
published "FOR TABLE event_rows.log WITH (publish_via_partition_root, publish = 'insert')"
doctor 0
finds warning publications 'kinds of change are sent: lake' 'whole tables'
published "FOR TABLE event_rows.log WITH (publish_via_partition_root)"
doctor 0
finds warning publications 'keys without the words that they stand for: lake' 'ADD TABLE chain.word'
published "FOR TABLE event_rows.log, chain.word WITH (publish_via_partition_root)"
doctor 0
grep -q '^ok *publications *lake$' "$PG_DIR/out" || fail "$(cat "$PG_DIR/out")"
sql "INSERT INTO chain.partition (deployment, from_ledger, end_ledger, attached, first_loaded, last_loaded) SELECT max(id), 90000000, 90001000, false, 90000000, 90000042 FROM chain.deployment"
doctor 1
finds failed publications 'ledgers 90000000 to 90000042 were loaded before the publication was made.*: lake' 'drop the publication'
sql "DELETE FROM chain.partition WHERE from_ledger = 90000000; DROP PUBLICATION lake"

echo "another network's index in the same database: frozen, and in the future"
sql "UPDATE chain.heartbeat SET state = 'following', error = NULL"
sql "INSERT INTO chain.deployment (passphrase, network_id, epoch, contracts_hash, contracts) SELECT 'Another', sha256('Another'), 0, contracts_hash, contracts
     FROM chain.deployment LIMIT 1;
   INSERT INTO chain.cursor (deployment, ledger, hash, closed_at) SELECT max(id), 9, sha256(''), now() + interval '200 years' FROM chain.deployment;
   INSERT INTO chain.heartbeat (deployment, state, instance, error) SELECT max(id), 'frozen', 'x', 'theirs' FROM chain.deployment"
doctor 0
grep -q '^ok *writer *following' "$PG_DIR/out" && grep -q '^ok *clock' "$PG_DIR/out" || fail "$(cat "$PG_DIR/out")"

echo "interrupted, or without the server in the middle"
python3 -c 'import socket, sys, time; s = socket.create_server(("127.0.0.1", 0)); open(sys.argv[1], "w").write(str(s.getsockname()[1])); c = s.accept(); open(sys.argv[2], "w"); time.sleep(600)' "$PG_DIR/silent" "$PG_DIR/asked" &
AWAIT_PID=$! await "the port of the silent server" test -s "$PG_DIR/silent"
silent=http://127.0.0.1:$(cat "$PG_DIR/silent")
"$indexer" doctor --json --rpc "$silent" >"$PG_DIR/out" 2>"$PG_DIR/err" &
pid=$!
AWAIT_PID=$pid AWAIT_LOG=$PG_DIR/err await "the question to the silent server" test -e "$PG_DIR/asked"
kill -INT $pid
code=0
wait $pid || code=$?
[ $code = 1 ] && grep -q 'interrupted after [0-9]* of 21' "$PG_DIR/err" && grep -q '"interrupted":true' "$PG_DIR/out" ||
    fail "exit $code: $(cat "$PG_DIR/out" "$PG_DIR/err")"
"$PG_BIN/psql" -Xqc "BEGIN; LOCK chain.migration; SELECT pg_sleep(600)" 2>/dev/null &
await "the lock" sql_says "count(*) = 1 FROM pg_locks WHERE relation = 'chain.migration'::regclass AND mode = 'AccessExclusiveLock' AND granted"
doctor 1 --db-silence-ms 1000
finds failed migrations 'database' 'restarted, or did not answer'
[ "$(grep -c '^skipped .*needs the database; the connection was lost' "$PG_DIR/out")" = 9 ] || fail "$(cat "$PG_DIR/out")"
sql "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE '%LOCK chain.migration%' AND pid <> pg_backend_pid()" >/dev/null

echo "a server without fsync"
pg_stop immediate
PG_OPTIONS=()
pg_again
doctor 1
finds failed durability 'fsync = off: a crash' 'restore a backup'
serve_stop || fail "serve: exit $?"
echo ok
