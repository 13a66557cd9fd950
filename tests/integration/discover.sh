#!/usr/bin/env bash
# Tokens that the deployment file does not name: found by their market, watched from there on, noted,
# and still known after a restart, so that stopping in between changes nothing.
. "$(dirname "$0")/_pg.sh"
[ -x "$TIDE_BIN/tidemark-sim" ] || { echo "no tidemark-sim"; exit 77; }
pg_start
indexer=$TIDE_BIN/tidemark-indexer
export ASAN_OPTIONS=detect_leaks=0 TIDEMARK_PARTITION_LEDGERS=1000
"$TIDE_BIN/tidemark-sim" write --lake "$PG_DIR/sim/lake" --first-ledger 1920 --ledgers 256 --quiet
python3 - "$PG_DIR/sim" <<'PY'
import json, sys
d = json.load(open(sys.argv[1] + "/deployment.json"))
tokens = {k: v for k, v in d["contracts"].items() if k.startswith("token_")}
assert tokens
d["contracts"] = {k: v for k, v in d["contracts"].items() if k not in tokens}
json.dump(d, open(sys.argv[1] + "/without.json", "w"))
open(sys.argv[1] + "/tokens", "w").write("\n".join(sorted(tokens.values())) + "\n")
PY
export TIDEMARK_DEPLOYMENT=$PG_DIR/sim/without.json
run() { "$indexer" run --stop-at-end "$@" 2>"$PG_DIR/log_run" || fail "run $*: exit $?: $(tail -2 "$PG_DIR/log_run")"; }
digest() { "$indexer" digest | grep '^total'; }

run --lake "$PG_DIR/sim/lake"
want=$(digest)
sql "SELECT DISTINCT contract FROM chain.contract_seen WHERE what = 'discovered' AND role = 'synth_token' ORDER BY 1" >"$PG_DIR/found"
[ -s "$PG_DIR/found" ] || fail "no token was found"
[ -z "$(LC_ALL=C comm -13 "$PG_DIR/sim/tokens" "$PG_DIR/found")" ] || fail "found what is no token"
[ "$(sql "SELECT count(*) > 20 FROM event.log WHERE kind LIKE 'synth_token_%'")" = t ] || fail "hardly any events of tokens"
[ "$(sql "SELECT count(*) > 0 FROM state.synth_token_balance")" = t ] || fail "no balances"
early=$(sql "SELECT count(*) FROM event.log l JOIN chain.contract_seen s ON s.contract = l.contract AND s.what = 'discovered'
             WHERE (l.ledger, l.tx) < (s.ledger, s.tx)")
[ "$early" = 0 ] || fail "$early events from before the discovery"

# the same lake arriving in two parts, the indexer started anew for the second
PGDATABASE=postgres "$PG_BIN/createdb" twice
export PGDATABASE=twice TIDEMARK_DATABASE_URL="host=$PG_DIR port=5432 user=postgres dbname=twice"
mkdir "$PG_DIR/part"
cp -r "$PG_DIR/sim/lake" "$PG_DIR/part/lake"
find "$PG_DIR/part/lake" -name '*.xdr.zst*' | LC_ALL=C sort | head -n 2 | xargs rm # newest first
run --lake "$PG_DIR/part/lake"
[ "$(digest)" != "$want" ] || fail "half a lake gives the whole digest"
[ "$(sql "SELECT count(*) > 0 FROM chain.contract_seen WHERE what = 'discovered'")" = t ] || fail "nothing found in the first part"
run --lake "$PG_DIR/sim/lake"
[ "$(digest)" = "$want" ] || fail "in two parts: $(digest), not $want"
echo ok
