#!/usr/bin/env bash
# The operator console in a real browser, behind nginx with client certificates, set up by the commands of its README.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../integration/_pg.sh"
. "$here/_page.sh"
nginx=$(command -v nginx || echo /usr/sbin/nginx)
[ -x "$nginx" ] || { echo "no nginx"; exit 77; }
command -v openssl >/dev/null || { echo "no openssl"; exit 1; }
[ -f "$TIDE_SOURCE_DIR/build/dashboard/console/console.html" ] || { echo "the console is not built: tools/dashboard"; exit 1; }
pg_start
work=$PG_DIR/console
mkdir "$work"
cd "$work"

# A deployment, and an intent and a session that need review.
sql "INSERT INTO chain.deployment (passphrase, network_id, contracts_hash, contracts) VALUES ('A Simulated Network', sha256('A Simulated Network'), sha256('x'), '[]');
INSERT INTO chain.cursor (deployment, ledger, hash, closed_at) VALUES (1, 812, sha256('h'), clock_timestamp());
INSERT INTO kyc.session (id, deployment, address, provider, integrator, mode, ref, expires_at) VALUES ('session-1', 1, 'GADDRESS', 'sandbox', '', 'redirect', 'r', now() + interval '1 day');
INSERT INTO kyc.outbox (deployment, subject, session_id, decision_rev, action, jurisdiction, expires_at, meta_hash, state, reason, last_status)
VALUES (1, 'GADDRESS', 'session-1', 1, 'attest', 756, 4102444800, sha256('m'), 'parked', 'manual_review', 'suspended');
INSERT INTO kyc.session (id, deployment, address, provider, integrator, mode, ref, expires_at, state, attested_until) VALUES
('session-2', 1, 'GA25OGO7D4AFPW4G3P6IC7C6MLR42B54U62WNNWKFEGHRC3XEA5ANBRC', 'sandbox', '', 'redirect', 's', now() + interval '1 day', 'approved', now() + interval '90 days');
INSERT INTO kyc.session (id, deployment, address, provider, integrator, mode, ref, expires_at, state, reason, updated_at) VALUES
('session-3', 1, 'GWAITING', 'didit', '', 'redirect', 't', now() + interval '1 day', 'review', 'country_unknown', now() - interval '49 hours');" >/dev/null

port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
export CONSOLE_ORIGIN=https://localhost:$port
sed -n '/^<!-- commands: /,/^<!-- end of commands/p' "$TIDE_SOURCE_DIR/api/console/README.md" | sed '/^```/d; /^<!--/d' >setup.sh
[ "$(wc -l <setup.sh)" -gt 10 ] || fail "no commands in the README"
bash -eu setup.sh >setup.log 2>&1 || fail "$(tail -3 setup.log)"
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost -keyout server.key -out server.pem 2>/dev/null
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=eve -keyout eve.key -out eve.pem 2>/dev/null # another issuer's
"$TIDE_BIN/tidemark-console" --console-file console.json --console-listen 127.0.0.1:0 \
    --console-database-url "host=$PGHOST port=$PGPORT dbname=tidemark user=tidemark_console" >console.log 2>&1 &
for _ in $(seq 1200); do grep -q console.listening console.log && break; kill -0 $! 2>/dev/null || fail "$(cat console.log)"; sleep 0.05; done
cat >nginx.conf <<END
$([ "$(id -u)" != 0 ] || echo "user root;")
daemon off; master_process off; pid $work/nginx.pid; error_log $work/nginx.log;
events { worker_connections 64; }
http {
    limit_conn_zone \$binary_remote_addr zone=console:1m;
    access_log off;
    client_body_temp_path $work/body; proxy_temp_path $work/proxy; fastcgi_temp_path $work/f; uwsgi_temp_path $work/u; scgi_temp_path $work/s;
    server {
        listen 127.0.0.1:$port ssl;
        ssl_certificate $work/server.pem; ssl_certificate_key $work/server.key;
        ssl_client_certificate $work/issuer.pem; ssl_verify_client on;
        limit_conn console 16;
        location /console { include $work/proxy.conf; proxy_pass http://127.0.0.1:$(sed -n 's/.*console.listening.* port=\([0-9]*\).*/\1/p' console.log); proxy_read_timeout 75s; }
    }
}
END
"$nginx" -c "$work/nginx.conf" -e "$work/nginx.log" >/dev/null 2>&1 & # one process: killed with the test
timeout 300 node "$PAGE/console.mjs" "$CONSOLE_ORIGIN" "$work" "$PAGE" || fail "$(tail -3 console.log nginx.log)"
[ "$(sql "SELECT state FROM kyc.outbox")" = queued ] || fail "the intent was not released"
[ "$(sql "SELECT string_agg(actor || ' ' || what, ', ' ORDER BY id) FROM kyc.audit")" = \
    "tidemark_console console ada proposed.requeue, tidemark_console outbox released, tidemark_console console bob confirmed.requeue, tidemark_console console ada proposed.revoke, $(
    printf 'tidemark_console console %s, ' 'ada proposed.integrator_put' 'cleo and ada integrator_put' 'cleo confirmed.integrator_put' 'ada proposed.key_add' 'cleo and ada key_add')tidemark_console console cleo confirmed.key_add" ] ||
    fail "the audit: $(sql "SELECT actor, what FROM kyc.audit ORDER BY id")"
echo ok
