# A primary, hot standbys, an indexer, API nodes and clients: sourced after _pg.sh and _rpc.sh.
#
#   chain [option]…        a network that closes a ledger each 400 ms, an indexer that follows it, and one that waits ($indexers)
#   standby NAME [-c x=y]… a hot standby of the primary, in $PG_DIR/NAME
#   on NAME SQL            asks that server
#   caught_up NAME         waits until it has replayed what the primary has written
#   promote NAME           and it is the primary from now on: sql asks it
#   keep_wal               before any server is lost that is to come back
#   rejoin NAME OF         a former primary becomes a standby of OF; NAME . is the first one
#   node NAME HOST[,HOST]  an API node with a cache of its own; NODE_OPTIONS are added, NODE_LISTEN is its address ($NAME_pid)
#   clients NODE…          look-ups, SQL queries and a stream of each node, until clients_end ($PG_DIR/clients)
#   freezes                freezes and thaws the addresses that clients ask about, again and again, until freezes_end
#   clients_end            when they have a ledger that was written after this call; then judge WORD…
#   writes_go_on           the indexer commits: sets $gap, the seconds since $lost
chain() {
    serve one --ledgers 40 --txs 8 --seed 8 --close-ms 400 --wall-clock "$@"
    export TIDEMARK_DEPLOYMENT=$PG_DIR/one/deployment.json TIDEMARK_API_DRAIN_MS=0 TIDEMARK_API_RATE_LOOKUP=0 TIDEMARK_API_RATE_QUERY=0
    indexers=()
    for _ in 1 2; do
        TIDEMARK_DATABASE_URL=$(servers "$PG_DIR" ${STANDBYS:-}) "$TIDE_BIN/tidemark-indexer" run --rpc "$one_url" --lake "$PG_DIR/one/lake" --poll-ms 50 \
            --retry-ms-max 500 2>>"$PG_DIR/indexer.log" &
        indexers+=($!)
    done
    within 60 reached 1063 || fail "indexer: $(tail -n 3 "$PG_DIR/indexer.log")"
}
servers() { # FOLDER…: a connection string that names all of them
    local IFS=,
    echo "host=$* port=5432 user=postgres dbname=tidemark"
}
ledger() { sql "SELECT coalesce(max(ledger), 0) FROM chain.cursor" 2>/dev/null || echo 0; }
reached() { [ "$(ledger)" -ge "$1" ]; }
on() { PGHOST=$PG_DIR/$1 sql "$2"; }

