#!/usr/bin/env bash
# The simulator's archive, signed by simulated validators: proofs, a delay, a fork that stops the indexer and the API,
# and the way out of it. With failpoints, the process is killed at each step of a proof.
here=$(dirname "$0")/..
. "$here/_pg.sh"
. "$here/_api.sh"
[ -x "$TIDE_BIN/tidemark-sim" ] || { echo "no tidemark-sim"; exit 1; }
pg_start
sim=$PG_DIR/sim
mkdir "$sim"
export TIDEMARK_DEPLOYMENT=$sim/deployment.json

write() { "$TIDE_BIN/tidemark-sim" write --lake "$1/lake" --archive "$1/archive" --deployment "$TIDEMARK_DEPLOYMENT" --validators 4 --ledgers 256 --quiet "${@:2}"; }
follow() { # ARCHIVE CODE
    local code=0
    "$TIDE_BIN/tidemark-indexer" run --lake "$sim/good/lake" --archive "$1" --stop-at-end 2>"$PG_DIR/run.log" || code=$?
    [ $code = "$2" ] || fail "$1: exit $code, wanted $2: $(tail -3 "$PG_DIR/run.log")"
}
proven() { sql "SELECT max(ledger), max(cardinality(signed_by)) FROM chain.checkpoint"; }
says() { curl -s -o /dev/null -w '%{http_code}' "$API_URL$1"; }

write "$sim/good"
write "$sim/silent" --signers 2
write "$sim/forked" --fork-at 1270
cmp <(cat "$sim"/good/lake/*/*) <(cat "$sim"/forked/lake/*/*) || fail "the lakes differ"
follow "$sim/silent/archive" 0
[ "$(proven)" = '|' ] || fail "two of four prove: $(proven)"
grep -q 'proof.delayed' "$PG_DIR/run.log" || fail "no delay: $(cat "$PG_DIR/run.log")"
TIDE_FP_COUNT=$PG_DIR/count follow "$sim/silent/archive,$sim/good/archive" 0
[ "$(proven)" = '1278|4' ] || fail "not proven: $(proven)"
"$TIDE_BIN/tidemark-indexer" verify --archive "$sim/good/archive" --to 1279 >"$PG_DIR/verify" || fail "verify: $(cat "$PG_DIR/verify")"
grep -q '4 of 4 checkpoints, ledger 1278 by 4 of 4 validators' "$PG_DIR/verify" || fail "verify: $(cat "$PG_DIR/verify")"
echo "ok      proven by the simulator's validators"

