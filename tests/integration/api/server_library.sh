#!/usr/bin/env bash
# Runs the tests of the server with libmicrohttpd 1.0.1, as newer systems have it. It has the soname of Debian 12's
# 0.9.75 and differs inside.
# label: all
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../_library.sh"
set -euo pipefail
prefix=$(library_prefix) || { echo "skipped: $library_missing"; exit 77; }
export LD_LIBRARY_PATH=$prefix/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
for test in server server_stop; do
    echo "== $test"
    "$here/$test.sh"
done
