#!/usr/bin/env bash
# Sends hostile requests generated from openapi.json: strings, cursors, sizes, encodings, methods, bodies, framing. No
# client gets a 5xx except a documented 503. The server does not crash and keeps no memory or connection. No secret
# and no control character reaches the log. Equal seeds send equal requests. By hand: TIDE_HOSTILE_REQUESTS=1000000
# TIDE_HOSTILE_SEED=7.
# label: sanitize
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../_pg.sh"
. "$here/../_api.sh"
[ -x "$TIDE_BIN/tidemark-sim" ] && [ -x "$TIDE_BIN/tidemark-api" ] || { echo "programs not built"; exit 1; }
pg_start
api_index 256
export PG_DIR PG_BIN
api_start --api-rate-lookup 0 --api-rate-query 0 --api-access-log all --api-idle-ms 4500
python3 "$here/_hostile.py" "$API_URL" "$API_PID" || fail "hostile requests: $(grep -aE 'ERROR: |runtime error' "$PG_DIR/api.log" | sed -n 1,3p)"
api_stop || fail "tidemark-api ended with $?: $(grep -aE 'ERROR: |runtime error' "$PG_DIR/api.log" | sed -n 1,3p)"
! grep -aqE 'Sanitizer|runtime error' "$PG_DIR/api.log" || fail "$(grep -aE 'ERROR: |runtime error' "$PG_DIR/api.log" | sed -n 1,3p)"
! grep -aq SECRETSEED "$PG_DIR/api.log" || fail "a secret is in the log: $(grep -a SECRETSEED "$PG_DIR/api.log" | sed -n 1p)"
! LC_ALL=C grep -aqP '[\x00-\x08\x0b-\x1f\x7f]' "$PG_DIR/api.log" || fail "a control character is in the log"
echo "$(wc -l <"$PG_DIR/api.log") lines of log, none with a secret or a control character"
