# Parts of tools/release. Paths are relative to the root of the project.

project_version() { sed -n 's/^project(tidemark VERSION \([0-9.]*\).*/\1/p' "${1:-.}/CMakeLists.txt"; }

# Seconds since 1970 of the date in the Debian changelog: the time of everything in a release.
release_epoch() { date -d "$(sed -n '/^ -- /{s/.*>  //p;q}' "${1:-.}/tools/packaging/changelog")" +%s; }

refuse_release() { echo "release: $*" >&2; exit 65; }

# Runs a step with its output in $out.log, and ends with the step's code if it fails. Bash ignores -e in a function that is called
# before ||, so the code is read afterwards.
logged() {
    local code
    set +e
    (set -e; "$@") >>"$out.log" 2>&1
    code=$?
    set -e
    [ $code = 0 ] || { tail -n 20 "$out.log" >&2; exit $code; }
}

# The section of one version, without its heading.
changelog_section() { # VERSION
    awk -v version="$1" '/^## / { inside = $2 == version || ($2 == "Unreleased:" && $3 == version); next } inside' CHANGELOG.md |
        sed '/./,$!d'
}

# One version everywhere, a dated changelog, and nothing that the commit does not have.
check_tree() {
    local version found file
    version=$(project_version)
    [ -z "$(git status --porcelain)" ] || refuse_release "uncommitted changes: git status"
    for file in api/clients/typescript/package.json api/clients/typescript/package-lock.json; do
        found=$(sed -n 's/^  "version": "\(.*\)",/\1/p' "$file")
        [ "$found" = "$version" ] || refuse_release "$file has version $found, CMakeLists.txt $version: tools/release --set VERSION"
    done
    for file in api/clients/python/pyproject.toml api/clients/mcp/pyproject.toml; do
        found=$(sed -n 's/^version = "\(.*\)"/\1/p' "$file")
        [ "$found" = "$version" ] || refuse_release "$file has version $found, CMakeLists.txt $version: tools/release --set VERSION"
    done
    grep "^tidemark ($version)" tools/packaging/changelog >/dev/null || refuse_release "tools/packaging/changelog has no $version: tools/release --set VERSION"
    [ -n "$(changelog_section "$version")" ] || refuse_release "CHANGELOG.md has no section $version"
}

# Writes the version to each file that has it, dates the changelog's section and begins one of the Debian changelog.
set_version() { # VERSION DATE
    local version=$1 day=$2 old
    [[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]] || { echo "release: $version is no version like 1.2.3" >&2; exit 64; }
    old=$(project_version)
    sed -i "s/^project(tidemark VERSION [0-9.]*/project(tidemark VERSION $version/" CMakeLists.txt
    sed -i "0,/^  \"version\"/s/^  \"version\": \".*\",/  \"version\": \"$version\",/" api/clients/typescript/package.json
    sed -i "1,15s/^\( *\)\"version\": \"$old\",/\1\"version\": \"$version\",/" api/clients/typescript/package-lock.json
    sed -i "s/^version = \".*\"/version = \"$version\"/; s/\"tidemark-client==[0-9.]*\"/\"tidemark-client==$version\"/" api/clients/python/pyproject.toml api/clients/mcp/pyproject.toml
    sed -i "0,/^## Unreleased/s/^## Unreleased.*/## $version – $day/" CHANGELOG.md
    {
        printf 'tidemark (%s) unstable; urgency=medium\n\n  * /usr/share/doc/tidemark/CHANGELOG.md says what changed.\n\n' "$version"
        printf ' -- Tidemark <tidemark@localhost>  %s\n' "$(LC_ALL=C date -u -d "$day 12:00" -R)"
        [ "$old" = "$version" ] || { echo && cat tools/packaging/changelog; }
    } >tools/packaging/changelog.new
    mv tools/packaging/changelog.new tools/packaging/changelog
}

# npm's packages of this checkout, if they were installed here: linked, so that they are not fetched again.
seed_modules() { # FROM TO
    [ -d "$1/build/dashboard/node_modules" ] || return 0
    mkdir -p "$2/build/dashboard"
    cp -al "$1/build/dashboard/node_modules" "$2/build/dashboard/"
    cp "$1/build/dashboard/.installed" "$2/build/dashboard/"
}

