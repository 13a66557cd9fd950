#!/usr/bin/env bash
# Asks every recorded question of both chains with the loaders and rules that the API uses, on the tables as of the
# same ledger and time. The answers must equal those of the real contracts.
# label: all (views_http asks the same questions over HTTP)
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
pg_start

for chain in a b; do
    dir=$chains/$chain
    echo "chain $chain"
    PGDATABASE=postgres "$PG_BIN/dropdb" --if-exists tidemark
    PGDATABASE=postgres "$PG_BIN/createdb" tidemark
    "$TIDE_BIN/tidemark-indexer" run --lake "$dir/lake" --deployment "$dir/deployment.json" --stop-at-end 2>"$PG_DIR/run.log" ||
        { cat "$PG_DIR/run.log" >&2; fail "run"; }
    zstd -dqc "$dir/views.jsonl.zst" >"$PG_DIR/views"
    "$here/_views.py" ask "$PG_DIR/views" >"$PG_DIR/asked"
    "$TIDE_BIN/views_driver" <"$PG_DIR/asked" >"$PG_DIR/answers" || fail "views_driver"
    "$here/_views.py" compare "$PG_DIR/views" "$PG_DIR/answers" || fail "chain $chain: answers differ"
    [ "$(wc -l <"$PG_DIR/answers")" = 4385 ] || fail "chain $chain: other questions than were recorded"
done

# The comparison can fail: it finds a reserve that is one unit off.
pg_writable
sql "UPDATE history.liquidity_pool_pool SET reserve_a = reserve_a + 1"
"$TIDE_BIN/views_driver" <"$PG_DIR/asked" >"$PG_DIR/answers" || fail "views_driver"
! "$here/_views.py" compare "$PG_DIR/views" "$PG_DIR/answers" >"$PG_DIR/out" || fail "an altered reserve went unnoticed"
