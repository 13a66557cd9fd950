#!/usr/bin/env bash
# Checks the database's roles: the owner is an ordinary role made by roles.sql, and PostgreSQL's catalogue shows that
# no role can run code as another. Then each known attack is tried, with the role that could make it.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../_pg.sh"
pg_start_empty
bin=$TIDE_BIN/tidemark-indexer
roles=$TIDE_SOURCE_DIR/tools/packaging/roles.sql database=$TIDE_SOURCE_DIR/tools/packaging/database.sql

owner() { # DATABASE: an index owned by a role without any attribute
    sql "CREATE DATABASE $1 OWNER tidemark_indexer"
    TIDEMARK_DATABASE_URL="host=$PG_DIR user=tidemark_indexer dbname=$1" "$bin" migrate >"$PG_DIR/$1.log" 2>&1 ||
        { cat "$PG_DIR/$1.log" >&2; fail "migrate as a plain owner"; }
    ! grep -q 'run roles.sql' "$PG_DIR/$1.log" || fail "roles.sql was run, and is asked for: $(cat "$PG_DIR/$1.log")"
}

export PGDATABASE=postgres
sql "DROP DATABASE tidemark"
"$PG_BIN/psql" -Xq -f "$roles"
sql "ALTER ROLE tidemark_analyst SET statement_timeout = 0"
"$PG_BIN/psql" -Xq -f "$roles" # again, after an upgrade
[ "$(sql "SELECT setconfig @> '{statement_timeout=60s}' FROM pg_db_role_setting WHERE setrole = 'tidemark_analyst'::regrole AND setdatabase = 0")" = t ] ||
    fail "what a role set for itself stays"
owner tidemark
! "$PG_BIN/psql" -Xq -f "$database" 2>"$PG_DIR/wrong" && grep -q "is not the index's" "$PG_DIR/wrong" || fail "database.sql in the wrong database"
export PGDATABASE=tidemark
"$PG_BIN/psql" -Xq -f "$database"
"$PG_BIN/psql" -Xq -f "$database" # again, after it was restored
TIDEMARK_DATABASE_URL="host=$PG_DIR user=tidemark_indexer dbname=tidemark" "$bin" migrate >"$PG_DIR/again.log" 2>&1 || fail "$(cat "$PG_DIR/again.log")"
"$here/_roles.py" "$PG_BIN/psql" tidemark_indexer | tee "$PG_DIR/roles.log"
grep -q "^ok locks" "$PG_DIR/roles.log" || fail "locks were not tried"
"$PG_BIN/pg_dump" -Fc -f "$PG_DIR/dump" tidemark
! "$PG_BIN/pg_restore" -l "$PG_DIR/dump" | grep ' pg_catalog ' || fail "a dump names functions of this server, with arguments that another may not have"
sql "CREATE DATABASE restored" && "$PG_BIN/pg_restore" --exit-on-error -d restored "$PG_DIR/dump"
PGDATABASE=restored "$PG_BIN/psql" -Xq -f "$database"
[ "$(PGDATABASE=restored sql "SELECT has_function_privilege('public', 'pg_advisory_lock(bigint)', 'EXECUTE')")" = f ] || fail "every login may lock in a restored database"
sql "DROP DATABASE restored"

# If a superuser migrates and no role exists, migrations make the roles with the same rights.
export PGDATABASE=postgres
sql "DROP DATABASE tidemark"
for role in $("$PG_BIN/psql" -XAtqc "SELECT rolname FROM pg_roles WHERE rolname LIKE 'tidemark%'"); do sql "DROP ROLE $role"; done
sql "CREATE DATABASE tidemark"
"$bin" migrate 2>"$PG_DIR/log2"
export PGDATABASE=tidemark
"$here/_roles.py" "$PG_BIN/psql" postgres
echo ok
