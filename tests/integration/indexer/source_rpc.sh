#!/usr/bin/env bash
# Faults of a Stellar RPC server, each a named case (R1 to R18 of the reliability plan): a simulated network
# misbehaves, and afterwards the tables equal those of its lake.
# label: threads
# label: all, label: sanitize
. "$(dirname "$0")/../_pg.sh"
. "$(dirname "$0")/../_rpc.sh"
pg_start
small=(--ledgers 96 --txs 6)
serve one "${small[@]}" --seed 5
serve two "${small[@]}" --seed 5          # the same chain on another server
serve other "${small[@]}" --seed 6        # another chain of the same name
first=1024 last=1119 middle=1070

into reference
"$TIDE_BIN/tidemark-indexer" run --lake "$PG_DIR/one/lake" --deployment "$PG_DIR/one/deployment.json" --stop-at-end >"$PG_DIR/out" 2>&1 ||
    fail "reference: $(tail -n 3 "$PG_DIR/out")"
reference=$(digest)
[ "$(cursor)" = $last ] || fail "the reference ends at $(cursor)"

# A server that never answers runs during the other cases. After half a minute the log reports it.
into degraded
"$TIDE_BIN/tidemark-indexer" run --deployment "$PG_DIR/one/deployment.json" --rpc http://127.0.0.1:1 \
    --retry-ms-max 200 >"$PG_DIR/degraded.log" 2>&1 &
degraded=$! since=$SECONDS

number=0
begin() { # NAME: a case with an empty index and servers that behave
    name=$1
    number=$((number + 1))
    calm one
    calm two
    calm other
    into "c$number"
}
same() { # the tables are those of the lake
    [ "$(digest)" = "$reference" ] || fail "$name: other tables: $(diff <(echo "$reference") <(digest) | sed -n 1,5p)"
    sql "SELECT count(*) FROM chain.ledger" | grep -x 96 >/dev/null || fail "$name: not 96 ledgers"
}
ok() { echo "ok $name${1:+: $1}"; }

# heals FAULT…: the index becomes complete despite these faults, with one server.
heals() {
    local f
    for f in "$@"; do
        begin "$name"
        fault one "$f"
        expect 0 'index.stopped ledger=1119' --rpc "$one_url" --stop-at-end --http-tries 40
        same
        calm one
    done
}

# --- R1: the server is ill -------------------------------------------------------------------
name=R1
heals getLedgers=status:500@2x3 getLedgers=status:502@2x2 getLedgers=status:503x2 getNetwork=status:504x2 \
    'getLedgers=rpc-error:-32603 latency (31s) since last known ledger closed is too high@2x3' getLedgers=queue@3x9
[ "$(grep -c 'rpc.failed' "$PG_DIR/out")" -le 3 ] || fail "R1: a storm of log lines: $(cat "$PG_DIR/out")"
grep -q 'rpc.healed' "$PG_DIR/out" || fail "R1: nothing says that it healed"
ok "5xx, -32603, queue full"

begin R1
fault one getLedgers=status:503
expect 74 'the server answered 503' --rpc "$one_url" --stop-at-end --http-tries 3
[ "$(cursor)" = 0 ] || fail "R1: the cursor moved"
ok "an end that was asked for is not waited for for ever"

