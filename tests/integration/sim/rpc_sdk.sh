#!/usr/bin/env bash
# The client that people use, npm's @stellar/stellar-sdk, drives every method of the simulated network:
# reads and decodes all there is; attests and swaps, refused before and accepted after.
# 15.1.0 is the newest that runs on Debian 12's Node 18, whatever its "engines" ask for.
# Skipped where there is no node or npm, or the registry cannot be reached.
set -euo pipefail
fail() { echo "FAIL: $*" >&2; exit 1; }
. "$(dirname "$0")/../_serve.sh"
[ -x "$TIDE_BIN/tidemark-sim" ] || { echo "programs not built"; exit 77; }
command -v node >/dev/null && command -v npm >/dev/null || { echo "no node or no npm"; exit 77; }

# Beside the build, never in the sources; once for all runs.
sdk=$TIDE_BUILD/sdk
mkdir -p "$sdk"
cp "$(dirname "$0")"/sdk/* "$sdk/"
(
    flock 9
    cd "$sdk"
    cmp -s package-lock.json .installed && exit 0
    npm ci --no-audit --no-fund --loglevel=error >npm.log 2>&1 || exit 1
    cp package-lock.json .installed
) 9>"$sdk/.lock" || { tail -n 3 "$sdk/npm.log"; echo "the registry cannot be reached"; exit 77; }

SERVE_DIR=$(mktemp -d "${TMPDIR:-/tmp}/tide-sdk.XXXXXX")
clean_up() { local code=$?; serve_stop || true; rm -rf "$SERVE_DIR"; exit $code; }
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

serve_start --close-ms 0 --ledgers "${TIDE_SDK_LEDGERS:-96}" --seed 6 --lake "$SERVE_DIR/lake" --diagnostics
node "$sdk/read.mjs" "$SERVE_URL"
secret=$("$TIDE_BIN/tidemark-sim" keys --seed 6 --name sumsub 2>/dev/null | awk '{ print $NF }')
node "$sdk/act.mjs" "$SERVE_URL" "$SERVE_DIR/deployment.json" "$secret"
node "$sdk/read.mjs" "$SERVE_URL" # what was sent decodes as all else does
serve_stop || fail "the network ended with $?"
