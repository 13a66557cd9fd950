#!/usr/bin/env bash
# One server of three, or the lake beside RPC, lies. The index goes on with the others, and the lease, which the API goes
# by, is renewed.
. "$(dirname "$0")/../_pg.sh"
. "$(dirname "$0")/../_rpc.sh"
command -v zstd >/dev/null || { echo "no zstd"; exit 1; }
pg_start
for name in zero one two; do serve $name --ledgers 48 --txs 2 --seed 5; done
last=1071
mkdir "$PG_DIR/liar"
lies() { echo "$*" >"$PG_DIR/liar/new" && mv "$PG_DIR/liar/new" "$PG_DIR/liar/mode"; }
lies honest
python3 "$(dirname "$0")/_rpc_liar.py" "$PG_DIR/liar" "$zero_url" "$PG_DIR/zero/lake" >"$PG_DIR/liar/log" 2>&1 &
AWAIT_PID=$! AWAIT_LOG=$PG_DIR/liar/log await "the port of the liar" test -s "$PG_DIR/liar/port"
liar_url=http://127.0.0.1:$(cat "$PG_DIR/liar/port")

retry_ms_max=200
timeout_ms=20000
follow() {
    "$TIDE_BIN/tidemark-indexer" run --deployment "$PG_DIR/one/deployment.json" --retry-ms-max $retry_ms_max --http-tries 4 \
        --http-timeout-ms $timeout_ms "$@" >"$PG_DIR/out" 2>&1 &
    follower=$!
}
begin() { # NAME LIES…: an index of its own, at the servers' newest ledger
    name=$1
    shift
    lies honest
    into "lies_$name"
    lies "$@"
}
close_all() { for server in zero one two; do close_ledgers $server "$1"; done && last=$((last + $1)); }
at() { [ "$(cursor)" = "$1" ]; }
said() { grep -aEq "$1" "$PG_DIR/out"; }
reaches() { within 20 at "$1" || fail "$name: the cursor is at $(cursor), not $1: $(tail -n 3 "$PG_DIR/out")"; }
# True if the lease was renewed since then, together with what the indexer says of itself.
renewed() { [ "$(sql "SELECT count(*) FROM chain.lease, chain.heartbeat WHERE $2 AND least(renewed_at, heartbeat_at) > '$1'")" = 1 ]; }
renews() { # CONDITION
    local since
    since=$(sql "SELECT clock_timestamp()")
    within 10 renewed "$since" "$1" || fail "$name: no lease is renewed: $(sql "SELECT * FROM chain.lease, chain.heartbeat") $(tail -n 3 "$PG_DIR/out")"
}
end() {
    kill -TERM $follower
    wait $follower || fail "$name: exit $?: $(tail -n 3 "$PG_DIR/out")"
    echo "ok $name: $1"
}

begin tip tip
follow --rpc "$one_url,$two_url,$liar_url"
reaches $last
close_all 2
reaches $last
renews "tip = $last"
end "a newest ledger that cannot be does not stop the lease, and is not believed"

begin newest tip 2147483647
sql "CREATE TABLE told (tip bigint); CREATE FUNCTION tell() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN INSERT INTO public.told VALUES (NEW.tip); RETURN NULL; END';
    CREATE TRIGGER tell AFTER INSERT OR UPDATE ON chain.heartbeat FOR EACH ROW EXECUTE FUNCTION tell()"
follow --rpc "$one_url,$two_url,$liar_url"
reaches $last
renews "tip = $last"
[ "$(sql "SELECT max(tip) FROM told")" = $last ] || fail "newest: told $(sql "SELECT DISTINCT tip FROM told")"
end "of three servers two decide which ledger is the newest, also before the first row"

begin hang honest
fault zero '*=hang'
timeout_ms=3600000
follow --rpc "$zero_url,$one_url,$two_url"
within 60 at $last || fail "hang: the cursor is at $(cursor), not $last: $(tail -n 3 "$PG_DIR/out")"
calm zero
timeout_ms=20000
end "a server that takes requests and never answers does not keep the others from beginning"

begin passphrase passphrase
follow --rpc "$one_url,$two_url,$liar_url"
reaches $last
within 20 said 'rpc.aside' || fail "passphrase: $(tail -n 3 "$PG_DIR/out")"
renews "trouble LIKE '%?? net%'"
end "what a server says is written into the heartbeat in plain letters"

# The newest ledger before the network closes it. Its hashes hold.
asked_for_newest() { [ "$(stat_of one getLatestLedger)" -ge "$1" ]; }
gave() { grep "^$1 " "$PG_DIR/liar/forged" >/dev/null 2>&1; }
give_forged() { # until it was given, and an honest server was asked for its newest ledger three times since
    rm -f "$PG_DIR/liar/forged"
    lies early
    within 10 gave $((last + 1)) || fail "$name: nothing was forged: $(cat "$PG_DIR/out" "$PG_DIR/liar/log")"
    within 10 asked_for_newest $(($(stat_of one getLatestLedger) + 3)) || fail "$name: no other server is asked: $(tail -n 3 "$PG_DIR/out")"
}
honest() { # all that is stored is the network's
    local stored
    stored=$(sql "SELECT encode(hash, 'hex') FROM chain.ledger WHERE ledger = $(cut -d' ' -f1 "$PG_DIR/liar/forged")")
    [ "$stored" != "$(cut -d' ' -f2 "$PG_DIR/liar/forged")" ] || fail "$name: a forged ledger is stored"
}
begin early honest
follow --rpc "$liar_url,$one_url,$two_url" --rpc-confirm-ms 600000
reaches $last
give_forged
honest
close_all 1
reaches $last
honest
said "rpc.aside server=$liar_url" || fail "early: nothing says that it was put aside: $(tail -n 3 "$PG_DIR/out")"
end "of three servers one that forges the next ledger is put aside before the ledger is stored"

