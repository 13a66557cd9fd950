#!/usr/bin/env bash
# Proofs of transactions and entries that the API gives over a simulated chain with signed archives: `verify --proof` and both
# packages accept them, refuse what was forged, and agree on every mutant. TIDE_LONG=1 tries random seeds for TIDE_PROOF_SECONDS (300).
here=$(cd "$(dirname "$0")" && pwd)
. "$here/_clients.sh"
made=$work
. "$here/../_pg.sh"
. "$here/../_api.sh"
remove_packages() { rm -rf "$made"; }
PG_AT_EXIT=remove_packages
pg_start
sim=$PG_DIR/sim
mkdir "$sim"
export TIDEMARK_DEPLOYMENT=$sim/deployment.json
"$TIDE_BIN/tidemark-sim" write --lake "$sim/lake" --archive "$sim/archive" --deployment "$TIDEMARK_DEPLOYMENT" --validators 4 --ledgers 256 --life 90 --quiet
"$TIDE_BIN/tidemark-indexer" run --lake "$sim/lake" --archive "$sim/archive" --stop-at-end 2>"$PG_DIR/run.log" || fail "run: $(tail -3 "$PG_DIR/run.log")"
api_start --api-rate-query 0

# Ledgers at the begin, in the middle and at the end of a checkpoint; 1087 is the last one of its own.
hash_of() { sql "SELECT encode(hash, 'hex') FROM chain.tx AS t WHERE t.ledger >= $1 AND t.ok = $2 AND EXISTS (SELECT FROM chain.preimage AS p WHERE p.ledger = t.ledger AND p.tx = t.tx) = $2 ORDER BY t.ledger, t.tx LIMIT 1"; }
n=0
for of in '1030 true' '1087 true' '1100 true' '1215 true' '1240 true' '1100 false' '1260 false'; do
    n=$((n + 1))
    read -r ledger ok <<<"$of"
    code=$(curl -s --compressed -o "$sim/proof.$n.json" -w '%{http_code}' "$API_URL/api/proof/$(hash_of "$ledger" "$ok")")
    [ "$code" = 200 ] || fail "$of: $code $(cat "$sim/proof.$n.json")"
done

# Every proven transaction has its proof, and it fits: the result's hash covers answer and events of each call.
[ "$(sql "SELECT count(*) FROM chain.tx AS t WHERE t.ledger <= chain.proven_through(1::smallint)
    AND NOT EXISTS (SELECT FROM chain.proof_ledger AS l WHERE l.ledger = t.ledger AND l.results IS NOT NULL)")" = 0 ] || fail "transactions without results"
says() { curl -s "$API_URL/api/proof/$1"; }
grep -q '"code":"not_found"' <<<"$(says "$(printf 'ab%.0s' {1..32})")" || fail "a transaction that is none: $(says "$(printf 'ab%.0s' {1..32})")"
read -r bump inside < <(sql "SELECT encode(hash, 'hex') || ' ' || encode(inner_hash, 'hex') FROM chain.tx WHERE inner_hash IS NOT NULL AND ledger <= chain.proven_through(1::smallint) LIMIT 1")
[ -n "$inside" ] || fail "no fee bump is proven"
grep -q "\"txHash\":\"$bump\",\"innerTxHash\":\"$inside\"" <<<"$(says "$inside")" || fail "by the hash within a fee bump"
[ "$(says "$bump")" = "$(says "$inside")" ] || fail "a fee bump has two proofs"
newest=$(sql 'SELECT encode(hash, $$hex$$) FROM chain.tx WHERE ledger > chain.proven_through(1::smallint) LIMIT 1')
grep -q '"code":"not_proven"' <<<"$(says "$newest")" || fail "a transaction that is not proven yet: $(says "$newest")"
one=$(hash_of 1100 true)
for table in proof_vote proof_ledger; do
    sql "CREATE TABLE chain.kept AS SELECT * FROM chain.$table; TRUNCATE chain.$table"
    grep -q '"code":"no_proof"' <<<"$(says "$one")" || fail "without chain.$table: $(says "$one")"
    sql "INSERT INTO chain.$table SELECT * FROM chain.kept; DROP TABLE chain.kept"
done

