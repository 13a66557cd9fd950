#!/usr/bin/env bash
# Two releases of one commit, made in two folders, have the same bytes; they hold what the manual says. label: all
# The package of the other Debian is left out: it needs a root of its own. TIDE_RELEASE_DEBIAN="12 13" builds both, as root.
set -euo pipefail
fail() { echo "FAIL: $*" >&2; exit 1; }
[ -e "$TIDE_SOURCE_DIR/.git" ] || { echo "no git checkout"; exit 77; }
debian=${TIDE_RELEASE_DEBIAN:-$(sed -n 's/^VERSION_ID="\?\([0-9]*\)"\?$/\1/p' /etc/os-release)}
case $debian in 12 | 13 | "12 13") ;; *) echo "not Debian 12 or 13"; exit 77 ;; esac
dir=$(mktemp -d "${TMPDIR:-/tmp}/tide-release.XXXXXX")
trap 'rm -rf "$dir"' EXIT

for run in first "second run"; do
    git clone -q "$TIDE_SOURCE_DIR" "$dir/$run"
    code=0
    "$dir/$run/tools/release" --debian "$debian" --out "$dir/out of $run" >"$dir/said" 2>&1 || code=$?
    [ $code = 0 ] || fail "exit $code: $(cat "$dir/said")"
done
diff "$dir/out of first/SHA256SUMS" "$dir/out of second run/SHA256SUMS" || fail "two runs differ"
diff -r "$dir/out of first" "$dir/out of second run"

cd "$dir/out of first"
sha256sum --check --quiet SHA256SUMS
version=$(sed -n 's/^project(tidemark VERSION \([0-9.]*\).*/\1/p' "$TIDE_SOURCE_DIR/CMakeLists.txt")
{
    for one in $debian; do echo "tidemark_$version+deb${one}_$(dpkg --print-architecture).deb"; done
    printf '%s\n' SHA256SUMS "tidemark-$version."{cdx.json,changelog.md,tar.gz} "tidemark-client-$version.tgz" "tidemark_client-$version"{-py3-none-any.whl,.tar.gz} "tidemark_mcp-$version"{-py3-none-any.whl,.tar.gz}
} | sort | diff - <(ls | sort) || fail "other files than these"
git -C "$dir/first" ls-files | sed "s,^,tidemark-$version/," | sort | diff - <(tar -tzf "tidemark-$version.tar.gz" | grep -v '/$' | sort) || fail "the source archive"
[ "$(wc -l <"tidemark-$version.changelog.md")" -gt 20 ] || fail "no section of the changelog"
for deb in *.deb; do
    for package in $(dpkg-deb -f "$deb" Depends | tr ',' '\n' | awk '{ print $1 }'); do
        grep -q "\"pkg:deb/debian/$package@.*distro=debian-$(sed 's/.*+deb\([0-9]*\)_.*/\1/' <<<"$deb")\"" "tidemark-$version.cdx.json" || fail "the SBOM has no $package"
    done
    dpkg-deb --fsys-tarfile "$deb" | tar -xO ./usr/bin/tidemark-api | grep -c "tide-release" >"$dir/count" || true
    [ "$(cat "$dir/count")" = 0 ] || fail "$deb names the folder in which it was built"
done
for package in uplot preact httpx mcp; do grep -q "\"name\": \"$package\"" "tidemark-$version.cdx.json" || fail "the SBOM has no $package"; done
echo "$(wc -l <SHA256SUMS) files, equal twice"
