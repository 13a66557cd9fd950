#!/usr/bin/env bash
# Every transaction, call, event and entry of the real contracts on a real network, indexed over RPC, from galexie's lake and from the
# stream of a second node, equals what stellar-rpc answers. Both recorded chains are replayed, and more: fee bumps, refused calls,
# times to live, evictions and restores, uploads, an upgrade of a contract and of the protocol, ledgers that are full, with several clusters.
# TIDE_NETWORK_CALLS: how many calls of each chain (all).
set -euo pipefail
. "$(dirname "$0")/_network.sh"
calls=${TIDE_NETWORK_CALLS:-3000}
pg_start
export PG_BIN
# A third of the calls is refused before it reaches a ledger.
[ "$calls" -lt 1400 ] && least=(transactions=$((calls / 3)) calls=$((calls / 3)) events=$((calls / 2)) entries=10 headers=100) ||
    least=(transactions=500 calls=500 events=300 entries=150 headers=400)

# Fails if anything differs between the index and RPC, or if less was compared than the traffic must have made.
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
say "a vote: four clusters, ten transactions in a ledger"
network_settings one clusters=4 txcount=10
say "$calls calls of each chain"
replays=()
for chain in a b; do
    network_replay one "$chain" --limit "$calls" --strict 60 --group 24 --window 96 &
    replays+=($!)
done
for pid in "${replays[@]}"; do wait "$pid" || fail "a replay"; done
say "other traffic"
network_node one a extras.mjs "$one_dir/a" >"$one_dir/extras.log" 2>&1 || fail "extras: $(grep -m 1 Error "$one_dir/extras.log")"
say "the network upgrades to protocol 28"
network_upgrade one 28
network_node one a extras.mjs "$one_dir/a" >"$one_dir/extras.log" 2>&1 || fail "extras: $(grep -m 1 Error "$one_dir/extras.log")"
last=$(network_ledger one)
network_reach one $((last + 10)) # its checkpoint is in the archive
for chain in a b; do network_indexed "rpc_$chain" "$last"; done

say "RPC against RPC's answers, to ledger $last"
all_equal a rpc_a "$last" "${least[@]}" "archived entries=1"
all_equal b rpc_b "$last" "${least[@]}"

say "a planted difference is found"
network_into rpc_b one b
sql "UPDATE chain.ledger SET hash = sha256(hash) WHERE ledger = $((last - 9))"
! compare b rpc_b "$last" || fail "a wrong hash is not found"
grep -q '^headers: .* 1 differ' "$PG_DIR/compared" || fail "a wrong hash: $(cat "$PG_DIR/compared")"

say "the same ledgers from the lake and from the second node's stream"
network_stop one core # the last ledger of every source is the same
last=0
until [ "$last" = "$(network_ledger one)" ]; do last=$(network_ledger one); sleep 3; done
network_indexed rpc_a "$last"
kill "$rpc_a_pid" "$rpc_b_pid"
wait "$rpc_a_pid" "$rpc_b_pid" || true
kill "$(cat "$one_dir/second/second.pid")"
network_follow lake one a --lake "$one_lake" --stop-at-end true
network_follow stream one a --stream "$one_dir/second/meta.xdr" --stop-at-end true
for db in lake stream; do
    network_indexed $db "$last"
    all_equal a $db "$last" "${least[@]}"
done

say "digests are equal, and each index holds against each source"
for db in rpc_a lake stream; do
    network_into $db one a
    "$TIDE_BIN/tidemark-indexer" digest >"$PG_DIR/digest.$db"
    diff "$PG_DIR/digest.rpc_a" "$PG_DIR/digest.$db" || fail "the digest of $db is another than that of rpc_a"
    for source in "--rpc $one_rpc" "--lake $one_lake" "--stream $one_dir/second/meta.xdr"; do
        # shellcheck disable=SC2086 # an option and its value
        "$TIDE_BIN/tidemark-indexer" verify $source >"$PG_DIR/verify" 2>&1 || fail "verify of $db, $source: $(tail -n 3 "$PG_DIR/verify")"
    done
done
echo "ok sources"
