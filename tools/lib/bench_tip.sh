# The section `tip` of tools/bench: sourced by it, uses its helpers and those of bench_api.sh.
#
# Ledgers are made before, because a full one takes longer to make than to close, and served by the clock. The measure is the time from the moment at which RPC
# serves a ledger to a look-up's answer from it, beside the lag in ledgers. All programs run on one machine, often beside other work, so each result says what
# CPU each process used, how much of the cores was used by others, and the load. --peer DIR measures another build's indexer and API by turns, on the same ledgers.

# Prints the number of ledgers before the measured ones. In these the calls grow up to TXS.
tip_stage() { echo $((24 + $1 / 10)); } # TXS
# Makes a chain of full ledgers: FILE.xdr.zst and FILE.json.
tip_chain() { # TXS LEDGERS: sets tip_file
    tip_file=${chains:-$dir}/tip-$1
    [ ! -f "$tip_file.xdr.zst" ] || return 0
    "$TIDE_BIN/tidemark-sim" write --stream - --deployment "$tip_file.json" --full --txs "$1" --ledgers "$2" --close-step 1 --seed 7 --quiet |
        zstd -q -1 >"$tip_file.tmp" && mv "$tip_file.tmp" "$tip_file.xdr.zst"
}

# Milliseconds (p50) of PostgreSQL for one such ledger's rows, encoded ahead and committed by the same writer's statements, without the indexer.
rows_alone() { # TXS LEDGERS
    local out warm
    warm=$(tip_stage "$1")
    "$TIDE_BIN/tidemark-sim" write --stream "$dir/alone.xdr" --deployment "$dir/alone.json" --full --txs "$1" --ledgers $((warm + $2)) --close-step 1 --seed 7 --quiet
    fresh replica ours
    fresh replica theirs
    out=$("$TIDE_BIN/tidemark-perf" latency "$dir/alone.xdr" "$dir/alone.json" "$(conn replica ours)" "$(conn replica theirs)" "$2" "$warm" 2>"$dir/latency.log") ||
        { tail -n 5 "$dir/latency.log" >&2; return 1; }
    rm -f "$dir/alone.xdr"
    echo "$(field "$out" peer_p50_ms) $(field "$out" rows)"
}

