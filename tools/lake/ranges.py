"""Which ledgers are a closed range: indexed to their last one, none missing, none archived."""
from collections.abc import Callable

from database import LakeError, Network, Snapshot
from tables import Range

# A snapshot of a table holds so many ranges at most: few snapshots for a long history. It crosses no multiple of their
# length: a partition of the database is whole multiples, so a snapshot is archived as a whole or not at all.
RANGES_A_STEP = 10


def first_ledger(snapshot: Snapshot, network: Network, begin: int | None) -> int:
    """Where a lake of this deployment begins: --from, or the protocol's first ledger."""
    stored = snapshot.first_stored(network.deployment)
    if stored is None:
        raise LakeError(f"deployment {network.deployment} has no ledgers yet")
    if begin is None and 0 < network.first_ledger < stored:
        raise LakeError(f"ledgers {network.first_ledger} to {stored - 1} of deployment {network.deployment} are not indexed: index them "
                        f"(tidemark-indexer backfill), or begin with --from {stored}")
    return begin if begin is not None else max(stored, network.first_ledger)


def closed_end(first: int, newest: int, width: int) -> int | None:
    """The end of the closed ranges from `first` on, as far as a snapshot goes; None if not one is closed."""
    limit = (first // (width * RANGES_A_STEP) + 1) * width * RANGES_A_STEP
    end = min(limit, (newest + 1) // width * width) - 1
    return end if end >= first else None


def say_unclosed(snapshot: Snapshot, networks: list[Network], begin: int | None, width: int, say: Callable[[str], None]) -> None:
    """Names the deployments without a closed range: the lake has none of their logs, which is otherwise silent."""
    for network in (n for n in networks if n.ledger is not None):
        first = max(begin or 0, network.first_ledger, snapshot.first_stored(network.deployment) or 0)
        if closed_end(first, network.ledger, width) is None:
            say(f"deployment {network.deployment}: no range of {width} ledgers is closed yet, so its events and calls wait (the newest ledger is {network.ledger})")


def closed(snapshot: Snapshot, deployment: int, first: int, last: int) -> Range:
    """The range with its hashes; fails if the database does not hold all of it."""
    missing = last - first + 1 - snapshot.stored(deployment, first, last)
    if missing:
        raise LakeError(f"{missing} of the ledgers {first} to {last} of deployment {deployment} are not indexed: index them first (tidemark-indexer backfill)")
    archived = snapshot.archived(deployment, first, last)
    if archived:
        raise LakeError(f"ledgers {archived[0]} to {archived[1]} of deployment {deployment} are archived, and the lake needs {first} to {last}: "
                        "attach them (migrations/README.md), or begin behind them with --from")
    return Range(deployment, first, last, snapshot.ledger_hash(deployment, first), snapshot.ledger_hash(deployment, last))
