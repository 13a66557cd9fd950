#!/usr/bin/env bash
# Half as many again as decode_threads is the number of sessions that build indexes and statistics of loaded partitions. The tables
# are the same as with one session. Whole partitions have bounds of time, so a query for a span of time reads only the
# partitions of that span.
. "$(dirname "$0")/../_pg.sh"
pg_start -c log_connections=on -c autovacuum=off # which would vacuum, too
"$TIDE_BIN/tidemark-sim" write --lake "$PG_DIR/sim/lake" --first-ledger 1920 --ledgers 2240 --seed 3 --quiet
export TIDEMARK_DEPLOYMENT=$PG_DIR/sim/deployment.json TIDEMARK_LAKE=$PG_DIR/sim/lake
sessions() { grep -c 'connection authorized.*application_name=tidemark-indexer' "$PG_DIR/log" || true; }
load() { # THREADS [option]…: prints how many sessions it opened; digests go to digest.THREADS
    local before
    before=$(sessions)
    PGDATABASE=postgres "$PG_BIN/dropdb" --if-exists tidemark
    PGDATABASE=postgres "$PG_BIN/createdb" tidemark
    "$TIDE_BIN/tidemark-indexer" run --stop-at-end --decode-threads "$@" 2>"$PG_DIR/run.log" || fail "run: $(tail -2 "$PG_DIR/run.log")"
    echo $(($(sessions) - before))
    "$TIDE_BIN/tidemark-indexer" digest >"$PG_DIR/digest.$1"
}
one=$(load 1)
three=$(load 2)
[ "$three" = $((one + 3)) ] || fail "with 3 connections $three sessions, with one $one"
# Tables from 1 MiB on are vacuumed before their indexes are built, and their pages that are all visible are frozen.
# Their share depends on the snapshots of other sessions, so it is printed only. These tables are analysed, and
# parents from 1 MiB on too.
sql "CREATE EXTENSION pg_visibility"
frozen=$(sql "SELECT count(*) FILTER (WHERE s.vacuum_count = 0), sum(v.thawed), sum(v.frozen) * 100 / sum(v.pages) FROM pg_stat_user_tables AS s, LATERAL
    (SELECT count(*) FILTER (WHERE all_visible AND NOT all_frozen) AS thawed, count(*) FILTER (WHERE all_frozen) AS frozen, count(*) AS pages
    FROM pg_visibility_map(s.relid)) AS v WHERE s.relname ~ '_p1_0$' AND pg_relation_size(s.relid) >= 1048576")
echo "tables not vacuumed | pages visible, not frozen | share of pages that is frozen: ${frozen%.*} %"
[[ $frozen == "0|0|"?* ]] || fail "not vacuumed | not frozen | share: $frozen"
worse=$(sql "SELECT c.oid::regclass FROM pg_class AS c WHERE c.relkind = 'r' AND c.relispartition AND c.reltuples > 0 AND NOT EXISTS
    (SELECT FROM pg_statistic WHERE starelid = c.oid) UNION ALL SELECT i.inhparent::regclass FROM pg_inherits AS i JOIN pg_class AS c ON c.oid = i.inhrelid
    WHERE c.relkind = 'r' GROUP BY i.inhparent HAVING sum(c.relpages) >= 128 AND NOT EXISTS (SELECT FROM pg_statistic WHERE starelid = i.inhparent AND stainherit)")
[ -z "$worse" ] || fail "not analysed: $worse"

diff "$PG_DIR/digest.1" "$PG_DIR/digest.2" >&2 || fail "other rows"
[ "$(sql "SELECT count(*) FROM pg_index WHERE NOT indisvalid")" = 0 ] || fail "an index is not valid"
echo "ok 3 connections build indexes and statistics: 2 and (of 25 MiB) 1 session more than with one, equal digests"

load 3 --partition-ledgers 1000 >/dev/null
diff "$PG_DIR/digest.1" "$PG_DIR/digest.3" >&2 || fail "other rows in partitions of 1000 ledgers"
leaves() { # TABLE: partitions that a question about ledgers 2250 to 2260 by their time reads
    local span
    span=$(sql "SELECT format('%L AND %L', min(closed_at), max(closed_at)) FROM chain.ledger WHERE ledger BETWEEN 2250 AND 2260")
    sql "EXPLAIN SELECT count(*) FROM $1 WHERE closed_at BETWEEN $span" | grep -o '_p1_[0-9]* ' | sort -u | tr -d '\n'
    sql "SET constraint_exclusion = off; SELECT count(*) FROM $1 WHERE closed_at BETWEEN $span" >"$PG_DIR/all"
    sql "SELECT count(*) FROM $1 WHERE closed_at BETWEEN $span" | diff - "$PG_DIR/all" >&2 || echo "other rows"
}
for table in chain_rows.call event_rows.log; do # the first and the last partition lack ledgers, which may come
    [ "$(leaves $table)" = "_p1_1000 _p1_2000 _p1_4000 " ] || fail "$table reads $(leaves $table)"
done
echo "ok a span of time leaves out a whole partition of another time"
