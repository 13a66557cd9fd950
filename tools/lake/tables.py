"""Tables of the lake: creating them, adding a range of ledgers, replacing a range or all rows, each in one commit.

A commit's snapshot summary says what it holds:
  tidemark.deployment, .first-ledger, .last-ledger   the range (tables of logs)
  tidemark.first-hash, .last-hash                    the hashes of these ledgers
  tidemark.ledgers, .hashes                          as JSON by deployment: as of which ledger the rows are (present state)
  tidemark.rows, .digest                             the number of rows, and their digest (digest.py)
  tidemark.write                                     this attempt's id; its files' names contain it
  tidemark.held                                      no partition could be detached while the rows were read; writers of before have it not
The table's property tidemark.through.DEPLOYMENT is the last ledger; it changes in the same commit.
"""
import datetime
import json
import uuid
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc
from pyiceberg.expressions import AlwaysTrue, And, BooleanExpression, EqualTo, GreaterThanOrEqual, LessThanOrEqual
from pyiceberg.io.pyarrow import write_file
from pyiceberg.manifest import DataFile
from pyiceberg.partitioning import PartitionField, PartitionFieldValue, PartitionKey, PartitionSpec
from pyiceberg.table import Table, WriteTask
from pyiceberg.transforms import DayTransform, IdentityTransform, TruncateTransform

from database import LakeError, Relation
from digest import Digest
from files import LakeFiles, as_json
from folder_catalog import FolderCatalog

FILE_BYTES = 64 << 20  # of Arrow memory; a Parquet file of it is a fifth or less
EPOCH = datetime.date(1970, 1, 1)


@dataclass(frozen=True)
class Range:
    """Ledgers of a deployment, both ends included, with their hashes."""
    deployment: int
    first: int
    last: int
    first_hash: str
    last_hash: str

    def summary(self) -> dict[str, str]:
        return {"tidemark.deployment": str(self.deployment), "tidemark.first-ledger": str(self.first), "tidemark.last-ledger": str(self.last),
                "tidemark.first-hash": self.first_hash, "tidemark.last-hash": self.last_hash}

    def rows(self) -> BooleanExpression:
        return And(EqualTo("deployment", self.deployment), GreaterThanOrEqual("ledger", self.first), LessThanOrEqual("ledger", self.last))


@dataclass(frozen=True)
class Record:
    """A range that the table holds, as a snapshot's summary records it."""
    range: Range
    rows: int
    digest: str
    held: bool  # no partition could be detached while it was read
    written_ms: int  # since 1970, by the writer's clock


def partitioning(relation: Relation, width: int) -> PartitionSpec:
    if not relation.is_log:
        return PartitionSpec()
    ids = {field.name: field.field_id for field in relation.iceberg().fields}
    return PartitionSpec(PartitionField(ids["deployment"], 1000, IdentityTransform(), "deployment"),
                         PartitionField(ids["ledger"], 1001, TruncateTransform(width), "ledger_range"),
                         PartitionField(ids["closed_at"], 1002, DayTransform(), "day"))


class FileWriter:
    """Writes batches as data files, each of one partition and about FILE_BYTES of memory."""

    def __init__(self, table: Table, width: int) -> None:
        self.table, self.width = table, width
        self.id = uuid.uuid4()
        self.files: list[DataFile] = []
        self.held: dict[tuple, list[pa.RecordBatch]] = {}
        self.bytes = 0

    def add(self, batch: pa.RecordBatch) -> None:
        for key, part in self.parts(batch):
            self.held.setdefault(key, []).append(part)
            self.bytes += part.nbytes
        if self.bytes >= FILE_BYTES:
            self.finish()

    def parts(self, batch: pa.RecordBatch) -> Iterator[tuple[tuple, pa.RecordBatch]]:
        if self.table.spec().is_unpartitioned():
            yield (), batch
            return
        ledgers = batch["ledger"].cast(pa.int64())
        begin = pc.multiply(pc.divide(ledgers, self.width), self.width)
        day = batch["closed_at"].cast(pa.timestamp("us", "UTC")).cast(pa.date32()).cast(pa.int32())
        keys = pa.table({"d": batch["deployment"], "l": begin, "day": day})
        for key in keys.group_by(["d", "l", "day"]).aggregate([]).to_pylist():
            of_key = pc.and_(pc.and_(pc.equal(keys["d"], key["d"]), pc.equal(keys["l"], key["l"])), pc.equal(keys["day"], key["day"]))
            yield (key["d"], key["l"], key["day"]), batch.filter(of_key.combine_chunks())

    def partition(self, key: tuple) -> PartitionKey | None:
        spec = self.table.spec()
        values = [PartitionFieldValue(field, value) for field, value in zip(spec.fields, key)]
        return PartitionKey(values, spec, self.table.schema()) if values else None

    def finish(self) -> list[DataFile]:
        """Writes what is held; the data files so far."""
        for key, batches in sorted(self.held.items()):
            task = WriteTask(self.id, len(self.files), self.table.schema(), batches, partition_key=self.partition(key))
            self.files.extend(write_file(self.table.io, self.table.metadata, iter([task])))
        self.held, self.bytes = {}, 0
        return self.files


