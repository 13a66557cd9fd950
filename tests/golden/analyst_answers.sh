#!/usr/bin/env bash
# Compares the analyst's views with the contracts' own answers, at every ledger with a recorded question. With TIDE_LONG of both
# recorded chains, else of one.
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
for chain in ${TIDE_LONG:+a} b; do
    dir=$chains/$chain
    PGDATABASE=postgres "$PG_BIN/dropdb" --if-exists tidemark
    PGDATABASE=postgres "$PG_BIN/createdb" tidemark
    zstd -dqc "$dir/views.jsonl.zst" >"$PG_DIR/views.jsonl"
    first=$(sed -n 's/^ "first_ledger": \([0-9]*\),/\1/p' "$dir/deployment.json")
    for ledger in $(sed 's/^{"ledger":\([0-9]*\),.*/\1/' "$PG_DIR/views.jsonl" | sort -un); do
        "$TIDE_BIN/tidemark-indexer" backfill --lake "$dir/lake" --deployment "$dir/deployment.json" \
            --from "$first" --to "$ledger" 2>"$PG_DIR/run.log" || { cat "$PG_DIR/run.log" >&2; fail "backfill"; }
        "$here/_answers.py" "$PG_DIR/views.jsonl" "$ledger" || fail "chain $chain: the views are not what the contracts say"
    done
done
