#!/usr/bin/env bash
# Lakes with holes while they are followed, in a folder and on a server whose bucket answers 403 for what is not there:
# the hole is reported everywhere and the index goes on once it is filled. A mirror that brings the newest objects first
# is waited for. With RPC beside it, each of the two is enough at every moment. (label: all)
. "$(dirname "$0")/../_pg.sh"
. "$(dirname "$0")/../_rpc.sh"
command -v python3 >/dev/null || { echo "no python3"; exit 1; }
pg_start
serve one --ledgers 64 --txs 2 --seed 8 --ledgers-per-object 1 --objects-per-partition 1000
first=1024 last=1087
patience=(--http-timeout-ms 20000) # the machine may be slow
deployment=$PG_DIR/one/deployment.json
partition=$(cd "$PG_DIR/one/lake" && ls -d F*)
files() { (cd "$PG_DIR/one/lake/$partition" && ls | sort -r); } # the oldest first
file_of() { files | sed -n "$(($1 - first + 1))p"; }

into reference
"$TIDE_BIN/tidemark-indexer" run --lake "$PG_DIR/one/lake" --deployment "$deployment" --stop-at-end >"$PG_DIR/out" 2>&1 || fail "reference: $(tail -n 3 "$PG_DIR/out")"
[ "$(cursor)" = $last ] || fail "the reference ends at $(cursor)"
reference=$(digest)

# A server like a bucket without the right to list. Its log has each request.
python3 - "$PG_DIR" >"$PG_DIR/port" 2>"$PG_DIR/asked" <<'PY' &
import functools, http.server, os, sys
class Bucket(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def send_error(self, code, *args):
        config = self.path.endswith(".config.json")
        super().send_error(404 if config else 403)
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Bucket, directory=sys.argv[1]))
print(server.server_address[1], flush=True)
server.serve_forever()
PY
within 20 [ -s "$PG_DIR/port" ] || fail "no bucket"
bucket=http://127.0.0.1:$(cat "$PG_DIR/port")

lake() { # NAME LEDGER…: a new lake with these ledgers
    local name=$1 ledger
    shift
    mkdir -p "$PG_DIR/$name/$partition"
    cp "$PG_DIR/one/lake/.config.json" "$PG_DIR/$name/"
    for ledger in "$@"; do cp "$PG_DIR/one/lake/$partition/$(file_of "$ledger")" "$PG_DIR/$name/$partition/.part" && mv "$PG_DIR/$name/$partition/.part" "$PG_DIR/$name/$partition/$(file_of "$ledger")"; done
}
follow() { # DB OPTION…: an indexer in the background
    name=$1
    shift
    [ -s "$PG_DIR/$name.log" ] || into "$name"
    "$TIDE_BIN/tidemark-indexer" run --deployment "$deployment" --poll-ms 100 --retry-ms-max 200 \
        "${patience[@]}" "$@" >"$PG_DIR/$name.log" 2>&1 &
    pid=$!
}
goes_on() { kill -0 $pid 2>/dev/null || fail "$name: ended: $(tail -n 3 "$PG_DIR/$name.log")"; }
at() { [ "$(cursor)" = "$1" ]; }
reaches() { within 30 at "$1" || { goes_on; fail "$name: the cursor is at $(cursor), not $1: $(tail -n 3 "$PG_DIR/$name.log")"; }; }
ends_equal() {
    reaches $last
    kill $pid
    wait $pid || fail "$name: exit $?"
    [ "$(digest)" = "$reference" ] || fail "$name: other tables"
}
trouble() { sql "SELECT coalesce(trouble, '') FROM chain.heartbeat" | grep -e "$1" >/dev/null; }
calm_again() { sql "SELECT trouble IS NULL FROM chain.heartbeat" | grep t >/dev/null; }
reported() { # PATTERN LAKE: in status, doctor, log and metrics (which read the heartbeat)
    within 40 trouble "$1" || fail "$name: no trouble is told: $(sql 'SELECT state, trouble FROM chain.heartbeat'; tail -n 3 "$PG_DIR/$name.log")"
    "$TIDE_BIN/tidemark-indexer" status >"$PG_DIR/status"
    grep -q "$1" "$PG_DIR/status" || fail "$name: status: $(cat "$PG_DIR/status")"
    until_sql "(SELECT lag_ledgers FROM chain.heartbeat) > 0" 10
    "$TIDE_BIN/tidemark-indexer" doctor --deployment "$deployment" --lake "$2" >"$PG_DIR/doctor" 2>"$PG_DIR/doctor.log" || true
    grep -q "^warning *writer .*$1" "$PG_DIR/doctor" || fail "$name: doctor: $(cat "$PG_DIR/doctor")"
    grep -q "^warning *lake .*ledger" "$PG_DIR/doctor" || fail "$name: doctor: $(cat "$PG_DIR/doctor")"
    grep -q "source.retry.*$1" "$PG_DIR/$name.log" || fail "$name: log: $(cat "$PG_DIR/$name.log")"
    [ "$(grep -c source.retry "$PG_DIR/$name.log")" -le 6 ] || fail "$name: a storm of log lines"
    goes_on
}

