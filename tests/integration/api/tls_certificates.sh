#!/usr/bin/env bash
# Direct TLS: certificates of each usual kind of key serve clients of TLS 1.3 and 1.2. Files that are no
# certificate with its key end the program with 78 and their settings' names, and so does a key that others may read.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../_pg.sh"
. "$here/../_api.sh"
[ -x "$TIDE_BIN/tidemark-api" ] || { echo "no tidemark-api"; exit 1; }
command -v curl openssl >/dev/null || { echo "no curl, or no openssl"; exit 1; }
pg_start
api_index 64

certificate() { # NAME OPTION…: NAME.pem and NAME.key
    local name=$PG_DIR/$1
    shift
    openssl req -x509 "$@" -nodes -days 2 -subj /CN=localhost -keyout "$name.key" -out "$name.pem" 2>"$PG_DIR/openssl.log" ||
        fail "$(cat "$PG_DIR/openssl.log")"
}

refused() { # NAME CERTIFICATE KEY [MESSAGE]: these files end the program
    local code=0
    timeout 60 "$TIDE_BIN/tidemark-api" --api-listen 127.0.0.1:0 --api-cache "$PG_DIR/refused" --api-tls-cert "$2" --api-tls-key "$3" 2>"$PG_DIR/refused.log" || code=$?
    [ $code = 78 ] && grep -q "${4:-api_tls_cert and api_tls_key}" "$PG_DIR/refused.log" || fail "$1: exit code $code, $(tail -n 1 "$PG_DIR/refused.log")"
    echo "ok refused: $1"
}

certificate p256 -newkey ec -pkeyopt ec_paramgen_curve:P-256
certificate p384 -newkey ec -pkeyopt ec_paramgen_curve:P-384
certificate rsa -newkey rsa:2048
certificate ed25519 -newkey ed25519
for key in p256 p384 rsa ed25519; do
    API_SCHEME=https api_start --api-tls-cert "$PG_DIR/$key.pem" --api-tls-key "$PG_DIR/$key.key"
    for version in 1.2 1.3; do
        curl -fsSk --tlsv$version --tls-max $version "$API_URL/healthz" >/dev/null || fail "$key, TLS $version"
    done
    api_stop || fail "$key: exit code $?"
    echo "ok serves: $key"
done

: >"$PG_DIR/empty.pem"
openssl ec -in "$PG_DIR/p384.key" -aes128 -passout pass:x -out "$PG_DIR/encrypted.key" 2>"$PG_DIR/openssl.log"
refused "an empty file" "$PG_DIR/empty.pem" "$PG_DIR/p384.key"
refused "another certificate's key" "$PG_DIR/p384.pem" "$PG_DIR/p256.key"
refused "an encrypted key" "$PG_DIR/p384.pem" "$PG_DIR/encrypted.key"

# The key is a secret: its file is treated like those of others.
for mode in 0644 0640 0604; do
    install -m $mode "$PG_DIR/p384.key" "$PG_DIR/open.key"
    refused "a key of mode $mode" "$PG_DIR/p384.pem" "$PG_DIR/open.key" "$PG_DIR/open.key: mode $mode lets others at a secret"
done
ln -s p384.key "$PG_DIR/link.key"
refused "a link to a key" "$PG_DIR/p384.pem" "$PG_DIR/link.key" "$PG_DIR/link.key: a link, not a file"
