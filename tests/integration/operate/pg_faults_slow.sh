#!/usr/bin/env bash
# P11: a database that is slow but present (and P1: one that crashes): slow commits, a disk that stalls, locks held by
# another session, little bandwidth. The program waits with a bounded queue, stops reading the lake meanwhile, uses no
# more memory than undisturbed, and leaves the same tables.
# label: all
. "$(dirname "$0")/../_pg.sh"
. "$(dirname "$0")/../_writer.sh"
pg_start
. "$(dirname "$0")/../_faults.sh"
proxy_up
indexer=$TIDE_BIN/tidemark-indexer
ledgers=384 last=$((1920 + 384 - 1))
"$TIDE_BIN/tidemark-sim" write --lake "$PG_DIR/lake" --deployment "$PG_DIR/deployment.json" --first-ledger 1920 --ledgers $ledgers --quiet
export TIDEMARK_DEPLOYMENT=$PG_DIR/deployment.json TIDEMARK_LAKE=$PG_DIR/lake
export TIDEMARK_PARTITION_LEDGERS=1000 TIDEMARK_BATCH_LEDGERS=12 TIDEMARK_BATCH_MIB=1
stall=${TIDE_STALL_MS:-2500}

empty() {
    PGDATABASE=postgres sql "DROP DATABASE IF EXISTS tidemark WITH (FORCE)" 2>/dev/null
    PGDATABASE=postgres sql "CREATE DATABASE tidemark TEMPLATE empty"
    tell clear
}
run() { TIDEMARK_DATABASE_URL=$proxied "$indexer" run --stop-at-end 2>"$words" & writer=$!; }
peak() { # KiB, taken from the process while it lives
    local kib=0 now
    while kill -0 $writer 2>/dev/null; do # until the writer ends, whose source has an end
        now=$(awk '/VmHWM/ { print $2 }' "/proc/$writer/status" 2>/dev/null || true)
        kib=${now:-$kib}
        sleep 0.1
    done
    echo "$kib"
}
ends_the_same() {
    local kib
    kib=$(peak)
    wait $writer || fail "exit $?: $(tail -3 "$words")"
    [ "$("$indexer" digest | grep '^total')" = "$want" ] || fail "other tables"
    [ "$(sql "SELECT from_ledger || '-' || to_ledger FROM chain.coverage")" = "1920-$last" ] || fail "coverage $(sql "TABLE chain.coverage")"
    [ "$kib" -le $((want_kib + want_kib / 8 + 4096)) ] || fail "$kib KiB, $want_kib undisturbed"
    echo "$((kib / 1024)) MiB, $((want_kib / 1024)) undisturbed"
}
read_so_far() { awk '/^rchar/ { print $2 }' "/proc/$writer/io"; }
reads_nothing() { # while it waits for the database
    sleep 0.7
    local before after
    before=$(read_so_far)
    sleep 1
    after=$(read_so_far)
    kill -0 $writer || fail "gave up"
    [ $((after - before)) -le 65536 ] || fail "$((after - before)) bytes read while nothing could be written"
}

slow_commits() {
    tell rule commit delay:50 times=0
    run
    ends_the_same
    fired 20
}
stalled() {
    tell rule commit "delay:$stall" skip=8
    run
    fired 1 20
    reads_nothing
    ends_the_same
}
locked() {
    coproc other { exec "$PG_BIN/psql" -XAtq; }
    tell rule commit delay:20 times=0
    run
    until_sql "sum(last_loaded) > 2040 FROM chain.partition" 20
    echo "BEGIN; LOCK TABLE chain.cursor IN EXCLUSIVE MODE;" >&"${other[1]}"
    until_sql "EXISTS (SELECT 1 FROM pg_stat_activity WHERE application_name = 'tidemark-indexer' AND wait_event_type = 'Lock')" 10
    reads_nothing
    echo "COMMIT;" >&"${other[1]}"
    ends_the_same
}
crashed() { # and `status` tells of it afterwards
    tell rule commit delay:20 times=0
    run
    until_sql "sum(last_loaded) > 2040 FROM chain.partition" 20
    pg_stop immediate
    sleep 0.3
    pg_again
    ends_the_same
    "$indexer" status --json | python3 -c '
import json, sys
w = json.load(sys.stdin)["writer"][0]
assert w["retries"] > 0 and "database" in w["last_error"] and w["state"] == "stopped", w'
}
thin() {
    tell rule connect throttle:10000000 times=0
    run
    ends_the_same
}

"$indexer" migrate >/dev/null 2>&1
PGDATABASE=postgres sql "ALTER DATABASE tidemark RENAME TO empty"
empty
run
want_kib=$(peak)
wait $writer || fail "undisturbed: $(tail -3 "$words")"
want=$("$indexer" digest | grep '^total')
for case in "slow_commits:each commit takes 50 ms" "stalled:the disk stalls for $stall ms" \
    "locked:another session holds a lock" "thin:a line of 10 MB a second"; do
    empty
    fault "P11 ${case#*:}" ${case%%:*}
done
empty
fault "P1 server crashes under the whole program, and status tells" crashed
faults_end
