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
diff "$PG_DIR/digest.1" "$PG_DIR/digest.3" >&2 || fail "other rows"
[ "$(sql "SELECT count(*) FROM pg_index WHERE NOT indisvalid")" = 0 ] || fail "an index is not valid"
echo "ok 3 connections build indexes: 2 sessions more than with one, equal digests"
