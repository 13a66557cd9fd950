#!/usr/bin/env bash
# Runs tools/test with stand-ins for the programs that it calls: a dashboard that does not build makes it fail. A
# system without npm does not make it fail, and does not hide a failed test.
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
ends 0 69 100 'its tests are skipped'
ends 1 69 0 'release: 0%'
ends 1 0 0 'release: 0%'

# All of it includes the tests of dbt and of the lake: their packages are installed first.
mkdir "$dir/tests" "$dir/tests/hostile"
stand_in tests/hostile/wire 'exit 77'
stand_in tools/install-deps "echo \"\$*\" >>$dir/installed"
which=all ends 0 0 100 'release: 100%'
for folder in lake analyst; do grep -qx $folder "$dir/installed" || fail "tools/test all does not install the packages of $folder: $(cat "$dir/installed")"; done
! grep -q 'its packages could not' "$dir/out" || fail "$(cat "$dir/out")"
stand_in tools/install-deps '[ $# = 0 ]'
which=all ends 0 0 100 'tools/analyst: its packages could not be installed'
echo "ok tools/test fails when the dashboard does not build"
