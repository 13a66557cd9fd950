#!/usr/bin/env bash
# Promotes a standby while clients read, the indexer writes and addresses are frozen and thawed: no answer is wrong, no stream has a gap, only SQL
# queries get 503 and for a bounded time, and the indexer continues at the new primary. TIDE_LONG=1: three promotions,
# the last two after a crash and with delayed replay.
. "$(dirname "$0")/../_pg.sh"
. "$(dirname "$0")/../_rpc.sh"
[ -x "$TIDE_BIN/tidemark-api" ] || { echo "no tidemark-api"; exit 1; }
. "$(dirname "$0")/_servers.sh"
pg_start
keep_wal
export PG_DIR PG_BIN STANDBYS="$PG_DIR/second"
chain
standby second
node one "$PG_DIR,$PG_DIR/second"
node two "$PG_DIR/second,$PG_DIR"
pick_people
feeders() { [ "$(sql "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'tidemark-feeder'")" = 2 ]; }
is_synchronous() { [ "$(sql "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync' AND state = 'streaming'")" = 1 ]; }
clients one two
freezes
curl -s "$(url two /readyz)" | grep '"standby":true' >/dev/null || fail "node two is not at the standby"

# failover FROM TO HOW: HOW is `fast`, which sends all commits to the standby first, or `immediate`, which is a crash.
failover() {
    local took
    lost=$(now)
    mark lost
    cluster_down "$PG_DIR/$1" "$3"
    promote "$2"
    took=$(since "$lost")
    writes_go_on
    within 60 reached $(($(ledger) + 5)) || fail "nothing is written: $(tail -n 3 "$PG_DIR/indexer.log")"
    echo "ok promotion under load ($3): the new primary took $took s, the indexer wrote again after $gap s"
}
failover . second fast
if [ -n "${TIDE_LONG:-}" ]; then
    for turn in "second ." ". second"; do
        rejoin ${turn#* } ${turn% *}
        sql "ALTER SYSTEM SET synchronous_standby_names = '*'" # what a client sees is on both servers
        sql "SELECT pg_reload_conf()" >/dev/null
        within 20 is_synchronous || fail "no synchronous standby"
        on "${turn#* }" "SELECT pg_wal_replay_pause()" >/dev/null # it has what is written, and shows it once it is promoted
        within 60 reached $(($(ledger) + 5)) || fail "nothing is written: $(tail -n 3 "$PG_DIR/indexer.log")"
        failover $turn immediate
        sql "ALTER SYSTEM RESET synchronous_standby_names"
        sql "SELECT pg_reload_conf()" >/dev/null
    done
fi
freezes_end
clients_end
for name in one two; do
    within 20 is_ready $name || fail "$name: $(cat "$PG_DIR/$name.ready")"
    grep '"standby":false' "$PG_DIR/$name.ready" >/dev/null || fail "$name: $(cat "$PG_DIR/$name.ready")"
done
# On a standby, a feeder polls the cursor every few milliseconds. On a primary it gets notifications.
polls() { [ "$(sql "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'tidemark-feeder' AND query LIKE 'SELECT moves FROM%'")" != 0 ]; }
within 20 feeders || fail "two feeders are wanted at the new primary"
! polls || fail "a feeder polls the new primary: it does not listen"
judge query ${TIDE_LONG:+back:query} # of the standby that was held back, until it is promoted
same_as_undisturbed
