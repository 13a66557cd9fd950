#!/usr/bin/env bash
# Partitions are detached and attached while others read. Each reader takes its snapshot before, and reads events after: what it gives is
# what it would have given before, or after, never something between that looks whole. Loading attaches partitions, too.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../_pg.sh"
. "$here/../_api.sh"
pg_start
bin=$TIDE_BIN/tidemark-indexer
[ -x "$TIDE_BIN/tidemark-sim" ] || { echo "no tidemark-sim"; exit 77; }
export TIDEMARK_PARTITION_LEDGERS=1000 TIDEMARK_DEPLOYMENT=$PG_DIR/deployment.json TIDEMARK_LAKE=$PG_DIR/lake
"$TIDE_BIN/tidemark-sim" write --lake "$TIDEMARK_LAKE" --deployment "$TIDEMARK_DEPLOYMENT" --first-ledger 1856 --txs 8 --ledgers 384 --quiet
"$bin" run --stop-at-end 2>"$PG_DIR/run.log" || fail "run: $(tail -2 "$PG_DIR/run.log")"
api_start --api-rate-query 0

# A session that changes partitions, and commits when it is told to.
session() { # STATEMENTS
    rm -f "$PG_DIR/held"
    coproc MOVER { exec "$PG_BIN/psql" -XAtqv ON_ERROR_STOP=1 2>"$PG_DIR/mover"; }
    printf "BEGIN; %s;\n\\\\! touch %s\n" "$1" "$PG_DIR/held" >&"${MOVER[1]}"
    AWAIT_LOG=$PG_DIR/mover await "$1" test -e "$PG_DIR/held"
}
commit() {
    local pid=$MOVER_PID
    echo "COMMIT;" >&"${MOVER[1]}"
    eval "exec ${MOVER[1]}>&-"
    wait "$pid" || fail "the change failed: $(cat "$PG_DIR/mover")"
}
all_locked="LOCK TABLE ONLY event_rows.log, ONLY chain_rows.call IN ACCESS EXCLUSIVE MODE"
detach="CALL chain.detach_partition(1::smallint, 1000)"
attach="CALL chain.attach_partition(1::smallint, 1000)"
blocked() { [ "$(sql "SELECT count(*) > 0 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND application_name ~ '^tidemark-'")" = t ]; }

tell() { # FILE COMMAND…: its exit and its output; of a refusal only that it is one
    local code=0 file=$1
    shift
    "$@" >"$file.out" 2>"$file.err" || code=$?
    if [ $code = 67 ] && grep -q "archived" "$file.err"; then echo refused >"$file"; else { echo "exit $code"; cat "$file.out"; } >"$file"; fi
}
ask() { curl -s -w '\nHTTP %{http_code}\n' "$API_URL$1" | sed 's/,"requestId":"[0-9a-f]*"//'; }
streamed() { # what a stream gives from ledger 1990 on, as far as ledger 2000
    local reader
    : >"$PG_DIR/stream"
    curl -siN -m 60 -o "$PG_DIR/stream" "$API_URL/api/stream?topics=event&after=1:1990" & reader=$!
    within 30 eval 'grep -qE "^id: 1:20[0-9]*:e|^event: gone|410" "$PG_DIR/stream" || gone '$reader || true
    kill $reader 2>/dev/null || true
    wait $reader 2>/dev/null || true
    # A stream that broke off told nothing wrong: only the order of what it told counts.
    if grep -q "^id: 1:19[0-9]*:e" "$PG_DIR/stream"; then echo "from 1990 on"; elif grep -q "^id: 1:2[0-9]*:e" "$PG_DIR/stream"; then echo "events are missing"; else echo refused; fi
}