tip_follow() { # RPC DEPLOYMENT [option]…: the indexer and the API; sets tip_indexer
    TIDEMARK_DATABASE_URL=$(conn replica api) "$TIDE_BIN/tidemark-indexer" run --rpc "$1" --deployment "$2" --log-level warn "${@:3}" >"$dir/run.log" 2>&1 &
    tip_indexer=$!
    AWAIT_PID=$tip_indexer AWAIT_LOG=$dir/run.log await "the first ledger" eval '[ "$(sql "$(conn replica api)" "SELECT ledger > 0 FROM chain.cursor")" = t ]'
    rm -rf "${dir:?}/cache" # it is of another index, and may be another build's
    TIDEMARK_DEPLOYMENT=$2 api_up
}
tip_unfollow() {
    api_down
    kill "$tip_indexer" && wait "$tip_indexer" || true
}
# The results of one measurement. WHAT names it, MORE tells its rows.
tip_results() { # WHAT OUT MORE
    local text
    text() { sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p" <<<"$2"; }
    result "interval at which it holds / interval of ledgers, $1" "<=1" "$(ratio "$(field "$2" holds)" "$(field "$2" every)")" 0 \
        "$(text verdict "$2"); ledgers every $(field "$2" every) ms, it holds at $(field "$2" holds) ms; CPU of one ledger / ms: $(text cpu "$2"), on $(field "$2" cores) cores of which others used $(field "$2" others); $3"
    result "RPC serves a ledger to look-up, $1, p50 / 60 ms" "<=1" "$(ratio "$(field "$2" p50)" 60)" 0 "$(field "$2" p50) ms of $(field "$2" ledgers) ledgers, one every $(field "$2" every) ms"
    result "the same, p99 / 150 ms" "<=1" "$(ratio "$(field "$2" p99)" 150)" 0 "$(field "$2" p99) ms, most $(field "$2" most) ms"
    result "ledgers stored / ledgers closed" ">=0.99" "$(field "$2" rate)" 0 "$(field "$2" stored) in $(field "$2" seconds) s; behind by at most $(field "$2" behind), at the end $(field "$2" end)"
    result "requests to RPC for a ledger / 3" "<=1" "$(ratio "$(field "$2" questions)" 3)" 0 "$(field "$2" questions)"
    result "resident memory of the indexer, peak / MiB" - "$(field "$2" rss_peak)" 0 \
        "$(field "$2" busy) of $(field "$2" cores) cores used, $(field "$2" others) by others, load $(field "$2" load); $(field "$2" lookups) look-ups, p50 $(field "$2" lookup_p50) ms, p99 $(field "$2" lookup_p99) ms"
}
tip_measure() { # RPC COUNTED ADDRESS SECONDS [NAME=PIDS]…
    "$stack_root/tools/perf/tip.py" "$1" "$API_URL" "$3" "$4" "$2" indexer="$tip_indexer" api="$API_PID" postgres="$(head -n 1 "$dir/replica/data/postmaster.pid")" "${@:5}"
}

# What comes before full ledgers is indexed before they close: else a machine that is too slow for them never leaves the first load.
tip_stage_chain() { # TXS
    "$TIDE_BIN/tidemark-sim" write --stream "$dir/stage.xdr" --deployment "$dir/stage.json" --full --txs "$1" --ledgers "$(tip_stage "$1")" --close-step 1 --seed 7 --quiet
}
tip_index_stage() {
    TIDEMARK_DATABASE_URL=$(conn replica api) "$TIDE_BIN/tidemark-indexer" run --stream "$dir/stage.xdr" --deployment "$tip_file.json" --stop-at-end \
        --log-level warn >"$dir/run.log" 2>&1 || { tail -n 3 "$dir/run.log" >&2; return 1; }
}
# Serves the prepared ledgers behind the stage by the clock: sets server, tip_unpacks and tip_port.
tip_serve() { # TXS
    tip_port=$(cluster_free_port)
    rm -f "$dir/tip.port" "$dir/tip.fifo"
    mkfifo "$dir/tip.fifo"
    zstd -dcq "$tip_file.xdr.zst" >"$dir/tip.fifo" &
    tip_unpacks=$!
    "$TIDE_BIN/tidemark-sim" serve --recorded "$dir/tip.fifo" --ledgers "$(tip_stage "$1")" --close-ms 600 --retention 1024 \
        --listen "127.0.0.1:$tip_port" --port-file "$dir/tip.port" --quiet >"$dir/serve.log" 2>&1 &
    server=$!
    AWAIT_PID=$server AWAIT_LOG=$dir/serve.log await "the port of the network" test -s "$dir/tip.port"
}
tip_unserve() {
    kill "$server" "$tip_unpacks" 2>/dev/null || true
    wait "$server" "$tip_unpacks" 2>/dev/null || true
    server=''
}
# The indexer and the API of the build in BIN follow the prepared ledgers in a database of their own; the network is always this build's. Sets tip_out.
tip_once() { # BIN TXS
    sql "$(conn replica postgres)" "DROP DATABASE IF EXISTS api" 2>/dev/null # one of full ledgers has gigabytes
    TIDE_BIN=$1 fresh replica api
    TIDE_BIN=$1 tip_index_stage || return 1
    tip_serve "$2"
    local urls=http://127.0.0.1:$tip_port
    [ "$servers" = 1 ] || urls+=,http://localhost:$tip_port
    TIDE_BIN=$1 tip_follow "$urls" "$tip_file.json" || return 1
    tip_out=$(tip_measure "http://127.0.0.1:$tip_port" "http://127.0.0.1:$tip_port/stats" "$(swap_contract "$tip_file.json")" "$tip_seconds" simulator="$server,$tip_unpacks") || return 1
    tip_unfollow
    tip_unserve
}

# Microseconds of CPU of one call, of a ledger's milliseconds KEY.
tip_us() { awk -v ms="$(field "$1" "$2")" -v calls="$3" 'BEGIN { printf "%.0f", ms * 1000 / calls }'; } # OUT KEY TXS
# The ratios to another build's figures, the median of rounds. In each both are measured one after the other; who is first changes.
tip_against_peer() { # TXS WHAT
    local i key ours theirs
    local -A ratios=() told=()
    for ((i = 0; i < rounds; i++)); do
        [ $((i % 2)) = 0 ] || { tip_once "$TIDE_BIN" "$1" && ours=$tip_out; } || return 1
        tip_once "$peer" "$1" && theirs=$tip_out || return 1
        [ $((i % 2)) = 1 ] || { tip_once "$TIDE_BIN" "$1" && ours=$tip_out; } || return 1
        for key in used p50 p99; do ratios[$key]+="$(ratio "$(field "$ours" $key)" "$(field "$theirs" $key)") "; done
        for key in used used_indexer used_api used_postgres; do told[$key]+=" $(tip_us "$theirs" $key "$1")/$(tip_us "$ours" $key "$1")"; done
        for key in p50 p99 rate others; do told[$key]+=" $(field "$theirs" $key)/$(field "$ours" $key)"; done
    done
    tip_peer_result used "CPU of a call, PostgreSQL's included / another build, $2" \
        "us, theirs/ours:${told[used]}; indexer${told[used_indexer]}, API${told[used_api]}, PostgreSQL${told[used_postgres]}; cores used by others${told[others]} (simulated chain)"
    tip_peer_result p50 "RPC serves a ledger to look-up, p50 / another build, $2" "ms, theirs/ours:${told[p50]}"
    tip_peer_result p99 "the same, p99" "ms, theirs/ours:${told[p99]}; ledgers stored / closed${told[rate]}"
}
tip_peer_result() { # KEY NAME DETAIL
    # shellcheck disable=SC2046,SC2086
    set -- "$2" "$3" $(quartiles ${ratios[$1]})
    result "$1" "<=1" "$3" "$4" "$2"
}

tip_full() { # TXS
    local alone what="$1 calls$([ "$servers" = 1 ] || echo ', 2 servers')"
    tip_chain "$1" $(($(tip_stage "$1") + tip_seconds * 10 / 6 + 200)) || return 1
    tip_stage_chain "$1" || return 1
    if [ -n "$peer" ]; then tip_against_peer "$1" "$what"; else tip_once "$TIDE_BIN" "$1"; fi || return 1
    rm -f "$dir/stage.xdr"
    [ -z "$peer" ] || return 0
    alone=$(rows_alone "$1" 20) || return 1
    tip_results "$what" "$tip_out" "PostgreSQL alone takes ${alone% *} ms for the ${alone#* } rows of one (20 ledgers, encoded ahead, the same statements; simulated chain, all on one machine)"
}

# The real network, where the archive is: stellar-core, stellar-rpc, the contracts and recorded calls; ledgers close every second. Or one that runs already.
tip_network() {
    local out url=$rpc
    if [ -z "$url" ]; then
        network_root=$dir
        network_find
        network_start net --no-galexie
        network_deploy net b
        network_traffic net b 0
        url=$net_rpc metrics=${net_rpc%:*}:$((net_port + 3))/metrics deployment=$net_dir/b/deployment.json
    fi
    fresh replica api
    tip_follow "$url" "$deployment" || return 1
    out=$(tip_measure "$url" "$metrics" "$(swap_contract "$deployment")" "$tip_seconds") || return 1
    tip_unfollow
    tip_results "real network" "$out" "stellar-core and stellar-rpc on the same machine, and the traffic that is sent to them"
}

bench_tip() {
    local txs
    [ -d "$dir/replica" ] || cluster replica replica
    [ -z "$peer" ] || [ -x "$peer/tidemark-api" ] || fail "$peer has no tidemark-api"
    [ -z "$peer" ] || [ $network = 0 ] || fail "tip --peer: a real network does not close the same ledgers twice"
    if [ $network = 1 ]; then tip_network; return; fi
    for txs in ${tip_txs//,/ }; do tip_full "$txs" || return 1; done
}
