# A real network for one test: stellar-core, stellar-rpc and galexie. Sourced, not run, in place of ../integration/_pg.sh.
#
#   . "$(dirname "$0")/_network.sh"
#   pg_start                                private PostgreSQL; networks are made in its folder and end with it
#   network_start NAME [option]…            a network in $PG_DIR/NAME, with the options of `standalone start`; ten free ports.
#                                           Sets NAME_port, NAME_rpc, NAME_core, NAME_lake, NAME_dir
#   network_stop NAME [PROGRAM]             stops all of it, or core, rpc or galexie; network_again NAME continues
#   network_upgrade NAME 28                 the network votes for a protocol
#   network_deploy NAME CHAIN               accounts and contracts for the recorded chain a or b; the deployment file is
#                                           $PG_DIR/NAME/CHAIN/deployment.json
#   network_replay NAME CHAIN [option]…     the chain's recorded calls on them, with the options of replay.mjs
#   network_node NAME CHAIN SCRIPT [arg]…   a script of the archive, or of this folder, with the keys of that deployment
#   network_env NAME                        exports RPC_URL, NETWORK_PASSPHRASE, NETWORK_DIR, NETWORK_SCRIPTS (where the scripts are), WASM_DIR,
#                                           TIDE_STELLAR and NETWORK_CHAINS
#   network_ledger NAME                     the newest ledger of its RPC server
#   network_reach NAME LEDGER [SECONDS]     waits until RPC has that ledger
#   network_follow DB NAME CHAIN [option]…  a database with the schema, and an indexer that follows NAME's RPC server into it (or
#                                           another source, if the options name one). Sets DB_pid; the log is $PG_DIR/DB.log
#   network_into DB [NAME CHAIN]            makes DB the database of what follows: psql, export, digest, tidemark-api
#   network_indexed DB LEDGER [SECONDS]     waits until its cursor is there
#   api_start [option]…                     tidemark-api over it (../integration/_api.sh): sets API_URL
#   say TEXT                                a line of progress with the time since the start
#
# The archive is TIDE_STELLAR, else third-party/stellar in TIDE_SHARED or ../shared. Exits with 77 (skipped) where it, its
# libraries or the recordings are absent. The archive is test input: its scripts run from a copy in the test's folder.
network_here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$network_here/../integration/_pg.sh"
. "$network_here/../integration/_api.sh"
. "$network_here/../integration/_sdk.sh"

say() { printf '%3d s  %s\n' "$SECONDS" "$*"; }
skip() { echo "skipped: $*"; exit 77; }

network_find() {
    local shared
    for shared in "${TIDE_SHARED:-}" "$TIDE_SOURCE_DIR/../shared" "$TIDE_SOURCE_DIR/../../shared"; do
        [ -z "$shared" ] || [ -n "${NETWORK_CHAINS:-}" ] || [ ! -d "$shared/fixtures/protocol" ] || NETWORK_CHAINS=$(cd "$shared/fixtures/protocol" && pwd)
        [ -z "$shared" ] || [ -n "${TIDE_STELLAR:-}" ] || [ ! -x "$shared/third-party/stellar/standalone" ] || TIDE_STELLAR=$(cd "$shared/third-party/stellar" && pwd)
    done
    [ -x "${TIDE_STELLAR:-}/standalone" ] || skip "no third-party/stellar (set TIDE_STELLAR)"
    [ -n "${NETWORK_CHAINS:-}" ] || skip "no fixtures/protocol (set TIDE_SHARED)"
    local program
    for program in curl python3 zstd flock setsid; do command -v $program >/dev/null || skip "no $program"; done
}
network_find
sdk_install

