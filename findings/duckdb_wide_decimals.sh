#!/usr/bin/env bash
# DuckDB reads a Parquet decimal of more than 38 digits as DOUBLE, and not as a rounded one: where pyarrow's shortest form of it is not a multiple of 8
# bytes long (39 to 57 digits are 17 to 24 bytes), each positive value is multiplied by a power of 2: the 1 of a decimal(39,0) is 2^56. -1 stays -1, so a
# look at small negative numbers shows nothing. 57 and 76 digits, of 24 and 32 bytes, are right. No warning. polars 2.1.0 refuses such a column instead.
# Known upstream since August 2026 (duckdb/duckdb#25058). Needs python3 with venv, and PyPI.
#
# Bet before the run: the type is DOUBLE, so values keep 53 bits and the right size.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/v"
"$dir/v/bin/pip" install -q --disable-pip-version-check duckdb==1.5.6 pyarrow==25.0.1 polars==2.1.0
cd "$dir"
v/bin/python - <<'P'
import decimal, sys
import duckdb, polars, pyarrow, pyarrow.parquet as pq

print("duckdb", duckdb.__version__, "pyarrow", pyarrow.__version__, "polars", polars.__version__)
values = [decimal.Decimal(n) for n in (1, -1, 10**15)]
for digits, factor in ((38, 1), (39, 2**56), (43, 2**48), (45, 2**40), (50, 2**24), (57, 1), (76, 1)):
    kind = pyarrow.decimal128(digits, 0) if digits <= 38 else pyarrow.decimal256(digits, 0)
    pq.write_table(pyarrow.table({"n": pyarrow.array(values, kind)}), "n.parquet")
    bytes_each = pq.ParquetFile("n.parquet").schema.column(0).length
    assert pq.read_table("n.parquet").column(0).to_pylist() == values, "pyarrow itself"
    got = duckdb.sql("SELECT typeof(n), n FROM 'n.parquet'").fetchall()
    print(f"decimal({digits},0), {bytes_each} bytes: 1, -1, 10^15 are", *(f"{kind} {value}" for kind, value in got))
    wanted = [("DECIMAL(38,0)" if digits <= 38 else "DOUBLE", value) for value in (factor, -1, factor * 10**15)]
    if [(kind, float(value)) for kind, value in got] != [(kind, float(value)) for kind, value in wanted]:
        sys.exit("CHANGED")
    try:
        polars.read_parquet("n.parquet")
        refused = False
    except Exception as error:
        refused = True
        print("  polars:", error)
    if refused != (digits > 38):
        sys.exit("CHANGED: polars")
P
