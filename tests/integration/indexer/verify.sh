#!/usr/bin/env bash
# `verify` finds each damage and names the place: from the stored rows alone, and against the lake.
here=$(dirname "$0")
. "$here/../_pg.sh"
pg_start
pg_writable
bin=$TIDE_BIN/tidemark-indexer
[ -x "$TIDE_BIN/tidemark-sim" ] || { echo "no tidemark-sim"; exit 1; }
mkdir "$PG_DIR/sim"
ledgers=256
[ -z "${TIDE_LONG:-}" ] || ledgers=640
"$TIDE_BIN/tidemark-sim" write --lake "$PG_DIR/sim/lake" --ledgers $ledgers --quiet
export TIDEMARK_DEPLOYMENT=$PG_DIR/sim/deployment.json
"$bin" run --lake "$PG_DIR/sim/lake" --stop-at-end 2>"$PG_DIR/run.log" || { cat "$PG_DIR/run.log" >&2; fail "run"; }

holds() { # verify's options
    "$bin" verify "$@" >"$PG_DIR/said" 2>"$PG_DIR/err" || fail "verify $*: $(cat "$PG_DIR/said" "$PG_DIR/err")"
}
finds() { # pattern, verify's options
    local pattern=$1 code=0
    shift
    "$bin" verify "$@" >"$PG_DIR/said" 2>"$PG_DIR/err" || code=$?
    [ "$code" = 68 ] && grep -qE "^WRONG .*$pattern" "$PG_DIR/said" ||
        fail "verify $*: exit $code, wanted 68 and \"$pattern\": $(cat "$PG_DIR/said" "$PG_DIR/err")"
    grep -E "^WRONG" "$PG_DIR/said" | sed -n 1,2p
}
lake=(--lake "$PG_DIR/sim/lake")

holds
holds "${lake[@]}"
grep -q "source  $ledgers ledgers derived again" "$PG_DIR/said" || fail "not all ledgers were derived again: $(cat "$PG_DIR/said")"
holds "${lake[@]}" --from 1100 --to 1150

ledger=$(sql "SELECT ledger FROM event.liquidity_pool_swap ORDER BY ledger DESC LIMIT 1")
sql "UPDATE event.liquidity_pool_swap SET amount_in = amount_in + 1 WHERE ledger = $ledger AND tx = (SELECT min(tx) FROM event.liquidity_pool_swap WHERE ledger = $ledger)"
finds "rollup.candle: [0-9]+ stored rows are not what events and history give"
finds "event.liquidity_pool_swap: ledger $ledger: .*altered" "${lake[@]}"
holds "${lake[@]}" --to $((ledger - 1))
sql "UPDATE event.liquidity_pool_swap SET amount_in = amount_in - 1 WHERE ledger = $ledger AND tx = (SELECT min(tx) FROM event.liquidity_pool_swap WHERE ledger = $ledger)"
holds "${lake[@]}"

sql "CREATE TABLE public.kept AS SELECT * FROM event.liquidity_pool_swap WHERE ledger = $ledger; DELETE FROM event.liquidity_pool_swap WHERE ledger = $ledger"
finds "event.log and event.raw: ledger $ledger: [0-9]+ rows, chain.ledger has [0-9]+ \(events\)" --from 1025
finds "event.liquidity_pool_swap: ledger $ledger: 0 rows, the source gives" "${lake[@]}"
sql "INSERT INTO event.liquidity_pool_swap SELECT * FROM public.kept"
holds "${lake[@]}"

sql "CREATE TABLE public.feeds AS SELECT * FROM state.oracle_feed; UPDATE state.oracle_feed SET ledger = ledger - 1"
finds "state.oracle_feed: [0-9]+ entries are not the newest"
sql "DELETE FROM state.oracle_feed"
finds "state.oracle_feed: [0-9]+ entries are not the newest"
sql "INSERT INTO state.oracle_feed SELECT * FROM public.feeds"
holds

# Checks of the tables against each other, without a source: `verify` names each damage, then the test undoes it.
part=(--from 1025) # not the sums over time, which take longer
also() { grep -qE "^WRONG .*$1" "$PG_DIR/said" || fail "\"$1\" was not found: $(cat "$PG_DIR/said")"; }
save() { for table; do sql "CREATE TABLE public.\"$table\" AS SELECT * FROM $table"; done; }
put_back() {
    for table; do sql "BEGIN; DELETE FROM $table; INSERT INTO $table SELECT * FROM public.\"$table\"; COMMIT"; done
}
save chain_rows.call chain.ledger event_rows.log history.oracle_feed
read -r called tx <<<"$(sql "SELECT ledger || ' ' || tx FROM chain.call WHERE ok AND events > 0 AND ledger > 1025 ORDER BY ledger DESC, tx LIMIT 1")"
it="ledger = $called AND tx = $tx"
sql "DELETE FROM chain.tx WHERE $it; DELETE FROM history.oracle_feed WHERE (key_hash, ledger) IN (SELECT key_hash, min(ledger)
    FROM history.oracle_feed WHERE ledger > 1025 GROUP BY key_hash LIMIT 1);
    UPDATE chain.ledger SET raw_states = raw_states + 1 WHERE ledger = $called"
finds "chain.tx: ledger $called: [0-9]+ rows, chain.ledger has [0-9]+ \(our_txs\); 1 ledgers differ" "${part[@]}"
also "event.log: events have no successful transaction in chain.tx: [0-9]+, first at ledger $called"
also "history: ledger [0-9]+: [0-9]+ rows, chain.ledger has [0-9]+ \(changes\)"
also "history.raw: ledger $called: 0 rows, chain.ledger has 1 \(raw_states\)"
put_back chain_rows.call history.oracle_feed chain.ledger

sql "UPDATE chain.tx SET closed_at = closed_at + interval '1 s' WHERE $it; UPDATE chain.call SET events = 0 WHERE $it"
finds "chain.tx: .*another close time than their ledger: 1, first at ledger $called" "${part[@]}"
also "chain.call: calls have fewer events than event.log has of them: 1, first at ledger $called"
put_back chain_rows.call

sql "DELETE FROM chain.call WHERE $it; DELETE FROM event.log WHERE $it"
finds "chain.cursor: calls [0-9]+, the tables have [0-9]+"
also "event.log and event.raw: ledger $called: [0-9]+ rows, chain.ledger has [0-9]+ \(events\)"
put_back chain_rows.call event_rows.log
holds
grep -q "^counts  8 comparisons" "$PG_DIR/said" || fail "not all was compared: $(cat "$PG_DIR/said")"

sql "UPDATE chain.ledger SET hash = previous_hash WHERE ledger = 1200"
finds "chain.ledger: ledger 1201 does not follow ledger 1200"
sql "DELETE FROM chain.ledger WHERE ledger = 1200"
finds "chain.ledger: ledgers 1200 to 1200 count as indexed, and their rows are missing: tidemark-indexer backfill --from 1200 --to 1200"
code=0
"$bin" verify --from 1 --to 9 2>"$PG_DIR/err" || code=$?
[ "$code" = 67 ] && grep -q "ledgers 1024 to $((1023 + ledgers)) are indexed, not 1 to 9" "$PG_DIR/err" || fail "a range that is not indexed: exit $code: $(cat "$PG_DIR/err")"
echo "verify finds and names every damage"
