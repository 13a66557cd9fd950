#!/usr/bin/env bash
# Faults X1 to X13 between a decision and the chain, each by its name, on a real PostgreSQL and a simulated network.
# usage: attester_faults.sh [NAME…]
. "$(dirname "$0")/../_pg.sh"
[ -x "$TIDE_BIN/tidemark-attester" ] && [ -x "$TIDE_BIN/tidemark-sim" ] || { echo "programs not built"; exit 1; }
export ASAN_OPTIONS="detect_leaks=0:${ASAN_OPTIONS:-}"
pg_start
export PG_BIN PG_DIR
PGDATABASE=postgres "$PG_BIN/createdb" empty
python3 "$(dirname "$0")/_attester_faults.py" "$@"
