# A private PostgreSQL for one test: sourced, not run.
#
#   . "$(dirname "$0")/_pg.sh"
#   pg_start                 # or: pg_start -c wal_level=minimal …
#   psql "$TIDEMARK_DATABASE_URL" …
#
# After pg_start: PG_DIR (temporary folder, removed at exit), PGHOST (socket folder), PGPORT,
# PGUSER=postgres, PGDATABASE=tidemark, TIDEMARK_DATABASE_URL. Also: pg_stop [mode], pg_again,
# sql STATEMENT (rows as plain text), as_pg CMD… (as the server's user), fail MESSAGE.
# No TCP; PostgreSQL refuses to be root, so root hands it to the user postgres.
# Exits with 77 (skipped) where PostgreSQL is not installed.
set -euo pipefail

fail() { echo "FAIL: $*" >&2; exit 1; }

pg_bindir() {
    local dir
    for dir in "${PG_BINDIR:-}" /usr/lib/postgresql/*/bin "$(pg_config --bindir 2>/dev/null || true)"; do
        [ -x "$dir/initdb" ] && { echo "$dir"; return; }
    done
    echo "PostgreSQL's initdb is not installed" >&2
    exit 77
}

as_pg() {
    if [ "$(id -u)" = 0 ]; then
        (cd / && exec setpriv --reuid=postgres --regid=postgres --init-groups env -u XDG_RUNTIME_DIR "$@")
    else
        "$@"
    fi
}

pg_cleanup() {
    local code=$?
    trap - EXIT INT TERM
    for pid in $(jobs -p); do kill -9 "$pid" 2>/dev/null || true; done
    [ -n "${PG_DIR:-}" ] || exit "$code"
    [ -d "$PG_DIR/data" ] && as_pg "$PG_BIN/pg_ctl" -D "$PG_DIR/data" -m immediate stop >/dev/null 2>&1 || true
    [ "$code" -eq 0 ] || [ "$code" -eq 77 ] || tail -n 30 "$PG_DIR/log" 2>/dev/null | grep -E 'ERROR|FATAL|PANIC' >&2 || true
    [ -n "${TIDE_KEEP:-}" ] && echo "kept $PG_DIR" >&2 || rm -rf "$PG_DIR"
    exit "$code"
}

pg_start() {
    PG_BIN=$(pg_bindir)
    PG_DIR=$(mktemp -d "${TMPDIR:-/tmp}/tide.XXXXXX")
    trap pg_cleanup EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM
    chmod 755 "$PG_DIR"
    [ "$(id -u)" != 0 ] || chown postgres:postgres "$PG_DIR"
    as_pg "$PG_BIN/initdb" -D "$PG_DIR/data" -U postgres -A trust -E UTF8 --locale=C -k --no-sync >/dev/null
    PG_OPTIONS=("$@")
    export PGHOST=$PG_DIR PGPORT=5432 PGUSER=postgres PGDATABASE=tidemark
    export TIDEMARK_DATABASE_URL="host=$PG_DIR port=5432 user=postgres dbname=tidemark"
    unset PGPASSWORD PGSERVICE PGOPTIONS || true
    pg_again
    PGDATABASE=postgres "$PG_BIN/createdb" tidemark
}

# -F: no fsync. Tests kill our processes and the server, not the machine.
pg_again() {
    as_pg "$PG_BIN/pg_ctl" -D "$PG_DIR/data" -l "$PG_DIR/log" -w -t 60 start \
        -o "-F -c listen_addresses='' -c unix_socket_directories='$PG_DIR' -c max_wal_size=1GB -c max_locks_per_transaction=256 ${PG_OPTIONS[*]:-}" >/dev/null
}

pg_stop() { as_pg "$PG_BIN/pg_ctl" -D "$PG_DIR/data" -m "${1:-fast}" -w stop >/dev/null; }

sql() { "$PG_BIN/psql" -XAtqv ON_ERROR_STOP=1 -c "$1"; }