begin early_two honest
follow --rpc "$liar_url,$one_url" --rpc-confirm-ms 600000
reaches $last
give_forged
honest
close_all 1
code=0
wait $follower || code=$?
[ $code = 66 ] || fail "early_two: exit $code: $(tail -n 3 "$PG_DIR/out")"
honest
follow --rpc "$one_url"
reaches $last
honest
end "two servers cannot decide, and the forged ledger is not stored"

begin behind honest
follow --rpc "$one_url,$two_url" --rpc-confirm-ms 600000
reaches $last
asked=$(stat_of two getLatestLedger)
close_ledgers one 1
more_asked() { [ "$(stat_of two getLatestLedger)" -ge $((asked + 5)) ]; }
within 10 more_asked || fail "behind: the other server is not asked: $(tail -n 3 "$PG_DIR/out")"
at $last || fail "behind: ledger $(cursor) is stored, and a single server has it"
for server in zero two; do close_ledgers $server 1; done
last=$((last + 1))
reaches $last
! said 'rpc.unconfirmed|rpc.behind' || fail "behind: $(grep -E 'rpc.unconfirmed|rpc.behind' "$PG_DIR/out")"
fault two '*=close:before' # a server that does not answer is not waited for
close_ledgers one 1
reaches $((last + 1))
said "rpc.unconfirmed ledger=$((last + 1)) server=$one_url" || fail "behind: nothing says that a server alone had it: $(tail -n 3 "$PG_DIR/out")"
calm two
for server in zero two; do close_ledgers $server 1; done
last=$((last + 1))
end "a server that is behind is waited for, one that is away is not"

begin still honest
follow --rpc "$one_url,$two_url" --rpc-confirm-ms 300
reaches $last
close_ledgers one 2
reaches $((last + 2))
said "rpc.behind server=$two_url" || fail "still: $(tail -n 3 "$PG_DIR/out")"
for server in zero two; do close_ledgers $server 2; done
last=$((last + 2))
end "one of two that stands still is left after a while"

begin outnumbered honest
follow --rpc "$one_url,$zero_url,$two_url" --rpc-confirm-ms 100
reaches $last
close_ledgers one 1
trouble() { sql "SELECT trouble FROM chain.heartbeat" | grep "^ledger $((last + 1)): $one_url has it, and .* like others that answer, does not" >/dev/null; }
within 20 trouble || fail "outnumbered: the heartbeat says $(sql "SELECT trouble FROM chain.heartbeat")"
at $last || fail "outnumbered: ledger $(cursor) is stored, and a single server of three has it"
close_ledgers two 1
reaches $((last + 1))
close_ledgers zero 1
last=$((last + 1))
end "of three servers two must have a ledger, as long as they answer"

for lie in gone gap; do
    begin $lie honest
    follow --rpc "$liar_url,$one_url,$two_url"
    reaches $last
    lies $lie
    fault one '*=status:503'
    fault two '*=status:503'
    close_all 3
    within 20 said 'source.retry.*other servers do not answer' || fail "$lie: $(tail -n 3 "$PG_DIR/out")"
    renews true
    calm one
    calm two
    reaches $last
    end "while other servers are away, one that has no ledger more does not end the index"
done

for lie in huge arm; do
    begin $lie $lie $((last - 20))
    follow --lake "$liar_url" --rpc "$one_url"
    reaches $last
    end "an object of the lake that cannot be read is had from RPC"
done

begin slow slow 1
retry_ms_max=30000
follow --rpc "$liar_url,$one_url,$two_url"
while ! said "$liar_url: ledgers close faster than it gives them"; do
    [ $last -lt 1400 ] || fail "slow: the cursor is at $(cursor) of $last: $(tail -n 3 "$PG_DIR/out")"
    close_all 1
    sleep 0.1
done
reaches $last
! grep -a 'ledgers close faster' "$PG_DIR/out" | grep -v "$liar_url" || fail "slow: a server was left that gave what closed"
end "a server that gives ledgers more slowly than they close is left, whatever it promises"

# The first server is in the middle of a request that takes long when the second tells of ledgers that no server has. So the
# first seems slow, and the second has nothing to give.
begin boast honest
retry_ms_max=600000
follow --rpc "$one_url,$two_url" --rpc-confirm-ms 0
reaches $last
fault one getLedgers=delay:1000
close_ledgers one 220 # three pages
is_past() { [ "$(cursor)" -ge "$1" ]; }
within 20 is_past $((last + 8)) || fail "boast: the cursor is at $(cursor), not $((last + 8)): $(tail -n 3 "$PG_DIR/out")"
fault two getLatestLedger=boast:1000000
within 60 at $((last + 220)) || fail "boast: the cursor is at $(cursor), not $((last + 220)): $(tail -n 3 "$PG_DIR/out")"
end "a server is not left for long because of ledgers that no server has"
