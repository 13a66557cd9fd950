#!/usr/bin/env bash
# Proves that old data never counts as fresh, because the age of an answer comes from the indexer: a late
# standby, a killed indexer, one whose source is away, and a wall clock that was set back. /api/stream reports staleness too.
# label: all
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../_pg.sh"
. "$here/../_rpc.sh"
[ -x "$TIDE_BIN/tidemark-api" ] || { echo "no tidemark-api"; exit 1; }
pg_start
standby=$PG_DIR/standby
PG_AT_EXIT="cluster_down $standby immediate"
serve one --ledgers 40 --txs 8 --seed 8 --close-ms 500 --wall-clock
export TIDEMARK_DEPLOYMENT=$PG_DIR/one/deployment.json TIDEMARK_API_DRAIN_MS=0 TIDEMARK_STALE_AFTER_MS=4000
index() { "$TIDE_BIN/tidemark-indexer" run --rpc "$one_url" --lake "$PG_DIR/one/lake" --poll-ms 50 2>>"$PG_DIR/indexer.log" & indexer=$!; }
index
reached() { [ "$(sql "SELECT coalesce(max(ledger), 0) FROM chain.cursor" 2>/dev/null || echo 0)" -ge "$1" ]; }
within 60 reached 1063 || fail "indexer: $(tail -n 3 "$PG_DIR/indexer.log")"

pg_standby "$standby"
on_standby() { PGHOST=$standby sql "$1"; }

clocks=
[ ! -e "$TIDE_BIN/libwall_clock.so" ] || clocks=$TIDE_BIN/libwall_clock.so
node() { # NAME DATABASE_HOST: an API process with a cache and a wall clock of its own; its process in $node_pid
    local name=$1
    rm -f "$PG_DIR/$name.port"
    LD_PRELOAD=$clocks TIDE_WALL_FILE=$PG_DIR/$name.shift TIDEMARK_DATABASE_URL="host=$2 port=5432 user=postgres dbname=tidemark" \
        "$TIDE_BIN/tidemark-api" --api-listen 127.0.0.1:0 --api-port-file "$PG_DIR/$name.port" --api-cache "$PG_DIR/cache_$name" 2>>"$PG_DIR/$name.log" &
    node_pid=$!
    within 60 test -s "$PG_DIR/$name.port" || fail "$name: $(tail -n 3 "$PG_DIR/$name.log")"
}
who=GA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVSGZ
url() { echo "http://127.0.0.1:$(cat "$PG_DIR/$1.port")$2"; }
code() { curl -s -m 5 -o "$PG_DIR/body" -D "$PG_DIR/head" -w '%{http_code}' "$(url "$1" "$2")"; }
age() { code "$1" "$2" >/dev/null; tr -d '\r' <"$PG_DIR/head" | sed -n 's/^Data-Age-Ms: //Ip'; }
answers() { [ "$(code "$1" "/api/sdk/kyc/status/$who")" = 200 ] && [ "$(code "$1" /api/prices)" = 200 ] && [ "$(code "$1" /readyz)" = 200 ]; }
refuses() { # every hot answer is 503 stale, and the node is not ready for that
    [ "$(code "$1" "/api/sdk/kyc/status/$who")" = 503 ] && grep -q '"stale"' "$PG_DIR/body" &&
        [ "$(code "$1" /api/prices)" = 503 ] && [ "$(code "$1" /readyz)" = 503 ] && grep -q '"fresh":false' "$PG_DIR/body"
}
fresh() { within 20 answers "$1" || fail "$2: $1 is not fresh: $(cat "$PG_DIR/body")"; }
stale() { within 20 refuses "$1" || fail "$2: $1 is not stale: $(cat "$PG_DIR/body")"; }
stays_stale() { for _ in $(seq 10); do refuses "$1" || fail "$2: $1 is fresh: $(cat "$PG_DIR/body")"; sleep 0.1; done; }
streams() { curl -s "$(url "$1" /readyz)" | grep '"stream":"ok"' >/dev/null; } # it opens a connection of its own
listen() { within 20 streams "$1" || fail "no stream"; curl -sN "$(url "$1" "/api/stream?topics=ledger,compliance&addresses=$who")" >"$PG_DIR/$1.stream" & }
heard() { grep -q "$2" "$PG_DIR/$1.stream"; }

