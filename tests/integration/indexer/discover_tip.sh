#!/usr/bin/env bash
# Creates a market while the indexer follows RPC servers, then one whose past no source has: only that market is
# incomplete, until a source has those ledgers. label: threads
# label: all
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../_pg.sh"
. "$here/../_api.sh"
. "$here/../_rpc.sh"
. "$here/_discover.sh"
pg_start
export PG_BIN PG_DIR
bin=$TIDE_BIN/tidemark-indexer
cursor_is() { [ "$(cursor)" = "$1" ]; }
none_waiting() { [ "$(waiting)" = 0 ] && [ "$(sql "SELECT count(*) > 0 FROM chain.contract_coverage")" = t ]; }
over_rpc=(--retry-ms-max 200 --http-timeout-ms 20000)

echo "found at the tip, over RPC"
serve one --ledgers 8 --txs 6
strip "$PG_DIR/one"
into tip
"$bin" run --deployment "$PG_DIR/one/without.json" --rpc "$one_url" "${over_rpc[@]}" 2>"$PG_DIR/tip.log" & follower=$!
within 60 cursor_is 1031 || fail "not at the tip: $(cursor): $(tail -3 "$PG_DIR/tip.log")"
for ((at = 1031; at < 1151; at += 12)); do
    close_ledgers one 12
    within 60 cursor_is $((at + 12)) || fail "not at the tip: $(cursor): $(tail -3 "$PG_DIR/tip.log")"
done
within 60 none_waiting || fail "not read: $(tail -5 "$PG_DIR/tip.log")"
# The line follows the commit of the last range.
within 20 grep -q 'discovery.complete' "$PG_DIR/tip.log" || fail "nothing was read again: $(tail -5 "$PG_DIR/tip.log")"
kill -TERM $follower
wait $follower || fail "follower: exit $?"
"$bin" digest >"$PG_DIR/digest"
sql "SELECT DISTINCT contract FROM chain.contract_seen WHERE what = 'discovered'" >"$PG_DIR/found"
strip "$PG_DIR/one" "$PG_DIR/found"
into named
"$bin" run --stop-at-end --deployment "$PG_DIR/one/named.json" --rpc "$one_url" "${over_rpc[@]}" 2>"$PG_DIR/run.log" || fail "named: $(tail -3 "$PG_DIR/run.log")"
"$bin" digest | cmp -s - "$PG_DIR/digest" || fail "found at the tip: $("$bin" digest | diff - "$PG_DIR/digest" | sed -n 1,10p)"
into over
"$bin" run --stop-at-end --deployment "$PG_DIR/one/without.json" --rpc "$one_url" "${over_rpc[@]}" 2>"$PG_DIR/run.log" || fail "over RPC: $(tail -3 "$PG_DIR/run.log")"
"$bin" digest | cmp -s - "$PG_DIR/digest" || fail "over RPC: $("$bin" digest | diff - "$PG_DIR/digest" | sed -n 1,10p)"

echo "a past that cannot be read"
chain=(--first-ledger 1920 --ledgers 128 --quiet)
"$TIDE_BIN/tidemark-sim" write --lake "$PG_DIR/sim/lake" "${chain[@]}"
"$TIDE_BIN/tidemark-sim" write --stream "$PG_DIR/stream.xdr" --deployment "$PG_DIR/stream.json" "${chain[@]}"
strip "$PG_DIR/sim"
into later
export TIDEMARK_DEPLOYMENT=$PG_DIR/sim/without.json TIDEMARK_PARTITION_LEDGERS=1000
"$bin" run --stream - --stop-at-end <"$PG_DIR/stream.xdr" 2>"$PG_DIR/run.log" || fail "stream: $(tail -3 "$PG_DIR/run.log")"
grep -q 'discovery.waiting.*standard input cannot be read again' "$PG_DIR/run.log" || fail "not told: $(tail -3 "$PG_DIR/run.log")"
[ "$(waiting)" -gt 0 ] || fail "nothing waits"
"$bin" status | grep 'yes .* standard input cannot be read again' >/dev/null || fail "status: $("$bin" status | grep -A9 '^discovered')"

