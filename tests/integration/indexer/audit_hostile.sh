#!/usr/bin/env bash
# `audit` agrees with the archive of a chain of attackers at each checkpoint: entries of any shape, written, removed, evicted, restored and
# extended by several transactions of a ledger. Left out is the attack `changes`, which lists what no network would, so that no state follows
# from it, and what begins with --hostile-all-from, where two writers take one entry for theirs.   usage: audit_hostile.sh [SEED]
here=$(dirname "$0")
. "$here/../_pg.sh"
pg_start
[ -x "$TIDE_BIN/tidemark-sim" ] || { echo "no tidemark-sim"; exit 1; }
sim=$PG_DIR/sim
mkdir "$sim"
export TIDEMARK_DEPLOYMENT=$sim/deployment.json
"$TIDE_BIN/tidemark-sim" write --lake "$sim/lake" --archive "$sim/archive" --ledgers 192 --txs 4 --hostile "${1:-5}" \
    --hostile-attacks refused,events,entries,strangers,footprint,router,lives,tokens,asset,names,code,large --quiet
"$TIDE_BIN/tidemark-indexer" run --lake "$sim/lake" --stop-at-end true 2>"$PG_DIR/run.log" || fail "run: $(tail -n 2 "$PG_DIR/run.log")"
for checkpoint in 1087 1151 1215; do
    "$TIDE_BIN/tidemark-indexer" audit --archive "$sim/archive" --checkpoint $checkpoint >"$PG_DIR/said" 2>&1 || fail "audit: $(cat "$PG_DIR/said")"
    grep '^entries' "$PG_DIR/said"
done
[ "$(sed -n 's/^entries .* live and \([0-9]*\) archived.*/\1/p' "$PG_DIR/said")" -gt 100 ] || fail "hardly any entry was archived: $(cat "$PG_DIR/said")"
echo "ok audit_hostile"
