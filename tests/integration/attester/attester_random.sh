#!/usr/bin/env bash
# Runs random schedules of faults: kills at any point, lost answers, a server that lies, sequence numbers used by
# others, two attesters at once. Each intent ends as exactly one call on the chain, or needs review with a reason.
# TIDE_SCHEDULES (25), TIDE_SEED (1); usage: attester_random.sh
# label: all
. "$(dirname "$0")/../_pg.sh"
[ -x "$TIDE_BIN/tidemark-attester" ] && [ -x "$TIDE_BIN/tidemark-sim" ] || { echo "programs not built"; exit 1; }
export ASAN_OPTIONS="detect_leaks=0:${ASAN_OPTIONS:-}"
pg_start
export PG_BIN PG_DIR
PGDATABASE=postgres "$PG_BIN/createdb" empty
python3 "$(dirname "$0")/_attester_random.py" "$@"
