#!/usr/bin/env bash
# Compares the documented routes over HTTP: answers from the cache equal those from PostgreSQL as of the same ledger,
# compliance equals the simulator's model, and prices, quotes, markets and refusals equal the real contracts' answers.
# Also the answers while the database is away, the state is old, or the registry's first ledgers are missing.
# label: all
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../_pg.sh"
. "$here/../_api.sh"
[ -x "$TIDE_BIN/tidemark-api" ] && [ -x "$TIDE_BIN/tidemark-sim" ] || { echo "programs not built"; exit 1; }
pg_start
pg_writable
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
ask tags "$last"
ask get /readyz agreesWithDao=true
for back in 0 7 60 100 160 230 300; do
    sql "WITH n AS (SELECT ledger, extract(epoch FROM closed_at)::bigint - 86400 AS start FROM chain.ledger WHERE ledger = $last - $back),
        s AS (SELECT s.*, div(s.amount_in * p.fee_tier, 10000) AS fee FROM event.liquidity_pool_swap s JOIN state.liquidity_pool_pool p
              USING (deployment, pool_id), n WHERE s.ledger <= n.ledger AND extract(epoch FROM s.closed_at) > n.start)
        SELECT n.ledger, m.symbol, count(s.pool_id), coalesce(sum(CASE WHEN a_to_b THEN amount_out ELSE amount_in END), 0),
            coalesce(sum(CASE WHEN a_to_b THEN div(fee * amount_out, amount_in) ELSE fee END), 0)
        FROM n, state.liquidity_pool_pool p JOIN state.synthetic_engine_asset_config m ON m.token = p.token_a LEFT JOIN s USING (pool_id)
        WHERE p.token_b = (SELECT contract FROM state.stellar_asset_instance WHERE metadata ->> 'symbol' = 'USDC')
          AND EXISTS (SELECT FROM history.liquidity_pool_pool h WHERE h.pool_id = p.pool_id AND h.ledger <= n.ledger)
        GROUP BY n.ledger, m.symbol"
done >"$PG_DIR/traded"
ask windows "$PG_DIR/traded"
TIDE_MODEL_SAYS=$PG_DIR/says "$TIDE_BIN/model_driver" "$PG_DIR/model" "${chain[@]}" >"$PG_DIR/out" 2>"$PG_DIR/err" || fail "$(tail -3 "$PG_DIR/err")"
ask model "$PG_DIR/says" "${TIDE_EVERY:-24}"
ask refusals "$address" SGOLDUSDC
ask problem "/api/prices?maxAgeMs=100" 503 stale
ask problem "/api/prices?maxAgeMs=99" 400 invalid_parameters # no node is that young
ask get "/api/prices?maxAgeMs=3600000"
ask get "/api/prices?maxAgeMs=100&ledger=$last" # a ledger's close is never stale

echo "the database goes away"
api_stop || fail "api: exit $?"
api_follow
start --stale-after-ms 15000
ask get "/api/sdk/kyc/status/$address"
pg_stop immediate
for path in /api/sdk/contracts /api/sdk/assets /api/markets /api/prices "/api/sdk/kyc/status/$address" "/api/pools/SGOLDUSDC/quote?amountIn=1"; do
    curl -fso /dev/null "$API_URL$path" || fail "$path: $(curl -s "$API_URL$path")"
done
first=$(curl -si "$API_URL/api/prices" | tr -d '\r' | sed -n 's/^Data-Age-Ms: //Ip')
ask problem "/api/prices?ledger=$last" 503 database_unavailable
sleep 1
second=$(curl -si "$API_URL/api/prices" | tr -d '\r' | sed -n 's/^Data-Age-Ms: //Ip')
[ "$second" -ge $((first + 900)) ] || fail "age $first ms, then $second ms"
ask problem "/api/prices?maxAgeMs=500" 503 stale
refuses() { [ "$(curl -so /dev/null -w '%{http_code}' "$API_URL/api/prices")" = 503 ]; }
await "prices that are stale by the usual rule" refuses
age=$(curl -si "$API_URL/api/prices" | tr -d '\r' | sed -n 's/^Data-Age-Ms: //Ip')
[ "$age" -gt 15000 ] && [ "$age" -lt 60000 ] || fail "stale at $age ms"
for path in /api/sdk/contracts /api/markets "/api/sdk/kyc/status/$address"; do ask problem "$path" 503 stale; done
pg_again
for _ in $(seq 600); do # the feeder and the pool come back each by itself
    curl -fso /dev/null "$API_URL/api/prices" && curl -fso /dev/null "$API_URL/api/prices?ledger=$last" && break
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
API_READY=/api/prices start
ask problem "/api/sdk/kyc/status/$address" 503 incomplete
ask problem "/api/sdk/kyc/status/$address?ledger=$last" 503 incomplete
ask get /api/markets
api_stop || fail "api: exit $?"
sql "UPDATE chain.coverage SET from_ledger = $first"