for where in folder bucket; do
    [ $where = folder ] && base=$PG_DIR || base=$bucket

    # A hole opens at the tip, two objects wide, as galexie's `append --start N` leaves one.
    lake "hole_$where" $(seq $first 1049)
    follow "hole_$where" --lake "$base/hole_$where"
    reaches 1049
    lake "hole_$where" $(seq 1052 1060)
    reported 'ledger 1050 is .*, but the object of ledger 10[56][0-9] is there' "$base/hole_$where"
    [ $where != folder ] || until_sql "(SELECT lag_ledgers FROM chain.heartbeat) = 11" 10
    grep -q 'lake.hole ledger=1050' "$PG_DIR/$name.log" || fail "$name: the hole is not logged"
    lake "hole_$where" 1051 1050
    reaches 1060
    within 10 calm_again || fail "$name: the trouble stays"
    grep -q 'lake.filled ledger=1050' "$PG_DIR/$name.log" || fail "$name: that it is filled is not logged"
    until_sql "(SELECT lag_ledgers FROM chain.heartbeat) = 0" 10

    # The process is started again before the hole.
    kill $pid
    wait $pid || fail "$name: exit $?"
    lake "hole_$where" $(seq 1064 1070)
    follow "$name" --lake "$base/hole_$where"
    reported 'ledger 1061 is .*, but the object of ledger 10[67][0-9] is there' "$base/hole_$where"
    lake "hole_$where" $(seq 1071 $last) 1063 1062 1061
    ends_equal
    echo "ok $where: holes are reported, and gone when they are filled"

    # A mirror: rsync copies in the order of names, which count down.
    lake "mirror_$where"
    follow "mirror_$where" --lake "$base/mirror_$where" --first-ledger $first
    for ledger in $(seq $last -8 1040); do
        lake "mirror_$where" $(seq $ledger -1 $((ledger - 7)))
        goes_on
    done
    [ "$(cursor)" = 0 ] || fail "$name: the cursor is at $(cursor)"
    within 60 trouble "ledger $first is .*, but the object of ledger" || fail "$name: no trouble is told: $(tail -n 3 "$PG_DIR/$name.log")"
    lake "mirror_$where" $(seq 1039 -1 $first)
    ends_equal
    echo "ok $where: a lake that is being mirrored is waited for"
done
[ "$(grep -c ' 403 ' "$PG_DIR/asked")" -lt 3000 ] || fail "too many requests for what is not there: $(grep -c ' 403 ' "$PG_DIR/asked")"

into ends
lake ends $(seq $first 1049) $(seq 1052 1060)
code=0
"$TIDE_BIN/tidemark-indexer" run --deployment "$deployment" --lake "$PG_DIR/ends" --stop-at-end >"$PG_DIR/out" 2>&1 || code=$?
[ $code = 67 ] && grep -q 'ledger 1050 is missing, but the object of ledger 1060 is there' "$PG_DIR/out" || fail "exit $code: $(tail -n 3 "$PG_DIR/out")"
echo "ok with --stop-at-end a hole ends the run"

# Everything is forbidden: that is no tip.
mkdir -p "$PG_DIR/closed"
follow closed --lake "$bucket/closed" --first-ledger $first
within 30 trouble "ledger $first: .*403" || fail "closed: $(sql 'SELECT trouble FROM chain.heartbeat'; tail -n 3 "$PG_DIR/closed.log")"
kill $pid
wait $pid || fail "closed: exit $?"
echo "ok a bucket that gives nothing is trouble"

# --- a lake and RPC -----------------------------------------------------------------------------
name='RPC away'
lake away $(seq $first 1060)
follow away --lake "$PG_DIR/away" --rpc http://127.0.0.1:1
reaches 1060
lake away $(seq 1061 $last)
ends_equal
echo "ok $name: what the lake has is stored, and followed"

name='RPC is empty'
fault one 'getLedgers=rpc-error:-32603 DB is empty'
fault one 'getLatestLedger=rpc-error:-32603 could not get latest ledger sequence'
follow empty_db --lake "$PG_DIR/hole_folder" --rpc "$one_url"
ends_equal
calm one
echo "ok RPC says that it is empty: the lake is used"

name='the lake hangs'
python3 -c 'import socket, sys, time; s = socket.create_server(("127.0.0.1", 0)); print(s.getsockname()[1], flush=True); time.sleep(600)' >"$PG_DIR/deaf" &
within 10 [ -s "$PG_DIR/deaf" ] || fail "no server that hangs"
mkdir "$PG_DIR/none"
patience=(--http-timeout-ms 8000)
follow deaf --lake "http://127.0.0.1:$(cat "$PG_DIR/deaf")" --rpc "$one_url"
ends_equal
patience=(--http-timeout-ms 20000)
echo "ok $name: RPC is used"

name='RPC dies at the tip, the lake lives on'
follow dies --lake "$PG_DIR/one/lake" --rpc "$one_url"
reaches $last
fault one '*=close:before'
for n in 1 2 3; do
    close_ledgers one 1
    reaches $((last + n))
done
within 20 trouble "^$one_url: .*Empty reply" || fail "$name: that RPC is away is not told: $(sql 'SELECT trouble FROM chain.heartbeat')"
calm one
close_ledgers one 1
reaches $((last + 4))
within 20 calm_again || fail "$name: the trouble stays: $(sql 'SELECT trouble FROM chain.heartbeat')"
echo "ok $name"

name='RPC stands still, the lake lives on'
fault one '*=lag:4'
close_ledgers one 2
reaches $((last + 6))
calm one
close_ledgers one 1
reaches $((last + 7))
kill $pid
wait $pid || fail "$name: exit $?"
echo "ok $name"
