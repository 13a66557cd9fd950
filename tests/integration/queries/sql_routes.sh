#!/usr/bin/env bash
# Calls the SQL routes through the worker pool without HTTP.
. "$(dirname "$0")/../_pg.sh"
[ -x "$TIDE_BIN/tidemark-sim" ] || { echo "no tidemark-sim"; exit 1; }
pg_start
pg_writable
"$TIDE_BIN/tidemark-sim" write --lake "$PG_DIR/sim/lake" --first-ledger 1920 --ledgers "${TIDE_LEDGERS:-384}" --quiet
export TIDEMARK_DEPLOYMENT=$PG_DIR/sim/deployment.json
"$TIDE_BIN/tidemark-indexer" run --lake "$PG_DIR/sim/lake" --stop-at-end 2>"$PG_DIR/run.log" || fail "run: $(tail -2 "$PG_DIR/run.log")"
export PG_BIN PG_DIR
"$(dirname "$0")/_sql_routes.py"
"$(dirname "$0")/_scope_limited.py" names

# An index of few tables answers the routes that need only those.
PGDATABASE=postgres "$PG_BIN/createdb" few
export PGDATABASE=few TIDEMARK_DATABASE_URL="host=$PG_DIR port=5432 user=postgres dbname=few"
"$TIDE_BIN/tidemark-indexer" run --lake "$PG_DIR/sim/lake" --stop-at-end --proof none --only event.swap,state.oracle_feed,state.oracle_pending_observations 2>"$PG_DIR/few.log" ||
    fail "--only: $(tail -2 "$PG_DIR/few.log")"
printf 'GET %s\n' /api/ledgers /api/oracle/feeds /api/pools /api/vaults | "$TIDE_BIN/sql_driver" 1 4 >"$PG_DIR/few.out" 2>"$PG_DIR/few.err" ||
    fail "sql_driver: $(tail -2 "$PG_DIR/few.err")"
[ "$(cut -d' ' -f1 "$PG_DIR/few.out" | xargs)" = "200 200 503 503" ] && [ "$(grep -c '"code":"incomplete"' "$PG_DIR/few.out")" = 2 ] ||
    fail "with --only: $(cut -c1-200 "$PG_DIR/few.out")"
echo "ok an index made with --only refuses what it lacks"
