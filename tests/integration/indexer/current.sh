#!/usr/bin/env bash
# Rows are fresh while the writer commits or is at the tip of its source. A writer that lives, and does neither, keeps its lease, and
# its rows age: when its source is away, and when another session blocks its commits.
. "$(dirname "$0")/../_pg.sh"
. "$(dirname "$0")/../_rpc.sh"
pg_start
serve one --ledgers 40 --txs 4 --seed 8
"$TIDE_BIN/tidemark-indexer" run --deployment "$PG_DIR/one/deployment.json" --rpc "$one_url" --lake "$PG_DIR/one/lake" --poll-ms 20 \
    --retry-ms-max 200 "${patience[@]}" 2>"$PG_DIR/log" &
indexer=$!
fresh() { until_sql "clock_timestamp() - renewed_at < interval '1.5 s' FROM chain.freshness" 30; }
ages() { until_sql "clock_timestamp() - f.renewed_at > interval '3 s' AND clock_timestamp() - l.renewed_at < interval '2 s' FROM chain.freshness AS f, chain.lease AS l" 30; }

until_sql "ledger = 1063 FROM chain.cursor" 30
fresh
until_sql "clock_timestamp() - moved_at > interval '2 s' FROM chain.cursor" 10
fresh
echo "ok at the tip, where no ledger closes: fresh"
fault one '*=close:before'
ages
calm one
fresh
echo "ok without its source: not fresh, though the lease is renewed"
sql "BEGIN; LOCK TABLE chain.coverage; SELECT pg_sleep(600)" >/dev/null 2>&1 & lock=$!
until_sql "count(*) = 1 FROM pg_locks WHERE mode = 'AccessExclusiveLock' AND granted AND relation = 'chain.coverage'::regclass" 30
close_ledgers one 1
ages
sql "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE mode = 'AccessExclusiveLock' AND granted AND relation = 'chain.coverage'::regclass" >/dev/null
wait $lock || true
until_sql "ledger = 1064 FROM chain.cursor" 30
fresh
echo "ok with a commit that waits for a lock: not fresh, though the lease is renewed"
kill -TERM $indexer
wait $indexer || fail "exit $?: $(tail -n 3 "$PG_DIR/log")"
