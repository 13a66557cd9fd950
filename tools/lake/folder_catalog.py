"""Iceberg tables in a folder, without a catalogue service: FOLDER/NAMESPACE/TABLE/{metadata,data}.

The newest metadata of a table is `metadata/vN.metadata.json`, and `metadata/version-hint.text` says N: the layout of Iceberg's
own Hadoop tables. So DuckDB, Spark and others read a table by its folder. A commit creates vN+1, which
fails if the file exists, and then moves the hint. If a process ends between the two, the table is at N+1 for
writers and for readers that look beyond the hint (Spark does), and at N for the others until the next run. Both are whole.
"""
import re
import warnings

from pyiceberg.catalog import Catalog
from pyiceberg.catalog.noop import NoopCatalog
from pyiceberg.exceptions import CommitFailedException, NoSuchTableError
from pyiceberg.partitioning import UNPARTITIONED_PARTITION_SPEC, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.serializers import FromInputFile
from pyiceberg.table import CommitTableResponse, Table
from pyiceberg.table.metadata import TableMetadata, new_table_metadata
from pyiceberg.table.sorting import UNSORTED_SORT_ORDER
from pyiceberg.table.update import TableRequirement, TableUpdate, update_table_metadata
from pyiceberg.typedef import Identifier

from files import LakeFiles

VERSION = re.compile(r"/v(\d+)\.metadata\.json$")

# A commit that failed is never repeated by the library: the caller looks at the table again first, or rows would double.
PROPERTIES = {"commit.retry.num-retries": "0",
              "commit.manifest-merge.enabled": "true",
              "write.metadata.delete-after-commit.enabled": "true",
              "write.metadata.previous-versions-max": "20",
              "write.parquet.compression-codec": "zstd"}


class FolderCatalog(NoopCatalog):
    def __init__(self, location: str, files: LakeFiles) -> None:
        super().__init__("lake")
        self.location = location
        self.files = files

    def folder(self, identifier: str | Identifier) -> str:
        return "/".join((self.location, *Catalog.identifier_to_tuple(identifier)))

    def _path(self, identifier: str | Identifier, version: int) -> str:
        return f"{self.folder(identifier)}/metadata/v{version}.metadata.json"

    def _hint(self, identifier: str | Identifier) -> str:
        return f"{self.folder(identifier)}/metadata/version-hint.text"

    def version(self, identifier: str | Identifier) -> int:
        """0 if there is no table."""
        try:
            newest = int(self.files.read(self._hint(identifier)))
        except (FileNotFoundError, ValueError):
            found = [VERSION.search(name) for name in self.files.below(f"{self.folder(identifier)}/metadata")]
            newest = max((int(match[1]) for match in found if match), default=0)
        while self.files.exists(self._path(identifier, newest + 1)):
            newest += 1
        return newest

    def load_table(self, identifier: str | Identifier) -> Table:
        version = self.version(identifier)
        if not version:
            raise NoSuchTableError(f"no table in {self.folder(identifier)}")
        path = self._path(identifier, version)
        return Table(Catalog.identifier_to_tuple(identifier), FromInputFile.table_metadata(self.files.new_input(path)), path, self.files, self)

    def table_exists(self, identifier: str | Identifier) -> bool:
        return self.version(identifier) > 0

    def create_table(self, identifier: str | Identifier, schema: Schema, location: str | None = None,
                     partition_spec: PartitionSpec = UNPARTITIONED_PARTITION_SPEC, sort_order=UNSORTED_SORT_ORDER,
                     properties: dict[str, str] | None = None) -> Table:
        metadata = new_table_metadata(schema, partition_spec, sort_order, location or self.folder(identifier), {**PROPERTIES, **(properties or {})})
        self._publish(identifier, 1, metadata)
        return self.load_table(identifier)

    def commit_table(self, table: Table, requirements: tuple[TableRequirement, ...], updates: tuple[TableUpdate, ...]) -> CommitTableResponse:
        current = self.load_table(table.name())
        for requirement in requirements:
            requirement.validate(current.metadata)
        metadata = update_table_metadata(current.metadata, updates, metadata_location=current.metadata_location)
        path = self._publish(table.name(), int(VERSION.search(current.metadata_location)[1]) + 1, metadata)
        return CommitTableResponse(metadata=metadata, metadata_location=path)

    def _publish(self, identifier: str | Identifier, version: int, metadata: TableMetadata) -> str:
        path = self._path(identifier, version)
        self.files.settle()
        try:
            self.files.create(path, metadata.model_dump_json().encode())
        except FileExistsError as error:
            raise CommitFailedException(f"{path} was written by another process") from error
        self.files.replace(self._hint(identifier), str(version).encode())
        return path

    def mend_hint(self, identifier: str | Identifier) -> None:
        """After a process ended between metadata and hint."""
        version = str(self.version(identifier)).encode()
        if not self.files.exists(self._hint(identifier)) or self.files.read(self._hint(identifier)) != version:
            self.files.replace(self._hint(identifier), version)


warnings.filterwarnings("ignore", message="Delete operation did not match any records")
