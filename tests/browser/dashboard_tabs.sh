#!/usr/bin/env bash
# Eight tabs of the dashboard in one browser, while ledgers close: each shows them, one stream serves all, and it
# outlives the tab that opened it. Hidden tabs have none, and catch up when they are shown.
# label: all
here=$(cd "$(dirname "$0")" && pwd)
. "$here/_page.sh"
[ -f "$TIDE_SOURCE_DIR/build/dashboard/dist/index.html" ] || { echo "the dashboard is not built: tools/dashboard"; exit 1; }
tmp=$(mktemp -d)
chmod 755 "$tmp"
trap 'rm -rf "$tmp"' EXIT
TMPDIR=$tmp "$TIDE_SOURCE_DIR/tools/with-stack" --kyc '' --close-ms 1000 --ledgers 310 -- \
    sh -c 'SIM="for user in $(seq -s " " 30); do tidemark-sim tx swap --rpc $TIDEMARK_RPC_URL --user \$user --pool XLM --amount 500 && exit; done; exit 1" node "$1/dashboard.mjs" "$TIDEMARK_API_URL" "$1" tabs hidden' \
    sh "$PAGE"
