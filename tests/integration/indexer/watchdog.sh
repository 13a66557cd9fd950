#!/usr/bin/env bash
# systemd's watchdog and the indexer: the indexer signals it while the writer makes progress, waits as standby or
# repeats a transaction. The signal stops while the writer's thread waits for something without an end. The indexer
# announces a stop at once. The test takes half a minute: label: all, label: sanitize, label: threads
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../_pg.sh"
pg_start
. "$here/../_faults.sh"
. "$here/../_notify.sh"
indexer=$TIDE_BIN/tidemark-indexer
export ASAN_OPTIONS=detect_leaks=0 WATCHDOG_USEC=${TIDE_WATCHDOG_USEC:-4000000}
export TIDEMARK_PARTITION_LEDGERS=1000 TIDEMARK_CRASH_LIMIT=0 TIDEMARK_POLL_MS=50 TIDEMARK_RETRY_MS_MAX=500
mkdir "$PG_DIR/sim"
"$TIDE_BIN/tidemark-sim" write --lake "$PG_DIR/sim/lake" --first-ledger 1920 --ledgers 64 --ledgers-per-object 1 --txs 4 \
    --follow 200 --close-step 1 --quiet >/dev/null 2>&1 &
export TIDEMARK_DEPLOYMENT=$PG_DIR/sim/deployment.json TIDEMARK_LAKE=$PG_DIR/sim/lake
wait_for "$TIDEMARK_DEPLOYMENT" contracts

launch() { # NAME: an indexer that has a systemd; its process in $pid
    notify_up "$1"
    NOTIFY_SOCKET=$PG_DIR/$1.socket "$indexer" run 2>"$PG_DIR/$1.log" & pid=$!
}
writer_session="(SELECT l.pid FROM pg_locks AS l WHERE l.locktype = 'advisory' AND l.classid = x'74696465'::int AND l.granted)"

launch one; one=$pid
wait_for "$PG_DIR/one.heard" READY=1
until_sql "state = 'following' FROM chain.heartbeat" 60
pings one 3
echo "ok fed at the tip"

launch two; two=$pid
wait_for "$PG_DIR/two.log" writer.standby
pings two 4
grep -q READY=1 "$PG_DIR/two.heard" && ! grep -q writer.ready "$PG_DIR/two.log" || fail "a standby is not ready: $(cat "$PG_DIR/two.heard")"
kill -TERM $two; wait $two || fail "standby: exit $?"
echo "ok fed while it waits as standby"

pg_stop immediate
wait_for "$PG_DIR/one.log" db.retry
pings one 4
pg_again
until_sql "state = 'following' FROM chain.heartbeat" 60
[ "$(count one FIRED)" = 0 ] || fail "the watchdog fired while the writer repeats what failed"
echo "ok fed while the database is away"

# A row lock is held for longer than the watchdog's period.
coproc "$PG_BIN/psql" -XAtq
locker=$COPROC_PID
echo "BEGIN; SELECT 'held' FROM chain.cursor FOR UPDATE;" >&"${COPROC[1]}"
read -r answer <&"${COPROC[0]}"
[ "$answer" = held ] || fail "no lock: $answer"
fires one "a lock holds the writer up"
wait_for "$PG_DIR/one.log" 'watchdog.stalled thread=writer'
echo "ROLLBACK;" >&"${COPROC[1]}"
pings one 2
wait_for "$PG_DIR/one.log" watchdog.back
echo "\q" >&"${COPROC[1]}"
wait "$locker" || true
echo "ok not fed while a lock holds the writer up, fed afterwards"

# The server process hangs, and no cancel request reaches it.
: >"$PG_DIR/one.log"
until_sql "count(*) = 1 FROM $writer_session AS w" 60 # a writer whose statement was cancelled connects again
backend=$(sql "SELECT $writer_session")
kill -STOP "$backend"
fires one "the writer's server process is stopped"
wait_for "$PG_DIR/one.log" 'watchdog.stalled thread=writer'
stopping=$(count one STOPPING=1)
kill -TERM $one
code=0; wait $one || code=$?
kill -CONT "$backend"
[ $code = 0 ] || fail "SIGTERM while the server's process is stopped: exit $code: $(tail -3 "$PG_DIR/one.log")"
wait_for "$PG_DIR/one.heard" STOPPING=1 # another process writes what it heard
[ "$stopping" = 0 ] && [ "$(count one STOPPING=1)" = 1 ] || fail "STOPPING=1: $stopping, $(count one STOPPING=1)"
echo "ok not fed while its server process is stopped; it ends all the same"

# Statements whose work grows with the stored rows have no time-out, so the indexer may be silent for longer.
sql "UPDATE rollup.built SET version = 0"
sql "CREATE FUNCTION public.slow() RETURNS trigger LANGUAGE plpgsql AS \$\$ BEGIN PERFORM pg_sleep(3600); RETURN NULL; END \$\$;
    CREATE TRIGGER slow BEFORE DELETE ON rollup.candle FOR EACH STATEMENT EXECUTE FUNCTION public.slow()"
launch three; three=$pid
until_sql "count(*) = 1 FROM pg_stat_activity WHERE wait_event = 'PgSleep'" 60
pings three 4
[ "$(count three FIRED)" = 0 ] || fail "the watchdog fired while rollups are made anew"
kill -TERM $three
wait_for "$PG_DIR/three.heard" STOPPING=1
wait $three || fail "SIGTERM: exit $?: $(tail -3 "$PG_DIR/three.log")"
echo "ok fed while rollups are made anew"
