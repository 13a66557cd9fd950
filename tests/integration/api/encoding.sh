#!/usr/bin/env bash
# Content codings, ETags and 304s over HTTP: the same bytes in every coding, whatever Accept-Encoding says; a tag changes
# with the content alone; a stale answer is never called unchanged.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../_pg.sh"
. "$here/../_api.sh"
[ -x "$TIDE_BIN/tidemark-api" ] || { echo "skipped: no tidemark-api"; exit 77; }
for tool in python3 zstd; do command -v $tool >/dev/null || { echo "skipped: no $tool"; exit 77; }; done
pg_start
api_index 128
last=$(sql "SELECT max(ledger) FROM chain.ledger")
api_start --api-rate-lookup 0 --api-rate-query 0
python3 "$here/_encoding.py" "$API_PORT" codings "$last" || fail "codings: $(tail -3 "$PG_DIR/api.log")"
python3 "$here/_encoding.py" "$API_PORT" tags "$last" || fail "tags: $(tail -3 "$PG_DIR/api.log")"
api_stop || fail "exit code $?: $(tail -3 "$PG_DIR/api.log")"
# The indexer has ended long ago: all but what is asked as of a ledger is stale.
sleep 3
TIDEMARK_STALE_AFTER_MS=3000 API_READY=/healthz api_start
python3 "$here/_encoding.py" "$API_PORT" stale "$last" || fail "stale: $(tail -3 "$PG_DIR/api.log")"
api_stop || fail "exit code $?: $(tail -3 "$PG_DIR/api.log")"
