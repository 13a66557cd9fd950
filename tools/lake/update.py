"""`lake update`: adds the closed ranges that the lake lacks, then replaces the tables of the present state."""
import json
from collections.abc import Callable
from fnmatch import fnmatchcase

from database import Database, LakeError, Relation, Snapshot
from folder_catalog import FolderCatalog
from lake_folder import Folder
from ranges import closed, closed_end, first_ledger, say_unclosed
from tables import LakeTable, Range

Say = Callable[[str], None]


def chosen(relations: list[Relation], patterns: list[str]) -> list[Relation]:
    """Returns the relations with a name that matches a pattern; all if there are no patterns."""
    unknown = [p for p in patterns if not any(fnmatchcase(r.title, p) for r in relations)]
    if unknown:
        raise LakeError(f"no view or event kind that this role may read fits {', '.join(unknown)}")
    return [r for r in relations if not patterns or any(fnmatchcase(r.title, p) for p in patterns)]


def update(database: Database, folder: Folder, patterns: list[str], begin: int | None, only: int | None, say: Say) -> None:
    """begin: where a deployment that the lake does not have yet begins. only: the deployment that gets ranges; all if None."""
    database.lock(folder.location)
    catalog = FolderCatalog(folder.location, folder.files)
    with database.snapshot() as snapshot:
        relations = chosen(snapshot.relations(), patterns)
        networks = [n for n in snapshot.networks() if only in (None, n.deployment)]
        say_unclosed(snapshot, networks, begin, folder.width, say)
    if not any(r.schema == "event" for r in relations) and not patterns:
        say("this role may not read the schema event: the lake gets the views of analyst only")
    logs = [LakeTable(catalog, r, folder.width, writes=True) for r in relations if r.is_log]
    for network in networks:
        while logs and network.ledger is not None and step(database, logs, network.deployment, begin, folder.width, say):
            pass
    states = [LakeTable(catalog, r, folder.width, writes=True) for r in relations if not r.is_log]
    with database.snapshot() as snapshot:
        about = as_of(snapshot)
        for table in states:
            replace_state(snapshot, table, about, say)


def step(database: Database, tables: list[LakeTable], deployment: int, begin: int | None, width: int, say: Say) -> bool:
    """Adds the next closed ranges to each table that lacks them, from one database snapshot. False if there are none."""
    with database.snapshot() as snapshot:
        network = next(n for n in snapshot.networks() if n.deployment == deployment)
        start = first_ledger(snapshot, network, begin)
        starts = {t.relation.title: start if t.through(deployment) is None else t.through(deployment) + 1 for t in tables}
        last = closed_end(min(starts.values()), network.ledger or 0, width)
        if last is None:
            return False
        ranges = {first: closed(snapshot, deployment, first, last) for first in set(starts.values()) if first <= last}
        for table in tables:
            range_ = ranges.get(starts[table.relation.title])
            if range_:
                append(snapshot, table, range_, say)
    return True


def append(snapshot: Snapshot, table: LakeTable, range_: Range, say: Say) -> None:
    digest = table.append(range_, snapshot.batches(table.relation, table.relation.select_range(range_.deployment, range_.first, range_.last)))
    say(f"{table.relation.title}: ledgers {range_.first} to {range_.last}, {digest.rows} rows")


def as_of(snapshot: Snapshot) -> dict[str, str]:
    ledgers = {str(n.deployment): n.ledger for n in snapshot.networks() if n.ledger is not None}
    return {"tidemark.ledgers": json.dumps(ledgers),
            "tidemark.hashes": json.dumps({d: snapshot.ledger_hash(int(d), ledger) for d, ledger in ledgers.items()})}


def replace_state(snapshot: Snapshot, table: LakeTable, about: dict[str, str], say: Say) -> None:
    newest = table.table.current_snapshot()
    if newest and all(newest.summary.additional_properties.get(key) == value for key, value in about.items()):
        return
    digest = table.replace(snapshot.batches(table.relation, table.relation.select()), about)
    say(f"{table.relation.title}: as of {about['tidemark.ledgers']}, {digest.rows} rows")


def repair(database: Database, table: LakeTable, deployment: int, first: int, last: int, say: Say) -> None:
    """Replaces a range that differs from the database by the database's rows."""
    with database.snapshot() as snapshot:
        range_ = closed(snapshot, deployment, first, last)
        digest = table.replace(snapshot.batches(table.relation, table.relation.select_range(deployment, first, last)), range_.summary(), range_)
    say(f"{table.relation.title}: ledgers {first} to {last} replaced, {digest.rows} rows")
