#!/usr/bin/env bash
# The OpenAPI document under tools that others use. spectral and redocly find nothing to say about it.
# label: all
set -euo pipefail
fail() { echo "FAIL: $*" >&2; exit 1; }
command -v node >/dev/null && command -v npm >/dev/null || { echo "no node or no npm"; exit 1; }
linters=$TIDE_BUILD/linters # beside the build, never in the sources
mkdir -p "$linters"
cp "$TIDE_SOURCE_DIR"/tests/integration/api/linters/*.json "$linters/"
cd "$linters"
(
    flock 9
    cmp -s package-lock.json .installed && exit 0
    npm ci --no-audit --no-fund --loglevel=error >npm.log 2>&1 || exit 1
    cp package-lock.json .installed
) 9>.lock || { tail -n 3 npm.log; echo "the registry cannot be reached"; exit 1; }
echo 'extends: ["spectral:oas"]' >.spectral.yaml
lint() { # FILE: what both tools say of it goes to linted, and whether either says anything
    local code=0
    node_modules/.bin/spectral lint --fail-severity hint --quiet "$1" >linted 2>&1 || code=1
    node_modules/.bin/redocly lint --extends recommended --max-problems 1000 "$1" >>linted 2>&1 || code=1
    ! grep -qE '[1-9][0-9]* warning' linted || code=1
    return "$code"
}
lint "$TIDE_BUILD/api/openapi.json" || { cat linted; fail "a linter has something to say"; }
# Both can fail.
sed 's/"description":"[^"]*","x-from"/"x-from"/' "$TIDE_BUILD/api/openapi.json" >worse.json
! lint worse.json || fail "routes without a description go unnoticed"
sed 's/"operationId":"pools"/"operationId":"pool"/' "$TIDE_BUILD/api/openapi.json" >worse.json
! lint worse.json || fail "a name of two routes goes unnoticed"
echo "spectral and redocly find nothing"
