#!/usr/bin/env bash
# The dashboard's lists with more than 1000 markets, page by page.
# label: all
. "$(dirname "$0")/_dashboard.sh"
pg_start
dashboard_start
api_stop || fail "tidemark-api ended with $?"
# Adds the markets to the database as if governance had listed them. The new cache then holds them.
sql "INSERT INTO state.synthetic_engine_asset_config SELECT (jsonb_populate_record(NULL::state.synthetic_engine_asset_config, to_jsonb(m)
      || jsonb_build_object('symbol', 'zz' || lpad(i::text, 4, '0'), 'key_hash', '\\x' || encode(sha256(i::text::bytea), 'hex')))).*
    FROM (SELECT * FROM state.synthetic_engine_asset_config ORDER BY symbol LIMIT 1) AS m, generate_series(1, 1100) AS i"
rm -rf "$PG_DIR/cache"
TIDEMARK_STALE_AFTER_MS=5000 api_start --api-rate-query 0
node "$PAGE/dashboard.mjs" "$API_URL" "$PAGE" many
api_stop || fail "tidemark-api ended with $?"
