#!/usr/bin/env bash
# Every event, call and entry of the real contracts on a real network, as stellar-rpc tells them.
set -euo pipefail
. "$(dirname "$0")/_network.sh"
pg_start
say "a network"
network_start one --protocol 27 --min-ttl 64
say "contracts of chain a"
network_deploy one a
network_follow rpc one a
network_replay one a --limit 20 --strict 0
say "calls"
network_indexed rpc "$(network_ledger one)"
network_into rpc one a
"$TIDE_BIN/tidemark-indexer" digest | tail -n 3
