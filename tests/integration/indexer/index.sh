#!/usr/bin/env bash
# Indexes ledgers with the whole program: every way gives the same tables, invalid input stops it with a message, and
# no stop or kill loses a ledger. The ledgers are the simulator's.
. "$(dirname "$0")/../_pg.sh"
pg_start
indexer=$TIDE_BIN/tidemark-indexer
[ -x "$TIDE_BIN/tidemark-sim" ] || { echo "no tidemark-sim"; exit 1; }
export ASAN_OPTIONS=detect_leaks=0
mkdir "$PG_DIR/sim"
"$TIDE_BIN/tidemark-sim" write --lake "$PG_DIR/sim/lake" --first-ledger 1920 --ledgers 192 --quiet
"$TIDE_BIN/tidemark-sim" write --stream "$PG_DIR/sim/stream.xdr" --deployment "$PG_DIR/sim/stream.json" --first-ledger 1920 --ledgers 192 --quiet
last=$((1920 + 192 - 1))
export TIDEMARK_DEPLOYMENT=$PG_DIR/sim/deployment.json TIDEMARK_LAKE=$PG_DIR/sim/lake
export TIDEMARK_PARTITION_LEDGERS=1000 TIDEMARK_POLL_MS=50

fresh() { # an empty index: dropping 400 tables takes longer than a new database
    local n=${db_number:=0}
    db_number=$((n + 1))
    PGDATABASE=postgres "$PG_BIN/createdb" "run$db_number"
    PGDATABASE=run$db_number
    TIDEMARK_DATABASE_URL="host=$PG_DIR port=5432 user=postgres dbname=$PGDATABASE"
}
digest() { "$indexer" digest | grep '^total'; }
run() { "$indexer" run --stop-at-end "$@" 2>"$PG_DIR/log_run" || fail "run $*: exit $?: $(tail -2 "$PG_DIR/log_run")"; }
same() {
    local got
    got=$(digest)
    [ "$got" = "$want" ] || fail "$1: $got, not $want"
    [ "$(sql "SELECT from_ledger || '-' || to_ledger || ' ' || (SELECT ledgers FROM chain.cursor) FROM chain.coverage")" = "1920-$last 192" ] ||
        fail "$1: coverage $(sql "TABLE chain.coverage")"
    [ "$(sql "SELECT count(*) FROM chain.partition WHERE NOT attached AND first_loaded > 0")" = 0 ] || fail "$1: unattached partitions"
}
fails() { # EXIT PATTERN ARG…: the command ends so and says so
    local want_code=$1 pattern=$2 code=0 out
    shift 2
    out=$("$indexer" "$@" 2>&1) || code=$?
    [ "$code" = "$want_code" ] && grep -q "$pattern" <<<"$out" || fail "$*: exit $code, wanted $want_code and \"$pattern\": $(tail -3 <<<"$out")"
}

fresh; run; want=$(digest)
[ "$(sql "SELECT count(*) > 500 FROM event.log")" = t ] || fail "hardly any events"
same "loaded"
# a start must not consume an id: there are only 32767
sql "SELECT setval(pg_get_serial_sequence('chain.deployment', 'id'), 32767)" >/dev/null
run; same "nothing more to do"
if [ -n "${TIDE_LONG:-}" ]; then # same_rows compares these ways
    fresh; run --batch-ledgers 1; same "a ledger a transaction"
    fresh; run --batch-ledgers 7; same "7 ledgers a transaction"
    fresh; TIDEMARK_LAKE= run --stream "$PG_DIR/sim/stream.xdr"; same "stream"
fi

# ranges in any order and earlier history, then the report of covered ledgers
fresh
for range in "2050 2060" "1990 2010" "1920 1950" "1940 2030" "1920 $last"; do
    set -- $range
    "$indexer" backfill --from $1 --to $2 2>"$PG_DIR/log_run" || fail "backfill $range: $(tail -2 "$PG_DIR/log_run")"
done
same "backfilled in pieces"
"$indexer" backfill --from 1920 --to $last 2>&1 | grep "backfill.covered from=1920 to=$last" >/dev/null || fail "covered is not said"
fails 67 "nothing after ledger $last, and 9999 was asked for" backfill --from 1920 --to 9999
fresh; "$indexer" backfill --from 1920 --to 1930 2>/dev/null
fails 68 'gap after 1930' backfill --from 1940 --to 1950

