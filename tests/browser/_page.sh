# A browser and its driver: sourced. Sets PAGE, the folder beside the build where tests of page/ run and leave their
# screenshots. Exits with 77 where there is no chromium.
set -euo pipefail
command -v chromium >/dev/null || command -v chromium-browser >/dev/null || { echo "no chromium"; exit 77; }
command -v node >/dev/null && command -v npm >/dev/null || { echo "no node or no npm"; exit 1; }
PAGE=$TIDE_BUILD/browser
mkdir -p "$PAGE"
(
    flock 9
    cp "$TIDE_SOURCE_DIR/tests/browser"/page/* "$PAGE/"
    cd "$PAGE"
    cmp -s package-lock.json .installed && exit 0
    npm ci --no-audit --no-fund --loglevel=error >npm.log 2>&1 || exit 1
    cp package-lock.json .installed
) 9>"$PAGE/.lock" || { tail -n 3 "$PAGE/npm.log"; echo "the registry cannot be reached"; exit 1; }