# The programs, without tests. The folder's name does not get into them.
build_programs() { # TREE
    (cd "$1" && cmake --preset release -DBUILD_TESTING=OFF && cmake --build --preset release)
}

# A package's version ends in +deb12 or +deb13, so that an upgrade of Debian upgrades it too. The versions of the packages that it
# depends on go to VERSIONS/12 or 13.
package_tree() { # TREE DEBIAN OUT VERSIONS
    local version deb
    build_programs "$1"
    version=$(project_version "$1")+deb$2
    (cd "$1" && cpack --config build/release/CPackConfig.cmake -B build/package -D CPACK_DEBIAN_PACKAGE_VERSION="$version")
    deb=$(echo "$1"/build/package/tidemark_*.deb)
    cp "$deb" "$3/"
    dpkg-deb -f "$deb" Depends | tr ',|' '\n\n' | awk '{print $1}' | sort -u |
        xargs dpkg-query -W -f '${Package} ${Version}\n' >"$4/$2"
}

this_debian() { sed -n 's/^VERSION_ID="\?\([0-9]*\)"\?$/\1/p' /etc/os-release; }

build_debian() { # DEBIAN TREE OUT VERSIONS
    if [ "$1" = "$(this_debian)" ]; then
        package_tree "$2" "$1" "$3" "$4"
    else
        package_in_root "$@"
    fi
}

# A minimal Debian in build/roots, made once, from the mirror that apt uses here.
debian_root() { # DEBIAN
    local dir=build/roots/$1 mirror suite
    case $1 in 12) suite=bookworm ;; 13) suite=trixie ;; *) echo "release: no Debian $1 is known" >&2; return 69 ;; esac
    [ ! -e "$dir/.made" ] || return 0
    [ "$(id -u)" = 0 ] || { echo "release: packages for Debian $1 need root (debootstrap, chroot): or --debian $(this_debian)" >&2; return 69; }
    command -v debootstrap >/dev/null || { echo "release: no debootstrap: apt install debootstrap" >&2; return 69; }
    mirror=$(apt-cache policy 2>/dev/null | awk '$2 ~ /\/debian\/?$/ && !seen { print $2; seen = 1 }')
    rm -rf -- "$dir"
    mkdir -p "$dir"
    debootstrap --variant=minbase --include=ca-certificates "$suite" "$dir" "${mirror:-http://deb.debian.org/debian}"
    cp -r /etc/apt/apt.conf.d/. "$dir/etc/apt/apt.conf.d/"
    cp /etc/ssl/certs/ca-certificates.crt "$dir/etc/ssl/certs/"
    touch "$dir/.made"
}

# Builds the package in that root, with the dashboard that was built here. The mounts are in a namespace of their own and end with it.
package_in_root() { # DEBIAN TREE OUT VERSIONS
    local dir=$PWD/build/roots/$1 name=${2##*/}
    debian_root "$1"
    cp /etc/resolv.conf /etc/hosts "$dir/etc/" 2>/dev/null || true
    rm -rf -- "$dir/build"
    mkdir -p "$dir/build/out" "$dir/build/$name/build/dashboard"
    tar -xzf "$3/$name.tar.gz" -C "$dir/build"
    cp -R "$2/build/dashboard/dist" "$2/build/dashboard/console" "$2/build/dashboard/.built" "$dir/build/$name/build/dashboard/"
    unshare --mount --propagation private bash -c '
        mount -t proc proc "$1/proc" && mount --rbind /dev "$1/dev" || exit
        exec chroot "$@"' - "$dir" /usr/bin/env -i HOME=/root LANG=C.UTF-8 LC_ALL=C TZ=UTC SOURCE_DATE_EPOCH="$SOURCE_DATE_EPOCH" \
        PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin $(env | grep -iE '^(https?|no)_proxy=' || true) \
        bash -euc 'cd "/build/$1" && tools/install-deps build && . tools/lib/release.sh && package_tree "$PWD" "$2" /build/out /build' - "$name" "$1"
    cp "$dir"/build/out/*.deb "$3/"
    cp "$dir/build/$1" "$4/$1"
    rm -rf -- "$dir/build"
}
