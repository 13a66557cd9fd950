#!/usr/bin/env bash
# Gives tidemark-attester false facts: RPC servers that lie, wrong clocks, rows that allow no action. Also limits its
# costs.   usage: attester_lies.sh [NAME…]
. "$(dirname "$0")/../_pg.sh"
[ -x "$TIDE_BIN/tidemark-attester" ] && [ -x "$TIDE_BIN/tidemark-sim" ] || { echo "programs not built"; exit 1; }
export ASAN_OPTIONS="detect_leaks=0:${ASAN_OPTIONS:-}"
pg_start
export PG_BIN PG_DIR
PGDATABASE=postgres "$PG_BIN/createdb" empty
python3 "$(dirname "$0")/_attester_lies.py" "$@"
