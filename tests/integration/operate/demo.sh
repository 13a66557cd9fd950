#!/usr/bin/env bash
# Runs the demo's own checks, as README.md has the command; they must pass. The demo leaves no files and processes. (label: threads)
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../../../tools/lib/cluster.sh"
cluster_bin >/dev/null || exit 1
[ -x "$TIDE_BIN/tidemark-indexer" ] && [ -x "$TIDE_BIN/tidemark-sim" ] && [ -x "$TIDE_BIN/tidemark-api" ] && [ -x "$TIDE_BIN/tidemark-attester" ] && [ -x "$TIDE_BIN/tidemark-console" ] || { echo "programs not built"; exit 1; }
TMPDIR=$(mktemp -d)
export TMPDIR
chmod 755 "$TMPDIR"
trap 'rm -rf "$TMPDIR"' EXIT
"$TIDE_SOURCE_DIR/tools/demo" --check | tee "$TMPDIR/table"
grep -q '^all is well' "$TMPDIR/table"
[ "$(grep -c '^ok ' "$TMPDIR/table")" -ge 31 ]
[ "$(ls "$TMPDIR")" = table ] || { echo "left behind: $(ls "$TMPDIR")"; exit 1; }
