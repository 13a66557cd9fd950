# A real network: stellar-core, stellar-rpc and galexie of the archive of third-party programs. Sourced, not run, by with-stack, bench
# and by tests/network. The caller has set network_root, a folder for networks, and defines two functions that end its program:
# fail TEXT, and skip TEXT where something is absent here.
#
#   network_archive                         the archive: sets TIDE_STELLAR
#   network_find                            the archive and the recorded chains: sets NETWORK_CHAINS too
#   network_unpack                          the archive's programs, once per build: sets network_bin, their folder
#   network_start NAME [option]…            a network in $network_root/NAME, with the options of `standalone start`; ten free ports.
#                                           Sets NAME_port, NAME_rpc, NAME_core, NAME_lake, NAME_dir
#   network_stop NAME [PROGRAM]             stops all of it, or core, rpc or galexie; network_again NAME continues
#   network_kill                            ends all networks at once
#   network_deploy NAME CHAIN               accounts and contracts for the recorded chain a or b; the deployment file is
#                                           $network_root/NAME/CHAIN/deployment.json
#   network_replay NAME CHAIN [option]…     the chain's recorded calls on them, with the options of replay.mjs
#   network_open NAME FROM TO               chain b's calls FROM to TO, its beginning: one by one where they depend on each other
#   network_traffic NAME CHAIN FROM         the calls from FROM on, a few at a time, then the same again; sets
#                                           network_traffic_pid, a process group
#   network_node NAME CHAIN SCRIPT [arg]…   a script of the archive, or of network_scripts, with the keys of that deployment
#   network_call NAME METHOD [PARAMS]       an answer of its RPC server; network_ledger NAME: the newest ledger
#
# The archive is TIDE_STELLAR, else third-party/stellar in TIDE_SHARED or ../shared; the recordings are fixtures/protocol there.
# The archive is input: its scripts run from a copy in the network's folder. The first port is TIDE_NETWORK_PORT (12500).
# network_job is the program that deploying or replaying waits for, if any. network_progress TEXT gets a line now and then.
network_job='' network_dirs=() network_scripts=()
. "$(dirname "${BASH_SOURCE[0]}")/wait.sh"
network_source=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
network_progress() { :; }

network_shared=("${TIDE_SHARED:-}" "$network_source/../shared" "$network_source/../../shared")
network_needs() { # PROGRAM…
    local program
    for program in "$@"; do command -v "$program" >/dev/null || skip "no $program"; done
}
network_archive() {
    local shared
    for shared in "${network_shared[@]}"; do
        [ -z "$shared" ] || [ -n "${TIDE_STELLAR:-}" ] || [ ! -x "$shared/third-party/stellar/standalone" ] || TIDE_STELLAR=$(cd "$shared/third-party/stellar" && pwd)
    done
    [ -x "${TIDE_STELLAR:-}/standalone" ] ||
        skip "no archive of stellar-core and stellar-rpc (set TIDE_STELLAR, or TIDE_SHARED to the folder of third-party/stellar)"
    network_build=$(realpath -m "${TIDE_BIN:-$network_source/build/release/bin}/..") # with-stack builds there, later
    network_needs curl python3 zstd flock setsid
}
network_find() {
    local shared
    network_archive
    for shared in "${network_shared[@]}"; do
        [ -z "$shared" ] || [ -n "${NETWORK_CHAINS:-}" ] || [ ! -d "$shared/fixtures/protocol" ] || NETWORK_CHAINS=$(cd "$shared/fixtures/protocol" && pwd)
    done
    [ -n "${NETWORK_CHAINS:-}" ] || skip "no recorded chains, fixtures/protocol (set TIDE_SHARED)"
    network_needs node npm
}

# Sets network_modules, the folder of npm's @stellar/stellar-sdk: the tests' own.
network_sdk() {
    local said
    said=$(export TIDE_BUILD=$network_build TIDE_SOURCE_DIR=$network_source && . "$network_source/tests/integration/_sdk.sh" && sdk_install && echo "$SDK") ||
        skip "$(tail -n 1 <<<"$said")"
    network_modules=$said/node_modules
}

