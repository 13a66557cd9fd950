#!/usr/bin/env bash
# Runs tools/demo --network --check, which is tools/with-stack --network with checks: refusals, progress, and no process
# or file left. Then tools/with-stack --network, as README.md has it.
set -euo pipefail
fail() { echo "FAIL: $*" >&2; exit 1; }
stack=$TIDE_SOURCE_DIR/tools/with-stack
export TIDE_NETWORK_PORT=${TIDE_NETWORK_PORT:-12500}
. "$TIDE_SOURCE_DIR/tools/lib/cluster.sh"
cluster_bin >/dev/null || exit 1
[ -x "$TIDE_BIN/tidemark-indexer" ] && [ -x "$TIDE_BIN/tidemark-api" ] || { echo "programs not built"; exit 1; }
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
refused 64 check "$TIDE_SOURCE_DIR/tools/demo" --network --other

code=0
"$TIDE_SOURCE_DIR/tools/demo" --network --check >"$dir/out" 2>&1 || code=$?
if [ "$code" = 69 ]; then
    echo "skipped: $(grep '^network:' "$dir/out" | tail -n 1)"
    exit 77
fi
cat "$dir/out"
[ "$code" = 0 ] || fail "exit $code"
for step in starting deploying replaying indexing; do grep -q "^network: .*$step" "$dir/out" || fail "no progress: $step"; done
[ "$(grep -c '^ok' "$dir/out")" -ge 9 ] || fail "the table has $(grep -c '^ok' "$dir/out") lines"
[ -z "$(ls "$TMPDIR")" ] || fail "left behind $(ls "$TMPDIR")"

# As a reader runs it: nothing says where the programs are.
sed -n '/^```sh run by tests\/network\/with_stack.sh/,/^```$/{/^```/!p}' "$TIDE_SOURCE_DIR/README.md" >"$dir/command"
grep -q 'tools/with-stack --network' "$dir/command" || fail "no command in the README"
(cd "$TIDE_SOURCE_DIR" && env -u TIDE_BIN bash -e "$dir/command") >"$dir/out" 2>"$dir/said" || fail "the README's command: exit $?: $(tail -n 3 "$dir/said")"
grep -q '"items"' "$dir/out" || fail "no markets: $(head -c 300 "$dir/out")"
[ -z "$(ls "$TMPDIR")" ] || fail "left behind $(ls "$TMPDIR")"
