#!/usr/bin/env bash
# Faults that an operator repairs: a damaged page, a backup of yesterday, an interrupted migration. The writer stops
# with the server's message instead of writing to a damaged database. After a restore from an older backup it catches
# up. A migration is applied completely or not at all. TIDE_FAULT_STEP=1 interrupts migrations at every message
# instead of some.
# label: all
. "$(dirname "$0")/../_pg.sh"
. "$(dirname "$0")/../_writer.sh"
pg_start_empty
. "$(dirname "$0")/../_faults.sh"
proxy_up
tip="batch=3 partition=500 tip"

backup() { "$PG_BIN/pg_dump" -Fc -f "$PG_DIR/backup" tidemark; }
restore() {
    PGDATABASE=postgres sql "DROP DATABASE tidemark WITH (FORCE)"
    PGDATABASE=postgres sql "CREATE DATABASE tidemark"
    "$PG_BIN/pg_restore" --exit-on-error -d tidemark "$PG_DIR/backup"
}

damaged() { # one bit of an index page is wrong on disk
    "$driver" write 1 200 $tip 2>/dev/null
    backup
    local file
    file=$PG_DIR/data/$(sql "SELECT pg_relation_filepath('history.item_p1_0_pkey')")
    pg_stop fast
    printf '\377' | dd of="$file" bs=1 seek=$((8192 + 5000)) conv=notrunc status=none
    pg_again
    local before
    before=$(sql "SELECT ledger FROM chain.cursor")
    start 1 300 $tip
    ends_with 76 'XX001.*invalid page'
    [ "$(sql "SELECT ledger FROM chain.cursor")" = "$before" ] || fail "wrote beside the damage"
    restore
    start 1 300 $tip
    ends_well
}

yesterday() {
    "$driver" write 1 100 $tip 2>/dev/null
    backup
    "$driver" write 1 250 $tip 2>/dev/null
    restore
    [ "$(sql "SELECT ledger FROM chain.cursor")" = 100 ] || fail "not the backup's cursor"
    start 1 300 $tip
    ends_well
}

catalog() { sql "SELECT count(*), md5(string_agg(relname, ',' ORDER BY relname)), (SELECT string_agg(name, ',' ORDER BY name) FROM chain.migration) FROM pg_class WHERE relnamespace::regnamespace::text IN ('chain', 'event', 'state', 'history', 'analyst')"; }
interrupted() { # cut before each message of the whole, then tried again
    local want n code tried=0
    "$TIDE_BIN/tidemark-indexer" migrate >/dev/null 2>&1
    want=$(catalog)
    for ((n = 0; ; n += ${TIDE_FAULT_STEP:-7})); do
        PGDATABASE=postgres sql "DROP DATABASE IF EXISTS half WITH (FORCE)"
        PGDATABASE=postgres sql "CREATE DATABASE half"
        export PGDATABASE=half
        tell clear
        tell rule message close-before skip=$n
        code=0
        TIDEMARK_DATABASE_URL="${proxied/tidemark/half}" "$TIDE_BIN/tidemark-indexer" migrate >"$words" 2>&1 || code=$?
        tell counts
        grep -q fired=1 "$PG_DIR/proxy/told" || break
        TIDEMARK_DATABASE_URL="${TIDEMARK_DATABASE_URL/dbname=tidemark/dbname=half}" "$TIDE_BIN/tidemark-indexer" migrate >"$words" 2>&1 ||
            fail "message $n: the second time: $(tail -1 "$words")"
        [ "$(catalog)" = "$want" ] || fail "message $n: $(catalog) not $want"
        tried=$((tried + 1))
    done
    [ $code = 0 ] || fail "undisturbed: exit $code: $(tail -1 "$words")"
    [ $tried -ge 5 ] || fail "interrupted $tried times only"
    echo "$tried times"
}

wants 1 300 $tip
fresh
fault "P12 damaged page: stops; restored, goes on" damaged
fresh
fault "P14 restored from an older backup: catches up" yesterday
PGDATABASE=postgres sql "DROP DATABASE tidemark WITH (FORCE)"
PGDATABASE=postgres sql "CREATE DATABASE tidemark"
fault "P13 migration interrupted: whole or not at all" interrupted
faults_end
