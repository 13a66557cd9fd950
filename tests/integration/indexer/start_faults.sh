#!/usr/bin/env bash
# PostgreSQL dies, or its disk is full, while an index begins with the state of a checkpoint, or while the past below it is filled: the
# index is empty or has begun; the boundary is there or gone. The same command then completes it. A small tmpfs for the disk needs root.
# label: all
here=$(dirname "$0")
. "$here/../_pg.sh"
. "$here/../_writer.sh"
[ -x "$TIDE_BIN/tidemark-sim" ] || { echo "no tidemark-sim"; exit 77; }
pg_start
. "$here/../_faults.sh"
bin=$TIDE_BIN/tidemark-indexer
sim=$PG_DIR/sim
mkdir "$sim"
export TIDEMARK_DEPLOYMENT=$sim/deployment.json
"$TIDE_BIN/tidemark-sim" write --lake "$sim/lake" --archive "$sim/archive" --deployment "$TIDEMARK_DEPLOYMENT" --validators 4 --ledgers 256 --quiet
export TIDEMARK_DATABASE_URL=${TIDEMARK_DATABASE_URL/dbname=tidemark/dbname=begun} PGDATABASE=begun
fresh() { PGDATABASE=postgres "$PG_BIN/dropdb" --if-exists --force begun 2>/dev/null; PGDATABASE=postgres "$PG_BIN/createdb" begun; }
begin() { "$bin" run --lake "$sim/lake" --archive "$sim/archive" --from-checkpoint 1215 --stop-at-end --db-retry-ms-max 300 2>"$PG_DIR/start.log"; }
digests() { "$bin" digest | sort; }
empty() { [ "$(sql "SELECT (SELECT count(*) FROM chain.start) + (SELECT count(*) FROM chain.coverage) + (SELECT count(*) FROM history.ttl) + (SELECT count(*) FROM state.ttl)")" = 0 ] || fail "$1: not empty"; }
complete() { # WHEN: the same command completes what is empty, and changes nothing of what is complete
    [ "$(sql "SELECT count(*) FROM chain.start")" = 1 ] || empty "$1"
    begin || fail "$1: $(tail -2 "$PG_DIR/start.log")"
    digests | diff "$PG_DIR/digests" - >"$PG_DIR/diff" || fail "$1: $(cat "$PG_DIR/diff")"
}
fresh
begin || fail "start: $(tail -2 "$PG_DIR/start.log")"
digests >"$PG_DIR/digests"

hold() { # TABLE: locks it until the server dies
    coproc holder { exec "$PG_BIN/psql" -XAtqv ON_ERROR_STOP=1; }
    echo "BEGIN; LOCK TABLE $1 IN ACCESS EXCLUSIVE MODE; SELECT 'held';" >&"${holder[1]}"
    local held=
    read -r -t 60 -u "${holder[0]}" held || true
    [ "$held" = held ] || fail "no lock of $1"
}
# The start waits for a lock of this session when the server dies: while it makes tables, merges the state, notes the start.
dies() { # TABLE MODE
    local code=0
    fresh
    hold "$1"
    begin &
    local pid=$!
    until_sql "EXISTS (SELECT FROM pg_stat_activity WHERE application_name = 'tidemark-indexer' AND wait_event_type = 'Lock')" 120
    pg_stop "$2"
    pg_again
    wait $pid || code=$?
    case $code in 0 | 74 | 75) ;; *) fail "exit $code: $(tail -2 "$PG_DIR/start.log")" ;; esac
    complete "the server died ($1)"
    echo "exit $code"
}

