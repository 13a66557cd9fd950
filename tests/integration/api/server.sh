#!/usr/bin/env bash
# Tests tidemark-api against hostile clients: faults A1-A5, A8-A10, A12 and A13, its headers and limits.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../_pg.sh"
. "$here/../_api.sh"
[ -x "$TIDE_BIN/tidemark-api" ] || { echo "no tidemark-api"; exit 1; }
command -v python3 >/dev/null || { echo "no python3"; exit 1; }
pg_start
api_index 64
try() { # WHAT option…
    local what=$1
    shift
    api_start "$@"
    timeout 300 python3 "$here/_server.py" "$API_PORT" "$API_PID" "$what" || fail "$what: $(tail -3 "$PG_DIR/api.log")"
    kill -0 "$API_PID" || fail "$what: it died: $(tail -3 "$PG_DIR/api.log")"
    api_stop || fail "$what: exit code $?: $(tail -3 "$PG_DIR/api.log")"
}
try limits --api-idle-ms 1500 --api-connections-per-ip 0 --api-rate-lookup 0 --api-rate-query 0
try answered --api-idle-ms 6000 --api-connections-per-ip 0 --api-rate-lookup 0 --api-rate-query 0
try small --api-connections 200 --api-connections-per-ip 60 --api-answers-mib 32 --api-idle-ms 180000 --api-rate-lookup 0
try rate --api-rate-lookup 100 --api-rate-query 50 --api-proxies 127.0.0.9,192.0.2.0/24 \
    --api-idle-ms 60000
export PG_BIN
try shares --api-connections-per-ip 0 --api-rate-lookup 0 --api-rate-query 0 --api-answers-mib 32 --api-proxies 127.0.0.14
if [ -n "${TIDE_LONG:-}" ]; then # more feeds and catalog entries than a page holds
    pg_writable
    api_feeds 1100
    python3 "$here/_server.py" 0 0 plant || fail "no entries of catalogs"
    rm -rf "$PG_DIR/cache"
    try feeds --api-rate-lookup 0 --api-rate-query 0
    try assets --api-rate-lookup 0 --api-rate-query 0
fi
! grep -E 'S[A-Z2-7]{55}' "$PG_DIR/api.log" || fail "a seed in the log"
