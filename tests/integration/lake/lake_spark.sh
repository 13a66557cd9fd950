#!/usr/bin/env bash
# Spark with two local workers answers the ten questions as PostgreSQL does. A lake on S3 has the digests of a local one.
# label: all
. "$(dirname "$0")/_lake.sh"
here=$(cd "$(dirname "$0")" && pwd)
"$lake_python" -c 'import pyspark, moto' 2>/dev/null && compgen -G "$TIDE_LAKE_ENV/jars/iceberg-spark-runtime-*.jar" >/dev/null && command -v java >/dev/null ||
    { echo "no Spark in $TIDE_LAKE_ENV; run tools/install-deps lake-spark"; exit 1; }
pg_start
lake_chain --ledgers 512 # fewer have no liquidation, and question 5 no answer
lake update local --range 128 --tables 'analyst.*' --quiet

"$TIDE_LAKE_ENV/bin/moto_server" -H 127.0.0.1 -p 0 >"$PG_DIR/s3.log" 2>&1 &
for _ in $(seq 600); do port=$(sed -n 's/.*Running on http:\/\/127.0.0.1:\([0-9]*\).*/\1/p' "$PG_DIR/s3.log") && [ "$port" ] && break; sleep 0.1; done
[ "$port" ] || fail "no S3 server: $(cat "$PG_DIR/s3.log")"
curl -sS -X PUT "http://127.0.0.1:$port/open" >/dev/null
export AWS_ACCESS_KEY_ID=test AWS_SECRET_ACCESS_KEY=test
s3=(--lake s3://open/lake --property "s3.endpoint=http://127.0.0.1:$port" --property s3.region=us-east-1)
on_s3() { lake_waits; TIDEMARK_DATABASE_URL=$LAKE_URL "$lake_tool/lake" "$@" "${s3[@]}"; }
on_s3 update --range 128 --tables analyst.swaps analyst.pools --quiet || fail "update on S3"
[ -z "$(on_s3 update --tables analyst.swaps)" ] || fail "a second run wrote to S3"
on_s3 check --tables analyst.swaps analyst.pools || fail "check on S3"
digests() { sed -n 's/.*"table": "\(analyst.swaps\|analyst.pools\)".*"digest": "\([0-9a-f]*\)".*/\1 \2/p'; }
[ "$(on_s3 ranges | digests)" = "$(lake ranges local | digests)" ] && [ "$(on_s3 ranges | digests | wc -l)" = 3 ] || fail "digests on S3: $(on_s3 ranges)"

nice -n 10 timeout 900 "$lake_python" -u "$here/_questions.py" "$TIDE_SOURCE_DIR/migrations/README.md" "$PG_DIR/local" spark 2>"$PG_DIR/spark.log" ||
    { grep -v -e WARN -e '^\s*at ' "$PG_DIR/spark.log" | tail -n 20 >&2; fail "Spark"; }
