# Starts a simulated chain whose newest ledger closes now, its index, an indexer that follows it, and tidemark-api
# with
# the dashboard. Sourced, not run. INDEXER is the process id of the indexer.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/../integration/_pg.sh"
. "$here/../integration/_api.sh"
. "$here/_page.sh"
[ -f "$TIDE_SOURCE_DIR/build/dashboard/dist/index.html" ] || { echo "the dashboard is not built: tools/dashboard"; exit 1; }

dashboard_start() { # [AGO: seconds since the newest closed]
    # In the simulator's first chain, vaults are liquidated in its ledgers 262 and 271; tests ask as of the 270th too.
    local ledgers=310 first length
    # The length of the chain's past is measured with a chain that is written first and deleted.
    "$TIDE_BIN/tidemark-sim" write --lake "$PG_DIR/past/lake" --deployment "$PG_DIR/past.json" --ledgers $ledgers --start-time 1000000000 --ledgers-per-object 1 --quiet
    first=$(find "$PG_DIR/past/lake" -name '*.zst' | LC_ALL=C sort | sed -n 1p)
    length=$("$TIDE_BIN/tidemark-indexer" dump --kinds ledger "$first" | sed -n 's/.*"closeTime":"\{0,1\}\([0-9]*\).*/\1/p')
    rm -rf "$PG_DIR/past"
    "$TIDE_BIN/tidemark-sim" write --lake "$PG_DIR/sim/lake" --ledgers $ledgers --start-time $(($(date +%s) - length + 1000000000 - ${1:-0})) --ledgers-per-object 1 --quiet
    export TIDEMARK_DEPLOYMENT=$PG_DIR/sim/deployment.json
    "$TIDE_BIN/tidemark-indexer" run --lake "$PG_DIR/sim/lake" --stop-at-end 2>"$PG_DIR/run.log" || fail "run: $(tail -2 "$PG_DIR/run.log")"
    api_follow
    export INDEXER=$!
    TIDEMARK_STALE_AFTER_MS=5000 api_start --api-rate-query 0
}
