#!/usr/bin/env bash
# Checks the Debian package: its files are complete and none is for development, its dependencies match the linked
# libraries, and the programs run from an unpacked folder. Units are valid and hardened, and accounts and folders are
# made. The package is made from the build whose prefix is /usr: release.
# needs: the release build
set -euo pipefail
fail() { echo "FAIL: $*" >&2; exit 1; }
for tool in cpack dpkg-deb dpkg-shlibdeps systemd-analyze systemd-sysusers systemd-tmpfiles; do
    command -v $tool >/dev/null || { echo "no $tool"; exit 1; }
done
dir=$(mktemp -d "${TMPDIR:-/tmp}/tide-deb.XXXXXX")
trap 'rm -rf "$dir"' EXIT
cpack --config "$TIDE_BUILD/CPackConfig.cmake" -B "$dir" >"$dir/log" 2>&1 || { tail -5 "$dir/log"; fail "cpack"; }
deb=$(echo "$dir"/tidemark_*.deb)
root=$dir/root
dpkg-deb -x "$deb" "$root"
dpkg-deb -e "$deb" "$dir/control"

daemons=(tidemark-indexer tidemark-api tidemark-attester tidemark-console)
dpkg-deb --fsys-tarfile "$deb" | tar -t | grep -v '/$' | sort >"$dir/files"
{
    for daemon in "${daemons[@]}"; do echo "./usr/bin/$daemon"; echo "./usr/lib/systemd/system/$daemon.service"; done
    for daemon in "${daemons[@]}"; do echo "./usr/share/man/man1/$daemon.1.gz"; echo "./usr/share/bash-completion/completions/$daemon"; done
    printf '%s\n' ./usr/share/man/man5/tidemark.conf.5.gz ./usr/share/lintian/overrides/tidemark ./usr/share/doc/tidemark/changelog.gz
    printf '%s\n' ./etc/tidemark/tidemark.conf ./usr/lib/{sysusers,tmpfiles}.d/tidemark.conf ./usr/share/doc/tidemark/{README.md,CHANGELOG.md,copyright} ./usr/share/tidemark/{database,roles}.sql
    [ ! -f "$TIDE_SOURCE_DIR/build/dashboard/dist/licenses.txt" ] || echo ./usr/share/doc/tidemark/dashboard-licenses.txt
    (cd "$TIDE_SOURCE_DIR" && find .github -type f -printf './usr/share/doc/tidemark/%p\n')
    printf './usr/share/doc/tidemark/%s\n' tools/packaging/events.md api/web/app/overview.png
    (cd "$TIDE_SOURCE_DIR/tools" && find monitoring lake analyst -type f ! -name README.md ! -path '*/__pycache__/*' -printf './usr/share/tidemark/%p\n' && cd packaging && find proxies -type f -printf './usr/share/tidemark/%p\n')
    (cd "$TIDE_SOURCE_DIR" && find api include indexer migrations schema tests tools -name README.md -printf './usr/share/doc/tidemark/%p\n')
} | sort | diff - "$dir/files" >&2 || fail "other files than these"
dpkg-deb --fsys-tarfile "$deb" | tar -tv | grep -v ' root/root ' >&2 && fail "a file has another owner than root"
[ "$(cat "$dir/control/conffiles")" = /etc/tidemark/tidemark.conf ] || fail "conffiles"

if command -v lintian >/dev/null; then
    lintian --fail-on error,warning --tag-display-limit 0 "$deb" >"$dir/said" 2>&1 || fail "lintian: $(cat "$dir/said")"
    echo "lintian: no error, no warning"
fi
zcat "$root/usr/share/doc/tidemark/changelog.gz" | grep "^tidemark ($(dpkg-deb -f "$deb" Version)) " >/dev/null || fail "changelog: another version"

depends=$(dpkg-deb -f "$deb" Depends)
# Behind a library's name stands its interface, another one in another Debian, and since 13 `t64` where times took 64 bits.
for library in libc libpq libcurl libssl libsodium libzstd zlib1g libjansson libmicrohttpd liblmdb systemd procps; do
    grep -qE "(^|, )$library[0-9]*(t64)?( |,|$)" <<<"$depends" || fail "does not depend on $library: $depends"
done
! grep -qiE 'cmocka|asan' <<<"$depends" || fail "depends on what is of development: $depends"
echo "depends: $depends"