if [ -s "$PG_DIR/count" ]; then # this build has failpoints
    for point in prove.read prove.store; do
        sql 'TRUNCATE chain.checkpoint, chain.prover'
        TIDE_FP=$point=kill follow "$sim/good/archive" 137
        [ "$(proven)" = '|' ] || fail "$point: killed, and proven: $(proven)"
        follow "$sim/good/archive" 0
        [ "$(proven)" = '1278|4' ] || fail "after $point: $(proven)"
        TIDE_FP=$point=error follow "$sim/good/archive" 0
        echo "ok      killed at $point"
    done

    # Parts of proofs: headers, votes, result sets. What was stored before a kill stays, and the next run adds the rest.
    parts() { sql "SELECT md5(string_agg(l::text, ',' ORDER BY ledger)), count(*), count(results) FROM chain.proof_ledger AS l
        UNION ALL SELECT md5(string_agg(v::text, ',' ORDER BY ledger)), count(*), 0 FROM chain.proof_vote AS v"; }
    whole=$(parts) steps=$(grep -c '^prove.part$' "$PG_DIR/count")
    [ "$steps" -ge 8 ] || fail "few statements store parts: $steps"
    for point in prove.drop prove.part $(seq -f 'prove.part@%g' 2 "$steps"); do
        sql 'TRUNCATE chain.proof_ledger, chain.proof_vote'
        TIDE_FP=${point%@*}=kill${point#"${point%@*}"} follow "$sim/good/archive" 137
        [ "$(parts)" != "$whole" ] || fail "$point: killed, and all parts are there"
        follow "$sim/good/archive" 0
        [ "$(parts)" = "$whole" ] || fail "after $point: $(parts), not $whole"
        echo "ok      killed at $point"
    done

    sql 'TRUNCATE chain.checkpoint'
    TIDE_FP=prove.fork=kill follow "$sim/forked/archive" 137
    [ "$(sql 'SELECT count(*) FROM chain.fork')" = 0 ] || fail "prove.fork: killed, and stored"
    follow "$sim/forked/archive" 66
    [ "$(sql 'SELECT ledger, cardinality(signed_by) FROM chain.fork')" = '1269|4' ] || fail "after prove.fork: $(sql 'TABLE chain.fork')"
    "$TIDE_BIN/tidemark-indexer" fork --dismiss >/dev/null || fail "fork --dismiss"
    follow "$sim/good/archive" 0
    [ "$(proven)" = '1278|4' ] || fail "after the fork: $(proven)"
    echo "ok      killed at prove.fork"
fi

api_start
[ "$(says /api/markets)" = 200 ] || fail "no answer before the fork"
grep -qi '^proven-through: 1278' <<<"$(curl -sI "$API_URL/api/markets")" || fail "no Proven-Through: $(curl -sI "$API_URL/api/markets")"
sql 'TRUNCATE chain.checkpoint'
follow "$sim/forked/archive" 66
grep -q 'ledger 1269: a quorum of the named validators signed' "$PG_DIR/run.log" || fail "the fork: $(tail -3 "$PG_DIR/run.log")"
follow "$sim/good/archive" 66
for _ in $(seq 300); do [ "$(says /api/markets)" = 200 ] || break; sleep 0.1; done
for path in /api/markets /api/prices /api/ledgers /readyz; do
    [ "$(says "$path")" = 503 ] || fail "$path: $(says "$path")"
    grep -q forked <<<"$(curl -s "$API_URL$path")" || fail "$path: $(curl -s "$API_URL$path")"
done
grep -q '^ledger  *1269' <<<"$("$TIDE_BIN/tidemark-indexer" fork)" || fail "fork: $("$TIDE_BIN/tidemark-indexer" fork)"
echo "ok      a fork stops the indexer, and the API answers nothing"

# A new index, beside the old one, from a source that is right: the API goes over to it.
"$TIDE_BIN/tidemark-indexer" reset --confirm >/dev/null || fail reset
follow "$sim/good/archive" 0
[ "$(sql 'SELECT max(ledger) FROM chain.checkpoint WHERE deployment = 2')" = 1278 ] || fail "the new index is not proven"
for _ in $(seq 600); do [ "$(says /readyz)" != 200 ] || break; sleep 0.1; done
[ "$(says /api/markets)" = 200 ] || fail "after reset: $(curl -s "$API_URL/api/markets")"
api_stop || fail "api: exit $?"
echo "ok      reset begins an index that is proven"

# The votes that prove the first ledger of an index that begins with a checkpoint prove what follows, too.
PGDATABASE=postgres "$PG_BIN/createdb" begun
"$TIDE_BIN/tidemark-indexer" run --from-checkpoint 1215 --database-url "${TIDEMARK_DATABASE_URL/dbname=tidemark/dbname=begun}" --lake "$sim/good/lake" \
    --archive "$sim/good/archive" --stop-at-end 2>"$PG_DIR/run.log" || fail "from checkpoint 1215: $(tail -3 "$PG_DIR/run.log")"
[ "$(PGDATABASE=begun sql 'SELECT max(ledger) FROM chain.checkpoint')" = 1278 ] || fail "proven behind the start: $(PGDATABASE=begun sql 'TABLE chain.checkpoint')"
echo "ok      what follows a start is proven by the same votes"
