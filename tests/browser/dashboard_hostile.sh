#!/usr/bin/env bash
# The dashboard and /docs over chains on which attackers chose names, texts, numbers, tokens and removals: no page breaks, runs their
# text, or asks another server. TIDE_SEED: another chain.
# label: all
. "$(dirname "$0")/_dashboard.sh"
for seed in ${TIDE_SEED:-5 77}; do
    (
        pg_start
        "$TIDE_BIN/tidemark-sim" write --lake "$PG_DIR/sim/lake" --ledgers 160 --txs 6 --ledgers-per-object 1 --hostile "$seed" --hostile-all-from 1150 --first-ledger 1024 --quiet
        export TIDEMARK_DEPLOYMENT=$PG_DIR/sim/deployment.json
        "$TIDE_BIN/tidemark-indexer" run --lake "$PG_DIR/sim/lake" --stop-at-end 2>"$PG_DIR/run.log" || fail "run: $(tail -2 "$PG_DIR/run.log")"
        API_READY=/api/prices api_start --api-rate-query 0 --api-rate-lookup 0
        echo "seed $seed"
        node "$PAGE/dashboard.mjs" "$API_URL" "$PAGE" chain
        api_stop || fail "tidemark-api ended with $?"
    )
done
