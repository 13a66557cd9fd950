#!/usr/bin/env bash
# Gives an analyst a login with a schema of its own (tools/analyst/role.sql), runs the dbt project there and the manual's pandas
# example, and compares both with the views. Needs `tools/install-deps analyst`.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../_pg.sh"
tool=$TIDE_SOURCE_DIR/tools/analyst env=${TIDE_ANALYST_ENV:-$TIDE_SOURCE_DIR/build/analyst}
[ -x "$TIDE_BIN/tidemark-sim" ] || { echo "programs not built"; exit 1; }
pg_start
"$TIDE_BIN/tidemark-sim" write --lake "$PG_DIR/sim/lake" --ledgers 256 --quiet
"$TIDE_BIN/tidemark-indexer" run --lake "$PG_DIR/sim/lake" --deployment "$PG_DIR/sim/deployment.json" --stop-at-end 2>"$PG_DIR/run.log" ||
    { tail "$PG_DIR/run.log" >&2; fail "indexing"; }

sql "CALL chain.restrict_public()" # as migrate does where it makes the database its own
"$PG_BIN/psql" -Xq -v analyst=ada -f "$tool/role.sql"
as_ada() { PGUSER=ada sql "$1"; }
refused() { # STATEMENT
    ! as_ada "$1" 2>"$PG_DIR/error" && grep -q "permission denied" "$PG_DIR/error" || fail "not refused: $1: $(cat "$PG_DIR/error")"
}
as_ada "CREATE TABLE mine AS SELECT pool_id, sum(amount_in_raw) AS sold FROM swaps GROUP BY pool_id; CREATE VIEW now AS SELECT count(*) AS vaults FROM vaults"
[ "$(as_ada "SELECT sum(sold) FROM ada.mine")" = "$(sql "SELECT sum(amount_in_raw) FROM analyst.swaps")" ] || fail "another sum"
[ "$(as_ada "SELECT vaults FROM ada.now")" = "$(sql "SELECT count(*) FROM analyst.vaults")" ] || fail "another number of vaults"
for statement in "SELECT count(*) FROM event.log" "SELECT count(*) FROM history.liquidity_pool_pool" "CREATE TABLE analyst.mine (x int)" "CREATE TABLE public.mine (x int)" \
    "CREATE SCHEMA other" "CREATE TEMPORARY TABLE mine (x int)" "CREATE VIEW lives AS SELECT jurisdiction FROM state.compliance_registry_compliance_rec" "CALL analyst.grant_access()"; do
    refused "$statement"
done
! PGUSER=tidemark_analyst sql "CREATE TABLE mine (x int)" 2>/dev/null || fail "tidemark_analyst makes tables"
! PGUSER=tidemark_analyst sql "SELECT count(*) FROM ada.mine" 2>/dev/null || fail "others read ada's tables"
as_ada "GRANT USAGE ON SCHEMA ada TO tidemark_analyst; GRANT SELECT ON ALL TABLES IN SCHEMA ada TO tidemark_analyst"
PGUSER=tidemark_analyst sql "SELECT count(*) FROM ada.mine" >/dev/null || fail "granted tables are not read"

"$env/bin/python" -c 'import dbt.cli, pandas, psycopg2' 2>/dev/null || { echo "no dbt in $env; run tools/install-deps analyst"; exit 1; }
cp -r "$tool/dbt" "$PG_DIR/dbt"
(cd "$PG_DIR/dbt" && PGUSER=ada DO_NOT_TRACK=1 "$env/bin/dbt" --no-version-check build --profiles-dir .) >"$PG_DIR/dbt.log" 2>&1 || { tail -n 40 "$PG_DIR/dbt.log" >&2; fail "dbt"; }
grep -q "PASS=7 .*ERROR=0 SKIP=0" "$PG_DIR/dbt.log" || fail "$(tail -n 4 "$PG_DIR/dbt.log")"
[ "$(sql "SELECT sum(sold_a_raw), sum(sold_b_raw) FROM ada.pool_weeks")" = "$(sql "SELECT sum(sold_a_raw), sum(sold_b_raw) FROM analyst.daily_pools")" ] || fail "pool_weeks"
numbers="FROM information_schema.columns WHERE table_schema = 'ada' AND table_name IN ('pool_weeks', 'largest_swaps', 'vaults_near_liquidation')"
[ "$(sql "SELECT count(*) $numbers AND data_type = 'numeric' AND numeric_precision IS NULL")" = 0 ] || fail "a numeric without a declared type"
[ "$(sql "SELECT count(*) $numbers AND column_name = 'deployment'")" = 3 ] || fail "a model does not name its deployment"
[ "$(sql "SELECT max(amount_in_raw) FROM ada.largest_swaps")" = "$(sql "SELECT max(amount_in_raw) FROM analyst.swaps")" ] || fail "largest_swaps"
[ "$(sql "SELECT relkind FROM pg_class WHERE oid = 'ada.vaults_near_liquidation'::regclass")" = v ] || fail "no view"

# The example reads an amount that no floating-point number is: the largest of 38 digits, twice.
pg_writable
# The largest with its decimals applied, and one that has them in raw units alone.
shown=999999999999999999999999999 most=99999999999999999999999999999999999999
sql "UPDATE event.liquidity_pool_swap SET amount_in = $most WHERE (ledger, tx, op, event) IN (SELECT ledger, tx, op, event FROM event.liquidity_pool_swap ORDER BY 1, 2, 3, 4 LIMIT 2)"
sql "UPDATE event.liquidity_pool_swap SET amount_in = $shown WHERE (ledger, tx, op, event) IN (SELECT ledger, tx, op, event FROM event.liquidity_pool_swap ORDER BY 1, 2, 3, 4 OFFSET 2 LIMIT 2)"
sed -n '/^```python$/,/^```$/p' "$tool/README.md" | sed '1d;$d' >"$PG_DIR/example.py"
echo 'open("sums", "w").write("".join(f"{int(r.amount_in_raw)} " + ("" if r.amount_in is None else format(r.amount_in, "f")) + "\n" for r in swaps.itertuples()))
print(swaps["amount_in_raw"].sum(), format(swaps["amount_in"].dropna().sum(), "f"))' >>"$PG_DIR/example.py"
(cd "$PG_DIR" && PGUSER=ada "$env/bin/python" -W ignore example.py) >"$PG_DIR/example.out" 2>"$PG_DIR/error" || fail "$(cat "$PG_DIR/error")"
[ "$(tail -n 1 "$PG_DIR/example.out")" = "$(sql "SELECT sum(amount_in_raw) || ' ' || sum(amount_in) FROM analyst.swaps")" ] || fail "pandas: $(tail -n 1 "$PG_DIR/example.out")"
[ "$(grep -c -e "^$most $" -e "^$shown ${shown:0:20}.${shown:20}0*$" "$PG_DIR/sums")" = 4 ] || fail "pandas rounds: $(cat "$PG_DIR/sums")"
echo "dbt: $(grep -o "PASS=.*" "$PG_DIR/dbt.log"); pandas: $(tail -n 1 "$PG_DIR/example.out")"
