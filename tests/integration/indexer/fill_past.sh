#!/usr/bin/env bash
# The past below the checkpoint with which an index began (backfill). Filled, the index has the digests and the answers of one that read the
# whole chain. A kill at each step, another chain and entries that a source changed leave the boundary where it is.
here=$(dirname "$0")
. "$here/../_pg.sh"
. "$here/../_api.sh"
. "$here/_discover.sh"
[ -x "$TIDE_BIN/tidemark-sim" ] || { echo "no tidemark-sim"; exit 1; }
pg_start
bin=$TIDE_BIN/tidemark-indexer
sim=$PG_DIR/sim
mkdir "$sim"
export TIDEMARK_DEPLOYMENT=$sim/deployment.json TIDEMARK_PARTITION_LEDGERS=1000
# Partitions of 1000 ledgers: the checkpoint cuts the second one in two.
checkpoint=2111 first=1920
"$TIDE_BIN/tidemark-sim" write --lake "$sim/lake" --archive "$sim/archive" --deployment "$TIDEMARK_DEPLOYMENT" --validators 4 --first-ledger 1920 --ledgers 256 --life 64 --quiet
full_url=$TIDEMARK_DATABASE_URL
export TIDEMARK_DATABASE_URL=${full_url/dbname=tidemark/dbname=begun}
[ "$TIDEMARK_DATABASE_URL" != "$full_url" ] || fail "no name of a database: $full_url"
"$bin" run --database-url "$full_url" --lake "$sim/lake" --archive "$sim/archive" --stop-at-end 2>"$PG_DIR/run.log" || fail "run: $(tail -2 "$PG_DIR/run.log")"
"$bin" digest --database-url "$full_url" >"$PG_DIR/digest" || fail digest

database() { PGDATABASE=postgres "$PG_BIN/dropdb" --if-exists --force "$1" 2>/dev/null; PGDATABASE=postgres "$PG_BIN/createdb" ${2:+-T "$2"} "$1"; }
begun() { PGDATABASE=begun sql "$1"; }
start() { "$bin" run --lake "$sim/lake" --stop-at-end --from-checkpoint $checkpoint --archive "$sim/archive" "$@" 2>"$PG_DIR/start.log" || fail "start: $(tail -2 "$PG_DIR/start.log")"; }
fill() { "$bin" backfill --lake "$sim/lake" "$@" 2>"$PG_DIR/fill.log"; }
# ends CODE PATTERN OPTION…
ends() {
    local code=0 wanted=$1 pattern=$2
    shift 2
    fill "$@" || code=$?
    [ $code = "$wanted" ] && grep -qE "$pattern" "$PG_DIR/fill.log" || fail "backfill $*: exit $code, wanted $wanted and \"$pattern\": $(tail -3 "$PG_DIR/fill.log")"
    echo "ok      $pattern"
}
filled() { # WHEN [DIGESTS]
    [ "$(begun "SELECT (SELECT count(*) FROM chain.start) || ' ' || (SELECT count(*) FROM chain.contract_held) || ' ' || (SELECT string_agg(from_ledger || '-' || to_ledger, ',') FROM chain.coverage)")" = "0 0 $first-2175" ] ||
        fail "$1: $(begun "TABLE chain.start"; begun "TABLE chain.coverage")"
    "$bin" digest | diff "${2:-$PG_DIR/digest}" - >"$PG_DIR/diff" || fail "$1: digests differ: $(cat "$PG_DIR/diff")"
}
# The boundary is where it was, and nothing below it is visible.
bounded() { # WHEN
    [ "$(begun "SELECT ledger FROM chain.start") $(begun "SELECT min(from_ledger) FROM chain.coverage") $(begun "SELECT min(ledger) FROM chain.ledger") $(begun "SELECT min(ledger) FROM event.log")" = \
        "$checkpoint $checkpoint $checkpoint $(begun "SELECT min(ledger) FROM event.log WHERE ledger > $checkpoint")" ] || fail "$1: the boundary moved"
    PGDATABASE=begun state_of | diff "$PG_DIR/state" - >"$PG_DIR/diff" || fail "$1: the state changed: $(cat "$PG_DIR/diff")"
}
state_of() { "$bin" digest | grep -E '^(state|rollup|history)\.'; }

