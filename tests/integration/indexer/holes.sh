#!/usr/bin/env bash
# An index whose coverage has ledgers that its tables lack, as two writers at two primaries once left it: doctor and verify name the
# holes and the command that closes them, which reads the ledgers again. The tables then equal those of an index without holes.
. "$(dirname "$0")/../_pg.sh"
[ -x "$TIDE_BIN/tidemark-sim" ] || { echo "no tidemark-sim"; exit 1; }
pg_start
bin=$TIDE_BIN/tidemark-indexer
export TIDEMARK_DEPLOYMENT=$PG_DIR/sim/deployment.json TIDEMARK_LAKE=$PG_DIR/sim/lake TIDEMARK_PARTITION_LEDGERS=1000
"$TIDE_BIN/tidemark-sim" write --lake "$TIDEMARK_LAKE" --deployment "$TIDEMARK_DEPLOYMENT" --first-ledger 1920 --ledgers 384 --txs 6 --quiet
index() { "$bin" "$@" 2>"$PG_DIR/log" || fail "$*: $(tail -n 2 "$PG_DIR/log")"; }
into() {
    PGDATABASE=postgres "$PG_BIN/createdb" "$1"
    export PGDATABASE=$1 TIDEMARK_DATABASE_URL="host=$PG_DIR port=5432 user=postgres dbname=$1"
}
total() { "$bin" digest | grep '^total'; }
checks() { { "$bin" doctor || true; } 2>/dev/null | grep -A1 "^$1 *coverage " || fail "doctor: $("$bin" doctor 2>&1 | grep -A1 ' coverage ')"; } # GRADE
verifies() { # CODE
    local code=0
    "$bin" verify --lake '' >"$PG_DIR/said" 2>"$PG_DIR/err" || code=$?
    [ "$code" = "$1" ] || fail "verify: exit $code: $(cat "$PG_DIR/said" "$PG_DIR/err")"
}

into whole
index run --stop-at-end
last=$(sql "SELECT ledger FROM chain.cursor")
want=$(total)
ledgers=$(sql "SELECT string_agg(format('(%s, ''%s''::bytea, ''%s''::bytea, ''%s''::timestamptz)', ledger, previous_hash, hash, closed_at), ', ') FROM chain.ledger
    WHERE ledger IN (1920, 2260)")

into holes
for range in "2020 2255" "2010 2016"; do index backfill --from ${range% *} --to ${range#* }; done
checks warning >"$PG_DIR/found"
grep -q '^warning.*3 ledgers between others are not indexed: 2017 to 2019$' "$PG_DIR/found" || fail "$(cat "$PG_DIR/found")"
# The coverage claims all ledgers from 1920 to 2260. No partition has those before 2000.
sql "CREATE TABLE public.l AS SELECT * FROM (VALUES $ledgers) AS l (ledger, previous_hash, hash, closed_at);
    DELETE FROM chain.coverage WHERE from_ledger > 2010;
    UPDATE chain.coverage AS c SET from_ledger = 1920, previous_hash = a.previous_hash, to_ledger = 2260, hash = z.hash, closed_at = z.closed_at FROM public.l AS a, public.l AS z
    WHERE a.ledger = 1920 AND z.ledger = 2260;
    UPDATE chain.cursor AS c SET ledger = z.ledger, hash = z.hash, closed_at = z.closed_at FROM public.l AS z WHERE z.ledger = 2260; DROP TABLE public.l"
index run --stop-at-end # does not look for them, and goes on behind
[ "$(sql "SELECT ledger FROM chain.cursor")" = "$last" ] || fail "it does not go on"
[ "$(total)" != "$want" ] || fail "there is no hole"
checks failed >"$PG_DIR/found"
grep -q '^failed.*the rows of 98 ledgers that count as indexed are missing: 1920 to 2009, 2017 to 2019, 2256 to 2260$' "$PG_DIR/found" &&
    grep -q -- '-> .*tidemark-indexer backfill --from 1920 --to 2260' "$PG_DIR/found" || fail "$(cat "$PG_DIR/found")"
verifies 68
for hole in "1920 2009" "2017 2019" "2256 2260"; do
    grep -q "^WRONG .*ledgers ${hole% *} to ${hole#* } count as indexed, .* tidemark-indexer backfill --from ${hole% *} --to ${hole#* }$" "$PG_DIR/said" || fail "$hole: $(cat "$PG_DIR/said")"
done
index backfill --from 2017 --to 2019 # a part of them; the others count as indexed no more
[ "$(grep -c 'coverage.hole' "$PG_DIR/log")" = 3 ] || fail "the log does not name the holes: $(cat "$PG_DIR/log")"
checks warning >"$PG_DIR/found"
grep -q '^warning.*5 ledgers between others are not indexed: 2256 to 2260$' "$PG_DIR/found" || fail "$(cat "$PG_DIR/found")"
index backfill --from 1920 --to 2260
[ "$(total)" = "$want" ] || fail "other tables: $(total), without holes $want"
[ "$(sql "SELECT string_agg(from_ledger || ' to ' || to_ledger, ', ') FROM chain.coverage")" = "1920 to $last" ] || fail "coverage: $(sql "TABLE chain.coverage")"
checks ok
verifies 0
echo "ok holes are named, and closed by a backfill: $want"
