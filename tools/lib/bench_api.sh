# The section `api` of tools/bench: sourced by it, uses its helpers.
#
# The measure is CPU per request: user and system time of the server's process (/proc) divided by the
# requests that wrk saw answered. Servers run on core 0, wrk on core 1. Requests a second are printed
# too, but say little with the client on the other core. An answer that is not 2xx and a broken
# connection are errors. One error fails the whole section.
api_needs() {
    local tool
    for tool in wrk nginx taskset curl; do
        command -v $tool >/dev/null || { skip "api: $tool is not installed (tools/install-deps bench)"; return 1; }
    done
    [ "$(nproc)" -ge 2 ] || { skip "api: two cores are needed"; return 1; }
}

# nanoseconds of CPU used by a process, or by one thread PID/task/TID
cpu_ns() { cat "/proc/$1"/task/*/schedstat 2>/dev/null | awk '{ s += $1 } END { printf "%.0f", s }'; }
worker_ns() { awk '{ print $1 }' "/proc/$1/task/$(api_worker "$1")/schedstat"; }
# The thread that used most CPU: the worker, after a warm-up.
api_worker() { for t in "/proc/$1"/task/*; do echo "$(awk '{ print $1 }' "$t/schedstat") ${t##*/}"; done | sort -n | tail -n 1 | cut -d' ' -f2; }

# The number of errors that wrk reports, all kinds together.
errors_in() {
    awk '/Non-2xx or 3xx responses:/ { s += $NF }
        /Socket errors:/ { for (i = 1; i <= NF; i++) if ($i ~ /^[0-9]+,?$/) s += $i }
        END { printf "%d", s }' <<<"$1"
}
api_errors() {
    result "requests of this section that failed: no 2xx, broken connections" 0 "$(awk '{ s += $1 } END { printf "%d", s }' "$dir/errors")" 0 "all loads together"
}

# load PID CONNECTIONS SECONDS URL [cpu_ns|worker_ns]: sets REQUESTS CPU_US RPS P99_MS ERRORS
load() {
    local before after out clock=${5:-cpu_ns}
    before=$($clock "$1")
    out=$(ADDR=$dir/people SEED=$((RANDOM * 32768 + RANDOM + 1)) taskset -c 1 wrk -t1 "-c$2" "-d${3}s" --timeout 10s --latency -s "$dir/wrk.lua" "$4" 2>&1)
    after=$($clock "$1")
    REQUESTS=$(sed -n 's/ *\([0-9]*\) requests in.*/\1/p' <<<"$out")
    RPS=$(sed -n 's/Requests\/sec: *\([0-9.]*\)/\1/p' <<<"$out" | cut -d. -f1)
    ERRORS=$(errors_in "$out")
    [ "$ERRORS" = 0 ] || echo "$ERRORS of $REQUESTS at $2 connections to $4" >>"$dir/errors" # also from a subshell
    P99_MS=$(awk '$1 == "99%" { v = $2; if (v ~ /us$/) m = 0.001; else if (v ~ /ms$/) m = 1; else m = 1000; printf "%.2f", v * m }' <<<"$out")
    CPU_US=$(awk -v a="$before" -v b="$after" -v n="$REQUESTS" 'BEGIN { printf "%.3f", (b - a) / n / 1000 }')
}

answers() { curl -fs -o "$dir/ready" "http://127.0.0.1:$1"; } # PORT/PATH
api_up() { # option…: sets API_PID, API_URL
    rm -f "$dir/api.port"
    local limits
    mapfile -t limits < <(known tidemark-api --compliance-age-s=0 --stale-after-ms=86400000 --api-connections-per-ip=0 --api-rate-lookup=1000000000)
    TIDEMARK_DATABASE_URL=$(conn replica api) taskset -c 0 "$TIDE_BIN/tidemark-api" --api-listen 127.0.0.1:0 --api-port-file "$dir/api.port" --api-cache "$dir/cache" \
        "${limits[@]}" "$@" 2>>"$dir/api.log" &
    API_PID=$!
    AWAIT_PID=$API_PID AWAIT_LOG=$dir/api.log await "the API" eval '[ -s "$dir/api.port" ] && answers "$(cat "$dir/api.port")/readyz"'
    API_URL=http://127.0.0.1:$(cat "$dir/api.port")
}
api_down() { kill "$API_PID" && wait "$API_PID"; }

