#!/usr/bin/env bash
# Proves that a past answer never changes. An index that continued is asked as of a ledger and compared with an index
# that ends there, on every route with its filters and pages (tests/hostile/_chain_past.py; integration.hostile_chain
# does the same with a hostile chain). label: all
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../_pg.sh"
[ -x "$TIDE_BIN/tidemark-sim" ] && [ -x "$TIDE_BIN/tidemark-api" ] || { echo "programs not built"; exit 1; }
pg_start -c max_connections=60
export PG_DIR PG_BIN
PYTHONPATH=$PYTHONPATH:$here/../../hostile python3 "$here/_as_of.py" || fail "past answers"
