#!/usr/bin/env bash
# tidemark-attester as people use it: attesting, revoking, who is sent to a person, commands, several servers,
# two at once, and secrets that show nowhere.   usage: attester.sh [NAME…]
# label: sanitize
. "$(dirname "$0")/../_pg.sh"
[ -x "$TIDE_BIN/tidemark-attester" ] && [ -x "$TIDE_BIN/tidemark-sim" ] || { echo "programs not built"; exit 77; }
export ASAN_OPTIONS="detect_leaks=0:${ASAN_OPTIONS:-}"
pg_start
export PG_BIN PG_DIR
PGDATABASE=postgres "$PG_BIN/createdb" empty
python3 "$(dirname "$0")/_attester_works.py" "$@"
