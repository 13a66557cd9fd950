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

# Between the first migration and the last, which grants the rights, the API's own login is refused.
sql_of_bare() { "$PG_BIN/psql" -XqAt -h "$PG_DIR" -U postgres -d bare -c "$1"; }
sql_of_bare "CREATE SCHEMA chain; CREATE TABLE chain.deployment (id integer)"
TIDEMARK_DATABASE_URL="host=$PG_DIR port=5432 user=tidemark_feeder dbname=bare" "$TIDE_BIN/tidemark-api" --api-listen 127.0.0.1:0 --api-cache "$PG_DIR/feeder" 2>"$PG_DIR/feeder.log" &
refused=$!
for _ in $(seq 300); do grep -q 42501 "$PG_DIR/feeder.log" && break; sleep 0.1; done
grep -q 'this login may not read the tables; if the indexer.s first start is not making them, .*doctor.* 42501' "$PG_DIR/feeder.log" || fail "the login without rights: $(cat "$PG_DIR/feeder.log")"
kill $refused && wait $refused || fail "the API without rights: exit $?"
sql_of_bare "DROP SCHEMA chain CASCADE"

"$TIDE_BIN/tidemark-indexer" migrate >/dev/null 2>&1 || fail "migrate"
for _ in $(seq 300); do reasons | grep -w schema >/dev/null || break; sleep 0.1; done
! reasons | grep -w schema >/dev/null || fail "still: $(reasons)"
api_stop || fail "api: exit $?"
echo ok
