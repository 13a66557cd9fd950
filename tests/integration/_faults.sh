# Shared by the tests of named faults: sourced after _pg.sh and _writer.sh.
#
#   fault "P1 what is expected" FUNCTION ARG…   runs it, prints "ok P1 …" or "not ok P1 …" with why
#   faults_end                                  fails when a fault did; 77 when all were skipped
#   proxy_up [ADDRESS]    a proxy before the server; proxied = its connection string
#   tell COMMAND…         to the proxy (tests/faults/fault_proxy.c)
failed=0 passed=0

# Each fault runs in a process of its own. Processes that it leaves are killed, whatever its result.
fault() {
    local name=$1 code=0 began=${EPOCHREALTIME/./}
    shift
    set +e
    (
        set -e
        trap 'for pid in $(jobs -p); do kill -9 $pid 2>/dev/null || true; done' EXIT
        "$@"
    ) 2>"$PG_DIR/why" >"$PG_DIR/said"
    code=$?
    set -e
    if [ $code = 0 ]; then
        passed=$((passed + 1))
        printf 'ok %s%s (%d ms)\n' "$name" "$(sed 's/^/: /' "$PG_DIR/said" | tail -1)" \
            $(((${EPOCHREALTIME/./} - began) / 1000))
    elif [ $code = 77 ]; then
        echo "skipped $name: $(tail -1 "$PG_DIR/said")"
    else
        failed=$((failed + 1))
        echo "not ok $name"
        tail -40 "$PG_DIR/why" | sed 's/^/    /'
    fi
}
faults_end() {
    [ $failed = 0 ] || fail "$failed faults ended otherwise than they should"
    [ $passed != 0 ] || exit 77
}

wait_for() { # FILE PATTERN [SECONDS]
    within "${3:-20}" grep -qs -e "$2" "$1" || fail "$1 never says $2: $(tail -3 "$1")"
}

proxy_up() {
    local upstream=${1:-$PG_DIR/.s.PGSQL.$PGPORT}
    mkdir -p "$PG_DIR/proxy"
    "$TIDE_BIN/fault_proxy" run "$PG_DIR/proxy/.s.PGSQL.5432" "$upstream" "$PG_DIR/proxy/control" pg \
        >"$PG_DIR/proxy/log" 2>&1 &
    wait_for "$PG_DIR/proxy/log" listening
    proxied="host=$PG_DIR/proxy port=5432 user=postgres dbname=$PGDATABASE"
}
tell() { "$TIDE_BIN/fault_proxy" tell "$PG_DIR/proxy/control" "$@" >"$PG_DIR/proxy/told" || fail "proxy: $* $(cat "$PG_DIR/proxy/told")"; }
fired() { # N [SECONDS]: at least so many rules have fired, or will within that time
    within "${2:-0}" rules_fired "$1" || fail "the proxy had too little to do: $(cat "$PG_DIR/proxy/told")"
}
rules_fired() { tell counts; [ "$(sed 's/.*fired=\([0-9]*\).*/\1/' "$PG_DIR/proxy/told")" -ge "$1" ]; }

# Starts the driver in the background. Its output is in $words, its process id in $writer.
words=$PG_DIR/words
start() { "$driver" write "$@" 2>"$words" & writer=$!; }
start_proxied() { TIDEMARK_DATABASE_URL=$proxied "$driver" write "$@" 2>"$words" & writer=$!; }
ends_well() {
    wait $writer || fail "exit $?: $(tail -3 "$words")"
    same
}
ends_with() { # EXIT PATTERN
    local code=0
    wait $writer || code=$?
    [ $code = "$1" ] && grep -q -e "$2" "$words" || fail "exit $code, wanted $1 and \"$2\": $(tail -3 "$words")"
}
# Checks after every fault that each row exists once, the cursor is at the end, and state agrees with history.
same() { # [NAME]
    [ "$(digest)" = "$want" ] || fail "${1:-afterwards}: $(digest) not $want"
    check_state "${1:-afterwards}"
    check_partitions "${1:-afterwards}"
}
wants() { # FROM TO OPTION…: what an undisturbed run leaves
    fresh
    "$driver" write "$@" 2>/dev/null
    want=$(digest)
}

# Mounts a disk of so many MiB for the server's user, until the test ends. Exits with 77 if none can be mounted.
small_disk() { # FOLDER MIB
    mkdir "$1"
    [ "$(id -u)" = 0 ] && mount -t tmpfs -o size="$2"m tmpfs "$1" 2>/dev/null || {
        echo "no tmpfs can be mounted here"
        exit 77
    }
    chown "$(cluster_user)" "$1"
    chmod 700 "$1"
}
