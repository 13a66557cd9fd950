#!/usr/bin/env bash
# Lets the n-th allocation of a whole run fail, alone or with all later ones, for n = 1, 2, 3 … and then in growing
# steps. The program exits with a documented code and a message, or succeeds. It never dies by a signal, and the next
# run ends with the tables of an undisturbed one.
# label: all
# needs: no sanitizer
. "$(dirname "$0")/../_pg.sh"
preload=$TIDE_BIN/libfail_alloc.so
pg_start
indexer=$TIDE_BIN/tidemark-indexer
mkdir "$PG_DIR/sim"
"$TIDE_BIN/tidemark-sim" write --lake "$PG_DIR/sim/lake" --first-ledger 1920 --ledgers 64 --quiet
export TIDEMARK_DEPLOYMENT=$PG_DIR/sim/deployment.json TIDEMARK_LAKE=$PG_DIR/sim/lake
export TIDEMARK_STANDBY=false TIDEMARK_RETRY_MS_MAX=200
base=host=$PG_DIR\ port=5432\ user=postgres

PGDATABASE=postgres "$PG_BIN/createdb" empty
TIDEMARK_DATABASE_URL="$base dbname=empty" "$indexer" migrate 2>/dev/null
fresh() { # a copy of the migrated database: migrating anew takes longer
    PGDATABASE=postgres "$PG_BIN/psql" -XAtq -c "SET client_min_messages = error" \
        -c "DROP DATABASE IF EXISTS run" -c "CREATE DATABASE run TEMPLATE empty"
    export TIDEMARK_DATABASE_URL="$base dbname=run"
}
run() { "$indexer" run --stop-at-end >"$PG_DIR/run.log" 2>&1; }
digest() { "$indexer" digest | grep '^total'; }

fresh
TIDE_ALLOC_COUNT=$PG_DIR/count LD_PRELOAD=$preload "$indexer" run --stop-at-end >"$PG_DIR/run.log" 2>&1 || fail "untroubled: $(tail -n 2 "$PG_DIR/run.log")"
want=$(digest)
total=$(cat "$PG_DIR/count")
[ "$total" -gt 200 ] || fail "only $total allocations: is the library preloaded?"

attempt() { # N [sticky]
    local code=0 got
    fresh
    timeout --preserve-status -s TERM -k 20 "$([ -n "${2:-}" ] && echo 4 || echo 60)" \
        env TIDE_ALLOC_FAIL="$1" ${2:+TIDE_ALLOC_STICKY=1} LD_PRELOAD="$preload" "$indexer" run --stop-at-end >"$PG_DIR/fail.log" 2>&1 || code=$?
    [ "$code" -lt 128 ] || fail "allocation $1 ${2:-alone}: ended with $code: $(tail -n 3 "$PG_DIR/fail.log")"
    case $code in
    0) survived=$((survived + 1)) ;;
    1 | 64 | 65 | 66 | 67 | 68 | 69 | 70 | 71 | 74 | 75 | 76 | 78)
        [ -s "$PG_DIR/fail.log" ] || fail "allocation $1 ${2:-alone}: exit $code without a word"
        refused=$((refused + 1)) ;;
    *) fail "allocation $1 ${2:-alone}: undocumented exit $code: $(tail -n 3 "$PG_DIR/fail.log")" ;;
    esac
    # The session holds the writer's lock until the server notices that its client has ended, and the next run waits for no lock.
    until_sql "count(*) = 0 FROM pg_stat_activity WHERE datname = 'run'" 60
    run || fail "after allocation $1 ${2:-alone}: $(tail -n 2 "$PG_DIR/run.log")"
    got=$(digest)
    [ "$got" = "$want" ] || fail "after allocation $1 ${2:-alone}: $got, not $want"
}

survived=0 refused=0 n=1 step=1 tried=0
while [ "$n" -le "$total" ] && [ "$tried" -lt "${TIDE_ALLOC_TRIES:-24}" ]; do
    attempt "$n"
    [ $((tried % 3)) -ne 0 ] || attempt "$n" sticky
    tried=$((tried + 1))
    [ "$tried" -lt 8 ] || step=$((step + step / 2 + 1))
    n=$((n + step))
done
[ "$refused" -gt 0 ] || fail "no failure was noticed"
echo "$total allocations, $tried of them failed: $refused ended with a message, $survived got through; tables equal after each"