# --- R2: no server, a wrong name, a wrong certificate ---------------------------------------
begin R2
expect 74 "onnect" --rpc http://127.0.0.1:1 --stop-at-end --http-tries 2
expect 74 "resolve host" --rpc http://nowhere.invalid --stop-at-end --http-tries 2
indexer --rpc "http://127.0.0.1:1,$one_url" --stop-at-end || fail "R2: $(tail -n 3 "$PG_DIR/out")"
same
ok "refused, no such host; the second server takes over"
if command -v openssl >/dev/null && command -v python3 >/dev/null; then
    begin R2
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost \
        -addext subjectAltName=IP:127.0.0.1 -keyout "$PG_DIR/key" -out "$PG_DIR/cert" 2>/dev/null
    python3 "$(dirname "$0")/_tls.py" "$PG_DIR/cert" "$PG_DIR/key" "$one_url" >"$PG_DIR/tls.port" 2>"$PG_DIR/tls.log" &
    within 10 [ -s "$PG_DIR/tls.port" ] || fail "R2: no TLS server"
    tls=https://127.0.0.1:$(cat "$PG_DIR/tls.port")
    expect 74 'certificate' --rpc "$tls" --stop-at-end --http-tries 2
    grep -q request "$PG_DIR/tls.log" && fail "R2: a request went out over a connection that is not trusted"
    [ "$(cursor)" = 0 ] || fail "R2: the cursor moved"
    TIDEMARK_RPC_HEADER='X-Key: abc123' indexer --rpc "$tls" --http-ca-file "$PG_DIR/cert" --stop-at-end || fail "R2: $(tail -n 3 "$PG_DIR/out")"
    same
    grep -q 'request key=abc123' "$PG_DIR/tls.log" || fail "R2: the header did not arrive"
    ! grep -q abc123 "$PG_DIR/out" || fail "R2: the key is logged"
    ok "an unsigned certificate is refused; a trusted one is not"
    expect 78 'plain text' --rpc http://host.invalid --rpc-header 'X-Key: abc123'
    ! grep -q abc123 "$PG_DIR/out" || fail "R2: the key is logged"
    ok "a key does not leave in plain text"
fi

# --- R3: silence -------------------------------------------------------------------------------
name=R3
from=$SECONDS
heals getLedgers=hang@2x1 getLedgers=silence@3x1 getLedgers=drip@2x1 getNetwork=hangx1
[ $((SECONDS - from)) -lt 90 ] || fail "R3: it took $((SECONDS - from)) s"
ok "no answer, no body, a byte a second: left within the limit"

# --- R4, R5: what is no answer -------------------------------------------------------------------
name=R4
heals getLedgers=truncate:1@2x1 getLedgers=truncate:300@2x1 getLedgers=truncate:20000@2x1 getLedgers=cut:5000@3x2 \
    getLedgers=wrong-length:7@2x1 getLedgers=close:before@2x1 getLedgers=close:after@2x2
ok "cut short: asked again, nothing written"
name=R5
heals getLedgers=html@2x2 getLedgers=empty@2x1 getLedgers=null@2x1 getLedgers=wrong-id@2x1 getLedgers=two@2x1 getNetwork=htmlx1
ok "HTML, empty, null, another id, two values"

# --- R6: too much ---------------------------------------------------------------------------------
begin R6
fault one getLedgers=oversize:200@2x3
fault one getLedgers=nesting@6x1
fault one getLedgers=huge@7x1
"$TIDE_BIN/tidemark-indexer" run --deployment "$PG_DIR/one/deployment.json" --rpc "$one_url" --retry-ms-max 100 \
    --stop-at-end --http-tries 40 >"$PG_DIR/out" 2>&1 &
pid=$! most=0
while kill -0 $pid 2>/dev/null; do
    rss=$(awk '/VmHWM/ { print $2 }' "/proc/$pid/status" 2>/dev/null || true)
    [ "${rss:-0}" -le "$most" ] || most=$rss
    sleep 0.02
done
wait $pid || fail "R6: $(tail -n 3 "$PG_DIR/out")"
same
# sanitizers use additional memory
ldd "$TIDE_BIN/tidemark-indexer" | grep -E 'lib[at]san' >/dev/null || [ "$most" -lt 131072 ] || fail "R6: $most KiB resident"
ok "200 MB, 100 000 brackets, numbers without end"

