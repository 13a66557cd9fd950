# Functions that the demo and with-stack share: sourced, not run, after `set -euo pipefail`.
#
#   stack_bin              sets TIDE_BIN to the folder of the programs; builds them, and the dashboard, if they are missing
#   stack_database DIR     a cluster in DIR/db with the database tidemark; exports TIDEMARK_DATABASE_URL
#   stack_network DIR …    a simulated network with these options; sets stack_network_pid
#   stack_rpc_url DIR      its address, once it listens; fails until then
#   stack_follow DIR RPC DEPLOYMENT …   an indexer that follows that network; sets stack_follow_pid
#   stack_kyc DIR [ORIGIN]…  identity checks for stack_api: DIR/kyc.json, with the sandbox provider,
#                          open to all, webhooks to any address, and the integrator "harbour" with these origins and its own;
#                          sets stack_kyc_key, the integrator's
#   stack_api DIR …        tidemark-api over that database with these options; sets stack_api_pid
#   stack_api_url DIR      its address, once it is ready; fails until then
#   stack_attester DIR RPC DEPLOYMENT NAME [SEED]   tidemark-attester with the key of that account of a
#                          simulated network, one of its verifiers; sets stack_attester_pid
#   stack_console DIR DEPLOYMENT   tidemark-console, and a proxy before it that asks for certificates; DIR/console has those of
#                          its people and stays as it is if it is there. Sets stack_console_pids, and stack_console_why if it
#                          cannot be: without Node.js or openssl
#   stack_console_url DIR  sets stack_console_address, once it answers; fails until then
#   stack_company RPC [SEED]   a visitor is expected: for the next hundred ledgers the population of a simulated
#                          network removes no verifier, and those that it had removed are back
# TIDE_BIN set from outside is used as it is, and nothing is built (tests of other builds).

stack_root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
. "$stack_root/tools/lib/cluster.sh"
. "$stack_root/tools/lib/wait.sh"

# Builds the release quietly; two at once wait for each other.
stack_bin() {
    [ -z "${TIDE_BIN:-}" ] || { export TIDE_BIN; return 0; }
    local build=$stack_root/build/release log
    mkdir -p "$build"
    log=$build/tools.log
    (
        flock 9
        cd "$stack_root"
        # Without it everything else works, and / says how to build it. The demo shows it, or fails before.
        tools/dashboard || true
        { [ -f "$build/build.ninja" ] || cmake --preset release; } >"$log" 2>&1 &&
            cmake --build --preset release --target tidemark-indexer tidemark-api tidemark-attester tidemark-console tidemark-sim >>"$log" 2>&1
    ) 9>"$build/.lock" || { echo "the build failed; $log ends with" >&2; tail -n 25 "$log" >&2; return 1; }
    export TIDE_BIN=$build/bin
}

# -F (no fsync) if the data does not outlive the command.
stack_database() {
    local dir=$1/db
    shift
    if [ ! -d "$dir/data" ]; then
        cluster_init "$dir"
        cluster_free_port >"$dir/port"
    fi
    if ! cluster_up "$dir" "$@"; then
        cluster_free_port >"$dir/port" # another process may have taken it meanwhile
        cluster_up "$dir" "$@"
    fi
    stack_socket="host=$dir port=$(cat "$dir/port") user=postgres dbname=tidemark"
    local psql
    psql=$(cluster_bin)/psql
    if [ "$("$psql" -XAtq "${stack_socket/dbname=tidemark/dbname=postgres}" -c \
        "SELECT count(*) FROM pg_database WHERE datname = 'tidemark'")" = 0 ]; then
        "$psql" -Xq "${stack_socket/dbname=tidemark/dbname=postgres}" -c "CREATE DATABASE tidemark"
    fi
    export TIDEMARK_DATABASE_URL
    TIDEMARK_DATABASE_URL="postgresql://postgres:$(cat "$dir/password")@127.0.0.1:$(cat "$dir/port")/tidemark"
}

# Its lake is DIR/lake, its log DIR/sim.log. In a process group of its own, so that Ctrl-C reaches
# the script alone, which ends things in order.
stack_network() {
    local dir=$1
    shift
    rm -rf -- "$dir/lake" "$dir/deployment.json" "$dir/rpc.port"
    set -m
    "$TIDE_BIN/tidemark-sim" serve --listen 127.0.0.1:0 --port-file "$dir/rpc.port" --lake "$dir/lake" \
        --deployment "$dir/deployment.json" "$@" >"$dir/sim.log" 2>&1 &
    stack_network_pid=$!
    set +m
}
stack_rpc_url() { [ -s "$1/rpc.port" ] && echo "http://127.0.0.1:$(cat "$1/rpc.port")"; }

