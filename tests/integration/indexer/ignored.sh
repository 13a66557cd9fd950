#!/usr/bin/env bash
# Tests tokens beyond the limit of discovered tokens. However many one ledger names, each is followed once the limit
# allows it, and then the tables equal those of an index with that limit from the start. The choice of followed tokens
# does not depend on the order in which ledgers are read. In a build with failpoints the indexer is killed inside and
# after the transaction that admits tokens, and its answer to COMMIT is lost; then it is killed inside and after the
# transactions that fill the past of these tokens. label: sanitize
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../_pg.sh"
pg_start
bin=$TIDE_BIN/tidemark-indexer
sim=$TIDE_BIN/tidemark-sim
[ -x "$sim" ] || { echo "no tidemark-sim"; exit 1; }
export ASAN_OPTIONS=detect_leaks=0 TIDEMARK_DEPLOYMENT=$PG_DIR/deployment.json
"$sim" write --lake "$PG_DIR/lake" --deployment "$PG_DIR/deployment.json" --ledgers 32 --ledgers-per-object 32 --txs 2 --seed 3 --hostile 12 --hostile-attacks tokens --quiet
index() { # DATABASE TOKENS
    export PGDATABASE=$1 TIDEMARK_DATABASE_URL="host=$PG_DIR port=5432 user=postgres dbname=$1"
    "$bin" run --stop-at-end --lake "$PG_DIR/lake" --discovered-tokens "$2" 2>"$PG_DIR/run.log" ||
        { tail "$PG_DIR/run.log" >&2; fail "$1: run"; }
}
# Where each token was named first, by a market too, and since when it is followed.
since() { sql "SELECT contract, min(ARRAY[ledger, tx]) FILTER (WHERE what IN ('discovered', 'ignored', 'market')), min(ledger) FILTER (WHERE what = 'market'),
    min(ledger) FILTER (WHERE what = 'discovered') FROM chain.contract_seen WHERE what <> 'created' GROUP BY contract ORDER BY contract COLLATE \"C\""; }
tokens() { sql "SELECT count(DISTINCT contract) FROM chain.contract_seen WHERE what IN ($1) ${2:-}"; }

for name in raised from_start forward backward; do PGDATABASE=postgres "$PG_BIN/createdb" --template tidemark $name; done
index raised 0
most=$(sql "SELECT max(n) FROM (SELECT count(*) AS n FROM chain.contract_seen WHERE what = 'ignored' GROUP BY ledger) AS x")
[ "$most" -gt 256 ] || fail "no ledger names many tokens: $most"
named=$(tokens "'ignored', 'discovered'") # a market may name one that was ignored
killed() { # TOKENS: how many are followed then
    local code=0
    "$bin" run --stop-at-end --lake "$PG_DIR/lake" --discovered-tokens 4096 2>"$PG_DIR/run.log" || code=$?
    [ "$code" = 137 ] || fail "$TIDE_FP: exit $code: $(tail -3 "$PG_DIR/run.log")"
    [ "$(tokens "'discovered'")" = "$1" ] || fail "$TIDE_FP: $(tokens "'discovered'") tokens are followed, not $1"
    [ "$(sql "SELECT count(DISTINCT contract) FROM chain.contract_coverage WHERE contract IN (SELECT contract FROM chain.contract_seen
        WHERE what = 'ignored')")" = "$(tokens "'ignored'" "AND contract IN (SELECT contract FROM chain.contract_seen WHERE what = 'discovered')")" ] ||
        fail "$TIDE_FP: other pasts are noted than those of followed tokens"
}
past() { sql "SELECT coalesce(sum(next_ledger - from_ledger), 0) FROM chain.contract_coverage"; } # ledgers that were read again
if grep -aq places.given "$bin"; then
    before=$(tokens "'discovered'")
    for point in places.given places.after; do
        export TIDE_FP=$point=kill
        killed $([ $point = places.given ] && echo "$before" || echo "$named") 2>/dev/null
    done
    unset TIDE_FP
    sql "DELETE FROM chain.contract_coverage WHERE contract IN (SELECT contract FROM chain.contract_seen WHERE what = 'ignored');
        DELETE FROM chain.contract_seen AS s WHERE what = 'discovered' AND EXISTS (SELECT FROM chain.contract_seen AS i
            WHERE i.contract = s.contract AND i.what = 'ignored')"
    read=$(past)
    export TIDE_FP=places.after=error,gap.rows=kill
    killed "$named" 2>/dev/null
    [ "$(past)" = "$read" ] || fail "$(past) ledgers of the past are noted as read, $read before a step that was not committed"
    export TIDE_FP=gap.after=kill
    killed "$named" 2>/dev/null
    [ "$(past)" -gt "$read" ] || fail "$(past) ledgers of the past are noted as read, $read before a step that was committed"
    read=$(past)
    export TIDE_FP=gap.rows=kill@2
    killed "$named" 2>/dev/null
    [ "$(past)" -gt "$read" ] || fail "$(past) ledgers of the past are noted as read, $read before another step"
    unset TIDE_FP
    echo "killed within the transaction that gives places and behind it, then its answer was lost; killed within and behind one that fills the past"
fi
index raised 4096
[ "$(tokens "'discovered'")" = "$named" ] || fail "$(tokens "'discovered'") of $named tokens are followed"
"$bin" digest >"$PG_DIR/raised"
index from_start 4096
"$bin" digest >"$PG_DIR/from_start"
diff "$PG_DIR/from_start" "$PG_DIR/raised" >&2 || fail "other rows than with the limit from the start"

# The limit allows some of the tokens.
index forward 20
"$bin" digest >"$PG_DIR/forward"
since >"$PG_DIR/since"
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
since >"$PG_DIR/since_backward"
diff "$PG_DIR/since" "$PG_DIR/since_backward" >&2 || fail "tokens are found since other ledgers where the last ones were read first"

# A market names a followed token in a ledger after most namings: it keeps its place, and no other token gets one.
taken=$(sql "SELECT contract FROM chain.contract_seen AS s WHERE what = 'discovered' AND NOT EXISTS (SELECT FROM chain.contract_seen AS o
    WHERE o.contract = s.contract AND o.what = 'market') ORDER BY ledger, tx, contract COLLATE \"C\" LIMIT 1")
sql "INSERT INTO chain.contract_seen (deployment, contract, ledger, tx, what, role, name)
    SELECT deployment, contract, $((first + 30)), 1, 'market', role, name FROM chain.contract_seen WHERE contract = '$taken' AND what = 'discovered'"
index backward 20
[ "$(tokens "'discovered'")" = "$followed" ] || fail "$(tokens "'discovered'") tokens are followed, $followed before a market named one of them"

# Tokens beyond every possible limit are dropped at the next start.
sql "INSERT INTO chain.contract_seen (deployment, contract, ledger, tx, what, role, name)
    SELECT 1, 'late' || n, 2000000000, n, 'ignored', 'synth_token', 'late' FROM generate_series(1, 10000) AS n"
index backward 0
kept=$(tokens "'ignored'")
[ "$kept" = 6144 ] || fail "$kept ignored tokens are kept"
echo "$most tokens of a ledger, $named in all, $followed of them followed with places for 20, in either order"
