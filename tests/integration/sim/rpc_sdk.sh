#!/usr/bin/env bash
# The client that people use, npm's @stellar/stellar-sdk, drives every method of the simulated network:
# reads and decodes all there is; attests and swaps, refused before and accepted after.
# Skipped where there is no node or npm, or the registry cannot be reached.
set -euo pipefail
fail() { echo "FAIL: $*" >&2; exit 1; }
. "$(dirname "$0")/../_serve.sh"
. "$(dirname "$0")/../_sdk.sh"
[ -x "$TIDE_BIN/tidemark-sim" ] || { echo "programs not built"; exit 77; }
sdk_install

SERVE_DIR=$(mktemp -d "${TMPDIR:-/tmp}/tide-sdk.XXXXXX")
clean_up() { local code=$?; serve_stop || true; rm -rf "$SERVE_DIR"; exit $code; }
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

serve_start --close-ms 0 --ledgers "${TIDE_SDK_LEDGERS:-96}" --seed 6 --lake "$SERVE_DIR/lake" --diagnostics
node "$SDK/read.mjs" "$SERVE_URL"
secret=$("$TIDE_BIN/tidemark-sim" keys --seed 6 --name sumsub 2>/dev/null | awk '{ print $NF }')
node "$SDK/act.mjs" "$SERVE_URL" "$SERVE_DIR/deployment.json" "$secret"
node "$SDK/read.mjs" "$SERVE_URL" # what was sent decodes as all else does
serve_stop || fail "the network ended with $?"
