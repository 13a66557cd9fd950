#!/usr/bin/env bash
# Several deployments in one database, and networks that are reset under a running API. The API serves the old epoch,
# stale by the usual rule, until the new one is ready, then switches without a restart. Processes of different
# deployments never share a port.
# label: all
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../_pg.sh"
. "$here/../_rpc.sh"
[ -x "$TIDE_BIN/tidemark-api" ] || { echo "no tidemark-api"; exit 1; }
indexer=$TIDE_BIN/tidemark-indexer
pg_start
export TIDEMARK_API_DRAIN_MS=0 TIDEMARK_STALE_AFTER_MS=5000 TIDEMARK_COMPLIANCE_AGE_S=0 TIDEMARK_CLOCK_SKEW_S=3153600000
chain() { # NAME [option]…: the ledgers of a network
    local name=$1
    shift
    "$TIDE_BIN/tidemark-sim" write --lake "$PG_DIR/$name/lake" --deployment "$PG_DIR/$name/deployment.json" --ledgers 64 --txs 6 --quiet "$@"
}
chain first --seed 5
chain again --seed 5 --start-time 1777225600 # the network was reset: same addresses, another past
chain moved --seed 6 --start-time 1787225600 # and again: other addresses
chain other --seed 7 --passphrase "Another Network ; 2026"
index() { # NAME [option]…: an indexer that follows that network; its process in $indexing
    local name=$1
    shift
    "$indexer" run --lake "$PG_DIR/$name/lake" --deployment "$PG_DIR/$name/deployment.json" "$@" 2>>"$PG_DIR/indexer.log" & indexing=$!
}
end() { # CHILD: stops it well
    kill -TERM "$1"
    wait "$1" || fail "exit $?: $(tail -n 3 "$PG_DIR"/*.log)"
}
node() { # NAME [option]…: an API process with a cache of its own; its process in $node_pid
    local name=$1
    shift
    rm -f "$PG_DIR/$name.port"
    TIDEMARK_API_LISTEN=${LISTEN:-127.0.0.1:0} TIDEMARK_API_CACHE=${CACHE:-$PG_DIR/cache_$name} "$TIDE_BIN/tidemark-api" --api-port-file "$PG_DIR/$name.port" "$@" 2>>"$PG_DIR/$name.log" &
    node_pid=$!
    within 120 test -s "$PG_DIR/$name.port" || fail "$name does not start: $(tail -n 3 "$PG_DIR/$name.log")"
}
code() { curl -s -m 5 -o "$PG_DIR/body" -w '%{http_code}' "http://127.0.0.1:$(cat "$PG_DIR/$1.port")$2"; }
ready() { [ "$(code "$1" /readyz)" = 200 ]; }
serves() { # NAME EPOCH FRESH: the answers of cache and database are that epoch's
    [ "$(code "$1" /api/coverage)" = 200 ] && grep -q "\"networkEpoch\":$2[,}]" "$PG_DIR/body" || return 1
    [ "$(code "$1" /api/prices)" = "$3" ] || return 1
    [ "$3" != 200 ] || grep -q "\"closedAt\":\"$4" "$PG_DIR/body"
}
soon() { within 120 serves "$@" || fail "not served: $*: $(code "$1" /api/coverage) $(cat "$PG_DIR/body") $(tail -n 3 "$PG_DIR/$1.log")"; }
# Close times of the three chains begin with these years and months.
old=2026-01 new=2026-04 moved=2026-08

cp "$PG_DIR/first/deployment.json" "$PG_DIR/served.json"
"$indexer" migrate >"$PG_DIR/migrate.log" 2>&1 || fail "$(cat "$PG_DIR/migrate.log")"
index first
node api --deployment "$PG_DIR/served.json"
api=$node_pid
within 120 ready api || fail "not ready: $(cat "$PG_DIR/body")"
soon api 0 200 $old
streams() { curl -fs "http://127.0.0.1:$(cat "$PG_DIR/api.port")/readyz" | grep '"stream":"ok"' >/dev/null; }
within 60 streams || fail "no stream: $(tail -n 3 "$PG_DIR/api.log")"
curl -sN "http://127.0.0.1:$(cat "$PG_DIR/api.port")/api/stream" >"$PG_DIR/stream" &

