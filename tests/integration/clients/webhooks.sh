#!/usr/bin/env bash
# Webhooks to partners, the short path: registered over HTTP, sent to a receiver with TLS, verified by both packages,
# sent again after a 500. The end of an attestation is sent within a second. A new secret is requested twice.
. "$(dirname "$0")/_clients.sh"
here=$(cd "$(dirname "$0")" && pwd)
cp "$here/_webhooks.mjs" "$packages/"
for name in known stranger; do
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost \
        -addext subjectAltName=DNS:localhost -keyout "$work/$name.pem" -out "$work/$name.crt" 2>/dev/null
    cat "$work/$name.crt" >>"$work/$name.pem"
done
TIDEMARK_HTTP_CA_FILE=$work/known.crt "$TIDE_SOURCE_DIR/tools/with-stack" --kyc '' --ledgers 64 -- \
    timeout 600 "$python" "$here/_webhooks.py" "$work" "$packages/_webhooks.mjs" || fail "see above"
