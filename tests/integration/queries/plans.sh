#!/usr/bin/env bash
# Reads the plans of every list route on a chain that is not small, then measures times. TIDE_LEDGERS and TIDE_GROW
# enlarge the chain (plans_million.sh). By hand, with every time:
#   TIDE_SLACK=1 TIDE_ROUNDS=100 TIDE_SHOW=100 tests/integration/queries/plans_million.sh
# label: all
. "$(dirname "$0")/../_pg.sh"
[ -x "$TIDE_BIN/tidemark-sim" ] || { echo "no tidemark-sim"; exit 1; }
explain=(-c session_preload_libraries=auto_explain -c auto_explain.log_min_duration=0 -c auto_explain.log_analyze=on
    -c auto_explain.log_timing=off -c auto_explain.log_format=json -c auto_explain.log_verbose=on)
pg_start
ledgers=${TIDE_LEDGERS:-2600}
# The chain is ahead of the wall clock, so that the last 24 hours have trades.
"$TIDE_BIN/tidemark-sim" write --lake "$PG_DIR/sim/lake" --first-ledger 1920 --ledgers "$ledgers" --start-time 4102444800 --quiet
export TIDEMARK_DEPLOYMENT=$PG_DIR/sim/deployment.json PG_BIN PG_DIR
"$TIDE_BIN/tidemark-indexer" run --lake "$PG_DIR/sim/lake" --stop-at-end --proof none --partition-ledgers "$((ledgers > 10000 ? 10000 : 1000))" \
    2>"$PG_DIR/run.log" || fail "run: $(tail -2 "$PG_DIR/run.log")"
echo "$(sql "SELECT events FROM chain.cursor") events in $(sql "SELECT ledgers FROM chain.cursor") ledgers"
plans=$(dirname "$0")/_plans.py
"$plans" grow
pg_stop
pg_again "${explain[@]}"
"$plans" plans
pg_stop
pg_again
# The default limit is ten times the target, for the database's CPU time, so that a loaded machine does not fail. By hand: TIDE_SLACK=1.
TIDE_ROUNDS=${TIDE_ROUNDS:-5} TIDE_SLACK=${TIDE_SLACK:-10} "$plans" times
