#!/usr/bin/env bash
# RPC servers that refuse pages: their own limit, a gateway's 413, 429 or 504, a body that is cut or too large, a hang.
# The indexer asks for fewer ledgers, remembers how many it got, grows again, and the tables are those of the lake.
# With TIDE_LONG each way by itself. (label: all)
. "$(dirname "$0")/../_pg.sh"
. "$(dirname "$0")/../_rpc.sh"
command -v python3 >/dev/null || { echo "no python3"; exit 1; }
pg_start
serve one --ledgers 160 --txs 1 --seed 9
first=1024 last=1183

into reference
"$TIDE_BIN/tidemark-indexer" run --lake "$PG_DIR/one/lake" --deployment "$PG_DIR/one/deployment.json" --stop-at-end >"$PG_DIR/out" 2>&1 ||
    fail "reference: $(tail -n 3 "$PG_DIR/out")"
reference=$(digest)
[ "$(cursor)" = $last ] || fail "the reference ends at $(cursor)"

number=0
refusing() { # NAME OPTION…: a proxy before the server; $NAME_url, its requests in $PG_DIR/NAME.asked
    local name=$1
    shift
    number=$((number + 1))
    python3 "$PYTHONPATH/_refuse.py" "$one_url" --log "$PG_DIR/$name.asked" "$@" >"$PG_DIR/$number.port" 2>"$PG_DIR/$name.err" &
    within 20 [ -s "$PG_DIR/$number.port" ] || fail "no proxy: $(cat "$PG_DIR/$name.err")"
    printf -v "${name}_url" 'http://127.0.0.1:%s' "$(cat "$PG_DIR/$number.port")"
}
# A hang costs a quarter of --http-timeout-ms. The machine may be slow, but an honest answer comes within that time.
patience=(--http-timeout-ms 12000 --object-max-mib 1)
catches_up() { # URLS [option]…
    local urls=$1
    shift
    into "d$number"
    expect 0 "index.stopped ledger=$last" --rpc "$urls" --stop-at-end "$@"
    [ "$(digest)" = "$reference" ] || fail "$name: other tables: $(diff <(echo "$reference") <(digest) | sed -n 1,5p)"
}
refused() { grep -vc given "$PG_DIR/$1.asked"; }
# A page that is refused is halved to the largest that is given, and the refusal of a larger one is remembered: tries at
# growing are rare. So the number of refusals is bounded, whatever the machine's speed.
few() { # NAME N
    [ "$(refused "$1")" -le "$2" ] || fail "$name: $(refused "$1") pages were refused: $(grep -v given "$PG_DIR/$1.asked")"
    [ "$(refused "$1")" -ge 1 ] || fail "$name: nothing was refused"
}

name="any way, at most three ledgers"
for seed in 1 ${TIDE_LONG:+2 3 4 5 6}; do
    refusing three --most 3 --seed "$seed"
    catches_up "$three_url"
    few three $((12 * seed)) # the log goes on from seed to seed
    grep -q "rpc.refused from=$first ledgers=8 next_ledgers=4 error=.*getLedgers: " "$PG_DIR/out" || fail "$name: the page is not told: $(grep rpc. "$PG_DIR/out")"
done
echo "ok $name: $(refused three) refusals"

name="one ledger at a time"
refusing single --most 1 --ways 413
catches_up "$single_url"
few single 14
grep -q 'error=.*the server answered 413: <html> <head><title>413 Request Entity Too Large' "$PG_DIR/out" || fail "$name: not in the server's words: $(grep rpc. "$PG_DIR/out")"
echo "ok $name"

name="an error without an id"
refusing nameless --most 5 --ways nameless
catches_up "$nameless_url"
few nameless 12
grep -q 'error=.*error -32005: daily request count exceeded' "$PG_DIR/out" || fail "$name: not in the server's words: $(grep rpc. "$PG_DIR/out")"
echo "ok $name"

if [ -n "${TIDE_LONG:-}" ]; then
    for way in processing limit most queue 429 502 504 cut larger hang; do
        name=$way
        refusing "w$way" --most 2 --ways "$way"
        url=w${way}_url
        catches_up "${!url}"
        few "w$way" 14
        echo "ok $way alone"
    done
fi

name="a fleet that refuses at random"
for seed in 11 ${TIDE_LONG:+12 13 14 15 16}; do
    refusing left --most 6 --share 0.2 --seed "$seed"
    refusing right --most 40 --share 0.2 --seed $((seed + 100))
    catches_up "$left_url,$right_url" --http-tries 40
done
echo "ok $name"

# A header that is told back is no word for the log.
name="a server that repeats the key"
refusing told --most 2 --ways nameless
TIDEMARK_RPC_HEADER='X-Key: daily request' catches_up "$told_url"
! grep -q 'daily request' "$PG_DIR/out" || fail "$name: the key is logged: $(grep 'daily request' "$PG_DIR/out")"
grep -q 'error -32005: (words that repeat a key)' "$PG_DIR/out" || fail "$name: $(grep rpc. "$PG_DIR/out")"
echo "ok $name"

# While following, the server's limit goes away: pages grow again.
name="growth"
refusing grows --most 2 --ways processing
into growing
"$TIDE_BIN/tidemark-indexer" run --deployment "$PG_DIR/one/deployment.json" --rpc "$grows_url" --retry-ms-max 200 "${patience[@]}" \
    --rpc-requests-s 20 >"$PG_DIR/follow" 2>&1 &
pid=$!
gave() { [ "$(grep -c "$1 given" "$PG_DIR/grows.asked")" -ge "$2" ]; }
within 30 gave ' 2' 20 || fail "$name: $(tail -n 3 "$PG_DIR/follow")"
curl -sf "$grows_url/most/100" -o "$PG_DIR/lifted"
within 30 gave ' 4' 1 || fail "$name: pages do not grow: $(tail -n 3 "$PG_DIR/grows.asked")"
reached() { [ "$(cursor)" = $last ]; }
within 30 reached || fail "$name: $(tail -n 3 "$PG_DIR/follow")"
kill $pid
wait $pid || fail "$name: exit $?"
[ "$(digest)" = "$reference" ] || fail "$name: other tables"
echo "ok $name: $(grep -c given "$PG_DIR/grows.asked") pages"
