#!/usr/bin/env bash
# Proves that reading a market's past is not starved by new listings. A catalog lists a new contract in each ledger,
# and the next ledger shows its kind. Reading the market's past waits for the current reading only, then precedes the
# listings. The test counts readings and objects of the lake, not seconds.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../_pg.sh"
. "$here/_discover.sh"
[ -x "$TIDE_BIN/tidemark-sim" ] || { echo "no tidemark-sim"; exit 1; }
pg_start
. "$here/../_faults.sh"
indexer=$TIDE_BIN/tidemark-indexer
export ASAN_OPTIONS=detect_leaks=0 TIDEMARK_PARTITION_LEDGERS=1000 TIDEMARK_POLL_MS=20
past=160 first=1024 last=1183

"$TIDE_BIN/tidemark-sim" write --lake "$PG_DIR/sim/lake" --first-ledger $first --ledgers $past --ledgers-per-object 1 --txs 2 --hostile 5 \
    --hostile-attacks listings --hostile-all-from $((last + 1)) --quiet --follow 250 --close-step 1 2>"$PG_DIR/sim.log" & sim=$!
AWAIT_PID=$sim AWAIT_LOG=$PG_DIR/sim.log await "ledger $last in the lake" eval '[ -n "$(find "$PG_DIR/sim/lake" -name "*--$last.xdr*" -print -quit 2>/dev/null)" ]'

# A slow lake server that counts the objects it sends.
python3 - "$PG_DIR" >"$PG_DIR/port" 2>"$PG_DIR/http.log" <<'PY' &
import functools, http.server, sys, threading, time
given = open(sys.argv[1] + "/given", "a", buffering=1)
lock = threading.Lock()
class Handler(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_GET(self):
        time.sleep(0.008)
        if ".xdr" in self.path:
            with lock:
                print(self.path, file=given)
        super().do_GET()
    def log_message(self, *args):
        pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=sys.argv[1] + "/sim"))
print(server.server_address[1], flush=True)
server.serve_forever()
PY
AWAIT_PID=$! AWAIT_LOG=$PG_DIR/http.log await "the port of the lake's server" test -s "$PG_DIR/port"
strip "$PG_DIR/sim"
export TIDEMARK_DEPLOYMENT=$PG_DIR/sim/without.json TIDEMARK_LAKE=http://127.0.0.1:$(cat "$PG_DIR/port")/lake

# Marks the past of two markets as unread, as if they were created now.
"$indexer" backfill --from $first --to $last 2>"$PG_DIR/run.log" || fail "backfill: $(tail -3 "$PG_DIR/run.log")"
mapfile -t markets < <(sql "SELECT contract FROM chain.contract_seen WHERE what = 'market' AND contract IN
    (SELECT contract FROM state.synth_token_instance) ORDER BY 1 LIMIT 2")
[ ${#markets[@]} = 2 ] || fail "no two markets: ${markets[*]}"
unread() { # CONTRACT
    marked=$(wc -l <"$PG_DIR/run.log")
    sql "INSERT INTO chain.contract_coverage (deployment, contract, from_ledger, to_ledger, next_ledger, known_as)
        VALUES (1, '$1', $first, $last, $first, 'synth_token') ON CONFLICT (deployment, contract, from_ledger) DO UPDATE
        SET to_ledger = excluded.to_ledger, next_ledger = excluded.next_ledger"
}
given() { wc -l <"$PG_DIR/given"; }
listed() { sql "SELECT count(*) FROM chain.contract_seen WHERE what = 'discovered' AND ledger > $last"; }
is_read() { [ "$(sql "SELECT count(*) FROM chain.contract_coverage WHERE contract = '$1' AND next_ledger <= to_ledger")" = 0 ]; }
complete() { # MARKET READINGS: read by the last of so many readings that begin from now on
    local before mark readings
    before=$(given) mark=$(wc -l <"$PG_DIR/run.log")
    is_read_in_time() {
        [ $(($(given) - before)) -le $((5 * past)) ] || fail "$1 is not read after $(($(given) - before)) objects, $(listed) listings: $(grep discovery "$PG_DIR/run.log" | tail -4)"
        is_read "$1"
    }
    AWAIT_PID=$pid AWAIT_LOG=$PG_DIR/run.log await "$1 to be read" is_read_in_time "$1"
    # The reading may have begun since `unread`, before this function looked at the log. Its last line follows its last commit.
    its_reading_ended() {
        readings=$(awk -v mark="$mark" -v marked="$marked" 'NR > marked && /discovery.reading/ { n += NR > mark; own = /markets=true/ }
            NR > marked && /discovery.complete/ && own { print n; exit }' "$PG_DIR/run.log") && [ -n "$readings" ]
    }
    AWAIT_LOG=$PG_DIR/run.log await "the end of the reading of $1" its_reading_ended
    [ "$readings" -le "$2" ] || fail "$1: $readings readings: $(grep discovery "$PG_DIR/run.log")"
    echo "ok $1: $readings readings, $(($(given) - before)) objects, $(listed) listings"
}

: >"$PG_DIR/run.log"
unread "${markets[0]}"
"$indexer" run 2>>"$PG_DIR/run.log" & pid=$!
complete "${markets[0]}" 1
until_sql "count(*) > 2 FROM chain.contract_seen WHERE what = 'discovered' AND ledger > $last" 60
wait_for "$PG_DIR/run.log" "discovery.reading.*contracts=[2-9]" 60 # listings are read together
unread "${markets[1]}"
complete "${markets[1]}" 2
kill -TERM $pid
wait $pid || fail "SIGTERM: exit $?"

# In the end the rows equal those of an index that read everything at once.
kill -TERM $sim
wait $sim || true
"$indexer" run --stop-at-end 2>"$PG_DIR/run.log" || fail "run: $(tail -3 "$PG_DIR/run.log")"
[ "$(waiting)" = 0 ] || fail "still waiting: $(tail -3 "$PG_DIR/run.log")"
"$indexer" digest >"$PG_DIR/got"
PGDATABASE=postgres "$PG_BIN/createdb" again
export TIDEMARK_DATABASE_URL="host=$PG_DIR port=5432 user=postgres dbname=again"
"$indexer" run --stop-at-end 2>"$PG_DIR/run.log" || fail "run: $(tail -3 "$PG_DIR/run.log")"
"$indexer" digest | diff - "$PG_DIR/got" || fail "other rows"
echo "ok the same rows as in one go"
