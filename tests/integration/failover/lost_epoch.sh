#!/usr/bin/env bash
# A network was reset, a node serves its new epoch, and the standby that is promoted has never heard of it: the node serves the old
# epoch again and says so, then the new one once it is indexed again, under whatever number.
# label: all
. "$(dirname "$0")/../_pg.sh"
. "$(dirname "$0")/../_rpc.sh"
[ -x "$TIDE_BIN/tidemark-api" ] || { echo "no tidemark-api"; exit 77; }
. "$(dirname "$0")/_servers.sh"
pg_start
indexer=$TIDE_BIN/tidemark-indexer
export TIDEMARK_API_DRAIN_MS=0 TIDEMARK_STALE_AFTER_MS=86400000 TIDEMARK_COMPLIANCE_AGE_S=0 TIDEMARK_CLOCK_SKEW_S=3153600000
write() { "$TIDE_BIN/tidemark-sim" write --lake "$PG_DIR/$1/lake" --deployment "$PG_DIR/$1/deployment.json" --ledgers 64 --txs 6 --seed 5 --quiet "${@:2}"; }
index() {
    TIDEMARK_DATABASE_URL="host=$PGHOST port=5432 user=postgres dbname=tidemark" "$indexer" run --lake "$PG_DIR/$1/lake" \
        --deployment "$PG_DIR/$1/deployment.json" --stop-at-end 2>>"$PG_DIR/indexer.log" || fail "$(tail -n 3 "$PG_DIR/indexer.log")"
}
reset() {
    TIDEMARK_DATABASE_URL="host=$PGHOST port=5432 user=postgres dbname=tidemark" "$indexer" reset --confirm --deployment "$PG_DIR/first/deployment.json" \
        >"$PG_DIR/reset.log" 2>&1 || fail "$(cat "$PG_DIR/reset.log")"
}
write first
write again --start-time 1777225600
index first
export TIDEMARK_DEPLOYMENT=$PG_DIR/first/deployment.json
standby second
node one "$PG_DIR,$PG_DIR/second"
serves() { # EPOCH: from the database and from the cache; the newest ledger closed in 2026-01 or, after the reset, in 2026-04
    curl -sf "$(url one /api/coverage)" | grep "\"networkEpoch\":$1[,}]" >/dev/null &&
        curl -sf "$(url one /api/prices)" | grep "\"closedAt\":\"$([ "$1" = 0 ] && echo 2026-01 || echo 2026-04)" >/dev/null
}
soon() { wait_for 40 serves "$1" || fail "epoch $1 is not served: $(curl -s "$(url one /api/coverage)" | cut -c1-200) $(curl -s "$(url one /api/prices)" | cut -c1-200) $(tail -n 4 "$PG_DIR/one.log")"; }
soon 0
curl -sN "$(url one /api/stream)" >"$PG_DIR/stream" &
caught_up second
on second "ALTER SYSTEM SET primary_conninfo = ''"
on second "SELECT pg_reload_conf()" >/dev/null
deaf() { [ "$(on second "SELECT NOT EXISTS (SELECT 1 FROM pg_stat_wal_receiver)")" = t ]; }
wait_for 20 deaf || fail "the standby still receives"
reset
index again
soon 1
position=$(timeout 2 curl -sN "$(url one /api/stream)" | sed -n 's/^id: //p' | sed -n 1p || true)
lost=$(now)
pg_stop immediate
promote second
soon 0
echo "ok the epoch that was lost is not served, the old one is, $(since "$lost") s after the loss"
grep 'deployment.lost.*deployment=' "$PG_DIR/one.log" >/dev/null || fail "the log says nothing"
refused() { [ "$(curl -s -m 1 -o "$PG_DIR/body" -w '%{http_code}' -H "Last-Event-ID: $position" "$(url one /api/stream)")" = 409 ]; }
wait_for 20 refused || fail "a position of the lost epoch ($position): $(cat "$PG_DIR/body")"
reset
index again
soon 1
kill -0 $one_pid || fail "the node ended"
echo "ok once it is indexed again, as deployment $(sql "SELECT max(id) FROM chain.deployment"), the new epoch is served"
