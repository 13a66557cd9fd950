#!/usr/bin/env bash
# Compares the hot cache with the database from which it is fed: a cache built at once and one fed ledger by ledger
# hold the same records, also if the ledgers between have an entry that cannot be decoded. After a crash between the two
# commits, the cache finds out which ledger it has (L9). Readers see a commit within milliseconds, on a hot standby too.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../_pg.sh"
[ -x "$TIDE_BIN/tidemark-sim" ] || { echo "no tidemark-sim"; exit 1; }
pg_start -c wal_level=replica -c max_wal_senders=4
pg_writable
indexer=$TIDE_BIN/tidemark-indexer
feed=$TIDE_BIN/feed_driver
cache=$PG_DIR/cache
"$TIDE_BIN/tidemark-sim" write --lake "$PG_DIR/sim/lake" --first-ledger 1920 --ledgers 384 --quiet
export TIDEMARK_DEPLOYMENT=$PG_DIR/sim/deployment.json

index() { "$indexer" run --lake "$PG_DIR/sim/lake" --stop-at-end "$@" 2>"$PG_DIR/run.log" || fail "run: $(tail -2 "$PG_DIR/run.log")"; }
# Feeds the cache in a folder and prints its ledger, completeness, number of records and digest.
step() { timeout 60 "$feed" "$@" 2>"$PG_DIR/feed.log" || fail "feed $*: $(tail -2 "$PG_DIR/feed.log")"; }
whole() { rm -rf "$PG_DIR/whole"; step step "$PG_DIR/whole" "$@"; }
why() { grep -o 'feed.rebuild why=.*' "$PG_DIR/feed.log" || echo "no rebuild"; }

index
last=$(sql "SELECT ledger FROM chain.cursor")
echo "fed and built, ledger by ledger"
for until in $((last - 250)) $((last - 100)) $((last - 99)) "$last"; do
    how=single
    [ -d "$cache" ] && [ "$until" != "$last" ] || how=step
    fresh=$([ -d "$cache" ] || echo yes)
    got=$(step $how "$cache" "$until")
    [ "$(why)" = "no rebuild" ] || [ -n "$fresh" ] || fail "rebuilt at $until: $(why)"
    want=$(whole "$until")
    [ "$got" = "$want" ] || fail "at $until: fed $got, built $want"
    grep -q " complete " <<<"$got" || fail "not complete: $got"
    echo "$got"
done
[ "$(sql "SELECT count(*) > 0 FROM history.compliance_registry_frozen WHERE removed AND ledger > $last - 250")" = t ] || fail "nobody was unfrozen: this test proves little"

echo "an entry of the registry that cannot be decoded, far ahead of the cache"
plant="SELECT r.deployment, sha256('planted'), $last - 20, 1, 0, now(), r.contract, false, 1, 'planted', ''::bytea, ''::bytea FROM chain.role AS r
    WHERE r.role = 'compliance_registry'"
unplant="DELETE FROM history.raw WHERE reason = 'planted'; DELETE FROM state.raw WHERE reason = 'planted'; UPDATE chain.cursor SET raw_states = raw_states - 1"
sql "INSERT INTO history.raw (deployment, key_hash, ledger, tx, seq, closed_at, contract, removed, durability, reason, key_xdr, value_xdr) $plant;
    INSERT INTO state.raw (deployment, key_hash, ledger, tx, seq, closed_at, contract, durability, reason, key_xdr, value_xdr)
    ${plant/false, 1/1}; UPDATE chain.cursor SET raw_states = raw_states + 1"
for from in $((last - 220)) $((last - 60)); do # more than one step before it, and one
    rm -rf "$PG_DIR/behind"
    grep -q " complete " <<<"$(step step "$PG_DIR/behind" "$from")" || fail "incomplete before the entry"
    got=$(step step "$PG_DIR/behind")
    [ "$(why)" = "no rebuild" ] || fail "rebuilt: $(why)"
    [ "$got" = "$(whole)" ] && grep -q " incomplete " <<<"$got" || fail "from $from: fed $got, built $(whole)"
done
sql "$unplant"

ticks() { step step "$1" >/dev/null; grep -oE '^ticks [0-9]+' "$PG_DIR/feed.log" | tr -dc 0-9; }
fed=$(ticks "$cache") built=$(ticks "$PG_DIR/whole")
[ "$built" -gt 0 ] && [ "$fed" -le $((2 * built + 20)) ] || fail "$fed ticks fed, $built built: old ones stay"
echo "the last day's trade, evaluated when read ($fed ticks fed, $built built)"
window() { # SECONDS after the newest close: what the events say
    sql "WITH n AS (SELECT extract(epoch FROM closed_at)::bigint + $1 - 86400 AS start FROM chain.cursor),
        s AS (SELECT s.*, div(s.amount_in * p.fee_tier, 10000) AS fee FROM event.liquidity_pool_swap s JOIN state.liquidity_pool_pool p
              USING (deployment, pool_id), n WHERE extract(epoch FROM s.closed_at) > n.start)
        SELECT p.pool_id, count(s.pool_id), coalesce(sum(CASE WHEN a_to_b THEN amount_in ELSE amount_out END), 0),
            coalesce(sum(CASE WHEN a_to_b THEN amount_out ELSE amount_in END), 0),
            coalesce(sum(CASE WHEN a_to_b THEN div(fee * amount_out, amount_in) ELSE fee END), 0)
        FROM state.liquidity_pool_pool p LEFT JOIN s USING (pool_id) GROUP BY p.pool_id ORDER BY p.pool_id COLLATE \"C\""
}
for later in 0 1 3600 43200 80000 85000 86395 86399 86400 90000; do
    for folder in "$cache" "$PG_DIR/whole"; do
        "$feed" windows "$folder" $later >"$PG_DIR/got" 2>"$PG_DIR/feed.log" || fail "windows: $(tail -1 "$PG_DIR/feed.log")"
        window $later | diff - "$PG_DIR/got" >&2 || fail "$later s after the newest close: other trade in $folder"
    done
