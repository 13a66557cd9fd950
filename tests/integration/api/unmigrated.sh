#!/usr/bin/env bash
# An API that starts before the schema exists reports that in its log and at /readyz, and waits for the schema.
here=$(dirname "$0")/..
. "$here/_pg.sh"
. "$here/_api.sh"
pg_start
"$PG_BIN/createdb" -T template0 bare
export TIDEMARK_DATABASE_URL="host=$PG_DIR port=5432 user=postgres dbname=bare"
API_READY=/healthz api_start
reasons() { curl -s "$API_URL/readyz" | python3 -c 'import json, sys; print(*json.load(sys.stdin)["reasons"])'; }
waits() { # PATTERN
    for _ in $(seq 300); do reasons | grep -E "$1" >/dev/null && return; sleep 0.1; done
    fail "reasons: $(reasons), not $1: $(tail -3 "$PG_DIR/api.log")"
}
waits '(^| )schema( |$)'
grep -q 'the database has no tables of Tidemark yet: run tidemark-indexer' "$PG_DIR/api.log" || fail "the log: $(tail -5 "$PG_DIR/api.log")"
"$TIDE_BIN/tidemark-indexer" migrate >/dev/null 2>&1 || fail "migrate"
for _ in $(seq 300); do reasons | grep -w schema >/dev/null || break; sleep 0.1; done
! reasons | grep -w schema >/dev/null || fail "still: $(reasons)"
api_stop || fail "api: exit $?"
echo ok
