#!/usr/bin/env bash
# Proves that the indexer does not poll at the tip: ledgers that arrive through a pipe, irregularly and one at a time,
# are visible long before the polling interval ends, each in its own transaction. Then a burst is indexed in fewer
# transactions. label: threads
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../_pg.sh"
pg_start
bin=$TIDE_BIN/tidemark-indexer
sim=$TIDE_BIN/tidemark-sim
[ -x "$sim" ] || { echo "no tidemark-sim"; exit 1; }
"$sim" write --stream "$PG_DIR/stream.xdr" --deployment "$PG_DIR/deployment.json" --ledgers 128 --txs 6 --quiet
"$here/_tip.py" "$PG_BIN/psql" "$PG_DIR/stream.xdr" "$bin" run --stream - --deployment "$PG_DIR/deployment.json" \
    --poll-ms 20000 --log-level debug || fail "$(tail -n 5 "$PG_DIR/log")"
[ "$(sql "SELECT ledgers FROM chain.cursor")" = 128 ] || fail "ledgers are missing"
