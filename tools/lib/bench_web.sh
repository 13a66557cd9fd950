# The section `web` of tools/bench: sourced by it, uses its helpers. The dashboard in chromium over a private stack whose
# ledgers close every five seconds, as on the public network: script before the first figures, the time until they are seen, and an idle tab.
bench_web() {
    local out i one values=() bytes=''
    [ -f "$stack_root/build/dashboard/dist/index.html" ] || { skip "web: the dashboard is not built (tools/dashboard)"; return 0; }
    (TIDE_BUILD=$stack_root/build/release TIDE_SOURCE_DIR=$stack_root && . "$stack_root/tests/browser/_page.sh") >"$dir/web.page" ||
        { skip "web: $(tail -n 1 "$dir/web.page")"; return 0; }
    # It reports the figure of an idle tab whatever that is; browser.dashboard_all has the limit.
    # shellcheck disable=SC2016
    out=$(TIDE_IDLE_MAX=100 "$stack_root/tools/with-stack" --kyc '' --close-ms 5000 --ledgers 300 -- sh -c \
        'for i in $(seq "$2"); do node "$1/dashboard.mjs" "$TIDEMARK_API_URL" "$1" budget || exit; done; node "$1/dashboard.mjs" "$TIDEMARK_API_URL" "$1" idle' \
        sh "$stack_root/build/release/browser" "$rounds" 2>"$dir/web.log") || { grep -E 'Error|FAIL' "$dir/web.log" >&2 || tail -n 5 "$dir/web.log" >&2; return 1; }
    while read -r _ _ one _ _ _ _ _ _ i _; do bytes=$one values+=("$(ratio "$i" 1000)"); done < <(grep '^ok budget' <<<"$out")
    result "script before the first figures, gzip / 150 KiB" "<=1" "$(ratio "$bytes" 153600)" 0 "$bytes bytes"
    # shellcheck disable=SC2046
    set -- $(quartiles "${values[@]}")
    result "first figures seen / 1 s" "<=1" "$1" "$2" "an empty browser cache, on this machine"
    result "idle tab, CPU of its process over 60 s / 1 % of a core" "<=1" "$(sed -n 's/^ok idle: \([0-9.]*\).*/\1/p' <<<"$out")" 0 "a ledger every five seconds; $(sed -n 's/^ok idle.*, with/with/p' <<<"$out")"
}
