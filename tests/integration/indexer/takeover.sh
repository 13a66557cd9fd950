#!/usr/bin/env bash
# Two indexers compete to be the writer: the writer is killed at every step of a commit, paused and resumed, cut off,
# asked to stop, and crashed by a ledger. No ledger is ever lost or stored twice. TIDE_LONG=1: a hundred kills, each
# step at least five times. TIDE_TAKEOVER_MS limits the time of a takeover and of a stop; if unset, the test only
# waits for them (2000 holds on an idle machine).
. "$(dirname "$0")/../_pg.sh"
pg_start -c max_connections=40
. "$(dirname "$0")/../_faults.sh"
indexer=$TIDE_BIN/tidemark-indexer
export ASAN_OPTIONS=detect_leaks=0
mkdir "$PG_DIR/sim"
"$TIDE_BIN/tidemark-sim" write --lake "$PG_DIR/sim/lake" --first-ledger 1920 --ledgers 128 --ledgers-per-object 1 --txs 4 \
    --follow "${TIDE_CLOSE_MS:-100}" --close-step 1 --quiet >/dev/null 2>&1 & sim=$!
export TIDEMARK_DEPLOYMENT=$PG_DIR/sim/deployment.json TIDEMARK_LAKE=$PG_DIR/sim/lake
export TIDEMARK_POLL_MS=20 TIDEMARK_CRASH_LIMIT=0 TIDEMARK_PARTITION_LEDGERS=1000
for _ in $(seq 300); do [ -s "$TIDEMARK_DEPLOYMENT" ] && break; sleep 0.1; done
[ -s "$TIDEMARK_DEPLOYMENT" ] || fail "the simulator wrote no deployment file"

points=$PG_DIR/points rounds=1
[ -z "${TIDE_LONG:-}" ] || rounds=5 TIDE_KILLS=100
now() { echo $((${EPOCHREALTIME/./} / 1000)); }
cursor() { sql "SELECT ledger FROM chain.cursor"; }
log_of() { echo "$PG_DIR/log_$1"; }
launch() { # [FAILPOINT]: an indexer; its process in $launched
    TIDE_FP=${1:-} "$indexer" run 2>"$PG_DIR/log_new" & launched=$!
    await "the log that the child makes" eval 'mv "$PG_DIR/log_new" "$(log_of $launched)" 2>/dev/null'
    echo "${1:-}" >"$PG_DIR/point_$launched"
}
moves_on() { until_sql "ledger > $(cursor) FROM chain.cursor" "${1:-15}"; }
in_time() { [ -z "${TIDE_TAKEOVER_MS:-}" ] || [ "$2" -le "$TIDE_TAKEOVER_MS" ] || fail "$1 after $2 ms"; } # WHAT MS
holder() { sql "SELECT split_part(instance, ':', 2) FROM chain.lease"; }
waiting() { until_sql "count(*) >= $1 FROM chain.standby WHERE seen_at > clock_timestamp() - interval '3 s'" 30; }

# Checks that each ledger exists once, without a gap, and that the tables equal those of an undisturbed run.
contiguous() {
    [ "$(sql "SELECT count(*) = max(ledger) - 1920 + 1 AND count(DISTINCT ledger) = count(*) AND min(ledger) = 1920
                 AND max(ledger) = (SELECT ledger FROM chain.cursor) AND count(*) = (SELECT ledgers FROM chain.cursor) FROM chain.ledger")" = t ] ||
        fail "ledgers: $(sql "SELECT count(*), min(ledger), max(ledger), (SELECT ledger FROM chain.cursor) FROM chain.ledger")"
}
same_as_one_go() {
    local to got want
    to=$(cursor)
    got=$("$indexer" digest | grep '^total')
    PGDATABASE=postgres "$PG_BIN/createdb" "again$to"
    want=$(
        export TIDEMARK_DATABASE_URL="host=$PG_DIR port=5432 user=postgres dbname=again$to"
        TIDE_FP= "$indexer" backfill --from 1920 --to "$to" 2>"$PG_DIR/log_backfill" || fail "backfill: $(tail -2 "$PG_DIR/log_backfill")"
        "$indexer" digest | grep '^total'
    )
    [ "$got" = "$want" ] || fail "up to $to: $got, in one go $want"
}
all=()
stop_all() { # SIGTERM to everyone: 0
    local began code pid
    began=$(now)
    for pid in "${all[@]}"; do kill -TERM "$pid" 2>/dev/null || true; done
    for pid in "${all[@]}"; do
        code=0; wait "$pid" || code=$?
        [ $code = 0 ] || fail "SIGTERM: exit $code: $(tail -3 "$(log_of "$pid")")"
    done
    took=$(($(now) - began))
    in_time "SIGTERM: ended" $took
    all=()
}