echo "assets, contracts"
# Two tokens with one symbol, a token of two partners, and a market under its partner's symbol.
sql "UPDATE state.synth_token_instance SET symbol = (SELECT symbol FROM state.synth_token_instance ORDER BY contract LIMIT 1)
    WHERE contract = (SELECT contract FROM state.synth_token_instance ORDER BY contract DESC LIMIT 1);
    UPDATE state.partner_registry_partner_asset SET key_symbol = 'PSOIL' WHERE key_symbol = (SELECT max(key_symbol) FROM state.partner_registry_partner_asset WHERE live);
    UPDATE state.dao_governance_instance SET oracle = (SELECT contract FROM state.liquidity_pool_instance)"
# Adds a deeper pool of sGOLD with the two tokens the other way round, and one of equal depth.
for schema in state history; do
    sql "INSERT INTO $schema.liquidity_pool_pool SELECT (jsonb_populate_record(p, jsonb_build_object('key_hash', '\\x' || encode(sha256(name::bytea), 'hex'),
        'pool_id', name, 'token_a', p.token_b, 'token_b', p.token_a, 'reserve_a', p.reserve_b + 1, 'reserve_b', 1))).*
        FROM $schema.liquidity_pool_pool AS p, unnest(ARRAY['ZDEEP', 'DEEP']) AS name WHERE (p.key_hash, p.ledger, p.tx, p.seq) =
        (SELECT key_hash, ledger, tx, seq FROM $schema.liquidity_pool_pool WHERE pool_id = 'SGOLDUSDC' ORDER BY ledger DESC, tx DESC, seq DESC LIMIT 1)"
done
sql "WITH p AS (SELECT c.key_symbol AS symbol, c.token, c.partner_id, c.live FROM state.partner_registry_partner_asset c),
    own AS (SELECT m.token FROM state.synthetic_engine_asset_config m WHERE NOT EXISTS (SELECT FROM p WHERE p.symbol = m.symbol AND p.token = m.token)),
    wanted AS (SELECT '-' AS partner, token FROM state.synthetic_engine_asset_config UNION SELECT '-', token FROM p
      UNION SELECT key_id::text, token FROM state.partner_registry_partner, own
      UNION SELECT partner_id::text, token FROM p WHERE live)
    SELECT partner || ' ' || string_agg(token, ' ') FROM wanted GROUP BY partner" >"$PG_DIR/expected"
rm -rf "$PG_DIR/cache"
start
ask assets "$PG_DIR/expected"
ask get /api/markets/sGOLD 'pool="DEEP"' 'reserveSynth="1"'
[ "$(curl -s "$API_URL/api/sdk/assets" | grep -oE '"pool":"Z?DEEP"')" = '"pool":"DEEP"' ] || fail "not the deepest pool"
ask get /api/sdk/contracts agreesWithDao=false
ask get /readyz agreesWithDao=false ready=true
ask get "/api/sdk/contracts?ledger=$last" agreesWithDao=true network='"private"'
api_stop || fail "api: exit $?"

[ -n "${TIDE_LONG:-}" ] || exit 0 # golden.views_http asks the same over HTTP, as of each ledger
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
    export TIDEMARK_DEPLOYMENT=$chains/$name/deployment.json
    zstd -dqc "$chains/$name/views.jsonl.zst" >"$PG_DIR/views"
    # Indexes up to the ledger of the last question, so that the cache has that ledger.
    until=$(sed -n 's/^{"ledger":\([0-9]*\),.*/\1/p' "$PG_DIR/views" | sort -n | tail -1)
    first=$(sed -n 's/.*"first_ledger": *\([0-9]*\).*/\1/p' "$chains/$name/deployment.json")
    "$TIDE_BIN/tidemark-indexer" migrate >"$PG_DIR/run.log" 2>&1 || fail "migrate: $(tail -2 "$PG_DIR/run.log")"
    "$TIDE_BIN/tidemark-indexer" backfill --from "$first" --to "$until" --lake "$chains/$name/lake" 2>"$PG_DIR/run.log" || fail "backfill: $(tail -2 "$PG_DIR/run.log")"
    rm -rf "$PG_DIR/cache"
    start
    ask views "$PG_DIR/views" "$until"
    ask same "$until"
    api_stop || fail "api: exit $?"
done
