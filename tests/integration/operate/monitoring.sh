#!/usr/bin/env bash
# Checks tools/monitoring: the tests of the rules pass, each alert has a runbook and a test, and all metrics
# that it uses exist.
set -euo pipefail
root=$TIDE_SOURCE_DIR
python3 "$root/tests/integration/operate/_monitoring.py" files "$root"
PATH=$PATH:$root/.state/prometheus/usr/bin
command -v promtool >/dev/null || { echo "no promtool; run tools/install-deps monitoring"; exit 1; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
promtool check rules "$root/tools/monitoring/alerts.yml" >/dev/null
sed '/^ *runbook: >-$/,/^ *- alert:\|^$/{/^ *- alert:\|^$/!d}' "$root/tools/monitoring/alerts.yml" >"$dir/alerts.yml"
cp "$root/tools/monitoring/alerts_test.yml" "$dir/"
promtool test rules "$dir/alerts_test.yml" >/dev/null
echo "ok promtool: rules and their tests"
