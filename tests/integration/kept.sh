#!/usr/bin/env bash
# An index made with --only: what it does not keep is refused, never told as if there were none. Tables
# are taken out of a whole index one group after the other; each route answers as before, byte for byte,
# or 503 incomplete. TIDE_EACH=1: every table alone, by hand.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/_pg.sh"
. "$here/_api.sh"
[ -x "$TIDE_BIN/tidemark-api" ] && [ -x "$TIDE_BIN/tidemark-sim" ] || { echo "skipped: programs not built"; exit 77; }
pg_start
export PG_BIN PG_DIR
api_index "${TIDE_LEDGERS:-256}"
"$here/_kept.py" names || fail "names"
api_start --api-rate-lookup 0 --api-rate-query 0 --stale-after-ms 600000
"$here/_kept.py" routes "$API_PORT" || fail "routes"
api_stop || fail "api: exit $?"
