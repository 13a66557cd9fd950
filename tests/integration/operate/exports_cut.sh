#!/usr/bin/env bash
# Proves that no command prints only a part of its rows and exits with 0. Its connection is cut after more and more
# bytes, its session is ended (57P01), a standby cancels its statement (40001) or drops its database (57P04).
# label: all
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../_pg.sh"
. "$here/../_api.sh"
[ -x "$TIDE_BIN/fault_proxy" ] && [ -x "$TIDE_BIN/tidemark-sim" ] || { echo "programs not built"; exit 1; }
pg_start
driver=none # _faults.sh names it
. "$here/../_faults.sh"
standby=$PG_DIR/standby
PG_AT_EXIT="cluster_down $standby immediate"
api_index 128
proxy_up
direct=$TIDEMARK_DATABASE_URL

# The commands as a user types them. verify and status read rows in the same ways.
commands=("export events" "export calls" "export state" "export events --format csv" "export calls --format csv" "export state --format csv"
    "export state --ledger 1100" digest verify)
judge() { # WHAT CODE OUTPUT COMMAND: 0 means whole
    if [ "$2" = 0 ]; then
        cmp -s "$3" "$PG_DIR/whole" || fail "$4, $1: exit code 0 with $(wc -c <"$3") of $(wc -c <"$PG_DIR/whole") bytes"
        whole=$((whole + 1))
    else
        [ -s "$PG_DIR/err" ] || fail "$4, $1: exit code $2 and no word"
        short=$((short + 1))
    fi
}
ask() { # URL COMMAND: its exit code in $code
    code=0
    TIDEMARK_DATABASE_URL=$1 timeout 60 "$TIDE_BIN/tidemark-indexer" $2 >"$PG_DIR/part" 2>"$PG_DIR/err" || code=$?
}
for command in "${commands[@]}"; do
    ask "$direct" "$command"
    [ $code = 0 ] || fail "$command: $(cat "$PG_DIR/err")"
    cp "$PG_DIR/part" "$PG_DIR/whole"
    whole=0 short=0
    tell clear
    ask "$proxied" "$command"
    judge "through the proxy" $code "$PG_DIR/part" "$command"
    for bytes in 200 2000 9000 40000 150000 400000; do
        tell clear
        tell rule answer cut-at:$bytes
        ask "$proxied" "$command"
        judge "cut after $bytes bytes" $code "$PG_DIR/part" "$command"
    done
    [ $short -ge 3 ] && [ $whole -ge 1 ] || fail "$command: $short cuts, $whole whole: the test proves little"
    cuts=$short

    # A slow reader: the session ends in the middle. The session that was cut last may outlive its process.
    until_sql "count(*) = 0 FROM pg_stat_activity WHERE application_name LIKE 'tidemark-%'" 30
    tell clear
    tell rule answer throttle:40000 times=0
    TIDEMARK_DATABASE_URL=$proxied timeout 120 "$TIDE_BIN/tidemark-indexer" $command >"$PG_DIR/part" 2>"$PG_DIR/err" &
    pid=$!
    until_sql "count(*) = 1 FROM pg_stat_activity WHERE application_name LIKE 'tidemark-%' AND query ~* 'FETCH|COPY|SELECT.*FROM (event|state|history|chain.call)'" 30
    [ "$(sql "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'tidemark-%'")" = t ] || fail "$command: no session"
    code=0
    wait $pid || code=$?
    [ $code != 0 ] || fail "$command: its session was ended, and it says nothing"
    judge "its session was ended" $code "$PG_DIR/part" "$command"
    echo "ok $command: cut $cuts times and ended once, never short with exit code 0; the last word: $(tail -n 1 "$PG_DIR/err" | cut -c1-110)"
done
tell clear

PGDATABASE=postgres sql "CREATE DATABASE dropped TEMPLATE tidemark"
# The standby reports its oldest snapshot: no conflict over removed rows ends an export before the conflict that is its test.
pg_standby "$standby" -c max_standby_streaming_delay=0 -c hot_standby_feedback=on -c wal_receiver_status_interval=1s
until_sql "count(backend_xmin) = 1 FROM pg_stat_replication" 60
PGHOST=$standby until_sql "pg_last_wal_replay_lsn() >= '$(sql "SELECT pg_current_wal_insert_lsn()")'" 60
read_slowly() { # DATABASE COMMAND: reads from the standby as slowly as its reader wants; $pid, fd 7
    rm -f "$PG_DIR/pipe" "$PG_DIR/code"
    mkfifo "$PG_DIR/pipe"
    # The session of the export before may outlive its process.
    PGHOST=$standby until_sql "count(*) = 0 FROM pg_stat_activity WHERE application_name = 'tidemark-export'" 60
    (
        code=0
        TIDEMARK_DATABASE_URL="host=$standby port=5432 user=postgres dbname=$1" "$TIDE_BIN/tidemark-indexer" $2 >"$PG_DIR/pipe" 2>"$PG_DIR/err" || code=$?
        echo $code >"$PG_DIR/code"
    ) &
    exec 7<"$PG_DIR/pipe"
    PGHOST=$standby AWAIT_LOG=$PG_DIR/err await "$2, which waits for its reader" \
        sql_says "count(*) = 1 FROM pg_stat_activity WHERE application_name = 'tidemark-export' AND query LIKE 'FETCH%'"
}
read_rest() { # SQLSTATE WHAT
    cat <&7 >"$PG_DIR/part"
    wait_for "$PG_DIR/code" .
    [ "$(cat "$PG_DIR/code")" != 0 ] && grep "$1" "$PG_DIR/err" >/dev/null || fail "$2: exit code $(cat "$PG_DIR/code"): $(cat "$PG_DIR/err")"
    echo "ok $2: exit code $(cat "$PG_DIR/code"), $(tail -n 1 "$PG_DIR/err" | cut -c1-140)"
}
# An export of events may have read any of its tables so far, not yet the largest one.
declare -A read_by=([calls]=chain.call)
read_by[events]=$(sql "SELECT string_agg(oid::regclass::text, ', ') FROM pg_class WHERE relnamespace = 'event'::regnamespace AND relkind IN ('r', 'p', 'v')")
for what in events calls; do
    read_slowly tidemark "export $what"
    sql "BEGIN; LOCK TABLE ${read_by[$what]} IN ACCESS EXCLUSIVE MODE; SELECT pg_switch_wal(); COMMIT" >/dev/null
    PGHOST=$standby until_sql "pg_last_wal_replay_lsn() >= '$(sql "SELECT pg_current_wal_insert_lsn()")'" 60
    read_rest 40001 "export $what, cancelled by a standby"
done
read_slowly dropped "export calls"
PGDATABASE=postgres sql "DROP DATABASE dropped"
PGHOST=$standby PGDATABASE=postgres until_sql "count(*) = 0 FROM pg_database WHERE datname = 'dropped'" 60
read_rest 57P04 "export calls of a database that is dropped"
