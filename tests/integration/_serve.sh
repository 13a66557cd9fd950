# A simulated network for one test: sourced, not run.
#
#   . "$(dirname "$0")/_serve.sh"             after _pg.sh, or tools/lib/wait.sh
#   serve_start --close-ms 0 --ledgers 64 …     sets SERVE_URL and SERVE_PID
#   serve_close 3                               closes ledgers now
#   serve_fault 'getLedgers=status:503x2'       serve_mend clears all
#   serve_call getLedgers '{"startLedger":1024}'
#   serve_stop                                  ends it; its exit code
#
# Needs $SERVE_DIR, a temporary folder of the test; several servers get one folder each. The script
# that sources this ends them: serve_stop in its clean-up, or with its other background jobs.
serve_start() {
    mkdir -p "$SERVE_DIR"
    rm -f "$SERVE_DIR/port"
    "$TIDE_BIN/tidemark-sim" serve --listen 127.0.0.1:0 --port-file "$SERVE_DIR/port" "$@" \
        >"$SERVE_DIR/serve.log" 2>&1 &
    SERVE_PID=$!
    AWAIT_PID=$SERVE_PID AWAIT_LOG=$SERVE_DIR/serve.log await "the port of the network" test -s "$SERVE_DIR/port"
    SERVE_URL=http://127.0.0.1:$(cat "$SERVE_DIR/port")
}

serve_close() { curl -fsS -m 120 -d "${1:-1}" "$SERVE_URL/close" >/dev/null; }
serve_fault() { curl -fsS -m 10 -d "$1" "$SERVE_URL/faults" >/dev/null; }
serve_mend() { curl -fsS -m 10 -X DELETE "$SERVE_URL/faults" >/dev/null; }
serve_stats() { curl -fsS -m 10 "$SERVE_URL/stats"; }
serve_call() { # METHOD [PARAMS]
    curl -fsS -m 30 -H 'Content-Type: application/json' \
        -d "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"$1\",\"params\":${2:-{\}}}" "$SERVE_URL/"
}

serve_stop() {
    local code=0
    [ -n "${SERVE_PID:-}" ] || return 0
    kill -TERM "$SERVE_PID" 2>/dev/null || true
    wait "$SERVE_PID" 2>/dev/null || code=$?
    SERVE_PID=''
    return $code
}
