#!/usr/bin/env bash
# Every union arm of protocol 30's XDR, from the crate's own vectors (tests/xdr): the walker, the readers of archives and `dump`
# read each value, so that nothing stops an index.
here=$(cd "$(dirname "$0")" && pwd)
vectors=$TIDE_SOURCE_DIR/tests/xdr/protocol_30.zst
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
zstd -dqc "$vectors" >"$work/vectors" || exit 1
"$TIDE_BIN/arms_driver" <"$work/vectors" || exit 1
exec python3 "$here/_xdr_arms.py" "$work"
