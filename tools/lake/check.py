"""`lake check`: the rows of the lake, what its snapshots say of them, and the database's rows, compared by digest."""
import json
from collections.abc import Callable
from dataclasses import dataclass

from database import Database, LakeError, Snapshot
from digest import Digest
from folder_catalog import FolderCatalog
from lake_folder import Folder
from tables import LakeTable, Record, summary
from update import chosen, repair

Say = Callable[[str], None]


@dataclass
class Result:
    ranges: int = 0
    rows: int = 0
    lake_alone: int = 0
    faults: int = 0
    repaired: int = 0


def check(database: Database, folder: Folder, patterns: list[str], mend: bool, say: Say) -> Result:
    if mend:
        database.lock(folder.location)
    catalog, result = FolderCatalog(folder.location, folder.files), Result()
    with database.snapshot() as snapshot:
        relations = [r for r in chosen(snapshot.relations(), patterns) if catalog.table_exists((r.schema, r.name))]
    if not relations:
        raise LakeError(f"{folder.location} has none of these tables")
    for relation in relations:
        table = LakeTable(catalog, relation, folder.width, writes=mend)
        if relation.is_log:
            check_log(database, table, mend, result, say)
        else:
            check_state(database, table, result, say)
    return result


def fault(result: Result, say: Say, text: str) -> None:
    result.faults += 1
    say(f"DIFFERS {text}")


def check_log(database: Database, table: LakeTable, mend: bool, result: Result, say: Say) -> None:
    records = table.records()
    for record in records:
        check_range(database, table, record, mend, result, say)
    for deployment in {r.range.deployment for r in records}:
        own = [r.range for r in records if r.range.deployment == deployment]
        if any(a.last + 1 != b.first for a, b in zip(own, own[1:])) or own[-1].last != table.through(deployment):
            fault(result, say, f"{table.relation.title}: its ranges do not follow each other: {[(r.first, r.last) for r in own]}")
    if table.row_count() != sum(record.rows for record in table.records()):
        fault(result, say, f"{table.relation.title}: its files have {table.row_count()} rows, its ranges {sum(r.rows for r in table.records())}")


def check_range(database: Database, table: LakeTable, record: Record, mend: bool, result: Result, say: Say) -> None:
    range_ = record.range
    name = f"{table.relation.title}: ledgers {range_.first} to {range_.last} of deployment {range_.deployment}"
    result.ranges += 1
    stored = table.digest(range_)
    result.rows += stored.rows
    with database.snapshot() as snapshot:
        hashes = tuple(snapshot.ledger_hash(range_.deployment, ledger) for ledger in (range_.first, range_.last))
        archived = snapshot.archived(range_.deployment, range_.first, range_.last)
        truth = None if archived else database_digest(snapshot, table, range_)
    differs = stored.hex() != record.digest or stored.rows != record.rows
    if hashes != (range_.first_hash, range_.last_hash):
        fault(result, say, f"{name}: the database has ledgers with other hashes")
    elif differs and truth is None:
        fault(result, say, f"{name}: the rows are not those that were written, and the database has them archived")
    elif truth is None and not record.held and record.written_ms > archived[2]:
        fault(result, say, f"{name}: its {record.rows} rows were read while the database detached ledgers {archived[0]} to {archived[1]}, and some or all may be "
              "missing; attach these (migrations/README.md), then --repair writes them")
    elif truth is None:
        result.lake_alone += 1
    elif differs or truth.hex() != stored.hex():
        if mend:
            repair(database, table, range_.deployment, range_.first, range_.last, say)
            result.repaired += 1
        else:
            fault(result, say, f"{name}: {stored.rows} rows in the lake, {record.rows} when written, {truth.rows} in the database; --repair writes it again")


def database_digest(snapshot: Snapshot, table: LakeTable, range_) -> Digest:
    digest = Digest()
    for batch in snapshot.batches(table.relation, table.relation.select_range(range_.deployment, range_.first, range_.last)):
        digest.add(batch)
    return digest


def check_state(database: Database, table: LakeTable, result: Result, say: Say) -> None:
    newest = table.table.current_snapshot()
    if newest is None:
        return
    said, stored = summary(newest), table.digest()
    result.rows += stored.rows
    if stored.hex() != said["tidemark.digest"]:
        fault(result, say, f"{table.relation.title}: the rows are not those that were written")
        return
    with database.snapshot() as snapshot:
        now = {str(n.deployment): n.ledger for n in snapshot.networks() if n.ledger is not None}
        if now != json.loads(said["tidemark.ledgers"]):
            return  # the database has moved on
        truth = Digest()
        for batch in snapshot.batches(table.relation, table.relation.select()):
            truth.add(batch)
    if truth.hex() != stored.hex():
        fault(result, say, f"{table.relation.title}: {stored.rows} rows in the lake, {truth.rows} in the database, as of the same ledger")
