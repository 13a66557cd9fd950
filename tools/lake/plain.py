"""`lake update --parquet`: plain Parquet files without Iceberg, for tools that read nothing else.

  SCHEMA/NAME/DEPLOYMENT-FIRST-LAST.parquet   a closed range of ledgers, numbers with leading zeros
  SCHEMA/NAME.parquet                         the present state

A file appears whole or not at all, and is never changed; one that exists is not written again. Those of the present state are replaced.
The footer's metadata says what a snapshot's summary says in an Iceberg table.
"""
import re
from collections.abc import Callable, Iterable

import pyarrow as pa
import pyarrow.parquet as pq

from database import Database, Relation, Snapshot
from digest import Digest
from files import LakeFiles
from lake_folder import Folder
from ranges import closed, closed_end, first_ledger, say_unclosed
from update import as_of, chosen

NAME = re.compile(r"/(\d+)-(\d+)-(\d+)\.parquet$")


def update_plain(database: Database, folder: Folder, patterns: list[str], begin: int | None, only: int | None, say: Callable[[str], None]) -> None:
    database.lock(folder.location)
    with database.snapshot() as snapshot:
        relations = chosen(snapshot.relations(), patterns)
        networks = [n for n in snapshot.networks() if only in (None, n.deployment)]
        say_unclosed(snapshot, networks, begin, folder.width, say)
    for network in networks:
        for relation in (r for r in relations if r.is_log):
            add_ranges(database, folder, relation, network.deployment, begin, say)
    with database.snapshot() as snapshot:
        about = as_of(snapshot)
        for relation in (r for r in relations if not r.is_log):
            rows = write(folder.files, f"{folder.location}/{relation.schema}/{relation.name}.parquet", relation, snapshot.batches(relation, relation.select()), about)
            say(f"{relation.title}: as of {about['tidemark.ledgers']}, {rows} rows")


def through(folder: Folder, relation: Relation, deployment: int) -> int | None:
    found = [NAME.search(name) for name in folder.files.below(f"{folder.location}/{relation.schema}/{relation.name}")]
    return max((int(m[3]) for m in found if m and int(m[1]) == deployment), default=None)


def add_ranges(database: Database, folder: Folder, relation: Relation, deployment: int, begin: int | None, say: Callable[[str], None]) -> None:
    while True:
        with database.snapshot() as snapshot:
            if not add_range(snapshot, folder, relation, deployment, begin, say):
                return


def add_range(snapshot: Snapshot, folder: Folder, relation: Relation, deployment: int, begin: int | None, say: Callable[[str], None]) -> bool:
    network = next(n for n in snapshot.networks() if n.deployment == deployment)
    if network.ledger is None:
        return False
    done = through(folder, relation, deployment)
    first = first_ledger(snapshot, network, begin) if done is None else done + 1
    last = (first // folder.width + 1) * folder.width - 1
    if closed_end(first, network.ledger, folder.width) is None:
        return False
    about = closed(snapshot, deployment, first, last).summary()
    path = f"{folder.location}/{relation.schema}/{relation.name}/{deployment}-{first:010}-{last:010}.parquet"
    rows = write(folder.files, path, relation, snapshot.batches(relation, relation.select_range(deployment, first, last)), about)
    say(f"{relation.title}: ledgers {first} to {last}, {rows} rows")
    return True


def write(files: LakeFiles, path: str, relation: Relation, batches: Iterable[pa.RecordBatch], about: dict[str, str]) -> int:
    """Through memory: a file is one range of one table."""
    digest, sink = Digest(), pa.BufferOutputStream()
    with pq.ParquetWriter(sink, relation.arrow(), compression="zstd") as writer:
        for batch in batches:
            digest.add(batch)
            writer.write_batch(batch)
        writer.add_key_value_metadata({**about, "tidemark.rows": str(digest.rows), "tidemark.digest": digest.hex()})
    files.replace(path, sink.getvalue().to_pybytes())
    return digest.rows
