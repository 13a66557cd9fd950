#!/usr/bin/env bash
# Ranges below a gap, as `backfill` fills them, are told and verified like the range that a run follows.
here=$(dirname "$0")
. "$here/../_pg.sh"
[ -x "$TIDE_BIN/tidemark-sim" ] || { echo "no tidemark-sim"; exit 77; }
pg_start
export PG_BIN
bin=$TIDE_BIN/tidemark-indexer
export TIDEMARK_DEPLOYMENT=$PG_DIR/deployment.json TIDEMARK_LAKE=$PG_DIR/lake
"$TIDE_BIN/tidemark-sim" write --lake "$TIDEMARK_LAKE" --deployment "$TIDEMARK_DEPLOYMENT" --first-ledger 1024 --ledgers 256 --txs 6 --quiet
index() { "$bin" "$@" 2>"$PG_DIR/log" || fail "$*: $(tail -2 "$PG_DIR/log")"; }
refused() { # PATTERN COMMAND…
    local pattern=$1 code=0
    shift
    "$bin" "$@" >"$PG_DIR/out" 2>"$PG_DIR/err" || code=$?
    [ "$code" = 67 ] && grep -q "$pattern" "$PG_DIR/err" || fail "$*: exit $code, not 67 and \"$pattern\": $(cat "$PG_DIR/err")"
}
stored() { "$here/../_stored.py" "$@" || fail "stored $*"; }

# The whole chain first, to compare with.
full=$TIDEMARK_DATABASE_URL
index run --stop-at-end
rows() { stored "$1" | awk -F'[:,]' '$2 <= 1100'; } # of the ledgers up to 1100
rows events >"$PG_DIR/events"
rows calls >"$PG_DIR/calls"
stored state --ledger 1090 | sort >"$PG_DIR/state"
[ "$(wc -l <"$PG_DIR/events")" -gt 100 ] && [ -s "$PG_DIR/calls" ] && [ -s "$PG_DIR/state" ] || fail "hardly anything is stored"

PGDATABASE=postgres "$PG_BIN/createdb" gap
export TIDEMARK_DATABASE_URL=${full/dbname=tidemark/dbname=gap} PGDATABASE=gap
[ "$TIDEMARK_DATABASE_URL" != "$full" ] || fail "no name of a database: $full"
refused "nothing is indexed" verify
index run --first-ledger 1240 --stop-at-end
index backfill --from 1200 --to 1220
index backfill --from 1024 --to 1100
[ "$(sql "SELECT string_agg(from_ledger || '-' || to_ledger, ',' ORDER BY from_ledger) FROM chain.coverage")" = "1024-1100,1200-1220,1240-1279" ] ||
    fail "no gaps: $(sql "TABLE chain.coverage")"

rows events | cmp - "$PG_DIR/events" || fail "other events below a gap"
rows calls | cmp - "$PG_DIR/calls" || fail "other calls below a gap"
stored state --ledger 1090 | sort | cmp - "$PG_DIR/state" || fail "another state as of a ledger below a gap"

all="ledgers 1024 to 1100, 1200 to 1220, 1240 to 1279 are indexed"
refused "$all, not 1090 to 1210" verify --from 1090 --to 1210
refused "$all, not 1280" verify --from 1280
for range in "--from 1024" "--from 1030 --to 1090" "--to 1210" ""; do
    # shellcheck disable=SC2086
    "$bin" verify $range >"$PG_DIR/out" 2>&1 || fail "verify $range: exit $?: $(tail -5 "$PG_DIR/out")"
done
# It is looked at, not passed over: a row that was taken away is missed.
sql "DELETE FROM event_rows.log WHERE (ledger, tx, op, event) = (SELECT ledger, tx, op, event FROM event_rows.log WHERE ledger < 1100 LIMIT 1)"
! "$bin" verify --from 1024 >"$PG_DIR/out" 2>&1 || fail "a row is missing below a gap, and verify saw none"
echo "three ranges with gaps: told and verified"
