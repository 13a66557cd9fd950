#!/usr/bin/env bash
# tidemark-attester against a real stellar-core and stellar-rpc: every outcome, each intent once on the ledger.
#   usage: attester.sh [NAME…]   TIDE_NETWORK_PORT: the first of ten ports (12700)
# label: all
set -euo pipefail
. "$(dirname "$0")/_stellar.sh"
. "$(dirname "$0")/../integration/_pg.sh"
for program in tidemark-attester tidemark-indexer; do [ -x "$TIDE_BIN/$program" ] || { echo "programs not built"; exit 77; }; done
pg_start
export PG_BIN PG_DIR
PGDATABASE=postgres "$PG_BIN/createdb" empty
PG_AT_EXIT=stellar_stop
stellar_start "$PG_DIR/net" "${TIDE_NETWORK_PORT:-12700}" --min-ttl 200
python3 "$(dirname "$0")/_outcomes.py" "$@"
