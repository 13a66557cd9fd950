#!/usr/bin/env bash
# Follows a ledger every second: memory and descriptors stay constant, the log has no error, and the index is never
# more than two ledgers behind for ten samples in a row. If the machine itself paused, the test says so and does not
# judge the log. TIDE_SOAK_S sets the seconds (15; an hour by hand: TIDE_SOAK_S=3600), TIDE_SOAK_EVERY the seconds
# between samples. In the end the lake disappears and returns, and the program continues.
# label: all
. "$(dirname "$0")/../_pg.sh"
pg_start
. "$(dirname "$0")/../_faults.sh"
seconds=${TIDE_SOAK_S:-15}
every=${TIDE_SOAK_EVERY:-$((seconds > 600 ? 60 : seconds > 60 ? 10 : 3))}
indexer=$TIDE_BIN/tidemark-indexer
mkdir "$PG_DIR/sim"
"$TIDE_BIN/tidemark-sim" write --lake "$PG_DIR/sim/lake" --first-ledger 1920 --ledgers 64 --ledgers-per-object 1 \
    --follow 1000 --close-step 1 --quiet >/dev/null 2>&1 & sim=$!
export TIDEMARK_DEPLOYMENT=$PG_DIR/sim/deployment.json
(cd "$PG_DIR/sim" && exec python3 -u -m http.server --bind 127.0.0.1 0 >"$PG_DIR/http" 2>/dev/null) & http=$!
wait_for "$PG_DIR/http" 'port [0-9]'
port=$(sed 's/.*port \([0-9]*\).*/\1/' "$PG_DIR/http" | sed -n 1p)
export TIDEMARK_POLL_MS=50 TIDEMARK_RETRY_MS_MAX=200 TIDEMARK_HTTP_TRIES=2 TIDEMARK_LAKE=http://127.0.0.1:$port/lake
for _ in $(seq 100); do [ -s "$TIDEMARK_DEPLOYMENT" ] && break; sleep 0.1; done
"$indexer" run 2>"$PG_DIR/words" & pid=$!
until_sql "state = 'following' FROM chain.heartbeat" 30
newest() { find "$PG_DIR/sim/lake" -name '*.zst*' | sed 's/.*--\([0-9]*\)\..*/\1/' | sort -n | tail -1; }
rss() { awk '/VmRSS/ { print $2 }' /proc/$pid/status; }
fds() { ls /proc/$pid/fd | wc -l; }
sanitized=no
! grep -qE 'libasan|libtsan|libclang_rt' "/proc/$pid/maps" || sanitized=yes
until_sql "ledger >= 1995 FROM chain.cursor" 60 # buffers have their size
first_rss=$(rss) first_fds=$(fds) worst=0 behind=0 samples=0 high=0 stood=0
end=$((SECONDS + seconds)) next=$((SECONDS + every)) looked=$SECONDS
while [ $SECONDS -lt $end ]; do
    [ $((SECONDS - looked)) -le $stood ] || stood=$((SECONDS - looked))
    looked=$SECONDS
    lag=$(($(newest) - $(sql "SELECT ledger FROM chain.cursor")))
    [ $lag -le $worst ] || worst=$lag
    behind=$((lag > 2 ? behind + 1 : 0))
    [ $behind -lt 10 ] || fail "lag: $lag ledgers, at most $worst"
    if [ $SECONDS -ge $next ]; then
        samples=$((samples + 1)) next=$((next + every))
        now_rss=$(rss)
        [ "$now_rss" -le $high ] || high=$now_rss
        echo "sample $samples: rss $now_rss KiB, fds $(fds), ledger $(sql "SELECT ledger FROM chain.cursor"), lag $lag"
    fi
    sleep 0.5
done
# A sanitizer does not return freed memory.
[ "$sanitized" = yes ] || [ "$high" -le $((first_rss + first_rss / 10 + 2048)) ] || fail "memory: $first_rss KiB, then $high"
[ "$(fds)" -le $((first_fds + 2)) ] || fail "descriptors: $first_fds, then $(fds)"
if [ $stood -ge 3 ]; then
    echo "the machine stood still for $stood s: lines of trouble are not judged"
else
    ! grep -E ' (WARN|ERROR) ' "$PG_DIR/words" || fail "trouble in the log"
fi
[ "$(sql "SELECT count(*) = max(ledger) - 1920 + 1 FROM chain.ledger")" = t ] || fail "ledgers are missing"
echo "ok $seconds s of a ledger a second: rss $first_rss to $high KiB, lag at most $worst"

# the lake disappears: the log says so, after a while the state is "degraded", and the process keeps running
kill -9 $http
until_sql "trouble IS NOT NULL AND lag_ledgers IS NOT NULL FROM chain.heartbeat" 20
[ -z "${TIDE_LONG:-}" ] || until_sql "state = 'degraded' FROM chain.heartbeat" 60
kill -0 $pid || fail "ended: $(tail -2 "$PG_DIR/words")"
at=$(sql "SELECT ledger FROM chain.cursor")
(cd "$PG_DIR/sim" && exec python3 -u -m http.server --bind 127.0.0.1 "$port" >/dev/null 2>&1) &
until_sql "ledger > $at + 2 FROM chain.cursor" 30
until_sql "state = 'following' AND trouble IS NULL FROM chain.heartbeat" 10
echo "ok a lake that goes away while following ends nothing"
kill -TERM $pid; wait $pid || fail "exit $?: $(tail -2 "$PG_DIR/words")"