# Each entry of the state: the API says what the buckets have.
"$python" "$here/_entry_each.py" "$sim" "$API_URL" 100 || fail "the proofs of entries"
entry=$(sql 'SELECT address FROM state.compliance_registry_compliance_rec LIMIT 1')
entry() { curl -s "$API_URL/api/proof/compliance/$entry"; }
grep -q '"kind":"entry"' <<<"$(entry)" || fail "a record: $(entry)"
sql 'CREATE TABLE chain.kept AS SELECT * FROM chain.proof_state; TRUNCATE chain.proof_state'
grep -q '"code":"no_proof"' <<<"$(entry)" || fail "without chain.proof_state: $(entry)"
sql 'INSERT INTO chain.proof_state SELECT * FROM chain.kept; DROP TABLE chain.kept'

sql 'DELETE FROM chain.proof_ledger WHERE ledger = (SELECT min(ledger) FROM chain.proof_vote WHERE ledger > 1100) - 1'
grep -q '"code":"no_proof"' <<<"$(says "$one")" || fail "a header is missing: $(says "$one")"
api_stop || fail "api: exit $?"

# What is missing is collected again at the next start; what is too old is not kept.
of_state() { sql 'SELECT md5(s::text) FROM chain.proof_state AS s'; }
before=$(of_state)
sql 'TRUNCATE chain.proof_ledger, chain.proof_vote, chain.proof_state'
"$TIDE_BIN/tidemark-indexer" run --lake "$sim/lake" --archive "$sim/archive" --stop-at-end --proof-ledgers 100 2>"$PG_DIR/run.log" || fail "run: $(tail -3 "$PG_DIR/run.log")"
kept=$(sql 'SELECT min(ledger) FROM chain.proof_ledger WHERE results IS NOT NULL')
[ "$kept" -ge 1180 ] && [ "$kept" -lt 1190 ] || fail "the oldest of 100 ledgers is $kept"
[ "$(of_state)" = "$before" ] || fail "the state is another one"
"$TIDE_BIN/tidemark-indexer" run --lake "$sim/lake" --archive "$sim/lake" --stop-at-end 2>"$PG_DIR/run.log" || fail "run: $(tail -3 "$PG_DIR/run.log")"
grep -q 'proof.part_missing' "$PG_DIR/run.log" || fail "no word about missing parts: $(cat "$PG_DIR/run.log")"

# A damaged file gives no part that does not hash; a good copy beside it gives all.
cp -a "$sim/archive" "$sim/bad"
damage() {
    local file
    file=$(find "$sim/bad/$1" -name "$1-0000047f.xdr.gz")
    gunzip -c "$file" | "$python" -c 'import sys; b = bytearray(sys.stdin.buffer.read()); b[len(b) // 2] ^= 1; sys.stdout.buffer.write(b)' | gzip >"$file.new"
    mv "$file.new" "$file"
}
lacking() { sql "SELECT count(*) FROM (SELECT DISTINCT ledger FROM chain.tx WHERE ledger BETWEEN ${1:-1087} AND 1150 EXCEPT SELECT ledger FROM chain.proof_ledger WHERE results IS NOT NULL) AS l"; }
rm "$sim/bad/history/00/00/04/history-000004bf.json" # of ledger 1215, whose state the newest checkpoint proves
sql 'TRUNCATE chain.proof_state'
"$TIDE_BIN/tidemark-indexer" run --lake "$sim/lake" --archive "$sim/bad" --stop-at-end 2>"$PG_DIR/run.log" || fail "run: $(tail -3 "$PG_DIR/run.log")"
grep -q 'proof.part_missing checkpoint=1279' "$PG_DIR/run.log" || fail "a missing state is not told: $(cat "$PG_DIR/run.log")"
[ -z "$(of_state)" ] || fail "a state without its file"
"$TIDE_BIN/tidemark-indexer" run --lake "$sim/lake" --archive "$sim/bad,$sim/archive" --stop-at-end 2>"$PG_DIR/run.log" || fail "run: $(tail -3 "$PG_DIR/run.log")"
[ "$(of_state)" = "$before" ] || fail "with a good copy the state is another one"
# Of older checkpoints' votes and sets the first are read, and not the rest of the files.
cp -a "$sim/archive" "$sim/short"
for kind in scp transactions; do
    file=$(find "$sim/archive/$kind" -name "$kind-0000047f.xdr.gz")
    head -c "$(($(stat -c %s "$file") / 2))" "$file" >"$sim/short/${file#"$sim/archive/"}"