# stack_index LAKE DEPLOYMENT LOG [option]…: indexes the lake to its end.
stack_index() {
    local lake=$1 deployment=$2 log=$3
    shift 3
    TIDEMARK_DATABASE_URL=$stack_socket "$TIDE_BIN/tidemark-indexer" run --lake "$lake" \
        --deployment "$deployment" --stop-at-end "$@" >"$log" 2>&1 ||
        { local code=$?; echo "tidemark-indexer ended with $code:" >&2; tail -n 10 "$log" >&2; return $code; }
}

# Its log is DIR/indexer.log.
stack_follow() {
    local dir=$1 rpc=$2 deployment=$3
    shift 3
    set -m
    TIDEMARK_DATABASE_URL=$stack_socket "$TIDE_BIN/tidemark-indexer" run --rpc "$rpc" \
        --deployment "$deployment" "$@" >"$dir/indexer.log" 2>&1 &
    stack_follow_pid=$!
    set +m
}

stack_secret() { head -c 32 /dev/urandom | od -An -v -tx1 | tr -d ' \n'; }

# The file contains its address, so its port is chosen here. The seed signs challenges.
stack_kyc() {
    local dir=$1 origins='' origin
    shift
    stack_kyc_port=$(cluster_free_port) stack_intent_key=$(stack_secret)
    for origin in "http://127.0.0.1:$stack_kyc_port" "$@"; do origins+="${origins:+,}$origin"; done
    (
        umask 077
        cat >"$dir/kyc.json" <<END
{ "publicUrl": "http://127.0.0.1:$stack_kyc_port", "open": true,
  "challengeSeed": "$("$TIDE_BIN/tidemark-sim" keys --name challenge 2>/dev/null | awk '{ print $3 }')",
  "referenceKey": "$(stack_secret)", "metadataKey": "$(stack_secret)", "tokenKey": "$(stack_secret)",
  "intentKey": "$stack_intent_key", "webhookKey": "$(stack_secret)", "webhookLocal": true,
  "providers": [ { "key": "sandbox", "type": "sandbox", "name": "Sandbox",
                   "webhookSecrets": [{ "secret": "$(stack_secret)", "notAfter": null }] } ] }
END
    )
    local TIDEMARK_DATABASE_URL=${stack_socket:-${TIDEMARK_DATABASE_URL:-}}
    export TIDEMARK_DATABASE_URL
    "$TIDE_BIN/tidemark-indexer" integrator put harbour Harbour --origins "$origins" --sessions-per-hour 10000 \
        --brand "{ \"color\": \"#1b4f8f\", \"colorDark\": \"#9cc5f5\", \"logo\": \"http://127.0.0.1:$stack_kyc_port/app/icon.svg\" }"
    stack_kyc_key=$("$TIDE_BIN/tidemark-indexer" key add harbour --scopes kyc,snapshot,webhooks)
}

# Logs in as the role that only reads, and as the role of identity checks for those. Its cache is
# DIR/cache, its log DIR/api.log.
stack_api() {
    local dir=$1
    shift
    rm -rf -- "$dir/cache" "$dir/api.port"
    if command -v openssl >/dev/null; then # it signs receipts and snapshots
        (umask 077 && openssl genpkey -algorithm ed25519 -out "$dir/receipts.pem" 2>/dev/null)
        set -- --api-receipt-keys "$dir/receipts.pem" --api-receipt-issuer demo "$@"
    fi
    if [ -n "${stack_kyc_port:-}" ]; then
        set -- --kyc-file "$dir/kyc.json" "$@"
        export TIDEMARK_KYC_DATABASE_URL=${stack_socket/user=postgres/user=tidemark_kyc}
    fi
    set -m
    TIDEMARK_DATABASE_URL=${stack_socket/user=postgres/user=tidemark_feeder} "$TIDE_BIN/tidemark-api" \
        --api-listen "127.0.0.1:${stack_kyc_port:-0}" --api-port-file "$dir/api.port" \
        --api-cache "$dir/cache" "$@" >"$dir/api.log" 2>&1 &
    stack_api_pid=$!
    set +m
}
stack_api_url() {
    [ -s "$1/api.port" ] || return 1
    local url
    url=http://127.0.0.1:$(cat "$1/api.port")
    curl -fs -m 5 -o "$1/ready" "$url/readyz" && echo "$url"
}

