#!/usr/bin/env bash
# Finds tokens that the deployment file does not name, by their market. The indexer reads their past again, and then
# every table equals that of an index whose file names them: from a lake, over RPC, found during a backfill, found at
# the tip, and with the indexer killed on the way.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../_pg.sh"
. "$here/_discover.sh"
[ -x "$TIDE_BIN/tidemark-sim" ] || { echo "no tidemark-sim"; exit 1; }
pg_start
bin=$TIDE_BIN/tidemark-indexer
sim=$TIDE_BIN/tidemark-sim
export ASAN_OPTIONS=detect_leaks=0 TIDEMARK_PARTITION_LEDGERS=1000
TIDE_LONG=${TIDE_LONG:-}
number=0

fresh() {
    number=$((number + 1))
    PGDATABASE=postgres "$PG_BIN/createdb" "d$number"
    export PGDATABASE=d$number TIDEMARK_DATABASE_URL="host=$PG_DIR port=5432 user=postgres dbname=d$number"
}
index() { "$bin" "$@" 2>"$PG_DIR/run.log" || fail "$*: exit $?: $(tail -3 "$PG_DIR/run.log")"; }
same() { # FOLDER WHAT
    [ "$(sql "SELECT count(*) > 0 FROM chain.contract_coverage")" = t ] || fail "$2: nothing was found"
    [ "$(waiting)" = 0 ] || fail "$2: $(sql "SELECT * FROM chain.contract_coverage"): $(tail -3 "$PG_DIR/run.log")"
    "$bin" digest >"$PG_DIR/digest"
    cmp -s "$1/digest" "$PG_DIR/digest" || fail "$2: $(diff "$1/digest" "$PG_DIR/digest" | sed -n 1,20p)"
    [ "$(totals)" = "$(cat "$1/totals")" ] || fail "$2: totals $(totals), not $(cat "$1/totals")"
}
totals() {
    sql "SELECT ledgers, transactions, calls, events, changes, raw_events, raw_states, calls_verified, calls_rewritten,
             calls_unverified FROM chain.cursor"
}

# The expected rows: those of an index whose file names the tokens.
named() { # FOLDER LAKE
    fresh
    index run --stop-at-end --lake "$2"
    sql "SELECT DISTINCT contract FROM chain.contract_seen WHERE what = 'discovered'" >"$1/found"
    [ -s "$1/found" ] || fail "no token was found"
    strip "$1" "$1/found" || fail "found what is no token"
    fresh
    index run --stop-at-end --deployment "$1/named.json" --lake "$2"
    "$bin" digest >"$1/digest"
    totals >"$1/totals"
    [ "$(sql "SELECT count(*) FROM (SELECT contract FROM state.synth_token_instance UNION SELECT contract FROM state.stellar_asset_instance) AS i
        WHERE contract = ANY (string_to_array('$(tr '\n' ' ' <"$1/found")', ' '))")" = "$(wc -l <"$1/found")" ] || fail "not all tokens have an instance"
}

