#!/usr/bin/env bash
# Proves that the writer's session makes the plans of its rollups a few times, not for each ledger, and that they stay right while
# the partition grows from nothing: at the end no scan of stored rows reads more blocks than its rows are worth, and none the whole of a table.
# Ledgers have a few rows, or some hundred.
# label: all
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../_pg.sh"
[ -x "$TIDE_BIN/tidemark-sim" ] || { echo "no tidemark-sim"; exit 1; }
[ -f "$(pg_config --pkglibdir 2>/dev/null)/auto_explain.so" ] || { echo "no auto_explain"; exit 1; }
pg_start
export ASAN_OPTIONS=detect_leaks=0
logged="-c log_planner_stats=on -c session_preload_libraries=auto_explain -c auto_explain.log_min_duration=0 -c auto_explain.log_analyze=on -c auto_explain.log_buffers=on -c auto_explain.log_timing=off -c auto_explain.log_format=json"
first=1024 before=1088 code=0

for form in "12 224" "500 8"; do
    read -r txs ledgers <<<"$form"
    db=txs$txs last=$((before + ledgers))
    "$TIDE_BIN/tidemark-sim" write --lake "$PG_DIR/$db/lake" --deployment "$PG_DIR/$db/deployment.json" --first-ledger $first --ledgers $((last - first + 1)) --ledgers-per-object 1 --txs "$txs" --full --quiet
    PGDATABASE=postgres "$PG_BIN/createdb" "$db"
    export TIDEMARK_DATABASE_URL="host=$PG_DIR port=5432 user=postgres dbname=$db" TIDEMARK_DEPLOYMENT=$PG_DIR/$db/deployment.json TIDEMARK_LAKE=$PG_DIR/$db/lake
    "$TIDE_BIN/tidemark-indexer" backfill --from $first --to $before 2>"$PG_DIR/run.log" || fail "backfill: $(tail -3 "$PG_DIR/run.log")"
    mark=$(($(stat -c %s "$PG_DIR/log") + 1))
    PGOPTIONS=$logged "$TIDE_BIN/tidemark-indexer" run --stop-at-end --batch-ledgers 1 2>"$PG_DIR/run.log" || fail "run: $(tail -3 "$PG_DIR/run.log")"
    tail -c "+$mark" "$PG_DIR/log" >"$PG_DIR/$db.log"
    "$here/_kept_plans.py" "$ledgers" "$PG_DIR/$db.log" || code=1
done
[ $code = 0 ] || fail "plans are not kept, or not right"
