#!/usr/bin/env bash
# Webhooks to partners on a living stack: registered, signed (both packages verify, also while a secret changes), compliance with the end of an
# attestation, endpoints that are slow, gone, broken, that redirect or answer too much, replay, and nodes that are killed meanwhile. label: all
. "$(dirname "$0")/_clients.sh"
here=$(cd "$(dirname "$0")" && pwd)
cp "$here/_webhooks.mjs" "$packages/"
"$TIDE_SOURCE_DIR/tools/with-stack" --kyc '' --ledgers 64 -- \
    timeout 300 "$python" "$here/_webhooks.py" "$work" "$packages/_webhooks.mjs" || fail "see above: $(tail -n 3 "$work"/second.log 2>/dev/null)"
