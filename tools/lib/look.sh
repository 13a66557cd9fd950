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
    local n
    n=$(ask / | grep -cE '<div id="app">|<code>tools/dashboard</code>')
    expect "API: the dashboard, or how to build it" "" [ "$n" = 1 ]
    n=$(ask /docs | grep -c '<title>Tidemark API</title>')
    expect "API: /docs" "" [ "$n" = 1 ]
}
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
