#!/usr/bin/env bash
# Reads GET /api/stream from two API nodes that follow a simulated network. The stream has exactly PostgreSQL's
# events, each once and in order, although connections are cut and nodes and the database restart. Fault A15. By hand:
# TIDE_STREAMS=5000 TIDE_STREAM_S=120.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../_pg.sh"
. "$here/../_rpc.sh"
. "$here/../_api.sh"
[ -x "$TIDE_BIN/tidemark-api" ] || { echo "no tidemark-api"; exit 1; }
ulimit -n "$(ulimit -Hn)"
count=${TIDE_STREAMS:-300} seconds=${TIDE_STREAM_S:-6}
pg_start
export ASAN_OPTIONS=detect_leaks=0 SEED=8
serve one --ledgers 40 --txs 4 --seed $SEED --close-ms 1100 --wall-clock
export SIM_URL=$one_url TIDEMARK_DEPLOYMENT=$PG_DIR/one/deployment.json
"$TIDE_BIN/tidemark-indexer" run --rpc "$one_url" --lake "$PG_DIR/one/lake" --poll-ms 50 --retry-ms-max 300 2>"$PG_DIR/indexer.log" &
reached() { [ "$(sql "SELECT coalesce(max(ledger), 0) FROM chain.cursor" 2>/dev/null || echo 0)" -ge "$1" ]; }
within 300 reached 1063 || fail "indexer: $(tail -n 3 "$PG_DIR/indexer.log")"
export FIRST=1024 PG_BIN PG_DIR
export TIDEMARK_API_DATABASE_URL="$TIDEMARK_DATABASE_URL options='-c role=tidemark_feeder'" # what the API may read, and no more

node() { # NAME: an API process with a cache of its own; its process in $node_pid
    local name=$1
    rm -f "$PG_DIR/$name.port"
    "$TIDE_BIN/tidemark-api" --api-listen 127.0.0.1:0 --api-port-file "$PG_DIR/$name.port" --api-cache "$PG_DIR/cache_$name" \
        --compliance-age-s 0 --api-drain-ms 0 --api-rate-lookup 0 --api-rate-query 0 \
        --api-connections-per-ip $((8 * count)) --api-stream-kib 16 --api-idle-ms 9000 2>>"$PG_DIR/$name.log" &
    node_pid=$!
    within 300 ready "$name" || fail "$name: $(tail -n 3 "$PG_DIR/$name.log")"
}
ready() { [ -s "$PG_DIR/$1.port" ] && curl -fs -o /dev/null "http://127.0.0.1:$(cat "$PG_DIR/$1.port")/readyz"; }
node api
api=$node_pid
node api2

disturb() { # the nodes and the database go and come back while clients read
    within 300 test -e "$PG_DIR/reading"
    sleep 1
    kill -TERM "$api"
    wait "$api" || fail "the API ended with $?: $(tail -n 3 "$PG_DIR/api.log")"
    node api
    sleep 1
    pg_stop immediate
    sleep 2.5
    pg_again
    sleep 2
    kill -KILL "$node_pid"
    wait "$node_pid" 2>/dev/null || true
    node api
    touch "$PG_DIR/disturbed"
}
"$here/_stream.py" exact="$seconds" & reader=$!
disturb
wait "$reader" || exit 1
"$here/_stream.py" refusals filters lapse slow ${TIDE_LONG:+many="$count"}
kill -TERM "$node_pid"
wait "$node_pid" || fail "the API ended with $?: $(tail -n 3 "$PG_DIR/api.log")"