done
window 0 | grep -E '\|[1-9][0-9]*\|' >/dev/null || fail "no trade: this test proves little"

echo "L9"
ahead() { sql "UPDATE chain.cursor SET ledger = ledger - 10, hash = (SELECT hash FROM chain.ledger WHERE ledger = $last - 10),
    closed_at = (SELECT closed_at FROM chain.ledger WHERE ledger = $last - 10)"; }
ahead
got=$(step step "$cache")
grep -q "ahead of the database" <<<"$(why)" || fail "ahead: $(why)"
[ "$got" = "$(whole)" ] || fail "ahead: $got"
ls "$cache" | grep '^damaged-' >/dev/null || fail "ahead: not moved aside"
sql "UPDATE chain.cursor SET ledger = $last, hash = (SELECT hash FROM chain.ledger WHERE ledger = $last),
    closed_at = (SELECT closed_at FROM chain.ledger WHERE ledger = $last)"
got=$(step step "$cache")
[ "$(why)" = "no rebuild" ] && [ "$got" = "$(whole)" ] || fail "behind: $(why), $got"
echo "ok L9 ahead of the database: withdrawn, moved aside, rebuilt; behind: fed on"
sql "UPDATE chain.ledger SET hash = sha256('other') WHERE ledger = $last; UPDATE chain.cursor SET hash = sha256('other')"
step step "$cache" >/dev/null
grep -q "not on the database's chain" <<<"$(why)" || fail "other chain: $(why)"
echo "ok L9 another chain: rebuilt"
rm -rf "$PG_DIR/whole"
TIDE_FP_COUNT=$PG_DIR/count "$feed" step "$PG_DIR/whole" >/dev/null 2>&1
if [ -s "$PG_DIR/count" ]; then # a build with failpoints
    for point in feed.between hot.put hot.commit; do
        rm -rf "$PG_DIR/crash"
        step step "$PG_DIR/crash" $((last - 60)) >/dev/null
        { TIDE_FP=$point=kill "$feed" step "$PG_DIR/crash" >/dev/null; } 2>/dev/null && fail "$point did not kill"
        [ "$(step step "$PG_DIR/crash")" = "$(whole)" ] || fail "killed at $point: not the same"
        echo "ok L9 killed at $point: the next one feeds on"
    done
    rm -rf "$PG_DIR/crash"
    { TIDE_FP=hot.switch=kill "$feed" step "$PG_DIR/crash" >/dev/null; } 2>/dev/null && fail "hot.switch did not kill"
    [ "$(step step "$PG_DIR/crash")" = "$(whole)" ] || fail "killed at hot.switch: not the same"
    echo "ok L9 killed between build and switch: built again"
fi

echo "what changes behind the cache"
first=$(sql "SELECT from_ledger FROM chain.coverage")
sql "UPDATE chain.coverage SET from_ledger = (SELECT min(ledger) + 1 FROM chain.contract_seen WHERE what = 'created' AND role = 'compliance_registry')"
got=$(step step "$cache")
grep -q "earlier range" <<<"$(why)" || fail "filled in: $(why)"
grep -q " incomplete " <<<"$got" || fail "complete without its creation: $got"
sql "UPDATE chain.coverage SET from_ledger = $first"
grep -q " complete " <<<"$(step step "$cache")" || fail "incomplete again"

echo "the role that feeds"
sql "SET ROLE tidemark_feeder; SELECT jurisdiction FROM state.compliance_registry_compliance_rec LIMIT 1" >/dev/null || fail "the feeder may not read"
! sql "SET ROLE tidemark_feeder; DELETE FROM state.compliance_registry_frozen" 2>/dev/null || fail "the feeder may write"
[ "$(TIDEMARK_FEED_URL="$TIDEMARK_DATABASE_URL options='-c role=tidemark_feeder'" whole)" = "$(whole)" ] || fail "the feeder's role sees something else"

echo "commit to look-up"
commits=${TIDE_COMMITS:-40}
# If notifications failed, the median would be above 500 ms. An idle machine passes with TIDE_P99_MS=20.
export TIDE_P50_MS=${TIDE_P50_MS:-400}
"$feed" latency "$cache" "$commits" 2>"$PG_DIR/feed.log" || fail "latency: $(tail -2 "$PG_DIR/feed.log")"
[ "$(step step "$cache")" = "$(whole)" ] || fail "fed by NOTIFY: not the same"

[ -n "${TIDE_LONG:-}" ] || exit 0
standby=$PG_DIR/standby
chmod 711 "$PG_DIR"
pg_standby "$standby" || fail "standby: $(grep -E 'FATAL|HINT' "$standby/log" | tail -2)"
trap 'code=$?; cluster_down "$standby" immediate; (exit $code); pg_cleanup' EXIT
rm -rf "$cache"
TIDEMARK_FEED_URL="host=$standby port=5432 user=postgres dbname=tidemark" "$feed" latency "$cache" "$commits" 2>"$PG_DIR/feed.log" ||
    fail "standby: $(tail -2 "$PG_DIR/feed.log")"
echo "from a hot standby, which was polled"
