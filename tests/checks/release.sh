#!/usr/bin/env bash
# What tools/release refuses, and the files to which it writes a version. No package is built.
set -euo pipefail
fail() { echo "FAIL: $*" >&2; exit 1; }
[ -e "$TIDE_SOURCE_DIR/.git" ] || { echo "no git checkout"; exit 77; }
dir=$(mktemp -d "${TMPDIR:-/tmp}/tide-release.XXXXXX")
trap 'rm -rf "$dir"' EXIT
git init -q "$dir/t"
cd "$dir/t"
(cd "$TIDE_SOURCE_DIR" && git ls-files -coz --exclude-standard | xargs -0 ls -d 2>/dev/null | tar -cf - -T -) | tar -xf -
commit() { git add -A && git -c user.name=t -c user.email=t@localhost commit -qm t; }
commit
. tools/lib/release.sh
refuses() { # WHAT PATTERN
    local code=0
    (check_tree) 2>"$dir/said" || code=$?
    [ $code = 65 ] && grep -q "$2" "$dir/said" || fail "$1: exit $code, $(cat "$dir/said")"
    git checkout -q .
}
check_tree || fail "this tree cannot be released"
echo x >>README.md; refuses 'a change that is not committed' 'uncommitted'

today=$(date -u +%F) # it may be midnight before this is asked again
tools/release --set 7.8.9
commit
check_tree || fail "--set 7.8.9: the tree cannot be released"
[ "$(project_version)" = 7.8.9 ] && [ "$(git show --stat=200 --format= HEAD | grep -c '|')" = 7 ] || fail "--set: $(git show --stat --format= HEAD)"
[[ "$(date -u -d "@$(release_epoch)" +%F)" = @("$today"|"$(date -u +%F)") ]] || fail "the time of the release: $(release_epoch)"
grep -q '^## 7.8.9 – ' CHANGELOG.md || fail "the changelog's heading"
python3 tools/lib/sbom.py . 7.8.9 0 "$(mkdir -p "$dir/none" && echo "$dir/none")" | python3 -c 'import json, sys; assert len(json.load(sys.stdin)["components"]) > 5'

for file in api/clients/typescript/package.json api/clients/typescript/package-lock.json api/clients/python/pyproject.toml api/clients/mcp/pyproject.toml tools/packaging/changelog; do
    sed -i 's/7\.8\.9/7.8.8/' $file && commit
    refuses "another version in $file" "${file##*/}"
    sed -i 's/7\.8\.8/7.8.9/' $file && commit
done
sed -i 's/^## 7.8.9/## 7.8.0/' CHANGELOG.md && commit; refuses 'no section' 'CHANGELOG.md has no section'
sed -i '/^| libsodium/d' README.md
! python3 tools/lib/sbom.py . 7.8.9 0 "$dir/none" >"$dir/said" 2>&1 || fail "the SBOM has a library that the README does not list"
grep -q 'has no libsodium' "$dir/said" || fail "$(cat "$dir/said")"

# A step that fails in the middle of a function ends the release with the step's code: no package may be missing from it silently.
code=0
out=$dir/out bash -euc '. tools/lib/release.sh
    step() { (exit 69); echo "the rest"; }
    logged step' 2>"$dir/said" || code=$?
[ $code = 69 ] && ! grep -q 'the rest' "$dir/out.log" || fail "a failed step: exit $code, $(cat "$dir/said" "$dir/out.log")"
