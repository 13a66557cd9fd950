#!/usr/bin/env bash
# GET /metrics in Prometheus' text format: read strictly, names and units as its conventions want them,
# and what it counts is what was asked. With promtool installed that reads it too.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/_pg.sh"
. "$here/_api.sh"
[ -x "$TIDE_BIN/tidemark-api" ] && [ -x "$TIDE_BIN/tidemark-sim" ] || { echo "programs not built"; exit 77; }
command -v curl >/dev/null || { echo "no curl"; exit 77; }
export ASAN_OPTIONS=detect_leaks=0
pg_start
api_index 96
api_start
sleep 1.5 # until the figures of the indexer were read
"$here/_metrics.py" "$API_URL"
if command -v promtool >/dev/null; then
    curl -fsS "$API_URL/metrics" | promtool check metrics || fail "promtool does not like it"
    echo "ok promtool reads it"
fi
# Of two that share a cache one feeds, and the other has not failed.
one=$API_PID one_url=$API_URL
api_start
sleep 1.5 # it asks for the cache each second
curl -fsS "$API_URL/metrics" >"$PG_DIR/metrics"
grep -q '^tidemark_feeder_feeding 0$' "$PG_DIR/metrics" && grep -q '^tidemark_feeder_failures_total 0$' "$PG_DIR/metrics" ||
    fail "a second process: $(grep '^tidemark_feeder_f' "$PG_DIR/metrics")"
api_stop || fail "the second API ended with $?"
API_PID=$one API_URL=$one_url
echo "ok a process that leaves the feeding to another counts no failures"
# Without the database a scrape is answered as before.
pg_stop immediate
sleep 3
curl -fsS -m 2 "$API_URL/metrics" >"$PG_DIR/metrics" || fail "no answer without the database"
grep -q '^tidemark_stream_stale 1$' "$PG_DIR/metrics" || fail "the stream is not stale without the database"
grep -q '^tidemark_feeder_feeding 0$' "$PG_DIR/metrics" || fail "it feeds without a database"
awk '$1 == "tidemark_indexer_figures_age_seconds" { exit !($2 > 2) }' "$PG_DIR/metrics" || fail "figures from nowhere"
echo "ok without the database it says so"
pg_again
api_stop || fail "the API ended with $?"
