#!/usr/bin/env bash
# P5: rows in the index that the writer did not write. A collision stops the writer with the table and the key. No row
# is overwritten, and nothing of that transaction is stored. Without the planted row the run completes.
. "$(dirname "$0")/../_pg.sh"
. "$(dirname "$0")/../_writer.sh"
pg_start
. "$(dirname "$0")/../_faults.sh"
tip="batch=3 partition=500 tip"

stops_at() { # TABLE KEY: told, and what was there is still there
    local before
    before=$(sql "SELECT count(*) FROM event.thing")
    for _ in 1 2; do # the second start must not do otherwise
        start 1 300 "${how[@]}"
        ends_with 76 "23505.*$2.*Table $1"
        grep -q 'did not write is in the way' "$words" || fail "$(tail -1 "$words")"
    done
    [ "$(sql "SELECT count(*) FROM event.thing WHERE ledger > $cursor")" -le 1 ] || fail "rows beyond the cursor"
}
planted() { # TABLE ROW KEY REMOVE
    how=($tip)
    "$driver" write 1 30 $tip 2>/dev/null
    sql "INSERT INTO $1 VALUES $2"
    cursor=57
    stops_at "${1#*.}_p1_0" "$3"
    [ "$(sql "SELECT ledger FROM chain.cursor")" = $cursor ] || fail "cursor at $(sql "SELECT ledger FROM chain.cursor")"
    sql "DELETE FROM $1 WHERE $4"
    start 1 300 $tip
    ends_well
}
while_loading() { # the keys are built when the partition is full: nothing of it was visible before
    how=(batch=4 partition=100)
    tell rule commit blackhole skip=6
    start_proxied 1 300 "${how[@]}"
    until_sql "last_loaded = 16 FROM chain.partition" 10
    kill -9 $writer; wait $writer 2>/dev/null || true
    sql "INSERT INTO event.thing_p1_0 VALUES (1, 13, 0, 999)"
    cursor=0
    stops_at thing_p1_0 '(1, 13, 0)'
    [ "$(sql "SELECT ledger FROM chain.cursor")" = 0 ] || fail "half a partition is visible"
    sql "DELETE FROM event.thing_p1_0 WHERE amount = 999"
    start 1 300 "${how[@]}"
    ends_well
}
proxy_up
wants 1 300 $tip
key=$(sql "SELECT key_hash FROM history.item WHERE ledger = 58 AND seq = 0")
fresh
fault "P5 duplicate key in an event table" planted event.thing "(1, 58, 0, 999)" "(1, 58, 0)" "amount = 999"
fresh
fault "P5 duplicate key in a history table" planted history.item \
    "(1, '$key', 58, 1, 0, false, 999)" "58, 1, 0" "value = 999"
wants 1 300 batch=4 partition=100
fresh
fault "P5 duplicate key while loading" while_loading
faults_end
