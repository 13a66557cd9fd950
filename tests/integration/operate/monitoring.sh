#!/usr/bin/env bash
# Checks tools/monitoring: the tests of the rules pass, each alert has a runbook entry and a test, and all metrics
# that it uses exist.
set -euo pipefail
root=$TIDE_SOURCE_DIR
python3 "$root/tests/integration/operate/_monitoring.py" files "$root"
PATH=$PATH:$root/.state/prometheus/usr/bin
command -v promtool >/dev/null || { echo "no promtool; run tools/install-deps monitoring"; exit 1; }
cd "$root/tools/monitoring"
promtool check rules alerts.yml >/dev/null
promtool test rules alerts_test.yml >/dev/null
echo "ok promtool: rules and their tests"
