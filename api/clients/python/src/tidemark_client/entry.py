"""Proofs of entries: what a contract's storage held at a checkpoint, checked against validators that you name and the network's own buckets.

Verifying needs the package `cryptography`: ``pip install 'tidemark-client[receipts]'``.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from .proof import PROOF_BYTES, ProofError, _malformed, _open, _Quorum, _signed_ledgers, _strkey, _unproven, _Xdr

KEY_BYTES = 4096
RECORD_BYTES = 8 << 20
LIST = 22  # buckets of a list: curr and snap of 11 levels
PIECE = 1 << 20
CONTRACT_DATA = 6
META = 0xFFFFFFFF

_Found = tuple[bool, bytes | None, int]  # whether the key is there, its value (None: removed, or restored), and the ledger that wrote it
Buckets = str | os.PathLike[str] | Callable[[str], bytes | Iterable[bytes] | None]


@dataclass(frozen=True)
class ProvenEntry:
    """What a proof of an entry proves: ``buckets``, the hashes of the state's buckets (hex; of each level curr and snap, the live list first).

    ``state`` is None if no buckets were given: the entry is not proven then. Otherwise it is ``live``, ``archived`` (evicted: a call restores it) or
    ``absent``, ``value`` is the SCVal in XDR, ``last_modified`` the ledger that wrote it, ``bucket`` the hash of the bucket that decided. ``said`` is
    what the server says: ``value`` (then ``said_value`` is that), ``absent`` or ``nothing``; it is proven only where buckets were given. Whether an
    entry's time to live has ended is another entry, and not told. ``contract`` is None if something else owns the entry. ``closed_at`` and ``closed_at_ms`` as in a proof of a transaction.
    """

    key_hash: str
    ledger: int
    ledger_hash: str
    closed_at: int
    closed_at_ms: int
    signed_ledger: int
    signers: list[str]
    contract: str | None
    key: bytes
    durability: str
    buckets: list[str]
    said: str
    said_value: bytes | None
    state: str | None
    value: bytes | None
    last_modified: int | None
    bucket: str | None


def _no_bucket(name: str, why: str) -> NoReturn:
    raise ProofError("no_bucket", f"bucket {name} {why}")


# --- the proof


@dataclass
class _Key:
    """The LedgerKey, and its fields: contract, key and durability, as an entry and a key of the ledger both have them."""

    xdr: bytes
    contract: str | None
    key: bytes
    durability: int


def _read_key(data: bytes) -> _Key:
    x = _Xdr(data)
    if x.u32() != CONTRACT_DATA:
        _malformed("it is the proof of no contract data")
    begin = x.at
    x.address()
    owner = data[begin : x.at]
    key = x.value()
    durability = x.arm(1)
    x.end()
    contract = _strkey(16, owner[4:]) if owner[:4] == b"\0\0\0\1" else None
    return _Key(data, contract, key, durability)


def _list_hash(hashes: list[bytes]) -> bytes:
    levels = (hashlib.sha256(hashes[i] + hashes[i + 1]).digest() for i in range(0, LIST, 2))
    return hashlib.sha256(b"".join(levels)).digest()


def _read_hashes(x: _Xdr, wanted: bytes) -> list[bytes]:
    count = x.count(32, 2 * LIST)
    if count not in (LIST, 2 * LIST):
        _malformed("it has another number of buckets")
    hashes = [x.take(32) for _ in range(count)]
    made = _list_hash(hashes[:LIST])
    if count > LIST:
        made = hashlib.sha256(made + _list_hash(hashes[LIST:])).digest()
    if made != wanted:
        _unproven("the buckets are not those of the first header")
    return hashes


def _read_said(x: _Xdr) -> tuple[str, bytes | None]:
    said = ("nothing", "absent", "value")[x.arm(2)]
    if said != "value":
        return said, None
    value = x.part(PROOF_BYTES)
    inner = _Xdr(value)
    inner.value()
    inner.end()
    return said, value


# --- the buckets


def _pieces_of(buckets: Buckets, name: str) -> Iterator[bytes]:
    """The bucket's bytes, unpacked."""
    if callable(buckets):
        given = buckets(name)
        if given is None:
            _no_bucket(name, "is missing")
        yield from ((given,) if isinstance(given, (bytes, bytearray)) else given)
        return
    path = os.path.join(buckets, "bucket", name[0:2], name[2:4], name[4:6], f"bucket-{name}.xdr.gz")
    try:
        with gzip.open(path) as file:
            while piece := file.read(PIECE):
                yield piece
    except (OSError, EOFError, zlib.error) as cause:
        raise ProofError("no_bucket", f"bucket {name}: {cause}") from cause


