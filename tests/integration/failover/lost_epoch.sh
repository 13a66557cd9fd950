#!/usr/bin/env bash
# After a network reset, a node serves the new epoch, and the promoted standby does not have that epoch. The node
# serves the old epoch again and reports that, then the new one once it is indexed again, under any number. A node
# that connects to a diverged standby with the lost epoch does not return to that epoch. A node without a deployment
# file does not serve another protocol instead.
# label: all
. "$(dirname "$0")/../_pg.sh"
. "$(dirname "$0")/../_rpc.sh"
[ -x "$TIDE_BIN/tidemark-api" ] || { echo "no tidemark-api"; exit 1; }
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
standby third
node one "$PG_DIR,$PG_DIR/second"
mkdir "$PG_DIR/front"
ln -s "$PG_DIR/third/.s.PGSQL.5432" "$PG_DIR/front/.s.PGSQL.5432"
node two "$PG_DIR/front"
serves() { # EPOCH [NODE]: from the database and from the cache; the newest ledger closed in 2026-01 or, after the reset, in 2026-04
    rows_of "$1" "${2:-one}" &&
        curl -sf "$(url "${2:-one}" /api/prices)" | grep "\"closedAt\":\"$([ "$1" = 0 ] && echo 2026-01 || echo 2026-04)" >/dev/null
}
rows_of() { curl -sf "$(url "$2" /api/coverage)" | grep "\"networkEpoch\":$1[,}]" >/dev/null; }
soon() {
    local node=${2:-one}
    within 40 serves "$1" "$node" ||
        fail "epoch $1 is not served: $(curl -s "$(url "$node" /api/coverage)" | cut -c1-200) $(curl -s "$(url "$node" /api/prices)" | cut -c1-200) $(tail -n 4 "$PG_DIR/$node.log")"
}
soon 0
curl -sN "$(url one /api/stream)" >"$PG_DIR/stream" &
caught_up second
on second "ALTER SYSTEM SET primary_conninfo = ''"
on second "SELECT pg_reload_conf()" >/dev/null
deaf() { [ "$(on second "SELECT NOT EXISTS (SELECT 1 FROM pg_stat_wal_receiver)")" = t ]; }
within 20 deaf || fail "the standby still receives"
reset
index again
soon 1
caught_up third
soon 1 two
deployment=$(sql "SELECT max(id) FROM chain.deployment")
positioned() {
    position=$(timeout 2 curl -sN "$(url one /api/stream)" | sed -n 's/^id: //p' | sed -n 1p || true)
    [[ $position == "$deployment":* ]]
}
within 20 positioned || fail "no position of the new epoch ($deployment): $position $(tail -n 3 "$PG_DIR/one.log")"
lost=$(now)
pg_stop immediate
promote second
soon 0
echo "ok the epoch that was lost is not served, the old one is, $(since "$lost") s after the loss"
grep 'deployment.lost.*deployment=' "$PG_DIR/one.log" >/dev/null || fail "the log says nothing"
refused() { [ "$(curl -s -m 1 -o "$PG_DIR/body" -w '%{http_code}' -H "Last-Event-ID: $position" "$(url one /api/stream)")" = 409 ]; }
within 20 refused || fail "a position of the lost epoch ($position): $(cat "$PG_DIR/body")"

# Node two connects to the new primary, or to the third server, which does not learn of the promotion and still holds
# the lost epoch.
at() { # SERVER: from now on
    local server
    ln -sfn "$PG_DIR/$1/.s.PGSQL.5432" "$PG_DIR/front/.s.PGSQL.5432"
    for server in second third; do
        on $server "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'tidemark-api%'" >/dev/null
    done
}
at second
soon 0 two
selections() { grep -c 'deployment.selected' "$PG_DIR/two.log"; }
settled=$(selections)
for server in third second third; do
    at $server
    within 20 rows_of 0 two || fail "at the $server server: $(tail -n 4 "$PG_DIR/two.log")"
done
[ "$(selections)" = "$settled" ] || fail "node two goes back and forth: $(grep 'deployment\.' "$PG_DIR/two.log")"
[ "$(on third "SELECT count(*) FROM chain.deployment WHERE epoch = 1")" = 1 ] || fail "the third server does not hold the lost epoch"
[ "$(on third "SELECT count(*) > 0 FROM pg_stat_activity WHERE application_name LIKE 'tidemark-api%'")" = t ] || fail "node two is not at the third server"
at second
echo "ok a node that reads at a standby which still holds the lost epoch stays with the old one"

reset
index again
soon 1
soon 1 two
kill -0 $one_pid || fail "the node ended"
echo "ok once it is indexed again, as deployment $(sql "SELECT max(id) FROM chain.deployment"), the new epoch is served"

# Replaces the database of a node without a deployment file by one of another network.
write other --passphrase "Another network" --seed 9
PGDATABASE=postgres "$PG_BIN/createdb" other
TIDEMARK_DATABASE_URL="host=$PGHOST port=5432 user=postgres dbname=other" "$indexer" run --lake "$PG_DIR/other/lake" \
    --deployment "$PG_DIR/other/deployment.json" --stop-at-end 2>>"$PG_DIR/indexer.log" || fail "$(tail -n 3 "$PG_DIR/indexer.log")"
unset TIDEMARK_DEPLOYMENT
node three "$PG_DIR/second"
serves 1 three || fail "node three: $(tail -n 3 "$PG_DIR/three.log")"
kill $one_pid $two_pid
swap_databases() {
    PGDATABASE=postgres sql "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname IN ('tidemark', 'other')" >/dev/null
    PGDATABASE=postgres sql "ALTER DATABASE tidemark RENAME TO former" 2>/dev/null && PGDATABASE=postgres sql "ALTER DATABASE other RENAME TO tidemark"
}
within 20 swap_databases || fail "the databases cannot be renamed"
said() { curl -s "$(url three /api/coverage)" >/dev/null; grep 'is of another protocol' "$PG_DIR/three.log" >/dev/null; }
within 20 said || fail "node three takes another network silently: $(tail -n 3 "$PG_DIR/three.log") $(curl -s "$(url three /api/coverage)" | cut -c1-200)"
[ "$(curl -s -o "$PG_DIR/body" -w '%{http_code}' "$(url three /api/coverage)")" = 503 ] || fail "node three answers for another network: $(cut -c1-200 "$PG_DIR/body")"
echo "ok a node without a deployment file does not go over to another network"