# follows a lake that grows, ledger by ledger, then stops: SIGTERM ends it with 0 within seconds
fresh
mkdir "$PG_DIR/grow"
"$TIDE_BIN/tidemark-sim" write --lake "$PG_DIR/grow/lake" --first-ledger 1920 --ledgers 1 --ledgers-per-object 1 --quiet
TIDEMARK_LAKE=$PG_DIR/grow/lake "$indexer" run 2>"$PG_DIR/log_run" & follower=$!
"$TIDE_BIN/tidemark-sim" write --lake "$PG_DIR/grow/lake" --append --first-ledger 1920 --ledgers 192 --ledgers-per-object 1 --quiet
for _ in $(seq 400); do [ "$(sql "SELECT ledger FROM chain.cursor" 2>/dev/null)" = $last ] && break; sleep 0.1; done
# the standby takes over while the first process is still running
TIDEMARK_LAKE=$PG_DIR/grow/lake "$indexer" run 2>"$PG_DIR/log_standby" & standby=$!
for _ in $(seq 100); do grep -q writer.standby "$PG_DIR/log_standby" && break; sleep 0.1; done
start=$SECONDS; kill -TERM $follower; code=0; wait $follower || code=$?
[ "$code" = 0 ] && [ $((SECONDS - start)) -le 60 ] || fail "SIGTERM: exit $code after $((SECONDS - start)) s: $(tail -3 "$PG_DIR/log_run")"
for _ in $(seq 100); do grep -q writer.ready "$PG_DIR/log_standby" && break; sleep 0.1; done
grep -q "writer.ready.*cursor=$last" "$PG_DIR/log_standby" || fail "standby: $(cat "$PG_DIR/log_standby")"
kill -TERM $standby; wait $standby || fail "standby: exit $?"
want_grown=$(digest)
fresh; TIDEMARK_LAKE=$PG_DIR/grow/lake run
[ "$(digest)" = "$want_grown" ] || fail "following and indexing at once differ"

# Sends SIGTERM and SIGKILL at arbitrary times, again and again. On a slow machine the same ledger is killed each
# time, so the quarantine of crashing ledgers is off.
export TIDEMARK_CRASH_LIMIT=0
for signal in TERM KILL; do
    fresh
    for i in 1 2 ${TIDE_LONG:+3 4 5 6}; do
        "$indexer" run --stop-at-end --batch-ledgers 3 2>"$PG_DIR/log_run" & pid=$!
        sleep "0.$((i * 15))"
        kill -$signal $pid 2>/dev/null || true
        wait $pid 2>/dev/null || true
    done
    run; same "SIG$signal"
done
unset TIDEMARK_CRASH_LIMIT

# Kills the program at the steps of its other threads, and after it stored new words of the dictionary, if the build
# has failpoints. At commit.words a failure that the process survives is tested too: the keys of rolled back words are
# dropped.
if has_failpoints; then
    fresh
    TIDE_FP_COUNT=$PG_DIR/count "$indexer" run --stop-at-end --batch-ledgers 9 2>/dev/null
    for point in ledger.fetched ledger.decoded commit.words; do
        kills=0
        passes=$(grep -cx $point "$PG_DIR/count")
        [ "$passes" -ge 5 ] || fail "$point is passed $passes times only"
        for n in 1 $((passes / 5)) $((passes / 2)) $((passes * 3 / 4)) "$passes"; do
            fresh
            code=0; TIDE_FP=$point=kill@$n "$indexer" run --stop-at-end --batch-ledgers 9 2>/dev/null || code=$?
            [ "$code" = 137 ] || fail "$point@$n: exit $code, not killed"
            kills=$((kills + 1))
            run; same "$point@$n"
        done
        printf '%-20s killed %d times of %d passings\n' $point $kills "$passes"
    done 2>/dev/null
    fresh
    TIDE_FP=commit.words=error@3 "$indexer" run --stop-at-end --batch-ledgers 9 2>"$PG_DIR/log_run" || fail "commit.words=error: exit $?: $(tail -2 "$PG_DIR/log_run")"
    grep -q failpoint "$PG_DIR/log_run" || fail "commit.words=error: nothing failed"
    same "commit.words=error"
fi

# ledgers of another network, when no setting names the network; a contract that the file no longer names
"$TIDE_BIN/tidemark-sim" write --stream "$PG_DIR/other.xdr" --deployment "$PG_DIR/other.json" --first-ledger 1920 --ledgers 64 \
    --passphrase "Another Network" --quiet
