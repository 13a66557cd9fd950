#!/usr/bin/env bash
# Tests content codings, ETags and 304 answers over HTTP: the decoded bytes are the same in every coding and for any
# Accept-Encoding. An ETag changes only with the content. A stale answer is never "not modified".
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../_pg.sh"
. "$here/../_api.sh"
[ -x "$TIDE_BIN/tidemark-api" ] || { echo "no tidemark-api"; exit 1; }
for tool in python3 zstd; do command -v $tool >/dev/null || { echo "no $tool"; exit 1; }; done
pg_start
api_index 128
last=$(sql "SELECT max(ledger) FROM chain.ledger")
api_start --api-rate-lookup 0 --api-rate-query 0
python3 "$here/_encoding.py" "$API_PORT" codings "$last" || fail "codings: $(tail -3 "$PG_DIR/api.log")"
python3 "$here/_encoding.py" "$API_PORT" tags "$last" || fail "tags: $(tail -3 "$PG_DIR/api.log")"
api_stop || fail "exit code $?: $(tail -3 "$PG_DIR/api.log")"
# The indexer ended long ago, so all answers are stale except those as of a ledger.
sleep 3
TIDEMARK_STALE_AFTER_MS=3000 API_READY=/healthz api_start
python3 "$here/_encoding.py" "$API_PORT" stale "$last" || fail "stale: $(tail -3 "$PG_DIR/api.log")"
api_stop || fail "exit code $?: $(tail -3 "$PG_DIR/api.log")"
