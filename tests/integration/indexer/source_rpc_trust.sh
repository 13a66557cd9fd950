#!/usr/bin/env bash
# Several RPC servers of which one contradicts itself, the others or what is stored: it is put aside, named, and compared
# again later; the index goes on with the others. Where no vote tells who is right, it stops with 66.
# (label: threads)
# label: all
. "$(dirname "$0")/../_pg.sh"
. "$(dirname "$0")/../_rpc.sh"
patience=(--http-timeout-ms 80000)
pg_start
small=(--ledgers 96 --txs 6)
for name in one two three; do serve $name "${small[@]}" --seed 5; done # the same chain
serve other "${small[@]}" --seed 6                                     # another chain of the same name
last=1119 middle=1070
number=0
begin() { # NAME: a case with an empty index and servers that behave
    name=$1
    number=$((number + 1))
    for server in one two three other; do calm $server; done
    into "c$number"
}
ok() { echo "ok $name: $1"; }
begin reference
expect 0 'index.stopped ledger=1119' --rpc "$one_url" --stop-at-end
reference=$(digest)
same() { [ "$(digest)" = "$reference" ] || fail "$name: other tables: $(diff <(echo "$reference") <(digest) | sed -n 1,5p)"; }
says() { grep -Eq "$1" "$PG_DIR/out" || fail "$name: nothing says \"$1\": $(tail -n 3 "$PG_DIR/out")"; }

begin break
fault one "getLedgers=hash-break:$middle"
expect 0 'index.stopped ledger=1119' --rpc "$one_url,$two_url" --stop-at-end
same
says "rpc.aside server=$one_url .*contradicts itself"
ok "a server whose ledgers do not follow is put aside"
begin break
fault one "getLedgers=hash-break:$middle"
expect 66 "ledger $middle.*does not follow" --rpc "$one_url"
expect 0 'index.stopped ledger=1119' --rpc "$one_url,$two_url" --stop-at-end
same
ok "also where it is the stored ledger that is not followed"

begin content
fault one "getLedgers=unknown-arm:$middle"
expect 0 'index.stopped ledger=1119' --rpc "$one_url,$two_url" --stop-at-end
same
says "rpc.aside server=$one_url"
begin content
for server in one two; do fault $server "getLedgers=unknown-arm:$middle"; done
expect 65 "arm .99.|ledger $middle" --rpc "$one_url,$two_url"
[ "$(cursor)" = $((middle - 1)) ] || fail "content: the cursor is at $(cursor)"
ok "a ledger that cannot be decoded is asked for elsewhere; from all servers it stops the index"

begin outvoted
expect 0 'index.stopped ledger=1119' --rpc "$other_url,$one_url,$two_url" --stop-at-end
same
says "rpc.aside server=$other_url"
ok "one of three that is of another chain is outvoted before a row of it"
begin stored
expect 0 'index.stopped ledger=1119' --rpc "$one_url" --stop-at-end
expect 0 'index.stopped ledger=1119' --rpc "$other_url,$one_url" --stop-at-end
same
says "rpc.aside server=$other_url"
ok "one of two that is of another chain than what is stored is put aside"

begin fork
expect 66 'different hashes|does not follow' --rpc "$one_url,$other_url"
grep -q "$one_url" "$PG_DIR/out" && grep -q "$other_url" "$PG_DIR/out" || fail "fork: not both are named: $(tail -n 1 "$PG_DIR/out")"
[ "$(cursor)" = 0 ] || fail "fork: rows of one chain are stored up to $(cursor)"
begin fork
expect 0 'index.stopped ledger=1119' --rpc "$other_url" --stop-at-end
expect 66 'different hashes|is stored' --rpc "$other_url,$one_url,$two_url"
[ "$(cursor)" = $last ] || fail "fork: the cursor is at $(cursor)"
ok "two against two, or a stored chain that is outvoted: refused"

begin reset
expect 0 'index.stopped ledger=1119' --rpc "$one_url" --stop-at-end
fault one '*=reset'
fault two '*=reset'
expect 66 'reset --confirm' --rpc "$one_url,$two_url"
grep -q rpc.believed "$PG_DIR/out" && fail "reset: one that was reset was believed because of the other: $(tail -n 5 "$PG_DIR/out")"
[ "$(cursor)" = $last ] || fail "reset: the cursor is at $(cursor)"
calm two
expect 0 'index.stopped ledger=1119' --rpc "$one_url,$two_url" --stop-at-end
same
ok "a reset of all servers is refused; one of two that was reset is not asked"

begin network
fault one getNetwork=passphrase
expect 0 'index.stopped ledger=1119' --rpc "$one_url,$two_url" --stop-at-end
same
says "rpc.aside server=$one_url"
ok "one of two that is of another network is put aside"

# Another chain, of which no ledger can be compared with the others'.
begin uncompared
close_ledgers other 200
fault other '*=retention:50'
follow() {
    "$TIDE_BIN/tidemark-indexer" run --deployment "$PG_DIR/one/deployment.json" --retry-ms-max 200 \
        "${patience[@]}" --rpc-confirm-ms 200 "$@" >"$PG_DIR/out" 2>&1 &
    follower=$!
}
said() { grep -Eq "$1" "$PG_DIR/out"; }
at() { [ "$(cursor)" = "$1" ]; }
follow --rpc "$other_url,$one_url"
within 20 at $last || fail "uncompared: the cursor is at $(cursor): $(tail -n 3 "$PG_DIR/out")"
says "rpc.uncompared server=$other_url"
heartbeat() { sql "SELECT 1 FROM chain.heartbeat WHERE tip = $2 AND trouble LIKE '$1 is not compared yet%'" | grep -x 1 >/dev/null; }
within 20 heartbeat "$other_url" $last || fail "uncompared: the heartbeat says $(sql "SELECT tip, trouble FROM chain.heartbeat")"
calm other
within 20 said "rpc.aside server=$other_url" || fail "uncompared: nothing says that it was compared: $(tail -n 3 "$PG_DIR/out")"
close_ledgers one 1
within 20 at $((last + 1)) || fail "uncompared: the cursor is at $(cursor): $(tail -n 3 "$PG_DIR/out")"
kill -TERM $follower
wait $follower || fail "uncompared: exit $?: $(tail -n 3 "$PG_DIR/out")"
ok "a server that gives no ledger to compare is not believed; once it does, it is put aside"

begin believed # and one of the same chain is believed then
close_ledgers two 200
fault two '*=retention:50'
follow --rpc "$one_url,$two_url"
within 20 said "rpc.uncompared server=$two_url" || fail "believed: $(tail -n 3 "$PG_DIR/out")"
# The indexer compares servers twice: when it looks for the network, and when it begins to follow.
within 20 heartbeat "$two_url" $((last + 1)) || fail "believed: the heartbeat says $(sql "SELECT tip, trouble FROM chain.heartbeat")"
calm two
within 20 said "rpc.believed server=$two_url" || fail "believed: $(tail -n 3 "$PG_DIR/out")"
within 60 at $((last + 200)) || fail "believed: the cursor is at $(cursor): $(tail -n 3 "$PG_DIR/out")"
kill -TERM $follower
wait $follower || fail "believed: exit $?: $(tail -n 3 "$PG_DIR/out")"
ok "a server that was not compared is believed once its ledgers agree"
