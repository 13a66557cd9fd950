#!/usr/bin/env bash
# Both README commands in an empty root of a release of Debian. usage: _in_root.sh SUITE
set -euo pipefail
dir=$(mktemp -d /var/tmp/tide-root.XXXXXX)
trap 'rm -rf --one-file-system "$dir" "$dir.log"' EXIT
code=0
"$TIDE_SOURCE_DIR/tools/debian-root" "$1" "$dir/root" bash -c '{ tools/demo --check && tools/test; } || exit 1' || code=$?
[ $code != 69 ] || { echo "skipped: an empty root needs root, debootstrap and a mirror"; exit 77; }
exit $code