full() { # MIB
    fresh
    small_disk "$PG_DIR/disk$1" "$1"
    sql "CREATE TABLESPACE small$1 LOCATION '$PG_DIR/disk$1'"
    sql "ALTER DATABASE begun SET default_tablespace = small$1"
    sql "ALTER DATABASE begun SET temp_tablespaces = pg_default"
    begin &
    local pid=$! code=0
    wait_for "$PG_DIR/start.log" 'state=53100\|start.done' 120
    grep -q 'state=53100' "$PG_DIR/start.log" || fail "the disk is too large for this test"
    empty "the disk is full"
    mount -o remount,size=256m "$PG_DIR/disk$1"
    wait $pid || code=$?
    [ $code = 0 ] || fail "exit $code: $(tail -2 "$PG_DIR/start.log")"
    complete "the disk was full"
}
# The past is filled as above. chain.start has a row as long as the boundary is there.
fill() { "$bin" backfill --lake "$sim/lake" --from 1024 --to 1215 --db-retry-ms-max 300 2>"$PG_DIR/fill.log"; }
bounded() { [ "$(sql "SELECT (SELECT count(*) FROM chain.start) || ' ' || (SELECT min(from_ledger) FROM chain.coverage) || ' ' || (SELECT min(ledger) FROM chain.ledger)")" = "1 1215 1215" ] || fail "$1: the boundary moved"; }
filled() { # WHEN
    [ "$(sql "SELECT count(*) FROM chain.start")" = 0 ] || bounded "$1"
    fill || fail "$1: $(tail -2 "$PG_DIR/fill.log")"
    digests | diff "$PG_DIR/digests.whole" - >"$PG_DIR/diff" || fail "$1: $(cat "$PG_DIR/diff")"
}
dies_filling() { # TABLE MODE
    local code=0
    fresh
    begin || fail "start: $(tail -2 "$PG_DIR/start.log")"
    hold "$1"
    fill &
    local pid=$!
    until_sql "EXISTS (SELECT FROM pg_stat_activity WHERE application_name LIKE 'tidemark-indexer%' AND wait_event_type = 'Lock')" 120
    pg_stop "$2"
    pg_again
    wait $pid || code=$?
    case $code in 0 | 74 | 75) ;; *) fail "exit $code: $(tail -2 "$PG_DIR/fill.log")" ;; esac
    filled "the server died ($1)"
    echo "exit $code"
}
full_filling() { # MIB
    fresh
    begin || fail "start: $(tail -2 "$PG_DIR/start.log")"
    small_disk "$PG_DIR/disk.fill" "$1"
    sql "CREATE TABLESPACE small_fill LOCATION '$PG_DIR/disk.fill'"
    sql "ALTER DATABASE begun SET default_tablespace = small_fill"
    sql "ALTER DATABASE begun SET temp_tablespaces = pg_default"
    fill &
    local pid=$! code=0
    wait_for "$PG_DIR/fill.log" 'state=53100\|fill.done' 120
    grep -q 'state=53100' "$PG_DIR/fill.log" || fail "the disk is too large for this test"
    bounded "the disk is full"
    mount -o remount,size=256m "$PG_DIR/disk.fill"
    wait $pid || code=$?
    case $code in 0 | 74 | 75) ;; *) fail "exit $code: $(tail -2 "$PG_DIR/fill.log")" ;; esac
    filled "the disk was full"
    echo "exit $code"
}
unmount() { umount -l "$PG_DIR"/disk* 2>/dev/null || true; }
PG_AT_EXIT=unmount

fault "the server dies while tables are made" dies history_rows.ttl immediate
fault "the server dies while state is merged" dies state.ttl immediate
fault "the server is stopped while state is merged" dies state.ttl fast
fault "the server dies while the start is noted" dies chain.start immediate
fault "the disk is full" full 2
fresh
"$bin" run --lake "$sim/lake" --stop-at-end 2>"$PG_DIR/run.log" || fail "run: $(tail -2 "$PG_DIR/run.log")"
digests >"$PG_DIR/digests.whole"
! diff -q "$PG_DIR/digests" "$PG_DIR/digests.whole" >/dev/null || fail "the digests of the state alone are those of the whole index"
fault "the server dies while the past is loaded" dies_filling event_rows.log immediate
fault "the server is stopped while the past is attached" dies_filling history_rows.ttl fast
fault "the server dies while the past is shown" dies_filling chain.coverage immediate
fault "the server dies while the boundary is dropped" dies_filling chain.start immediate
fault "the disk is full while the past is loaded" full_filling 2
faults_end
