#!/usr/bin/env bash
# P10: the primary is lost, and the standby that is promoted had not received its last commits. The
# writer knows both servers; what is missing on the new one is written again, nothing twice.
. "$(dirname "$0")/_pg.sh"
. "$(dirname "$0")/_writer.sh"
pg_start
. "$(dirname "$0")/_faults.sh"
slow="1 4000 batch=3 partition=500 tip"
standby=$PG_DIR/standby
both="host=$PG_DIR,$standby port=5432,5432 user=postgres dbname=tidemark"
PG_AT_EXIT="cluster_down $standby immediate"

make_standby() {
    mkdir "$standby"
    chmod 755 "$standby"
    [ "$(id -u)" != 0 ] || chown "$(cluster_user)" "$standby"
    as_pg "$PG_BIN/pg_basebackup" -h "$PG_DIR" -U postgres -D "$standby/data" -R -X stream -c fast --no-sync
    cluster_up "$standby" -F
}
on_standby() { PGHOST=$standby "$@"; }

failover() {
    fresh
    make_standby
    TIDEMARK_DATABASE_URL=$both start $slow
    until_sql "ledger > 50 FROM chain.cursor" 20
    on_standby until_sql "ledger > 50 FROM chain.cursor" 20
    on_standby sql "ALTER SYSTEM SET primary_conninfo = ''"
    on_standby sql "SELECT pg_reload_conf()" >/dev/null
    on_standby until_sql "NOT EXISTS (SELECT 1 FROM pg_stat_wal_receiver)" 10
    local kept
    kept=$(on_standby sql "SELECT ledger FROM chain.cursor")
    until_sql "ledger > $kept + 60 FROM chain.cursor" 20
    pg_stop immediate
    sleep 0.3 # for a while there is only a server that takes no writes
    as_pg "$PG_BIN/pg_ctl" -D "$standby/data" -w promote >/dev/null
    ends_with 69 'writer: the cursor moved without us'
    export PGHOST=$standby
    [ "$(sql "SELECT ledger FROM chain.cursor")" = "$kept" ] || fail "something was written over the gap"
    TIDEMARK_DATABASE_URL=$both start $slow
    ends_well
}
wants $slow
fault "P10 failover that loses commits: stops, and started again goes on from the older cursor" failover
faults_end
