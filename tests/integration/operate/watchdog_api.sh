#!/usr/bin/env bash
# systemd's watchdog and the API: the API signals it while all threads make progress, and not while the process is
# paused. The API announces a stop at once.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../_pg.sh"
pg_start
. "$here/../_faults.sh"
. "$here/../_api.sh"
. "$here/../_notify.sh"
export ASAN_OPTIONS=detect_leaks=0 WATCHDOG_USEC=4000000
[ -x "$TIDE_BIN/tidemark-sim" ] || { echo "no tidemark-sim"; exit 1; }
api_index 32
notify_up api
export NOTIFY_SOCKET=$PG_DIR/api.socket
api_start
wait_for "$PG_DIR/api.heard" READY=1
pings api 4
kill -STOP "$API_PID"
fires api "the process is stopped"
kill -CONT "$API_PID"
pings api 2
pg_stop immediate
pings api 4
[ "$(count api FIRED)" = 1 ] || fail "the watchdog fired while the database is away"
! grep -q STOPPING "$PG_DIR/api.heard" || fail "told too early"
api_stop || fail "SIGTERM: exit $?: $(tail -3 "$PG_DIR/api.log")"
wait_for "$PG_DIR/api.heard" STOPPING=1
[ "$(count api STOPPING=1)" = 1 ] || fail "STOPPING=1: $(count api STOPPING=1)"
