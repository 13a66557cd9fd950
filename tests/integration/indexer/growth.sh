#!/usr/bin/env bash
# Proves that work grows linearly. One operation has a given number of events of each kind, half of them equal; others
# have as many new entries, and as many versions of one entry. Twice the number at most doubles the rows that the
# server touches for any statement of the writer and the feeder, both with single ledgers and for a loaded partition.
# The test reads plans, not times.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../_pg.sh"
. "$here/../_api.sh"
[ -x "$TIDE_BIN/tidemark-sim" ] || { echo "no tidemark-sim"; exit 1; }
[ -f "$(pg_config --pkglibdir 2>/dev/null)/auto_explain.so" ] || { echo "no auto_explain"; exit 1; }
pg_start
. "$here/../_faults.sh"
export ASAN_OPTIONS=detect_leaks=0 TIDEMARK_PARTITION_LEDGERS=1000 TIDEMARK_BATCH_MS=60000
indexer=$TIDE_BIN/tidemark-indexer
explained="-c session_preload_libraries=auto_explain -c auto_explain.log_min_duration=0 -c auto_explain.log_analyze=on -c auto_explain.log_buffers=on -c auto_explain.log_timing=off -c auto_explain.log_format=json -c auto_explain.log_nested_statements=on"
first=1024 bulk=1064 last=1087

chain() { # N
    "$TIDE_BIN/tidemark-sim" write --lake "$PG_DIR/$1/lake" --deployment "$PG_DIR/$1/deployment.json" --ledgers 64 --first-ledger $first --ledgers-per-object 1 \
        --txs 2 --hostile 5 --hostile-attacks bulk --hostile-bulk "$1" --hostile-all-from $bulk --quiet
    PGDATABASE=postgres "$PG_BIN/createdb" "$2"
    export PGDATABASE=$2 TIDEMARK_DATABASE_URL="host=$PG_DIR port=5432 user=postgres dbname=$2" TIDEMARK_DEPLOYMENT=$PG_DIR/$1/deployment.json TIDEMARK_LAKE=$PG_DIR/$1/lake
}
explain() { PGOPTIONS=$explained "$@"; } # CMD…
index() { "$indexer" "$@" 2>"$PG_DIR/run.log" || fail "$*: $(tail -3 "$PG_DIR/run.log")"; }
serves() { [ "$(curl -s -D - -o /dev/null "$API_URL/api/prices" | sed -n 's/^Ledger-Sequence: \([0-9]*\).*/\1/ip')" = $last ]; }
log_from() { tail -c "+$1" "$PG_DIR/log"; } # BYTE

for n in 120 240; do
    # Single ledgers, with the cache of an API that follows.
    chain "$n" "tip$n"
    index backfill --from $first --to $((bulk - 1))
    mark=$(($(stat -c %s "$PG_DIR/log") + 1))
    rm -rf "$PG_DIR/cache"
    explain api_start
    explain index run --stop-at-end --batch-ledgers 1
    for ((i = 0; i < 600; i++)); do serves && break; sleep 0.1; done
    serves || fail "the API does not serve $last: $(tail -3 "$PG_DIR/api.log")"
    api_stop || fail "api: exit $?"
    # The test reads whole tables for the cache in each size too: how often a following cache does that depends on the
    # machine.
    rm -rf "$PG_DIR/cache"
    explain api_start
    api_stop || fail "api: exit $?"
    log_from $mark >"$PG_DIR/tip.$n"
    # A loaded partition.
    chain "$n" "load$n"
    mark=$(($(stat -c %s "$PG_DIR/log") + 1))
    explain index run --stop-at-end
    log_from $mark >"$PG_DIR/load.$n"
done
for way in tip load; do
    "$here/../../../tools/perf/growth.py" "$PG_DIR/$way".{120,240} >"$PG_DIR/out" 2>&1 || fail "$way: $(cat "$PG_DIR/out")"
    echo "ok $way: $(wc -l <"$PG_DIR/out") figures, the fastest: $(sed -n 1p "$PG_DIR/out")"
done
