# Builds the packages and unpacks them as a partner would install them. Sourced by the scripts of this folder. Sets
# `work` (removed at the end), `packages` (a folder with node_modules/@tidemark/client) and `python`.
set -euo pipefail
fail() { echo "FAIL: $*" >&2; exit 1; }
TIDE_OPENAPI=$TIDE_BUILD/api/openapi.json "$TIDE_SOURCE_DIR/tools/clients" || fail "the packages do not build"
work=$(mktemp -d "${TMPDIR:-/tmp}/tide-clients.XXXXXX")
chmod 755 "$work"
trap 'code=$?; kill $(jobs -p) 2>/dev/null || true; rm -rf "$work"; exit $code' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
built=$TIDE_SOURCE_DIR/build/clients
python=$built/env/bin/python
packages=$work/app
mkdir -p "$packages/node_modules/@tidemark"
tar -xzf "$built"/tidemark-client-*.tgz -C "$packages/node_modules/@tidemark"
mv "$packages/node_modules/@tidemark/package" "$packages/node_modules/@tidemark/client"
cp "$TIDE_SOURCE_DIR"/api/clients/examples/* "$packages/"
