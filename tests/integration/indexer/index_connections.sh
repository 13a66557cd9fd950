#!/usr/bin/env bash
# db_index_connections: so many sessions build the indexes of a loaded partition, and the tables are those that one session makes.
. "$(dirname "$0")/../_pg.sh"
pg_start -c log_connections=on
"$TIDE_BIN/tidemark-sim" write --lake "$PG_DIR/sim/lake" --events 90000 --txs 60 --seed 3 --quiet
export TIDEMARK_DEPLOYMENT=$PG_DIR/sim/deployment.json TIDEMARK_LAKE=$PG_DIR/sim/lake
sessions() { grep -c 'connection authorized.*application_name=tidemark-indexer' "$PG_DIR/log" || true; }
load() { # CONNECTIONS: prints how many sessions it opened; digests go to digest.CONNECTIONS
    local before
    before=$(sessions)
    PGDATABASE=postgres "$PG_BIN/dropdb" --if-exists tidemark
    PGDATABASE=postgres "$PG_BIN/createdb" tidemark
    "$TIDE_BIN/tidemark-indexer" run --stop-at-end --db-index-connections "$1" 2>"$PG_DIR/run.log" || fail "run: $(tail -2 "$PG_DIR/run.log")"
    echo $(($(sessions) - before))
    "$TIDE_BIN/tidemark-indexer" digest >"$PG_DIR/digest.$1"
}
one=$(load 1)
three=$(load 3)
[ "$three" = $((one + 2)) ] || fail "with 3 connections $three sessions, with one $one"
# Tables of a MiB are frozen, all visible to index scans, but for a last batch that a session still saw as running; they and their parents are analysed.
sql "CREATE EXTENSION pg_visibility"
frozen=$(sql "SELECT sum(v.frozen) * 10 > sum(v.pages) * 8 FROM pg_class AS c, LATERAL (SELECT count(*) FILTER (WHERE all_visible AND all_frozen) AS frozen, count(*) AS pages
    FROM pg_visibility_map(c.oid)) AS v WHERE c.relname ~ '_p1_0$' AND c.relkind = 'r' AND pg_relation_size(c.oid) >= 1048576")
[ "$frozen" = t ] || fail "frozen more than 80 % of the pages: '$frozen'"
worse=$(sql "SELECT DISTINCT i.inhparent::regclass FROM pg_inherits AS i JOIN pg_class AS c ON c.oid = i.inhrelid WHERE c.relkind = 'r' AND c.reltuples > 0
    AND (NOT EXISTS (SELECT FROM pg_statistic WHERE starelid = i.inhparent AND stainherit) OR NOT EXISTS (SELECT FROM pg_statistic WHERE starelid = c.oid))")
[ -z "$worse" ] || fail "not analysed: $worse"

diff "$PG_DIR/digest.1" "$PG_DIR/digest.3" >&2 || fail "other rows"
[ "$(sql "SELECT count(*) FROM pg_index WHERE NOT indisvalid")" = 0 ] || fail "an index is not valid"
echo "ok 3 connections build indexes: 2 sessions more than with one, equal digests"
