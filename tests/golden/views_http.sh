#!/usr/bin/env bash
# Asks tidemark-api every recorded question over HTTP, as of the same ledger. The answers must equal those of the real
# contracts. With TIDE_LONG both chains at all recorded ledgers, else one at two of five.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
for shared in "${TIDE_SHARED:-}" "$TIDE_SOURCE_DIR/../shared" "$TIDE_SOURCE_DIR/../../shared"; do
    chains=$shared/fixtures/protocol
    [ -n "$shared" ] && [ -d "$chains" ] && break
    chains=
done
[ -n "$chains" ] || { echo "skipped: no shared/fixtures/protocol (set TIDE_SHARED)"; exit 77; }
command -v zstd >/dev/null || { echo "no zstd"; exit 1; }
. "$here/../integration/_pg.sh"
. "$here/../integration/_api.sh"
pg_start

for chain in ${TIDE_LONG:+a} b; do
    dir=$chains/$chain
    echo "chain $chain"
    PGDATABASE=postgres "$PG_BIN/createdb" "chain_$chain"
    export PGDATABASE=chain_$chain TIDEMARK_DATABASE_URL="host=$PG_DIR port=5432 user=postgres dbname=chain_$chain"
    "$TIDE_BIN/tidemark-indexer" run --lake "$dir/lake" --deployment "$dir/deployment.json" --stop-at-end 2>"$PG_DIR/run.log" ||
        { cat "$PG_DIR/run.log" >&2; fail "run"; }
    zstd -dqc "$dir/views.jsonl.zst" >"$PG_DIR/views"
    [ "$(wc -l <"$PG_DIR/views")" = 4385 ] || fail "chain $chain: other questions than were recorded"
    rm -rf "$PG_DIR/cache"
    api_start --api-rate-lookup 0 --api-rate-query 0
    "$here/_views_http.py" "$API_PORT" "$chain" "$PG_DIR/views" || fail "chain $chain: answers differ"
    [ "$chain" = b ] || api_stop || fail "api: exit $?"
done

# The comparison can fail: it finds a sum that is one unit off.
pg_writable
sql "UPDATE history.partner_registry_partner SET total_earned = total_earned + 1"
! "$here/_views_http.py" "$API_PORT" b "$PG_DIR/views" $([ -n "${TIDE_LONG:-}" ] || echo partner_registry) >"$PG_DIR/out" || fail "an altered sum went unnoticed"
grep -q "^views over HTTP" "$PG_DIR/out" || fail "no count: $(tail -3 "$PG_DIR/out")"
api_stop || fail "api: exit $?"
