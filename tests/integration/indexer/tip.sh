#!/usr/bin/env bash
# At the tip nothing sleeps: ledgers that come down a pipe, irregularly and alone, are visible long
# before anything is polled for, each in a transaction of its own. Then a burst is caught up with,
# in fewer. label: threads
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../_pg.sh"
pg_start
bin=$TIDE_BIN/tidemark-indexer
sim=$TIDE_BIN/tidemark-sim
[ -x "$sim" ] || { echo "no tidemark-sim"; exit 77; }
"$sim" write --stream "$PG_DIR/stream.xdr" --deployment "$PG_DIR/deployment.json" --ledgers 128 --txs 6 --quiet
"$here/_tip.py" "$PG_BIN/psql" "$PG_DIR/stream.xdr" "$bin" run --stream - --deployment "$PG_DIR/deployment.json" \
    --poll-ms 20000 --log-level debug || fail "$(tail -n 5 "$PG_DIR/log")"
[ "$(sql "SELECT ledgers FROM chain.cursor")" = 128 ] || fail "ledgers are missing"