standby() { pg_standby "$PG_DIR/$1" "${@:2}"; }
servers_down() {
    local pid
    for pid in "$PG_DIR"/*/data/postmaster.pid; do cluster_down "${pid%/data/postmaster.pid}" immediate; done
}
PG_AT_EXIT=servers_down

caught_up() {
    local at
    at=$(sql "SELECT pg_current_wal_lsn()")
    within 20 has_replayed "$1" "$at" || fail "$1 does not replay $at"
}
has_replayed() { [ "$(on "$1" "SELECT pg_last_wal_replay_lsn() >= '$2'")" = t ]; }
promote() {
    as_pg "$PG_BIN/pg_ctl" -D "$PG_DIR/$1/data" -w -t 60 promote >/dev/null
    export PGHOST=$PG_DIR/$1
}

# The setting is for pg_rewind, and must be in a file: pg_rewind first starts the former primary by itself for
# recovery.
keep_wal() {
    sql "ALTER SYSTEM SET wal_keep_size = '256MB'"
    sql "SELECT pg_reload_conf()" >/dev/null
}

# The former primary becomes a standby of the new one and loses the commits that only it had.
rejoin() { # NAME OF
    cluster_down "$PG_DIR/$1" immediate
    on "$2" CHECKPOINT # pg_rewind of PostgreSQL 15 takes the timeline from there
    as_pg "$PG_BIN/pg_rewind" -D "$PG_DIR/$1/data" --source-server="host=$PG_DIR/$2 user=postgres dbname=postgres" -R --no-sync >"$PG_DIR/rewind.log" 2>&1 ||
        fail "pg_rewind: $(tail -n 2 "$PG_DIR/rewind.log")"
    cluster_up "$PG_DIR/$1" -F
    caught_up "$1"
}

node() {
    local name=$1 hosts=$2
    rm -f "$PG_DIR/$name.port"
    TIDEMARK_DATABASE_URL="host=$hosts port=5432 user=postgres dbname=tidemark" "$TIDE_BIN/tidemark-api" --api-listen "${NODE_LISTEN:-127.0.0.1:0}" \
        --api-port-file "$PG_DIR/$name.port" --api-cache "$PG_DIR/${NODE_CACHE:-cache_$name}" ${NODE_OPTIONS:-} 2>>"$PG_DIR/$name.log" &
    printf -v "${name}_pid" %s $!
    within 60 is_ready "$name" || fail "$name: $(tail -n 3 "$PG_DIR/$name.log") $(curl -s "$(url "$name" /readyz)")"
}
url() { echo "http://127.0.0.1:$(cat "$PG_DIR/$1.port")$2"; }
is_ready() { # its stream opens a connection of its own
    [ -s "$PG_DIR/$1.port" ] && curl -sf "$(url "$1" /readyz)" >"$PG_DIR/$1.ready" && ! grep '"stream":"down"' "$PG_DIR/$1.ready" >/dev/null
}

clients() {
    rm -f "$PG_DIR"/clients.* "$PG_DIR/marks"
    python3 "$(dirname "${BASH_SOURCE[0]}")/_clients.py" "$@" 2>"$PG_DIR/clients.log" &
    clients=$!
    within 30 test -e "$PG_DIR/clients.begun" || fail "clients: $(cat "$PG_DIR/clients.log")"
    within 60 reached $(($(ledger) + 5)) || fail "nothing is written: $(tail -n 3 "$PG_DIR/indexer.log")"
}
freezes() {
    while :; do
        for call in 'freeze --text x' unfreeze; do
            for who in $PEOPLE; do "$TIDE_BIN/tidemark-sim" tx $call --as admin --subject "$who" --seed 8 --rpc "$one_url" || true; done
        done
    done >"$PG_DIR/freezes" 2>&1 &
    freezer=$!
}
frozen_often() { [ "$(grep -c '^freeze admin: passed' "$PG_DIR/freezes")" -ge 5 ]; }
freezes_end() {
    within 60 frozen_often || fail "hardly anybody was frozen: $(tail -n 3 "$PG_DIR/freezes")"
    { kill $freezer && wait $freezer; } 2>/dev/null || true
}
clients_end() {
    within 60 reached $(($(ledger) + 5)) || fail "nothing is written: $(tail -n 3 "$PG_DIR/indexer.log")"
    ledger >"$PG_DIR/clients.end"
    wait $clients || fail "clients: $(cat "$PG_DIR/clients.log")"
}
judge() { python3 "$(dirname "${BASH_SOURCE[0]}")/_judge.py" "$@" || fail "clients"; }

now() { echo "${EPOCHREALTIME/,/.}"; }
since() { awk -v a="$1" -v b="$(now)" 'BEGIN { printf "%.1f", b - a }'; }
mark() { echo "$1 $(now)" >>"$PG_DIR/marks"; } # for the judge
writes_go_on() {
    local from
    from=$(ledger)
    within 60 reached $((from + 1)) || fail "the indexer does not go on: $(tail -n 5 "$PG_DIR/indexer.log")"
    mark writes
    gap=$(since "$lost")
}

# Compares all rows with those of an index of the lake that had no failover.
same_as_undisturbed() {
    local have want last pid
    for pid in "${indexers[@]}"; do
        kill -TERM $pid
        wait $pid || fail "an indexer ends with $?: $(tail -n 3 "$PG_DIR/indexer.log")"
    done
    last=$(ledger)
    have=$(TIDEMARK_DATABASE_URL="host=$PGHOST port=5432 user=postgres dbname=tidemark" "$TIDE_BIN/tidemark-indexer" digest | grep '^total')
    PGDATABASE=postgres "$PG_BIN/createdb" undisturbed
    export TIDEMARK_DATABASE_URL="host=$PGHOST port=5432 user=postgres dbname=undisturbed"
    "$TIDE_BIN/tidemark-indexer" backfill --lake "$PG_DIR/one/lake" --from 1024 --to "$last" 2>"$PG_DIR/undisturbed.log" || fail "$(tail -3 "$PG_DIR/undisturbed.log")"
    want=$("$TIDE_BIN/tidemark-indexer" digest | grep '^total')
    [ "$have" = "$want" ] || fail "other rows than undisturbed: $have, $want"
    echo "ok the tables at ledger $last are those of an index that nothing disturbed: $have"
}

# Addresses with a record, about which the clients ask: verified ones (2) first.
pick_people() {
    PEOPLE=$(sql "SELECT string_agg(address, ' ') FROM (SELECT address FROM state.compliance_registry_compliance_rec ORDER BY status = 2 DESC, 1 LIMIT 4) AS p")
    [ -n "$PEOPLE" ] || fail "no address"
    export PEOPLE
}
