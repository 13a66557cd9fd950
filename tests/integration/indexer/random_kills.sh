#!/usr/bin/env bash
# I2: kills the indexer at random moments while ledgers arrive. The tables at the end equal those of one undisturbed
# run. TIDE_KILLS sets the number of kills (25; by hand 1000).
# label: all, label: sanitize
. "$(dirname "$0")/../_pg.sh"
pg_start
kills=${TIDE_KILLS:-25}
indexer=$TIDE_BIN/tidemark-indexer
mkdir "$PG_DIR/sim"
"$TIDE_BIN/tidemark-sim" write --lake "$PG_DIR/sim/lake" --ledgers 256 --ledgers-per-object 1 --follow 40 --close-step 1 \
    --quiet >/dev/null 2>&1 & sim=$!
export TIDEMARK_DEPLOYMENT=$PG_DIR/sim/deployment.json TIDEMARK_LAKE=$PG_DIR/sim/lake TIDEMARK_POLL_MS=20
# Small batches give many commits between start and end. The quarantine of crashing ledgers is off: kills are no
# crashes.
export TIDEMARK_BATCH_LEDGERS=3 TIDEMARK_CRASH_LIMIT=0 TIDEMARK_PARTITION_LEDGERS=1000
for _ in $(seq 100); do [ -s "$TIDEMARK_DEPLOYMENT" ] && break; sleep 0.1; done

"$indexer" run 2>"$PG_DIR/run.log" & pid=$! # past what was there before: a load is one step, or none
for _ in $(seq 300); do [ "$(sql "SELECT coalesce(max(ledger), 0) > 0 FROM chain.cursor" 2>/dev/null)" = t ] && break; sleep 0.1; done
kill -KILL $pid
wait $pid 2>/dev/null || true

RANDOM=${TIDE_SEED:-7}
moved=0 before=0 ended=0
span=450 # ms, in which the kill falls: wider while nothing gets done, so that a loaded machine has its runs too
for ((i = 0; i < kills; i++)); do
    "$indexer" run 2>"$PG_DIR/run.log" & pid=$!
    delay=$((50 + RANDOM % span))
    sleep "$((delay / 1000)).$(printf %03d $((delay % 1000)))"
    kill -KILL $pid 2>/dev/null || ended=$((ended + 1))
    code=0
    wait $pid 2>/dev/null || code=$?
    [ $code = 137 ] || fail "kill $i: it ended by itself with $code: $(tail -2 "$PG_DIR/run.log")"
    now=$(sql "SELECT coalesce(max(ledger), 0) FROM chain.cursor" 2>/dev/null || echo 0)
    [ "${now:-0}" -ge "$before" ] || fail "kill $i: the cursor went back from $before to $now"
    if [ "${now:-0}" = "$before" ]; then
        span=$((span < 6000 ? span * 5 / 4 : span))
    else
        moved=$((moved + 1)) span=$((span > 450 ? span * 4 / 5 : 450))
    fi
    before=${now:-0}
done
[ $moved -gt $((kills / 5)) ] || fail "only $moved of $kills runs got on: this test proves little"
kill -KILL $sim
wait $sim 2>/dev/null || true
"$indexer" run --stop-at-end 2>"$PG_DIR/run.log" || fail "the last run: $(tail -2 "$PG_DIR/run.log")"
"$indexer" digest >"$PG_DIR/got"
"$indexer" verify >"$PG_DIR/said" 2>&1 || fail "verify: $(tail -3 "$PG_DIR/said")"
PGDATABASE=postgres "$PG_BIN/dropdb" tidemark
PGDATABASE=postgres "$PG_BIN/createdb" tidemark
"$indexer" run --stop-at-end 2>"$PG_DIR/run.log" || fail "run: $(tail -2 "$PG_DIR/run.log")"
"$indexer" digest >"$PG_DIR/want"
diff "$PG_DIR/want" "$PG_DIR/got" >&2 || fail "other rows than those of one run"
echo "ok I2 killed $kills times at random, $moved of the runs had got on: the tables are those of one run"
