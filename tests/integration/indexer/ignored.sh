#!/usr/bin/env bash
# Tokens past the limit: however many one ledger names, each is followed once the limit has room for it, and
# the tables are those of an index with that limit from the start. Which ones have a place does not depend on the
# order in which ledgers are read.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../_pg.sh"
pg_start
bin=$TIDE_BIN/tidemark-indexer
sim=$TIDE_BIN/tidemark-sim
[ -x "$sim" ] || { echo "no tidemark-sim"; exit 77; }
export ASAN_OPTIONS=detect_leaks=0 TIDEMARK_DEPLOYMENT=$PG_DIR/deployment.json
"$sim" write --lake "$PG_DIR/lake" --deployment "$PG_DIR/deployment.json" --ledgers 32 --ledgers-per-object 32 --txs 2 --seed 3 --hostile 7 --hostile-attacks tokens --quiet
index() { # DATABASE TOKENS
    export PGDATABASE=$1 TIDEMARK_DATABASE_URL="host=$PG_DIR port=5432 user=postgres dbname=$1"
    "$bin" run --stop-at-end --lake "$PG_DIR/lake" --discovered-tokens "$2" 2>"$PG_DIR/run.log" ||
        { tail "$PG_DIR/run.log" >&2; fail "$1: run"; }
}
tokens() { sql "SELECT count(DISTINCT contract) FROM chain.contract_seen WHERE what IN ($1)"; }

for name in raised from_start forward backward; do PGDATABASE=postgres "$PG_BIN/createdb" --template tidemark $name; done
index raised 0
most=$(sql "SELECT max(n) FROM (SELECT count(*) AS n FROM chain.contract_seen WHERE what = 'ignored' GROUP BY ledger) AS x")
[ "$most" -gt 256 ] || fail "no ledger names many tokens: $most"
named=$(tokens "'ignored', 'discovered'") # a market may name one that was ignored
index raised 4096
[ "$(tokens "'discovered'")" = "$named" ] || fail "$(tokens "'discovered'") of $named tokens are followed"
"$bin" digest >"$PG_DIR/raised"
index from_start 4096
"$bin" digest >"$PG_DIR/from_start"
diff "$PG_DIR/from_start" "$PG_DIR/raised" >&2 || fail "other rows than with the limit from the start"

# With room for some of them.
index forward 20
"$bin" digest >"$PG_DIR/forward"
followed=$(tokens "'discovered'")
[ "$followed" -ge 20 ] && [ "$followed" -lt "$named" ] || fail "$followed of $named tokens are followed, places for 20"
first=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["first_ledger"])' "$PG_DIR/deployment.json")
export PGDATABASE=backward TIDEMARK_DATABASE_URL="host=$PG_DIR port=5432 user=postgres dbname=backward"
for from in $((first + 24)) $((first + 8)) "$first"; do
    "$bin" backfill --lake "$PG_DIR/lake" --from "$from" --to $((first + 31)) --discovered-tokens 20 2>"$PG_DIR/run.log" ||
        { tail "$PG_DIR/run.log" >&2; fail "backfill from $from"; }
done
index backward 20
"$bin" digest >"$PG_DIR/backward"
diff "$PG_DIR/forward" "$PG_DIR/backward" >&2 || fail "other rows where the last ledgers were read first"

# More than any limit has room for are forgotten at the next start.
sql "INSERT INTO chain.contract_seen (deployment, contract, ledger, tx, what, role, name)
    SELECT 1, 'late' || n, 2000000000, n, 'ignored', 'synth_token', 'late' FROM generate_series(1, 10000) AS n"
index backward 0
kept=$(tokens "'ignored'")
[ "$kept" = 6144 ] || fail "$kept ignored tokens are kept"
echo "$most tokens of a ledger, $named in all, $followed of them followed with places for 20, in either order"
