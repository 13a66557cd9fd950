#!/usr/bin/env bash
# Proofs of entries on a real network with checkpoints of 64 ledgers, which is why this takes a quarter of an hour: what the API says of
# each entry that chain a's contracts have in a checkpoint's state, live or evicted, is what the archive's buckets have. `verify --proof`
# and both packages find it there. TIDE_NETWORK_CALLS is the number of calls (60).
# label: all
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../integration/clients/_clients.sh"
made=$work
. "$here/_network.sh"
remove_made() { network_kill; rm -rf "$made"; }
PG_AT_EXIT=remove_made
pg_start
export PG_BIN
validator=GCTI6HMWRH2QGMFKWVU5M5ZSOTKL7P7JAHZDMJJBKDHGWTEC4CJ7O3DU # of the archive's networks of one validator

say "a network whose ledgers close every 5 s"
network_start one --close normal --no-galexie --min-ttl 10
network_deploy one a
say "calls"
network_replay one a --limit "${TIDE_NETWORK_CALLS:-60}" --strict 60 --group 8 --window 96
python3 - "$one_dir" "$validator" <<'P'
import json, pathlib, sys
folder = pathlib.Path(sys.argv[1])
named = {"threshold": 1, "validators": [sys.argv[2]]}
(folder / "deployment.json").write_text(json.dumps({**json.loads((folder / "a/deployment.json").read_text()), "validators": named}))
P
ln -s history "$one_dir/archive"
called=$(network_ledger one)
signed=$(((called | 63) + 64)) # the last ledger of the checkpoint whose votes prove the one with all calls
say "from ledger $called to $signed"
network_follow proven one a --deployment "$one_dir/deployment.json" --archive "$one_dir/history"
network_reach one $((signed + 2)) 1200
network_into proven
export TIDEMARK_DEPLOYMENT=$one_dir/deployment.json
is_stored() { [ "$(sql "SELECT ledger FROM chain.proof_state" 2>/dev/null)" = $((signed - 64)) ]; }
network_wait 120 "the state of ledger $((signed - 64))" is_stored
API_READY=/healthz api_start --api-rate-query 0
say "each entry"
"$python" "$here/../integration/clients/_entry_each.py" "$one_dir" "$API_URL" || fail "the proofs of entries"
cp "$here/../integration/clients/_entries.mjs" "$packages/"
count=0
for proof in "$one_dir"/entry.*.json; do
    "$TIDE_BIN/tidemark-indexer" verify --proof "$proof" --deployment "$TIDEMARK_DEPLOYMENT" --archive "$one_dir/history" >"$PG_DIR/said" || fail "$proof: exit $?: $(cat "$PG_DIR/said")"
    python3 -c 'import json, sys; d = json.load(open(sys.argv[2])); print(json.dumps({"answer": open(sys.argv[1]).read(), "network": d["network"], "validators": d["validators"], "archive": sys.argv[3]}))' \
        "$proof" "$TIDEMARK_DEPLOYMENT" "$one_dir/history" | (cd "$packages" && node _entries.mjs) >"$PG_DIR/node"
    place=$(awk '/^entry/ { print $2 }' "$PG_DIR/said")
    grep -q "\"${place%,}\"" "$PG_DIR/node" || fail "$proof: the indexer says $place, TypeScript $(cat "$PG_DIR/node")"
    count=$((count + 1))
done
[ $count -ge 6 ] || fail "$count proofs"
echo "ok entries: $count proofs judged by all three"
