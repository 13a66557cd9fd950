#!/usr/bin/env bash
# Runs tidemark-attester as operators do: attestations, revocations, intents that need review, commands, several RPC
# servers, two attesters at once. Secrets appear nowhere.   usage: attester.sh [NAME…]
# label: sanitize
. "$(dirname "$0")/../_pg.sh"
[ -x "$TIDE_BIN/tidemark-attester" ] && [ -x "$TIDE_BIN/tidemark-sim" ] || { echo "programs not built"; exit 1; }
export ASAN_OPTIONS="detect_leaks=0:${ASAN_OPTIONS:-}"
pg_start
export PG_BIN PG_DIR
PGDATABASE=postgres "$PG_BIN/createdb" empty
python3 "$(dirname "$0")/_attester_works.py" "$@"
