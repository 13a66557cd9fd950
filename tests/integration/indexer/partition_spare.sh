#!/usr/bin/env bash
# The session that makes the next partition hangs while the writer waits for it. The writer's own session is not idle
# meanwhile, a stop ends both sessions, and another writer takes over at once.
. "$(dirname "$0")/../_pg.sh"
pg_start
. "$(dirname "$0")/../_faults.sh"
indexer=$TIDE_BIN/tidemark-indexer
"$TIDE_BIN/tidemark-sim" write --lake "$PG_DIR/sim/lake" --deployment "$PG_DIR/sim/deployment.json" --first-ledger 1024 --ledgers 1200 --txs 1 --seed 3 --quiet
export TIDEMARK_DEPLOYMENT=$PG_DIR/sim/deployment.json TIDEMARK_LAKE=$PG_DIR/sim/lake TIDEMARK_PARTITION_LEDGERS=1000
export TIDEMARK_RETRY_MS_MAX=500 ASAN_OPTIONS=detect_leaks=0

# Makes an empty database in which the second partition never gets made.
fresh() {
    PGDATABASE=postgres "$PG_BIN/dropdb" --if-exists --force tidemark
    PGDATABASE=postgres "$PG_BIN/createdb" tidemark
    [ -n "${1:-}" ] || sql "CREATE FUNCTION public.slow() RETURNS event_trigger LANGUAGE plpgsql AS \$\$
        BEGIN IF current_query() LIKE '%_p1_2000%' THEN PERFORM pg_sleep(3600); END IF; END \$\$;
        CREATE EVENT TRIGGER slow ON ddl_command_end WHEN TAG IN ('CREATE TABLE') EXECUTE FUNCTION public.slow()"
}
launch() { "$indexer" run --stop-at-end 2>"$PG_DIR/$1.log" & pid=$!; }
writer="FROM pg_stat_activity AS a JOIN pg_locks AS l ON l.pid = a.pid AND l.locktype = 'advisory' AND l.granted WHERE a.datname = 'tidemark'"
await_spare() { # the first partition is full, and the writer waits for the second
    until_sql "EXISTS (SELECT FROM pg_stat_activity WHERE wait_event = 'PgSleep') AND EXISTS (SELECT FROM chain.partition WHERE last_loaded = 1999)" 60
    until_sql "EXISTS (SELECT $writer AND a.state = 'idle' AND a.query = 'SELECT 1')" 60
}
same() {
    [ "$("$indexer" digest)" = "$want" ] || fail "$1: other rows"
    echo "ok $1"
}

fresh never
launch one
wait "$pid" || fail "run: $(cat "$PG_DIR/one.log")"
want=$("$indexer" digest)

# The session sends messages, and a stop ends a session that ignores a cancel request.
fresh
launch one
await_spare
echo "ok the writer's session is awake while it waits for a spare partition"
backend=$(sql "SELECT pid FROM pg_stat_activity WHERE wait_event = 'PgSleep'")
kill -STOP "$backend"
kill -TERM "$pid"
code=0; wait "$pid" || code=$?
kill -CONT "$backend"
[ $code = 0 ] || fail "SIGTERM: exit $code: $(tail -3 "$PG_DIR/one.log")"
sql "DROP EVENT TRIGGER slow"
sql "SELECT pg_terminate_backend($backend)" >/dev/null
launch one
wait "$pid" || fail "second run: $(cat "$PG_DIR/one.log")"
same "SIGTERM while the session of a spare partition hangs"

# Another writer takes over: the first writer's session for the next partition gives way.
fresh
launch one; one=$pid
await_spare
launch two; two=$pid
wait_for "$PG_DIR/two.log" writer.standby
sql "DROP EVENT TRIGGER slow"
sql "SELECT pg_terminate_backend(a.pid) $writer" >/dev/null
wait_for "$PG_DIR/two.log" writer.ready 60
wait_for "$PG_DIR/one.log" writer.again 60
wait "$two" || fail "second writer: exit $?: $(tail -3 "$PG_DIR/two.log")"
wait "$one" || fail "first writer: exit $?: $(tail -3 "$PG_DIR/one.log")"
same "taken over while the session of a spare partition hangs"