# --- R7, R8, R11: order, doubles, gaps ------------------------------------------------------------
name=R7
heals getLedgers=reverse getLedgers=duplicate "getLedgers=duplicate:$middle"
ok "wrong order, twice the same: sorted, written once"
begin R8
fault one "getLedgers=gap:${middle}x3"
expect 0 'index.stopped ledger=1119' --rpc "$one_url" --stop-at-end
same
begin R8
fault one "getLedgers=gap:$middle"
expect 67 "leaves out ledger $middle" --rpc "$one_url" --http-tries 4
[ "$(cursor)" = $((middle - 1)) ] || fail "R8: the cursor is at $(cursor)"
expect 0 'rpc.switch' --rpc "$one_url,$two_url" --stop-at-end
same
ok "a gap is asked again, then elsewhere, then a stop before it"

# --- R9: the servers have no more of it -----------------------------------------------------------
begin R9
fault one getLedgers=retention:40
expect 67 'keeps ledgers from 1080 on, so ledgers 1024..1079 cannot be had' --rpc "$one_url" --first-ledger 1024
[ "$(cursor)" = 0 ] || fail "R9: the cursor moved"
expect 0 'rpc.switch' --rpc "$one_url,$two_url" --first-ledger 1024 --stop-at-end
same
begin R9
fault one getLedgers=retention:40
mkdir "$PG_DIR/history"
cp -r "$PG_DIR/one/lake/." "$PG_DIR/history"
find "$PG_DIR/history" -name '*.xdr.zst' | while read -r f; do [ "${f##*--}" '<' 1090.xdr.zst ] || rm "$f"; done
expect 0 'source.turned to=rpc' --lake "$PG_DIR/history" --rpc "$one_url" --stop-at-end
same
begin R9
fault one getLedgers=retention:20
expect 67 'ledger 1090 is neither in the lake' --lake "$PG_DIR/history" --rpc "$one_url" --stop-at-end
[ "$(cursor)" = 1089 ] || fail "R9: the cursor is at $(cursor)"
ok "retention passed: a stop that names them, another server, or the lake"

# An object of the lake decompresses but has wrong contents: the ledgers that RPC still has come from RPC.
if command -v zstd >/dev/null; then
    spoil() { # LEDGER
        local object packed=$PG_DIR/packed
        object=$(find "$PG_DIR/history" -name "*--$1.xdr.zst")
        { zstd -qdc "$object" && printf abcd; } | zstd -qf -o "$packed" && mv "$packed" "$object"
    }
    name=damaged
    begin damaged
    fault one getLedgers=retention:40
    spoil 1085
    expect 0 'lake.damaged again=false .*--1085.xdr.zst' --lake "$PG_DIR/history" --rpc "$one_url" --stop-at-end
    same
    begin damaged
    fault one getLedgers=retention:40
    spoil 1050
    expect 65 'also when fetched again: .*--1050.xdr.zst: ledger 1050' --lake "$PG_DIR/history" --rpc "$one_url" --stop-at-end
    [ "$(cursor)" = 1049 ] || fail "damaged: the cursor is at $(cursor)"
    ok "a lake's object that does not hold: RPC, or a stop that names it"
fi

# --- R10, R16: servers behind --------------------------------------------------------------------
follow() { # [option]…: in the background
    "$TIDE_BIN/tidemark-indexer" run --deployment "$PG_DIR/one/deployment.json" --retry-ms-max 200 \
        "${patience[@]}" --rpc-confirm-ms 200 "$@" >"$PG_DIR/follow" 2>&1 &
    follower=$!
}
unfollow() {
    kill -TERM $follower
    wait $follower || fail "$name: exit $? when asked to stop: $(tail -n 3 "$PG_DIR/follow")"
}
at() { [ "$(cursor)" = "$1" ]; }
begin R10
expect 0 'index.stopped' --rpc "$one_url" --stop-at-end
fault one getLedgers=lag:50
fault one getLatestLedger=lag:50
follow --rpc "$one_url"
within 20 grep -q writer.ready "$PG_DIR/follow" || fail "R10: $(tail -n 3 "$PG_DIR/follow")" # a signal finds its handler
sleep 1.5
at $last || fail "R10: the cursor went to $(cursor)"
kill -0 $follower || fail "R10: it ended: $(tail -n 2 "$PG_DIR/follow")"
[ "$(grep -c 'WARN\|ERROR' "$PG_DIR/follow")" -le 1 ] || fail "R10: a storm: $(cat "$PG_DIR/follow")"
unfollow
same
ok "a server behind us is waited for"

