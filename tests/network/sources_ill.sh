#!/usr/bin/env bash
# A real network whose sources are ill: stellar-rpc with a limit of 20 ledgers behind a proxy that refuses pages in each
# way, and a lake in which galexie's `append --start` beyond the newest object left a hole. Both indexes end with the
# digest of a whole lake.
#   usage: sources_ill.sh     TIDE_NETWORK_PORT: the first of ten ports (12800)
# label: all
set -euo pipefail
. "$(dirname "$0")/_network.sh"
pg_start
export PG_BIN

say "a network, its contracts and some calls"
network_start one
network_deploy one a
network_replay one a --limit 40 --strict 60 --group 8 --window 96
at=$(network_ledger one)
network_wait 60 "ledger $at in the lake" network_in_lake one "$at"
network_follow lake one a --lake "$one_lake" --poll-ms 200
network_indexed lake "$at"

spawn() { # NAME CMD…: a program of the network in place of the one that network_stop ended
    local name=$1
    shift
    (cd "$one_dir/$name" && exec setsid bash -c 'echo $$ >"$0"; exec "$@"' "$one_dir/$name.pid" "$@" >>"$one_dir/$name.log" 2>&1 </dev/null &)
    network_wait 10 "$name to begin" test -s "$one_dir/$name.pid"
}
galexie() { spawn galexie "$one_dir/bin/galexie" "$@" --config-file "$one_dir/galexie/galexie.toml"; }

say "galexie ends, and appends from a later ledger on: a hole, of which it says nothing"
network_stop one galexie
before=$(find "$one_lake" -name '*.zst' | sed 's/.*--\([0-9]*\).xdr.zst$/\1/' | sort -n | tail -n 1)
network_reach one $((before + 12))
begin=$(network_ledger one)
galexie append --start "$begin"
hole="ledger $((before + 1)) is missing, but the object of ledger"
network_into lake one a
until_sql "EXISTS (SELECT FROM chain.heartbeat WHERE trouble LIKE '%$hole%' AND lag_ledgers > 0)" 120
[ "$(sql 'SELECT max(c.ledger) FROM chain.cursor c')" = "$before" ] || fail "the cursor is not before the hole"
kill -0 "$lake_pid" || fail "the indexer ended"
say "scan-and-fill fills it, and the index goes on"
end=$(network_ledger one)
network_wait 120 "ledger $end in the history archive, beyond which galexie refuses to fill" network_archive_has one "$end"
network_stop one galexie
galexie scan-and-fill --start 2 --end "$end"
network_indexed lake "$end" 180
grep -q "lake.filled ledger=$((before + 1))" "$PG_DIR/lake.log" || fail "that it is filled is not logged"

say "stellar-rpc gives 20 ledgers at most, behind a proxy that refuses in twelve ways"
network_stop one core # the last ledger of every source is the same
network_stop one rpc
echo 'MAX_LEDGERS_LIMIT=20
DEFAULT_LEDGERS_LIMIT=10' >>"$one_dir/rpc/rpc.cfg"
spawn rpc "$one_dir/bin/stellar-rpc" --config-path "$one_dir/rpc/rpc.cfg"
answers() { network_call one getLedgers '{"startLedger":'"$end"',"pagination":{"limit":1}}' | grep '"ledgers"' >/dev/null; }
network_wait 120 "stellar-rpc" answers
first=$(network_call one getLedgers '{"startLedger":'"$end"',"pagination":{"limit":1}}' | sed -n 's/.*"oldestLedger":\([0-9]*\).*/\1/p')
index() { # DB SOURCE…: the ledgers that RPC has, up to $end
    local db=$1
    shift
    PGDATABASE=postgres "$PG_BIN/createdb" "$db"
    network_into "$db" one a
    "$TIDE_BIN/tidemark-indexer" backfill --from "$first" --to "$end" --first-ledger "$first" "$@" >"$PG_DIR/$db.log" 2>&1 || fail "$db: $(tail -n 3 "$PG_DIR/$db.log")"
    "$TIDE_BIN/tidemark-indexer" digest >"$PG_DIR/$db.digest"
}
index whole --lake "$one_lake"
quick=(--http-timeout-ms 12000 --object-max-mib 1 --retry-ms-max 200 --http-tries 40)
index direct --rpc "$one_rpc"
diff "$PG_DIR/whole.digest" "$PG_DIR/direct.digest" || fail "over RPC other rows than from the lake"
grep -q 'rpc.refused .*ledgers=32 .*error -32600: limit must not exceed 20' "$PG_DIR/direct.log" || fail "the limit is not told: $(grep rpc. "$PG_DIR/direct.log")"
for seed in 1 2; do
    "$network_here/../integration/_refuse.py" "$one_rpc" --most 5 --share 0.2 --seed $seed --log "$PG_DIR/asked.$seed" >"$PG_DIR/port.$seed" &
    network_wait 20 "the proxy" test -s "$PG_DIR/port.$seed"
    index "ill_$seed" --rpc "http://127.0.0.1:$(cat "$PG_DIR/port.$seed")" "${quick[@]}"
    diff "$PG_DIR/whole.digest" "$PG_DIR/ill_$seed.digest" || fail "seed $seed: other rows than from the lake"
    say "seed $seed: $(grep -c given "$PG_DIR/asked.$seed") pages given, $(grep -vc given "$PG_DIR/asked.$seed") refused"
done
echo "ok sources_ill"