grep -v '"oracle"' "$PG_DIR/sim/deployment.json" >"$PG_DIR/forgets.json"
fresh; run
for pattern in "another network's ledger" 'WARN deployment.part missing=oracle reason='; do
    TIDEMARK_LAKE= fails 66 "$pattern" run --stop-at-end --stream "$PG_DIR/other.xdr" --deployment "$PG_DIR/forgets.json"
done
[ "$(TIDEMARK_DEPLOYMENT= digest)" = "$want" ] || fail "a wrong file's deployment, empty, is in the way of the only one"

# invalid input: the good ledgers before it are committed, and the message names the place
freeze() { # NAME EXIT PATTERN LAST
    fails "$2" "$3" run --stop-at-end --batch-ledgers 5
    [ "$(sql "SELECT ledger FROM chain.cursor")" = "$4" ] || fail "$1: cursor $(sql "SELECT ledger FROM chain.cursor"), not $4"
    [ "$(sql "SELECT state || (error IS NOT NULL) FROM chain.heartbeat")" = frozentrue ] || fail "$1: heartbeat $(sql "TABLE chain.heartbeat")"
}
objects=($(find "$PG_DIR/grow/lake" -name '*.zst*' | sort -r))
object() { find "$PG_DIR/bad" -name "*--$1.*"; }
fresh; rm -rf "$PG_DIR/bad"; cp -r "$PG_DIR/grow/lake" "$PG_DIR/bad"; export TIDEMARK_LAKE=$PG_DIR/bad
rm "$(object 2040)"; freeze hole 67 2040 2039
cp "$PG_DIR"/grow/lake/*/*--2040.* "$(dirname "$(object 2041)")/" 2>/dev/null || cp "$(find "$PG_DIR/grow/lake" -name '*--2040.*')" "$(dirname "$(object 2041)")/"
head -c 900 "$(object 2060)" > "$PG_DIR/cut"; cp "$PG_DIR/cut" "$(object 2060)"; freeze truncated 65 2060 2059
cp "$(object 2062)" "$(object 2060)"; freeze "another ledger's object" 65 2060 2059

# a reader that closes its pipe is no error; a full disk is one
left() { # COMMAND…: its reader is gone before it writes
    python3 -c 'import os, subprocess, sys
r, w = os.pipe()
os.close(r)
p = subprocess.run(sys.argv[1:], stdout=w, stderr=subprocess.PIPE)
sys.exit(0 if (p.returncode, p.stderr) == (0, b"") else f"{p.returncode}: {p.stderr}")' "$indexer" "$@" ||
        fail "$*: no quiet end when its reader is gone"
    "$indexer" "$@" >/dev/full 2>"$PG_DIR/out" && fail "$*: a full disk is not seen"
    grep -q 'tidemark-indexer' "$PG_DIR/out" || fail "$*: a full disk is not said"
}
left digest; left tables; left dump "$PG_DIR/sim/stream.xdr"

# the program does not wait for a database that does not exist
TIDEMARK_DATABASE_URL="host=$PG_DIR port=5432 user=postgres dbname=nothing" fails 76 'nothing" does not exist' run --stop-at-end
TIDEMARK_DATABASE_URL="host=$PG_DIR port=5432 user=nobody dbname=$PGDATABASE" fails 76 'nobody" does not exist' run --stop-at-end

# another network is detected by the lake's .config.json, by the transactions' hashes, and by the stored rows
sed 's/"network": *"[^"]*"/"network": "Other Network ; 2026"/' "$PG_DIR/sim/deployment.json" > "$PG_DIR/sim/other.json"
fresh
TIDEMARK_LAKE=$PG_DIR/grow/lake fails 66 'Other Network' run --stop-at-end --deployment "$PG_DIR/sim/other.json"
fresh
TIDEMARK_LAKE= fails 66 'ledger 192[0-9]' run --stop-at-end --stream "$PG_DIR/sim/stream.xdr" --deployment "$PG_DIR/sim/other.json"
fresh; TIDEMARK_LAKE=$PG_DIR/grow/lake run
TIDEMARK_LAKE= fails 68 'not on "Other Network' run --stop-at-end --stream "$PG_DIR/sim/stream.xdr" --deployment "$PG_DIR/sim/other.json"
echo ok