# Unpacking takes seconds and 200 MB: once per build. Prints the folder of the programs.
network_programs() {
    local archive=$TIDE_STELLAR/stellar-standalone.tar.zst made
    made=$TIDE_BUILD/stellar/$(stat -c %s "$archive")
    mkdir -p "$TIDE_BUILD/stellar"
    (
        flock 9
        [ ! -x "$made/stellar-core" ] || exit 0
        rm -rf "$made" "$made.new"
        mkdir "$made.new"
        tar --zstd -xf "$archive" -C "$made.new"
        mv "$made.new" "$made"
    ) 9>"$TIDE_BUILD/stellar/.lock"
    "$made/stellar-core" version >/dev/null 2>&1 || skip "stellar-core does not run here: $("$made/stellar-core" version 2>&1 | sed -n 1p)"
    echo "$made"
}

# Sets network_block to the first of ten free ports, from TIDE_NETWORK_PORT on. The block stays locked while this script
# or a program of its network runs, so that tests side by side take different ones.
network_ports() {
    local port first=${TIDE_NETWORK_PORT:-12800} try lock
    for try in $(seq 120); do
        for port in $(seq "$first" 10 $((first + 190))); do
            exec {lock}>"${TMPDIR:-/tmp}/tide-network.$port"
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

network_dirs=()
network_kill() { # at the end of the script, whatever its code
    local dir pid
    for dir in ${network_dirs[@]+"${network_dirs[@]}"}; do
        for pid in "$dir"/*.pid "$dir"/*/*.pid; do
            [ ! -s "$pid" ] || kill -KILL -- "-$(cat "$pid")" 2>/dev/null || true
        done
    done
}
PG_AT_EXIT=network_kill

network_start() {
    local name=$1 dir=$PG_DIR/$1 programs
    shift
    programs=$(network_programs) || { echo "$programs"; exit 77; }
    network_ports
    mkdir -p "$dir"
    ln -sfn "$programs" "$dir/bin"
    network_dirs+=("$dir")
    printf -v "${name}_dir" %s "$dir"
    printf -v "${name}_port" %s "$network_block"
    printf -v "${name}_core" 'http://127.0.0.1:%s' "$network_block"
    printf -v "${name}_rpc" 'http://127.0.0.1:%s' $((network_block + 2))
    printf -v "${name}_lake" %s "$dir/lake"
    network_again "$name" --port "$network_block" "$@"
    mkdir -p "$dir/scripts"
    cp "$TIDE_STELLAR"/scripts/* "$dir/scripts/"
    mv -f "$dir/scripts/lib.mjs" "$dir/scripts/archive.mjs"
    cp "$network_here"/*.mjs "$network_here"/sdk/*.mjs "$dir/scripts/"
    mv -f "$dir/scripts/_lib.mjs" "$dir/scripts/lib.mjs"
    ln -sfn "$SDK/node_modules" "$dir/node_modules"
}
network_again() {
    local name=$1
    shift
    "$TIDE_STELLAR/standalone" start "$PG_DIR/$name" "$@" >"$PG_DIR/$name/standalone.log" 2>&1 ||
        fail "the network $name: $(tail -n 3 "$PG_DIR/$name/standalone.log")"
}
network_stop() {
    local name=$1 pid file
    if [ -z "${2:-}" ]; then "$TIDE_STELLAR/standalone" stop "$PG_DIR/$name"; return; fi
    file=$PG_DIR/$name/$2.pid
    pid=$(cat "$file")
    kill "$pid"
    network_wait 60 "$2 of $name to end" network_gone "$pid"
    rm -f "$file"
}
network_gone() { ! kill -0 "$1" 2>/dev/null; }
network_upgrade() { "$TIDE_STELLAR/standalone" upgrade "$PG_DIR/$1" "$2" || fail "the network $1 does not upgrade to protocol $2"; }

network_wait() { # SECONDS THING CMD…
    local end=$((SECONDS + $1)) thing=$2
    shift 2
    until "$@"; do
        [ $SECONDS -lt $end ] || fail "waited too long for $thing"
        sleep 0.3
    done
}

network_call() { # NAME METHOD [PARAMS]: the answer as it is
    local url=${1}_rpc
    curl -sf -m 20 -H 'content-type: application/json' -d "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"$2\",\"params\":${3:-{\}}}" "${!url}"
}
network_ledger() { network_call "$1" getLatestLedger | sed -n 's/.*"sequence":\([0-9]*\).*/\1/p'; }
network_has() { [ "$(network_ledger "$1" || echo 0)" -ge "$2" ]; }
network_reach() { network_wait "${3:-120}" "ledger $2 of $1" network_has "$1" "$2"; }

network_node() {
    local name=$1 chain=$2 script=$3 dir=$PG_DIR/$1 url=${1}_rpc
    shift 3
    (
        cd "$dir"
        . ./env
        export RPC_URL=${!url} NETWORK_PASSPHRASE SEED=$chain WASM_DIR=$TIDE_STELLAR/wasm DEPLOYMENT=$dir/$chain/deployment.json
        exec nice node "scripts/$script" "$@"
    )
}

network_error() { grep -m 1 '^[A-Za-z]*Error' "$1" || tail -n 3 "$1"; } # LOG of network_node: the error itself, not the line of code before it

# network_env NAME: what a program of the test needs to use that network by itself
network_env() {
    local dir=${1}_dir
    set -a
    . "${!dir}/env"
    NETWORK_DIR=${!dir} NETWORK_SCRIPTS=${!dir}/scripts WASM_DIR=$TIDE_STELLAR/wasm
    export TIDE_STELLAR NETWORK_CHAINS
    set +a
}

# The recording's deployment file and calls, unpacked once.
network_chain() { # NAME CHAIN
    local dir=$PG_DIR/$1/$2
    mkdir -p "$dir"
    [ -s "$dir/calls.jsonl" ] || zstd -qdc "$NETWORK_CHAINS/$2/calls.jsonl.zst" >"$dir/calls.jsonl"
    echo "$dir"
}

# A network has one contract of native coins. The second deployment leaves it out.
network_deploy() {
    local name=$1 chain=$2 dir recorded=$PG_DIR/$1/recorded.json
    dir=$(network_chain "$name" "$chain")
    python3 - "$NETWORK_CHAINS/$chain/deployment.json" "$PG_DIR/$name/native" "$recorded" <<'P'
import json, pathlib, sys
recorded = json.loads(pathlib.Path(sys.argv[1]).read_text())
native = pathlib.Path(sys.argv[2])
if native.exists():
    del recorded["contracts"]["xlm"]
native.touch()
pathlib.Path(sys.argv[3]).write_text(json.dumps(recorded))
P
    network_node "$name" "$chain" replay.mjs "$dir/calls.jsonl" "$recorded" "$dir" --limit 0 >"$dir/deploy.log" 2>&1 ||
        fail "deploying $chain on $name: $(network_error "$dir/deploy.log")"
    network_node "$name" "$chain" mkdep.mjs "$NETWORK_CHAINS/$chain/deployment.json" "$(sed "s/[^0-9]//g" "$dir/setup.json")" >"$dir/deployment.json"
}
network_replay() {
    local name=$1 chain=$2 dir=$PG_DIR/$1/$2
    shift 2
    network_node "$name" "$chain" replay.mjs "$dir/calls.jsonl" "$NETWORK_CHAINS/$chain/deployment.json" "$dir" "$@" >"$dir/replay.log" 2>&1 ||
        fail "replaying $chain on $name: $(network_error "$dir/replay.log")"
}

network_into() {
    export PGDATABASE=$1 TIDEMARK_DATABASE_URL="host=$PG_DIR port=5432 user=postgres dbname=$1"
    [ -z "${3:-}" ] || export TIDEMARK_DEPLOYMENT=$PG_DIR/$2/$3/deployment.json
}
network_follow() {
    local db=$1 name=$2 chain=$3 url=${2}_rpc
    shift 3
    PGDATABASE=postgres "$PG_BIN/createdb" "$db"
    case " $* " in *' --lake '* | *' --stream '* | *' --rpc '*) ;; *) set -- --rpc "${!url}" "$@" ;; esac
    TIDEMARK_DATABASE_URL="host=$PG_DIR port=5432 user=postgres dbname=$db" TIDEMARK_DEPLOYMENT=$PG_DIR/$name/$chain/deployment.json \
        nice "$TIDE_BIN/tidemark-indexer" run "$@" >"$PG_DIR/$db.log" 2>&1 &
    printf -v "${db}_pid" %s $!
}
network_at() { [ "$("$PG_BIN/psql" -XAtqc 'SELECT coalesce(max(c.ledger), 0) FROM chain.cursor c' -d "$1" 2>/dev/null || echo 0)" -ge "$2" ]; }
network_indexed() {
    local pid=${1}_pid end=$((SECONDS + ${3:-120}))
    until network_at "$1" "$2"; do
        [ -z "${!pid:-}" ] || kill -0 "${!pid}" 2>/dev/null || network_at "$1" "$2" || fail "the indexer of $1 ended: $(tail -n 3 "$PG_DIR/$1.log")"
        [ $SECONDS -lt $end ] || fail "$1 does not reach ledger $2: $(tail -n 2 "$PG_DIR/$1.log")"
        sleep 0.3
    done
}

