#!/usr/bin/env bash
# Archives old events: they are dumped, dropped, restored and attached again. Meanwhile commands that need them refuse
# and name the range, state, history and rollups answer as before, and indexing continues.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../_pg.sh"
pg_start
bin=$TIDE_BIN/tidemark-indexer
sim=$TIDE_BIN/tidemark-sim
[ -x "$sim" ] || { echo "no tidemark-sim"; exit 1; }
export ASAN_OPTIONS=detect_leaks=0 TIDEMARK_PARTITION_LEDGERS=1000
chain=(--lake "$PG_DIR/lake" --deployment "$PG_DIR/deployment.json" --first-ledger 1856 --txs 8 --quiet)
"$sim" write "${chain[@]}" --ledgers 384
export TIDEMARK_DEPLOYMENT=$PG_DIR/deployment.json TIDEMARK_LAKE=$PG_DIR/lake
run() { "$bin" run --stop-at-end "$@" 2>"$PG_DIR/run.log" || { tail "$PG_DIR/run.log" >&2; fail "run $*"; }; }
refused() { # EXIT PATTERN COMMAND…
    local want=$1 pattern=$2 code=0
    shift 2
    "$@" >"$PG_DIR/out" 2>"$PG_DIR/err" || code=$?
    [ "$code" = "$want" ] && grep -q "$pattern" "$PG_DIR/err" || fail "$*: exit $code, not $want: $(cat "$PG_DIR/err")"
}
psql_x() { "$PG_BIN/psql" -XAtqv ON_ERROR_STOP=1 -c "$1"; }

run
events=$(sql "SELECT count(*) FROM event.log WHERE ledger < 2000")
[ "$events" -gt 500 ] || fail "hardly any events"
candles=$(sql "SELECT md5(string_agg(c::text, '|' ORDER BY c::text)) FROM rollup.candle AS c")

refused 1 "has no partition that begins with ledger 1500" psql_x "CALL chain.detach_partition(1::smallint, 1500)"
refused 1 "not indexed up to their end" psql_x "CALL chain.detach_partition(1::smallint, 2000)"
refused 1 "deployment 1 has no detached partition that begins with ledger 1000" psql_x "CALL chain.attach_partition(1::smallint, 1000)"
sql "CALL chain.detach_partition(1::smallint, 1000)"
refused 1 "are detached already" psql_x "CALL chain.detach_partition(1::smallint, 1000)"
[ "$(sql "SELECT count(*), min(ledger) >= 2000 FROM event.log")" = "$(sql "SELECT count(*), true FROM event.log WHERE ledger >= 2000")" ] || fail "not detached"
[ "$(sql "SELECT count(*) FROM chain.ledger WHERE ledger < 2000")" = 144 ] || fail "ledgers are gone"

named="events of ledgers 1000 to 1999 are archived"
refused 67 "$named" "$bin" verify
refused 67 "$named" "$bin" digest
refused 67 "$named" "$bin" reproject
"$bin" verify --from 2000 >/dev/null || fail "verify of what is there"
[ "$(sql "SELECT md5(string_agg(c::text, '|' ORDER BY c::text)) FROM rollup.candle AS c")" = "$candles" ] || fail "candles changed"

if [ -x "$TIDE_BIN/sql_driver" ]; then # the API: all that is there, then the refusal
    export PG_BIN PG_DIR
    "$here/_archive.py" || fail "the API"
fi

. "$here/../_api.sh" # the stream: refused where events are wanted, gone on with where they are not
api_start
streamed() { # STATUS PATTERN QUERY
    local got reader pattern=$2
    : >"$PG_DIR/out"
    curl -siN -m 90 -o "$PG_DIR/out" "$API_URL/api/stream?$3" & reader=$!
    # A stream that is not refused has no end: it is read until it says that.
    within 60 eval 'grep -q "$pattern" "$PG_DIR/out" || gone $reader' || true
    kill $reader 2>/dev/null || true
    wait $reader || true
    got=$(sed -n '1s/^HTTP[^ ]* \([0-9]*\).*/\1/p' "$PG_DIR/out")
    [ "$got" = "$1" ] && grep -q "$2" "$PG_DIR/out" || fail "stream $3: $got, not $1: $(head -c 300 "$PG_DIR/out")"
}
streamed 410 "ledgers 1000 to 1999" "topics=ledger,event&after=1:1990"
streamed 200 "^id: 1:1991$" "topics=ledger&after=1:1990"
streamed 200 "^id: 1:2000:e:" "topics=event&after=1:1999"
api_stop || fail "api: exit $?"

tables=$(sql "SELECT unnest(tables) FROM chain.archive")
mapfile -t dumped < <(sed 's/.*/--table=&/' <<<"$tables")
"$PG_BIN/pg_dump" -Fc "${dumped[@]}" -f "$PG_DIR/archive.dump" || fail "pg_dump"
# shellcheck disable=SC2001
sql "$(sed 's/.*/DROP TABLE &;/' <<<"$tables")"
refused 1 "does not exist: restore it first" psql_x "CALL chain.attach_partition(1::smallint, 1000)"

"$sim" write "${chain[@]}" --ledgers 448 --append
run # indexing goes on
sql "UPDATE rollup.built SET version = 0"
refused 67 "tables of ledgers 1000 to 1999 are archived" "$bin" run --stop-at-end

"$PG_BIN/pg_restore" -d "$PGDATABASE" "$PG_DIR/archive.dump" || fail "pg_restore"
other="was detached from another database"
sql "UPDATE chain.word SET word = word || 'x' WHERE id = (SELECT min(id) FROM chain.word)"
refused 1 "$other" psql_x "CALL chain.attach_partition(1::smallint, 1000)"
sql "UPDATE chain.word SET word = left(word, -1) WHERE id = (SELECT min(id) FROM chain.word)"
mark=$(sql "SELECT obj_description('$(tail -n 1 <<<"$tables")'::regclass)")
sql "COMMENT ON TABLE $(tail -n 1 <<<"$tables") IS NULL"
refused 1 "$other" psql_x "CALL chain.attach_partition(1::smallint, 1000)"
sql "COMMENT ON TABLE $(tail -n 1 <<<"$tables") IS '$mark'"
sql "CALL chain.attach_partition(1::smallint, 1000)"
[ "$(sql "SELECT count(*) FROM event.log WHERE ledger < 2000")" = "$events" ] || fail "not all events are back"
run
"$bin" verify --lake "$PG_DIR/lake" >"$PG_DIR/out" 2>&1 || fail "verify: $(cat "$PG_DIR/out")"
[ "$(sql "SELECT count(*) FROM chain.archive")" = 0 ] || fail "still archived"
missing=$(sql "SELECT count(*) FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid JOIN pg_index x ON x.indrelid = i.inhparent
    WHERE c.relname LIKE '%\_p1\_1000' AND c.relkind = 'r' AND NOT EXISTS (SELECT FROM pg_index l JOIN pg_inherits h
      ON h.inhrelid = l.indexrelid WHERE l.indrelid = c.oid AND h.inhparent = x.indexrelid)")
[ "$missing" = 0 ] || fail "$missing indexes are missing"
echo "detached, dumped, dropped, restored, attached: $events events"