# nginx with the same bytes: the header lines and the body of one of our answers.
nginx_up() {
    local port answer=$dir/nginx.answer
    port=$(cluster_free_port)
    curl -fs -D "$answer" -o "$dir/nginx.body" "$API_URL/api/sdk/kyc/status/$(head -n 1 "$dir/people")"
    {
        echo "worker_processes 1; daemon off; pid $dir/nginx.pid; error_log $dir/nginx.err;"
        echo "events { worker_connections 4096; }"
        echo "http { access_log off; server_tokens off; keepalive_requests 1000000000; client_body_temp_path $dir/nginx.tmp;"
        echo "server { listen 127.0.0.1:$port; location / { default_type 'application/json; charset=utf-8';"
        tr -d '\r' <"$answer" | grep -vE '^(HTTP|Date|Content-Length|Content-Type|$)' |
            sed "s/'/\\\\'/g; s/^\([^:]*\): \(.*\)/add_header \1 '\2' always;/"
        echo "return 200 '$(cat "$dir/nginx.body")'; } } }"
    } >"$dir/nginx.conf"
    taskset -c 0 nginx -c "$dir/nginx.conf" 2>"$dir/nginx.log" &
    NGINX=$!
    AWAIT_PID=$NGINX AWAIT_LOG=$dir/nginx.log await nginx answers "$port/"
    NGINX_URL=http://127.0.0.1:$port
    NGINX_PID=$(pgrep -P $NGINX | sed -n 1p)
}

# libmicrohttpd with the same header lines and as many bytes of body, and no work of ours: the least that this library costs.
floor_up() {
    rm -f "$dir/floor.port"
    taskset -c 0 "$TIDE_BIN/tidemark-perf" floor "$dir/nginx.answer" "$dir/nginx.body" "$dir/floor.port" 2>"$dir/floor.log" &
    FLOOR_PID=$!
    AWAIT_PID=$FLOOR_PID AWAIT_LOG=$dir/floor.log await "libmicrohttpd alone" eval '[ -s "$dir/floor.port" ] && answers "$(cat "$dir/floor.port")/"'
    FLOOR_URL=http://127.0.0.1:$(cat "$dir/floor.port")
}

# Warm up: the map's pages are read once.
api_warm() { load "$API_PID" 32 10 "$API_URL"; }

