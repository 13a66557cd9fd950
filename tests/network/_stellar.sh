# The archive's network and npm's client for one test: sourced, not run.
#
#   . "$(dirname "$0")/_stellar.sh"     exits with 77 where the archive, node or npm is absent
#   stellar_start FOLDER PORT [OPTION]… a network in FOLDER; exports RPC_URL, NETWORK_PASSPHRASE, STELLAR_DIR, STELLAR_SDK
#   stellar_stop                        for PG_AT_EXIT
#
# The archive is third-party/stellar in TIDE_SHARED or ../shared, or TIDE_STELLAR.
stellar_find() {
    local folder
    for folder in "${TIDE_STELLAR:-}" "${TIDE_SHARED:-/nowhere}/third-party/stellar" "${TIDE_SOURCE_DIR:-.}/../shared/third-party/stellar"; do
        [ -n "$folder" ] && [ -x "$folder/standalone" ] && { (cd "$folder" && pwd); return; }
    done
    return 1
}
STELLAR=$(stellar_find) || { echo "skipped: no third-party/stellar (set TIDE_STELLAR)"; exit 77; }
command -v node >/dev/null && command -v npm >/dev/null || { echo "skipped: no node or no npm"; exit 77; }
STELLAR_ORIGINAL=$STELLAR/../../fixtures/protocol/a/deployment.json
[ -f "$STELLAR_ORIGINAL" ] || { echo "skipped: no fixtures/protocol beside third-party (set TIDE_SHARED)"; exit 77; }

# As for tests/integration/sim/rpc_sdk.sh: once for all runs, beside the build.
stellar_sdk() {
    local sdk=$TIDE_BUILD/sdk source
    source=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
    mkdir -p "$sdk"
    (
        flock 9
        cp "$source"/../integration/sim/sdk/* "$sdk/"
        cmp -s "$sdk/package-lock.json" "$sdk/.installed" && exit 0
        cd "$sdk" && npm ci --no-audit --no-fund --loglevel=error >npm.log 2>&1 && cp package-lock.json .installed
    ) 9>"$sdk/.lock" || { tail -n 3 "$sdk/npm.log"; echo "skipped: the registry cannot be reached"; exit 77; }
    cp "$STELLAR"/scripts/lib.mjs "$source"/sdk/*.mjs "$1/"
    ln -sfn "$sdk/node_modules" "$1/node_modules"
}

stellar_start() {
    STELLAR_DIR=$1
    mkdir -p "$1/scripts"
    stellar_sdk "$1/scripts"
    "$STELLAR/standalone" start "$1" --port "$2" --no-galexie "${@:3}" >"$1.log" || { tail -n 3 "$1.log"; return 1; }
    set -a
    . "$1/env"
    STELLAR_SDK=$1/scripts WASM_DIR=$STELLAR/wasm
    export STELLAR STELLAR_DIR STELLAR_ORIGINAL
    set +a
}

stellar_stop() {
    [ ! -d "${STELLAR_DIR:-/nowhere}" ] || "$STELLAR/standalone" stop "$STELLAR_DIR" >/dev/null
}