database began
TIDEMARK_DATABASE_URL=${full_url/dbname=tidemark/dbname=began} start
begin() { database begun began; }
begin
state_of >"$PG_DIR/state"
! "$bin" digest | diff -q "$PG_DIR/digest" - >/dev/null || fail "the digests of the state alone are those of the whole index"

# In parts. Meanwhile nothing below is visible, and the index follows.
ends 68 "is filled from its first ledger on: --from 1920" --from 1950 --to 2110
ends 0 "backfill.held to=1980 checkpoint=$checkpoint" --from $first --to 1980
bounded "a part is loaded"
"$bin" run --lake "$sim/lake" --stop-at-end 2>"$PG_DIR/run.log" || fail "run beside a part of the past: $(tail -2 "$PG_DIR/run.log")"
bounded "run with a part of the past"
"$bin" verify >"$PG_DIR/verify" || fail "verify: $(grep WRONG "$PG_DIR/verify")"
ends 68 "ledgers 1920 to 1980 below the checkpoint $checkpoint are loaded" --from 2000 --to 2110
ends 0 "fill.done deployment=1 from=1920 checkpoint=$checkpoint" --from $first --to 2150
filled "in two parts"
"$bin" verify >"$PG_DIR/verify" || fail "verify: $(grep WRONG "$PG_DIR/verify")"
"$bin" run --lake "$sim/lake" --stop-at-end --from-checkpoint latest --archive "$sim/archive" 2>"$PG_DIR/run.log" && grep -q "start.before ledger=$checkpoint" "$PG_DIR/run.log" ||
    fail "a service that keeps --from-checkpoint: $(tail -2 "$PG_DIR/run.log")"
ends 0 'backfill.covered' --from $first --to 2110
filled "once more"
echo "ok      a filled index is the whole index"

# Answers
TIDEMARK_DATABASE_URL=$full_url api_start --api-rate-lookup 0 --api-rate-query 0 --api-cache "$PG_DIR/cache.full"
full_port=$API_PORT full_pid=$API_PID
begin
api_start --api-rate-lookup 0 --api-rate-query 0 # its cache is of the index before
says_boundary() { curl -fsSi "$API_URL/api/prices" >"$PG_DIR/prices" || fail "no prices"; grep -qi "^history-from: $((checkpoint + 1))" "$PG_DIR/prices"; }
says_boundary || fail "no History-From before"
fill --from $first --to 2110 || fail "backfill: $(tail -2 "$PG_DIR/fill.log")"
tries=0
while says_boundary; do
    tries=$((tries + 1))
    [ $tries -lt 600 ] || fail "the cache still has the boundary: $(tail -3 "$PG_DIR/api.log")"
    sleep 0.1
done
"$here/_from_checkpoint.py" "$full_port" tidemark "$API_PORT" begun || fail "answers differ"
api_stop || fail "tidemark-api: $(tail -3 "$PG_DIR/api.log")"
kill -TERM "$full_pid"
wait "$full_pid" || true

# A range that begins with the checkpoint's ledger is covered: nothing below is asked for, whether or not the first ledger is known.
begin
python3 -c "import json; d = json.load(open('$sim/deployment.json')); del d['first_ledger']; json.dump(d, open('$sim/unset.json', 'w'))"
for file in unset deployment; do ends 0 backfill.covered --from $checkpoint --to 2150 --deployment "$sim/$file.json"; done
bounded "the checkpoint's ledger alone"