class LakeTable:
    """A table of the lake. Only the holder of the lake's lock (`Database.lock`) may write."""

    def __init__(self, catalog: FolderCatalog, relation: Relation, width: int, writes: bool = False) -> None:
        """A writer creates the table if it is missing, and removes what a killed process left in it."""
        self.relation, self.width, self.files, self.writes = relation, width, catalog.files, writes
        name = (relation.schema, relation.name)
        self.marker = f"{catalog.folder(name)}/metadata/writing.json"
        if not writes or catalog.table_exists(name):
            self.table = catalog.load_table(name)
            self.check_columns()
        if writes and catalog.table_exists(name):
            catalog.mend_hint(name)
            self.clean_up()
        elif writes:
            self.table = catalog.create_table(name, relation.iceberg(), partition_spec=partitioning(relation, width),
                                              properties={"tidemark.range-ledgers": str(width)} if relation.is_log else {})

    def check_columns(self) -> None:
        have = [(f.name, str(f.field_type)) for f in self.table.schema().fields]
        want = [(f.name, str(f.field_type)) for f in self.relation.iceberg().fields]
        if [(n, t) for n, t in have] != [(n, t) for n, t in want]:
            other = ", ".join(sorted({n for n, _ in set(have) ^ set(want)})) or "their order"
            raise LakeError(f"{self.relation.title} has other columns in the lake than in the database ({other}): remove {self.table.location()} to write it anew")

    def clean_up(self) -> None:
        for location in self.files.unfinished(f"{self.table.location()}/metadata"):
            self.files.delete(location)
        if not self.files.exists(self.marker):
            return
        write = json.loads(self.files.read(self.marker))["write"]
        if not any(summary(s).get("tidemark.write") == write for s in self.table.metadata.snapshots):
            for location in self.files.below(f"{self.table.location()}/data"):
                if write in location:
                    self.files.delete(location)
        self.files.delete(self.marker)

    def through(self, deployment: int) -> int | None:
        """The last ledger that the table holds of a deployment."""
        found = self.table.properties.get(f"tidemark.through.{deployment}")
        return None if found is None else int(found)

    def records(self, deployment: int | None = None) -> list[Record]:
        """The ranges of the table, in order of ledgers; a replaced range counts as replaced."""
        newest: dict[tuple[int, int], Record] = {}
        for snapshot in sorted(self.table.metadata.snapshots, key=lambda s: s.sequence_number or 0):
            said = summary(snapshot)
            if "tidemark.first-ledger" in said:
                range_ = Range(int(said["tidemark.deployment"]), int(said["tidemark.first-ledger"]), int(said["tidemark.last-ledger"]),
                               said["tidemark.first-hash"], said["tidemark.last-hash"])
                newest[(range_.deployment, range_.first)] = Record(range_, int(said["tidemark.rows"]), said["tidemark.digest"],
                                                                       "tidemark.held" in said, snapshot.timestamp_ms)
        return [newest[key] for key in sorted(newest) if deployment in (None, key[0])]

    def write(self, batches: Iterable[pa.RecordBatch]) -> tuple[FileWriter, Digest]:
        assert self.writes, "a reader's table"
        writer, digest = FileWriter(self.table, self.width), Digest()
        self.files.replace(self.marker, as_json({"write": str(writer.id)}))
        for batch in batches:
            digest.add(batch)
            writer.add(batch)
        writer.finish()
        return writer, digest

    def append(self, range_: Range, batches: Iterable[pa.RecordBatch]) -> Digest:
        """Adds the next range."""
        through = self.through(range_.deployment)
        assert through is None or through + 1 == range_.first, f"{self.relation.title} ends with {through}, not before {range_.first}"
        writer, digest = self.write(batches)
        with self.table.transaction() as transaction:
            transaction.set_properties({f"tidemark.through.{range_.deployment}": str(range_.last)})
            with transaction.update_snapshot(snapshot_properties=said_by(range_.summary(), writer, digest)).merge_append() as snapshot:
                for file in writer.files:
                    snapshot.append_data_file(file)
        self.files.delete(self.marker)
        return digest

    def replace(self, batches: Iterable[pa.RecordBatch], about: dict[str, str], range_: Range | None = None) -> Digest:
        """Replaces all rows, or those of a range that was appended before, in one snapshot."""
        where = range_.rows() if range_ else AlwaysTrue()
        old = [task.file for task in self.table.scan(row_filter=where).plan_files()]
        writer, digest = self.write(batches)
        with self.table.transaction() as transaction:
            with transaction.update_snapshot(snapshot_properties=said_by(about, writer, digest)).overwrite() as snapshot:
                snapshot.delete_by_predicate(where)
                for file in old:
                    snapshot.delete_data_file(file)
                for file in writer.files:
                    snapshot.append_data_file(file)
        self.files.delete(self.marker)
        return digest

    def digest(self, range_: Range | None = None) -> Digest:
        """Of the rows as a reader sees them."""
        digest, schema = Digest(), self.relation.arrow()
        for batch in self.table.scan(row_filter=range_.rows() if range_ else AlwaysTrue()).to_arrow_batch_reader():
            digest.add(pa.RecordBatch.from_arrays([column.cast(field.type) for column, field in zip(batch.columns, schema)], schema=schema))
        return digest

    def row_count(self) -> int:
        return sum(task.file.record_count for task in self.table.scan().plan_files())


def summary(snapshot) -> dict[str, str]:
    return snapshot.summary.additional_properties if snapshot.summary else {}


def said_by(about: dict[str, str], writer: FileWriter, digest: Digest) -> dict[str, str]:
    return {**about, "tidemark.rows": str(digest.rows), "tidemark.digest": digest.hex(), "tidemark.write": str(writer.id), "tidemark.held": "true"}
