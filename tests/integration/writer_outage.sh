#!/usr/bin/env bash
# One writer at a time, and a database that goes away: standby, fence, restarts, killed back ends, full disk.
. "$(dirname "$0")/_pg.sh"
. "$(dirname "$0")/_writer.sh"
pg_start
until_sql() { # CONDITION SECONDS: waits until the database says t
    local end=$((SECONDS + $2))
    until [ "$(sql "SELECT $1" 2>/dev/null || true)" = t ]; do
        [ $SECONDS -lt $end ] || fail "never: $1"
        sleep 0.05
    done
}
wait_for() { # FILE PATTERN
    for _ in $(seq 200); do grep -q "$2" "$1" 2>/dev/null && return; sleep 0.05; done
    fail "$1 never says $2: $(cat "$1")"
}
N=4000
fresh; "$driver" write 1 $N batch=3 partition=500 tip 2>/dev/null; want=$(digest)
same() { [ "$(digest)" = "$want" ] || fail "$1: $(digest) not $want"; check_state "$1"; check_partitions "$1"; }
slow="batch=3 partition=500 tip"

# a second writer waits, and takes over when the first is killed
fresh
"$driver" write 1 $N $slow 2>"$PG_DIR/first" & first=$!
until_sql "ledger > 50 FROM chain.cursor" 20
"$driver" write 1 $N $slow poll=50 2>"$PG_DIR/second" & second=$!
wait_for "$PG_DIR/second" writer.standby
code=0; out=$("$driver" write 1 $N standby=0 2>&1) || code=$?
[ "$code" = 68 ] && grep -q 'another process writes' <<<"$out" || fail "standby=0: exit $code: $out"
kill -9 $first; wait $first 2>/dev/null || true
at=$(sql "SELECT ledger FROM chain.cursor")
wait $second || fail "standby: $(tail -3 "$PG_DIR/second")"
[ "$at" -lt $N ] || fail "the first writer was already done: the test is too short"
same "standby"

# a writer that lost its session and was replaced is fenced: it stops and changes nothing
fresh
"$driver" write 1 $N $slow 2>"$PG_DIR/first" & first=$!
until_sql "ledger > 50 FROM chain.cursor" 20
kill -STOP $first
sql "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'tidemark-indexer'" >/dev/null
"$driver" write 1 300 $slow 2>/dev/null
middle=$(digest)
kill -CONT $first
code=0; wait $first || code=$?
[ "$code" = 69 ] && grep -q 'took deployment 1 over' "$PG_DIR/first" || fail "fence: exit $code: $(cat "$PG_DIR/first")"
[ "$(digest)" = "$middle" ] || fail "a fenced writer changed something"
"$driver" write 1 $N $slow 2>/dev/null; same "fenced"

# the server restarts, at once and orderly; back ends are killed: the same process goes on
for how in immediate fast kill; do
    fresh
    "$driver" write 1 $N $slow 2>"$PG_DIR/first" & first=$!
    until_sql "ledger > 50 FROM chain.cursor" 20
    case $how in
    kill) for _ in 1 2 3 4 5 6; do
            sql "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'tidemark-indexer'" >/dev/null || true
            sleep 0.2
        done ;;
    *) pg_stop $how; sleep 0.5; pg_again ;;
    esac
    wait $first || fail "$how: $(tail -3 "$PG_DIR/first")"
    grep -q db.retry "$PG_DIR/first" || fail "$how: not noticed, the test is too short"
    same "$how"
done

# SIGTERM: ends in seconds, well, also while the database is away
fresh
"$driver" write 1 $N $slow 2>"$PG_DIR/first" & first=$!
until_sql "ledger > 50 FROM chain.cursor" 20
pg_stop immediate
wait_for "$PG_DIR/first" db.retry
start=$SECONDS; kill -TERM $first; code=0; wait $first || code=$?
[ "$code" = 0 ] && [ $((SECONDS - start)) -le 5 ] || fail "stop while away: exit $code after $((SECONDS - start)) s"
pg_again
"$driver" write 1 $N $slow 2>/dev/null; same "stopped while away"

# a full disk: waits, says so, and goes on by itself when there is room
if [ "$(id -u)" = 0 ] && mkdir "$PG_DIR/small" && mount -t tmpfs -o size=3m tmpfs "$PG_DIR/small" 2>/dev/null; then
    trap 'umount -l "$PG_DIR/small"; pg_cleanup' EXIT
    chown postgres "$PG_DIR/small"
    sql "CREATE TABLESPACE small LOCATION '$PG_DIR/small'"
    fresh
    sql "ALTER DATABASE tidemark SET default_tablespace = small"
    sql "CREATE TABLE public.ballast AS SELECT md5(i::text) || md5(i::text) FROM generate_series(1, 20000) i"
    "$driver" write 1 $N batch=200 partition=4001 2>"$PG_DIR/first" & first=$!
    wait_for "$PG_DIR/first" 'state=53100'
    kill -0 $first || fail "full disk: gave up: $(tail -3 "$PG_DIR/first")"
    sql "DROP TABLE public.ballast; CHECKPOINT"
    mount -o remount,size=64m "$PG_DIR/small"
    wait $first || fail "full disk: $(tail -3 "$PG_DIR/first")"
    same "full disk"
    sql "ALTER DATABASE tidemark RESET default_tablespace"
else
    echo "full disk: skipped (no tmpfs mount here)"
fi
echo ok