node primary "$PG_DIR"
node replica "$standby"
fresh primary start
fresh replica start
listen primary
listen replica
within 20 heard replica '"compliant"' || fail "no standing: $(cat "$PG_DIR/replica.stream")"

code replica /readyz >/dev/null
grep -q '"server":{"standby":true,"lagMs":[0-9]*}' "$PG_DIR/body" || fail "readyz over a standby: $(cat "$PG_DIR/body")"
code primary /readyz >/dev/null
grep -q '"server":{"standby":false,"lagMs":[0-9]*}' "$PG_DIR/body" || fail "readyz over the primary: $(cat "$PG_DIR/body")"
curl -s "$(url replica /metrics)" | grep -x 'tidemark_cache_from_standby 1' >/dev/null || fail "metrics over a standby"

on_standby "SELECT pg_wal_replay_pause()" >/dev/null
stale replica "replay paused"
grep -q '"stale"' "$PG_DIR/body" || fail "readyz: $(cat "$PG_DIR/body")"
within 10 heard replica '"reason":"indexer"' || fail "the stream says nothing: $(tail -n 5 "$PG_DIR/replica.stream")"
late=$(sed -n 's/.*"server":{"standby":true,"lagMs":\([0-9]*\)}.*/\1/p' "$PG_DIR/body")
[ "${late:-0}" -gt 4000 ] || fail "readyz of a late replica: $(cat "$PG_DIR/body")"
[ "$(age replica /api/ledgers)" -gt 4000 ] || fail "a query of a late replica is $(cat "$PG_DIR/head")"
answers primary || fail "the primary's node is stale with the replica"
heard primary 'event: stale' && fail "the primary's stream is stale"
echo "ok a late replica is stale and says so, in answers, headers, /readyz and the stream"
if [ -n "$clocks" ]; then
    echo -3600 >"$PG_DIR/replica.shift"
    stays_stale replica "the node of the late replica has its clock set back"
    echo "ok its clock set back: still stale"
    rm "$PG_DIR/replica.shift"
fi
on_standby "SELECT pg_wal_replay_resume()" >/dev/null
fresh replica "replay resumed"
within 10 heard replica 'event: fresh' || fail "the stream stays stale"

if [ -n "$clocks" ]; then
    echo 3600 >"$PG_DIR/primary.shift"
    for _ in $(seq 5); do [ "$(code primary /api/prices)" = 200 ] || fail "a node ahead: $(cat "$PG_DIR/body")"; sleep 0.1; done
    rm "$PG_DIR/primary.shift"
    echo "ok a node whose clock is ahead, over the primary: still fresh"
fi

kill -KILL $indexer
wait $indexer 2>/dev/null || true
stale primary "indexer killed"
stale replica "indexer killed"
[ "$(code primary /api/ledgers)" = 200 ] || fail "a query: $(cat "$PG_DIR/body")"
within 10 heard primary '"reason":"indexer"' || fail "the stream says nothing: $(tail -n 5 "$PG_DIR/primary.stream")"
echo "ok the indexer killed, the database alive: stale"
if [ -n "$clocks" ]; then
    echo -86400 >"$PG_DIR/primary.shift"
    stays_stale primary "the node's clock is set back"
    kill -TERM $node_pid
    wait $node_pid || fail "exit $?"
    mv "$PG_DIR/primary.shift" "$PG_DIR/again.shift"
    node again "$PG_DIR" # a first start, an empty cache
    stale again "first start under a clock that is a day late"
    stays_stale again "first start under a clock that is a day late"
    echo "ok the clock a day back: still stale, on a node that starts as well"
fi
index
fresh primary "indexer back"
within 10 heard primary 'event: fresh' || fail "the stream stays stale"
echo "ok the indexer back: fresh"

curl -sf -d '*=close:before' "$one_url/faults" >/dev/null
stale primary "the indexer alive, and its source away"
[ "$(sql "SELECT clock_timestamp() - renewed_at < interval '3 s' FROM chain.lease")" = t ] || fail "the indexer does not live"
curl -sf -X DELETE "$one_url/faults" >/dev/null
fresh primary "the source back"
echo "ok a lease of an indexer that neither commits nor is at the tip keeps nothing fresh"
