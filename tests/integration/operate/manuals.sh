#!/usr/bin/env bash
# Runs the commands of all manuals as they stand, beside a stack, on a machine of its own: networks and mounts that nothing else
# sees, in which the hosts that manuals name exist. Prints how many commands ran, and why others did not.
# label: all
# needs: the release build
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
[ -x "$TIDE_BIN/tidemark-sim" ] && [ -x "$TIDE_BIN/lake_stream" ] || { echo "programs not built"; exit 1; }
[ "$(id -u)" = 0 ] && unshare --net --mount true 2>/dev/null || { echo "skipped: a machine of its own needs root"; exit 77; }
work=$(mktemp -d "${TMPDIR:-/tmp}/tide-manuals.XXXXXX")
chmod 755 "$work"
trap 'rm -rf "$work"' EXIT
unshare --net --mount --pid --fork --kill-child --mount-proc --propagation private "$here/_manuals.py" machine "$work" \
    "$TIDE_SOURCE_DIR/tools/with-stack" --kyc http://127.0.0.1:8090 --ledgers 512 -- "$here/_manuals.py" run "$work" "$@"
