#!/usr/bin/env bash
# pandas over ADBC's PostgreSQL driver: a numeric column is text, and its sum is the digits one behind the other. 1 + 9007199254740993 is '19007199254740993',
# which looks like a number. numeric(38,0) is so too, which Arrow's decimal128 would hold. The column's dtype is object, as it is with psycopg2 and
# coerce_float=False, whose values are Decimal and add up. min and max compare texts: of 9, 10 and more, the least is '10'. Nothing warns. polars keeps the type as
# an extension over a string, so that its sum fails, and polars' max too.
# Needs PostgreSQL's server (Debian: postgresql), python3 with venv, and PyPI.
#
# Bet before the run: a numeric is a decimal128 where it fits, and text otherwise.
set -euo pipefail
dir=$(mktemp -d)
bin=$(ls -d /usr/lib/postgresql/*/bin | tail -1)
user=$(id -un)
as() { "$@"; }
[ "$(id -u)" != 0 ] || { user=postgres; chown postgres "$dir"; as() { setpriv --reuid postgres --regid postgres --clear-groups "$@"; }; }
trap 'as "$bin/pg_ctl" -D "$dir/data" -m immediate stop >/dev/null 2>&1 || true; rm -rf "$dir"' EXIT
as "$bin/initdb" -D "$dir/data" -A trust -U "$user" >/dev/null
as "$bin/pg_ctl" -D "$dir/data" -o "-k $dir -c listen_addresses=" -l "$dir/data/log" -w start >/dev/null
python3 -m venv "$dir/v"
"$dir/v/bin/pip" install -q --disable-pip-version-check adbc-driver-postgresql==1.13.0 pandas==3.1.1 polars==2.1.0 pyarrow==25.0.1 psycopg2-binary==2.9.13 SQLAlchemy==2.1.9
"$bin/postgres" --version
PG="postgresql:///postgres?host=$dir&user=$user" "$dir/v/bin/python" - <<'P'
import os, sys, warnings

import adbc_driver_postgresql, adbc_driver_postgresql.dbapi as adbc, pandas, polars, sqlalchemy

warnings.simplefilter("error")
print("adbc_driver_postgresql", adbc_driver_postgresql.__version__, "pandas", pandas.__version__, "polars", polars.__version__)
seen = {}
for kind in ("numeric(38,0)", "numeric(20,0)", "numeric"):
    query = f"SELECT n::{kind} AS n FROM (VALUES (9), (9007199254740993), (10)) AS v(n)"
    with adbc.connect(os.environ["PG"]) as connection:
        column = pandas.read_sql(query, connection)["n"]
    other = pandas.read_sql(query, sqlalchemy.create_engine(os.environ["PG"].replace("postgresql:", "postgresql+psycopg2:")), coerce_float=False)["n"]
    frame = polars.read_database_uri(query, os.environ["PG"], engine="adbc")["n"]
    try:
        told = repr(frame.sum())
    except Exception as error:
        told = f"fails: {type(error).__name__}"
    print(f"{kind}: ADBC {column.dtype}, sum {column.sum()!r}, min {column.min()!r}; psycopg2 {other.dtype}, sum {other.sum()!r}; polars {frame.dtype}, sum {told}")
    seen[kind] = (str(column.dtype), column.sum(), column.min(), str(other.dtype), int(other.sum()), told.startswith("fails"))
if set(seen.values()) != {("object", "9900719925474099310", "10", "object", 9007199254741012, True)}:
    sys.exit(f"CHANGED: {seen}")
P
