#!/usr/bin/env bash
# Tests what a jump of the database's clock leaves behind: it goes 40 days ahead for a moment and comes back. What was
# written meanwhile is due at once again, limits count no time that is over, and no notification is lost.
# needs: no sanitizer
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../_pg.sh"
. "$here/../_api.sh"
[ -x "$TIDE_BIN/tidemark-api" ] || { echo "no tidemark-api"; exit 1; }
# The server's user cannot read below root's home: the library lies beside the file that it reads.
clock=$(mktemp -d "${TMPDIR:-/tmp}/tide.XXXXXX")
chmod 755 "$clock"
install -m 755 "$TIDE_BIN/libwall_clock.so" "$clock/"
install -m 644 /dev/null "$clock/shift"
PG_AT_EXIT="rm -rf $clock"
LD_PRELOAD=$clock/libwall_clock.so TIDE_WALL_FILE=$clock/shift pg_start
api_index 16
export TIDEMARK_KYC_DATABASE_URL="host=$PG_DIR port=5432 user=tidemark_kyc dbname=tidemark"
timeout 300 python3 "$here/_kyc_clocks.py" "$PG_DIR" "$PG_BIN" "$clock/shift" || fail "$(grep -v ' info ' "$PG_DIR/api.log" | tail -5)"
echo ok