pool=$(sql "SELECT pool_id FROM event.liquidity_pool_swap WHERE ledger < 1990 GROUP BY 1 ORDER BY count(*) DESC, 1 LIMIT 1")
who=$(sql "SELECT trader FROM event.liquidity_pool_swap WHERE ledger < 1990 GROUP BY 1 ORDER BY count(*) DESC, 1 LIMIT 1")
tx=$(sql "SELECT encode(hash, 'hex') FROM chain.tx WHERE ledger < 1990 ORDER BY ledger DESC, tx LIMIT 1")
readers=(
    "$bin digest" "$bin verify" "$bin reproject"
    "ask /api/pools/$pool/swaps?ledger=1990" "ask /api/pools/$pool/swaps?limit=500" "ask /api/events?ledger=1950" "ask /api/transactions/$tx"
    "ask /api/addresses/$who/activity?ledger=1990" "ask /api/addresses/$who/portfolio?ledger=1990" "ask /api/stats?ledger=1990" "ask /api/proof/$tx" streamed
)
mkdir "$PG_DIR/before" "$PG_DIR/after" "$PG_DIR/now"
reference() { # FOLDER
    local i
    for i in "${!readers[@]}"; do
        # shellcheck disable=SC2086
        tell "$PG_DIR/$1/$i" ${readers[i]}
    done
}
reference before
sql "$detach"
reference after
sql "$attach"
moved=0
for i in "${!readers[@]}"; do cmp -s "$PG_DIR/before/$i" "$PG_DIR/after/$i" || moved=$((moved + 1)); done
[ $moved -ge $((${#readers[@]} - 2)) ] || fail "only $moved of ${#readers[@]} readers see the archive: $(grep -c . "$PG_DIR"/before/*)"

wrong=0 waited=0
judge() { # WHEN READER: compares what it gave
    cmp -s "$PG_DIR/now/$2" "$PG_DIR/before/$2" || cmp -s "$PG_DIR/now/$2" "$PG_DIR/after/$2" || {
        wrong=$((wrong + 1))
        echo "$1, ${readers[$2]}: $(wc -l <"$PG_DIR/now/$2") lines; before $(wc -l <"$PG_DIR/before/$2"), after $(wc -l <"$PG_DIR/after/$2"): $(head -c 300 "$PG_DIR/now/$2")" >&2
    }
}
stretch() { # WHEN STATEMENTS READER
    local reader
    session "$2"
    # shellcheck disable=SC2086
    tell "$PG_DIR/now/$3" ${readers[$3]} &
    reader=$!
    within 20 eval 'blocked || gone '$reader || true # a reader that needs nothing of the partition is not blocked
    ! blocked || waited=$((waited + 1))
    commit
    wait $reader || fail "${readers[$3]}: $?"
    judge "$1" "$3"
}
for i in "${!readers[@]}"; do
    stretch "detached meanwhile" "$detach" "$i"
    stretch "attached meanwhile" "$attach; $all_locked" "$i"
done
[ $waited -ge ${#readers[@]} ] || fail "only $waited of the reads met a change"

# Twice while one statement waits: detached and attached again, it sees nothing of either.
stretch "detached and attached meanwhile" "$detach; $attach; $all_locked" 6

# A reader at work keeps a partition from being detached, which steps back each time: other readers are not held up for long.
session "SELECT count(*) FROM event.log"
began=$(date +%s%N)
"$PG_BIN/psql" -XAtqc "$detach" >/dev/null 2>"$PG_DIR/err" &
detaching=$!
slowest=0
while kill -0 $detaching 2>/dev/null; do
    asked=$(date +%s%N)
    ask "/api/pools/$pool/swaps?ledger=1990" >"$PG_DIR/out"
    took=$((($(date +%s%N) - asked) / 1000000))
    [ $took -le $slowest ] || slowest=$took
    grep -q "HTTP 200" "$PG_DIR/out" || fail "a detach that waits disturbs others: $(tail -c 300 "$PG_DIR/out")"
done
! wait $detaching || fail "detached beside a reader"
grep -q "others read or write these partitions for long" "$PG_DIR/err" || fail "$(cat "$PG_DIR/err")"
commit
echo "gave up after $((($(date +%s%N) - began) / 1000000)) ms; the slowest read beside it took $slowest ms"
[ "$(sql "SELECT count(*) FROM chain.archive")" = 0 ] || fail "still archived"

# `erase` reads no partition, so it goes on beside a change.
session "$detach"
timeout 30 "$bin" erase "$who" >/dev/null 2>"$PG_DIR/err" || grep -q "nothing is kept of this address" "$PG_DIR/err" || fail "erase beside a detach: $(cat "$PG_DIR/err")"
commit
sql "$attach"
api_stop || fail "api: exit $?"
[ $wrong = 0 ] || fail "$wrong of $((2 * ${#readers[@]} + 1)) reads gave something between"
echo "$((2 * ${#readers[@]} + 1)) reads across a change: before or after, nothing between; $waited waited for it"
