#!/usr/bin/env bash
# Tests tidemark-console: who may enter, the pages, the two people needed for critical actions, and the limits of its
# database role.
. "$(dirname "$0")/../_pg.sh"
[ -x "$TIDE_BIN/tidemark-console" ] && [ -x "$TIDE_BIN/tidemark-sim" ] || { echo "programs not built"; exit 1; }
pg_start
export PG_BIN PG_DIR
PGDATABASE=postgres "$PG_BIN/createdb" empty
python3 "$(dirname "$0")/_console.py" "$@"
