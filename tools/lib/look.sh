# The table of `tools/demo --check`: sourced, not run. The caller defines query SQL, and sets url, the API's address.
#
#   expect WHAT VALUE TEST…   a line: "ok" if the test passes, else FAIL, which counts in faults
#   ask PATH                  the API's answer
#   field JSON '{a,0,b}'      a member of it
faults=0
expect() {
    local what=$1 value=$2 mark=ok
    shift 2
    "$@" || { mark=FAIL; faults=$((faults + 1)); }
    printf '%-5s %-58s %s\n' "$mark" "$what" "$value"
}
ask() { curl -sS -m 10 "$url$1"; }
field() { query "SELECT (\$json\$$1\$json\$::json) #>> '$2'"; }
look_at_pages() {
    local page script
    for page in / /docs; do
        script=$(ask $page | sed -n 's/.*<script type="module"[^>]* src="\([^"]*\)".*/\1/p')
        expect "API: the page $page with its script" "${script:-not in this build: run tools/dashboard and build again}" is_script "$script"
    done
}
is_script() { [ -n "$1" ] && grep -q javascript <<<"$(curl -sS -m 10 -o /dev/null -w '%{content_type}' "$url$1")"; }
look_at_markets() {
    local answer n before after # ledgers go on: a market may begin while the API is asked
    before=$(query "SELECT count(*) FROM analyst.markets")
    answer=$(ask /api/markets)
    after=$(query "SELECT count(*) FROM analyst.markets")
    n=$(query "SELECT json_array_length((\$json\$$answer\$json\$::json)->'items')")
    expect "API: markets, as many as the tables hold" "$n" [ "$before" -le "$n" -a "$n" -le "$after" ]
}
look_end() { # exits
    [ "$faults" = 0 ] && echo "all is well" || echo "$faults of these failed"
    exit $((faults > 0))
}
