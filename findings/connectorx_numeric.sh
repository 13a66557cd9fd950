#!/usr/bin/env bash
# ConnectorX reads each numeric of PostgreSQL through a decimal of 96 bits, and for Arrow (so for polars too) gives it ten decimals whatever the column says: a numeric(20,0)
# whose value has 20 digits, the largest u64, ends the query with "decimal scale is not equal to expected scale, got: 9 expected: 10", and 18 digits come as
# 123456789012345678.0000000000. For pandas the same column is float64, so 9007199254740993 is 9007199254740992 without a word, although
# the type says that it has no fraction. From 2^96 on both fail. Text is exact. polars.read_database with psycopg2 keeps numeric(38,0).
# Needs PostgreSQL's server (Debian: postgresql), python3 with venv, and PyPI.
#
# Bet before the run: numeric(p,s) with p <= 38 becomes decimal128(p,s) in Arrow.
set -euo pipefail
dir=$(mktemp -d)
bin=$(ls -d /usr/lib/postgresql/*/bin | tail -1)
user=$(id -un)
as() { "$@"; }
[ "$(id -u)" != 0 ] || { user=postgres; chown postgres "$dir"; as() { setpriv --reuid postgres --regid postgres --clear-groups "$@"; }; }
trap 'as "$bin/pg_ctl" -D "$dir/data" -m immediate stop >/dev/null 2>&1 || true; rm -rf "$dir"' EXIT
as "$bin/initdb" -D "$dir/data" -A trust -U "$user" >/dev/null
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
as "$bin/pg_ctl" -D "$dir/data" -o "-k $dir -c listen_addresses=127.0.0.1 -p $port" -l "$dir/data/log" -w start >/dev/null
python3 -m venv "$dir/v"
"$dir/v/bin/pip" install -q --disable-pip-version-check connectorx==0.4.6 pandas==3.1.1 polars==2.1.0 pyarrow==25.0.1 psycopg2-binary==2.9.13
"$bin/postgres" --version
PG="postgresql://$user@127.0.0.1:$port/postgres" "$dir/v/bin/python" - <<'P'
import os, sys

import connectorx, pandas, polars, psycopg2

url, seen = os.environ["PG"], []
print("connectorx", connectorx.__version__, "pandas", pandas.__version__, "polars", polars.__version__)


def tried(name, read):
    try:
        column = read()
        told = f"{column.dtype} {column[0]}"
    except BaseException as error:
        told = f"fails: {str(error).splitlines()[0][-80:]}"
    print(f"  {name}: {told}")
    seen.append(told)


for kind, value in (("numeric(20,0)", 2**64 - 1), ("numeric(38,0)", 123456789012345678), ("numeric(38,0)", 2**53 + 1), ("numeric(38,0)", 2**96)):
    query = f"SELECT {value}::{kind} AS n"
    print(kind, value)
    tried("ConnectorX, pandas", lambda: connectorx.read_sql(url, query)["n"])
    tried("ConnectorX, polars", lambda: polars.read_database_uri(query, url, engine="connectorx")["n"])
    tried("ConnectorX, text", lambda: connectorx.read_sql(url, query.replace(" AS n", "::text AS n"))["n"])
    tried("polars, psycopg2", lambda: polars.read_database(query, psycopg2.connect(url))["n"])
scale, large = "decimal scale is not equal to expected scale, got: 9 expected: 10", "Number exceeds maximum value that can be represented."
wanted = [("float64 1.8446744073709552e+19", scale, "18446744073709551615", "18446744073709551615"),
          ("float64 1.2345678901234568e+17", "scale=10) 123456789012345678.0000000000", "123456789012345678", "123456789012345678"),
          ("float64 9007199254740992.0", "scale=10) 9007199254740993.0000000000", "9007199254740993", "9007199254740993"),
          (large, large, "79228162514264337593543950336", "79228162514264337593543950336")]
if not all(told.endswith(end) for told, end in zip(seen, sum(wanted, ()), strict=True)):
    sys.exit("CHANGED")
P
