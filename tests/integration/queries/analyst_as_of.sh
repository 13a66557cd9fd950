#!/usr/bin/env bash
# Compares the analyst's functions NAME_as_of(ledger) with the views of an index that ended at that ledger, and with the
# API's ?ledger=. The analyst's role may call them, and a ledger that is not indexed is refused.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../_pg.sh"
bin=$TIDE_BIN/tidemark-indexer
[ -x "$TIDE_BIN/tidemark-sim" ] && [ -x "$TIDE_BIN/sql_driver" ] || { echo "programs not built"; exit 1; }
pg_start
export PG_BIN PG_DIR
# Markets and catalogs of this chain name tokens after these have had transfers.
"$TIDE_BIN/tidemark-sim" write --lake "$PG_DIR/sim/lake" --first-ledger 1920 --ledgers 320 --hostile 5 --hostile-attacks tokens,strangers --quiet
export TIDEMARK_DEPLOYMENT=$PG_DIR/sim/deployment.json
index() { "$bin" "$@" --lake "$PG_DIR/sim/lake" 2>"$PG_DIR/run.log" || { cat "$PG_DIR/run.log" >&2; fail "$1"; }; }
noted=(${TIDE_LONG:+2020} 2140)
for ledger in "${noted[@]}"; do
    index backfill --from 1920 --to "$ledger"
    "$here/_analyst_as_of.py" note "$ledger"
done
index run --stop-at-end
"$here/_analyst_as_of.py" compare "${noted[@]}"

as_analyst() { PGUSER=tidemark_analyst sql "$1"; }
[ "$(as_analyst "SELECT count(*) FROM vaults_as_of(2140)")" = "$(as_analyst "SELECT count(*) FROM vaults_as_of(2140, 1)")" ] || fail "the current deployment is another"
for ledger in 1919 2240; do
    ! as_analyst "SELECT count(*) FROM vaults_as_of($ledger)" 2>"$PG_DIR/error" || fail "ledger $ledger is answered"
    grep -q "deployment 1 is not indexed without a gap up to ledger $ledger" "$PG_DIR/error" || fail "$(cat "$PG_DIR/error")"
done
