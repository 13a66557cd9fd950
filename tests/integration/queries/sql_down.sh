#!/usr/bin/env bash
# A11 for SQL routes: the database stops, returns, hangs, is locked or is slow, and the pool is full. Each request
# gets 503 in time, and the trouble passes by itself. label: threads
. "$(dirname "$0")/../_pg.sh"
[ -x "$TIDE_BIN/tidemark-sim" ] || { echo "no tidemark-sim"; exit 1; }
pg_start
"$TIDE_BIN/tidemark-sim" write --lake "$PG_DIR/sim/lake" --first-ledger 1920 --ledgers 128 --quiet
export TIDEMARK_DEPLOYMENT=$PG_DIR/sim/deployment.json
"$TIDE_BIN/tidemark-indexer" run --lake "$PG_DIR/sim/lake" --stop-at-end 2>"$PG_DIR/run.log" || fail "run: $(tail -2 "$PG_DIR/run.log")"

coproc DRIVER { exec "$TIDE_BIN/sql_driver" 2 4 2>"$PG_DIR/driver.log"; }
to=${DRIVER[1]} from=${DRIVER[0]} driver_pid=$DRIVER_PID
say() { echo "$1" >&"$to" && read -r -t 30 line <&"$from" || fail "the driver says nothing to $1: $(tail -2 "$PG_DIR/driver.log")"; }
slack=${TIDE_SLACK:-} # unset: times are not judged, an answer only has to come; 1 holds on an idle machine
# STATUS CODE MS TARGET: expects the answer's status and problem code within MS x TIDE_SLACK milliseconds
wants() {
    say "GET $4"
    read -r status _ took body <<<"$line"
    [ "$status" = "$1" ] || fail "$4: $status, wanted $1: ${body:0:200}"
    [ "$1" = 200 ] || grep -q "\"code\":\"$2\"" <<<"$body" || fail "$4: not $2: ${body:0:200}"
    [ -z "$slack" ] || [ "$took" -le $(($3 * 1000 * slack)) ] || fail "$4: $status after $((took / 1000)) ms, wanted $3"
}
until_well() { # MS: answered again by itself
    within $(($1 * ${slack:-30} / 1000 + 1)) answered || fail "still ${line:0:200}"
}
answered() { say "GET /api/ledgers?limit=1" && [ "${line:0:3}" = 200 ]; }
count() { say stats; grep -oE " $1=[0-9]+" <<<"$line" | tr -dc 0-9; }

wants 200 - 5000 /api/pools
wants 200 - 3000 "/api/ledgers?limit=200"

pg_stop fast
wants 503 database_unavailable 2000 /api/pools
for _ in 1 2 3 4 5 6 7 8; do wants 503 database_unavailable 1900 /api/pools; done
wants 400 invalid_parameters 1000 "/api/pools?limit=x"
connects=$(count connects)
pg_again
until_well 5000
[ "$(count connects)" -gt "$connects" ] || fail "no new connection"
echo "ok A11 stopped and back"

ended=$(sql "SELECT string_agg(pid::text, ',') FROM pg_stat_activity WHERE application_name = 'tidemark-api'")
sql "SELECT pg_terminate_backend(pid) FROM unnest(ARRAY[$ended]) AS pid" >/dev/null
await "the end of the sessions" sql_says "count(*) = 0 FROM pg_stat_activity WHERE pid IN ($ended)" # the server ends them later
wants 200 - 3000 /api/pools
wants 200 - 3000 /api/pools
echo "ok A11 sessions ended: asked again over new ones"

for pid in $(sql "SELECT pid FROM pg_stat_activity WHERE application_name = 'tidemark-api'"); do kill -STOP "$pid"; stopped+=("$pid"); done
until_well 12000 # while they are still stopped
kill -CONT "${stopped[@]}"
until_well 3000
echo "ok A11 a session that hangs is given up"

mkfifo "$PG_DIR/lock" # the lock is held until the answers are there
"$PG_BIN/psql" -Xq <"$PG_DIR/lock" >/dev/null & locker=$!
exec {lock}>"$PG_DIR/lock"
echo "BEGIN; LOCK TABLE state.liquidity_pool_pool;" >&"$lock"
await "the lock" sql_says "count(*) = 1 FROM pg_locks WHERE mode = 'AccessExclusiveLock' AND relation = 'state.liquidity_pool_pool'::regclass"
wants 503 database_unavailable 4000 /api/pools
wants 200 - 3000 "/api/ledgers?limit=1"
exec {lock}>&-
wait "$locker"
wants 200 - 3000 /api/pools
echo "ok A11 locked"

sql "ALTER FUNCTION chain.rfc3339(timestamptz) RENAME TO rfc3339_kept;
    CREATE FUNCTION chain.rfc3339(timestamptz) RETURNS text LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(4); RETURN 1; END'"
wants 503 query_too_long 3500 /api/pools
wants 503 query_too_long 3500 /api/vaults
grep -q 'narrowed by owner, market' <<<"$line" || fail "no filter is named: $line"
sql "DROP FUNCTION chain.rfc3339(timestamptz); ALTER FUNCTION chain.rfc3339_kept(timestamptz) RENAME TO rfc3339"
wants 200 - 3000 /api/pools
echo "ok A11 too slow"

say "flood 300 GET /api/pools"
read -r _ ok _ _ bad full <<<"$line"
[ "${ok#200=}" -ge 4 ] && [ "${bad#500=}" = 0 ] && [ $((${ok#200=} + ${full#503=})) = 300 ] || fail "flood: $line"
[ "${full#503=}" -gt 0 ] || fail "nothing was refused though four may wait: $line"
echo "ok A11 full: $line"
wants 200 - 3000 /api/pools

sql "ALTER ROLE tidemark_api RENAME TO elsewhere"
sql "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name = 'tidemark-api'" >/dev/null
wants 503 database_unavailable 2000 /api/pools
grep -q 'not a member' "$PG_DIR/driver.log" || fail "the log does not say why: $(tail -1 "$PG_DIR/driver.log")"
sql "ALTER ROLE elsewhere RENAME TO tidemark_api"
until_well 3000
echo "ok A11 without its role nothing is answered, and the log says so"
exec {to}>&-
wait "$driver_pid" || fail "the driver ended with $?"
