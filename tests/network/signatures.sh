#!/usr/bin/env bash
# Three validators, of which one falls silent. What was indexed from the lake is proven by their archives, as far as the
# named validators signed.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../integration/_pg.sh"
. "$here/../../tools/lib/network.sh"
network_archive
network_needs setpriv
network_unpack
pg_start
export PG_DIR NETWORK_PROGRAMS=$network_bin
python3 "$here/_signatures.py" || fail "exit $?"
