#!/usr/bin/env bash
# Sends encoded rows to a real server and reads them back: numbers of every size, times, arrays. Also COPY statements
# sent together.
. "$(dirname "$0")/../_pg.sh"
[ -x "$TIDE_BUILD/tests/unit_indexer" ] || exit 1
[ -x "$TIDE_BIN/copy_driver" ] || { echo "no copy_driver"; exit 1; }
pg_start
"$TIDE_BIN/copy_driver" >"$PG_DIR/out" 2>&1 || fail "$(cat "$PG_DIR/out")"
sql "CREATE TABLE t (n integer, v numeric(39,0), decimal text, at timestamptz, a numeric[])"
"$TIDE_BUILD/tests/unit_indexer" copy_file | "$PG_BIN/psql" -XAtqv ON_ERROR_STOP=1 -c "COPY t FROM STDIN (FORMAT binary)"
[ "$(sql "SELECT count(*) FROM t")" = 20012 ] || fail "$(sql "SELECT count(*) FROM t") rows"
bad=$(sql "SELECT decimal FROM t WHERE v::text <> decimal OR a[1] <> v OR cardinality(a) <> 2
           OR a[2] <> mod(mod(v, 18446744073709551616) + 18446744073709551616, 18446744073709551616)
           OR extract(epoch FROM at) <> mod(a[2], 4294967296) LIMIT 3")
[ -z "$bad" ] || fail "came back changed: $bad"
# The server's COPY output equals the bytes sent: digests of COPY output rely on that.
"$PG_BIN/psql" -XAtqv ON_ERROR_STOP=1 -c "COPY (SELECT * FROM t ORDER BY n) TO STDOUT (FORMAT binary)" | cmp - <("$TIDE_BUILD/tests/unit_indexer" copy_file) ||
    fail "the server's bytes differ from ours"
echo ok
