# Shared by the tests of the writer: sourced after _pg.sh. driver = bin/writer_driver.
driver=$TIDE_BIN/writer_driver

fresh() { # an empty database with the driver's tables
    sql "DROP SCHEMA IF EXISTS chain CASCADE; DROP SCHEMA IF EXISTS event CASCADE; DROP SCHEMA IF EXISTS state CASCADE; DROP SCHEMA IF EXISTS history CASCADE" 2>/dev/null
    "$driver" setup 2>/dev/null
}

# One line that depends on the rows of all tables alone, then cursor and coverage.
digest() {
    sql "SELECT (SELECT md5(coalesce(string_agg(t::text, '|' ORDER BY t::text), '')) FROM event.thing t),
                (SELECT count(*) FROM event.thing),
                (SELECT md5(coalesce(string_agg(t::text, '|' ORDER BY t::text), '')) FROM history.item t),
                (SELECT md5(coalesce(string_agg(t::text, '|' ORDER BY t::text), '')) FROM state.item t),
                (SELECT count(*) FROM state.item), c.ledger, c.hash, c.ledgers, c.events,
                (SELECT string_agg(from_ledger || '..' || to_ledger, ',' ORDER BY from_ledger) FROM chain.coverage)
         FROM chain.cursor c"
}

# State must be what history says, whatever order history came in.
check_state() {
    local wrong
    wrong=$(sql "WITH n AS (SELECT DISTINCT ON (key_hash) * FROM history.item ORDER BY key_hash, ledger DESC, tx DESC, seq DESC),
                      want AS (SELECT deployment, key_hash, ledger, tx, seq, value FROM n WHERE NOT removed)
                 SELECT count(*) FROM ((TABLE want EXCEPT TABLE state.item) UNION ALL (TABLE state.item EXCEPT TABLE want)) d")
    [ "$wrong" = 0 ] || fail "$1: $wrong rows of state are not what history says"
}

# Every attached partition has the parents' indexes, and nothing is left unattached.
check_partitions() {
    local wrong
    wrong=$(sql "SELECT count(*) FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
                 WHERE c.relkind = 'I' AND NOT i.indisvalid")
    [ "$wrong" = 0 ] || fail "$1: $wrong invalid indexes"
    [ "$(sql "SELECT count(*) FROM chain.partition WHERE NOT attached")" = 0 ] || fail "$1: unattached partitions"
    [ "$(sql "SELECT count(*) FROM pg_constraint WHERE conname = 'loading'")" = 0 ] || fail "$1: leftover constraints"
}
