#!/usr/bin/env bash
# Indexes every transaction, call, event and entry of the real contracts on a real network, over RPC, from galexie's
# lake and from the stream of a second node, and compares them with stellar-rpc's answers. The traffic is both
# recorded chains and more: fee bumps, refused calls, times to live, evictions and restores, uploads, an upgrade of a
# contract and of the protocol, full ledgers with several clusters. TIDE_NETWORK_CALLS is the number of calls of each
# chain (400; with TIDE_LONG all, and chain b from the lake and the stream too).
set -euo pipefail
. "$(dirname "$0")/_network.sh"
calls=${TIDE_NETWORK_CALLS:-${TIDE_LONG:+3000}} calls=${calls:-400} first=$((calls / 2)) room=10 cluster=100000000
pg_start
export PG_BIN
# About 240 of 400 calls of a chain reach a ledger. The others are refused before.
least=(transactions=$((calls / 3)) calls=$((calls / 3)) events=$((calls / 4)) entries=10 headers=100)
[ "$calls" -lt 400 ] || least=(transactions=200 calls=200 events=100 entries=50 headers=200)
[ "$calls" -lt 1400 ] || least=(transactions=500 calls=500 events=300 entries=150 headers=400)
seen=(parallel=2 full=2 evicted=5 restored=5 upgrade=1 failed=$((calls / 20)) bumped=2 extended=1 code_restored=1 uploaded=10 code=2)

# Fails if the index and RPC differ, or if the comparison covers less than the traffic must have made.
compare() { # CHAIN DB TO [KIND=N]…
    local chain=$1 db=$2 last=$3
    shift 3
    network_into "$db" one "$chain"
    "$network_here/_compare.py" "$one_rpc" "$TIDEMARK_DEPLOYMENT" "$(sed 's/[^0-9]//g' "$one_dir/$chain/setup.json")" "$last" "$one_dir/history" "$@" >"$PG_DIR/compared" 2>&1
}
all_equal() { compare "$@" || fail "$2 differs: $(cat "$PG_DIR/compared")"; sed 's/^/       /' "$PG_DIR/compared"; }

say "a network of protocol 27, with a second node"
network_start one --protocol 27 --min-ttl 64
network_stream one
for chain in a b; do
    say "contracts of chain $chain"
    network_deploy one "$chain"
    network_follow "rpc_$chain" one "$chain"
done
say "a vote: four clusters, $room transactions in a ledger; a few of them fill a cluster"
network_settings one clusters=4 txcount=$room instructions=$cluster

replays=()
replay() { # OPTION…: begins with both chains. Core's queue has room for two ledgers of transactions, and refuses the others: few at once
    local chain
    for chain in a b; do
        network_replay one "$chain" "$@" --strict 60 --group 8 --window 96 &
        replays+=($!)
    done
}
replayed() {
    local pid
    for pid in "${replays[@]}"; do wait "$pid" || fail "a replay"; done
    replays=()
}
extras() {
    network_node one a extras.mjs "$one_dir/a" >"$one_dir/extras.log" 2>&1 || fail "extras: $(network_error "$one_dir/extras.log")"
    network_node one a bursts.mjs "$room" "$cluster" >"$one_dir/bursts.log" 2>&1 || fail "bursts: $(network_error "$one_dir/bursts.log")"
}
sent() { cat "$one_dir"/?/sent.jsonl | wc -l; }
sent_more() { [ "$(sent)" -gt "$1" ]; }
archived() { "$network_here/_seen.py" "$one_dir/second/meta.xdr" archived | tail -n 5 >"$one_dir/archived" && [ -s "$one_dir/archived" ]; }

say "the first $first calls of each chain, and other traffic"
replay --limit "$first"
replayed
extras
say "the other $((calls - first)), while the network upgrades to protocol 28"
before=$(sent)
replay --from "$first" --limit $((calls - first))
network_wait 300 "calls before the upgrade" sent_more $((before + calls / 8))
network_upgrade one 28
replayed
say "archived entries are restored, and extended: the calls of extras.mjs fail if an instance is archived by then"
network_wait 120 "evictions" archived
network_node one a restore.mjs 1000 <"$one_dir/archived" >"$one_dir/restored.log" 2>&1 || fail "$(network_error "$one_dir/restored.log")"
say "other traffic of protocol 28, executable references too"
extras
# Its registry is initialised by then.
[ "$calls" -lt 60 ] || network_node one a references.mjs >"$one_dir/references.log" 2>&1 || fail "references: $(network_error "$one_dir/references.log")"
last=$(network_ledger one)
network_reach one $((last + 10)) # its checkpoint is in the archive
for chain in a b; do network_indexed "rpc_$chain" "$last"; done
"$network_here/_seen.py" "$one_dir/second/meta.xdr" "$(. "$one_dir/env" && echo "$NETWORK_PASSPHRASE")" "$room" "${seen[@]}" >"$PG_DIR/seen" 2>&1 || fail "the traffic misses what it is for: $(cat "$PG_DIR/seen")"
say "in the stream: $(cat "$PG_DIR/seen")"

