#!/usr/bin/env bash
# Lets the n-th allocation of each command that reads fail, alone or with all later ones, for n = 1, 2, 3 … and then
# in growing steps. The command exits with a documented code and a message, or prints everything. It never dies by a
# signal, and never prints less and exits with 0. TIDE_ALLOC_DENSE is the number of allocations tried one by one,
# TIDE_ALLOC_TRIES the number tried in all.
# label: all
# needs: no sanitizer
. "$(dirname "$0")/../_pg.sh"
preload=$TIDE_BIN/libfail_alloc.so
pg_start
indexer=$TIDE_BIN/tidemark-indexer
mkdir "$PG_DIR/sim"
"$TIDE_BIN/tidemark-sim" write --lake "$PG_DIR/sim/lake" --ledgers 64 --quiet
export TIDEMARK_DEPLOYMENT=$PG_DIR/sim/deployment.json
# If libpq cannot store an answer, it waits for it as if it had not arrived: the command ends with a time-out
export TIDEMARK_DB_SILENCE_MS=2000
"$indexer" run --lake "$PG_DIR/sim/lake" --stop-at-end 2>"$PG_DIR/run.log" || { cat "$PG_DIR/run.log" >&2; fail "run"; }

attempt() { # N, "" or sticky, command…
    local n=$1 sticky=$2 code=0
    shift 2
    timeout -s KILL 60 env TIDE_ALLOC_FAIL="$n" ${sticky:+TIDE_ALLOC_STICKY=1} LD_PRELOAD="$preload" \
        "$indexer" "$@" >"$PG_DIR/got" 2>"$PG_DIR/said" || code=$?
    case $code in
    0) cmp -s "$PG_DIR/want" "$PG_DIR/got" || fail "$*: allocation $n ${sticky:-alone}: 0, but not all was said"
       survived=$((survived + 1)) ;;
    64 | 65 | 66 | 67 | 68 | 69 | 70 | 71 | 74 | 75 | 76 | 78)
        [ -s "$PG_DIR/said" ] || fail "$*: allocation $n ${sticky:-alone}: exit $code without a word"
        refused=$((refused + 1)) ;;
    *) fail "$*: allocation $n ${sticky:-alone}: exit $code: $(tail -n 3 "$PG_DIR/said")" ;;
    esac
}

each() { # command…
    local n=1 step=1 tried=0 total
    survived=0 refused=0
    TIDE_ALLOC_COUNT=$PG_DIR/count LD_PRELOAD=$preload "$indexer" "$@" >"$PG_DIR/want" 2>"$PG_DIR/said" ||
        fail "untroubled $*: $(cat "$PG_DIR/said")"
    total=$(cat "$PG_DIR/count")
    while [ "$n" -le "$total" ] && [ "$tried" -lt "${TIDE_ALLOC_TRIES:-60}" ]; do
        attempt "$n" "" "$@"
        [ $((tried % 3)) -ne 0 ] || attempt "$n" sticky "$@"
        tried=$((tried + 1))
        [ "$tried" -lt "${TIDE_ALLOC_DENSE:-20}" ] || step=$((step + step / 4 + 1))
        n=$((n + step))
    done
    [ "$refused" -gt 0 ] || fail "$*: no failure was noticed"
    echo "$*: $total allocations, $refused ended with a message, $survived got through"
}

each digest
each verify --lake "$PG_DIR/sim/lake"
each reproject
