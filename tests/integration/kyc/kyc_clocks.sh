#!/usr/bin/env bash
# Tests what a jump of the database's clock leaves behind: it goes 40 days ahead for a moment and comes back. What was
# written meanwhile is due at once again, limits count no time that is over, and no notification is lost.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../_pg.sh"
. "$here/../_api.sh"
[ -x "$TIDE_BIN/tidemark-api" ] || { echo "skipped: no tidemark-api"; exit 77; }
[ -e "$TIDE_BIN/libwall_clock.so" ] || { echo "skipped: no libwall_clock.so"; exit 77; }
shift_file=$(mktemp "${TMPDIR:-/tmp}/tide.XXXXXX")
chmod 644 "$shift_file"
PG_AT_EXIT="rm -f $shift_file"
LD_PRELOAD=$TIDE_BIN/libwall_clock.so TIDE_WALL_FILE=$shift_file pg_start
api_index 16
export TIDEMARK_KYC_DATABASE_URL="host=$PG_DIR port=5432 user=tidemark_kyc dbname=tidemark"
timeout 300 python3 "$here/_kyc_clocks.py" "$PG_DIR" "$PG_BIN" "$shift_file" || fail "$(grep -v ' info ' "$PG_DIR/api.log" | tail -5)"
echo ok