say "RPC against RPC's answers, to ledger $last"
all_equal a rpc_a "$last" "${least[@]}" "archived entries=1"
all_equal b rpc_b "$last" "${least[@]}"

say "the same ledgers from the lake and from the second node's stream"
in_stream() { [ "$("$TIDE_BIN/tidemark-indexer" dump --kinds ledger "$one_dir/second/meta.xdr" 2>/dev/null | sed -n '$s/.*"sequence":"\{0,1\}\([0-9]*\).*/\1/p')" -ge "$1" ]; }
network_stop one core # the last ledger of every source is the same
# Those that follow it write the last ledgers after it ended, each in its own time.
last=0
all_end_with_last() {
    if [ "$last" != "$(network_ledger one)" ]; then last=$(network_ledger one); return 1; fi
    network_in_lake one "$last" && in_stream "$last"
}
await "lake, stream and RPC to end with the same ledger" all_end_with_last
for chain in a b; do network_indexed "rpc_$chain" "$last"; done
kill "$rpc_a_pid" "$rpc_b_pid"
wait "$rpc_a_pid" "$rpc_b_pid" || true
kill "$(cat "$one_dir/second/second.pid")"
chains=a
[ -z "${TIDE_LONG:-}" ] || chains='a b'
for chain in $chains; do
    network_follow "lake_$chain" one "$chain" --lake "$one_lake" --stop-at-end true
    network_follow "stream_$chain" one "$chain" --stream "$one_dir/second/meta.xdr" --stop-at-end true
done
for chain in $chains; do
    for source in lake stream; do network_indexed "${source}_$chain" "$last"; done
    all_equal "$chain" "lake_$chain" "$last" "${least[@]}"
done

say "digests are equal, and each index holds against each source"
for chain in $chains; do
    for db in rpc lake stream; do
        network_into "${db}_$chain" one "$chain"
        "$TIDE_BIN/tidemark-indexer" digest >"$PG_DIR/digest.$db"
        diff "$PG_DIR/digest.rpc" "$PG_DIR/digest.$db" || fail "the digest of ${db}_$chain is another than that of rpc_$chain"
        for source in "--rpc $one_rpc" "--lake $one_lake" "--stream $one_dir/second/meta.xdr"; do
            # shellcheck disable=SC2086 # an option and its value
            "$TIDE_BIN/tidemark-indexer" verify $source >"$PG_DIR/verify" 2>&1 || fail "verify of ${db}_$chain, $source: $(tail -n 3 "$PG_DIR/verify")"
        done
    done
done

say "planted differences are found: a header, an event, a call, an entry"
network_into rpc_a one a
pg_writable
sql "UPDATE chain.ledger SET hash = sha256(hash) WHERE ledger = $((last - 20))"
sql "UPDATE event.stellar_asset_transfer SET amount = amount + 1 WHERE (ledger, tx, op, event) = (SELECT ledger, tx, op, event FROM event.stellar_asset_transfer ORDER BY ledger DESC, tx LIMIT 1)"
sql "UPDATE chain.call SET events = events + 1 WHERE (ledger, tx, op) = (SELECT ledger, tx, op FROM chain.call ORDER BY ledger DESC, tx LIMIT 1)"
sql "UPDATE history.liquidity_pool_instance SET wasm = sha256(wasm) WHERE (ledger, tx, seq) = (SELECT ledger, tx, seq FROM history.liquidity_pool_instance ORDER BY ledger DESC, tx DESC, seq DESC LIMIT 1)"
! compare a rpc_a "$last" || fail "planted differences are not found"
for kind in headers events calls entries; do
    grep -q "^$kind: .* 1 differ" "$PG_DIR/compared" || fail "a planted difference of $kind: $(cat "$PG_DIR/compared")"
done
echo "ok sources"
