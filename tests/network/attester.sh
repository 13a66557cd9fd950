#!/usr/bin/env bash
# Runs tidemark-attester with a real stellar-core and stellar-rpc: every outcome, and each intent once on the ledger.
#   usage: attester.sh [NAME…]   TIDE_NETWORK_PORT: the first of ten ports (12800)
# label: all
set -euo pipefail
. "$(dirname "$0")/_network.sh"
for program in tidemark-attester tidemark-indexer; do [ -x "$TIDE_BIN/$program" ] || skip "programs not built"; done
pg_start
export PG_BIN PG_DIR
PGDATABASE=postgres "$PG_BIN/createdb" empty
network_start net --no-galexie --min-ttl 200
network_env net
python3 "$network_here/_outcomes.py" "$@"
