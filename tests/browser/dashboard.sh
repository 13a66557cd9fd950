#!/usr/bin/env bash
# The dashboard in a real browser: every page once, its size, the keyboard, figures against SQL, a past ledger, hostile
# names, a stopped indexer. Skipped where there is no chromium, no node, no registry, or no built dashboard.
. "$(dirname "$0")/_dashboard.sh"
pg_start
dashboard_start
echo "the stack: $SECONDS s"
node "$PAGE/dashboard.mjs" "$API_URL" "$PAGE" budget smoke+keyboard+figures+travel+hostile stale
{ wait "$INDEXER"; } 2>/dev/null || true # the last case kills it
api_stop || fail "tidemark-api ended with $?"
echo "screenshots in $PAGE"
