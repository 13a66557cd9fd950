#!/usr/bin/env bash
# Makes the check of the cache's file hang, by holding a lock on the file. SIGTERM and the watchdog do not wait for
# the check. The child process that runs it holds no descriptor of the API and dies with the API. The test does this
# at the start, and when another process switches the generation under a running API.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../_pg.sh"
. "$here/../_api.sh"
[ -x "$TIDE_BIN/tidemark-api" ] || { echo "no tidemark-api"; exit 1; }
pg_start
api_index 64
export FIRST=1024 PG_BIN PG_DIR
timeout 200 python3 "$here/_hot_check.py" "$TIDE_BIN/tidemark-api" || fail "$(tail -n 5 "$PG_DIR"/api*.log)"