# Unpacking takes seconds and 200 MB.
network_unpack() {
    local archive=$TIDE_STELLAR/stellar-standalone.tar.zst made
    made=$network_build/stellar/$(stat -Lc %s "$archive")
    mkdir -p "$network_build/stellar"
    (
        flock 9
        [ ! -x "$made/stellar-core" ] || exit 0
        rm -rf "$made" "$made.new"
        mkdir "$made.new"
        tar --zstd -xf "$archive" -C "$made.new"
        mv "$made.new" "$made"
    ) 9>"$network_build/stellar/.lock" || fail "unpacking $archive"
    network_bin=$made
    "$made/stellar-core" version >/dev/null 2>&1 || skip "stellar-core does not run here: $("$made/stellar-core" version 2>&1 | sed -n 1p)"
}

# Sets network_block to the first of ten free ports. The block stays locked while this script or a program of its network runs,
# so that scripts side by side take different ones.
network_ports() {
    local port first=${TIDE_NETWORK_PORT:-12500} try lock
    for try in $(seq 120); do
        for port in $(seq "$first" 10 $((first + 190))); do
            exec {lock}>"$network_build/stellar/port.$port"
            if flock -n "$lock" && network_ports_free "$port"; then network_block=$port; return 0; fi
            exec {lock}>&-
        done
        sleep 1
    done
    fail "no ten free ports from $first on"
}
network_ports_free() { # FIRST
    python3 - "$1" <<'P'
import socket, sys
first = int(sys.argv[1])
for port in range(first, first + 10):
    with socket.socket() as s:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            s.bind(("127.0.0.1", port))
        except OSError:
            sys.exit(1)
P
}

network_start() {
    local name=$1 dir=$network_root/$1
    shift
    network_sdk
    network_unpack
    network_ports
    mkdir -p "$dir/scripts"
    ln -sfn "$network_bin" "$dir/bin"
    network_dirs+=("$dir")
    printf -v "${name}_dir" %s "$dir"
    printf -v "${name}_port" %s "$network_block"
    printf -v "${name}_core" 'http://127.0.0.1:%s' "$network_block"
    printf -v "${name}_rpc" 'http://127.0.0.1:%s' $((network_block + 2))
    printf -v "${name}_lake" %s "$dir/lake"
    network_again "$name" --port "$network_block" "$@"
    cp "$TIDE_STELLAR"/scripts/* ${network_scripts[@]+"${network_scripts[@]}"} "$dir/scripts/"
    # The archive's library, with a simulation that is asked again while the server has passing trouble.
    mv -f "$dir/scripts/lib.mjs" "$dir/scripts/archive.mjs"
    cp "$network_source/tests/network/_lib.mjs" "$dir/scripts/lib.mjs"
    ln -sfn "$network_modules" "$dir/node_modules"
}
# Starts the network, and once more if the script gave up on RPC after its five minutes. RPC is healthy only behind the first checkpoint: 64 ledgers of 5 s take longer.
network_again() {
    local name=$1 log=$network_root/$1/standalone.log
    shift
    "$TIDE_STELLAR/standalone" start "$network_root/$name" "$@" >"$log" 2>&1 && return
    grep -q 'waited too long for stellar-rpc' "$log" && "$TIDE_STELLAR/standalone" start "$network_root/$name" >"$log" 2>&1 && return
    fail "the network $name: $(tail -n 3 "$log")"
}
network_stop() {
    local name=$1 pid file
    if [ -z "${2:-}" ]; then "$TIDE_STELLAR/standalone" stop "$network_root/$name"; return; fi
    file=$network_root/$name/$2.pid
    pid=$(cat "$file")
    kill "$pid"
    network_wait 60 "$2 of $name to end" network_gone "$pid"
    rm -f "$file"
}
network_gone() { ! kill -0 "$1" 2>/dev/null; }
network_kill() {
    local dir pid
    for dir in ${network_dirs[@]+"${network_dirs[@]}"}; do
        for pid in "$dir"/*.pid "$dir"/*/*.pid; do
            [ ! -s "$pid" ] || kill -KILL -- "-$(cat "$pid")" 2>/dev/null || true
        done
    done
}

network_wait() { # SECONDS THING CMD…
    within "$1" "${@:3}" || fail "waited too long for $2"
}

network_call() { # NAME METHOD [PARAMS]: the answer as it is
    local url=${1}_rpc
    curl -sf -m 20 -H 'content-type: application/json' -d "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"$2\",\"params\":${3:-{\}}}" "${!url}"
}
network_ledger() { network_call "$1" getLatestLedger | sed -n 's/.*"sequence":\([0-9]*\).*/\1/p'; }