# One of three processes writes and two wait. Each is killed when it is the writer and reaches its step, and a new one
# starts. The test measures the time from the death to the next process's lease.
declare -A kills
worst=0 sum=0 total=0 measured=0
waits() { grep -q writer.standby "$(log_of "$1")" && ! grep -q writer.ready "$(log_of "$1")"; }
one_is_dead() { # a wait -n would forget one of two that die at once
    for dead in "${all[@]}"; do ! gone "$dead" || return 0; done
    return 1
}
one_kill() { # POINT of the one that comes
    local dead code=0 began took pid left=() ready=0
    await "the writer that dies at $(cat "$PG_DIR"/point_*)" one_is_dead
    began=$(now)
    wait "$dead" 2>/dev/null || code=$?
    [ $code = 137 ] || fail "exit $code, not killed: $(tail -3 "$(log_of "$dead")")"
    point=$(cat "$PG_DIR/point_$dead")
    for pid in "${all[@]}"; do
        [ "$pid" != "$dead" ] || continue
        left+=("$pid")
        ! waits "$pid" || ready=1
    done
    kills[${point%%=*}]=$((${kills[${point%%=*}]:-0} + 1)) total=$((total + 1))
    if [ $ready = 1 ]; then # else the one before died this very moment: no standby waits yet
        until_sql "split_part(instance, ':', 2) <> '$dead' FROM chain.lease" 60
        took=$(($(now) - began))
        in_time "$point: took over" $took
        [ $took -le $worst ] || worst=$took
        sum=$((sum + took)) measured=$((measured + 1))
    fi
    launch "$1"
    all=("${left[@]}" "$launched")
}
has_points() { [ -s "$points" ] || { echo "this build has no failpoints"; exit 77; }; }
fewest() { # the least often that one of the steps was met
    local point least=999
    for point in "$@"; do [ "${kills[$point]:-0}" -ge $least ] || least=${kills[$point]:-0}; done
    echo $least
}
every_step() { # TIMES
    local point steps turn=0 pid
    has_points
    steps=(ledger.fetched ledger.decoded commit.fenced commit.copied commit.merged commit.cursor commit.before commit.after)
    next_point() { point=${steps[turn % ${#steps[@]}]}=kill@$((9 + turn % 4)); turn=$((turn + 1)); }
    for _ in 1 2 3; do next_point; launch "$point"; all+=("$launched"); done
    while [ "$(fewest "${steps[@]}")" -lt "$1" ] || [ $total -lt "${TIDE_KILLS:-0}" ]; do next_point; one_kill "$point"; done
    for pid in "${all[@]}"; do kill -9 "$pid" 2>/dev/null || true; wait "$pid" 2>/dev/null || true; done
    all=()
    for _ in 1 2 3; do launch; all+=("$launched"); done
    # The rows of the killed ones still count as waiting. A signal must find the handlers of the new ones.
    for pid in "${all[@]}"; do wait_for "$(log_of "$pid")" 'writer.standby\|writer.ready' 60; done
    waiting 2
    moves_on
    for point in "${steps[@]}"; do echo "$point: killed ${kills[$point]} times" >&3; done
    stop_all
    contiguous
    same_as_one_go
    [ $((2 * measured)) -ge $total ] || fail "only $measured of $total kills had a standby waiting"
    echo "$total kills, $measured takeovers measured: $((sum / measured)) ms on average, $worst ms at most; SIGTERM to three: $took ms"
}

tells() { # STANDBY: status shows a writer with a fresh lease, and this process in waiting
    "$indexer" status --json | python3 -c "
import json, sys
s = json.load(sys.stdin)
w, b = s['writer'][0], [b for b in s['standbys'] if b['instance'].endswith(':$1')]
sys.exit(not (w['state'] and w['holds_lock'] and w['lease_age_seconds'] < 3 and b and b[0]['waiting']))"
}

# The writer is paused, not dead: its lease expires, its sessions are ended, and when resumed it cannot write.
stopped() { # [SQL]: what else happens to its lease
    local one two began after writer tries
    launch; one=$launched; all=($one)
    until_sql "instance LIKE '%:$one' FROM chain.lease" 20
    launch; two=$launched; all+=($two)
    waiting 1
    moves_on
    kill -STOP $one
    [ -z "${1:-}" ] || sql "$1"
    began=$(now)
    until_sql "instance LIKE '%:$two' FROM chain.lease" 60
    after=$(($(now) - began))
    in_time "took over" $after
    grep -q 'lease.expired.*ended=[12]' "$(log_of $two)" || fail "no session was ended: $(grep lease "$(log_of $two)")"
    moves_on
    writer=$(sql "SELECT writer FROM chain.cursor")
    kill -CONT $one
    wait_for "$(log_of $one)" 'writer.again' 20
    waiting 1
    moves_on
    [ "$(sql "SELECT writer FROM chain.cursor")" = "$writer" ] && [ "$(holder)" = $two ] || fail "the woken one took over"
    until_sql "state = 'following' AND lag_ledgers <= 2 FROM chain.heartbeat" 15
    within 60 tells $one || fail "status: $("$indexer" status)"
    contiguous
    kill -KILL $two # and the woken one is as good a writer as any
    wait $two 2>/dev/null || true
    all=($one)
    until_sql "instance LIKE '%:$one' FROM chain.lease" 10
    moves_on
    stop_all
    contiguous
    same_as_one_go
    echo "taken over after $after ms"
}

cut() { # two indexers, and the sessions of the writer are ended over and over
    local n
    launch; all=($launched); launch; all+=($launched)
    waiting 1
    for n in 1 2 3 4 5; do
        sql "SELECT pg_terminate_backend(writer_pid) FROM chain.lease" >/dev/null
        moves_on
    done
    stop_all
    contiguous
    same_as_one_go
    echo "$(cat "$PG_DIR"/log_* | grep -c writer.again) times the other one took over"
}

four_in_a_row() { # whether FILE has notifications of four ledgers, each the next one
    grep -oE 'payload "1 [0-9]+"' "$1" | tr -dc '0-9 \n' |
        awk '{ run = $2 == last + 1 ? run + 1 : 1; last = $2; found = found || run == 4 } END { exit !found }'
}
notified() { # each ledger is notified by itself; before, it may still catch up
    launch; all=($launched)
    moves_on
    : >"$PG_DIR/heard"
    (
        echo "LISTEN tidemark;"
        for _ in $(seq 600); do
            ! four_in_a_row "$PG_DIR/heard" || break
            sleep 0.1
            echo "SELECT;"
        done
    ) | "$PG_BIN/psql" -XAt >"$PG_DIR/heard" 2>/dev/null
    four_in_a_row "$PG_DIR/heard" || fail "no four ledgers in a row: $(head -20 "$PG_DIR/heard")"
    stop_all
}

poison() { # three crashes on one ledger; the fourth start does not touch it
    local n code
    has_points
    PGDATABASE=postgres "$PG_BIN/createdb" poison
    export PGDATABASE=poison TIDEMARK_DATABASE_URL="host=$PG_DIR port=5432 user=postgres dbname=poison" TIDEMARK_CRASH_LIMIT=3
    "$indexer" backfill --from 1920 --to 1930 2>/dev/null
    for n in 1 2 3; do
        code=0; TIDE_FP=ledger.decoded=kill "$indexer" run --stop-at-end 2>"$PG_DIR/log_poison" || code=$?
        [ $code = 137 ] || fail "crash $n: exit $code: $(tail -2 "$PG_DIR/log_poison")"
    done
    for n in 1 2; do
        code=0; "$indexer" run --stop-at-end 2>"$PG_DIR/log_poison" || code=$?
        [ $code = 79 ] && grep -q 'ledger 1931: this program crashed on it 3 times' "$PG_DIR/log_poison" || fail "exit $code: $(cat "$PG_DIR/log_poison")"
    done
    [ "$(sql "SELECT state || ' ' || (error ~ 'ledger 1931') FROM chain.heartbeat")" = "quarantine true" ] || fail "$(sql "TABLE chain.heartbeat")"
    "$indexer" run --stop-at-end --crash-limit 0 2>"$PG_DIR/log_poison" || fail "crash_limit=0: exit $?"
    "$indexer" run --stop-at-end 2>"$PG_DIR/log_poison" || fail "after progress: exit $?: $(tail -1 "$PG_DIR/log_poison")"
    same_as_one_go
}

idle() { # no ledger comes: a writer killed meanwhile crashed on none, and the session stays awake
    local n
    "$TIDE_BIN/tidemark-sim" write --lake "$PG_DIR/quiet/lake" --ledgers 32 --ledgers-per-object 1 --txs 2 --quiet
    PGDATABASE=postgres "$PG_BIN/createdb" idle
    export PGDATABASE=idle TIDEMARK_DATABASE_URL="host=$PG_DIR port=5432 user=postgres dbname=idle" TIDEMARK_CRASH_LIMIT=2 \
        TIDEMARK_LAKE=$PG_DIR/quiet/lake TIDEMARK_DEPLOYMENT=$PG_DIR/quiet/deployment.json
    for n in 1 2 3 4; do
        launch
        until_sql "state = 'following' AND instance LIKE '%:$launched' FROM chain.heartbeat" 30
        [ $n = 4 ] || { kill -KILL $launched; wait $launched || true; }
    done
    [ "$(sql "SELECT attempts FROM chain.attempt")" = 0 ] || fail "counted: $(sql "TABLE chain.attempt")"
    until_sql "count(*) = 1 FROM pg_stat_activity WHERE datname = 'idle' AND application_name = 'tidemark-indexer' AND query = 'SELECT 1'" 20
    all=($launched)
    stop_all
}

# the initial index, and whether this build has failpoints to kill at a step
TIDE_FP_COUNT=$points "$indexer" run 2>"$PG_DIR/log_first" & first=$!
until_sql "ledger > 2050 FROM chain.cursor" 30
kill -TERM $first; wait $first || fail "exit $?: $(tail -3 "$PG_DIR/log_first")"
exec 3>&1
fault "I1 I3 killed at every step with a standby waiting" every_step "${rounds:-1}"
fault "I4 stopped and woken" stopped
fault "I4 stopped, and the database's clock is set back an hour" stopped "UPDATE chain.lease SET renewed_at = renewed_at + interval '1 hour'"
fault "I5 two indexers, the writer's session is cut" cut
fault "I9 a ledger that crashes it" poison
fault "I9 killed while it waits for a ledger" idle
fault "a ledger at the tip is committed and notified by itself" notified
faults_end
