# Shared by the tests of the writer: sourced after _pg.sh. driver = bin/writer_driver.
driver=$TIDE_BIN/writer_driver

fresh() { "$driver" setup 2>/dev/null; } # an empty database with the driver's tables

# Prints one line that depends on the rows of all tables only, then cursor and coverage. The deployment's number tells how often its row was tried.
digest_of() { echo "(SELECT md5(coalesce(string_agg(r, '|' ORDER BY r), '')) FROM (SELECT (to_jsonb(t) - 'deployment')::text AS r FROM $1 AS t) AS q)"; }
digest_sql="SELECT $(digest_of event.thing),
                (SELECT count(*) FROM event.thing),
                $(digest_of history.item),
                $(digest_of state.item),
                (SELECT count(*) FROM state.item), c.ledger, c.hash, c.ledgers, c.events,
                (SELECT string_agg(from_ledger || '..' || to_ledger, ',' ORDER BY from_ledger) FROM chain.coverage)
         FROM chain.cursor c"
digest() { sql "$digest_sql"; }

# Checks that state agrees with history, in whatever order the history came.
state_sql="WITH n AS (SELECT DISTINCT ON (key_hash) * FROM history.item ORDER BY key_hash, ledger DESC, tx DESC, seq DESC),
                want AS (SELECT deployment, key_hash, ledger, tx, seq, value FROM n WHERE NOT removed)
           SELECT count(*) FROM ((TABLE want EXCEPT TABLE state.item) UNION ALL (TABLE state.item EXCEPT TABLE want)) d"
check_state() {
    local wrong
    wrong=$(sql "$state_sql")
    [ "$wrong" = 0 ] || fail "$1: $wrong rows of state are not what history says"
}

# Checks that every attached partition has its parent's indexes and that no partition is left unattached.
partitions_sql="SELECT (SELECT count(*) FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid WHERE c.relkind = 'I' AND NOT i.indisvalid)
    || ' invalid indexes, ' || (SELECT count(*) FROM chain.partition WHERE NOT attached AND first_loaded > 0)
    || ' partitions not attached, ' || (SELECT count(*) FROM pg_constraint WHERE conname = 'loading') || ' constraints left'"
check_partitions() {
    local wrong
    wrong=$(sql "$partitions_sql")
    [ "$wrong" = '0 invalid indexes, 0 partitions not attached, 0 constraints left' ] || fail "$1: $wrong"
}

# Prints all of the above over one connection. Every run that ended well must print the same.
verdict() { "$PG_BIN/psql" -XAtqv ON_ERROR_STOP=1 -c "$digest_sql" -c "$state_sql" -c "$partitions_sql"; }