network_exec() { # NAME CHAIN SCRIPT [arg]…: becomes node
    local name=$1 chain=$2 script=$3 dir=$network_root/$1 url=${1}_rpc
    shift 3
    cd "$dir"
    . ./env
    export RPC_URL=${!url} NETWORK_PASSPHRASE SEED=$chain WASM_DIR=$TIDE_STELLAR/wasm DEPLOYMENT=$dir/$chain/deployment.json
    exec nice node "scripts/$script" "$@"
}
network_node() { (network_exec "$@"); }
network_error() { grep -m 1 '^[A-Za-z]*Error' "$1" || tail -n 3 "$1"; } # LOG of a script: the error itself, not the line of code before it
# In the background, so that a signal ends the caller at once.
network_run() { # WHAT LOG NAME CHAIN SCRIPT [arg]…
    local what=$1 log=$2 turns=0
    shift 2
    (network_exec "$@") >"$log" 2>&1 &
    network_job=$!
    while kill -0 "$network_job" 2>/dev/null; do # until the script ends, which waits for each transaction with a limit
        sleep 0.2
        [ $((++turns % 50)) != 0 ] || [ ! -s "$log" ] || network_progress "$(tail -n 1 "$log" | cut -d ' ' -f 1-5)"
    done
    wait "$network_job" || fail "$what on $1: $(network_error "$log")"
    network_job=''
}

# The recording's calls, unpacked once.
network_chain() { # NAME CHAIN
    local dir=$network_root/$1/$2
    mkdir -p "$dir"
    [ -s "$dir/calls.jsonl" ] || zstd -qdc "$NETWORK_CHAINS/$2/calls.jsonl.zst" >"$dir/calls.jsonl"
    echo "$dir"
}

# Deploys the contracts of a chain. A network has one contract of XLM, so only its first deployment deploys that.
network_deploy() {
    local name=$1 chain=$2 dir recorded=$network_root/$1/recorded.json
    dir=$(network_chain "$name" "$chain")
    python3 - "$NETWORK_CHAINS/$chain/deployment.json" "$network_root/$name/native" "$recorded" <<'P'
import json, pathlib, sys
recorded = json.loads(pathlib.Path(sys.argv[1]).read_text())
native = pathlib.Path(sys.argv[2])
if native.exists():
    del recorded["contracts"]["xlm"]
native.touch()
pathlib.Path(sys.argv[3]).write_text(json.dumps(recorded))
P
    network_run "deploying" "$dir/deploy.log" "$name" "$chain" replay.mjs "$dir/calls.jsonl" "$recorded" "$dir" --limit 0
    network_node "$name" "$chain" mkdep.mjs "$NETWORK_CHAINS/$chain/deployment.json" "$(sed "s/[^0-9]//g" "$dir/setup.json")" >"$dir/deployment.json"
}
network_replay() {
    local name=$1 chain=$2 dir=$network_root/$1/$2
    shift 2
    network_run "replaying" "$dir/replay.log" "$name" "$chain" replay.mjs "$dir/calls.jsonl" "$NETWORK_CHAINS/$chain/deployment.json" "$dir" "$@"
}

# A ledger for each call takes a second. Calls of one account stay in their order. Side by side with those of other accounts:
# mints and initialisations (to 62), attestations (83 to 105), liquidity and vaults (to 137). After 163 nothing depends on one call.
network_open() {
    local name=$1 from=$2 to=$3 at
    for at in 62 83 105 137 163; do
        [ "$from" -lt "$at" ] && [ "$from" -lt "$to" ] || continue
        [ "$at" -lt "$to" ] || at=$to
        case $at in 62 | 105 | 137) set -- --strict 0 --window 64 ;; *) set -- --strict 163 ;; esac
        network_replay "$name" b --from "$from" --limit $((at - from)) "$@"
        from=$at
    done
    [ "$from" -ge "$to" ] || network_replay "$name" b --from "$from" --limit $((to - from)) --strict 0
}

# In a process group of its own, so that a signal reaches node too.
network_traffic() {
    local name=$1 chain=$2 from=$3 dir=$network_root/$1/$2
    set -m
    {
        while true; do # until its caller ends it
            network_node "$name" "$chain" replay.mjs "$dir/calls.jsonl" "$NETWORK_CHAINS/$chain/deployment.json" "$dir" --from "$from" --strict 0 --group 2 --window 6 || true
            sleep 5
        done
    } >"$dir/traffic.log" 2>&1 &
    network_traffic_pid=$!
    set +m
}
