#!/usr/bin/env bash
# Proves that only the deployment file decides which contracts are the protocol's. A stranger becomes the DAO by
# calling initialize again and names contracts of his own: that is reported everywhere and changes nothing. Rows of a
# second contract of every role, inserted into the database, change the answer of no route. Every view and every
# statement has the file's contract as a condition at each table of a role: PostgreSQL's catalogue and log prove it.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../_pg.sh"
. "$here/../_api.sh"
. "$here/../_serve.sh"
[ -x "$TIDE_BIN/tidemark-api" ] && [ -x "$TIDE_BIN/tidemark-sim" ] || { echo "programs not built"; exit 1; }
pg_start -c log_statement=all -c log_line_prefix=%a=
pg_writable
SERVE_DIR=$PG_DIR/serve
indexer=$TIDE_BIN/tidemark-indexer
export PG_BIN PG_DIR
stranger=$(python3 - <<'PY'
import base64, binascii
raw = bytes([2 << 3]) + b"\xee" * 32
print(base64.b32encode(raw + binascii.crc_hqx(raw, 0).to_bytes(2, "little")).decode())
PY
)

echo "four transactions"
serve_start --close-ms 0 --ledgers 64 --lake "$PG_DIR/sim/lake" --quiet
tx() { # CALL ARGS: closes ledgers until it is in
    "$TIDE_BIN/tidemark-sim" tx "$@" --rpc "$SERVE_URL" >"$PG_DIR/tx.log" 2>&1 &
    local pid=$!
    await "the end of tx $1" eval 'gone $pid || { serve_close; false; }'
    wait $pid || fail "tx $*: $(cat "$PG_DIR/tx.log")"
}
export TIDEMARK_DEPLOYMENT=$PG_DIR/sim/deployment.json
tx fund --as mallory
follow() { "$indexer" run --lake "$PG_DIR/sim/lake" --stop-at-end 2>"$PG_DIR/run.log" || fail "run: $(tail -2 "$PG_DIR/run.log")"; }
follow
api_start
curl -fs "$API_URL/api/sdk/contracts" >"$PG_DIR/contracts.before"
grep -q '"agreesWithDao":true' "$PG_DIR/contracts.before" || fail "$(cat "$PG_DIR/contracts.before")"
tx initialize_dao --as mallory --subject "$stranger"
tx set_protocol_config --as mallory --subject "$stranger"
tx set_compliance --as mallory --subject "$stranger"
tx set_oracle --as mallory --subject "$stranger"
follow
# The indexer may commit the four ledgers one by one: the cache has all of them at the newest one.
last=$(sql "SELECT ledger FROM chain.cursor")
AWAIT_LOG=$PG_DIR/api.log await "ledger $last in the cache" eval 'curl -fs -D - -o "$PG_DIR/answer" "$API_URL/api/sdk/contracts" | grep -i "^ledger-sequence: $last" >/dev/null'
who=$(sql "SELECT address FROM state.compliance_registry_compliance_rec ORDER BY address LIMIT 1")
asset=$(sql "SELECT asset FROM state.oracle_feed ORDER BY asset LIMIT 1")
for path in /api/sdk/contracts "/api/sdk/kyc/status/$who" /api/prices "/api/prices/$asset" "/api/pools/XLMUSDC/quote?amountIn=1" /readyz; do
    curl -fs "$API_URL$path" >"$PG_DIR/answer" || fail "$path: $(curl -s "$API_URL$path")"
    grep -q '"agreesWithDao":false' "$PG_DIR/answer" || fail "$path: $(cat "$PG_DIR/answer")"
done
curl -fs "$API_URL/api/sdk/contracts" >"$PG_DIR/contracts.after"
python3 - "$PG_DIR" "$stranger" <<'PY' || fail "contracts"
import json, sys
answers = [json.load(open(f"{sys.argv[1]}/contracts.{n}")) for n in ("before", "after")]
before, after = (a["contracts"] for a in answers)
wallet = json.load(open(f"{sys.argv[1]}/sim/deployment.json"))["accounts"]["daowallet"]
assert [a["multisigWallet"] for a in answers] == [wallet, wallet], answers
assert [a["multisigWalletNamedByDao"] for a in answers] == [wallet, sys.argv[2]], answers
for role, c in before.items():
    assert after[role]["address"] == c["address"], role
    if role not in ("usdc", "daoGovernance"):
        assert after[role]["namedByDao"] == sys.argv[2] and after[role]["agrees"] is False, after[role]
