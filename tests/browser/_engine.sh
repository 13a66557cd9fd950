# The pages and the stream of tabs in a browser's engine, on a chain that closes a ledger every second. Sourced, after _page.sh.
engine_run() { # ENGINE CASE…
    [ -f "$TIDE_SOURCE_DIR/build/dashboard/dist/index.html" ] || { echo "the dashboard is not built: tools/dashboard"; exit 1; }
    tmp=$(mktemp -d)
    chmod 755 "$tmp"
    trap 'rm -rf "$tmp"' EXIT
    # shellcheck disable=SC2016
    TMPDIR=$tmp "$TIDE_SOURCE_DIR/tools/with-stack" --kyc '' --close-ms 1000 --ledgers 310 -- \
        sh -c 'export SIM="for user in $(seq -s " " 30); do tidemark-sim tx swap --rpc $TIDEMARK_RPC_URL --user \$user --pool XLM --amount 500 && exit; done; exit 1"
               page=$1 engine=$2; shift 2; exec node "$page/stream.mjs" "$engine" "$TIDEMARK_API_URL" "$@"' sh "$PAGE" "$@"
}
