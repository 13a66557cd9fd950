#!/usr/bin/env bash
# Proves that only one writer works at a time: a standby writer, a fenced writer, and a stop while the database is
# away. (pg_faults*.sh test other faults.)
. "$(dirname "$0")/../_pg.sh"
. "$(dirname "$0")/../_writer.sh"
pg_start
. "$(dirname "$0")/../_faults.sh"
N=4000
fresh; "$driver" write 1 $N batch=3 partition=500 tip 2>/dev/null; want=$(digest)
slow="batch=3 partition=500 tip"

# a second writer waits, and takes over when the first one is killed
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

# a writer that lost its session and was replaced is fenced: it stops and changes no row
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

# SIGTERM ends the program within seconds and with exit code 0, also while the database is away
fresh
"$driver" write 1 $N $slow 2>"$PG_DIR/first" & first=$!
until_sql "ledger > 50 FROM chain.cursor" 20
pg_stop immediate
wait_for "$PG_DIR/first" db.retry
start=$SECONDS; kill -TERM $first; code=0; wait $first || code=$?
[ "$code" = 0 ] && [ $((SECONDS - start)) -le 60 ] || fail "stop while away: exit $code after $((SECONDS - start)) s"
pg_again
"$driver" write 1 $N $slow 2>/dev/null; same "stopped while away"

# a killed program leaves no statement running on the server, not even one that waits
fresh
"$driver" write 1 8 2>/dev/null
sql "BEGIN; LOCK TABLE chain.cursor; SELECT pg_sleep(600)" >/dev/null 2>&1 & lock=$!
until_sql "count(*) = 1 FROM pg_locks WHERE mode = 'AccessExclusiveLock' AND relation = 'chain.cursor'::regclass" 60
"$driver" write 1 16 2>/dev/null & first=$!
until_sql "count(*) > 0 FROM pg_stat_activity WHERE wait_event_type = 'Lock'" 60
kill -9 $first
until_sql "count(*) = 0 FROM pg_stat_activity WHERE wait_event_type = 'Lock'" 60
sql "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE mode = 'AccessExclusiveLock' AND relation = 'chain.cursor'::regclass" >/dev/null
wait $lock || true

echo ok
