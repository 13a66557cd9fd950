#!/usr/bin/env bash
# The documented interface, over HTTP: from the cache as from PostgreSQL at the same ledger, compliance
# as the simulator's model has it, prices, quotes and markets as the real contracts answered, refusals,
# and what is said when the database is away, the state old, or the registry not known from its creation.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/_pg.sh"
. "$here/_api.sh"
[ -x "$TIDE_BIN/tidemark-api" ] && [ -x "$TIDE_BIN/tidemark-sim" ] || { echo "skipped: programs not built"; exit 77; }
pg_start
ask() { "$here/_routes_hot.py" "$API_PORT" "$@" || fail "$*"; }
start() { api_start --api-rate-lookup 0 --api-rate-query 0 "$@"; }
chain=(--seed "${TIDE_SEED:-11}" --first-ledger 1920 --ledgers "${TIDE_LEDGERS:-448}" --life 120)
"$TIDE_BIN/tidemark-sim" write --lake "$PG_DIR/sim/lake" "${chain[@]}" --quiet
export TIDEMARK_DEPLOYMENT=$PG_DIR/sim/deployment.json
"$TIDE_BIN/tidemark-indexer" run --lake "$PG_DIR/sim/lake" --stop-at-end 2>"$PG_DIR/run.log" || fail "run: $(tail -2 "$PG_DIR/run.log")"
last=$(sql "SELECT ledger FROM chain.cursor")
address=$(sql "SELECT address FROM state.compliance_registry_compliance_rec WHERE status = 2 ORDER BY address LIMIT 1")

start
ask same "$last"
TIDE_MODEL_SAYS=$PG_DIR/says "$TIDE_BIN/model_driver" "$PG_DIR/model" "${chain[@]}" >"$PG_DIR/out" 2>"$PG_DIR/err" || fail "$(tail -3 "$PG_DIR/err")"
ask model "$PG_DIR/says" "${TIDE_EVERY:-8}"
ask refusals "$address" SGOLDUSDC
ask problem "/api/prices?maxAgeMs=0" 503 stale
ask get "/api/prices?maxAgeMs=60000"
ask get "/api/prices?maxAgeMs=0&ledger=$last" # a ledger's close is never stale

echo "the database goes away"
api_stop || fail "api: exit $?"
start --stale-after-ms 4000
ask get "/api/sdk/kyc/status/$address"
pg_stop immediate
for path in /api/sdk/contracts /api/sdk/assets /api/markets /api/prices "/api/sdk/kyc/status/$address" "/api/pools/SGOLDUSDC/quote?amountIn=1"; do
    ask get "$path"
done
first=$(curl -si "$API_URL/api/prices" | tr -d '\r' | sed -n 's/^Data-Age-Ms: //Ip')
ask problem "/api/prices?ledger=$last" 503 database_unavailable
sleep 1
second=$(curl -si "$API_URL/api/prices" | tr -d '\r' | sed -n 's/^Data-Age-Ms: //Ip')
[ "$second" -ge $((first + 900)) ] || fail "age $first ms, then $second ms"
ask problem "/api/prices?maxAgeMs=500" 503 stale
sleep 3
for path in /api/sdk/contracts /api/markets "/api/sdk/kyc/status/$address"; do ask problem "$path" 503 stale; done
pg_again
for _ in $(seq 100); do
    curl -fso /dev/null "$API_URL/api/prices" && break
    sleep 0.1
done
ask get "/api/sdk/kyc/status/$address"
ask get "/api/prices?ledger=$last"
echo "answered with its age, then refused, then answered again"

echo "what may not be called compliant"
api_stop || fail "api: exit $?"
start --compliance-age-s 300
ask problem "/api/sdk/kyc/status/$address" 503 stale
ask get /api/prices
ask get "/api/sdk/kyc/status/$address?ledger=$last"
first=$(sql "SELECT from_ledger FROM chain.coverage")
sql "UPDATE chain.coverage SET from_ledger = (SELECT min(ledger) + 1 FROM chain.contract_seen WHERE what = 'created' AND role = 'compliance_registry')"
api_stop || fail "api: exit $?"
rm -rf "$PG_DIR/cache"
start
ask problem "/api/sdk/kyc/status/$address" 503 incomplete
ask problem "/api/sdk/kyc/status/$address?ledger=$last" 503 incomplete
ask get /api/markets
api_stop || fail "api: exit $?"
sql "UPDATE chain.coverage SET from_ledger = $first"

echo "assets, contracts"
# Two tokens of one symbol; a token that two partners have; a market under its partner's symbol.
sql "UPDATE state.synth_token_instance SET symbol = (SELECT symbol FROM state.synth_token_instance ORDER BY contract LIMIT 1)
    WHERE contract = (SELECT contract FROM state.synth_token_instance ORDER BY contract DESC LIMIT 1);
    UPDATE state.partner_registry_partner_asset SET key_symbol = 'PSOIL' WHERE key_symbol = (SELECT max(key_symbol) FROM state.partner_registry_partner_asset WHERE live);
    UPDATE state.dao_governance_instance SET oracle = (SELECT contract FROM state.liquidity_pool_instance)"
sql "WITH p AS (SELECT c.key_symbol AS symbol, c.token, c.partner_id, c.live FROM state.partner_registry_partner_asset c),
    own AS (SELECT m.token FROM state.synthetic_engine_asset_config m WHERE NOT EXISTS (SELECT FROM p WHERE p.symbol = m.symbol AND p.token = m.token)),
    wanted AS (SELECT '-' AS partner, token FROM state.synthetic_engine_asset_config UNION SELECT '-', token FROM p
      UNION SELECT key_id::text, token FROM state.partner_registry_partner, own
      UNION SELECT partner_id::text, token FROM p WHERE live)
    SELECT partner || ' ' || string_agg(token, ' ') FROM wanted GROUP BY partner" >"$PG_DIR/expected"
rm -rf "$PG_DIR/cache"
start
ask assets "$PG_DIR/expected"
ask get /api/sdk/contracts agreesWithDao=false
ask get "/api/sdk/contracts?ledger=$last" agreesWithDao=true network='"private"'
api_stop || fail "api: exit $?"

for shared in "${TIDE_SHARED:-}" "$TIDE_SOURCE_DIR/../shared" "$TIDE_SOURCE_DIR/../../shared"; do
    chains=$shared/fixtures/protocol
    [ -n "$shared" ] && [ -d "$chains" ] && break
    chains=
done
[ -n "$chains" ] || { echo "no shared/fixtures/protocol (TIDE_SHARED): the contracts' own answers were not compared"; exit 0; }
for name in a b; do
    echo "the contracts' own answers, chain $name"
    PGDATABASE=postgres "$PG_BIN/createdb" "chain_$name"
    export PGDATABASE=chain_$name TIDEMARK_DATABASE_URL="host=$PG_DIR port=5432 user=postgres dbname=chain_$name"
    "$TIDE_BIN/tidemark-indexer" run --lake "$chains/$name/lake" --deployment "$chains/$name/deployment.json" --stop-at-end \
        2>"$PG_DIR/run.log" || fail "run: $(tail -2 "$PG_DIR/run.log")"
    zstd -dqc "$chains/$name/views.jsonl.zst" >"$PG_DIR/views"
    rm -rf "$PG_DIR/cache"
    start
    ask views "$PG_DIR/views" "$(sql "SELECT ledger FROM chain.cursor")"
    api_stop || fail "api: exit $?"
done