# --- R12: events that getEvents has lost --------------------------------------------------------
begin R12
expect 0 'index.stopped' --rpc "$one_url" --stop-at-end
verify() { "$TIDE_BIN/tidemark-indexer" verify --deployment "$PG_DIR/one/deployment.json" --rpc "$one_url" --retry-ms-max 200 >"$PG_DIR/out" 2>&1; }
verify || fail "R12: $(tail -n 3 "$PG_DIR/out")"
grep -q 'events  ledgers 1024 to 1119, [1-9][0-9]* events' "$PG_DIR/out" || fail "R12: nothing was compared: $(cat "$PG_DIR/out")"
fault one getEvents=duplicate
verify || fail "R11: $(tail -n 3 "$PG_DIR/out")"
echo "ok R11: the same event twice counts once"
calm one
fault one getEvents=drop-events:40
code=0
verify || code=$?
[ $code = 68 ] && grep -q 'WRONG  event.log: ledger' "$PG_DIR/out" || fail "R12: exit $code: $(tail -n 3 "$PG_DIR/out")"
ok "lost events are found, exit 68"

# --- R13, R14, R17: another chain -----------------------------------------------------------------
begin R13
fault one "getLedgers=hash-break:$middle"
expect 66 "ledger $middle.*does not follow" --rpc "$one_url"
[ "$(cursor)" = $((middle - 1)) ] || fail "R13: the cursor is at $(cursor)"
[ "$(sql 'SELECT state FROM chain.heartbeat')" = frozen ] || fail "R13: not frozen"
# the stored hash does not fit the first ledger that is requested
expect 66 "ledger $middle.*previous hash" --rpc "$one_url"
calm one
expect 0 'index.stopped' --rpc "$one_url" --stop-at-end
same
ok "a ledger that does not follow freezes before it"

begin R14
expect 0 'index.stopped' --rpc "$one_url" --stop-at-end
fault one '*=reset'
expect 66 'reset --confirm' --rpc "$one_url"
[ "$(cursor)" = $last ] || fail "R14: the cursor is at $(cursor)"
code=0
"$TIDE_BIN/tidemark-indexer" reset --deployment "$PG_DIR/one/deployment.json" >"$PG_DIR/out" 2>&1 || code=$?
[ $code = 64 ] || fail "R14: reset without --confirm: $code"
"$TIDE_BIN/tidemark-indexer" reset --confirm --deployment "$PG_DIR/one/deployment.json" >"$PG_DIR/out" 2>&1 || fail "R14: $(cat "$PG_DIR/out")"
expect 0 'index.stopped' --rpc "$one_url" --stop-at-end --first-ledger 2
[ "$(sql 'SELECT count(*) FROM chain.ledger WHERE deployment = 1')" = 96 ] || fail "R14: the old epoch lost rows"
[ "$(sql 'SELECT min(ledger) FROM chain.ledger WHERE deployment <> 1')" = 2 ] || fail "R14: the new epoch does not begin at 2"
ok "a reset is told from a lag; a new epoch begins beside the old"

begin R17
fault one "getLedgers=unknown-arm:$middle"
expect 65 "arm .99.|ledger $middle" --rpc "$one_url"
[ "$(cursor)" = $((middle - 1)) ] || fail "R17: the cursor is at $(cursor)"
[ "$(sql "SELECT count(*) FROM event.log WHERE ledger >= $middle")" = 0 ] || fail "R17: half a ledger"
calm one
expect 0 'index.stopped' --rpc "$one_url" --stop-at-end
same
ok "an unknown union arm stops before its ledger"

