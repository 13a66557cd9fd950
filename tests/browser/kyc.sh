#!/usr/bin/env bash
# Runs identity checks in a real browser on a simulated network that closes a ledger every second: all three modes,
# from the link to the attestation, embedded in pages of allowed and refused origins. Skipped without chromium. The screenshots are in browser/ of the build.
# label: all
here=$(cd "$(dirname "$0")" && pwd)
. "$here/_page.sh"
[ -f "$TIDE_SOURCE_DIR/build/dashboard/dist/qr.js" ] || { echo "wallets and QR codes are not built: tools/dashboard"; exit 1; }
port() { . "$TIDE_SOURCE_DIR/tools/lib/cluster.sh" && cluster_bin >/dev/null && cluster_free_port; }
allowed=$(port) && foreign=$(port) || { echo "no PostgreSQL"; exit 1; }
tmp=$(mktemp -d)
chmod 755 "$tmp"
trap 'rm -rf "$tmp"' EXIT
TMPDIR=$tmp "$TIDE_SOURCE_DIR/tools/with-stack" --kyc "http://127.0.0.1:$allowed" --ledgers 64 -- \
    sh -c 'node "$3/kyc.mjs" "$@" || { tail -n 20 "$TIDEMARK_STACK"/attester.log "$TIDEMARK_STACK"/api.log; exit 1; }' \
    sh "$allowed" "$foreign" "$PAGE"
echo "screenshots in $PAGE"
