#!/usr/bin/env bash
# Proves that every way gives the same tables. Several chains are indexed at once, ledger by ledger, in batches of
# every size, by arrays and by COPY, from a stream, and with stops, kills and restarts at any point: the digests of
# all tables are equal, and they tell the model's record. TIDE_SEEDS sets the number of chains: 1, or 5 with
# TIDE_LONG.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../_pg.sh"
pg_start
export PG_BIN
bin=$TIDE_BIN/tidemark-indexer
sim=$TIDE_BIN/tidemark-sim
[ -x "$sim" ] || { echo "no tidemark-sim"; exit 1; }
export ASAN_OPTIONS=detect_leaks=0
number=0
"$bin" migrate >/dev/null 2>&1 || fail "migrate"

fresh() { # a copy of a migrated database is quicker than an emptied one
    [ $number = 0 ] || PGDATABASE=postgres "$PG_BIN/dropdb" --force "same$number"
    number=$((number + 1))
    PGDATABASE=postgres "$PG_BIN/createdb" --template tidemark "same$number"
    export PGDATABASE=same$number
    export TIDEMARK_DATABASE_URL="host=$PG_DIR port=5432 user=postgres dbname=$PGDATABASE"
}

run() {
    "$bin" run --stop-at-end "$@" 2>"$PG_DIR/run.log" || { tail "$PG_DIR/run.log" >&2; fail "seed $seed: run $*"; }
}

digests() { "$bin" digest >"$PG_DIR/$1" || fail "digest"; }

same() {
    digests now
    diff "$PG_DIR/want" "$PG_DIR/now" >&2 || fail "seed $seed: $1: other rows"
}

model() { # kind
    "$here/../_stored.py" "$1" >"$PG_DIR/got" || fail "stored $1"
    "$here/../../golden/_compare.py" "$1" "$PG_DIR/got" "$PG_DIR/expect/$1.jsonl" || fail "seed $seed: $1 differ"
}

# Versions of an entry within a ledger share a row. The last one of each ledger has its own columns.
share_rows() {
    local table shared=0
    for table in $(sql "SELECT c.relname FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid WHERE a.attname = 'earlier_tx' AND c.relkind = 'p'"); do
        shared=$((shared + $(sql "SELECT (SELECT count(*) FROM history.$table) - (SELECT count(*) FROM asof.$table)")))
        [ "$(sql "SELECT count(*) FROM (SELECT DISTINCT ON (key_hash, ledger) key_hash, ledger, tx, seq FROM history.$table ORDER BY 1, 2, 3 DESC, 4 DESC) AS h
            WHERE NOT EXISTS (SELECT FROM asof.$table AS s WHERE (s.key_hash, s.ledger, s.tx, s.seq) = (h.key_hash, h.ledger, h.tx, h.seq))")" = 0 ] ||
            fail "seed $seed: asof.$table lacks the last versions of ledgers"
    done
    [ $shared -gt 100 ] || fail "seed $seed: $shared versions share rows"
}

ledgers=128
[ -z "${TIDE_LONG:-}" ] || ledgers=192
last=$((1024 + ledgers - 1))
for ((seed = 1; seed <= ${TIDE_SEEDS:-$([ -n "${TIDE_LONG:-}" ] && echo 5 || echo 1)}; seed++)); do
    rm -rf "$PG_DIR/lake" "$PG_DIR/expect"
    options=(--seed "$seed" --ledgers $ledgers --txs 5 --life 90 --deployment "$PG_DIR/deployment.json" --quiet)
    "$sim" write --lake "$PG_DIR/lake" --expect "$PG_DIR/expect" "${options[@]}"
    "$sim" write --stream "$PG_DIR/stream.xdr" "${options[@]}"
    export TIDEMARK_DEPLOYMENT=$PG_DIR/deployment.json TIDEMARK_PARTITION_LEDGERS=1000
    lake=(--lake "$PG_DIR/lake")
    fresh; run "${lake[@]}"
    digests want
    share_rows
    for kind in events calls state; do model $kind; done
    fresh; run "${lake[@]}" --batch-ledgers 1; same "ledger by ledger"
    fresh; run "${lake[@]}" --batch-ledgers 1 --array-kib 0; same "ledger by ledger, by COPY"
    fresh; run --stream "$PG_DIR/stream.xdr" --batch-ledgers 11; same "from a stream"

    # batches of every size, each in its own process: so there is a stop after each
    fresh
    RANDOM=$seed
    at=1024
    while [ $at -le $last ]; do
        to=$((at + RANDOM % 40))
        [ $to -le $last ] || to=$last
        "$bin" backfill "${lake[@]}" --from $at --to $to --batch-ledgers $((1 + RANDOM % 9)) --array-kib $((RANDOM % 30)) 2>"$PG_DIR/run.log" ||
            { tail "$PG_DIR/run.log" >&2; fail "seed $seed: backfill $at to $to"; }
        at=$((to + 1))
    done
    same "in pieces"

    # kills and stops the program at any point until the index is complete
    fresh
    for try in 1 2 3 4; do
        "$bin" run "${lake[@]}" --stop-at-end --batch-ledgers $((1 + RANDOM % 5)) 2>"$PG_DIR/run.log" & pid=$!
        sleep 0.$((1 + RANDOM % 4))
        kill -$([ $((try % 2)) = 0 ] && echo TERM || echo KILL) $pid 2>/dev/null || true
        wait $pid 2>/dev/null || true
    done
    run "${lake[@]}"
    same "killed and started again"
    echo "seed $seed: $(tail -n 1 "$PG_DIR/want")"
done
