# A private PostgreSQL for one test: sourced, not run.
#
#   . "$(dirname "$0")/../_pg.sh"
#   pg_start                 # every database created in it has the schema, as after `migrate`
#   pg_start -c wal_level=minimal …
#   pg_start_empty …         # new databases are empty: for tests of migrations, roles and restores
#   psql "$TIDEMARK_DATABASE_URL" …
#
# After pg_start: PG_DIR (temporary folder, removed at exit), PGHOST (socket folder), PGPORT,
# PGUSER=postgres, PGDATABASE=tidemark, TIDEMARK_DATABASE_URL. Also: pg_stop [mode], pg_again [-c x=y],
# PG_AT_EXIT=FUNCTION (called at exit, before the server is stopped; a trap would hide the code),
# sql STATEMENT (rows as plain text), sql_says CONDITION, until_sql CONDITION SECONDS (waits until it holds; without a
# limit of its own: await WHAT sql_says CONDITION, of tools/lib/wait.sh),
# pg_writable (views of stored rows take rows that a test plants),
# pg_standby FOLDER [-c x=y]… (a hot standby of the server at PGHOST, in place of what is there;
# cluster_down stops it), as_pg CMD… (as the server's user), fail MESSAGE, has_failpoints (this build can be killed at a step).
# No TCP. PostgreSQL does not run as root, so root starts it as the user postgres.
set -euo pipefail

fail() { echo "FAIL: $*" >&2; exit 1; }
has_failpoints() { grep -qa TIDE_FP_COUNT "$TIDE_BIN/tidemark-indexer"; }

. "$(dirname "${BASH_SOURCE[0]}")/../../tools/lib/cluster.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../../tools/lib/wait.sh"
export PYTHONPATH=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd) # the shared modules _*.py beside this file
as_pg() { cluster_as "$@"; }

pg_standby() {
    local dir=$1
    shift
    cluster_down "$dir" immediate
    rm -rf "$dir"
    mkdir "$dir"
    chmod 755 "$dir"
    [ "$(id -u)" != 0 ] || chown "$(cluster_user)" "$dir"
    as_pg "$PG_BIN/pg_basebackup" -h "$PGHOST" -U postgres -D "$dir/data" -R -X stream -c fast --no-sync
    cluster_up "$dir" -F "$@"
}

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

# Prints the path of an archive with an initialised data folder. The archive is made once for each build and indexer
# program: unpacking it takes a tenth of the time of initdb and migrate.
pg_template() { # empty|schema
    local made=${TIDE_BUILD:-$TIDE_BIN/..}/clusters archive dir
    mkdir -p "$made"
    archive=$made/$1.$(stat -c %Y.%s "$TIDE_BIN/tidemark-indexer").${PG_BIN//\//_}.tar
    (
        flock 9
        [ ! -s "$archive" ] || exit 0
        rm -f "$made/$1".*
        dir=$(mktemp -d "${TMPDIR:-/tmp}/tide.XXXXXX")
        trap 'cluster_remove "$dir"' EXIT
        { # steps are joined, because errexit is off here: a step that fails must leave no archive behind
            cluster_init "$dir" &&
                cluster_up "$dir" -F -c wal_recycle=off &&
                # The schema goes into template1, of which new databases are copies.
                { [ "$1" = empty ] || TIDEMARK_DATABASE_URL="host=$dir port=5432 user=postgres dbname=template1" "$TIDE_BIN/tidemark-indexer" migrate; } &&
                "$PG_BIN/createdb" -h "$dir" -U postgres tidemark &&
                "$PG_BIN/psql" -Xqc CHECKPOINT -h "$dir" -U postgres -d postgres && # drops the old segments of the log
                cluster_down "$dir" &&
                tar -C "$dir" -cf "$archive.new" data password &&
                mv "$archive.new" "$archive"
        } >"$made/$1.log" 2>&1 9>&-
    ) 9>"$made/lock" || { tail -n 5 "$made/$1.log" >&2; return 1; }
    echo "$archive"
}

pg_start() { pg_start_from schema "$@"; }
pg_start_empty() { pg_start_from empty "$@"; }

pg_start_from() { # empty|schema [-c x=y]…
    local archive kind=$1
    shift
    PG_BIN=$(cluster_bin) || exit 1
    PATH=$PG_BIN:$PATH # Debian's own psql is a Perl script, which takes four times as long to start
    [ -x "$TIDE_BIN/tidemark-indexer" ] || { echo "programs not built"; exit 1; }
    archive=$(pg_template "$kind") || fail "no cluster"
    PG_DIR=$(mktemp -d "${TMPDIR:-/tmp}/tide.XXXXXX")
    trap pg_cleanup EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM
    chmod 755 "$PG_DIR"
    [ "$(id -u)" != 0 ] || chown "$(cluster_user)" "$PG_DIR"
    cluster_as tar -C "$PG_DIR" -xf - <"$archive"
    # Autovacuum would work for tests with many databases in some runs and not in others. TIDE_LONG has it.
    PG_OPTIONS=("$@")
    [ -n "${TIDE_LONG:-}" ] || PG_OPTIONS=(-c autovacuum=off "$@")
    export PGHOST=$PG_DIR PGPORT=5432 PGUSER=postgres PGDATABASE=tidemark
    export TIDEMARK_DATABASE_URL="host=$PG_DIR port=5432 user=postgres dbname=tidemark"
    unset PGPASSWORD PGSERVICE PGOPTIONS || true
    pg_again
}

# Lets a test insert rows through views of stored rows. Call it after the database has its schema.
pg_writable() {
    { echo "CREATE TEMPORARY TABLE told (name text, col text, type text, kind text, comment text, stored text); COPY told FROM STDIN;"
      "$TIDE_BIN/tidemark-indexer" tables
      echo "\\."
      cat "$PYTHONPATH/_writable.sql"; } | "$PG_BIN/psql" -Xqf - -v ON_ERROR_STOP=1
}

# -F means no fsync. Tests kill processes and the server, but not the machine.
pg_again() { cluster_up "$PG_DIR" -F ${PG_OPTIONS[@]+"${PG_OPTIONS[@]}"} "$@"; }

pg_stop() { cluster_down "$PG_DIR" "${1:-fast}"; }

# A psql for each call: one that stays would keep dropdb and createdb --template from its database.
sql() { "$PG_BIN/psql" -XAtqv ON_ERROR_STOP=1 -c "$1"; }
until_sql() { # CONDITION SECONDS: waits until the database says t
    within "$2" sql_says "$1" || fail "never: $1"
}
sql_says() { [ "$(sql "SELECT $1" 2>/dev/null)" = t ]; } # CONDITION
