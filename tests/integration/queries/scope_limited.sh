#!/usr/bin/env bash
# Tests indexes with a limited scope (--only): a request that needs a missing table is refused, never answered with an
# empty list. Groups of tables are removed from a whole index one after the other: each route answers as before, byte
# for byte, or with 503 `incomplete`. Then indexes are made with such scopes. TIDE_EACH=1, by hand: every single
# table. label: all
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../_pg.sh"
. "$here/../_api.sh"
[ -x "$TIDE_BIN/tidemark-api" ] && [ -x "$TIDE_BIN/tidemark-sim" ] || { echo "programs not built"; exit 1; }
pg_start
export PG_BIN PG_DIR
api_index "${TIDE_LEDGERS:-256}"
"$here/_scope_limited.py" names || fail "names"
start() { api_start --api-rate-lookup 0 --api-rate-query 0 --stale-after-ms 86400000; }
start
"$here/_scope_limited.py" routes "$API_PORT" || fail "routes"

people=$(sql "SELECT json_build_object('addresses', json_agg(a)) FROM (SELECT address AS a FROM state.compliance_registry_compliance_rec
    UNION SELECT address FROM state.compliance_registry_frozen UNION SELECT address FROM state.compliance_registry_whitelist LIMIT 900) AS x")
last=$(sql "SELECT ledger FROM chain.cursor")
status() { # [QUERY]: of all of them; what time changes, and what the DAO names, left out
    curl -s "$API_URL/api/sdk/kyc/status$1" -H 'Content-Type: application/json' -d "$people" | sed -E 's/"(evaluatedAt|pollAfterMs|requestId|agreesWithDao)":("[^"]*"|[a-z0-9]+)//g'
}
made() { # NAME LIST: an index of the same ledgers with these tables alone, and an API over it
    api_stop || fail "api: exit $?"
    PGDATABASE=postgres "$PG_BIN/createdb" "$1"
    export PGDATABASE=$1 TIDEMARK_DATABASE_URL="host=$PG_DIR port=5432 user=postgres dbname=$1"
    "$TIDE_BIN/tidemark-indexer" run --lake "$PG_DIR/sim/lake" --stop-at-end --only "$2" 2>"$PG_DIR/run.log" || fail "$2: $(tail -2 "$PG_DIR/run.log")"
    rm -rf "$PG_DIR/cache"
    API_READY=$3 start
}
refused() { # PATH…: incomplete, from the cache and as of a ledger
    for path in "$@"; do
        for query in "" "?ledger=$last"; do
            curl -s "$API_URL$path$query" | grep '"code":"incomplete".*--only' >/dev/null || fail "$path$query: $(curl -s "$API_URL$path$query" | cut -c-300)"
        done
    done
}
now=$(status "") past=$(status "?ledger=$last")
[ "$(grep -o '"compliant":true' <<<"$now" | wc -l)" -gt 3 ] || fail "nobody is compliant: $(head -c 400 <<<"$now")"
registry=state.compliance_rec,state.whitelist,state.blocked_jurisdiction
made kyc "$registry,state.frozen" "/api/sdk/kyc/status/$(grep -o '[GC][A-Z2-7]\{55\}' <<<"$people" | sed -n 1p)"
[ "$(status "")" = "$now" ] && [ "$(status "?ledger=$last")" = "$past" ] || fail "an index of compliance alone: $(status "" | cut -c-600)"
refused /api/markets /api/prices /api/sdk/assets /api/sdk/contracts /api/pools /api/events
curl -s "$API_URL/readyz" | grep '"ready":false,"reasons":\["incomplete"\].*"agreesWithDao":null' >/dev/null || fail "readyz: $(curl -s "$API_URL/readyz")"
"$TIDE_BIN/tidemark-indexer" verify >"$PG_DIR/verified" 2>&1 || fail "verify: $(tail -3 "$PG_DIR/verified")"
made some "$registry,state.oracle_feed,event.swap,tx" /api/prices
[ "$(curl -s "$API_URL/api/prices" | grep -o '"asset"' | wc -l)" -gt 1 ] || fail "prices"
for query in "" "?ledger=$last"; do
    grep -q '"code":"incomplete".*state.compliance_registry_frozen' <<<"$(status "$query")" || fail "told without frozen: $(status "$query" | cut -c-300)"
done
refused "/api/sdk/kyc/status/$(grep -o '[GC][A-Z2-7]\{55\}' <<<"$people" | sed -n 1p)" /api/markets
api_stop || fail "api: exit $?"
echo "ok indexes made with --only: compliance alone is told whole, without one of its tables of nobody"
