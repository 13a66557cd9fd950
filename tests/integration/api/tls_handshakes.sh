#!/usr/bin/env bash
# Direct TLS: handshakes that never end are limited, of one address and in all, so that those of some addresses do not
# delay others. Failed ones are counted, and a stop does not wait for pending ones.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../_pg.sh"
. "$here/../_api.sh"
[ -x "$TIDE_BIN/tidemark-api" ] || { echo "no tidemark-api"; exit 1; }
command -v python3 openssl >/dev/null || { echo "no python3, or no openssl"; exit 1; }
pg_start
api_index 64
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost \
    -keyout "$PG_DIR/key.pem" -out "$PG_DIR/cert.pem" 2>"$PG_DIR/openssl.log" || fail "$(cat "$PG_DIR/openssl.log")"
served() { API_SCHEME=https api_start --api-tls-cert "$PG_DIR/cert.pem" --api-tls-key "$PG_DIR/key.pem" --api-threads 1 "$@"; }

served --api-connections-per-ip 64
python3 "$here/_tls_handshakes.py" "$API_PORT" limits || fail "see above"
api_stop || fail "exit code $?"

for try in 1 2 3; do # a machine that stands still makes any stop long
    served
    python3 "$here/_tls_handshakes.py" "$API_PORT" stop "$API_PID" >"$PG_DIR/stop" & waits=$!
    wait "$API_PID" || fail "stopped: exit code $?"
    wait $waits && break
    [ $try -lt 3 ] || fail "$(cat "$PG_DIR/stop")"
done
cat "$PG_DIR/stop"