api_start --stale-after-ms 3600000
ask() { # CODE PATTERN PATH
    local code
    code=$(curl -s -o "$PG_DIR/body" -w '%{http_code}' "$API_URL$3")
    [ "$code" = "$1" ] && grep -q "$2" "$PG_DIR/body" || fail "$3: $code $(head -c 400 "$PG_DIR/body")"
}
token=$(sql "SELECT contract FROM chain.contract_coverage WHERE next_ledger <= to_ledger ORDER BY 1 LIMIT 1")
symbol=$(sql "SELECT symbol FROM state.synthetic_engine_asset_config WHERE token = '$token'")
last=$(cursor)
ask 200 '"ready":true.*"functions":{"lookups":"ok","sql":"ok","stream":"ok","kyc":"off"}' /readyz
for query in "" "?ledger=$last"; do
    ask 503 '"code":"incomplete"' "/api/markets/$symbol$query"
    ask 200 "\"market\":\"$symbol\",\"synthToken\":\"$token\"" "/api/markets$query"
    ask 200 '"complete":false' "/api/markets$query"
    ask 503 '"code":"incomplete"' "/api/tokens/$token/transfers$query"
    ask 200 '"items":\[{' "/api/vaults$query"
    ask 200 '"complete":true' "/api/sdk/contracts$query"
    ask 200 '"asset"' "/api/prices$query"
done
ask 200 "tidemark_indexed_contracts_waiting $(sql "SELECT count(DISTINCT contract) FROM chain.contract_coverage WHERE next_ledger <= to_ledger")" /metrics

sql "CALL chain.detach_partition(1::smallint, 1000)"
"$bin" run --lake "$PG_DIR/sim/lake" --stop-at-end 2>"$PG_DIR/run.log" || fail "archived: exit $?: $(tail -3 "$PG_DIR/run.log")"
grep -q 'discovery.waiting.*1000 to 1999 are archived' "$PG_DIR/run.log" || fail "not told: $(tail -3 "$PG_DIR/run.log")"
[ "$(waiting)" -gt 0 ] || fail "nothing waits for the archive"
sql "CALL chain.attach_partition(1::smallint, 1000)"

"$bin" run --lake "$PG_DIR/sim/lake" --stop-at-end 2>"$PG_DIR/run.log" || fail "lake: $(tail -3 "$PG_DIR/run.log")"
[ "$(waiting)" = 0 ] || fail "still waiting: $(tail -3 "$PG_DIR/run.log")"
market_is() { curl -fs "$API_URL/api/markets/$symbol" | grep '"complete":true' >/dev/null; }
within 30 market_is || fail "the market is still incomplete: $(curl -s "$API_URL/api/markets/$symbol" | cut -c-400)"
ask 200 '"items":\[' "/api/tokens/$token/transfers"
read_again() { [ "$(grep -c 'the past of a discovered token was read' "$PG_DIR/api.log")" -gt "$before" ]; }
for known_as in NULL "'synth_token'"; do # as many ranges as before, of which other rows came
    before=$(grep -c 'the past of a discovered token was read' "$PG_DIR/api.log") || true
    sql "UPDATE chain.contract_coverage SET known_as = $known_as WHERE contract = '$token'"
    within 30 read_again || fail "the cache did not notice that ranges were read again, known as $known_as"
done
ask 200 '"complete":true' "/api/markets/$symbol?ledger=$last"
api_stop || fail "api: exit $?"

echo "look-ups alone"
api_start --stale-after-ms 3600000 --api-sql-threads 0
ask 200 '"ready":true.*"sql":"off"' /readyz
ask 200 '"complete":true' "/api/markets/$symbol"
ask 404 '"code":"sql_not_configured"' /api/vaults
ask 404 '"code":"sql_not_configured"' "/api/markets/$symbol?ledger=$last"
api_stop || fail "api: exit $?"
echo ok
