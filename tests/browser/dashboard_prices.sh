#!/usr/bin/env bash
# Every figure of the dashboard against SQL while all prices are stale: the chain ended 15 minutes ago.
# label: all
. "$(dirname "$0")/_dashboard.sh"
pg_start
dashboard_start 900
TIDE_LONG=1 PRICES=stale node "$PAGE/dashboard.mjs" "$API_URL" "$PAGE" figures
kill "$INDEXER"
{ wait "$INDEXER"; } 2>/dev/null || true
api_stop || fail "tidemark-api ended with $?"
