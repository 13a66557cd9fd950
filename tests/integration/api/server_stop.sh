#!/usr/bin/env bash
# Stops and replaces tidemark-api under load (A16), and stops it without its database (A11): every request that the
# server accepted gets an answer. (label: threads)
# label: all
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../_pg.sh"
. "$here/../_api.sh"
[ -x "$TIDE_BIN/tidemark-api" ] || { echo "no tidemark-api"; exit 1; }
command -v python3 >/dev/null || { echo "no python3"; exit 1; }
pg_start
api_index 64
free=(--api-connections-per-ip 0 --api-rate-lookup 0 --api-rate-query 0 --api-sql-threads 16) # a client may have a quarter of the queue
load() { # SECONDS, once it is under way
    python3 "$here/_load.py" "$API_PORT" 24 "$1" >"$PG_DIR/load.out" 2>"$PG_DIR/load.err" & LOAD=$!
    for _ in $(seq 600); do grep -q 'under way' "$PG_DIR/load.out" && break; sleep 0.1; done
}
loaded() { # what must not have happened
    wait $LOAD || fail "load: $(cat "$PG_DIR/load.err")"
    echo "$1: $(cat "$PG_DIR/load.out")"
    grep -qE "^served [0-9]{3,} $2" "$PG_DIR/load.out" || fail "$1: $(cat "$PG_DIR/load.out" "$PG_DIR/load.err")"
}

for round in 1 2 3; do
    api_start "${free[@]}"
    load 2.5
    sleep 0.4
    api_stop || fail "round $round: exit code $?: $(tail -3 "$PG_DIR/api.log")"
    loaded "stopped under load" "refused [0-9]+ failed 0"
done

echo "one beside the other, then the first goes"
api_start "${free[@]}"
first=$API_PID
load 6
api_start --api-listen "127.0.0.1:$API_PORT" "${free[@]}"
sleep 0.5
kill -TERM "$first"
wait "$first" || fail "the first: exit code $?"
loaded "replaced under load" "refused 0 failed 0"

api_stop || fail "exit code $?"
api_start --api-drain-ms 8000 "${free[@]}"
(kill -TERM "$API_PID")
for _ in $(seq 40); do [ "$(curl -s -o "$PG_DIR/ready" -w '%{http_code}' "$API_URL/readyz")" = 503 ] && break; sleep 0.1; done
[ "$(curl -s -o "$PG_DIR/ready" -w '%{http_code}' "$API_URL/readyz")" = 503 ] || fail "ready while it drains"
grep -q '"draining"' "$PG_DIR/ready" || fail "readyz: $(cat "$PG_DIR/ready")"
[ "$(curl -s -o "$PG_DIR/health" -w '%{http_code}' "$API_URL/healthz")" = 200 ] || fail "not alive while it drains"
wait "$API_PID" || fail "drained: exit code $?"
echo "drained: not ready, alive, exit 0"

api_follow
api_start --stale-after-ms 8000 "${free[@]}"
code() { curl -s -m 10 -o "$PG_DIR/body" -D "$PG_DIR/head" -w '%{http_code}' "$API_URL$1"; }
kyc=/api/sdk/kyc/status/GA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVSGZ
[ "$(code $kyc)" = 200 ] && [ "$(code /api/ledgers)" = 200 ] || fail "A11: $(cat "$PG_DIR/body")"
pg_stop immediate
sleep 1
[ "$(code $kyc)" = 200 ] || fail "A11 cached: $(cat "$PG_DIR/body")"
[ "$(code /api/ledgers)" = 503 ] && grep -qi '^Retry-After: ' "$PG_DIR/head" || fail "A11 query: $(cat "$PG_DIR/head" "$PG_DIR/body")"
for _ in $(seq 100); do [ "$(code /readyz)" = 503 ] && break; sleep 0.1; done
[ "$(code /healthz)" = 200 ] && [ "$(code /readyz)" = 503 ] && grep -q '"database":false' "$PG_DIR/body" || fail "A11 ready: $(cat "$PG_DIR/body")"
for _ in $(seq 100); do [ "$(code $kyc)" = 503 ] && break; sleep 0.1; done
[ "$(code $kyc)" = 503 ] && grep -q '"stale"' "$PG_DIR/body" && grep -qi '^Retry-After: ' "$PG_DIR/head" || fail "A11 stale: $(cat "$PG_DIR/body")"
pg_again
for _ in $(seq 600); do [ "$(code /readyz)" = 200 ] && [ "$(code /api/ledgers)" = 200 ] && break; sleep 0.1; done
[ "$(code $kyc)" = 200 ] && [ "$(code /api/ledgers)" = 200 ] && [ "$(code /readyz)" = 200 ] || fail "A11 back: $(cat "$PG_DIR/body")"
api_stop || fail "A11: exit code $?"
echo "ok A11 database away: cached answers, then 503 stale; queries 503 with Retry-After; back again by itself"