# Its log is DIR/attester.log.
stack_attester() {
    local dir=$1 rpc=$2 deployment=$3 name=$4
    (umask 077 && "$TIDE_BIN/tidemark-sim" keys --name "$name" --seed "${5:-1}" 2>/dev/null | awk '{ print $3 }' >"$dir/verifier.seed")
    set -m
    TIDEMARK_ATTESTER_INTENT_KEY=${stack_intent_key:-} TIDEMARK_ATTESTER_DATABASE_URL=${stack_socket/user=postgres/user=tidemark_attester} "$TIDE_BIN/tidemark-attester" run \
        --attester-key "$dir/verifier.seed" --rpc "$rpc" --deployment "$deployment" >"$dir/attester.log" 2>&1 &
    stack_attester_pid=$!
    set +m
}

# Its people and the proxy's secret: by the commands of its manual.
stack_console_files() {
    local dir=$1
    [ ! -s "$dir/server.pem" ] || return 0
    mkdir -p "$dir"
    cluster_free_port >"$dir/port"
    sed -n '/^<!-- commands: /,/^<!-- end of commands/p' "$stack_root/api/console/README.md" | sed '/^```/d; /^<!--/d' >"$dir/setup.sh"
    (
        cd "$dir"
        umask 077
        CONSOLE_ORIGIN=https://localhost:$(cat port) bash -eu setup.sh
        for who in ada bob cleo; do
            openssl pkcs12 -export -in "$who.pem" -inkey "$who.key" -name "Tidemark console, $who" -passout pass:demo -out "$who.p12"
        done
        openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 365 -subj /CN=localhost \
            -addext subjectAltName=DNS:localhost,IP:127.0.0.1 -keyout server.key -out server.pem
    ) >"$dir/setup.log" 2>&1
}

# Its logs are DIR/console.log and DIR/console_proxy.log.
stack_console() {
    local dir=$1 deployment=$2
    stack_console_pids='' stack_console_why=''
    command -v node >/dev/null && command -v openssl >/dev/null || { stack_console_why='needs Node.js and openssl here'; return 0; }
    stack_console_files "$dir/console" || { stack_console_why="could not make certificates: $dir/console/setup.log"; return 0; }
    rm -f -- "$dir/console.log"
    set -m
    TIDEMARK_CONSOLE_DATABASE_URL=${stack_socket/user=postgres/user=tidemark_console} "$TIDE_BIN/tidemark-console" --deployment "$deployment" \
        --console-file "$dir/console/console.json" --console-listen 127.0.0.1:0 >"$dir/console.log" 2>&1 &
    stack_console_pids=$!
    set +m
}
stack_console_port() { sed -n 's/.*console.listening.* port=\([0-9]*\).*/\1/p' "$1/console.log"; }
stack_console_proxy() {
    local dir=$1
    set -m
    node "$stack_root/tools/lib/console_proxy.mjs" "$dir/console" "$(cat "$dir/console/port")" "$(stack_console_port "$dir")" >"$dir/console_proxy.log" 2>&1 &
    stack_console_pids="$! $stack_console_pids"
    set +m
}
stack_console_url() {
    [ -n "$(stack_console_port "$1")" ] || return 1
    case $stack_console_pids in *\ *) ;; *) stack_console_proxy "$1" ;; esac
    grep -q ready "$1/console_proxy.log" 2>/dev/null && stack_console_address="https://localhost:$(cat "$1/console/port")"
}
# stack_console_ask DIR WHO PATH [BODY]: as a person's browser asks the console.
stack_console_ask() {
    local dir=$1/console
    curl -sS -m 20 --cacert "$dir/server.pem" --cert "$dir/$2.pem" --key "$dir/$2.key" -H "Origin: $stack_console_address" \
        ${4:+-H 'Content-Type: application/json' -d "$4"} "$stack_console_address/console/api/$3"
}

# The first time with coins, and a ledger for it; afterwards it is a look-up.
stack_company() { "$TIDE_BIN/tidemark-sim" tx fund --rpc "$1" --as company --seed "${2:-1}" >/dev/null 2>&1 || true; }
