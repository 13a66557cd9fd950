#!/usr/bin/env python3
"""The ten questions of migrations/README.md: the answers of PostgreSQL, and of another engine over the lake.

usage: _questions.py README LAKE duckdb|spark      the database is in libpq's environment; run it with the lake's Python

The questions are asked as they stand. DuckDB divides decimals as DOUBLE: a quotient that a question rounds is rounded from it.
"""
import datetime
import decimal
import json
import os
import pathlib
import re
import subprocess
import sys

SOURCE = pathlib.Path(__file__).resolve().parents[3]


def questions(readme: str) -> list[str]:
    section = re.search(r"^## Ten questions\n(.*?)^## ", pathlib.Path(readme).read_text(), re.S | re.M)
    assert section, "no section of ten questions"
    found = re.findall(r"^```sql\n(.*?);?\n```", section[1], re.S | re.M)
    assert len(found) == 10, f"{len(found)} questions"
    return found


def plain(value):
    """A value as any engine's driver gives it, in one form."""
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, (int, float, decimal.Decimal)):
        return str(decimal.Decimal(repr(value) if isinstance(value, float) else value).normalize() + 0)
    if isinstance(value, datetime.datetime):
        return value.replace(tzinfo=value.tzinfo or datetime.timezone.utc).astimezone(datetime.timezone.utc).isoformat()
    return value.isoformat() if isinstance(value, datetime.date) else value


def ask_postgres(statement: str) -> list[tuple]:
    done = subprocess.run(["psql", "-XAtq", "-v", "ON_ERROR_STOP=1", "-U", "tidemark_analyst", "-c", "SET TimeZone = 'UTC'",
                           "-c", f"SELECT coalesce(json_agg(x), '[]') FROM ({statement}) AS x"], check=True, capture_output=True, text=True)
    return [tuple(row.values()) for row in json.loads(done.stdout, parse_float=decimal.Decimal)]


def duckdb_engine(lake: str):
    sys.path.insert(0, str(SOURCE / "tools/lake"))
    import ask
    from lake_folder import opened
    connection = ask.connection(opened(lake, {}))
    return lambda statement: connection.execute(statement).fetchall()


def spark_engine(lake: str):
    from pyspark.sql import SparkSession
    jar = next(pathlib.Path(os.environ["TIDE_LAKE_ENV"]).glob("jars/iceberg-spark-runtime-*.jar"))
    os.environ["TZ"] = "UTC"
    session = (SparkSession.builder.master("local-cluster[2,1,1024]").appName("questions")
               .config("spark.jars", str(jar)).config("spark.ui.enabled", "false").config("spark.sql.session.timeZone", "UTC")
               .config("spark.sql.shuffle.partitions", "2").config("spark.driver.host", "127.0.0.1").config("spark.driver.bindAddress", "127.0.0.1")
               .config("spark.sql.catalog.lake", "org.apache.iceberg.spark.SparkCatalog").config("spark.sql.catalog.lake.type", "hadoop")
               .config("spark.sql.catalog.lake.warehouse", lake).config("spark.sql.defaultCatalog", "lake")
               .config("spark.sql.decimalOperations.allowPrecisionLoss", "false").getOrCreate())
    workers = session.sparkContext._jsc.sc().statusTracker().getExecutorInfos()
    print(f"Spark {session.version}, Java {session._jvm.java.lang.System.getProperty('java.version')}, {len(workers)} processes")
    assert len(workers) >= 2, "Spark has no workers of its own"
    return lambda statement: [tuple(row) for row in session.sql(statement).collect()]


def main() -> None:
    readme, lake, engine = sys.argv[1:]
    ask = {"duckdb": duckdb_engine, "spark": spark_engine}[engine](lake)
    for number, statement in enumerate(questions(readme), 1):
        want, have = ([tuple(map(plain, row)) for row in answer(statement)] for answer in (ask_postgres, ask))
        assert want, f"question {number} has no answer"
        # Engines place nulls differently where a question does not say where.
        if sorted(map(repr, want)) != sorted(map(repr, have)):
            differing = next(((w, h) for w, h in zip(want, have) if w != h), (len(want), len(have)))
            sys.exit(f"question {number}: PostgreSQL and {engine} differ: {differing[0]}\n{differing[1]}")
        print(f"question {number}: {len(have)} rows, the same in {engine}")


main()