try() { # FOLDER LAKE FIRST LAST
    local dir=$1 lake=$2 first=$3 last=$4 middle
    middle=$(((first + last) / 2))
    export TIDEMARK_DEPLOYMENT=$dir/without.json
    named "$dir" "$lake"

    fresh
    index run --stop-at-end --lake "$lake"
    same "$dir" "from a lake"
    "$bin" verify --lake "$lake" >"$PG_DIR/out" || fail "verify: $(cat "$PG_DIR/out")"

    fresh # the second gap knows what the first one found; the range above was indexed before it
    index backfill --lake "$lake" --from $((middle + 20)) --to "$last"
    index backfill --lake "$lake" --from $((middle - 20)) --to $((middle + 9))
    index backfill --lake "$lake" --from "$first" --to "$last"
    same "$dir" "backfills"

    [ -n "${TIDE_STRIP:-}" ] && return
    fresh # killed while it reads again, sooner and later
    for ((round = 0; round < (${#TIDE_LONG} ? 5 : 2); round++)); do
        "$bin" run --stop-at-end --crash-limit 0 --lake "$lake" 2>"$PG_DIR/killed.log" & local pid=$!
        await "the second reading" eval 'grep -q discovery.reading "$PG_DIR/killed.log" || gone $pid'
        sleep 0.0$((round * 2))
        kill -KILL $pid 2>/dev/null || true
        wait $pid 2>/dev/null || true
    done
    index run --stop-at-end --crash-limit 0 --lake "$lake"
    same "$dir" "killed"
}

# The answer to the COMMIT of a gap is lost and the commit is repeated. A token that these ledgers show first is still
# read from its first ledger on.
repeated() { # FOLDER LAKE
    local count
    has_failpoints || return 0
    : >"$PG_DIR/count"
    fresh
    TIDE_FP_COUNT=$PG_DIR/count index run --stop-at-end --lake "$2"
    count=$(grep -c '^gap.after$' "$PG_DIR/count") || fail "no gap was committed"
    for ((at = 1; at <= count && at <= 2; at++)); do # the first show what contracts are
        fresh
        TIDE_FP="gap.after=error@$at" index run --stop-at-end --lake "$2"
        grep -q 'db.retry' "$PG_DIR/run.log" || fail "gap $at was not repeated: $(tail -3 "$PG_DIR/run.log")"
        same "$1" "the answer to the COMMIT of gap $at was lost"
    done
}

"$sim" write --lake "$PG_DIR/sim/lake" --first-ledger 1920 --ledgers 256 --quiet
strip "$PG_DIR/sim"
try "$PG_DIR/sim" "$PG_DIR/sim/lake" 1920 2175
repeated "$PG_DIR/sim" "$PG_DIR/sim/lake"

[ -n "$TIDE_LONG" ] || { echo ok; exit 0; }
# A partner's catalog lists a Stellar asset's contract. That asset's transfers on the whole network, before a ledger
# shows the contract's kind, must not decide which rows are kept.
"$sim" write --lake "$PG_DIR/listed/lake" --first-ledger 1920 --ledgers 128 --txs 24 --noise 60 --seed 2 --catalog-native --quiet
export TIDE_STRIP=xlm
strip "$PG_DIR/listed"
try "$PG_DIR/listed" "$PG_DIR/listed/lake" 1920 2047
[ "$(sql "SELECT count(*) FROM chain.contract_seen WHERE what = 'asset'")" -ge 1 ] || fail "no Stellar asset was discovered"
fresh # past the limit of tokens that catalogs name, which is raised then; markets' tokens have another
index run --stop-at-end --lake "$PG_DIR/listed/lake" --discovered-tokens 0
[ "$(sql "SELECT count(DISTINCT contract) FILTER (WHERE what = 'discovered') = count(DISTINCT contract) FILTER (WHERE what = 'market')
    AND count(DISTINCT contract) FILTER (WHERE what = 'ignored') = 1 FROM chain.contract_seen")" = t ] || fail "not the markets' tokens alone"
"$bin" verify --lake "$PG_DIR/listed/lake" >"$PG_DIR/out" || fail "verify follows what the indexer ignored: $(cat "$PG_DIR/out")"
index run --stop-at-end --lake "$PG_DIR/listed/lake"
[ "$(waiting)" = 0 ] && [ "$(sql "SELECT count(*) > 0 FROM chain.contract_seen AS i JOIN chain.contract_seen AS d USING (contract)
    WHERE i.what = 'ignored' AND d.what = 'discovered'")" = t ] || fail "the limit was raised: $(sql "SELECT * FROM chain.contract_seen")"
same "$PG_DIR/listed" "the limit was raised"
unset TIDE_STRIP

recorded=${TIDE_SHARED:-$TIDE_SOURCE_DIR/../shared}/fixtures/protocol
for chain in a b; do
    [ -f "$recorded/$chain/deployment.json" ] || continue
    mkdir "$PG_DIR/$chain"
    cp "$recorded/$chain/deployment.json" "$PG_DIR/$chain/"
    strip "$PG_DIR/$chain"
    read -r first last < <(python3 -c '
import json, sys
d = json.load(open(sys.argv[1])); print(d["first_ledger"], d["last_ledger"])' "$PG_DIR/$chain/deployment.json")
    try "$PG_DIR/$chain" "$recorded/$chain/lake" "$first" "$last"
done
echo ok
