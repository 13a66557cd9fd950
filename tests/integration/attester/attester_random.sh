#!/usr/bin/env bash
# Random schedules of faults: killed anywhere, answers lost, a server that lies, numbers taken, two at
# once. Each intent ends as exactly one call on the chain, or parked with a reason.
# TIDE_SCHEDULES (25), TIDE_SEED (1); usage: attester_random.sh
. "$(dirname "$0")/../_pg.sh"
[ -x "$TIDE_BIN/tidemark-attester" ] && [ -x "$TIDE_BIN/tidemark-sim" ] || { echo "programs not built"; exit 77; }
export ASAN_OPTIONS="detect_leaks=0:${ASAN_OPTIONS:-}"
pg_start
export PG_BIN PG_DIR
PGDATABASE=postgres "$PG_BIN/createdb" empty
python3 "$(dirname "$0")/_attester_random.py" "$@"
