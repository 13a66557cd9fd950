#!/usr/bin/env bash
# tools/with-stack --network: the markets of real contracts over HTTP, new ledgers meanwhile, refusals, nothing left behind.
set -euo pipefail
fail() { echo "FAIL: $*" >&2; exit 1; }
stack=$TIDE_SOURCE_DIR/tools/with-stack
export TIDE_NETWORK_PORT=${TIDE_NETWORK_PORT:-12700}
. "$TIDE_SOURCE_DIR/tools/lib/cluster.sh"
cluster_bin >/dev/null || exit 77
[ -x "$TIDE_BIN/tidemark-indexer" ] && [ -x "$TIDE_BIN/tidemark-api" ] || { echo "programs not built"; exit 77; }
dir=$(mktemp -d "${TMPDIR:-/tmp}/tide.XXXXXX")
chmod 755 "$dir"
trap 'rm -rf "$dir"' EXIT
export TMPDIR=$dir/tmp
mkdir -m 755 "$TMPDIR"

refused() { # CODE TEXT CMD…
    local want=$1 words=$2 code=0
    shift 2
    "$@" >"$dir/out" 2>&1 || code=$?
    [ "$code" = "$want" ] || fail "$*: exit $code, wanted $want: $(tail -n 3 "$dir/out")"
    grep -q "$words" "$dir/out" || fail "$*: does not say '$words': $(cat "$dir/out")"
}
refused 64 usage "$stack" --network --kyc '' -- true
refused 64 usage "$stack" --calls 5 -- true
refused 69 TIDE_STELLAR env TIDE_STELLAR="$dir/none" "$stack" --network -- true

code=0
"$stack" --network --calls 80 -- bash -c 'set -e
    curl -fsS "$TIDEMARK_API_URL/api/markets" >"$1/markets"
    first=$(psql "$TIDEMARK_DATABASE_URL" -XAtc "SELECT ledger FROM chain.cursor")
    for _ in $(seq 600); do
        [ "$(psql "$TIDEMARK_DATABASE_URL" -XAtc "SELECT ledger FROM chain.cursor")" -le $((first + 3)) ] || exit 0
        sleep 0.2
    done
    exit 1' - "$dir" >"$dir/out" 2>&1 || code=$?
if [ "$code" = 69 ]; then
    echo "skipped: $(grep '^network:' "$dir/out" | tail -n 1)"
    exit 77
fi
[ "$code" = 0 ] || fail "exit $code: $(tail -n 5 "$dir/out")"
grep -q '"market":"sGOLD"' "$dir/markets" || fail "no market: $(cat "$dir/markets")"
for step in starting deploying replaying indexing; do grep -q "^network: .*$step" "$dir/out" || fail "no progress: $step"; done
[ -z "$(ls "$TMPDIR")" ] || fail "left behind $(ls "$TMPDIR")"