# --- R15: another network --------------------------------------------------------------------------
begin R15
fault one getNetwork=passphrase
expect 66 'the server is of network' --rpc "$one_url"
[ "$(sql 'SELECT count(*) FROM chain.deployment')" = 0 ] || fail "R15: a trace in the database"
calm one
fault one getNetwork=passphrase@3
fault one getLedgers=close:before@4x1
expect 66 'the server is of network' --rpc "$one_url"
ok "another network is refused, at the start and after each reconnect"

# --- R18: the limit on requests ----------------------------------------------------------------------
for at in 2 4; do # when it is opened, and in the middle
    begin R18
    fault one "getLedgers=429:2@${at}x1"
    from=$(date +%s%N)
    expect 0 'index.stopped' --rpc "$one_url" --stop-at-end
    took=$((($(date +%s%N) - from) / 1000000))
    [ $took -ge 2000 ] || fail "R18: Retry-After was not obeyed: $took ms"
    same
done
begin R18
asked=$(stat_of one getLedgers)
from=$(date +%s%N)
expect 0 'index.stopped' --rpc "$one_url" --stop-at-end --rpc-requests-s 2
took=$((($(date +%s%N) - from) / 1000000)) asked=$(($(stat_of one getLedgers) - asked))
[ $took -ge $(((asked - 1) / 2 * 1000)) ] || fail "R18: $asked requests in $took ms with 2 a second"
same
ok "Retry-After and our own limit"

# --- several servers: forks and lag --------------------------------------------------------------------
begin fork
expect 66 "$(printf 'different hashes|does not follow')" --rpc "$one_url,$other_url"
grep -q "$one_url" "$PG_DIR/out" && grep -q "$other_url" "$PG_DIR/out" || fail "fork: not both are named: $(tail -n 1 "$PG_DIR/out")"
[ "$(cursor)" = 0 ] || fail "fork: rows of one chain are stored up to $(cursor)"
ok "two servers with two chains: refused before a row of either, both named"
begin lag
fault one '*=lag:30'
follow --rpc "$one_url,$two_url"
within 15 at $last || fail "lag: the cursor is at $(cursor): $(tail -n 3 "$PG_DIR/follow")"
grep -q 'rpc.switch.*reason=lag' "$PG_DIR/follow" || fail "lag: nothing says that it switched"
unfollow
same
ok "a server that is behind is left for one that is not"

begin dead
follow --rpc "$one_url,$two_url"
within 15 at $last || fail "dead: the cursor is at $(cursor): $(tail -n 3 "$PG_DIR/follow")"
fault two '*=lag:30'
fault one '*=close:before'
asked=$(stat_of two getLedgers)
more_asked() { [ "$(stat_of two getLedgers)" -ge $((asked + $1)) ]; }
within 30 more_asked 8 || fail "dead: the living server is not asked: $(tail -n 3 "$PG_DIR/follow")"
[ "$(grep -c 'rpc.switch.*reason=failure' "$PG_DIR/follow")" = 1 ] && ! grep -q 'reason=lag' "$PG_DIR/follow" ||
    fail "dead: back and forth: $(grep rpc.switch "$PG_DIR/follow")"
unfollow
same
ok "a dead server that was ahead is not gone back to"

# --- at the tip, last, as the chain grows ----------------------------------------------------------------
begin R16
follow --rpc "$one_url"
within 15 at $last || fail "R16: $(tail -n 3 "$PG_DIR/follow")"
for n in 3 5 7 9 11 14 17; do fault one "getLedgers=lag:40@${n}x1"; done
for n in 1 2 3 4 5 6; do
    close_ledgers one 1
    within 15 at $((last + n)) || fail "R16: ledger $((last + n)) does not come: $(tail -n 3 "$PG_DIR/follow")"
