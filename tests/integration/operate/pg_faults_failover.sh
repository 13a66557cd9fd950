#!/usr/bin/env bash
# P10: the primary is lost, and the promoted standby had not received the last commits. The program knows both
# servers: it writes the missing ledgers again, no row twice, and the generation shows the change. The writer alone
# (writer_driver) stops instead of leaving a gap.
# label: all
. "$(dirname "$0")/../_pg.sh"
. "$(dirname "$0")/../_writer.sh"
pg_start
. "$(dirname "$0")/../_faults.sh"
slow="1 4000 batch=3 partition=500 tip"
standby=$PG_DIR/standby
both="host=$PG_DIR,$standby port=5432,5432 user=postgres dbname=tidemark"
PG_AT_EXIT="cluster_down $standby immediate"

indexer=$TIDE_BIN/tidemark-indexer
on_standby() { PGHOST=$standby "$@"; }

failover() {
    local kept
    fresh
    pg_standby "$standby"
    TIDEMARK_DATABASE_URL=$both start $slow
    until_sql "ledger > 50 FROM chain.cursor" 20
    on_standby until_sql "ledger > 50 FROM chain.cursor" 20
    forsake
    ends_with 69 'writer: the cursor moved without us'
    export PGHOST=$standby
    [ "$(sql "SELECT ledger FROM chain.cursor")" = "$kept" ] || fail "something was written over the gap"
    TIDEMARK_DATABASE_URL=$both start $slow
    ends_well
}
forsake() { # the standby hears no more, the primary commits more, then dies; the standby is promoted
    kill -STOP $writer # it may write all its ledgers meanwhile
    on_standby sql "ALTER SYSTEM SET primary_conninfo = ''"
    on_standby sql "SELECT pg_reload_conf()" >/dev/null
    on_standby until_sql "NOT EXISTS (SELECT 1 FROM pg_stat_wal_receiver)" 10
    # Then it replays the rest of what it has received, and retries every five seconds.
    on_standby until_sql "EXISTS (SELECT 1 FROM pg_stat_activity WHERE backend_type = 'startup' AND wait_event = 'RecoveryRetrieveRetryInterval')" 60
    kept=$(on_standby sql "SELECT ledger FROM chain.cursor")
    kill -CONT $writer
    until_sql "ledger > $kept + 60 FROM chain.cursor" 20
    pg_stop immediate
    sleep 0.3 # for a while there is only a server that takes no writes
    as_pg "$PG_BIN/pg_ctl" -D "$standby/data" -w promote >/dev/null
}

empty() {
    PGDATABASE=postgres sql "DROP DATABASE tidemark WITH (FORCE)"
    PGDATABASE=postgres sql "CREATE DATABASE tidemark"
}
# The whole program follows, and continues by itself.
by_itself() {
    local from=2048 last=$((2048 + 320 - 1)) kept
    export TIDEMARK_DEPLOYMENT=$PG_DIR/deployment.json TIDEMARK_LAKE=$PG_DIR/lake TIDEMARK_PARTITION_LEDGERS=1000
    export TIDEMARK_POLL_MS=50 TIDEMARK_BATCH_LEDGERS=3
    "$TIDE_BIN/tidemark-sim" write --lake "$PG_DIR/lake" --deployment "$PG_DIR/deployment.json" --first-ledger $from --ledgers 320 --quiet
    empty
    "$indexer" run --stop-at-end --batch-ledgers 50 2>"$words" || fail "undisturbed: $(tail -1 "$words")"
    want=$("$indexer" digest | grep '^total')
    empty
    "$indexer" backfill --from $from --to $((from + 20)) 2>"$words" || fail "$(tail -1 "$words")" # from here the cursor moves
    pg_standby "$standby"
    TIDEMARK_DATABASE_URL=$both "$indexer" run 2>"$words" & writer=$!
    until_sql "ledger > $from + 40 FROM chain.cursor" 20
    forsake
    wait_for "$words" writer.again
    export PGHOST=$standby TIDEMARK_DATABASE_URL=$both
    until_sql "ledger = $last FROM chain.cursor" 60
    kill -TERM $writer
    wait $writer || fail "exit $?: $(tail -3 "$words")"
    [ "$("$indexer" digest | grep '^total')" = "$want" ] || fail "other tables"
    [ "$(sql "SELECT generation > 0 FROM chain.cursor")" = t ] || fail "the lost commits do not show"
}
wants $slow
fault "P10 failover that loses commits, the writer: stops; started again, goes on from the older cursor" failover
export PGHOST=$PG_DIR
pg_again
fault "P10 failover that loses commits, the whole program: goes on by itself" by_itself
faults_end
