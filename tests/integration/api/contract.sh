#!/usr/bin/env bash
# Checks the answers of every route against openapi.json: every kind of answer, success and error, body and headers;
# no field that the document does not name. Then the same without the database and over the rate limit.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../_pg.sh"
. "$here/../_api.sh"
python3 -c 'import jsonschema' 2>/dev/null || { echo "no python3-jsonschema"; exit 1; }
[ -x "$TIDE_BIN/tidemark-sim" ] && [ -x "$TIDE_BIN/tidemark-api" ] || { echo "programs not built"; exit 1; }
pg_start
pg_writable
api_index "${TIDE_CONTRACT_LEDGERS:-512}"
# Every event and entry of the simulator can be decoded, so one raw event and one raw entry are inserted here.
sql "INSERT INTO event.raw SELECT deployment, ledger, tx, op, 999, closed_at, contract, 1, 'planted', '\\x00' FROM event.log ORDER BY ledger, tx, op, event LIMIT 1" >/dev/null
sql "INSERT INTO state.raw SELECT deployment, sha256(contract::bytea), ledger, 1, 0, closed_at, contract, 1, 'planted', '\\x00', NULL
    FROM event.log ORDER BY ledger, tx, op, event LIMIT 1" >/dev/null
export PG_DIR PG_BIN
(umask 077 && openssl genpkey -algorithm ed25519 -out "$PG_DIR/receipts.pem")
api_start --api-rate-lookup 0 --api-rate-query 0 --api-receipt-keys "$PG_DIR/receipts.pem" --api-receipt-issuer contract
python3 "$here/_contract.py" "$API_URL" all || fail "contract"
pg_stop fast
python3 "$here/_contract.py" "$API_URL" away || fail "contract, database away"
pg_again
api_stop || fail "tidemark-api ended with $?"
api_start --api-rate-lookup 60 --api-rate-query 60
python3 "$here/_contract.py" "$API_URL" limited || fail "contract, rate limit"
api_stop || fail "tidemark-api ended with $?"
