#!/usr/bin/env bash
# While a full partition is built, merged into state and added to rollups, the next one loads. The program is stopped,
# killed, and its sessions are ended: the tables equal those of an undisturbed run.
. "$(dirname "$0")/../_pg.sh"
pg_start
indexer=$TIDE_BIN/tidemark-indexer
# The first partition has 208 ledgers, the second is begun. With TIDE_LONG the second is whole, and the third is begun.
ledgers=448 second=2000 attached="1000 2000 "
[ -z "${TIDE_LONG:-}" ] || ledgers=1408 second=3000 attached="1000 2000 3000 "
"$TIDE_BIN/tidemark-sim" write --lake "$PG_DIR/sim/lake" --deployment "$PG_DIR/sim/deployment.json" --first-ledger 1792 --ledgers $ledgers --txs 2 --seed 3 --quiet
export TIDEMARK_DEPLOYMENT=$PG_DIR/sim/deployment.json TIDEMARK_LAKE=$PG_DIR/sim/lake TIDEMARK_PARTITION_LEDGERS=1000

# Makes an empty database in which building each index takes that long.
fresh() { # SECONDS
    PGDATABASE=postgres "$PG_BIN/dropdb" --if-exists tidemark
    PGDATABASE=postgres "$PG_BIN/createdb" tidemark
    [ "$1" = 0 ] || sql "CREATE FUNCTION public.slow() RETURNS event_trigger LANGUAGE plpgsql AS \$\$ BEGIN PERFORM pg_sleep($1); END \$\$;
        CREATE EVENT TRIGGER slow ON ddl_command_end WHEN TAG IN ('CREATE INDEX') EXECUTE FUNCTION public.slow()"
}
quick() { sql "DROP EVENT TRIGGER slow"; }
launch() { "$indexer" run --stop-at-end 2>"$PG_DIR/run.log" & pid=$!; }
overlaps="(SELECT count(last_loaded) >= 2 FROM chain.partition WHERE NOT attached)"
while_it_runs() { AWAIT_PID=$pid AWAIT_LOG=$PG_DIR/run.log await "$1" sql_says "$2"; } # WHAT CONDITION
await_overlap() { while_it_runs "the next partition to load meanwhile" "$overlaps"; }
same() {
    [ "$("$indexer" digest)" = "$want" ] || fail "$1: other rows"
    [ "$(sql "SELECT count(*) FROM chain.partition WHERE NOT attached AND first_loaded > 0")" = 0 ] || fail "$1: unattached partitions"
    [ "$(sql "SELECT count(*) FROM pg_index WHERE NOT indisvalid")" = 0 ] || fail "$1: an index is not valid"
    echo "ok $1"
}

fresh 0
launch
wait "$pid" || fail "run: $(cat "$PG_DIR/run.log")"
want=$("$indexer" digest)

fresh 0.03
launch
await_overlap
[ "$(sql "SELECT count(*) FROM chain.cursor AS c JOIN chain.partition AS p ON p.from_ledger <= c.ledger AND NOT p.attached")" = 0 ] || fail "the cursor moved before its ledgers are visible"
wait "$pid" || fail "run: $(cat "$PG_DIR/run.log")"
[ "$(grep -o 'partition.attached.* from=[0-9]*' "$PG_DIR/run.log" | sed 's/.*from=//' | tr '\n' ' ')" = "$attached" ] ||
    fail "attached in another order: $(grep attached "$PG_DIR/run.log")"
same "undisturbed"

for signal in KILL TERM; do
    fresh 0.5
    launch
    await_overlap
    began=$SECONDS
    kill -$signal "$pid"
    code=0; wait "$pid" || code=$?
    [ $signal = KILL ] || [ $code = 0 ] || fail "SIGTERM: exit $code, $(cat "$PG_DIR/run.log")"
    [ $((SECONDS - began)) -le 15 ] || fail "SIG$signal: the end took $((SECONDS - began)) s"
    quick
    launch
    wait "$pid" || fail "second run: $(cat "$PG_DIR/run.log")"
    same "SIG$signal while one partition is built and the next one loads"
done

# The tables of a partition exist before the one before it, which is full, is built.
fresh 0.5
# This state passes between two questions of psql, so the server itself looks for a second.
sql "CREATE FUNCTION public.has_spare() RETURNS boolean LANGUAGE plpgsql AS \$\$ BEGIN
    FOR i IN 1..100 LOOP
        IF EXISTS (SELECT FROM chain.partition WHERE from_ledger = $second AND first_loaded IS NULL)
            AND EXISTS (SELECT FROM chain.partition WHERE last_loaded = $((second - 1))) THEN RETURN true; END IF;
        PERFORM pg_sleep(0.01);
    END LOOP;
    RETURN false; END \$\$"
launch
while_it_runs "a spare partition" "public.has_spare()"
kill -KILL "$pid"
wait "$pid" || true
quick
launch
wait "$pid" || fail "second run: $(cat "$PG_DIR/run.log")"
same "SIGKILL beside a spare partition"

fresh 0.5
launch
await_overlap
# Between two indexes no session sleeps.
while_it_runs "a session that builds" "count(pg_terminate_backend(pid)) > 0 FROM pg_stat_activity WHERE wait_event = 'PgSleep'"
quick
wait "$pid" || fail "run: $(cat "$PG_DIR/run.log")"
grep 'partition.build.*again=true' "$PG_DIR/run.log" >/dev/null || fail "no building session was ended"
same "the sessions that build are ended"

# Another session than the writer's merges state, because the writer's session holds the lock.
fresh_slow_merge() {
    fresh 0
    "$indexer" migrate >/dev/null 2>&1
    sql "CREATE FUNCTION public.slow() RETURNS trigger LANGUAGE plpgsql AS \$\$ BEGIN PERFORM pg_sleep($1); RETURN NULL; END \$\$;
        CREATE TRIGGER slow BEFORE INSERT ON state.raw FOR EACH STATEMENT EXECUTE FUNCTION public.slow()"
}
merging="FROM pg_stat_activity AS a WHERE a.wait_event = 'PgSleep' AND NOT EXISTS
    (SELECT FROM pg_locks AS l WHERE l.pid = a.pid AND l.locktype = 'advisory')"
await_merge() { while_it_runs "another session that merges meanwhile" "$overlaps AND EXISTS (SELECT $merging)"; }
for signal in KILL ${TIDE_LONG:+TERM}; do
    fresh_slow_merge 1.5
    launch
    await_merge
    kill -$signal "$pid"
    wait "$pid" || true
    sql "DROP TRIGGER slow ON state.raw"
    launch
    wait "$pid" || fail "second run: $(cat "$PG_DIR/run.log")"
    same "SIG$signal while one partition is merged and the next one loads"
done

fresh_slow_merge 1.5
launch
await_merge
while_it_runs "another session that merges" "count(pg_terminate_backend(a.pid)) > 0 $merging" # that one may have ended by now
sql "DROP TRIGGER slow ON state.raw"
wait "$pid" || fail "run: $(cat "$PG_DIR/run.log")"
grep 'partition.build.*again=true' "$PG_DIR/run.log" >/dev/null || fail "the merging session was not ended"
same "the session that merges is ended"