PY
[ "$(curl -fs "$API_URL/metrics" | grep -c '^tidemark_dao_disagrees{role="[a-z_]*"} 1$')" = 7 ] || fail "$(curl -s "$API_URL/metrics" | grep dao_)"
[ "$(grep -c 'dao.disagrees role=.*dao_names='"$stranger" "$PG_DIR/api.log")" = 7 ] || fail "$(grep dao "$PG_DIR/api.log")"
"$indexer" status | grep -A 12 '^dao disagrees' | grep "compliance_registry.*$stranger" >/dev/null || fail "$("$indexer" status | grep -A 12 "dao disagrees")"
[ "$(sql "SELECT count(*) FROM chain.contract_seen WHERE contract = '$stranger'")" = 0 ] || fail "the stranger's contract was seen"
api_stop || fail "api: exit $?"
serve_stop || fail "serve: exit $?"

echo "rows of another contract"
PGDATABASE=postgres "$PG_BIN/createdb" planted
export PGDATABASE=planted TIDEMARK_DATABASE_URL="host=$PG_DIR port=5432 user=postgres dbname=planted"
pg_writable
rm -rf "$PG_DIR/sim" "$PG_DIR/cache"
api_index "${TIDE_LEDGERS:-256}"
api_start --api-rate-lookup 0 --api-rate-query 0
"$here/_trust.py" "$API_PORT" ask "$PG_DIR/before" || fail "before"
api_stop || fail "api: exit $?"
"$PG_BIN/psql" -XAtq -v ON_ERROR_STOP=1 -f "$here/_trust.sql" 2>"$PG_DIR/planted" || fail "$(cat "$PG_DIR/planted")"
grep -q '[0-9][0-9][0-9][0-9] rows planted' "$PG_DIR/planted" || fail "$(cat "$PG_DIR/planted")"
rm -rf "$PG_DIR/cache"
api_start --api-rate-lookup 0 --api-rate-query 0
"$here/_trust.py" "$API_PORT" ask "$PG_DIR/after" "$PG_DIR/before" || fail "after"
"$here/_trust.py" same "$PG_DIR/before" "$PG_DIR/after" || fail "answers differ"
api_stop || fail "api: exit $?"

echo "every view and statement is bound"
"$here/_trust.py" views || fail "views"
"$here/_trust.py" statements "$PG_DIR/log" || fail "statements"
found() { # MESSAGE: and nothing else, of what is planted here
    ! "$here/_trust.py" views 2>"$PG_DIR/unbound" || fail "not found: $1"
    [ "$(cat "$PG_DIR/unbound")" = "without the deployment file's contract: $1" ] || fail "$(cat "$PG_DIR/unbound")"
}
sql "CREATE VIEW analyst.later AS SELECT f.asset, p.pool_id FROM state.oracle_feed AS f
    JOIN (SELECT) AS f_bound ON (f.deployment, f.contract) IN (SELECT r.deployment, r.contract FROM chain.role AS r WHERE r.role = 'oracle')
    LEFT JOIN event.liquidity_pool_swap AS p ON p.deployment = f.deployment"
found "analyst.later reads event.liquidity_pool_swap"
sql "DROP VIEW analyst.later; CREATE VIEW chain.later AS SELECT f.asset FROM history.oracle_feed AS f
    JOIN (SELECT) AS f_bound ON (f.deployment, f.contract) IN (SELECT r.deployment, r.contract FROM chain.role AS r WHERE r.role = 'liquidity_pool')"
found "chain.later reads history.oracle_feed"
sql "DROP VIEW chain.later; CREATE VIEW kyc.later AS SELECT kind FROM event.log"
found "kyc.later reads event.log"
sql "DROP VIEW kyc.later; CREATE FUNCTION analyst.later() RETURNS bigint LANGUAGE sql RETURN (SELECT count(*) FROM state.oracle_feed)"
found "analyst.later reads ['state.oracle_feed']"
sql "DROP FUNCTION analyst.later()"
sed 's/ JOIN (SELECT) AS [a-z_]*_bound ON/ JOIN/' "$PG_DIR/log" >"$PG_DIR/log.bare"
! "$here/_trust.py" statements "$PG_DIR/log.bare" 2>/dev/null || fail "statements without a condition pass"

