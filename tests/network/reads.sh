#!/usr/bin/env bash
# Compares every public read function of the nine contracts, as the network simulates it, with Tidemark's answers over
# HTTP and from its rows: before initialisation, with empty pools, after traffic, and with TIDE_LONG
# with stale prices. TIDE_READS_EACH (12) is the number of questions for each function, TIDE_READS_FLOOR (760) the
# number of equal answers expected, TIDE_READS_CALLS (100) the traffic. TIDE_READS_KEEP names a folder for the counts
# by function.
set -euo pipefail
export TIDE_NETWORK_PORT=${TIDE_NETWORK_PORT:-12900}
. "$(dirname "$0")/_network.sh"
pg_start
say "a network"
network_start one --no-galexie
say "contracts of chain b"
network_deploy one b
network_follow index one b
network_into index one b
network_indexed index "$(network_ledger one)"
api_start --api-rate-lookup 0 --api-rate-query 0

chain=$PG_DIR/one/b
network_node one b _simulate.mjs functions >"$PG_DIR/functions"
"$network_here/_reads.py" ask "$PG_DIR/functions" "$TIDEMARK_DEPLOYMENT" "$chain/calls.jsonl" >"$PG_DIR/questions" || fail "questions"

compare() { "$network_here/_reads.py" compare "$1" "$2" "$API_PORT" "${3:-1}" "${4:-0}" >"$PG_DIR/compared"; }
# STATE VALUES: asks all questions and expects at least VALUES equal answers that are values, not refusals.
ask() {
    network_node one b _simulate.mjs ask <"$PG_DIR/questions" >"$PG_DIR/answers" 2>"$PG_DIR/asked" || fail "$1: $(tail -n 3 "$PG_DIR/asked")"
    compare "$PG_DIR/questions" "$PG_DIR/answers" "$floor" $((each < 12 ? 0 : $2)) || { cat "$PG_DIR/compared"; fail "$1: answers differ, or are too few"; }
    say "$1: $(tail -n 1 "$PG_DIR/compared"); $(tail -n 1 "$PG_DIR/asked")"
    [ -z "${TIDE_READS_KEEP:-}" ] || cp "$PG_DIR/compared" "$TIDE_READS_KEEP/${1// /_}"
}

each=${TIDE_READS_EACH:-12} floor=${TIDE_READS_FLOOR:-760}
ask "before initialisation" 525
network_open one 0 83
ask "no liquidity, no vaults, no feeds" 580
network_open one 83 "$((163 + ${TIDE_READS_CALLS:-100}))"
network_node one b extras.mjs "$chain" >"$PG_DIR/extras" 2>&1 || fail "extras: $(tail -n 3 "$PG_DIR/extras")"
ask "after traffic" 620
if [ -n "${TIDE_LONG:-}" ]; then
    newest=$(sql "SELECT max(greatest(latest_ts, twap_ts)) FROM state.oracle_feed")
    all_stale() { [ "$(sql "SELECT extract(epoch FROM max(closed_at))::bigint FROM chain.ledger")" -gt $((newest + 601)) ]; }
    network_wait 900 "stale prices" all_stale
    ask "all prices stale" 500
fi

# The comparison can fail: it finds a reserve and a supply that are one unit off.
pg_writable
sql "UPDATE history.liquidity_pool_pool SET reserve_a = reserve_a + 1; UPDATE state.synth_token_total_supply SET value = value + 1"
for planted in get_pool total_supply; do
    paste "$PG_DIR/questions" "$PG_DIR/answers" | grep "\"fn\": \"$planted\"" >"$PG_DIR/both"
    cut -f 1 "$PG_DIR/both" >"$PG_DIR/some"
    ! compare "$PG_DIR/some" <(cut -f 2 "$PG_DIR/both") || fail "an altered value went unnoticed: $planted"
    grep -q "^reads of" "$PG_DIR/compared" || fail "no count: $(tail -n 3 "$PG_DIR/compared")"
    say "planted in $planted: $(tail -n 1 "$PG_DIR/compared")"
done
api_stop || fail "api: exit $?"
