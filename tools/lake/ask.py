"""`lake query` and `lake chart`: DuckDB over the lake's tables, under the names that they have in the database.

The extensions come from PyPI (duckdb-extension-iceberg, duckdb-extension-avro): DuckDB verifies their signatures when it loads them,
as it does with those that INSTALL downloads from extensions.duckdb.org.
"""
import datetime
import math
import pathlib
import sys

import duckdb
import duckdb_extension_avro
import duckdb_extension_iceberg
import pyarrow as pa

from database import Database, LakeError
from folder_catalog import FolderCatalog
from lake_folder import Folder
from tables import LakeTable
from update import chosen
from views import source, tables, views

# The deployment that was added last, of those with swaps in the lake.
NEWEST = "SELECT max(deployment) FROM analyst.swaps"
# Swaps by minute and token, because a simulated chain may last an hour only.
TRADES = """
SELECT token_in_symbol AS token, date_trunc('minute', closed_at) AS minute, count(*) AS swaps
FROM analyst.swaps WHERE deployment = ? GROUP BY token, minute ORDER BY token, minute"""
LONGEST_LINE = datetime.timedelta(hours=1)


def connection(folder: Folder) -> duckdb.DuckDBPyConnection:
    made = duckdb.connect(config={"autoinstall_known_extensions": "false"})
    for package in (duckdb_extension_avro, duckdb_extension_iceberg):
        extension = next(pathlib.Path(package.__file__).parent.rglob("*.duckdb_extension"))
        made.execute(f"LOAD '{extension}'")
    made.execute("SET TimeZone = 'UTC'")
    for statement in views(folder):
        made.execute(statement)
    return made


def add_newest(made: duckdb.DuckDBPyConnection, folder: Folder, database: Database, patterns: list[str]) -> None:
    """Widens the views of logs by the rows of ledgers behind the lake's last one, from one database snapshot."""
    catalog = FolderCatalog(folder.location, folder.files)
    with database.snapshot() as snapshot:
        networks = snapshot.networks()
        for relation in (r for r in chosen(snapshot.relations(), patterns) if r.is_log and catalog.table_exists((r.schema, r.name))):
            table = LakeTable(catalog, relation, folder.width)
            rows = [batch for n in networks if n.ledger is not None for batch in snapshot.batches(
                relation, relation.select_range(n.deployment, (table.through(n.deployment) or 0) + 1, n.ledger))]
            newest = f"newest_{relation.schema}_{relation.name}"
            made.register(newest, pa.Table.from_batches(rows, relation.arrow()))
            made.execute(f'CREATE OR REPLACE VIEW {relation.schema}."{relation.name}" AS '
                         f'SELECT * FROM {source(folder, relation.schema, relation.name)} UNION ALL BY NAME SELECT * FROM {newest}')


def query(folder: Folder, statement: str | None, database: Database | None, patterns: list[str]) -> None:
    made = connection(folder)
    if database is not None:
        add_newest(made, folder, database, patterns)
    try:
        answer = made.sql(statement or sys.stdin.read())
        if answer is not None:  # COPY and others have none
            answer.show(max_width=200, max_rows=200)
    except duckdb.Error as error:
        raise LakeError(f"DuckDB: {error}") from error


def chart(folder: Folder, out: str, only: int | None) -> None:
    """An SVG or PNG, by the name's end. No line is drawn over an hour without a swap. only: the deployment; the newest if None."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    if ("analyst", "swaps") not in tables(folder):
        raise LakeError(f"the lake has no table analyst.swaps: no range of {folder.width} ledgers is closed yet, or --tables left it out")
    made = connection(folder)
    deployment = only if only is not None else made.execute(NEWEST).fetchone()[0]
    lines: dict[str, tuple[list, list]] = {}
    for token, minute, swaps in made.execute(TRADES, [deployment]).fetchall():
        times, counts = lines.setdefault(str(token), ([], []))
        if times and minute - times[-1] > LONGEST_LINE:
            times.append(times[-1])
            counts.append(math.nan)
        times.append(minute)
        counts.append(swaps)
    if not lines:
        raise LakeError("the lake has no swaps" + (f" of deployment {deployment}" if deployment is not None else ""))
    figure, axes = plt.subplots(figsize=(10, 5))
    for token, (times, counts) in lines.items():
        axes.plot(times, counts, label=f"{token} sold")
    axes.set(title=f"Swaps a minute, deployment {deployment}", ylabel="swaps")
    axes.legend()
    figure.autofmt_xdate()
    figure.savefig(out)
