#!/usr/bin/env python3
"""Tests numbers at the limits of columns, and types and names of the lake's columns.

usage: _exact.py LAKE      $LAKE_URL is the database as the lake's role, libpq's environment that of a superuser
"""
import decimal
import os
import pathlib
import re
import subprocess
import sys

SOURCE = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(SOURCE / "tools/lake"))

from columns import columns_of  # noqa: E402
from database import Database, Relation  # noqa: E402
from digest import Digest  # noqa: E402
from pyiceberg.table import StaticTable  # noqa: E402

EDGES = ["0", "-1", "0.0000001", "0.00000011", "1" + "0" * 30 + ".5", "9" * 38, "-" + "9" * 38, "1" + "0" * 38, "-170141183460469231731687303715884105728",
         "9" * 31 + "." + "9" * 7, "1" + "0" * 31, "NaN"]


def exact() -> None:
    """Each number is in the decimal or, as text, beside it."""
    values = ", ".join(f"('{value}'::numeric, '{value}'::numeric)" for value in EDGES)
    subprocess.run(["psql", "-Xqv", "ON_ERROR_STOP=1", "-c", f"CREATE VIEW analyst.edges (whole_raw, scaled) AS VALUES {values}",
                    "-c", "GRANT SELECT ON analyst.edges TO lake"], check=True)
    relation = Relation("analyst", "edges", tuple(c for name, scale in (("whole_raw", 0), ("scaled", 7))
                                                     for c in columns_of("analyst", "edges", name, f"numeric(39,{scale})")), False)
    database = Database(os.environ["LAKE_URL"], None)
    with database.snapshot() as snapshot:
        rows = [row for batch in snapshot.batches(relation, relation.select()) for row in batch.to_pylist()]
    for value, row in zip(EDGES, rows, strict=True):
        for name, decimals in (("whole_raw", 0), ("scaled", 7)):
            number, text = row[name], row[f"{name}_text"]
            assert (number is None) != (text is None), row
            assert text == value if number is None else number == decimal.Decimal(value), (value, row)
            # Ask the number itself whether it fits.
            given = decimal.Decimal(value)
            fits = given.is_finite() and abs(given) < decimal.Decimal(10) ** (38 - decimals) and -given.normalize().as_tuple().exponent <= decimals
            assert fits == (number is not None), (value, row)
    subprocess.run(["psql", "-Xqc", "DROP VIEW analyst.edges"], check=True)
    print(f"{len(EDGES)} numbers: exact")


def columns(lake: pathlib.Path) -> None:
    """No floating-point numbers, nothing private; what the database has more than once is there; ranges and days are partitions."""
    tables = {f"{p.parts[-4]}.{p.parts[-3]}": StaticTable.from_metadata(str(p.parents[1])) for p in lake.glob("*/*/metadata/version-hint.text")}
    assert len(tables) > 40, sorted(tables)
    for name, table in tables.items():
        for field in table.schema().fields:
            assert not re.search("float|double", str(field.field_type)), (name, field)
            assert not re.search(r"jurisdiction|xdr|^answer$|_key$", field.name), (name, field)
    assert "args" in tables["analyst.calls"].schema().column_names
    swaps = tables["analyst.swaps"]
    assert [f.name for f in swaps.spec().fields] == ["deployment", "ledger_range", "day"], swaps.spec()
    files = list(swaps.scan().plan_files())
    days = {task.file.partition[2] for task in files}
    assert len(days) > 1, "one day only: the test shows no partition by day"
    said = swaps.snapshots()[0].summary.additional_properties
    assert len(said["tidemark.first-hash"]) == 64 and said["tidemark.first-ledger"] == "1856" and said["tidemark.last-ledger"] == "1999", said
    digest = Digest()
    for batch in swaps.scan(snapshot_id=swaps.snapshots()[0].snapshot_id).to_arrow_batch_reader():
        digest.add(batch)
    assert digest.hex() == said["tidemark.digest"], "the summary's digest is not that of the rows"
    print(f"{len(tables)} tables, {len(days)} days")


decimal.getcontext().prec = 100
exact()
columns(pathlib.Path(sys.argv[1]))
