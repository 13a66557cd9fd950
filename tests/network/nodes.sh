#!/usr/bin/env bash
# Runs three validators and two Stellar RPC servers of the real programs under traffic: servers stop, fall behind,
# hang and lose their databases, a validator returns from its archive, clocks differ, the network forks. Tidemark
# continues or says what is missing. Its rows equal those of an index made afterwards from Galexie's lake.
# label: all
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../integration/_pg.sh"
command -v python3 >/dev/null && command -v setpriv >/dev/null && command -v zstd >/dev/null || { echo "no python3, setpriv or zstd"; exit 77; }
[ -x "$TIDE_BIN/tidemark-api" ] || { echo "no tidemark-api"; exit 77; }
TIDE_STELLAR=$(python3 "$here/_validators.py" find) || { echo "$TIDE_STELLAR"; exit 77; }
export TIDE_STELLAR PG_BIN
pg_start
export PG_DIR
python3 "$here/_nodes.py" || fail "exit $?"
