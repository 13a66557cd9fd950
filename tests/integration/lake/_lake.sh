# A simulated chain in a private PostgreSQL, and a role that may read what a lake holds: sourced, not run.
#
#   . "$(dirname "$0")/_lake.sh"     skips (77) where `tools/install-deps lake` has not run
#   lake_chain [option of tidemark-sim]…   simulates a chain and indexes it
#   lake COMMAND FOLDER […]          tools/lake/lake, as the role `lake`
#   refused EXIT PATTERN COMMAND…    what must end with that code and say that
. "$(dirname "${BASH_SOURCE[0]}")/../_pg.sh"

export TIDE_LAKE_ENV=${TIDE_LAKE_ENV:-$TIDE_SOURCE_DIR/build/lake}
[ -x "$TIDE_LAKE_ENV/bin/python" ] && "$TIDE_LAKE_ENV/bin/python" -c 'import pyiceberg, adbc_driver_postgresql, duckdb' 2>/dev/null ||
    { echo "no packages in $TIDE_LAKE_ENV; run tools/install-deps lake"; exit 1; }
[ -x "$TIDE_BIN/tidemark-sim" ] || { echo "no tidemark-sim"; exit 1; }
export PYTHONDONTWRITEBYTECODE=1
lake_tool=$TIDE_SOURCE_DIR/tools/lake
lake_python=$TIDE_LAKE_ENV/bin/python

lake_chain() {
    mkdir -p "$PG_DIR/sim"
    "$TIDE_BIN/tidemark-sim" write --lake "$PG_DIR/sim/lake" --quiet "$@"
    "$TIDE_BIN/tidemark-indexer" run --lake "$PG_DIR/sim/lake" --deployment "$PG_DIR/sim/deployment.json" --stop-at-end 2>"$PG_DIR/run.log" ||
        { tail "$PG_DIR/run.log" >&2; fail "indexing"; }
    "$PG_BIN/psql" -Xqv ON_ERROR_STOP=1 -f "$lake_tool/role.sql"
    export LAKE_URL="host=$PG_DIR port=5432 user=lake dbname=tidemark"
}

# The session of a process ends after the process, and while it lasts a lake has a writer.
lake_sessions=0 # those of writers that a test holds open
lake_waits() { until_sql "count(*) <= $lake_sessions FROM pg_stat_activity WHERE usename = 'lake'" 60; }

lake() { lake_waits; TIDEMARK_DATABASE_URL=${LAKE_AS:-$LAKE_URL} "$lake_tool/lake" "$1" --lake "$PG_DIR/$2" "${@:3}"; }

refused() { # EXIT PATTERN COMMAND…
    local want=$1 pattern=$2 code=0
    shift 2
    "$@" >"$PG_DIR/out" 2>&1 || code=$?
    [ "$code" = "$want" ] && grep -q -- "$pattern" "$PG_DIR/out" || fail "$*: exit $code, not $want: $(cat "$PG_DIR/out")"
}
