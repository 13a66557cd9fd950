#!/usr/bin/env bash
# Reads GET /metrics with a strict parser of Prometheus' text format: names and units follow Prometheus' conventions,
# and the counts equal the requests made. promtool reads it too, if it is installed.
# label: all
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../_pg.sh"
. "$here/../_api.sh"
[ -x "$TIDE_BIN/tidemark-api" ] && [ -x "$TIDE_BIN/tidemark-sim" ] || { echo "programs not built"; exit 1; }
command -v curl >/dev/null || { echo "no curl"; exit 1; }
export ASAN_OPTIONS=detect_leaks=0
pg_start
started=$EPOCHREALTIME
api_index 96
# Identity checks, with an attester whose last heartbeat is some time ago, and intents that need review.
(umask 077 && "$here/../_providers.py" kyc-file http://127.0.0.1:9 http://127.0.0.1:8080 sandbox | sed '0,/{/s//{"open": true, /' >"$PG_DIR/kyc.json")
export TIDEMARK_KYC_FILE=$PG_DIR/kyc.json TIDEMARK_KYC_DATABASE_URL="host=$PG_DIR port=5432 user=tidemark_kyc dbname=tidemark"
sql "INSERT INTO kyc.attester (deployment, verifier, state, heartbeat_at, ledger, balance, sent, confirmed, parked, failures, confirmed_at)
         SELECT id, 'GA', 'stopped', now() - interval '2 days', 5, 1, 1, 1, 1, 1, NULL FROM chain.deployment;
     INSERT INTO kyc.attester (deployment, verifier, state, heartbeat_at, ledger, balance, sent, confirmed, parked, failures, confirmed_at,
             standing)
         SELECT id, 'GB', 'waiting', now() - interval '1 hour', 1234, 25000000, 9, 7, 2, 3, 'epoch'::timestamptz + interval '1700000000 s', 4
         FROM chain.deployment;
     INSERT INTO kyc.session (id, deployment, address, provider, integrator, mode, ref, expires_at)
         SELECT 's', id, 'G', 'sandbox', '', 'redirect', 'r', now() + interval '1 day' FROM chain.deployment;
     INSERT INTO kyc.outbox (deployment, subject, session_id, decision_rev, action, jurisdiction, expires_at, meta_hash, state, confirmed_ledger,
             attention)
         SELECT id, 'G', 's', n, 'attest', 1, 1, sha256('x'), CASE WHEN n < 3 THEN 'confirmed' ELSE 'parked' END,
             CASE WHEN n < 3 THEN 9 END, CASE WHEN n = 1 THEN 'suspended' END FROM chain.deployment, generate_series(1, 5) AS n" >/dev/null
# With a long history, the counts of waiting rows, the search for due rows and the limits must not read that history
# again.
sql "INSERT INTO kyc.session (id, deployment, address, provider, integrator, mode, ref, state, created_at, expires_at, next_check)
         SELECT 'e' || n, id, 'G' || n, 'sandbox', '', 'redirect', 'r' || n, (ARRAY['approved', 'declined', 'expired'])[1 + n % 3],
             now() - interval '2 days', now() + interval '5 days', CASE WHEN n % 3 = 0 THEN now() + interval '1 day' END
         FROM chain.deployment, generate_series(1, 15000) AS n;
     INSERT INTO kyc.inbox (deployment, provider, event_key, body_sha256, sig_key, state)
         SELECT id, 'sandbox', n, sha256('x'), 0, CASE WHEN n <= 4 THEN 'failed' ELSE 'done' END FROM chain.deployment, generate_series(1, 15000) AS n;
     INSERT INTO kyc.outbox (deployment, subject, session_id, decision_rev, action, jurisdiction, expires_at, meta_hash, state,
             confirmed_ledger)
         SELECT id, 'G', 'e' || n, 1, 'attest', 1, 1, sha256('x'), 'confirmed', 9 FROM chain.deployment, generate_series(1, 15000) AS n" >/dev/null
for table in session inbox outbox; do sql "VACUUM ANALYZE kyc.$table" >/dev/null; done
sql "SELECT pg_stat_reset()" >/dev/null
export TIDEMARK_API_METRICS_KEY=metrics-key-of-tests
api_start
until_metrics() { # WHAT CONDITION-OF-AWK: waits for a scrape in which a line fits
    within 60 metrics_fit "$2" || fail "$1: $(tail -n 20 "$PG_DIR/metrics")"
}
metrics_fit() { curl -fsS -m 20 "$API_URL/metrics" >"$PG_DIR/metrics" && awk "$1 { found = 1 } END { exit !found }" "$PG_DIR/metrics"; }
until_metrics "the figures of the indexer are not read" '/^tidemark_indexer_figures_age_seconds/'
"$here/_metrics.py" "$API_URL" "$started"
curl -fsS "$API_URL/api/sdk/kyc/session" -H 'Content-Type: application/json' \
    -d '{"address":"GA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVSGZ","providerKey":"sandbox","mode":"direct"}' >/dev/null ||
    fail "no session"
used() { sql "SELECT string_agg(indexrelname, ' ' ORDER BY indexrelname) FROM pg_stat_user_indexes WHERE idx_scan > 0
    AND indexrelname IN ('session_state', 'inbox_waits', 'session_check', 'inbox_received', 'session_provider_created')"; }
sql "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'tidemark_kyc'" >/dev/null # else they tell it late
for _ in $(seq 600); do
    [ "$(used)" = "inbox_received inbox_waits session_check session_provider_created session_state" ] && break
    sleep 0.1
done
scanned=$(sql "SELECT relname, seq_tup_read + idx_tup_fetch FROM pg_stat_user_tables WHERE schemaname = 'kyc'
    AND relname IN ('session', 'inbox', 'outbox')")
[ "$(awk -F '|' '$2 < 1000' <<<"$scanned" | wc -l)" = 3 ] || fail "identity checks read their past: $scanned; used: $(used)"
[ "$(used | wc -w)" = 5 ] || fail "unused indexes: only $(used) are"
echo "ok identity checks read no row of what is at its end"
if command -v promtool >/dev/null; then
    curl -fsS "$API_URL/metrics" | promtool check metrics || fail "promtool does not like it"
    echo "ok promtool reads it"
fi
# Two nodes share a cache: one feeds it, and the other reports no failure.
one=$API_PID one_url=$API_URL
api_start
sleep 1.5 # it asks for the cache each second
curl -fsS "$API_URL/metrics" >"$PG_DIR/metrics"
grep -q '^tidemark_feeder_feeding 0$' "$PG_DIR/metrics" && grep -q '^tidemark_feeder_failures_total 0$' "$PG_DIR/metrics" ||
    fail "a second process: $(grep '^tidemark_feeder_f' "$PG_DIR/metrics")"
api_stop || fail "the second API ended with $?"
API_PID=$one API_URL=$one_url
echo "ok a process that leaves the feeding to another counts no failures"
# Without the database a scrape still succeeds.
pg_stop immediate
until_metrics "the stream is not stale without the database" '/^tidemark_stream_stale 1$/'
until_metrics "it feeds without a database" '/^tidemark_feeder_feeding 0$/'
until_metrics "figures from nowhere" '$1 == "tidemark_indexer_figures_age_seconds" && $2 > 2'
echo "ok without the database it says so"
pg_again
api_stop || fail "the API ended with $?"
