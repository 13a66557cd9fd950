# A real network for one test: stellar-core, stellar-rpc and galexie. Sourced, not run, in place of ../integration/_pg.sh.
#
#   . "$(dirname "$0")/_network.sh"
#   pg_start                                private PostgreSQL; networks are made in its folder and end with it
#   network_start NAME [option]…            and all of ../../tools/lib/network.sh, where networks are in $PG_DIR; the scripts of this
#                                           folder are beside the archive's
#   network_env NAME                        exports RPC_URL, NETWORK_PASSPHRASE, NETWORK_DIR, NETWORK_SCRIPTS (where the scripts are), WASM_DIR,
#                                           TIDE_STELLAR and NETWORK_CHAINS
#   network_reach NAME LEDGER [SECONDS]     waits until RPC has that ledger
#   network_published NAME LEDGER           waits until the archive has that checkpoint, some time after its last ledger
#   network_in_lake NAME LEDGER             whether the lake has the ledgers up to that one
#   network_upgrade NAME 28                 the network votes for a protocol
#   network_settings NAME clusters=4 …      the network votes on Soroban's settings (those of sdk/settings.mjs)
#   network_stream NAME                     a second node, which validates nothing, writes what it sees of NAME to
#                                           $PG_DIR/NAME/second/meta.xdr, from the network's beginning on
#   network_follow DB NAME CHAIN [option]…  a database with the schema, and an indexer that follows NAME's RPC server into it (or
#                                           another source, if the options name one). Sets DB_pid; the log is $PG_DIR/DB.log
#   network_into DB [NAME CHAIN]            makes DB the database of what follows: psql, export, digest, tidemark-api
#   network_indexed DB LEDGER [SECONDS]     waits until its cursor is there
#   network_live NAME CALLS                 a network on which entries expire: that many calls of chain a, an upgrade from protocol 27 to
#                                           28 in the middle, extra traffic, evictions, whose newest keys are in $PG_DIR/NAME/archived;
#                                           an index `rpc` follows. network_restore NAME brings those entries back
#   api_start [option]…                     tidemark-api over it (../integration/_api.sh): sets API_URL
#   say TEXT                                a line of progress with the time since the start
#
# Exits with 77 (skipped) where the archive, its libraries, the recordings or npm are absent.
network_here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$network_here/../integration/_pg.sh"
. "$network_here/../integration/_api.sh"
. "$network_here/../../tools/lib/network.sh"

say() { printf '%3d s  %s\n' "$SECONDS" "$*"; }
skip() { echo "skipped: $*"; exit 77; }

export TIDE_NETWORK_PORT=${TIDE_NETWORK_PORT:-12800}
declare -n network_root=PG_DIR # which pg_start sets
network_scripts=("$network_here"/*.mjs "$network_here"/sdk/*.mjs)
PG_AT_EXIT=network_kill
network_find

network_upgrade() { "$TIDE_STELLAR/standalone" upgrade "$PG_DIR/$1" "$2" || fail "the network $1 does not upgrade to protocol $2"; }
network_has() { [ "$(network_ledger "$1" || echo 0)" -ge "$2" ]; }
network_reach() { network_wait "${3:-120}" "ledger $2 of $1" network_has "$1" "$2"; }
network_archive_has() { [ "$(sed -n 's/.*"currentLedger": *\([0-9]*\).*/\1/p' "$PG_DIR/$1/history/.well-known/stellar-history.json" 2>/dev/null || echo 0)" -ge "$2" ]; }
network_published() { network_wait 120 "checkpoint $2 in the archive of $1" network_archive_has "$1" "$2"; }
network_in_lake() {
    local lake=${1}_lake
    [ "$(ls -1 "${!lake}"/*/* | wc -l)" -ge $(($2 - 1)) ]
}

# network_env NAME: what a program of the test needs to use that network by itself
network_env() {
    local dir=${1}_dir
    set -a
    . "${!dir}/env"
    NETWORK_DIR=${!dir} NETWORK_SCRIPTS=${!dir}/scripts WASM_DIR=$TIDE_STELLAR/wasm
    export TIDE_STELLAR NETWORK_CHAINS
    set +a
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
    local pid=${1}_pid
    TIDE_WAIT_S=${3:-120} AWAIT_PID=${!pid:-} AWAIT_LOG=$PG_DIR/$1.log await "ledger $2 in $1" network_at "$1" "$2"
}

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

network_live() {
    local name=$1 calls=$2 first=$(($2 / 2)) dir=$PG_DIR/$1
    say "a network of protocol 27, with a second node"
    network_start "$name" --protocol 27 --min-ttl 64
    network_stream "$name"
    network_deploy "$name" a
    network_follow rpc "$name" a
    say "$first calls, an upgrade to protocol 28, and $((calls - first)) more"
    network_replay "$name" a --limit "$first" --strict 60 --group 8 --window 96
    network_upgrade "$name" 28
    network_replay "$name" a --from "$first" --limit $((calls - first)) --strict 60 --group 8 --window 96
    network_node "$name" a extras.mjs "$dir/a" >"$dir/extras.log" 2>&1 || fail "extras: $(network_error "$dir/extras.log")"
    say "entries are evicted"
    network_wait 240 "evictions" network_archived "$name"
}
network_archived() { "$network_here/_seen.py" "$PG_DIR/$1/second/meta.xdr" archived | tail -n 5 >"$PG_DIR/$1/archived" && [ -s "$PG_DIR/$1/archived" ]; }
network_restore() {
    local dir=$PG_DIR/$1
    network_node "$1" a restore.mjs <"$dir/archived" >"$dir/restored.log" 2>&1 || fail "$(network_error "$dir/restored.log")"
}
