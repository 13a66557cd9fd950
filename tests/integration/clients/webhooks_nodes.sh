#!/usr/bin/env bash
# Webhooks on a running stack of three nodes: the receivers of the guide, an attestation and its end, endpoints that
# are slow, gone, broken, that redirect or answer too much, replay, and nodes that are killed meanwhile. label: all
. "$(dirname "$0")/_clients.sh"
here=$(cd "$(dirname "$0")" && pwd)
"$TIDE_SOURCE_DIR/tools/with-stack" --kyc '' --ledgers 64 -- \
    timeout 900 "$python" "$here/_webhooks_nodes.py" "$work" "$packages" || fail "see above: $(tail -n 3 "$work"/second.log 2>/dev/null)"
