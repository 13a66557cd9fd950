#!/usr/bin/env bash
# A chain of protocol 30: close times in milliseconds, two ledgers in many a second. The index keeps them, the same from a lake, in
# batches of one ledger, and after a reset of the cache; answers, lists, the stream and proofs show them; rules and candles see whole seconds.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../_pg.sh"
. "$here/../_api.sh"
pg_start
sim=$PG_DIR/sim
mkdir "$sim"
export TIDEMARK_DEPLOYMENT=$sim/deployment.json
"$TIDE_BIN/tidemark-sim" write --lake "$sim/lake" --archive "$sim/archive" --deployment "$TIDEMARK_DEPLOYMENT" --validators 4 --ledgers 256 --milliseconds --quiet
run() { "$TIDE_BIN/tidemark-indexer" run --database-url "$1" --lake "$sim/lake" --archive "$sim/archive" --stop-at-end "${@:2}" 2>"$PG_DIR/run.log" || fail "run: $(tail -3 "$PG_DIR/run.log")"; }
run "$TIDEMARK_DATABASE_URL"

# As the headers have them.
"$TIDE_BIN/tidemark-indexer" dump --kinds ledger "$sim"/lake/*/*.zst | python3 -c '
import json, sys
for line in sys.stdin:
    head = json.loads(line)
    print(head["sequence"], head.get("closeTimeMs", ""))' | sort -n >"$sim/headers"
sql "SELECT ledger, chain.unix_ms(closed_at) FROM chain.ledger ORDER BY ledger" | tr '|' ' ' >"$sim/rows"
cmp "$sim/headers" "$sim/rows" || fail "chain.ledger has other close times: $(diff "$sim/headers" "$sim/rows" | sed -n 1,3p)"
[ "$(sql "SELECT count(*) > 60 FROM chain.ledger AS a JOIN chain.ledger AS b ON b.ledger = a.ledger + 1 WHERE chain.unix(a.closed_at) = chain.unix(b.closed_at)")" = t ] || fail "no two ledgers share a second"
[ "$(sql "SELECT count(*) FROM event.log AS e JOIN chain.ledger AS l USING (deployment, ledger) WHERE e.closed_at <> l.closed_at")" = 0 ] || fail "events closed at another time"
[ "$(sql "SELECT count(*) FROM chain.cursor AS c JOIN chain.ledger AS l USING (deployment, ledger) WHERE c.closed_at <> l.closed_at")" = 0 ] || fail "the cursor closed at another time"
[ "$(sql "SELECT count(*) FROM rollup.candle WHERE at <> date_bin('1 minute', at, '2000-01-03 00:00:00+00')")" = 0 ] || fail "a candle begins between minutes"

# The same rows in small batches, and what verify computes again.
other=${TIDEMARK_DATABASE_URL/dbname=tidemark/dbname=small}
PGDATABASE=postgres "$PG_BIN/createdb" small
run "$other" --batch-ledgers 1
digest() { "$TIDE_BIN/tidemark-indexer" digest --database-url "$1" || fail "digest"; }
[ "$(digest "$TIDEMARK_DATABASE_URL")" = "$(digest "$other")" ] || fail "another digest in batches of one ledger"
"$TIDE_BIN/tidemark-indexer" verify --lake "$sim/lake" >"$PG_DIR/verify.log" 2>&1 || fail "verify: $(tail -3 "$PG_DIR/verify.log")"

api_start --api-rate-query 0
python3 "$here/_milliseconds.py" "$API_URL" "$sim/headers" || fail "answers"
