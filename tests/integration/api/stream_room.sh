#!/usr/bin/env bash
# Reads /api/stream with more feeds than a buffer or a page holds. With each size of the buffers from the minimum on,
# every subscriber gets the prices and standings that the API answers, each once. Also with slow readers, readers that
# are cut off, and more readers than the memory of all buffers allows.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../_pg.sh"
. "$here/../_api.sh"
[ -x "$TIDE_BIN/tidemark-api" ] || { echo "no tidemark-api"; exit 1; }
pg_start
api_index 64
pg_writable
api_feeds 1100
export FIRST=1024 PG_BIN PG_DIR SIM_URL=
for room in 16:1 256:1 ${TIDE_LONG:+64:1 4096:8}; do # KiB of a buffer, MiB of all
    api_start --api-rate-lookup 0 --api-rate-query 0 --api-stream-kib "${room%:*}" --api-streams-mib "${room#*:}"
    timeout 300 "$here/_stream.py" present="${room%:*}" || fail "buffers of ${room%:*} KiB: $(tail -3 "$PG_DIR/api.log")"
    api_stop || fail "the API ended with $?: $(tail -3 "$PG_DIR/api.log")"
done
