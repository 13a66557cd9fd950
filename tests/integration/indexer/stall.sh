#!/usr/bin/env bash
# A source that hangs in the first load, without an error: the ledgers that it gave are written when their batch has waited, and shown
# after some batches more. When the source goes on, the index becomes that of a source without a pause.
here=$(dirname "$0")
. "$here/../_pg.sh"
[ -x "$TIDE_BIN/tidemark-sim" ] || { echo "no tidemark-sim"; exit 77; }
pg_start
bin=$TIDE_BIN/tidemark-indexer
export TIDEMARK_DEPLOYMENT=$PG_DIR/deployment.json
"$TIDE_BIN/tidemark-sim" write --lake "$PG_DIR/lake" --deployment "$TIDEMARK_DEPLOYMENT" --first-ledger 1024 --ledgers 300 --ledgers-per-object 1 --txs 4 --quiet

# Answers nothing about ledgers behind the number in `gate`, as long as it says one.
mkdir "$PG_DIR/control"
python3 - "$PG_DIR/lake" "$PG_DIR/control" >"$PG_DIR/port" 2>"$PG_DIR/http.log" <<'PY' &
import functools, http.server, re, sys, time
def gate():
    with open(sys.argv[2] + "/gate") as file:
        return int(file.read())
class Handler(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_GET(self):
        ledger = re.search(r"--(\d+)\.xdr", self.path)
        while ledger and int(ledger[1]) > gate():
            time.sleep(0.05)
        super().do_GET()
    do_HEAD = do_GET
    def log_message(self, *args):
        pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=sys.argv[1]))
server.daemon_threads = True
print(server.server_address[1], flush=True)
server.serve_forever()
PY
gate() { echo "$1" >"$PG_DIR/control/new" && mv "$PG_DIR/control/new" "$PG_DIR/control/gate"; }
gate 1273
await "the server's port" test -s "$PG_DIR/port"
"$bin" run --lake "http://127.0.0.1:$(cat "$PG_DIR/port")" --stop-at-end --http-timeout-ms 3600000 --batch-ms 500 2>"$PG_DIR/run.log" &
indexer=$!
loaded() { [ "$(sql "SELECT max(last_loaded) FROM chain.partition WHERE NOT attached")" = 1273 ]; }
shown() { [ "$(sql "SELECT count(*) || ' ' || (SELECT coalesce(max(ledger), 0) FROM chain.cursor) FROM chain.ledger")" = "$1" ]; }
written() { loaded || shown "250 1273"; }
AWAIT_LOG=$PG_DIR/run.log await "250 ledgers that were received in a table" written
AWAIT_LOG=$PG_DIR/run.log await "250 ledgers that were received to be shown" shown "250 1273"
kill -0 $indexer || fail "the indexer ended: $(tail -2 "$PG_DIR/run.log")"
await "the log to say why" grep -q "load.shown to=1273" "$PG_DIR/run.log"

gate 9999999999 # also what lies far behind the end, where the source looks for a hole
AWAIT_LOG=$PG_DIR/run.log await "the indexer to end" gone $indexer
wait $indexer || fail "the indexer ended with $?: $(tail -2 "$PG_DIR/run.log")"
shown "300 1323" || fail "not 300 ledgers"
paused=$("$bin" digest)
PGDATABASE=postgres "$PG_BIN/createdb" straight
export TIDEMARK_DATABASE_URL=${TIDEMARK_DATABASE_URL/dbname=tidemark/dbname=straight}
"$bin" run --lake "$PG_DIR/lake" --stop-at-end 2>"$PG_DIR/run.log" || fail "run: $(tail -2 "$PG_DIR/run.log")"
[ "$("$bin" digest)" = "$paused" ] || fail "other tables: $(diff <("$bin" digest) <(echo "$paused"))"
echo "250 of 300 ledgers written and shown while the source hung, then all"
