#!/usr/bin/env bash
# Calls every method of the simulated network with npm's @stellar/stellar-sdk, the usual client: reads and decodes all
# data, attests and swaps, with a refusal before the attestation and success after it.
set -euo pipefail
fail() { echo "FAIL: $*" >&2; exit 1; }
. "$(dirname "$0")/../../../tools/lib/wait.sh"
. "$(dirname "$0")/../_serve.sh"
. "$(dirname "$0")/../_sdk.sh"
[ -x "$TIDE_BIN/tidemark-sim" ] || { echo "programs not built"; exit 1; }
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
