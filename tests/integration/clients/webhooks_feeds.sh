#!/usr/bin/env bash
# Webhooks about more feeds than the watcher reads in one page: it checks all of them.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../_pg.sh"
. "$here/../_api.sh"
[ -x "$TIDE_BIN/tidemark-api" ] || { echo "no tidemark-api"; exit 1; }
pg_start
api_index 64
pg_writable
api_feeds 4500
PATH="$TIDE_BIN:$PATH" timeout 300 python3 "$here/_webhooks_feeds.py" "$PG_DIR" || fail "see above: $(tail -qn 2 "$PG_DIR"/one.log)"
