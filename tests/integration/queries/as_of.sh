#!/usr/bin/env bash
# A past answer never changes, on the ordinary chain: an index that went on is asked as of a ledger, beside one that ends there, on
# every route with its filters and pages (tests/hostile/_chain_past.py; integration.hostile_chain asks the same of a hostile chain).
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../_pg.sh"
[ -x "$TIDE_BIN/tidemark-sim" ] && [ -x "$TIDE_BIN/tidemark-api" ] || { echo "programs not built"; exit 77; }
pg_start -c max_connections=60
export PG_DIR PG_BIN
PYTHONPATH=$PYTHONPATH:$here/../../hostile python3 "$here/_as_of.py" || fail "past answers"
