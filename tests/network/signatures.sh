#!/usr/bin/env bash
# Three validators, of which one falls silent, and an upgrade of the protocol. What was indexed from the lake is proven by their archives, as
# far as the named validators signed. Indexes that begin with a checkpoint have the state of the whole one. Proofs of transactions that
# the API gives are checked by `verify --proof` and by both packages.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../integration/clients/_clients.sh"
made=$work
. "$here/../integration/_pg.sh"
. "$here/../integration/_api.sh"
. "$here/../../tools/lib/network.sh"
skip() { echo "skipped: $*"; exit 77; }
remove_packages() { rm -rf "$made"; }
PG_AT_EXIT=remove_packages
network_archive
network_needs setpriv
network_unpack
pg_start
export PG_DIR PG_BIN TIDE_STELLAR NETWORK_PROGRAMS=$network_bin
python3 "$here/_signatures.py" run || fail "exit $?"

cp "$here/../integration/clients/_proofs.mjs" "$packages/"
url=$TIDEMARK_DATABASE_URL
export TIDEMARK_DEPLOYMENT=$PG_DIR/two.json
for database in voted silent; do
    export PGDATABASE=$database TIDEMARK_DATABASE_URL=${url/dbname=tidemark/dbname=$database}
    API_READY=/healthz api_start # the protocol is not whole: /readyz is never 200
    proofs=$PG_DIR/proofs.$database
    mkdir "$proofs"
    sql "SELECT encode(hash, 'hex') FROM chain.tx WHERE ledger < (SELECT ledger + 8 FROM chain.start) ORDER BY ledger, tx" |
        while read -r hash; do
            code=$(curl -s --compressed -o "$proofs/proof.$hash.json" -w '%{http_code}' "$API_URL/api/proof/$hash")
            [ "$code" = 200 ] || { echo "$hash: $code $(cat "$proofs/proof.$hash.json")"; break; }
        done >"$PG_DIR/refused"
    [ ! -s "$PG_DIR/refused" ] || fail "no proof: $(cat "$PG_DIR/refused")"
    [ "$(find "$proofs" -name '*.json' | wc -l)" -ge 3 ] || fail "hardly any transaction is proven: $(sql "SELECT ledger, tx FROM chain.tx ORDER BY 1, 2")"
    "$python" "$here/_signatures.py" proofs "$database" "$proofs" "$packages" || fail "the verifiers do not agree"
    api_stop || fail "tidemark-api: exit $?: $(tail -3 "$PG_DIR/api.log")"
done
echo "ok signatures"
