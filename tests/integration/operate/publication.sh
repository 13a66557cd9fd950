#!/usr/bin/env bash
# A logical replication subscriber gets every row of a published table. A partition that would normally be loaded
# before it is attached is attached first. A partition loaded before the publication existed is not attached.
. "$(dirname "$0")/../_pg.sh"
. "$(dirname "$0")/../_writer.sh"
pg_start -c wal_level=logical
. "$(dirname "$0")/../_faults.sh"
load="1 420 batch=10 partition=100"
fresh

"$PG_BIN/createdb" subscriber
there() { PGDATABASE=subscriber sql "$1"; }
TIDEMARK_DATABASE_URL="host=$PG_DIR port=5432 user=postgres dbname=subscriber" "$driver" setup 2>/dev/null
there "CREATE TABLE event.thing_all PARTITION OF event.thing DEFAULT"

sql "CREATE PUBLICATION lake FOR TABLE event.thing WITH (publish_via_partition_root)"
sql "SELECT pg_create_logical_replication_slot('lake', 'pgoutput')" >/dev/null # of the same server: else CREATE SUBSCRIPTION waits for itself
there "CREATE SUBSCRIPTION lake CONNECTION 'host=$PG_DIR port=5432 user=postgres dbname=tidemark' PUBLICATION lake WITH (create_slot = false)"
until_there() { # CONDITION
    PGDATABASE=subscriber within 30 sql_says "$1" ||
        fail "the subscriber has $(there "SELECT count(*) FROM event.thing") rows of $(sql "SELECT count(*) FROM event.thing")"
}
until_there "bool_and(srsubstate = 'r') FROM pg_subscription_rel" # its first copy, of an empty table, is over

rows="md5(coalesce(string_agg(t::text, '|' ORDER BY t::text), '')) FROM event.thing AS t"
start $load
wait $writer || fail "exit $?: $(tail -3 "$words")"
grep -q 'partition.published.*publications=lake' "$words" || fail "nothing says that rows go through the parents: $(head -5 "$words")"
want=$(sql "SELECT $rows")
[ "$(sql "SELECT count(*) > 400 FROM event.thing")" = t ] || fail "too few rows"
until_there "(SELECT $rows) = '$want'"
check_state published
check_partitions published
echo "ok a subscriber has all $(sql "SELECT count(*) FROM event.thing") rows of $(sql "SELECT count(*) FROM chain.partition") partitions"

there "ALTER SUBSCRIPTION lake DISABLE"
there "ALTER SUBSCRIPTION lake SET (slot_name = NONE)"
there "DROP SUBSCRIPTION lake"
sql "DROP PUBLICATION lake"
fresh
start 1 1000000 batch=10 partition=1000000 # far more than it loads until it is killed
until_sql "EXISTS (SELECT FROM chain.partition WHERE NOT attached AND last_loaded > 50)" 20
kill -9 $writer
wait $writer 2>/dev/null || true
load="1 $(sql 'SELECT last_loaded + 100 FROM chain.partition') batch=10 partition=1000000"
sql "CREATE PUBLICATION late FOR TABLE event.thing WITH (publish_via_partition_root)"
start $load
code=0
wait $writer || code=$?
[ $code != 0 ] && grep -q 'loaded before the publication late was made' "$words" || fail "exit $code: $(tail -3 "$words")"
[ "$(sql "SELECT count(*) FROM event.thing")" = 0 ] || fail "rows were attached that no subscriber has"
sql "DROP PUBLICATION late"
start $load
wait $writer || fail "exit $?: $(tail -3 "$words")"
check_state dropped
check_partitions dropped
echo "ok a partition loaded before the publication is not attached; without the publication it is"
