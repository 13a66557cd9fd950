#!/usr/bin/env bash
# A1 at full size: 10 000 connections of several addresses, idle and active. The server accepts them all and answers
# further ones 503 at once. It answers the open ones, /healthz too, and its memory is bounded. When they close, others
# can connect. TIDE_CONNECTIONS sets a lower number. If the system allows fewer descriptors, the test opens and prints
# that number.
# label: all
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../_pg.sh"
. "$here/../_api.sh"
[ -x "$TIDE_BIN/tidemark-api" ] || { echo "no tidemark-api"; exit 1; }
command -v python3 >/dev/null || { echo "no python3"; exit 1; }
wanted=${TIDE_CONNECTIONS:-10000}
ulimit -n "$(ulimit -Hn)"
most=$(ulimit -n)
if [ "$most" != unlimited ] && [ "$most" -lt $((wanted + 500)) ]; then
    echo "only $most descriptors are allowed: $((most - 500)) connections instead of $wanted"
    wanted=$((most - 500))
fi
[ "$wanted" -ge 500 ] || { echo "skipped: too few descriptors are allowed"; exit 77; }
pg_start
api_index 64
api_start --api-connections "$wanted" --api-connections-per-ip 0 --api-rate-lookup 0 --api-idle-ms 360000
timeout 120 python3 "$here/_server_full.py" "$API_PORT" "$API_PID" "$wanted" || fail "$(tail -3 "$PG_DIR/api.log")"
api_stop || fail "the API ended with $?: $(tail -3 "$PG_DIR/api.log")"
