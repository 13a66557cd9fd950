#!/usr/bin/env bash
# Nodes list the entry changes of a transaction in different orders. One chain as listed by four nodes, from lakes,
# over RPC and from a stream, with several decoders, in ranges from the last to the first, with discovered tokens: the
# digests are equal. One index passes `verify` against each source, and the others, whose rows are the same, against
# another one (with TIDE_LONG each against each). label: all
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../_pg.sh"
. "$here/../_rpc.sh"
. "$here/_discover.sh"
pg_start
chain=(--seed 3 --ledgers 112 --txs 6 --life 70)
last=1135
for node in 1 2; do
    "$TIDE_BIN/tidemark-sim" write --lake "$PG_DIR/lake$node" --shuffle $node "${chain[@]}" --ledgers-per-object 1 --deployment "$PG_DIR/deployment.json" --quiet
done
"$TIDE_BIN/tidemark-sim" write --stream "$PG_DIR/stream.xdr" --shuffle 3 "${chain[@]}" --deployment "$PG_DIR/deployment.json" --quiet
serve one "${chain[@]}" --shuffle 4
strip "$PG_DIR"
export TIDEMARK_DEPLOYMENT=$PG_DIR/without.json TIDEMARK_PARTITION_LEDGERS=1000
bin=$TIDE_BIN/tidemark-indexer
declare -A source=([lake1]="--lake $PG_DIR/lake1" [lake2]="--lake $PG_DIR/lake2" [stream]="--stream $PG_DIR/stream.xdr" [rpc]="--rpc $one_url")

tool() { "$bin" "$@" >"$PG_DIR/out" 2>&1 || fail "$name: $*: $(tail -n 8 "$PG_DIR/out")"; }
finished() {
    [ "$(cursor)" = $last ] && [ "$(waiting)" = 0 ] || fail "$name: ends at $(cursor), $(waiting) ranges wait"
    "$bin" digest >"$PG_DIR/$name.digest" || fail "$name: digest"
    diff "$PG_DIR/lake1.digest" "$PG_DIR/$name.digest" >&2 || fail "$name: other rows than from lake1"
}
# shellcheck disable=SC2086
index() { # NAME [option]…: from the source of that name
    name=$1
    into "i_$name"
    tool run ${source[$name]} --stop-at-end "${@:2}"
    finished
}

index lake1 --decode-threads 1
[ "$(sql "SELECT count(*) > 2 FROM chain.contract_seen WHERE what = 'discovered'")" = t ] || fail "no token is discovered"
[ "$(sql "SELECT count(*) > 0 FROM history.ttl WHERE tx = 1048575")" = t ] || fail "nothing is evicted"
index lake2 --decode-threads 3 --batch-ledgers 7
index stream --batch-ledgers 1
index rpc --rpc-requests-s 10000
for name in lake1 lake2 stream rpc; do
    PGDATABASE=i_$name TIDEMARK_DATABASE_URL="host=$PG_DIR port=5432 user=postgres dbname=i_$name"
    others=(lake2)
    [ "$name" != lake1 ] && [ -z "${TIDE_LONG:-}" ] || others=(lake1 lake2 stream rpc)
    for other in "${others[@]}"; do
        # shellcheck disable=SC2086
        tool verify ${source[$other]}
    done
    echo "ok $name: $(tail -n 1 "$PG_DIR/$name.digest")"
done

name=backwards
into i_backwards
for range in "1110 $last" "1081 1109" "1024 1080"; do
    read -r from to <<<"$range"
    tool backfill --lake "$PG_DIR/lake$((from % 2 + 1))" --from "$from" --to "$to" --batch-ledgers 5
done
tool run --lake "$PG_DIR/lake2" --stop-at-end
finished
tool reproject
finished
echo "ok backwards from two lakes, and reprojected"
