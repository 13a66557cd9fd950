#!/usr/bin/env bash
# Runs three validators and two Stellar RPC servers of the real programs under traffic: servers stop, fall behind,
# hang and lose their databases, a validator returns from its archive, clocks differ, the network forks. Tidemark
# continues or says what is missing. Its rows equal those of an index made afterwards from Galexie's lake.
# label: all
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../integration/_pg.sh"
. "$here/../../tools/lib/network.sh"
skip() { echo "skipped: $*"; exit 77; }
[ -x "$TIDE_BIN/tidemark-api" ] || skip "no tidemark-api"
network_archive
network_needs setpriv
network_unpack
pg_start
export TIDE_STELLAR PG_BIN PG_DIR NETWORK_PROGRAMS=$network_bin
python3 "$here/_nodes.py" || fail "exit $?"
