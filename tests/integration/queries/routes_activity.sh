#!/usr/bin/env bash
# Calls the routes of events, transactions, activity and the stability pool as SQL routes: the answers equal the
# tables, and the real contract's recorded answers where they exist. label: all
. "$(dirname "$0")/../_pg.sh"
[ -x "$TIDE_BIN/tidemark-sim" ] || { echo "no tidemark-sim"; exit 1; }
pg_start
pg_writable
export PG_BIN PG_DIR
"$TIDE_BIN/tidemark-sim" write --lake "$PG_DIR/sim/lake" --first-ledger 1920 --ledgers "${TIDE_LEDGERS:-640}" --close-step 3600 --quiet
"$TIDE_BIN/tidemark-indexer" run --lake "$PG_DIR/sim/lake" --deployment "$PG_DIR/sim/deployment.json" --stop-at-end 2>"$PG_DIR/run.log" ||
    fail "run: $(tail -2 "$PG_DIR/run.log")"
"$(dirname "$0")/_routes_activity.py" sim

[ -n "${TIDE_LONG:-}" ] || exit 0 # golden.views_http compares the recorded answers
for shared in "${TIDE_SHARED:-}" "$TIDE_SOURCE_DIR/../shared" "$TIDE_SOURCE_DIR/../../shared"; do
    chains=$shared/fixtures/protocol
    [ -n "$shared" ] && [ -d "$chains" ] && break
    chains=
done
[ -n "$chains" ] || { echo "no shared/fixtures/protocol: the contracts' own answers were not compared"; exit 0; }
for chain in a b; do
    PGDATABASE=postgres "$PG_BIN/dropdb" --if-exists tidemark
    PGDATABASE=postgres "$PG_BIN/createdb" tidemark
    pg_writable
    "$TIDE_BIN/tidemark-indexer" run --lake "$chains/$chain/lake" --deployment "$chains/$chain/deployment.json" --stop-at-end 2>"$PG_DIR/run.log" ||
        fail "run: $(tail -2 "$PG_DIR/run.log")"
    zstd -dqc "$chains/$chain/views.jsonl.zst" >"$PG_DIR/views"
    "$(dirname "$0")/_routes_activity.py" views "$PG_DIR/views"
done