done
ok "answers of two back ends, one behind: never back, never lost"

name=restart
kill -9 "$one_pid"
wait "$one_pid" 2>/dev/null || true
sleep 0.5
at $((last + 6)) || fail "restart: the cursor is at $(cursor)"
port=${one_url##*:}
"$TIDE_BIN/tidemark-sim" serve --lake "$PG_DIR/one/lake" --deployment "$PG_DIR/one/deployment.json" --close-ms 0 \
    --listen "127.0.0.1:$port" --quiet "${small[@]}" --seed 5 >"$PG_DIR/one/log" 2>&1 &
within 20 curl -sf "$one_url/stats" -o "$PG_DIR/stats" || fail "restart: $(tail -n 3 "$PG_DIR/one/log")"
close_ledgers one 2
within 15 at $((last + 8)) || fail "restart: the cursor is at $(cursor): $(tail -n 3 "$PG_DIR/follow")"
unfollow
into grown
"$TIDE_BIN/tidemark-indexer" run --lake "$PG_DIR/one/lake" --deployment "$PG_DIR/one/deployment.json" --stop-at-end >"$PG_DIR/out" 2>&1 ||
    fail "restart: $(tail -n 3 "$PG_DIR/out")"
grown=$(digest)
[ "$(PGDATABASE=c$number TIDEMARK_DATABASE_URL="host=$PG_DIR port=5432 user=postgres dbname=c$number" digest)" = "$grown" ] ||
    fail "restart: other tables than the lake's"
ok "the server dies and comes back: goes on by itself"

begin boast # the second server is behind by a ledger and tells of one far ahead
close_ledgers two 8
fault two getLatestLedger=boast:1000000
patience=(--http-timeout-ms 80000)
follow --rpc "$one_url,$two_url"
within 15 at $((last + 8)) || fail "boast: the cursor is at $(cursor): $(tail -n 3 "$PG_DIR/follow")"
close_ledgers one 6 # too far ahead of the second server for it to be kept
within 15 at $((last + 14)) || fail "boast: the cursor is at $(cursor): $(tail -n 3 "$PG_DIR/follow")"
close_ledgers two 6
believed() { [ "$(grep -c "rpc.switch .*to=$two_url reason=lag" "$PG_DIR/follow")" -ge 2 ]; }
within 15 believed || fail "boast: $two_url is not asked for what it told: $(tail -n 3 "$PG_DIR/follow")"
for n in 15 16 17; do
    close_ledgers one 1
    within 15 at $((last + n)) || fail "boast: ledger $((last + n)) does not come: $(tail -n 3 "$PG_DIR/follow")"
    close_ledgers two 1
done
grep -q 'rpc.failed.*reported ledger' "$PG_DIR/follow" || fail "boast: nothing says that it reported a ledger that it has not"
tip() { sql "SELECT tip FROM chain.heartbeat" | grep -x $((last + 17)) >/dev/null; }
within 10 tip || fail "boast: the newest ledger is $(sql "SELECT tip FROM chain.heartbeat"), not $((last + 17))"
unfollow
ok "a server that tells of ledgers that no server has cannot hold up the others"

name=R1
export PGDATABASE=degraded
state() { sql "SELECT state || ': ' || error FROM chain.heartbeat"; }
is_degraded() { state | grep '^degraded: .*onnect' >/dev/null; }
[ $((SECONDS - since)) -ge 31 ] || sleep $((31 - SECONDS + since))
within 10 is_degraded || fail "R1: after $((SECONDS - since)) s: $(state)"
[ "$(grep -c rpc.failed "$PG_DIR/degraded.log")" -le $((2 + (SECONDS - since) / 30)) ] || fail "R1: a storm of log lines"
kill $degraded
wait $degraded || fail "R1: exit $? when asked to stop"
ok "after half a minute the heartbeat says degraded, and why"
