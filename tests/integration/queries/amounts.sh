#!/usr/bin/env bash
# Tokens of 0 to 38 decimals, of none and of more, in every role that a token has, that change them half-way: each scaled
# value of every route, of the stream and of every view is what integer arithmetic makes of the raw units beside it.
# label: all
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../_pg.sh"
. "$here/../_api.sh"
[ -x "$TIDE_BIN/tidemark-sim" ] || { echo "skipped: no tidemark-sim"; exit 77; }
pg_start
"$TIDE_BIN/tidemark-sim" write --lake "$PG_DIR/sim/lake" --first-ledger 1920 --ledgers 224 --quiet
export TIDEMARK_DEPLOYMENT=$PG_DIR/sim/deployment.json PG_BIN PG_DIR
index_all() {
    "$TIDE_BIN/tidemark-indexer" run --lake "$PG_DIR/sim/lake" --proof none --stop-at-end 2>"$PG_DIR/run.log" || fail "run: $(tail -2 "$PG_DIR/run.log")"
}
index_all
pg_writable
"$here/_amounts.py" functions
for turn in ${TIDE_TURNS:-${TIDE_LONG:+1 2 3 5 6 7 8 9} 0 4}; do
    "$here/_amounts.py" plant "$turn"
    "$PG_BIN/psql" -Xqc "DELETE FROM rollup.built" # the next writer folds what is planted
    index_all
    "$here/_amounts.py" views "$turn" || fail "views, round $turn"
    rm -rf "$PG_DIR/cache"
    API_READY=/api/prices api_start --api-rate-lookup 0 --api-rate-query 0
    "$here/_amounts.py" routes "$turn" "$API_URL" || fail "routes, round $turn"
    api_stop || fail "the API's exit code"
done
