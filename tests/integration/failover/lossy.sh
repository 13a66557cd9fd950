#!/usr/bin/env bash
# P10 for the API: the primary is lost, and the promoted standby lacks commits that nodes had already shown. Look-ups,
# SQL queries, cursors and streams go back to the existing ledgers and report that. The indexer writes the lost
# ledgers again. No stream has a gap or a repeat, and all answers equal PostgreSQL.
# label: all
. "$(dirname "$0")/../_pg.sh"
. "$(dirname "$0")/../_rpc.sh"
[ -x "$TIDE_BIN/tidemark-api" ] || { echo "no tidemark-api"; exit 1; }
. "$(dirname "$0")/_servers.sh"
pg_start
export PG_DIR PG_BIN STANDBYS="$PG_DIR/second"
chain
standby second
node one "$PG_DIR,$PG_DIR/second"
node two "$PG_DIR/second,$PG_DIR"
NODE_CACHE=cache_one node three "$PG_DIR,$PG_DIR/second" # it reads what node one feeds
pick_people
deployment=$(sql "SELECT deployment FROM chain.cursor")
clients one two three

on second "ALTER SYSTEM SET primary_conninfo = ''" # it hears no more
on second "SELECT pg_reload_conf()" >/dev/null
deaf() { [ "$(on second "SELECT NOT EXISTS (SELECT 1 FROM pg_stat_wal_receiver)")" = t ]; }
within 20 deaf || fail "the standby still receives"
# Then it replays the rest of what it has received, and retries every five seconds.
replayed() { [ "$(on second "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'startup' AND wait_event = 'RecoveryRetrieveRetryInterval'")" = 1 ]; }
within 60 replayed || fail "the standby still replays"
kept=$(on second "SELECT ledger FROM chain.cursor")
within 60 reached $((kept + 25)) || fail "nothing is written"
shown() { [ "$(curl -s "$(url one /api/prices)" | said ledger)" -ge $((kept + 25)) ]; }
said() { sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p" | sed 's/".*//'; }
within 20 shown || fail "node one does not show what is committed"
last=$(ledger)
# Waits until a reader of the newest events, oldest first, has read to the end of ledger LAST.
first_page="/api/events?order=asc&limit=1&from=$(sql "SELECT extract(epoch FROM closed_at)::bigint FROM chain.ledger WHERE ledger = $((kept + 20))")"
code() { curl -s -m 10 -o "$PG_DIR/body" -D "$PG_DIR/head" -w '%{http_code}' "$(url "$1" "$2")"; }
[ "$(code one "$first_page")" = 200 ] || fail "$first_page: $(cat "$PG_DIR/body")"
cursor=$(sed 's/.*"next":"\([^"]*\)".*/\1/' "$PG_DIR/body")
passed=$(sed 's/.*"items":\[{"id":"\([^"]*\)".*/\1/' "$PG_DIR/body")

kill -STOP "${indexers[@]}" # the lost ledgers stay lost for a while
lost=$(now)
mark lost
pg_stop immediate
sleep 1 # only a server that takes no writes
promote second
[ "$(ledger)" = "$kept" ] || fail "the standby has ledger $(ledger), not $kept: nothing is lost, the test proves nothing"
back() { [ "$(curl -s "$(url one /api/prices)" | said ledger)" = "$kept" ]; }
within 30 back || fail "node one still shows $(curl -s "$(url one /api/prices)" | cut -c1-80)"
echo "ok look-ups of node one showed ledger $last, and $kept $(since "$lost") s after the loss"
behind() { curl -sN -m 2 -H "Last-Event-ID: $deployment:$last" "$(url "$1" "/api/stream?topics=ledger")" >"$PG_DIR/resumed" || true; grep '"reason":"behind"' "$PG_DIR/resumed" >/dev/null; }
within 20 behind one || fail "a stream that is resumed at ledger $last of $kept: $(cat "$PG_DIR/resumed")"
[ "$(code one "$first_page&cursor=$cursor")" = 200 ] && grep '"items":\[\],"next":null' "$PG_DIR/body" >/dev/null &&
    grep -i "^Ledger-Sequence: $kept" "$PG_DIR/head" >/dev/null || fail "a cursor of ledger $((kept + 20)) at $kept: $(cat "$PG_DIR/head" "$PG_DIR/body")"
[ "$(code one "/api/sdk/kyc/status/${PEOPLE%% *}?ledger=$last")" = 404 ] && grep '"ledger_not_reached"' "$PG_DIR/body" >/dev/null || fail "as of $last: $(cat "$PG_DIR/body")"
echo "ok a resumed stream says behind, a cursor finds nothing more at ledger $kept, and ?ledger=$last is not reached"

kill -CONT "${indexers[@]}"
resumed=$(now)
writes_go_on
echo "ok the indexer writes again $(since "$resumed") s after it could, from ledger $kept"
within 60 reached "$last" || fail "the lost ledgers are not written again: $(ledger) of $last"
echo "ok all $((last - kept)) lost ledgers are there again $(since "$resumed") s after it could write"
clients_end
[ "$(code one "$first_page&cursor=$cursor")" = 200 ] || fail "the cursor afterwards: $(cat "$PG_DIR/body")"
want=$(sql "SELECT id FROM (SELECT chain.event_id(ledger, tx, op, event) AS id FROM event.log) AS e WHERE id > '$passed' ORDER BY 1 LIMIT 1")
grep "\"items\":\[{\"id\":\"$want\"" "$PG_DIR/body" >/dev/null || fail "behind $passed follows $want: $(cut -c1-200 "$PG_DIR/body")"
judge query lookup back behind
same_as_undisturbed