end $indexing
"$indexer" reset --confirm --deployment "$PG_DIR/served.json" >/dev/null
soon api 0 503
grep -q '"stale"' "$PG_DIR/body" || fail "the old epoch: $(cat "$PG_DIR/body")"
node alone # without a file, beside an epoch that is empty
soon alone 0 503
node named --deployment "$PG_DIR/served.json"
soon named 0 503
end $node_pid
echo "ok after a reset processes start, and serve the old epoch as stale"

index again
soon api 1 200 $new
kill -0 $api || fail "the API ended"
within 20 grep -q '"reason":"deployment"' "$PG_DIR/stream" || fail "the stream: $(tail -n 3 "$PG_DIR/stream")"
soon alone 1 200 $new
echo "ok the new epoch is ready: a running process switches to it, with its stream"

end $indexing
"$indexer" reset --confirm --deployment "$PG_DIR/served.json" >/dev/null
index moved
reached() { [ "$(sql "SELECT count(*) FROM chain.deployment_state WHERE epoch = 2 AND ready")" = 1 ]; }
within 120 reached || fail "$(tail -n 3 "$PG_DIR/indexer.log")"
soon api 1 503 # its file names addresses that the new epoch has not
echo '{' >"$PG_DIR/served.json"
kill -HUP $api
within 60 grep -q deployment.kept "$PG_DIR/api.log" || fail "a damaged file was taken"
soon api 1 503
cp "$PG_DIR/moved/deployment.json" "$PG_DIR/served.json"
kill -HUP $api
soon api 2 200 $moved
kill -0 $api || fail "the API ended"
echo "ok other addresses: the file is replaced and read again, then the new epoch is served"

moved_indexer=$indexing
index other
node other --deployment "$PG_DIR/other/deployment.json"
other=$node_pid
soon other 0 200 $old
grep -q 'Another Network' <<<"$(code other /api/coverage >/dev/null; cat "$PG_DIR/body")" || fail "another network's: $(cat "$PG_DIR/body")"
soon api 2 200 $moved
node none
within 60 grep -q 'say which with --deployment' "$PG_DIR/none.log" || fail "it chose by itself: $(tail -n 3 "$PG_DIR/none.log")"
ready none && fail "ready without a choice"
end $node_pid
CACHE=$PG_DIR/cache_api node intruder --deployment "$PG_DIR/other/deployment.json"
within 60 serves intruder 0 503 || fail "another deployment's cache: $(cat "$PG_DIR/body")"
ready intruder && fail "ready with another deployment's cache"
grep -q no_cache "$PG_DIR/body" || fail "readyz: $(cat "$PG_DIR/body")"
end $node_pid
echo "ok two deployments in one database, each with its API and its cache"

port=$(cat "$PG_DIR/api.port")
refused() { # WHAT [option]…
    local what=$1 status=0
    shift
    timeout 20 "$TIDE_BIN/tidemark-api" --api-cache "$PG_DIR/cache_new" "$@" 2>"$PG_DIR/refused.log" || status=$?
    [ $status = 68 ] || fail "$what: exit $status: $(tail -n 3 "$PG_DIR/refused.log")"
    grep -q "port $port serves another deployment" "$PG_DIR/refused.log" || fail "$what: $(tail -n 3 "$PG_DIR/refused.log")"
}
refused "another deployment" --api-listen "127.0.0.1:$port" --deployment "$PG_DIR/other/deployment.json"
refused "another deployment, every address" --api-listen "0.0.0.0:$port" --deployment "$PG_DIR/other/deployment.json"
PGDATABASE=postgres "$PG_BIN/createdb" elsewhere
elsewhere="host=$PG_DIR port=5432 user=postgres dbname=elsewhere"
TIDEMARK_DATABASE_URL=$elsewhere "$indexer" run --lake "$PG_DIR/moved/lake" --deployment "$PG_DIR/moved/deployment.json" --stop-at-end 2>>"$PG_DIR/indexer.log"
TIDEMARK_DATABASE_URL=$elsewhere refused "another database" --api-listen "127.0.0.1:$port" --deployment "$PG_DIR/moved/deployment.json"
within 60 ready api || fail "the first is not ready: $(cat "$PG_DIR/body")"
LISTEN=127.0.0.1:$port CACHE=$PG_DIR/cache_api node second --deployment "$PG_DIR/moved/deployment.json"
end $api
soon second 2 200 $moved # it feeds the cache now
echo "ok a port is shared by processes of one deployment and database, and by no others"
end $node_pid
end $other
