#!/usr/bin/env bash
# Sends the same transactions, at the limits of validity, to a real network and to the simulated one: the outcomes are
# equal.
#   usage: edges.sh     TIDE_NETWORK_PORT: the first of ten ports (12800)
# label: all
set -euo pipefail
. "$(dirname "$0")/_network.sh"
. "$network_here/../integration/_serve.sh"
[ -x "$TIDE_BIN/tidemark-sim" ] || skip "programs not built"
pg_start # its folder is the test's
dir=$PG_DIR SERVE_DIR=$PG_DIR

network_start net --no-galexie
network_env net
(
    cd "$NETWORK_SCRIPTS"
    node registry.mjs deploy "$dir" "$NETWORK_CHAINS/a/deployment.json" >/dev/null
    registry=$(python3 -c 'import json,sys; print(json.load(open(sys.argv[1]))["contracts"]["compliance_registry"])' "$dir/deployment.json")
    node edges.mjs "$registry" $(node registry.mjs secrets admin outsider)
) >"$dir/real"

# The close times of the ledgers written at the start jump. Those of the client's ledgers follow the last of them.
serve_start --close-ms 0 --ledgers 64 --seed 6 --txs 2 --noise 0 --deployment "$dir/simulated.json"
for name in one two; do
    "$TIDE_BIN/tidemark-sim" tx fund --as $name --seed 6 --rpc "$SERVE_URL" >/dev/null &
    await "the coins of $name" eval 'gone $! || { serve_close; false; }'
    wait $!
done
secret() { "$TIDE_BIN/tidemark-sim" keys --seed 6 --name "$1" 2>/dev/null | awk '{ print $NF }'; }
(
    cd "$NETWORK_SCRIPTS"
    json() { python3 -c 'import json,sys; d=json.load(open(sys.argv[1]))
for k in sys.argv[2].split("."): d=d[k]
print(d)' "$dir/simulated.json" "$1"; }
    export RPC_URL=$SERVE_URL NETWORK_PASSPHRASE CLOSE_URL=$SERVE_URL/close
    NETWORK_PASSPHRASE=$(json network)
    node edges.mjs "$(json contracts.compliance_registry)" "$(secret one)" "$(secret two)"
) >"$dir/simulated"
[ "$(wc -l <"$dir/real")" -ge 50 ] || fail "only $(wc -l <"$dir/real") outcomes of the real network"
diff -U 100 --label real --label simulated "$dir/real" "$dir/simulated" || fail "the simulator takes, or refuses, something else"
echo "ok: $(wc -l <"$dir/real") transactions, equal outcomes"