echo "an entry of the registry that cannot be decoded"
records="state.compliance_registry_compliance_rec AS s JOIN chain.role AS r USING (deployment, contract)"
who=$(sql "SELECT s.address FROM $records ORDER BY s.ledger, s.address LIMIT 1")
mid=$(sql "SELECT min(s.ledger) + 2 FROM $records")
version="deployment, key_hash, ledger, tx, seq, closed_at, contract, removed"
plant="INSERT INTO state.raw SELECT deployment, key_hash, $mid, 1, 0, closed_at, contract, 1, 'planted', '', '' FROM $records WHERE s.address = '$who'"
rm -rf "$PG_DIR/cache"
api_start --api-rate-lookup 0 --api-rate-query 0
curl -sN "$API_URL/api/stream?topics=compliance,ledger&addresses=$who" >"$PG_DIR/stream" & reader=$!
AWAIT_PID=$reader AWAIT_LOG=$PG_DIR/api.log await "the first message of the stream" grep -q '^event: compliance' "$PG_DIR/stream"
sql "INSERT INTO history.raw ($version, durability, reason, key_xdr, value_xdr) SELECT deployment, key_hash, $mid, 1, 0, closed_at, contract, false, 1, 'planted',
    '', '' FROM $records WHERE s.address = '$who'; $plant; UPDATE chain.cursor SET raw_states = raw_states + 1"
told() { for _ in {1..300}; do grep -q "$1" "$PG_DIR/stream" && return; sleep 0.1; done; fail "the stream does not say $1: $(cat "$PG_DIR/stream")"; }
told '"reason":"incomplete"'
sql "DELETE FROM state.raw WHERE reason = 'planted'"
told '^event: fresh'
sql "$plant"
kill $reader
api_stop || fail "api: exit $?"
answers() { # CODE NOW, CODE before, CODE at mid
    local found
    rm -rf "$PG_DIR/cache"
    API_READY=${API_READY:-/api/prices} api_start --api-rate-lookup 0 --api-rate-query 0
    found=$(for query in "" "?ledger=$((mid - 1))" "?ledger=$mid"; do curl -so "$PG_DIR/answer" -w '%{http_code} ' "$API_URL/api/sdk/kyc/status/$who$query"; done)
    [ "$found" = "$* " ] || fail "compliance: $found, not $*: $(cat "$PG_DIR/answer")"
    api_stop || fail "api: exit $?"
}
answers 503 200 503
columns=$(sql "SELECT string_agg(quote_ident(column_name), ', ') FROM information_schema.columns
    WHERE table_schema = 'history' AND table_name = 'compliance_registry_compliance_rec' AND column_name <> 'ledger'")
sql "INSERT INTO history.compliance_registry_compliance_rec (ledger, $columns) SELECT $((mid + 1)), $columns
    FROM ${records/state/history} WHERE s.address = '$who' ORDER BY ledger DESC, tx DESC, seq DESC LIMIT 1"
answers 200 200 503

echo "undecodable entries of contracts that a new DAO may upgrade: they stop nothing"
for role in dao_governance oracle partner_registry; do
    sql "INSERT INTO history.raw ($version, durability, reason, key_xdr, value_xdr) SELECT DISTINCT deployment, sha256('$role'), $((mid + 2)), 1, 0, now(), contract,
        false, 1, 'planted', ''::bytea, ''::bytea FROM chain.role WHERE role = '$role'; UPDATE chain.cursor SET raw_states = raw_states + 1"
done
[ "$(sql "SELECT count(DISTINCT contract) FROM history.raw WHERE ledger = $((mid + 2))")" = 3 ] || fail "not planted"
API_READY=/readyz answers 200 200 503

echo "many versions of an entry that is gone: what is undecoded at the newest ledger is not read from them"
sql "INSERT INTO history.raw ($version, durability, reason, key_xdr, value_xdr) SELECT r.deployment, sha256('many'), $mid, 1, i, now(), r.contract,
    i = 100000, 1, 'planted', '', '' FROM chain.role AS r, generate_series(1, 100000) AS i WHERE r.role = 'compliance_registry'"
ask="SELECT chain.undecoded(r.deployment, r.contract, r.role, (SELECT max(ledger) FROM chain.cursor)) FROM chain.role AS r WHERE r.role = 'compliance_registry'"
[ "$(sql "$ask")" = f ] || fail "undecoded now"
read=$(sql "$ask; EXPLAIN (ANALYZE, BUFFERS) $ask" | grep -o 'Buffers: shared.*' | sed -n 1p)
pages=$(grep -oE '[0-9]+' <<<"$read" | paste -sd+)
[ -n "$pages" ] && [ "$((pages))" -lt 600 ] || fail "$read"
echo ok
