#!/usr/bin/env bash
# Runs tools/test with stand-ins for the programs that it calls: a dashboard that does not build makes it fail, for whatever
# reason, and its last line names the tests that were skipped.
set -euo pipefail
fail() { echo "FAIL: $*" >&2; exit 1; }
dir=$(mktemp -d "${TMPDIR:-/tmp}/tide-runner.XXXXXX")
trap 'rm -rf "$dir"' EXIT
mkdir -p "$dir/tools" "$dir/bin"
cp "$TIDE_SOURCE_DIR/tools/test" "$dir/tools/"
stand_in() { printf '#!/bin/sh\n%s\n' "$2" >"$dir/$1"; chmod +x "$dir/$1"; }
stand_in tools/install-deps 'exit 0'
stand_in bin/cmake 'exit 0'

# ends CODE DASHBOARD TESTS LINE: runs tools/test with a dashboard build that exits with DASHBOARD and with TESTS %
# passed. Expects the exit code and the output line.
ends() {
    local code=0
    stand_in tools/dashboard "exit $2"
    stand_in bin/ctest "echo '$3% tests passed, of 1'"
    TMPDIR=$dir PATH=$dir/bin:$PATH "$dir/tools/test" "${which:-quick}" >"$dir/out" 2>&1 || code=$?
    [ $code = "$1" ] || fail "dashboard $2, tests $3 %: exit $code, not $1: $(cat "$dir/out")"
    grep -q "$4" "$dir/out" || fail "dashboard $2, tests $3 %: no \"$4\" in $(cat "$dir/out")"
}
ends 0 0 100 'release: 100%'
ends 1 1 100 'the dashboard: does not build'
ends 1 69 100 'the dashboard: does not build'
[ "$(tail -n 1 "$dir/out")" = 'skipped: none' ] || fail "the last line: $(tail -n 1 "$dir/out")"
ends 1 0 0 'release: 0%'
stand_in bin/ctest "printf '%s\\n' ' 1/3 Test   #7: golden.views ...***Skipped   0.1 sec' '2/3 Test #12: unit.a ......   Passed 1 sec' '3/3 Test #9: unit.b .***Skipped 0 sec' '100% tests passed, of 3'"
TMPDIR=$dir PATH=$dir/bin:$PATH "$dir/tools/test" quick >"$dir/out" 2>&1 || fail "skipped tests: exit $?"
[ "$(tail -n 1 "$dir/out")" = 'skipped: 2: golden.views unit.b' ] || fail "the last line: $(tail -n 1 "$dir/out")"

# Some installs first what only its own tests need.
mkdir "$dir/tests" "$dir/tests/hostile"
stand_in tests/hostile/wire 'exit 77'
for pair in all:lake-spark roots:roots; do
    stand_in tools/install-deps "echo \"\$*\" >>$dir/installed"
    which=${pair%:*} ends 0 0 100 'release: 100%'
    grep -qx "${pair#*:}" "$dir/installed" || fail "tools/test ${pair%:*} does not install ${pair#*:}: $(cat "$dir/installed")"
    rm "$dir/installed"
    stand_in tools/install-deps '[ $# = 0 ]'
    which=${pair%:*} ends 1 0 100 "tools/install-deps ${pair#*:}: failed"
done
echo "ok tools/test fails when something is missing, and says what was skipped"
