#!/usr/bin/env bash
# Tests with-stack: the exit code and the standard input of its command, refusals, and no process or file left after a
# signal.
# label: all
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../../../tools/lib/cluster.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../../../tools/lib/wait.sh"
cluster_bin >/dev/null || exit 1
[ -x "$TIDE_BIN/tidemark-indexer" ] && [ -x "$TIDE_BIN/tidemark-sim" ] && [ -x "$TIDE_BIN/tidemark-api" ] || { echo "programs not built"; exit 1; }
dir=$(mktemp -d)
chmod 755 "$dir"
trap 'rm -rf "$dir"' EXIT
export TMPDIR=$dir/tmp
mkdir -m 755 "$TMPDIR"
stack=$TIDE_SOURCE_DIR/tools/with-stack
fail() { echo "FAIL: $*" >&2; exit 1; }
exits() { # CODE CMD…
    local want=$1 code=0
    shift
    "$@" >"$dir/out" 2>&1 || code=$?
    [ "$code" = "$want" ] || fail "$*: exit $code, wanted $want: $(cat "$dir/out")"
    [ -z "$(ls "$TMPDIR")" ] || fail "$*: left behind $(ls "$TMPDIR")"
}

exits 64 "$stack"
exits 64 "$stack" --
exits 64 "$stack" --lake x -- true
exits 64 "$stack" --unknown x -- true
exits 64 "$stack" --rpc http://127.0.0.1:1 --deployment x -- true
exits 64 "$stack" --rpc http://127.0.0.1:1 --until x --deployment x -- true
exits 64 "$stack" --rpc http://127.0.0.1:1 --until 5 -- true
exits 0 "$stack" --ledgers 64 -- true
exits 9 "$stack" --ledgers 64 -- bash -c 'exit 9'
exits 64 "$stack" --lake x --deployment x --kyc '' -- true
exits 64 "$stack" --close-ms x -- true
exits 78 "$stack" --lake "$dir/none" --deployment "$dir/none" -- true
exits 0 "$stack" --ledgers 64 --seed 7 -- bash -c \
    '[ "$(psql "$TIDEMARK_DATABASE_URL" -XAtc "SELECT count(*) FROM chain.ledger")" = 64 ] &&
     [ "$(curl -fsS "$TIDEMARK_API_URL/api/ledgers?limit=1" | grep -o "\"ledger\":\"[0-9]*\"" | sed -n 1p | tr -dc 0-9)" = 1087 ] &&
     curl -fsS -o /dev/null "$TIDEMARK_API_URL/readyz" &&
     tidemark-indexer status && [ -f "$TIDEMARK_DEPLOYMENT" ] && [ -d "$TIDEMARK_LAKE" ]'

# A stack with its own network, and a second stack on that network: over RPC, to the requested ledger, then further.
cat >"$dir/inner" <<'END'
set -e
at() { psql "$TIDEMARK_DATABASE_URL" -XAtc "SELECT ledger FROM chain.cursor"; }
[ "$(at)" -ge 1095 ]
curl -fsS -d 3 "$TIDEMARK_RPC_URL/close" >"$TMPDIR/closed"
for _ in $(seq 100); do [ "$(at)" -lt 1098 ] || break; sleep 0.1; done
[ "$(at)" = 1098 ]
for _ in $(seq 100); do # the API follows too
    ! curl -fsS "$TIDEMARK_API_URL/api/markets" | grep '^{"ledger":"1098"' >/dev/null || break
    sleep 0.1
done
curl -fsS "$TIDEMARK_API_URL/api/markets" | grep '^{"ledger":"1098"' >/dev/null
rm "$TMPDIR/closed"
END
exits 0 "$stack" --ledgers 64 -- bash -c 'curl -fsS -d 8 "$TIDEMARK_RPC_URL/close" >/dev/null &&
    [ "$(psql "$TIDEMARK_DATABASE_URL" -XAtc "SELECT ledger FROM chain.cursor")" = 1087 ] &&
    exec "$0" --rpc "$TIDEMARK_RPC_URL" --until 1095 --deployment "$TIDEMARK_DEPLOYMENT" -- bash "$1"' "$stack" "$dir/inner"

echo hello | "$stack" --ledgers 64 -- cat >"$dir/out"
[ "$(cat "$dir/out")" = hello ] || fail "standard input did not arrive: $(cat "$dir/out")"

for signal in TERM INT HUP; do
    mkfifo "$dir/up"
    # A shell makes its background jobs ignore SIGINT.
    env --default-signal=INT setsid "$stack" --ledgers 64 -- bash -c "echo up >'$dir/up'; sleep 300" &
    pid=$!
    read -r _ <"$dir/up"
    kill -$signal -- "-$pid"
    code=0
    wait "$pid" || code=$?
    [ "$code" -gt 128 ] || fail "$signal: exit $code"
    [ -z "$(ls "$TMPDIR")" ] || fail "$signal: left behind $(ls "$TMPDIR")"
    rm "$dir/up"
done

# Without a server it waits and says for which one.
"$TIDE_BIN/tidemark-sim" write --stream /dev/null --deployment "$dir/deployment.json" --ledgers 1 --quiet
: >"$dir/waits"
setsid "$stack" --rpc http://127.0.0.1:1 --until 5 --deployment "$dir/deployment.json" -- true 2>"$dir/waits" &
pid=$!
AWAIT_PID=$pid AWAIT_LOG=$dir/waits await "a word about the server that is not there" grep -q "^still waiting: .*127.0.0.1:1" "$dir/waits"
kill -TERM -- "-$pid"
wait "$pid" && fail "0 for a network that never was"
echo ok
