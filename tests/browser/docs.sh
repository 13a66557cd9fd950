#!/usr/bin/env bash
# The page at /docs in a real browser, on a simulated chain. Skipped without chromium. Screenshots: the build's browser/.
# label: all
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../integration/_pg.sh"
. "$here/../integration/_api.sh"
. "$here/_page.sh"
[ -f "$TIDE_SOURCE_DIR/build/dashboard/dist/docs.html" ] || { echo "/docs is not built: tools/dashboard"; exit 1; }

pg_start
api_index 64
api_start
api_follow # compliance is asked with a limit of age
node "$PAGE/docs.mjs" "$API_URL" "$PAGE"
api_stop || fail "tidemark-api ended with $?"
echo "screenshots in $PAGE"