# Tokens that the deployment file does not name
strip "$sim"
database whole
"$bin" run --deployment "$sim/without.json" --database-url "${full_url/dbname=tidemark/dbname=whole}" --lake "$sim/lake" --stop-at-end 2>"$PG_DIR/run.log" || fail "run: $(tail -2 "$PG_DIR/run.log")"
"$bin" digest --deployment "$sim/without.json" --database-url "${full_url/dbname=tidemark/dbname=whole}" >"$PG_DIR/digest.whole"
database begun
start --deployment "$sim/without.json"
fill --from $first --to 2110 --deployment "$sim/without.json" || fail "tokens: $(tail -3 "$PG_DIR/fill.log")"
TIDEMARK_DEPLOYMENT=$sim/without.json filled "tokens that the chain names" "$PG_DIR/digest.whole"
[ "$(waiting)" = 0 ] || fail "tokens are not read"
echo "ok      tokens that the chain names"

# Sources that lie
begin
"$TIDE_BIN/tidemark-sim" write --lake "$PG_DIR/other/lake" --deployment "$PG_DIR/other/deployment.json" --seed 7 --first-ledger 1920 --ledgers 256 --quiet
"$bin" backfill --lake "$PG_DIR/other/lake" --from $first --to 2110 2>"$PG_DIR/fill.log" && fail "another chain was taken"
grep -qE 'do not lead to the checkpoint|is not the hash' "$PG_DIR/fill.log" || fail "another chain: $(tail -2 "$PG_DIR/fill.log")"
bounded "another chain"
ends 0 fill.done --from $first --to 2110 --anew
filled "behind another chain"
begin
for table in history_rows.oracle_feed_p1_$checkpoint state.oracle_feed; do begun "UPDATE $table SET latest_price = latest_price + 1 WHERE ledger = $checkpoint AND tx = 0 AND key_hash = (SELECT key_hash FROM history.oracle_feed WHERE ledger = $checkpoint AND tx = 0 ORDER BY 1 LIMIT 1)"; done
state_of >"$PG_DIR/state.changed"
ends 68 '1 entries of the state .* are not the checkpoint' --from $first --to 2110
grep -qE 'fill.differs what=different table=oracle_feed contract=C[A-Z2-7]{55} key=[0-9a-f]{64} ledger=[0-9]+' "$PG_DIR/fill.log" || fail "no name: $(cat "$PG_DIR/fill.log")"
state_of | diff -q "$PG_DIR/state.changed" - || fail "a refused past changed the state"
begun "UPDATE history_rows.oracle_feed_p1_$checkpoint SET life = 0 WHERE ledger = $checkpoint AND tx = 0 AND key_hash = (SELECT key_hash FROM history.oracle_feed WHERE ledger = $checkpoint AND tx = 0 ORDER BY 1 LIMIT 1)"
ends 68 'what=extra table=ttl' --from $first --to 2110
begin

# Kills
if has_failpoints; then
    TIDE_FP_COUNT=$PG_DIR/count ends 0 fill.done --from $first --to 2110
    for point in partition.created load.progress partition.held attach.tables fill.attached fill.compared fill.merged fill.rollups fill.coverage commit.before commit.after; do
        grep -q "^$point$" "$PG_DIR/count" || fail "$point is not passed: $(sort "$PG_DIR/count" | uniq -c)"
        begin
        passes=$(grep -c "^$point$" "$PG_DIR/count")
        for pass in 1 $passes; do
            code=0
            TIDE_FP=$point=kill@$pass fill --from $first --to 2110 || code=$?
            [ $code = 137 ] || continue
            [ "$(begun "SELECT count(*) FROM chain.start")" = 0 ] || bounded "killed at $point"
        done
        ends 0 'fill.done|backfill.covered' --from $first --to 2110
        filled "killed at $point"
    done
fi
# A kill of --anew leaves no row of contracts behind whose partitions are gone.
if has_failpoints; then
    begin
    fill --from $first --to 2050 || fail "backfill: $(tail -2 "$PG_DIR/fill.log")"
    TIDE_FP=partition.dropped=kill@3 fill --from $first --to 2050 --anew || true
    [ "$(begun "SELECT count(*) FROM chain.partition WHERE from_ledger < $checkpoint")" != 0 ] || [ "$(begun "SELECT count(*) FROM chain.contract_held")" = 0 ] ||
        fail "rows of contracts without partitions"
    ends 0 fill.done --from $first --to 2110 --anew
    filled "killed while --anew drops"
fi
echo "ok fill_past"
