# Shared by the tests of the source rpc: sourced after _pg.sh.
#
#   serve NAME [option]…   a simulated network in the background: $NAME_url, its files in $PG_DIR/NAME
#   fault NAME TEXT        one more fault; `calm NAME` clears them
#   close_ledgers NAME N   N ledgers close
#   into NAME              a new database with the schema, as TIDEMARK_DATABASE_URL and PGDATABASE
#   indexer …              tidemark-indexer run over RPC, output in $PG_DIR/out
# Waits: within SECONDS CMD…, await WHAT CMD… (tools/lib/wait.sh).
[ -x "$TIDE_BIN/tidemark-indexer" ] && [ -x "$TIDE_BIN/tidemark-sim" ] || { echo "programs not built"; exit 1; }
command -v curl >/dev/null || { echo "no curl"; exit 1; }

serve() {
    local name=$1 dir=$PG_DIR/$1
    shift
    mkdir -p "$dir"
    rm -f "$dir/port"
    "$TIDE_BIN/tidemark-sim" serve --lake "$dir/lake" --deployment "$dir/deployment.json" --close-ms 0 \
        --listen 127.0.0.1:0 --port-file "$dir/port" --quiet "$@" >"$dir/log" 2>&1 &
    printf -v "${name}_pid" %s $!
    AWAIT_PID=$! AWAIT_LOG=$dir/log await "the port of the network $name" test -s "$dir/port"
    printf -v "${name}_url" 'http://127.0.0.1:%s' "$(cat "$dir/port")"
}
url_of() { local v=${1}_url; echo "${!v}"; }
fault() { curl -sf -d "$2" "$(url_of "$1")/faults" >/dev/null || fail "no such fault: $2"; }
calm() { curl -sf -X DELETE "$(url_of "$1")/faults" >/dev/null; }
close_ledgers() { curl -sf -d "$2" "$(url_of "$1")/close" >/dev/null; }
stat_of() { # NAME METHOD: calls so far
    curl -sf "$(url_of "$1")/stats" | sed -n "s/.*\"$2\":\([0-9]*\).*/\1/p"
}

into() {
    PGDATABASE=postgres "$PG_BIN/createdb" "$1"
    export PGDATABASE=$1 TIDEMARK_DATABASE_URL="host=$PG_DIR port=5432 user=postgres dbname=$1"
}
digest() { "$TIDE_BIN/tidemark-indexer" digest --deployment "$PG_DIR/${1:-one}/deployment.json"; }
cursor() { sql "SELECT coalesce(max(c.ledger), 0) FROM chain.cursor c"; }

# Retries are quick, and a server that stands still is left soon, so that tests do not wait for them. Where none stands
# still, a test sets patience longer: on a slow machine the source would leave the server that the test is about.
patience=(--http-timeout-ms 6000)
indexer() { # ends within a minute
    timeout -k 5 60 "$TIDE_BIN/tidemark-indexer" run --deployment "$PG_DIR/one/deployment.json" --retry-ms-max 200 \
        "${patience[@]}" --rpc-confirm-ms 200 "$@" >"$PG_DIR/out" 2>&1
}
expect() { # CODE PATTERN [option]…: the indexer ends so
    local want=$1 pattern=$2 code=0
    shift 2
    indexer "$@" || code=$?
    [ "$code" = "$want" ] || fail "$name: exit $code, wanted $want: $(tail -n 3 "$PG_DIR/out")"
    grep -Eq "$pattern" "$PG_DIR/out" || fail "$name: nothing says \"$pattern\": $(tail -n 3 "$PG_DIR/out")"
}
