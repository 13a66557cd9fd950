#!/usr/bin/env bash
# Runs Caddy, nginx and HAProxy with the configurations of tools/packaging/proxies, each before two nodes with one cache: TLS and
# HTTP/2, streams at once, the client's address, limits of bodies, clients that never finish their TLS handshake. With
# TIDE_LONG a hostile client costs no other client an answer, and gets a status for each well-formed request.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../_pg.sh"
. "$here/../_api.sh"
[ -x "$TIDE_BIN/tidemark-api" ] || { echo "no tidemark-api"; exit 1; }
command -v python3 >/dev/null || { echo "no python3"; exit 1; }
PATH=$PATH:/usr/sbin
pg_start
api_index 64
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "$PG_DIR/key.pem" -out "$PG_DIR/cert.pem" -days 2 -subj /CN=api.example.org \
    -addext subjectAltName=DNS:api.example.org 2>"$PG_DIR/openssl.log" || fail "no certificate: $(tail -1 "$PG_DIR/openssl.log")"
cat "$PG_DIR/cert.pem" "$PG_DIR/key.pem" >"$PG_DIR/both.pem"
nodes=() pids=()
for i in 1 2; do
    api_start --api-rate-lookup 0 --api-rate-query 6 --api-proxies 127.0.0.1 --api-idle-ms 4500
    nodes+=("$API_PORT") pids+=("$API_PID")
done

# Prints a proxy's configuration with this test's ports for the nodes and the proxy, and its certificate.
configured() { # FILE
    sed -e "s/10\.0\.0\.1:8080/127.0.0.1:${nodes[0]}/; s/10\.0\.0\.2:8080/127.0.0.1:${nodes[1]}/; s|/etc/ssl/tidemark/|$PG_DIR/|g" \
        -e "s/\(listen\|bind\) :\?443\b/\1 127.0.0.1:$port/; s/^api\.example\.org {/api.example.org:$port {/" "$TIDE_SOURCE_DIR/tools/packaging/proxies/$1"
}

start_caddy() { # it has one block of global options
    sed '/^{$/a admin off\nauto_https disable_redirects\ndefault_bind 127.0.0.1' "$PG_DIR/configured" >"$PG_DIR/Caddyfile"
    case "$(caddy version)" in
    2.[0-6].* | v2.[0-6].*) ;;
    *) sed -i -E 's/buffer_requests .*: (request_buffers [^,]*),.*/\1/; /^ *max_buffer_size /d' "$PG_DIR/Caddyfile" ;; # as the comment there says
    esac
    HOME=$PG_DIR XDG_DATA_HOME=$PG_DIR XDG_CONFIG_HOME=$PG_DIR caddy run --adapter caddyfile --config "$PG_DIR/Caddyfile" >"$PG_DIR/caddy.out" 2>"$PG_DIR/caddy.log" &
}

start_nginx() {
    mkdir "$PG_DIR/nginx"
    cat >"$PG_DIR/nginx.conf" <<END
$([ "$(id -u)" != 0 ] || echo "user root;")
daemon off; worker_processes auto; pid $PG_DIR/nginx.pid; error_log $PG_DIR/nginx.log;
events { worker_connections 768; }
http {
    access_log off;
    client_body_temp_path $PG_DIR/nginx/body; proxy_temp_path $PG_DIR/nginx/proxy; fastcgi_temp_path $PG_DIR/nginx/f; uwsgi_temp_path $PG_DIR/nginx/u; scgi_temp_path $PG_DIR/nginx/s;
$(cat "$PG_DIR/configured")
}
END
    nginx -c "$PG_DIR/nginx.conf" -e "$PG_DIR/nginx.log" >"$PG_DIR/nginx.out" 2>&1 &
}

start_haproxy() {
    cat >"$PG_DIR/haproxy.conf" <<END
global
    log stderr format raw local0
    maxconn 768
defaults
    log global
    mode http
    option httplog
    option dontlognull
    timeout connect 5000
    timeout client 50000
    timeout server 50000
$(cat "$PG_DIR/configured")
END
    haproxy -f "$PG_DIR/haproxy.conf" -db >"$PG_DIR/haproxy.out" 2>"$PG_DIR/haproxy.log" &
}

answers() { curl -fs --cacert "$PG_DIR/cert.pem" --resolve "api.example.org:$port:127.0.0.1" -o "$PG_DIR/body" "https://api.example.org:$port/readyz"; }

declare -A file=([caddy]=Caddyfile [nginx]=nginx.conf [haproxy]=haproxy.cfg)
tried=0 code=0
for proxy in caddy nginx haproxy; do
    [ -z "${TIDE_PROXY:-}" ] || [ "$TIDE_PROXY" = $proxy ] || continue
    command -v $proxy >/dev/null || { echo "not behind $proxy: it is not installed"; continue; }
    port=$(cluster_free_port)
    configured "${file[$proxy]}" >"$PG_DIR/configured"
    for wanted in "127.0.0.1:${nodes[0]}" "127.0.0.1:${nodes[1]}" ":$port" "$PG_DIR/"; do
        grep -q "$wanted" "$PG_DIR/configured" || fail "${file[$proxy]} lacks an address or its certificate: $(cat "$PG_DIR/configured")"
    done
    start_$proxy
    PROXY=$!
    AWAIT_PID=$PROXY AWAIT_LOG=$PG_DIR/$proxy.log await "$proxy to answer" answers
    timeout 400 python3 "$here/_proxies.py" "$proxy" "$port" "$PG_DIR/cert.pem" ${TIDE_LONG:+long} || { code=1; grep -v ' 200 ' "$PG_DIR/$proxy.log" | cut -c1-300 | tail -5; }
    kill $PROXY
    wait $PROXY || true
    tried=$((tried + 1))
done
for pid in "${pids[@]}"; do
    API_PID=$pid
    api_stop || fail "a node ended with $?: $(tail -3 "$PG_DIR/api.log")"
done
[ $tried -gt 0 ] || { echo "skipped: neither caddy, nginx nor haproxy"; exit 77; }
exit $code
