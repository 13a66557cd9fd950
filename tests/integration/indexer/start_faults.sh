#!/usr/bin/env bash
# PostgreSQL dies, or its disk is full, while an index begins with the state of a checkpoint, or while the past below it is filled: the
# index is empty or has begun; the boundary is there or gone. The same command then completes it. A small tmpfs for the disk needs root.
# label: all
here=$(dirname "$0")
. "$here/../_pg.sh"
. "$here/../_writer.sh"
[ -x "$TIDE_BIN/tidemark-sim" ] || { echo "no tidemark-sim"; exit 1; }
pg_start
. "$here/../_faults.sh"
bin=$TIDE_BIN/tidemark-indexer
sim=$PG_DIR/sim
mkdir "$sim"
export TIDEMARK_DEPLOYMENT=$sim/deployment.json
"$TIDE_BIN/tidemark-sim" write --lake "$sim/lake" --archive "$sim/archive" --deployment "$TIDEMARK_DEPLOYMENT" --validators 4 --ledgers 256 --quiet
export TIDEMARK_DATABASE_URL=${TIDEMARK_DATABASE_URL/dbname=tidemark/dbname=begun} PGDATABASE=begun
fresh() { PGDATABASE=postgres "$PG_BIN/dropdb" --if-exists --force begun 2>/dev/null; PGDATABASE=postgres "$PG_BIN/createdb" begun; }
begin() { "$bin" run --lake "$sim/lake" --archive "$sim/archive" --from-checkpoint 1215 --stop-at-end --retry-ms-max 300 2>"$PG_DIR/begin.log"; }
fill() { "$bin" backfill --lake "$sim/lake" --from 1024 --to 1215 --retry-ms-max 300 2>"$PG_DIR/fill.log"; }
digests() { "$bin" digest | sort; }
same() { digests | diff "$PG_DIR/digests.$1" - >"$PG_DIR/diff" || fail "$2: $(cat "$PG_DIR/diff")"; }
# What is there before a command has succeeded: nothing, or the checkpoint's state with the boundary below it. chain.start has a row as
# long as the boundary is there.
before_begin() { [ "$(sql "SELECT (SELECT count(*) FROM chain.start) + (SELECT count(*) FROM chain.coverage) + (SELECT count(*) FROM history.ttl) + (SELECT count(*) FROM state.ttl)")" = 0 ] || fail "$1: not empty"; }
before_fill() { [ "$(sql "SELECT (SELECT count(*) FROM chain.start) || ' ' || (SELECT min(from_ledger) FROM chain.coverage) || ' ' || (SELECT min(ledger) FROM chain.ledger)")" = "1 1215 1215" ] || fail "$1: the boundary moved"; }
complete() { # COMMAND WHEN: the same command completes an unfinished index, and changes nothing of a finished one
    local finished=1
    [ "$1" = begin ] || finished=0
    [ "$(sql "SELECT count(*) FROM chain.start")" = $finished ] || "before_$1" "$2"
    "$1" || fail "$2: $(tail -2 "$PG_DIR/$1.log")"
    same "$1" "$2"
}
prepare() { # COMMAND: the database in which it runs
    fresh
    [ "$1" = begin ] || begin || fail "start: $(tail -2 "$PG_DIR/begin.log")"
}
prepare begin
begin || fail "start: $(tail -2 "$PG_DIR/begin.log")"
digests >"$PG_DIR/digests.begin"
fresh
"$bin" run --lake "$sim/lake" --stop-at-end 2>"$PG_DIR/run.log" || fail "run: $(tail -2 "$PG_DIR/run.log")"
digests >"$PG_DIR/digests.fill"
! diff -q "$PG_DIR/digests.begin" "$PG_DIR/digests.fill" >/dev/null || fail "the digests of the state alone are those of the whole index"

hold() { # TABLE: locks it until the server dies
    coproc holder { exec "$PG_BIN/psql" -XAtqv ON_ERROR_STOP=1; }
    echo "BEGIN; LOCK TABLE $1 IN ACCESS EXCLUSIVE MODE; SELECT 'held';" >&"${holder[1]}"
    local held=
    read -r -t 60 -u "${holder[0]}" held || true
    [ "$held" = held ] || fail "no lock of $1"
}
# The command waits for a lock of this session when the server dies.
dies() { # COMMAND TABLE MODE
    local code=0
    prepare "$1"
    hold "$2"
    "$1" &
    local pid=$!
    until_sql "EXISTS (SELECT FROM pg_stat_activity WHERE application_name LIKE 'tidemark-indexer%' AND wait_event_type = 'Lock')" 120
    pg_stop "$3"
    pg_again
    wait $pid || code=$?
    case $code in 0 | 74 | 75) ;; *) fail "exit $code: $(tail -2 "$PG_DIR/$1.log")" ;; esac
    complete "$1" "the server died ($2)"
    echo "exit $code"
}

full() { # COMMAND MIB
    local name=small_$1
    prepare "$1"
    small_disk "$PG_DIR/disk.$1" "$2"
    sql "CREATE TABLESPACE $name LOCATION '$PG_DIR/disk.$1'"
    sql "ALTER DATABASE begun SET default_tablespace = $name"
    sql "ALTER DATABASE begun SET temp_tablespaces = pg_default"
    rm -f "$PG_DIR/$1.log" # an earlier one has the words that are waited for
    "$1" &
    local pid=$! code=0
    wait_for "$PG_DIR/$1.log" 'state=53100\|start.done\|fill.done' 120
    grep -q 'state=53100' "$PG_DIR/$1.log" || fail "the disk is too large for this test"
    "before_$1" "the disk is full"
    mount -o remount,size=256m "$PG_DIR/disk.$1"
    wait $pid || code=$?
    case $code in 0 | 74 | 75) ;; *) fail "exit $code: $(tail -2 "$PG_DIR/$1.log")" ;; esac
    complete "$1" "the disk was full"
    echo "exit $code"
}
unmount() { umount -l "$PG_DIR"/disk* 2>/dev/null || true; }
PG_AT_EXIT=unmount

fault "the server dies while tables are made" dies begin history_rows.ttl immediate
fault "the server dies while state is merged" dies begin state.raw immediate
fault "the server is stopped while state is merged" dies begin state.raw fast
fault "the server dies while the start is noted" dies begin chain.start immediate
fault "the disk is full" full begin 2
fault "the server dies while the past is loaded" dies fill event_rows.log immediate
fault "the server is stopped while the past is attached" dies fill history_rows.ttl fast
fault "the server dies while the past is shown" dies fill chain.coverage immediate
fault "the server dies while the boundary is dropped" dies fill chain.start immediate
fault "the disk is full while the past is loaded" full fill 2
faults_end
