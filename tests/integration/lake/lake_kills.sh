#!/usr/bin/env bash
# Kills `lake update` before each change to its files and at random moments. Every table stays readable, and the next
# run ends with the rows of an undisturbed run. TIDE_KILLS sets the number of random kills (10).
# label: all
. "$(dirname "$0")/_lake.sh"
here=$(cd "$(dirname "$0")" && pwd)
pg_start
lake_chain --ledgers 80 # five ranges: the first one, the last one, and some between
TIDEMARK_DATABASE_URL=$LAKE_URL "$lake_python" "$here/_kills.py" "$PG_DIR/kills" "${TIDE_LAKE_STRIDE:-1}" "${TIDE_KILLS:-10}" || fail "kills"
