# A real network for with-stack, the demo and bench: stellar-core and stellar-rpc from the archive of third-party programs.
# Sourced, not run, after lib/stack.sh.
#
#   network_find           sets network_stellar, the archive's folder, and network_chain, a recorded chain; exits with 69 and
#                          says what is missing. The archive is TIDE_STELLAR, else third-party/stellar in TIDE_SHARED or ../shared
#   network_start DIR      a network in DIR/net; sets network_rpc
#   network_deploy DIR N   the contracts, DIR/deployment.json, and the first N recorded calls; network_job is its program, if any
#   network_traffic DIR N  the other calls, a few at a time, then the same again; sets network_traffic_pid
#   network_stop DIR
# All print what they do. Logs: DIR/net.log, DIR/deploy.log, DIR/replay.log, DIR/traffic.log.

network_job=''
network_say() { echo "network: $*" >&2; }
network_fail() { network_say "$*"; exit 1; }
network_refuse() { network_say "$*"; exit 69; }

network_find() {
    local shared program
    network_stellar=${TIDE_STELLAR:-} network_chain=''
    for shared in "${TIDE_SHARED:-}" "$stack_root/../shared" "$stack_root/../../shared"; do
        [ -n "$shared" ] || continue
        [ -n "$network_stellar" ] || [ ! -x "$shared/third-party/stellar/standalone" ] || network_stellar=$(cd "$shared/third-party/stellar" && pwd)
        [ -n "$network_chain" ] || [ ! -d "$shared/fixtures/protocol/b" ] || network_chain=$(cd "$shared/fixtures/protocol/b" && pwd)
    done
    [ -x "$network_stellar/standalone" ] || network_refuse "no archive of stellar-core and stellar-rpc (set TIDE_STELLAR, or TIDE_SHARED to the folder of third-party/stellar)"
    [ -n "$network_chain" ] || network_refuse "no recorded chain fixtures/protocol/b (set TIDE_SHARED)"
    for program in node npm curl python3 zstd setsid; do command -v $program >/dev/null || network_refuse "needs $program here"; done
}

# Ten free ports in a row, from TIDE_NETWORK_PORT (12700) on.
network_port() {
    python3 - "${TIDE_NETWORK_PORT:-12700}" <<'P'
import os, socket, sys
def free(port):
    with socket.socket() as s:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            s.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
first = int(sys.argv[1])
blocks = list(range(first, first + 100, 10))
turn = os.getpid() % len(blocks) # two at once begin at different ones
for port in blocks[turn:] + blocks[:turn]:
    if all(free(port + i) for i in range(10)):
        print(port)
        sys.exit()
sys.exit("no ten free ports")
P
}

# npm's @stellar/stellar-sdk, where the tests install it too.
network_sdk() {
    network_modules=$TIDE_BIN/../sdk
    mkdir -p "$network_modules"
    cp "$stack_root"/tests/integration/sim/sdk/* "$network_modules/"
    (
        flock 9
        cd "$network_modules"
        cmp -s package-lock.json .installed && exit 0
        network_say "installing @stellar/stellar-sdk"
        npm ci --no-audit --no-fund --loglevel=error >npm.log 2>&1 || exit 1
        cp package-lock.json .installed
    ) 9>"$network_modules/.lock" || network_refuse "npm: $(tail -n 3 "$network_modules/npm.log")"
}

network_start() {
    local dir=$1 port
    network_sdk
    port=$(network_port) || network_refuse "$port"
    network_say "unpacking and starting stellar-core and stellar-rpc (ports $port to $((port + 9)))"
    mkdir -p "$dir/net/bin"
    tar --zstd -xf "$network_stellar/stellar-standalone.tar.zst" -C "$dir/net/bin"
    "$dir/net/bin/stellar-core" version >/dev/null 2>&1 || network_refuse "stellar-core does not run here: $("$dir/net/bin/stellar-core" version 2>&1 | sed -n 1p)"
    "$network_stellar/standalone" start "$dir/net" --port "$port" --no-galexie >"$dir/net.log" 2>&1 ||
        network_fail "it does not start: $(tail -n 2 "$dir/net.log")"
    network_rpc=http://127.0.0.1:$((port + 2))
    mkdir -p "$dir/net/scripts"
    cp "$network_stellar"/scripts/* "$dir/net/scripts/"
    ln -sfn "$(cd "$network_modules" && pwd)/node_modules" "$dir/net/node_modules"
    zstd -qdc "$network_chain/calls.jsonl.zst" >"$dir/net/calls.jsonl"
}
network_stop() { [ ! -d "$1/net" ] || "$network_stellar/standalone" stop "$1/net"; }

network_node() { # DIR SCRIPT [arg]…
    local dir=$1 script=$2
    shift 2
    . "$dir/net/env"
    RPC_URL=$network_rpc NETWORK_PASSPHRASE=$NETWORK_PASSPHRASE WASM_DIR=$network_stellar/wasm exec node "$dir/net/scripts/$script" "$@"
}
network_replay() { # DIR [option]…
    local dir=$1
    shift
    network_node "$dir" replay.mjs "$dir/net/calls.jsonl" "$network_chain/deployment.json" "$dir/net/replay" "$@"
}

network_deploy() {
    local dir=$1 calls=$2 turns=0
    network_say "deploying the contracts"
    (network_replay "$dir" --limit 0 >"$dir/deploy.log" 2>&1) & network_job=$!
    while kill -0 "$network_job" 2>/dev/null; do
        sleep 0.2
        [ $((++turns % 50)) != 0 ] || [ ! -s "$dir/deploy.log" ] || network_say "$(tail -n 1 "$dir/deploy.log")"
    done
    wait "$network_job" || network_fail "deploying: $(grep -m 1 Error "$dir/deploy.log")"
    (network_node "$dir" mkdep.mjs "$network_chain/deployment.json" "$(tr -dc 0-9 <"$dir/net/replay/setup.json")") >"$dir/deployment.json"
    network_job=''
    network_say "replaying the first $calls recorded calls"
    (network_replay "$dir" --limit "$calls" >"$dir/replay.log" 2>&1) & network_job=$!
    while kill -0 "$network_job" 2>/dev/null; do
        sleep 0.2
        [ $((++turns % 50)) != 0 ] || [ ! -s "$dir/replay.log" ] || network_say "$(tail -n 1 "$dir/replay.log" | cut -d ' ' -f 1-5)"
    done
    wait "$network_job" || network_fail "replaying: $(grep -m 1 Error "$dir/replay.log")"
    network_job=''
}

# In a process group of its own, so that a signal reaches node too.
network_traffic() {
    local dir=$1 from=$2
    set -m
    {
        while true; do
            (network_replay "$dir" --from "$from" --strict 0 --group 2 --window 6) || true
            sleep 5
        done
    } >"$dir/traffic.log" 2>&1 &
    network_traffic_pid=$!
    set +m
}
