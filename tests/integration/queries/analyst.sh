#!/usr/bin/env bash
# Uses the analyst's role on a simulated chain: the ten questions of migrations/README.md have answers, every other
# access is refused. Then an operator without the right to make roles: the migration says what remains to be done, and
# that works. At last a second protocol in the same database: the questions are about the current deployment alone.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../_pg.sh"
pg_start_empty
bin=$TIDE_BIN/tidemark-indexer
[ -x "$TIDE_BIN/tidemark-sim" ] || { echo "no tidemark-sim"; exit 1; }
mkdir "$PG_DIR/sim" "$PG_DIR/other"
"$TIDE_BIN/tidemark-sim" write --lake "$PG_DIR/sim/lake" --ledgers 384 --quiet

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

# A query for a span of time, written as a span of ledgers, gives the same calls and reads fewer rows.
deployment=$(sql "SELECT min(deployment) FROM analyst.networks")
as_analyst() { PGUSER=tidemark_analyst sql "$1"; }
from="(SELECT percentile_disc(0.4) WITHIN GROUP (ORDER BY closed_at) FROM analyst.ledgers)"
from=$(as_analyst "SELECT $from") to=$(as_analyst "SELECT timestamptz '$from' + interval '5 minutes'")
by_time="SELECT count(*), sum(ledger), sum(tx_order) FROM analyst.calls WHERE closed_at > '$from' AND closed_at <= '$to'"
by_ledger="SELECT count(*), sum(ledger), sum(tx_order) FROM analyst.calls WHERE deployment = $deployment
    AND ledger > analyst.ledger_at($deployment, '$from') AND ledger <= analyst.ledger_at($deployment, '$to')"
[ "$(as_analyst "$by_time")" = "$(as_analyst "$by_ledger")" ] || fail "five minutes: by time $(as_analyst "$by_time"), by ledger $(as_analyst "$by_ledger")"
case $(as_analyst "$by_ledger") in 0\|*) fail "no calls within five minutes: this proves nothing" ;; esac
blocks() { sql "EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) $1" | python3 -c 'import json, sys; plan = json.load(sys.stdin)[0]["Plan"]; print(plan["Shared Hit Blocks"] + plan["Shared Read Blocks"])'; }
sql "ANALYZE" 2>/dev/null
[ "$(blocks "$by_ledger")" -lt "$(blocks "$by_time")" ] || fail "by ledger $(blocks "$by_ledger") blocks, by time $(blocks "$by_time")"
sql "SET enable_seqscan = off; EXPLAIN $by_time" | grep -c 'Bitmap Index Scan on call_p.*_closed_at_idx' >/dev/null || fail "no index finds calls by time: $(sql "EXPLAIN $by_time")"
[ "$(as_analyst "SELECT analyst.ledger_at($deployment, '-infinity')")" = 0 ] || fail "a ledger before the first"
echo "five minutes of calls: $(blocks "$by_ledger") blocks by ledger, $(blocks "$by_time") by time"

"$TIDE_BIN/tidemark-sim" write --lake "$PG_DIR/other/lake" --ledgers 384 --passphrase "Another Simulated Network" --quiet
sql "CREATE DATABASE alone"
for database in tidemark alone; do
    TIDEMARK_DATABASE_URL="host=$PG_DIR user=postgres dbname=$database" "$bin" run --lake "$PG_DIR/other/lake" --deployment "$PG_DIR/other/deployment.json" \
        --stop-at-end 2>"$PG_DIR/run.log" || { cat "$PG_DIR/run.log" >&2; fail "a second deployment in $database"; }
done
"$here/_analyst.py" "$TIDE_SOURCE_DIR/migrations/README.md" alone
