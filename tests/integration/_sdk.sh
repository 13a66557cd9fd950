# npm's @stellar/stellar-sdk beside the build: sourced, not run.
#
#   sdk_install     sets SDK, the folder with node_modules; installs once for all runs
#
# 15.1.0 is the newest that runs on Debian 12's Node 18, whatever its "engines" ask for.
sdk_install() {
    command -v node >/dev/null && command -v npm >/dev/null || { echo "no node or no npm"; exit 1; }
    SDK=$TIDE_BUILD/sdk # beside the build, never in the sources
    mkdir -p "$SDK"
    cp "$TIDE_SOURCE_DIR"/tests/integration/sim/sdk/* "$SDK/"
    (
        flock 9
        cd "$SDK"
        cmp -s package-lock.json .installed && exit 0
        npm ci --no-audit --no-fund --loglevel=error >npm.log 2>&1 || exit 1
        cp package-lock.json .installed
    ) 9>"$SDK/.lock" || { tail -n 3 "$SDK/npm.log"; echo "the registry cannot be reached"; exit 1; }
}