# A round measures nginx, us, libmicrohttpd alone, and nginx again. If nginx's two figures differ by more than a tenth,
# other work disturbed the round: it is left out, whatever our figure, and another one is taken, up to
# three times as many as wanted.
api_against_nginx() { # WANTED
    local i ratios=() floors=() ours=() theirs=() first told out=0 wanted=$((2 * rounds + 1))
    api_warm
    for ((i = 0; i < 3 * wanted && ${#ratios[@]} < wanted; i++)); do
        load "$NGINX_PID" 32 2 "$NGINX_URL"
        first=$CPU_US
        load "$API_PID" 32 2 "$API_URL"
        local us=$CPU_US
        told="$RPS requests/s, p99 $P99_MS ms"
        load "$FLOOR_PID" 32 2 "$FLOOR_URL"
        local least=$CPU_US
        load "$NGINX_PID" 32 2 "$NGINX_URL"
        if awk -v a="$first" -v b="$CPU_US" 'BEGIN { exit !(a > 1.1 * b || b > 1.1 * a) }'; then
            out=$((out + 1))
            continue
        fi
        theirs+=("$(awk -v a="$first" -v b="$CPU_US" 'BEGIN { printf "%.3f", (a + b) / 2 }')")
        ours+=("$us")
        ratios+=("$(ratio "$us" "${theirs[-1]}")")
        floors+=("$(ratio "$least" "${theirs[-1]}")")
    done
    [ ${#ratios[@]} -gt 0 ] || { skip "CPU per look-up: nginx itself was disturbed in all $out rounds"; return 0; }
    local goal=$1 mine his
    mine=$(quartiles "${ours[@]}") his=$(quartiles "${theirs[@]}")
    # shellcheck disable=SC2046
    set -- $(quartiles "${ratios[@]}") $(quartiles "${floors[@]}")
    result "CPU per compliance look-up, 1 million people / nginx return 200" "$goal" "$1" "$2" \
        "us: ours ${mine% *}, nginx ${his% *}; ${#ratios[@]} rounds, $out left out for nginx being disturbed; $told, nginx $RPS; $(wc -c <"$dir/nginx.body") bytes of body"
    result "the same answer by libmicrohttpd alone / nginx return 200" - "$3" "$4" "the same rounds: the least for a server over it"
}

api_sizes() {
    local n i base sizes=(64 127 128 129 256 512)
    declare -A ratios
    for ((i = 0; i < rounds; i++)); do
        load "$API_PID" 32 1 "$API_URL"
        base=$RPS
        for n in "${sizes[@]}"; do
            load "$API_PID" "$n" 1 "$API_URL"
            ratios[$n]+="$(ratio "$RPS" "$base") "
        done
    done
    for n in "${sizes[@]}"; do
        # shellcheck disable=SC2046,SC2086
        set -- $(quartiles ${ratios[$n]})
        result "requests/s at $n connections / at 32" 0.6 "$1" "$2" "median of $rounds"
    done
}

api_memory() {
    local rss map
    load "$API_PID" 1000 3 "$API_URL" & # its numbers are the subshell's
    sleep 2
    # Counts all memory except the shared map of the cache's file.
    rss=$(awk '/^Rss:/ { r = $2 } /^[0-9a-f]+-/ { f = $6 } /^Rss:/ && f !~ /data.mdb/ { s += r } END { print s }' "/proc/$API_PID/smaps")
    map=$(awk '/^[0-9a-f]+-/ { f = $6 } /^Rss:/ && f ~ /data.mdb/ { s += $2 } END { print s }' "/proc/$API_PID/smaps")
    wait $!
    result "resident memory at 1000 connections, besides the map / 64 MiB" "<=1" \
        "$(ratio "$rss" 65536)" 0 \
        "$((rss / 1024)) MiB; $((map / 1024)) MiB of the map"
}

# One load beside an indexer, which works until the load has ended: where the chain is too short for that on this machine, nothing is
# measured, and a chain of twice as many events is made. Sets what load sets, and beside: the events that were enough.
api_load_beside() {
    local job lasted
    for ((; beside <= 64 * events; beside *= 2)); do
        chain "mixed$beside" swaps "$beside"
        fresh replica ours
        index replica ours "mixed$beside" >/dev/null &
        job=$!
        sleep 1
        load "$API_PID" 32 2 "$API_URL" worker_ns
        lasted=1
        kill -0 $job 2>/dev/null || lasted=0
        wait $job || { echo "bench: the indexer failed beside the look-ups" >&2; return 1; }
        [ $lasted = 0 ] || return 0
        echo "bench: a chain of $beside events was indexed before the look-ups ended; twice as many" >&2
        rm -rf "${dir:?}/mixed$beside"
    done
    beside=0
}

# The same look-ups while a chain is indexed into the same server at full speed.
api_while_backfilling() {
    local i idle values=() calm=() rough=() beside=$events
    for ((i = 0; i < rounds; i++)); do
        load "$API_PID" 32 2 "$API_URL" worker_ns
        idle=$CPU_US
        calm+=("$P99_MS")
        api_load_beside
        [ $beside -gt 0 ] || { skip "CPU per look-up beside a backfill: no chain lasts as long as the look-ups"; return 0; }
        rough+=("$P99_MS")
        values+=("$(ratio "$CPU_US" "$idle")")
    done
    # shellcheck disable=SC2046
    set -- $(quartiles "${values[@]}") $(quartiles "${calm[@]}") $(quartiles "${rough[@]}")
    result "CPU per look-up while the indexer backfills / idle" "<=1.3" "$1" "$2" "p99 $3 ms idle, $5 ms beside the backfill of $beside events (2 cores for all)"
}

api_commit_to_visible() {
    local out p99
    out=$(TIDEMARK_DATABASE_URL=$(conn replica api) timeout 120 "$TIDE_BIN/feed_driver" latency "$dir/cache.latency" 300 2>"$dir/feed.log") ||
        { tail -n 3 "$dir/feed.log" >&2; return 1; }
    p99=$(sed -n 's/.*p99[ =]*\([0-9.]*\).*/\1/p' <<<"$out" | sed -n 1p)
    result "commit to visible in a look-up, p99 / 20 ms" "<=1" "$(ratio "$p99" 20)" 0 "$(paste -sd ';' <<<"$out")"
}

# CPU of the server's sessions in the peer's database.
peers_ns() {
    local pid
    for pid in $(pgrep -f '^postgres: .* peers '); do cpu_ns "$pid"; echo; done | awk '{ s += $1 } END { printf "%.0f", s }'
}

api_against_node() {
    local script=$shared/yardstick/baseline-api.mjs port i values=() whole=() ours theirs node before sessions
    [ -f "$script" ] || { skip "api: no $script"; return 0; }
    mkdir -p "$dir/node"
    cp "$script" "$dir/node/"
    (cd "$dir/node" && echo '{"private":true,"type":"module"}' >package.json &&
        npm install --silent --no-audit --no-fund @stellar/stellar-sdk pg >npm.log 2>&1) ||
        { skip "api: npm could not install @stellar/stellar-sdk and pg"; return 0; }
    "$(cluster_bin)/psql" -XAtq "$(conn replica postgres)" -c "DROP DATABASE IF EXISTS peers" -c "CREATE DATABASE peers" 2>/dev/null
    port=$(cluster_free_port)
    local url="postgres://postgres@/peers?host=$dir/replica"
    (cd "$dir/node" && node baseline-api.mjs --pg "$url" --fill 100000 --addresses "$dir/node/people" >fill.log 2>&1) ||
        { tail -n 3 "$dir/node/fill.log" >&2; return 1; }
    (cd "$dir/node" && exec taskset -c 0 node baseline-api.mjs --pg "$url" --port "$port" >serve.log 2>&1) &
    node=$!
    AWAIT_PID=$node AWAIT_LOG=$dir/node/serve.log await "the server of Node.js" answers "$port/health"
    for ((i = 0; i < rounds; i++)); do
        load "$API_PID" 32 2 "$API_URL"
        ours=$CPU_US
        mv "$dir/people" "$dir/people.ours" && cp "$dir/node/people" "$dir/people"
        before=$(peers_ns)
        load $node 32 2 "http://127.0.0.1:$port"
        sessions=$(awk -v a="$before" -v b="$(peers_ns)" -v n="$REQUESTS" 'BEGIN { printf "%.3f", (b - a) / n / 1000 }')
        mv "$dir/people.ours" "$dir/people"
        theirs=$CPU_US
        values+=("$(ratio "$ours" "$theirs")")
        whole+=("$(ratio "$ours" "$(awk -v a="$theirs" -v b="$sessions" 'BEGIN { print a + b }')")")
    done
    kill $node
    wait $node 2>/dev/null || true
    # shellcheck disable=SC2046
    set -- $(quartiles "${values[@]}")
    result "CPU per look-up / TypeScript API over PostgreSQL" "<=0.167" "$1" "$2" "us: ours $ours, node's process alone $theirs"
    # shellcheck disable=SC2046
    set -- $(quartiles "${whole[@]}")
    result "the same, with what its questions cost the database" - "$1" "$2" "us: $sessions in its sessions; ours asks the database nothing"
}

# A cache of a million addresses, in $dir/cache; $dir/cache.latency is one of the chain alone.
api_fill() {
    [ ! -f "$dir/people" ] || return 0
    cmake --build "$stack_root/build/release" --target tidemark-api feed_driver >/dev/null
    [ -d "$dir/replica" ] || cluster replica replica
    chain small mixed 20000
    fresh replica api
    index replica api small >/dev/null
    cp "$stack_root/tools/perf/lookups.lua" "$dir/wrk.lua"
    api_up --api-threads 1
    api_down
    cp -r "$dir/cache" "$dir/cache.latency"
    "$TIDE_BIN/tidemark-perf" lookups "$dir/cache" 1000000 "$dir/people" 2>"$dir/people.log"
}

# Microseconds of CPU that the openssl program needs for one Ed25519 signature, on the server's core.
signature_us() {
    taskset -c 0 openssl speed -seconds 1 ed25519 2>/dev/null | awk '/Ed25519/ { printf "%.3f", 1000000 / $(NF - 1) }'
}

# A look-up with a receipt and without one, by turns.
bench_receipts() {
    command -v wrk >/dev/null || { skip "receipts: wrk is not installed (tools/install-deps bench)"; return 0; }
    [ "$(nproc)" -ge 2 ] || { skip "receipts: two cores are needed"; return 0; }
    : >"$dir/errors"
    api_fill
    local i plain=() signed=() added=() limits=() one=() us
    (umask 077 && openssl genpkey -algorithm ed25519 -out "$dir/receipts.pem")
    api_up --api-threads 1 --api-receipt-keys "$dir/receipts.pem" --api-receipt-issuer bench
    api_warm
    for ((i = 0; i < 2 * rounds + 1; i++)); do
        load "$API_PID" 32 2 "$API_URL"
        plain+=("$CPU_US")
        QUERY='?receipt=1' load "$API_PID" 32 2 "$API_URL"
        signed+=("$CPU_US")
        us=$(signature_us)
        one+=("$us")
        limits+=("$(ratio "$CPU_US" 60)")
        added+=("$(awk -v a="${plain[-1]}" -v b="$CPU_US" -v one="$us" 'BEGIN { printf "%.4f", (b - a) / one }')")
    done
    api_down
    local told
    told="us: with a receipt $(quartiles "${signed[@]}" | cut -d' ' -f1), without $(quartiles "${plain[@]}" | cut -d' ' -f1), one signature $(quartiles "${one[@]}" | cut -d' ' -f1)"
    # shellcheck disable=SC2046
    set -- $(quartiles "${limits[@]}") $(quartiles "${added[@]}")
    result "CPU per compliance look-up with a receipt / 60 us" "<=1" "$1" "$2" "$told; ${#plain[@]} rounds"
    result "CPU that the receipt adds / one signature by openssl speed" "<=1.5" "$3" "$4" "the same rounds"
    api_errors
}

bench_api() {
    api_needs || return 0
    : >"$dir/errors"
    api_fill
    api_up --api-threads 1
    nginx_up
    floor_up
    api_against_nginx "<=1.40"
    kill "$FLOOR_PID" && wait "$FLOOR_PID"
    kill "$NGINX" && wait "$NGINX" || true
    api_sizes
    api_memory
    api_against_node
    api_while_backfilling
    api_down
    api_commit_to_visible
    api_errors
}
