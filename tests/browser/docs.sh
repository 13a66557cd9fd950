#!/usr/bin/env bash
# The page at /docs in a real browser, on a simulated chain. Skipped where there is no chromium, no
# node, or no registry to install its driver from. Screenshots: the build's browser/.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../integration/_pg.sh"
. "$here/../integration/_api.sh"
command -v chromium >/dev/null || command -v chromium-browser >/dev/null || { echo "no chromium"; exit 77; }
command -v node >/dev/null && command -v npm >/dev/null || { echo "no node or no npm"; exit 77; }

page=$TIDE_BUILD/browser
mkdir -p "$page"
cp "$here"/page/* "$page/"
(
    flock 9
    cd "$page"
    cmp -s package-lock.json .installed && exit 0
    npm ci --no-audit --no-fund --loglevel=error >npm.log 2>&1 || exit 1
    cp package-lock.json .installed
) 9>"$page/.lock" || { tail -n 3 "$page/npm.log"; echo "the registry cannot be reached"; exit 77; }

pg_start
api_index 64
api_start
node "$page/docs.mjs" "$API_URL" "$page"
api_stop || fail "tidemark-api ended with $?"
echo "screenshots in $page"