done
sql 'TRUNCATE chain.proof_ledger, chain.proof_vote'
"$TIDE_BIN/tidemark-indexer" run --lake "$sim/lake" --archive "$sim/short" --stop-at-end 2>"$PG_DIR/run.log" || fail "run: $(tail -3 "$PG_DIR/run.log")"
[ "$(lacking)" = 0 ] || fail "whole files are read for a vote: $(cat "$PG_DIR/run.log")"
[ "$(sql 'SELECT min(ledger) FROM chain.proof_vote')" = 1088 ] || fail "other votes: $(sql 'TABLE chain.proof_vote')"
# Without the votes of the next checkpoint's first ledger, those of the own last one are taken.
find "$sim/short/scp" -name scp-0000047f.xdr.gz -delete
sql 'TRUNCATE chain.proof_ledger, chain.proof_vote'
"$TIDE_BIN/tidemark-indexer" run --lake "$sim/lake" --archive "$sim/short" --stop-at-end 2>"$PG_DIR/run.log" || fail "run: $(tail -3 "$PG_DIR/run.log")"
[ "$(lacking 1024)" = 0 ] && [ "$(sql 'SELECT min(ledger) FROM chain.proof_vote')" = 1087 ] ||
    fail "without the next checkpoint's votes: $(lacking 1024) lack results, $(sql 'SELECT ledger FROM chain.proof_vote' | xargs)"
for kind in results ledger; do
    damage $kind
    sql 'TRUNCATE chain.proof_ledger, chain.proof_vote'
    "$TIDE_BIN/tidemark-indexer" run --lake "$sim/lake" --archive "$sim/bad" --stop-at-end 2>"$PG_DIR/run.log" || fail "run: $(tail -3 "$PG_DIR/run.log")"
    grep -q 'proof.part_missing checkpoint=1[12]' "$PG_DIR/run.log" || fail "a damaged $kind is not told: $(cat "$PG_DIR/run.log")"
    [ "$(lacking)" -gt 0 ] || fail "a damaged $kind gave all parts"
    "$TIDE_BIN/tidemark-indexer" run --lake "$sim/lake" --archive "$sim/bad,$sim/archive" --stop-at-end 2>"$PG_DIR/run.log" || fail "run: $(tail -3 "$PG_DIR/run.log")"
    [ "$(lacking)" = 0 ] || fail "with a good copy beside a damaged $kind $(lacking) ledgers lack results: $(cat "$PG_DIR/run.log")"
done
echo "ok      the parts of proofs"

cp "$here/_proofs.mjs" "$here/_entries.mjs" "$here/_arms.mjs" "$packages/"
zstd -dqc "$TIDE_SOURCE_DIR/tests/xdr/protocol_30.zst" >"$sim/vectors"
"$python" "$here/_arms.py" "$sim/vectors" "$packages" || fail "a package refuses what the coming XDR has"
# As bundled for runtimes other than Node.js, where Web Crypto hashes whole buckets up to a limit. It is a global there, as it is not in Node.js 18.
(cd "$packages" && "$built/typescript/node_modules/.bin/esbuild" _entries.mjs --bundle --format=esm --conditions=workerd,worker --external:node:* --log-level=error --outfile=_entries_web.mjs \
    --banner:js="import { webcrypto } from 'node:crypto'; globalThis.crypto ??= webcrypto;") || fail "no bundle"
node --input-type=module - "$packages/node_modules/@tidemark/client/dist/crypto_web.js" <<'END' || fail "the limit of a bucket without Node.js"
const hash = (await import(process.argv[2])).hashStream();
let taken = 0;
while (taken < 200 && hash.update(new Uint8Array(1 << 20))) taken++;
process.exit(taken === 128 ? 0 : 1);
END
agree() {
    local kind
    rm -rf "$sim/made" "$sim"/wrong.* # of the seed before
    for kind in proofs entries; do
        "$python" "$here/_$kind.py" "$sim" "$packages" "$@" || fail "the verifiers do not agree on $kind"
    done
}
agree 1 "${TIDE_PROOF_MUTANTS:-20}"
end=$((SECONDS + ${TIDE_PROOF_SECONDS:-300}))
while [ -n "${TIDE_LONG:-}" ] && [ "$SECONDS" -lt "$end" ]; do
    agree $((RANDOM * 32768 + RANDOM)) 300
done
