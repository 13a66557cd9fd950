# A private PostgreSQL for one test: sourced, not run.
#
#   . "$(dirname "$0")/_pg.sh"
#   pg_start                 # or: pg_start -c wal_level=minimal …
#   psql "$TIDEMARK_DATABASE_URL" …
#
# After pg_start: PG_DIR (temporary folder, removed at exit), PGHOST (socket folder), PGPORT,
# PGUSER=postgres, PGDATABASE=tidemark, TIDEMARK_DATABASE_URL. Also: pg_stop [mode], pg_again [-c x=y],
# PG_AT_EXIT=FUNCTION (called at exit, before the server is stopped; a trap would hide the code),
# sql STATEMENT (rows as plain text), as_pg CMD… (as the server's user), fail MESSAGE.
# No TCP; PostgreSQL refuses to be root, so root hands it to the user postgres.
# Exits with 77 (skipped) where PostgreSQL is not installed.
set -euo pipefail

fail() { echo "FAIL: $*" >&2; exit 1; }

. "$(dirname "${BASH_SOURCE[0]}")/../../tools/lib/cluster.sh"
export PYTHONPATH=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd) # the shared modules _*.py beside this file
as_pg() { cluster_as "$@"; }

pg_cleanup() {
    local code=$?
    trap - EXIT INT TERM
    for pid in $(jobs -p); do { kill -9 "$pid" && wait "$pid"; } 2>/dev/null || true; done
    [ -n "${PG_DIR:-}" ] || exit "$code"
    [ -z "${PG_AT_EXIT:-}" ] || $PG_AT_EXIT || true
    cluster_down "$PG_DIR" immediate
    [ "$code" -eq 0 ] || [ "$code" -eq 77 ] || tail -n 30 "$PG_DIR/log" 2>/dev/null | grep -E 'ERROR|FATAL|PANIC' >&2 || true
    [ -n "${TIDE_KEEP:-}" ] && echo "kept $PG_DIR" >&2 || rm -rf "$PG_DIR"
    exit "$code"
}

pg_start() {
    PG_BIN=$(cluster_bin) || exit 77
    PG_DIR=$(mktemp -d "${TMPDIR:-/tmp}/tide.XXXXXX")
    trap pg_cleanup EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM
    cluster_init "$PG_DIR"
    PG_OPTIONS=("$@")
    export PGHOST=$PG_DIR PGPORT=5432 PGUSER=postgres PGDATABASE=tidemark
    export TIDEMARK_DATABASE_URL="host=$PG_DIR port=5432 user=postgres dbname=tidemark"
    unset PGPASSWORD PGSERVICE PGOPTIONS || true
    pg_again
    PGDATABASE=postgres "$PG_BIN/createdb" tidemark
}

# -F: no fsync. Tests kill our processes and the server, not the machine.
pg_again() { cluster_up "$PG_DIR" -F ${PG_OPTIONS[@]+"${PG_OPTIONS[@]}"} "$@"; }

pg_stop() { cluster_down "$PG_DIR" "${1:-fast}"; }

sql() { "$PG_BIN/psql" -XAtqv ON_ERROR_STOP=1 -c "$1"; }
