#!/usr/bin/env bash
# Direct TLS: a client that connects and sends nothing, or half a ClientHello, costs no CPU time and ends no other
# client's connection.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../_pg.sh"
. "$here/../_api.sh"
[ -x "$TIDE_BIN/tidemark-api" ] || { echo "no tidemark-api"; exit 1; }
command -v python3 openssl >/dev/null || { echo "no python3, or no openssl"; exit 1; }
pg_start
api_index 64
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-384 -nodes -days 2 -subj /CN=localhost \
    -keyout "$PG_DIR/key.pem" -out "$PG_DIR/cert.pem" 2>"$PG_DIR/openssl.log" || fail "$(cat "$PG_DIR/openssl.log")"
API_SCHEME=https api_start --api-tls-cert "$PG_DIR/cert.pem" --api-tls-key "$PG_DIR/key.pem" --api-threads 1 --api-header-ms 20000
python3 "$here/_tls_silent.py" "$API_PORT" "$API_PID" || fail "see above"
! grep server.stalled "$PG_DIR/api.log" || fail "the watch took a worker that waits for a client for a lost one"
api_stop || fail "exit code $?"
