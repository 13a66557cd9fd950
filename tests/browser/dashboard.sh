#!/usr/bin/env bash
# Opens every page of the dashboard in a real browser: checks its size and the keyboard, compares the figures with
# SQL, and shows a past ledger, hostile names and a stopped indexer. Skipped without chromium.
. "$(dirname "$0")/_dashboard.sh"
pg_start
dashboard_start
echo "the stack: $SECONDS s"
node "$PAGE/dashboard.mjs" "$API_URL" "$PAGE" budget smoke+keyboard+words+phone+figures+travel+hostile stale
{ wait "$INDEXER"; } 2>/dev/null || true # the last case kills it
api_stop || fail "tidemark-api ended with $?"
echo "screenshots in $PAGE"
