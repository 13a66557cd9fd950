#!/usr/bin/env bash
# Compares the webhooks about markets, proposals, prices and compliance with the tables and routes. Ledgers close on
# request, an hour of the chain's time apart and years ahead of this machine's clock, so that no clock decides. Of two
# nodes, the one that watches the chain is killed halfway, and ledgers close before the other one takes over.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../_pg.sh"
. "$here/../_serve.sh"
[ -x "$TIDE_BIN/tidemark-sim" ] && [ -x "$TIDE_BIN/tidemark-api" ] || { echo "programs not built"; exit 1; }
pg_start
SERVE_DIR=$PG_DIR/network
export TIDEMARK_DEPLOYMENT=$PG_DIR/deployment.json
serve_start --ledgers 10 --close-ms 0 --close-step 3600 --start-time 4102444800 --deployment "$TIDEMARK_DEPLOYMENT"
"$TIDE_BIN/tidemark-indexer" run --rpc "$SERVE_URL" 2>"$PG_DIR/indexer.log" &
TIDEMARK_RPC_URL=$SERVE_URL PATH="$TIDE_BIN:$PATH" timeout 600 python3 "$here/_webhooks_chain.py" "$PG_DIR" ||
    fail "see above: $(tail -qn 2 "$PG_DIR"/*.log)"
