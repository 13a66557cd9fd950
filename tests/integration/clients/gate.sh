#!/usr/bin/env bash
# Runs the guide of api/clients and its examples on a running stack. A gate before a swap, on Node.js and in Python,
# refuses a person without an attestation and accepts the same person once the attestation is on the ledger. Both
# packages read the API's answers, and SQL confirms the counts.
. "$(dirname "$0")/_clients.sh"
here=$(cd "$(dirname "$0")" && pwd)
cp "$here"/_live.mjs "$here"/_types.mjs "$packages/"
cat >"$work/run" <<'END'
set -eu
cd "$1"
PORT=0 node gate.mjs >"$2/node.url" 2>"$2/node.err" & node=$!
PORT=0 "$3" gate.py >"$2/python.url" 2>"$2/python.err" & python=$!
node alert.mjs XLM 0.0000001 0.0000002 >"$2/alert-node" 2>&1 & alert=$!
"$3" alert.py XLM 0.0000001 0.0000002 >"$2/alert-python" 2>&1 & other=$!
. "$6"
trap 'kill $node $python $alert $other 2>/dev/null' EXIT
AWAIT_PID=$node AWAIT_LOG=$2/node.err await "the address of gate.mjs" test -s "$2/node.url"
AWAIT_PID=$python AWAIT_LOG=$2/python.err await "the address of gate.py" test -s "$2/python.url"
node _live.mjs "$(cat "$2/node.url")" "$(cat "$2/python.url")"
"$3" "$4/_live.py" portfolio.py
node _types.mjs "$5" "$(tidemark-sim keys --name typed 2>/dev/null | awk '{ print $2 }')"
AWAIT_PID=$alert AWAIT_LOG=$2/alert-node await "an alert of alert.mjs" grep -s "^ALERT XLM .* is outside" "$2/alert-node"
AWAIT_PID=$other AWAIT_LOG=$2/alert-python await "an alert of alert.py" grep -s "^ALERT XLM .* is outside" "$2/alert-python"
END
"$TIDE_SOURCE_DIR/tools/with-stack" --kyc '' --ledgers 128 -- timeout 300 bash "$work/run" "$packages" "$work" "$python" "$here" "$TIDE_BUILD/api/openapi.json" "$TIDE_SOURCE_DIR/tools/lib/wait.sh" || {
    tail -n 5 "$work"/*.err "$work"/alert-*
    fail "see above"
}
