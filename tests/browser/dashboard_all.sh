#!/usr/bin/env bash
# Opens all pages of the dashboard at three widths in both colour schemes with axe, waits for a swap on an open page,
# and measures the CPU time of an idle tab while a ledger closes every five seconds: twice of what `tools/bench web`
# allows, because other tests share the processor's caches. The screenshots are in browser/ of the build.
# label: all
here=$(cd "$(dirname "$0")" && pwd)
. "$here/_page.sh"
[ -f "$TIDE_SOURCE_DIR/build/dashboard/dist/index.html" ] || { echo "the dashboard is not built: tools/dashboard"; exit 1; }
tmp=$(mktemp -d)
chmod 755 "$tmp"
trap 'rm -rf "$tmp"' EXIT
TIDE_IDLE_MAX=${TIDE_IDLE_MAX:-2} TMPDIR=$tmp "$TIDE_SOURCE_DIR/tools/with-stack" --kyc '' --close-ms 5000 --ledgers 400 -- \
    sh -c 'SIM="for user in $(seq -s " " 30); do tidemark-sim tx swap --rpc $TIDEMARK_RPC_URL --user \$user --pool XLM --amount 500 && exit; done; exit 1" node "$1/dashboard.mjs" "$TIDEMARK_API_URL" "$1" looks live idle' \
    sh "$PAGE"
echo "screenshots in $PAGE"