# `verify --root` looks for the commands of other packages in the same root.
install -D /bin/kill "$root/bin/kill"
version=$(dpkg-deb -f "$deb" Version)
for daemon in "${daemons[@]}"; do
    [ "$("$root/usr/bin/$daemon" --version)" = "$daemon $version" ] || fail "$daemon does not run, or is another version"
    systemd-analyze verify --root="$root" --recursive-errors=no "$daemon.service" >"$dir/said" 2>&1 && [ ! -s "$dir/said" ] ||
        fail "$daemon.service: $(cat "$dir/said")"
    systemd-analyze security --offline=true --root="$root" --threshold=15 "$daemon.service" >"$dir/said" 2>&1 ||
        fail "$daemon.service: $(tail -2 "$dir/said"), at most 1.5"
    echo "$daemon.service: $(grep -oE 'exposure level.*: [0-9.]+' "$dir/said")"
    grep -q "^$(sed -n 's/^User=/u /p' "$root/usr/lib/systemd/system/$daemon.service") " "$root/usr/lib/sysusers.d/tidemark.conf" ||
        fail "$daemon.service: a user that does not exist"
done
# This build accepts every setting of the shipped file, also those in comments. Only the deployment is missing.
sed 's/^# \([a-z_]* = \)/\1/' "$root/etc/tidemark/tidemark.conf" >"$dir/all.conf"
[ "$(grep -c '^[a-z_]* = ' "$dir/all.conf")" -ge 4 ] || fail "hardly any settings"
code=0
"$root/usr/bin/tidemark-indexer" run --config "$dir/all.conf" --deployment "$dir/none" >"$dir/said" 2>&1 || code=$?
! grep -q all.conf "$dir/said" && grep -q "deployment=$dir/none: No such file" "$dir/said" || fail "tidemark.conf: exit $code: $(tail -1 "$dir/said")"

python3 - "$root/usr/share/doc/tidemark" <<'PY' || fail "the manuals have dead links"
import os, re, sys
from pathlib import Path
dead, seen = [], 0
for manual in Path(sys.argv[1]).rglob("*.md"):
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", re.sub(r"```.*?```", "", manual.read_text(), flags=re.S)):
        if "://" not in target:
            seen += 1
            if not os.path.exists(os.path.join(manual.parent, target)):
                dead.append(f"{manual.relative_to(sys.argv[1])}: {target}")
print("\n".join(dead), f"{seen} links of the manuals, {len(dead)} dead", sep="\n")
sys.exit(bool(dead) or seen < 200)
PY
for script in postinst prerm postrm; do sh -n "$dir/control/$script"; done
if [ "$(id -u)" = 0 ]; then
    systemd-sysusers --root="$root" "$root/usr/lib/sysusers.d/tidemark.conf" 2>"$dir/said" || fail "$(cat "$dir/said")"
    echo 'root:x:0:0:root:/root:/bin/sh' >>"$root/etc/passwd"
    echo 'root:x:0:' >>"$root/etc/group"
    systemd-tmpfiles --root="$root" --create "$root/usr/lib/tmpfiles.d/tidemark.conf" 2>"$dir/said" || fail "$(cat "$dir/said")"
    grep -q '^tidemark-indexer:.*nologin' "$root/etc/passwd" || fail "no account: $(cat "$root/etc/passwd")"
    for who in indexer api attester console; do
        [ "$(stat -c '%a %U' "$root/etc/tidemark/$who.secrets")" = "700 root" ] || fail "the folder of secrets is open"
        touch "$root/etc/tidemark/$who.secrets/database_url"
    done
    # The manual's command takes the settings, secrets and logins along, in whatever folder it is given.
    mkdir -p "$root/etc/postgresql/15/main"
    touch "$root/etc/postgresql/15/main/"pg_{hba,ident}.conf
    command=$(sed -n '/^tar .*FILE.tar.gz/{s/ *#.*//p;q}' "$root/usr/share/doc/tidemark/tools/packaging/README.md")
    (cd "$dir" && eval "$(sed "s|/etc|$root/etc|g; s|FILE|$dir/etc|" <<<"$command")") 2>"$dir/said" || fail "$command: $(cat "$dir/said")"
    for file in tidemark/tidemark.conf tidemark/indexer.secrets/database_url postgresql/15/main/pg_hba.conf postgresql/15/main/pg_ident.conf; do
        tar -tzf "$dir/etc.tar.gz" | grep "/etc/$file$" >/dev/null || fail "the backup has no $file"
    done
    # Purging leaves nothing behind but what an administrator put there: run where nothing of this machine is in reach.
    mkdir -p "$root/usr/bin" "$root/var/cache/tidemark"
    sed "s|/etc/tidemark|$root/etc/tidemark|g; s|/var/cache|$root/var/cache|g" "$dir/control/postrm" >"$dir/postrm"
    rm "$root/etc/tidemark/tidemark.conf" # dpkg removes its own files before
    sh "$dir/postrm" purge 2>"$dir/said"
    [ ! -e "$root/etc/tidemark" ] && [ ! -e "$root/var/cache/tidemark" ] || fail "purging leaves $(find "$root/etc/tidemark" "$root/var/cache/tidemark" 2>/dev/null)"
fi
echo ok
