#!/usr/bin/env bash
# Tests receipts, the signed answers of each route: the openssl program verifies them. Keys, their refusals and their
# rotation. `tidemark-indexer verify --receipt` judges valid, forged and altered receipts.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../_pg.sh"
. "$here/../_api.sh"
[ -x "$TIDE_BIN/tidemark-api" ] || { echo "no tidemark-api"; exit 1; }
for tool in python3 openssl; do command -v $tool >/dev/null || { echo "no $tool"; exit 1; }; done
pg_start
api_index 96
keys=$PG_DIR/keys
mkdir -m 700 "$keys"
for name in first second other; do
    (umask 077 && openssl genpkey -algorithm ed25519 -out "$keys/$name.pem")
    openssl pkey -in "$keys/$name.pem" -pubout -out "$keys/$name.pub"
done
(umask 077 && openssl genpkey -algorithm x25519 -out "$keys/x25519.pem")

# The program refuses these keys: readable by others, of another kind, the attester's, a public key for signing, no
# issuer.
refused() {
    local why=$1 code=0
    shift
    timeout 20 "$TIDE_BIN/tidemark-api" --api-cache "$PG_DIR/refused" --api-listen 127.0.0.1:0 "$@" 2>"$PG_DIR/refused.log" || code=$?
    [ $code = 78 ] || fail "$why: exit code $code: $(tail -2 "$PG_DIR/refused.log")"
    grep -q "$why" "$PG_DIR/refused.log" || fail "no \"$why\": $(tail -2 "$PG_DIR/refused.log")"
}
install -m 640 "$keys/first.pem" "$keys/open.pem"
install -m 600 "$keys/first.pub" "$keys/public.pem"
refused "make it 0600" --api-receipt-keys "$keys/open.pem" --api-receipt-issuer me
refused "no Ed25519 key" --api-receipt-keys "$keys/x25519.pem" --api-receipt-issuer me
refused "is the file of attester_key" --api-receipt-keys "$keys/first.pem" --api-receipt-issuer me --attester-key "$keys/first.pem"
refused "must be private" --api-receipt-keys "$keys/public.pem,$keys/first.pem" --api-receipt-issuer me
refused "has twice" --api-receipt-keys "$keys/first.pem,$keys/public.pem" --api-receipt-issuer me
refused "api_receipt_issuer is not set" --api-receipt-keys "$keys/first.pem"

api_start
python3 "$here/_receipts.py" "$API_PORT" none || fail "without keys: $(tail -3 "$PG_DIR/api.log")"
api_stop || fail "exit code $?: $(tail -3 "$PG_DIR/api.log")"

install -m 600 "$keys/first.pem" "$keys/signing.pem"
install -m 600 "$keys/second.pub" "$keys/more.pem"
api_start --api-receipt-keys "$keys/signing.pem,$keys/more.pem" --api-receipt-issuer https://api.example.org --api-rate-lookup 1200
python3 "$here/_receipts.py" "$API_PORT" answers "$PG_DIR" || fail "answers: $(tail -3 "$PG_DIR/api.log")"
python3 "$here/_receipts.py" "$API_PORT" rotate "$PG_DIR" "$API_PID" || fail "rotation: $(tail -3 "$PG_DIR/api.log")"
python3 "$here/_receipts.py" "$API_PORT" verify "$PG_DIR" || fail "verify: $(tail -3 "$PG_DIR/api.log")"

# Withdrawal of a key: another node with the same keys and its own cache stops using the key too, and neither node
# uses it again.
second() {
    rm -f "$PG_DIR/second.port"
    TIDEMARK_COMPLIANCE_AGE_S=0 TIDEMARK_STALE_AFTER_MS=$1 TIDEMARK_CLOCK_SKEW_S=3153600000 TIDEMARK_API_LISTEN=127.0.0.1:0 TIDEMARK_API_DRAIN_MS=0 \
        TIDEMARK_API_CACHE=$2 "$TIDE_BIN/tidemark-api" --api-port-file "$PG_DIR/second.port" \
        --api-receipt-keys "$keys/signing.pem,$keys/more.pem" --api-receipt-issuer https://api.example.org 2>>"$PG_DIR/second.log" &
    second_pid=$!
    for _ in $(seq 600); do
        [ ! -s "$PG_DIR/second.port" ] || break
        sleep 0.1
    done
    second_port=$(cat "$PG_DIR/second.port")
}
second 86400000 "$PG_DIR/cache2"
python3 "$here/_receipts.py" "$API_PORT" withdraw "$PG_DIR" "$API_PID" "$second_port" "$second_pid" || fail "withdrawal: $(tail -3 "$PG_DIR/api.log" "$PG_DIR/second.log")"
kill "$second_pid"
wait "$second_pid" || fail "exit code $?: $(tail -3 "$PG_DIR/second.log")"

# Without the database a node cannot know which keys were withdrawn. With an older cache it stops signing after
# stale_after_ms, without a cache at once.
pg_stop
for cache in cache2 cache3; do
    second 3000 "$PG_DIR/$cache"
    python3 "$here/_receipts.py" "$second_port" unknown "$PG_DIR" || fail "a node without a database: $(tail -3 "$PG_DIR/second.log")"
    kill "$second_pid"
    wait "$second_pid" || fail "exit code $?: $(tail -3 "$PG_DIR/second.log")"
done
if grep -q 'BEGIN PRIVATE' "$PG_DIR/api.log"; then fail "a key in the log"; fi
api_stop || fail "exit code $?: $(tail -3 "$PG_DIR/api.log")"