def _records(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """The XDR records of a stream. Memory: one record and one piece."""
    rest = bytearray()
    for piece in pieces:
        rest += piece
        at = 0
        while len(rest) - at >= 4:
            mark = int.from_bytes(rest[at : at + 4], "big")
            length = mark & 0x7FFFFFFF
            if mark < 1 << 31 or length > RECORD_BYTES:
                _malformed("a bucket is no stream of records")
            if len(rest) - at - 4 < length:
                break
            yield bytes(rest[at + 4 : at + 4 + length])
            at += 4 + length
        del rest[:at]
    if rest:
        _malformed("a bucket ends inside a record")


def _entry_value(record: bytes, key: _Key) -> tuple[bytes, int]:
    """The value of a LedgerEntry of the key, and the ledger that wrote it."""
    x = _Xdr(record)
    x.take(4)
    written = x.u32()
    x.take(8 + len(key.xdr) - 4)
    value = x.value()
    if x.arm(1):
        if x.flag():
            x.public_key()
        x.arm(0)
    x.end()
    return value, written


def _check_meta(record: bytes, live: bool, first: bool) -> None:
    """Metadata come first, and say the list; without a word that is the live one."""
    x = _Xdr(record)
    x.take(8)
    hot = x.arm(1) == 1 and x.arm(1) == 1
    x.end()
    if hot == live or not first:
        _malformed("a bucket is one of the other list")


def _read_record(record: bytes, key: _Key, live: bool, first: bool) -> _Found | None:
    """What a record of a bucket says of the key; None, if it is about another one."""
    arm = int.from_bytes(record[:4], "big")
    if arm == META:
        _check_meta(record, live, first)
        return None
    if arm == 1:
        return (True, None, 0) if record[4:] == key.xdr else None
    if arm != 0 and not (live and arm == 2):
        _malformed("a bucket has a record of an unknown kind")
    if record[8:16] != b"\0\0\0\6\0\0\0\0" or not record.startswith(key.xdr[4:], 16):
        return None
    return (True, *_entry_value(record, key))


def _find_in_bucket(buckets: Buckets, name: str, key: _Key, live: bool) -> _Found:
    """What the bucket says of the key. It is read to its end and hashed."""
    made = hashlib.sha256()

    def hashed(pieces: Iterable[bytes]) -> Iterator[bytes]:
        for piece in pieces:
            made.update(piece)
            yield piece

    found: _Found = (False, None, 0)
    refused: ProofError | None = None
    pieces = hashed(_pieces_of(buckets, name))
    try:
        for i, record in enumerate(_records(pieces)):
            one = _read_record(record, key, live, i == 0)
            if one and found[0]:
                _malformed("a bucket has the key twice")
            found = one or found
    except ProofError as error:
        if error.code != "malformed":
            raise
        refused = error  # unless it is another bucket: that is told first
        for _ in pieces:
            pass
    if made.hexdigest() != name:
        _no_bucket(name, "does not hash to its name")
    if refused:
        raise refused
    return found


def _search(buckets: Buckets, names: list[str], key: _Key, live: bool) -> tuple[str | None, bytes | None, int]:
    """The youngest bucket that has the key, and what it says."""
    for name in names:
        if name == "0" * 64:
            continue
        there, value, written = _find_in_bucket(buckets, name, key, live)
        if there:
            return name, value, written
    return None, None, 0


def _find(buckets: Buckets, names: list[str], key: _Key) -> tuple[str, bytes | None, int | None, str | None]:
    bucket, value, written = _search(buckets, names[:LIST], key, True)
    if value is not None:
        return "live", value, written, bucket
    archived, value, written = _search(buckets, names[LIST:], key, False)
    if value is not None:
        return "archived", value, written, archived
    return "absent", None, None, archived or bucket


def verify_entry_proof(
    answer: str | bytes | Mapping[str, Any], *, network: str, validators: Mapping[str, Any], buckets: Buckets | None = None
) -> ProvenEntry:
    """What an answer of ``/api/proof/entry/{key}`` or ``/api/proof/compliance/{address}`` proves.

    ``network`` is the passphrase, ``validators`` the quorum set that you believe: see verify_proof. ``buckets`` is the folder of a history archive, or
    a function that is given a bucket's hash (hex) and returns its unpacked bytes, or pieces of them; None: it has none. Each is read to its end and
    hashed, from the youngest to the first that has the key; memory does not grow with their size. Without ``buckets`` no entry is proven, only the
    list of hashes. Compare ``contract`` and ``key`` with what you asked for. Raises ProofError.
    """
    quorum = _Quorum(validators)
    x = _open(answer, b"TIDEPRE1", network)
    first, last, signers = _signed_ledgers(x, quorum, network)
    names = [one.hex() for one in _read_hashes(x, first.buckets)]
    key = _read_key(x.part(KEY_BYTES))
    said, told = _read_said(x)
    x.end()
    found: tuple[str | None, bytes | None, int | None, str | None] = (None, None, None, None)
    if buckets is not None:
        found = _find(buckets, names, key)
    state, value, written, bucket = found
    if state and said != "nothing" and (state == "absent") != (said == "absent"):
        _unproven("the buckets do not have what the proof says")
    if state and said == "value" and value != told:
        _unproven("the buckets have another value than the proof says")
    return ProvenEntry(
        hashlib.sha256(key.xdr).hexdigest(), first.sequence, first.hash.hex(), first.close_time, first.close_ms, last.sequence + 1, signers, key.contract, key.key,
        "persistent" if key.durability else "temporary", names, said, told, state, value, written, bucket,
    )
