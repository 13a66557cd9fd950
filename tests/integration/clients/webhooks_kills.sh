#!/usr/bin/env bash
# Kills a node at each point of its work on webhooks: before and after the statement of each route, while it watches,
# and with a delivery taken, sent, recorded, or an endpoint disabled. A second node continues: no event is lost, and
# nothing but deliveries is repeated. label: all, label: sanitize
# needs: failpoints
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../_pg.sh"
. "$here/../_serve.sh"
[ -x "$TIDE_BIN/tidemark-sim" ] && [ -x "$TIDE_BIN/tidemark-api" ] || { echo "programs not built"; exit 1; }
pg_start
SERVE_DIR=$PG_DIR/network
export TIDEMARK_DEPLOYMENT=$PG_DIR/deployment.json ASAN_OPTIONS=detect_leaks=0
serve_start --ledgers 32 --close-ms 0 --close-step 3600 --start-time 4102444800 --deployment "$TIDEMARK_DEPLOYMENT"
"$TIDE_BIN/tidemark-indexer" run --rpc "$SERVE_URL" 2>"$PG_DIR/indexer.log" &
TIDEMARK_RPC_URL=$SERVE_URL PATH="$TIDE_BIN:$PATH" timeout -k 5 900 python3 "$here/_webhooks_kills.py" "$PG_DIR" ||
    fail "see above: $(tail -qn 2 "$PG_DIR"/*.log)"
