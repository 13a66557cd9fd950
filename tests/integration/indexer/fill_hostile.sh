#!/usr/bin/env bash
# The past below a checkpoint is filled on a chain of attackers: entries that are decoded at first and raw later, tokens that show
# their kind below the checkpoint and are named behind it. Digests are those of one index of the whole chain. Left out are the attack
# `changes`, from which no state follows (audit_hostile.sh), and those that name more tokens than have a place: with these an index begins, too.
#   usage: fill_hostile.sh [SEED]
here=$(dirname "$0")
. "$here/../_pg.sh"
pg_start
[ -x "$TIDE_BIN/tidemark-sim" ] || { echo "no tidemark-sim"; exit 1; }
bin=$TIDE_BIN/tidemark-indexer
sim=$PG_DIR/sim
mkdir "$sim"
export TIDEMARK_DEPLOYMENT=$sim/deployment.json
database() { # NAME: makes it, and sets where commands go
    PGDATABASE=postgres "$PG_BIN/createdb" "$1"
    export TIDEMARK_DATABASE_URL="host=$PG_DIR port=5432 user=postgres dbname=$1"
}
run() { "$bin" run --lake "$sim/lake" --stop-at-end "$@" 2>"$PG_DIR/run.log" || fail "run $*: $(tail -n 2 "$PG_DIR/run.log")"; }
seeds=("${1:-7}")
[ -z "${TIDE_LONG:-}" ] || seeds+=(3 5 8 9)
for seed in "${seeds[@]}"; do
    rm -rf "$sim/lake" "$sim/archive"
    "$TIDE_BIN/tidemark-sim" write --lake "$sim/lake" --archive "$sim/archive" --deployment "$TIDEMARK_DEPLOYMENT" --ledgers 192 --txs 4 --hostile "$seed" \
        --hostile-attacks refused,events,entries,strangers,footprint,router,lives,asset,code,large --quiet
    database "whole$seed"
    run
    "$bin" digest >"$PG_DIR/digest"
    for checkpoint in 1087 ${TIDE_LONG:+1151}; do
        database "begun${seed}_$checkpoint"
        run --archive "$sim/archive" --from-checkpoint $checkpoint
        ! "$bin" digest | diff -q "$PG_DIR/digest" - >/dev/null || fail "the digests of the state alone are those of the whole index"
        "$bin" backfill --lake "$sim/lake" --from 1024 --to $checkpoint 2>"$PG_DIR/fill.log" || fail "seed $seed, checkpoint $checkpoint: $(tail -n 3 "$PG_DIR/fill.log")"
        "$bin" digest | diff "$PG_DIR/digest" - >"$PG_DIR/diff" || fail "seed $seed, checkpoint $checkpoint: $(cat "$PG_DIR/diff")"
        echo "ok      seed $seed, checkpoint $checkpoint: $(grep -c . "$PG_DIR/digest") digests equal"
    done
done

# Partners list each other's catalogs. Several entries of a state name a token without a place, and each look at them does: it is noted once.
rm -rf "$sim/lake" "$sim/archive"
"$TIDE_BIN/tidemark-sim" write --lake "$sim/lake" --archive "$sim/archive" --deployment "$TIDEMARK_DEPLOYMENT" --first-ledger 1920 --ledgers 192 --life 64 \
    --hostile 8 --hostile-bulk 5 --catalog-native --quiet
database named
run --archive "$sim/archive" --from-checkpoint 2047 --discovered-tokens 1
ignored=$(PGDATABASE=named sql "SELECT count(*) FROM chain.contract_seen WHERE what = 'ignored' AND ledger = 2047")
[ "$ignored" -gt 50 ] || fail "few tokens have no place at the checkpoint: $ignored"
echo "ok      a state that names $ignored tokens without a place"
echo "ok fill_hostile"
