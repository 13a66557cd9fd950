#!/usr/bin/env bash
# tidemark-console: who gets in, what it shows, two people for what moves something, and what its role may not.
. "$(dirname "$0")/../_pg.sh"
[ -x "$TIDE_BIN/tidemark-console" ] && [ -x "$TIDE_BIN/tidemark-sim" ] || { echo "programs not built"; exit 77; }
pg_start
export PG_BIN PG_DIR
PGDATABASE=postgres "$PG_BIN/createdb" empty
python3 "$(dirname "$0")/_console.py" "$@"
