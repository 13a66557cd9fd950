#!/usr/bin/env bash
# A range of ledgers is detached while a lake is written: the lake has it whole, or is refused it. A lake whose writer did not take care is
# found by `check`, and mended by `check --repair` once the range is attached again. (label: all)
. "$(dirname "$0")/_lake.sh"
pg_start
export TIDEMARK_PARTITION_LEDGERS=1000
lake_chain --first-ledger 1856 --ledgers 384 --txs 8
ask() { lake query "$1" "${@:3}" -- "COPY ($2) TO '$PG_DIR/csv' (HEADER false, DELIMITER '|')" >/dev/null && cat "$PG_DIR/csv"; }

waits() { [ "$(sql "SELECT count(*) > 0 FROM pg_stat_activity WHERE usename = 'lake' AND wait_event_type = 'Lock'")" = t ]; }
# The change is held open until the writer has its snapshot and waits for it.
beside() { # COMMAND…: the exit is that of the command
    local writer code=0 mover
    rm -f "$PG_DIR/held"
    coproc MOVER { exec "$PG_BIN/psql" -XAtqv ON_ERROR_STOP=1 2>"$PG_DIR/mover"; }
    mover=$MOVER_PID
    printf 'BEGIN; CALL chain.detach_partition(1::smallint, 1000);\n\\! touch %s\n' "$PG_DIR/held" >&"${MOVER[1]}"
    AWAIT_LOG=$PG_DIR/mover await "the range to be detached" test -e "$PG_DIR/held"
    "$@" >"$PG_DIR/beside" 2>&1 & writer=$!
    AWAIT_PID=$writer AWAIT_LOG=$PG_DIR/beside await "a reader that waits" waits
    echo "COMMIT;" >&"${MOVER[1]}"
    eval "exec ${MOVER[1]}>&-"
    wait "$mover" || fail "$(cat "$PG_DIR/mover")"
    wait $writer || code=$?
    return $code
}
code=0
beside lake update e --range 20 --from 1856 --tables analyst.swaps || code=$?
[ $code = 65 ] && grep -q "ledgers 1000 to 1999 of deployment 1 are archived" "$PG_DIR/beside" || fail "update beside a detach: exit $code: $(cat "$PG_DIR/beside")"
sql "CALL chain.attach_partition(1::smallint, 1000)"

# The writer of before: without the lock and its mark.
cp -R "$lake_tool" "$PG_DIR/careless"
sed -i 's/"LOCK TABLE analyst.archived IN ACCESS SHARE MODE"/"SELECT 1"/' "$PG_DIR/careless/database.py"
sed -i 's/, "tidemark.held": "true"//' "$PG_DIR/careless/tables.py"
! cmp -s "$PG_DIR/careless/database.py" "$lake_tool/database.py" && ! cmp -s "$PG_DIR/careless/tables.py" "$lake_tool/tables.py" || fail "the writer of before is that of now"
careless() { lake_waits; TIDEMARK_DATABASE_URL=$LAKE_URL TIDE_LAKE_ENV=$TIDE_LAKE_ENV "$PG_DIR/careless/lake" "$@"; }
lake update f --range 20 --from 1856 --tables analyst.transfers --quiet # a range that was whole before it was detached
careless update --lake "$PG_DIR/f" --tables analyst.pools --quiet
beside careless update --lake "$PG_DIR/f" --tables analyst.swaps analyst.transfers || fail "the careless writer: $(cat "$PG_DIR/beside")"
grep -q "analyst.swaps: ledgers 1856 to 1999, 0 rows" "$PG_DIR/beside" || fail "the careless writer was not careless: $(cat "$PG_DIR/beside")"
refused 1 "analyst.swaps: ledgers 1856 to 1999 of deployment 1: its 0 rows were read while the database detached ledgers 1000 to 1999" lake check f
! grep -q "DIFFERS analyst.transfers" "$PG_DIR/out" || fail "a range that is whole is suspected: $(cat "$PG_DIR/out")"
refused 1 "its 0 rows were read while" lake check f --repair
sql "CALL chain.attach_partition(1::smallint, 1000)"
refused 1 "0 rows in the lake" lake check f
refused 0 "replaced" lake check f --repair
refused 0 " 0 differ" lake check f
[ "$(ask f "SELECT count(*) FROM analyst.swaps WHERE ledger < 2000")" = "$(sql "SELECT count(*) FROM analyst.swaps WHERE ledger < 2000")" ] || fail "the repaired range has $(cat "$PG_DIR/csv") swaps"