# network_settings NAME clusters=4 …: the network votes on Soroban's settings (those of sdk/settings.mjs)
network_settings() {
    local name=$1 core=${1}_core port=${1}_port dir=$PG_DIR/$1 sequence
    shift
    (
        cd "$dir"
        . ./env
        export RPC_URL NETWORK_PASSPHRASE TMPDIR=$dir
        node scripts/settings.mjs "$@" >vote
        sequence=$(node --input-type=module -e "import { account, root } from '$dir/scripts/lib.mjs'; console.log((await account(root.publicKey())).sequenceNumber())")
        scripts/settings-upgrade.sh "${!port}" vote "$sequence" "$dir/bin/stellar-core"
    ) >"$dir/settings.log" 2>&1 || fail "settings of $name: $(tail -n 2 "$dir/settings.log")"
    network_wait 60 "the vote on $*" network_voted "${!core}" "${1#clusters=}"
}
network_voted() { curl -sf "$1/sorobaninfo?format=detailed" | grep -E "\"ledgerMaxDependentTxClusters\": $2\b" >/dev/null; }

# network_stream NAME: a second node, which validates nothing, writes what it sees of NAME to $PG_DIR/NAME/second/meta.xdr, from the
# network's beginning on
network_stream() {
    local dir=$PG_DIR/$1/second from=$PG_DIR/$1/rpc/captive.cfg
    mkdir -p "$dir"
    network_ports
    {
        printf '%s\n' "BUCKET_DIR_PATH=\"$dir/buckets\"" "METADATA_OUTPUT_STREAM=\"$dir/meta.xdr\"" NODE_IS_VALIDATOR=false CATCHUP_COMPLETE=true \
            EMIT_LEDGER_CLOSE_META_EXT_V1=true EMIT_SOROBAN_TRANSACTION_META_EXT_V1=true EMIT_CLASSIC_EVENTS=true 'LOG_FILE_PATH=""'
        sed -e "s#^DATABASE=.*#DATABASE=\"sqlite3://$dir/core.db\"#; s/^HTTP_PORT=.*/HTTP_PORT=$network_block/; s/^PEER_PORT=.*/PEER_PORT=$((network_block + 1))/" "$from"
    } >"$dir/core.cfg"
    (cd "$dir" && ../bin/stellar-core new-db --conf core.cfg >new.log 2>&1) || fail "the second node: $(tail -n 3 "$dir/new.log")"
    (cd "$dir" && exec setsid bash -c 'echo $$ >second.pid; exec nice ../bin/stellar-core run --conf core.cfg >core.log 2>&1 </dev/null' &)
}
