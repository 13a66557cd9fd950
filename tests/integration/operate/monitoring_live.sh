#!/usr/bin/env bash
# Sends each query of each dashboard of tools/monitoring to a real Prometheus that scrapes a running stack, and to its
# database as tidemark_analyst.
# label: all
set -euo pipefail
root=$TIDE_SOURCE_DIR
PATH=$PATH:$root/.state/prometheus/usr/bin
[ -x "$TIDE_BIN/tidemark-api" ] && [ -x "$TIDE_BIN/tidemark-sim" ] && command -v prometheus >/dev/null ||
    { echo "programs not built, or no prometheus: run tools/install-deps monitoring"; exit 1; }
export TIDEMARK_API_METRICS_KEY=a-key-that-a-test-gives-to-prometheus
exec "$root/tools/with-stack" --kyc '' --ledgers 300 --close-ms 500 -- bash -c '
    set -euo pipefail
    . "$1/tools/lib/stack.sh"
    . "$1/tools/lib/monitoring.sh"
    monitoring_prometheus "$TIDEMARK_STACK" "$TIDEMARK_API_URL" "$TIDEMARK_API_METRICS_KEY"
    trap "kill $monitoring_prometheus_pid; wait $monitoring_prometheus_pid || true" EXIT
    python3 "$1/tests/integration/operate/_monitoring.py" ask "$1" "$monitoring_prometheus_url"' _ "$root"
