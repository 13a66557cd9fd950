#!/usr/bin/env bash
# One server of three, or the lake beside RPC, lies. The index goes on with the others, and the lease, which the API goes
# by, is renewed.
. "$(dirname "$0")/../_pg.sh"
. "$(dirname "$0")/../_rpc.sh"
command -v zstd >/dev/null || { echo "no zstd"; exit 77; }
pg_start
for name in zero one two; do serve $name --ledgers 96 --txs 2 --seed 5; done
last=1119
mkdir "$PG_DIR/liar"
lies() { echo "$*" >"$PG_DIR/liar/new" && mv "$PG_DIR/liar/new" "$PG_DIR/liar/mode"; }
lies honest
python3 "$(dirname "$0")/_rpc_liar.py" "$PG_DIR/liar" "$zero_url" "$PG_DIR/zero/lake" >"$PG_DIR/liar/log" 2>&1 &
until [ -s "$PG_DIR/liar/port" ]; do sleep 0.05; done
liar_url=http://127.0.0.1:$(cat "$PG_DIR/liar/port")

retry_ms_max=200
timeout_ms=5000
follow() {
    "$TIDE_BIN/tidemark-indexer" run --deployment "$PG_DIR/one/deployment.json" --rpc-retry-ms 20 --rpc-retry-ms-max $retry_ms_max --http-tries 4 \
        --rpc-timeout-ms $timeout_ms --http-retry-ms 5 --http-retry-ms-max 40 "$@" >"$PG_DIR/out" 2>&1 &
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
reaches() { wait_for 20 at "$1" || fail "$name: the cursor is at $(cursor), not $1: $(tail -n 3 "$PG_DIR/out")"; }
# True if the lease was renewed since then, together with what the indexer says of itself.
renewed() { [ "$(sql "SELECT count(*) FROM chain.lease, chain.heartbeat WHERE $2 AND least(renewed_at, heartbeat_at) > '$1'")" = 1 ]; }
renews() { # CONDITION
    local since
    since=$(sql "SELECT clock_timestamp()")
    wait_for 10 renewed "$since" "$1" || fail "$name: no lease is renewed: $(sql "SELECT * FROM chain.lease, chain.heartbeat") $(tail -n 3 "$PG_DIR/out")"
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
timeout_ms=600000
follow --rpc "$zero_url,$one_url,$two_url" --http-stall-s 600
wait_for 60 at $last || fail "hang: the cursor is at $(cursor), not $last: $(tail -n 3 "$PG_DIR/out")"
calm zero
timeout_ms=5000
end "a server that takes requests and never answers does not keep the others from beginning"

begin passphrase passphrase
follow --rpc "$one_url,$two_url,$liar_url"
reaches $last
wait_for 20 said 'rpc.aside' || fail "passphrase: $(tail -n 3 "$PG_DIR/out")"
renews "trouble LIKE '%?? net%'"
end "what a server says is written into the heartbeat in plain letters"

for lie in gone gap; do
    begin $lie honest
    follow --rpc "$liar_url,$one_url,$two_url"
    reaches $last
    lies $lie
    fault one '*=status:503'
    fault two '*=status:503'
    close_all 3
    wait_for 20 said 'source.retry.*other servers do not answer' || fail "$lie: $(tail -n 3 "$PG_DIR/out")"
    renews true
    calm one
    calm two
    reaches $last
    end "while other servers are away, one that has no ledger more does not end the index"
done

begin slow slow 1
retry_ms_max=30000
follow --rpc "$liar_url,$one_url,$two_url"
while ! said 'ledgers close faster than it gives them'; do
    [ $last -lt 1400 ] || fail "slow: the cursor is at $(cursor) of $last: $(tail -n 3 "$PG_DIR/out")"
    close_all 1
    sleep 0.1
done
reaches $last
end "a server that gives ledgers more slowly than they close is left, whatever it promises"
retry_ms_max=200

for lie in huge arm; do
    begin $lie $lie $((last - 20))
    follow --lake "$liar_url" --rpc "$one_url"
    reaches $last
    end "an object of the lake that cannot be read is had from RPC"
done
