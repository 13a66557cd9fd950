#!/usr/bin/env bash
# Compares rollups with a computation from event and history rows: after following, after batches of any size, after
# earlier ranges were added later, on two partitions, after kills, after a network reset, and after rollups by
# older rules. verify sees a sum that was altered.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../_pg.sh"
pg_start
bin=$TIDE_BIN/tidemark-indexer
sim=$TIDE_BIN/tidemark-sim
[ -x "$sim" ] || { echo "no tidemark-sim"; exit 1; }
export ASAN_OPTIONS=detect_leaks=0
export TIDEMARK_PARTITION_LEDGERS=1000
# this chain lasts a month, with 448 ledgers in two partitions
chain=(--first-ledger 1664 --ledgers 448 --close-step 50 --txs 8 --life 90 --quiet)
first=1664 last=2111
"$sim" write --lake "$PG_DIR/lake" --deployment "$PG_DIR/deployment.json" "${chain[@]}"
export TIDEMARK_DEPLOYMENT=$PG_DIR/deployment.json TIDEMARK_LAKE=$PG_DIR/lake
"$bin" migrate >/dev/null 2>&1 || fail "migrate"

number=0
fresh() { # a copy of a migrated database is quicker than an emptied one
    number=$((number + 1))
    PGDATABASE=postgres "$PG_BIN/createdb" --template tidemark "rollup$number"
    export PGDATABASE=rollup$number
    export TIDEMARK_DATABASE_URL="host=$PG_DIR port=5432 user=postgres dbname=$PGDATABASE"
}
run() { "$bin" run --stop-at-end "$@" 2>"$PG_DIR/run.log" || { tail "$PG_DIR/run.log" >&2; fail "run $*"; }; }
backfill() { "$bin" backfill "$@" 2>"$PG_DIR/run.log" || { tail "$PG_DIR/run.log" >&2; fail "backfill $*"; }; }
right() { "$here/_rollups.py" >"$PG_DIR/out" || fail "$1"; echo "$1: $(cat "$PG_DIR/out")"; }
same() { [ "$(rolled)" = "$want" ] || { right "$1"; fail "$1: other rows"; }; echo "$1: the same"; }
rolled() {
    # words, not keys
    "$PG_BIN/psql" -XAtqv ON_ERROR_STOP=1 <<'END'
SELECT format('SELECT %L, count(*), md5(string_agg(t::text, ''|'' ORDER BY t::text)) FROM rollup.%I AS t', relname, relname) FROM pg_class
    WHERE relnamespace = 'rollup'::regnamespace AND relkind IN ('r', 'v') AND relname NOT IN ('built', 'active', 'call_day', 'held') ORDER BY 1 \gexec
END
}

fresh; run; right "loaded"
want=$(rolled)
[ "$(sql "SELECT count(*) FROM rollup.candle WHERE seconds = 60")" -gt 200 ] || fail "hardly any candles"
[ "$(sql "SELECT count(*) FROM rollup.price WHERE rounds > 1 AND low_price < high_price")" -gt 100 ] || fail "hardly any prices"
[ "$(sql "SELECT count(*) FROM rollup.candle WHERE seconds = 86400 AND volume_quote > 0 AND open_price <> close_price")" -gt 2 ] ||
    fail "hardly any days"

if [ -n "${TIDE_LONG:-}" ]; then # same_rows compares digests, which rollups are in, of all these ways
    fresh; run --batch-ledgers 1; same "ledger by ledger"
    fresh; run --batch-ledgers 13 --array-kib 0; same "13 ledgers a batch, by COPY"
    fresh; backfill --from $first --to 1700; run --batch-ledgers 100; same "100 ledgers a batch, indexed"
fi
fresh; for range in "2050 2060" "1990 2010" "1700 1800" "1850 2030" "$first $last"; do
    # shellcheck disable=SC2086
    set -- $range; backfill --from $1 --to $2 --batch-ledgers 7
    [ "$2" != 2030 ] || right "with holes"
done
same "earlier ranges later"
[ "$(sql "SELECT idx_tup_read FROM pg_stat_user_indexes WHERE indexrelname = 'compliance_version_deployment_day_idx'")" = 0 ] ||
    fail "a record's versions are looked for among all of their day"

# the program is killed at each step
if has_failpoints; then
    for step in commit.fenced commit.copied commit.merged commit.rolled commit.cursor commit.before commit.after \
        load.progress attach.before attach.tables attach.merged; do
        fresh
        backfill --from $first --to 1800 # the rest of the partition is indexed, the next one loaded
        code=0
        { TIDE_FP="$step=kill@1" "$bin" run --stop-at-end --batch-ledgers 50 2>/dev/null; } 2>/dev/null || code=$?
        [ $code = 137 ] || fail "$step: exit $code, not killed"
        run
        same "killed at $step"
    done
fi

# rollups by older rules, or none: the program makes them again
fresh; backfill --from $first --to 2050
sql "UPDATE rollup.built SET version = 0; UPDATE rollup.candle SET swaps = swaps + 1; DELETE FROM rollup.day"
run; same "older rules"
"$bin" verify >"$PG_DIR/said" || fail "verify: $(cat "$PG_DIR/said")"
grep -q "rollup  $(sql "SELECT count(*) FROM rollup.candle") rows of candle made again" "$PG_DIR/said" || fail "verify: $(cat "$PG_DIR/said")"
# verify sees what was altered, and a sum that nothing explains
sql "UPDATE rollup.candle SET volume_a = volume_a + 1 WHERE seconds = 300; UPDATE rollup.total SET users = users + 7"
"$bin" verify >"$PG_DIR/said" 2>/dev/null && fail "verify does not see what was altered"
grep -q "WRONG  rollup.candle: .*\"seconds\":300" "$PG_DIR/said" && grep -q "WRONG  rollup.total: " "$PG_DIR/said" || fail "verify: $(cat "$PG_DIR/said")"
sql "DELETE FROM rollup.built; DELETE FROM rollup.candle"
run; same "no rules"

# after a reset, the new epoch's rows stand beside those of the old one
"$bin" reset --confirm >/dev/null 2>&1 || fail "reset"
run --batch-ledgers 20
right "after a reset"
[ "$(sql "SELECT count(DISTINCT deployment) FROM rollup.candle")" = 2 ] || fail "no rows of the second epoch"
