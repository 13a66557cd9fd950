#!/usr/bin/env bash
# Three validators and two Stellar RPC servers of the real programs, under traffic: servers stop, fall behind, hang and lose
# their databases, a validator comes back from its archive, clocks differ, the network forks. Tidemark goes on or says what
# is missing; its rows are those of an index made afterwards from Galexie's lake.
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
