#!/usr/bin/env bash
# The server's tests over another libmicrohttpd than the system's: 1.0.1, as newer systems have it. It has
# the same soname as Debian 12's 0.9.75 and differs inside.
# label: all
here=$(cd "$(dirname "$0")" && pwd)
builder=
for shared in "${TIDE_SHARED:-}" "$TIDE_SOURCE_DIR/../shared" "$TIDE_SOURCE_DIR/../../shared"; do
    [ -n "$builder" ] || [ ! -x "$shared/third-party/build-libmicrohttpd" ] || builder=$shared/third-party/build-libmicrohttpd
done
[ -n "$builder" ] || { echo "skipped: no shared/third-party/build-libmicrohttpd (set TIDE_SHARED)"; exit 77; }
set -euo pipefail
prefix=${TIDE_BUILD:-$TIDE_SOURCE_DIR/build}/libmicrohttpd-1.0.1
"$builder" "$prefix"
export LD_LIBRARY_PATH=$prefix/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
for test in server server_stop; do
    echo "== $test"
    "$here/$test.sh"
done
