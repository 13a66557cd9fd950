#!/usr/bin/env bash
# Compares the answers of the compliance route from the cache with the simulator's model, for every address at a
# thousand moments and more: attested, expired, frozen and unfrozen, suspended, sanctioned, countries blocked and
# unblocked, entries archived. The cache is fed ledger by ledger during the comparison.
. "$(dirname "$0")/../_pg.sh"
[ -x "$TIDE_BIN/tidemark-sim" ] || { echo "no tidemark-sim"; exit 1; }
pg_start
pg_writable
chain=(--seed "${TIDE_SEED:-11}" --first-ledger 1920 --ledgers "${TIDE_LEDGERS:-448}" --life 120)
"$TIDE_BIN/tidemark-sim" write --lake "$PG_DIR/sim/lake" "${chain[@]}" --quiet
"$TIDE_BIN/tidemark-indexer" run --lake "$PG_DIR/sim/lake" --deployment "$PG_DIR/sim/deployment.json" --stop-at-end 2>"$PG_DIR/run.log" ||
    fail "run: $(tail -2 "$PG_DIR/run.log")"
[ "$(sql "SELECT count(*) > 0 FROM history.ttl WHERE evicted")" = t ] || fail "nothing was archived"
"$TIDE_BIN/model_driver" "$PG_DIR/cache" "${chain[@]}" 2>"$PG_DIR/err" >"$PG_DIR/out" || fail "$(cat "$PG_DIR/out"; tail -6 "$PG_DIR/err")"
cat "$PG_DIR/out"
for status in Unknown Verified Suspended Expired Frozen Restricted; do
    grep -qE " $status [1-9]" "$PG_DIR/out" || fail "no address was $status: this test proves little"
done
moments=$(grep -oE 'at [0-9]+ moments' "$PG_DIR/out" | tr -dc 0-9)
[ "$moments" -ge "${TIDE_MOMENTS:-1000}" ] || fail "only $moments moments"

# The comparison can fail: it finds a freeze that the cache lacks.
sql "DELETE FROM history.compliance_registry_frozen WHERE NOT removed"
rm -rf "$PG_DIR/cache"
! "$TIDE_BIN/model_driver" "$PG_DIR/cache" "${chain[@]}" >/dev/null 2>&1 || fail "a missing freeze went unnoticed"
