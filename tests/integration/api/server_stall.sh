#!/usr/bin/env bash
# label: all
# Stalls a thread of libmicrohttpd in tidemark-api: the program detects it, cuts the thread's connections and exits
# with 80. A stop does not wait for the thread.
# needs: no sanitizer
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../_pg.sh"
. "$here/../_api.sh"
[ -x "$TIDE_BIN/tidemark-api" ] || { echo "no tidemark-api"; exit 1; }
command -v python3 >/dev/null || { echo "no python3"; exit 1; }
pg_start
api_index 64
api_start # builds the cache, which the processes of the test share
api_stop || fail "exit code $?"
timeout 200 python3 "$here/_server_stall.py" "$TIDE_BIN" "$PG_DIR" || fail "see above"
