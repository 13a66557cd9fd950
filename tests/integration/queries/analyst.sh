#!/usr/bin/env bash
# The analyst's role on a simulated chain: the ten questions of migrations/README.md have answers, all else is refused.
# Then an operator who may not make roles: the migration says what is left to do, and it works.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../_pg.sh"
pg_start_empty
bin=$TIDE_BIN/tidemark-indexer
[ -x "$TIDE_BIN/tidemark-sim" ] || { echo "no tidemark-sim"; exit 77; }
mkdir "$PG_DIR/sim"
"$TIDE_BIN/tidemark-sim" write --lake "$PG_DIR/sim/lake" --ledgers 960 --quiet

sql "CREATE ROLE operator LOGIN"
sql "CREATE DATABASE theirs OWNER operator"
PGUSER=operator PGDATABASE=theirs TIDEMARK_DATABASE_URL="host=$PG_DIR user=operator dbname=theirs" "$bin" migrate >"$PG_DIR/out" 2>&1 ||
    { cat "$PG_DIR/out" >&2; fail "migrate as a plain role"; }
grep -q "the roles have no rights in this database.*roles.sql.*CALL.*analyst.grant_access()" "$PG_DIR/out" || fail "the migration does not say what to do without the roles: $(cat "$PG_DIR/out")"
[ "$(sql "SELECT count(*) FROM pg_roles WHERE rolname = 'tidemark_analyst'")" = 0 ] || fail "a plain role made a role"
PGDATABASE=theirs sql "CREATE ROLE tidemark_analyst LOGIN; CALL analyst.grant_access()"
[ "$(PGDATABASE=theirs PGUSER=tidemark_analyst sql "SELECT count(*) FROM analyst.swaps")" = 0 ] || fail "the role does not work"
! PGDATABASE=theirs PGUSER=tidemark_analyst sql "SELECT count(*) FROM event.log" 2>/dev/null || fail "the role sees events"

"$bin" run --lake "$PG_DIR/sim/lake" --deployment "$PG_DIR/sim/deployment.json" --stop-at-end 2>"$PG_DIR/run.log" ||
    { cat "$PG_DIR/run.log" >&2; fail "run"; }
"$here/_analyst.py" "$TIDE_SOURCE_DIR/migrations/README.md"
