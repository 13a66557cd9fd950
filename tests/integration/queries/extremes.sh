#!/usr/bin/env bash
# Fills every column of every event, entry and version with extreme values that a ledger can hold: no rollup, view,
# function or route fails on a stored value, and each view works with a forced parallel plan too. By hand, all four
# kinds of values: TIDE_VALUES="most least odd mixed". label: all, label: sanitize
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../_pg.sh"
. "$here/../_api.sh"
[ -x "$TIDE_BIN/tidemark-sim" ] || { echo "no tidemark-sim"; exit 1; }
pg_start
"$TIDE_BIN/tidemark-sim" write --lake "$PG_DIR/sim/lake" --first-ledger 1920 --ledgers 224 --quiet
export TIDEMARK_DEPLOYMENT=$PG_DIR/sim/deployment.json PG_BIN PG_DIR
index() {
    "$TIDE_BIN/tidemark-indexer" run --lake "$PG_DIR/sim/lake" --proof none --stop-at-end 2>"$PG_DIR/run.log" ||
        fail "$1: $(grep -E 'level=error' "$PG_DIR/run.log" || tail -2 "$PG_DIR/run.log")"
}
index "the chain as it is"
pg_writable
extremes=$here/_extremes.py
"$extremes" prepare
for values in ${TIDE_VALUES:-${TIDE_LONG:+most} mixed}; do
    "$extremes" plant "$values"
    sql "DELETE FROM rollup.built" # the next start makes all of them anew
    index "rollups over $values"
    "$extremes" views "$values"
    "$extremes" routes "$values"
    rm -rf "$PG_DIR/cache"
    API_READY=/healthz api_start
    "$extremes" hot "$values" "$API_URL" || { grep -iE "error" "$PG_DIR/api.log" | tail -5 >&2; fail "look-ups over $values"; }
    api_stop || fail "the API's exit code over $values"
done
