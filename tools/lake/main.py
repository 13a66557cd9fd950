"""Maintains an open lake of the database: Apache Iceberg tables, or plain Parquet files, that other engines read.

  lake update --lake FOLDER     adds the closed ranges of ledgers that the lake lacks; replaces the present state
  lake check  --lake FOLDER     compares the lake with the database by digest; --repair writes what differs again
  lake ranges --lake FOLDER     prints what each table holds, with hashes and digests, as JSON lines
  lake views  --lake FOLDER     prints SQL that gives DuckDB the tables as analyst.swaps, …
  lake query  --lake FOLDER SQL asks DuckDB, with these views
  lake chart  --lake FOLDER F   draws swaps by minute into the file F (.svg, .png)

FOLDER is a local folder or s3://bucket/prefix. The manual is tools/lake/README.md.
Exit codes: 0 done; 1 the lake differs from the database; 64 wrong usage; 65 cannot go on, the message says why.
"""
import argparse
import json
import os
import signal
import sys

from check import check
from database import Database, DatabaseError, LakeError
from folder_catalog import FolderCatalog
from lake_folder import Folder, made, opened
from pyiceberg.exceptions import CommitFailedException
from plain import update_plain
from tables import summary
from update import update
from views import tables, views


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="lake", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=("update", "check", "ranges", "views", "query", "chart"))
    parser.add_argument("text", nargs="?", help="query: the statement (default: standard input); chart: the file to write")
    parser.add_argument("--lake", metavar="FOLDER", required=True)
    parser.add_argument("--database-url", metavar="URL", default=os.environ.get("TIDEMARK_DATABASE_URL"), help="libpq's form (default: $TIDEMARK_DATABASE_URL)")
    parser.add_argument("--role", help="SET ROLE to it in each transaction; the role may not be able to read jurisdictions")
    parser.add_argument("--tables", metavar="PATTERN", nargs="+", default=[], help="only these, for example 'analyst.*' event.liquidity_pool_swap")
    parser.add_argument("--range", metavar="LEDGERS", type=int, help="ledgers of a range, chosen when the lake is made (default: 10000)")
    parser.add_argument("--from", metavar="LEDGER", dest="begin", type=int, help="first ledger, for an index that does not begin with the protocol's first one")
    parser.add_argument("--deployment", metavar="N", type=int, help="update: add ranges of this deployment only (default: of all); chart: draw it (default: the one with swaps that was added last)")
    parser.add_argument("--parquet", action="store_true", help="plain Parquet files instead of Iceberg tables")
    parser.add_argument("--repair", action="store_true", help="check: write ranges that differ again")
    parser.add_argument("--newest", action="store_true", help="query: with the database's ledgers behind the lake's last one")
    parser.add_argument("--property", metavar="KEY=VALUE", action="append", default=[], help="of pyiceberg's FileIO, for example s3.endpoint=http://…")
    parser.add_argument("--quiet", action="store_true")
    given = parser.parse_intermixed_args()
    if given.range is not None and given.range < 1:
        parser.error("--range is at least 1")
    if any("=" not in item for item in given.property):
        parser.error("--property is KEY=VALUE")
    if (given.command in ("update", "check") or given.newest) and not given.database_url:
        parser.error("--database-url is missing")
    if given.command == "chart" and not given.text:
        parser.error("chart needs the name of a file")
    return given


def ranges(folder: Folder) -> None:
    catalog = FolderCatalog(folder.location, folder.files)
    for schema, name in tables(folder):
        for snapshot in catalog.load_table((schema, name)).metadata.snapshots:
            said = {key.removeprefix("tidemark."): value for key, value in summary(snapshot).items() if key.startswith("tidemark.")}
            print(json.dumps({"table": f"{schema}.{name}", "snapshot": snapshot.snapshot_id, **said}))


def read(given: argparse.Namespace, folder: Folder) -> None:
    """The commands that need no database."""
    if given.command == "views":
        print("\n".join(views(folder)))
    elif given.command == "ranges":
        ranges(folder)
    else:
        import ask  # DuckDB and matplotlib are not needed to write a lake

        if given.command == "chart":
            ask.chart(folder, given.text, given.deployment)
        else:
            database = Database(given.database_url, given.role) if given.newest else None
            ask.query(folder, given.text, database, given.tables)


def run(given: argparse.Namespace) -> int:
    properties = dict(item.split("=", 1) for item in given.property)

    def say(text: str) -> None:
        if not given.quiet:
            print(text, flush=True)

    if given.command in ("ranges", "views", "query", "chart"):
        read(given, opened(given.lake, properties))
        return 0
    database = Database(given.database_url, given.role)
    if given.command == "update":
        folder = made(given.lake, properties, "parquet" if given.parquet else "iceberg", given.range)
        (update_plain if given.parquet else update)(database, folder, given.tables, given.begin, given.deployment, say)
        return 0
    folder = opened(given.lake, properties)
    if folder.form != "iceberg":
        raise LakeError("check reads Iceberg tables; plain files are never changed, and their footers name their digests")
    result = check(database, folder, given.tables, given.repair, print)
    print(f"{result.ranges} ranges, {result.rows} rows: {result.faults} differ, {result.repaired} repaired, {result.lake_alone} in the lake alone")
    return 1 if result.faults else 0


def main() -> None:
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # `lake ranges | head` ends quietly
    try:
        sys.exit(run(arguments()))
    except (LakeError, TypeError, CommitFailedException) as error:
        print(f"lake: {error}", file=sys.stderr)
        sys.exit(65)
    except DatabaseError as error:
        print(f"lake: the database: {error}", file=sys.stderr)
        sys.exit(65)


if __name__ == "__main__":
    main()
