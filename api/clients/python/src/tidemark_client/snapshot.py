"""Compliance records inside your own process: "may this address trade now?" without a question over the network.

The format is documented byte by byte in api/clients/c/tidemark_snapshot.h. Verifying needs `cryptography`: ``pip install tidemark-client[receipts]``.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import struct
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from ._core import Caller, TidemarkError, request_of
from .receipt import _signed_by

if TYPE_CHECKING:
    from ._client import Client

#: ``yes`` is compliant now; with every other answer nothing may pass.
SnapshotAnswer = Literal["yes", "no", "stale", "incomplete", "mismatched", "bad_address"]

_RECORDS, _RECORD, _ADDRESS = 352, 48, 33
_MOST = 1 << 30  # bytes: twenty million addresses


class Snapshot:
    """A file that was read (bytes, or an ``mmap``): nothing of it is believed before it is verified. TidemarkError ``malformed``."""

    def __init__(self, data: Any) -> None:
        self._data = memoryview(data)
        size = len(self._data)
        if size < _RECORDS or bytes(self._data[:8]) != b"TIDESNP1" or struct.unpack_from("<II", self._data, 8) != (256, _RECORD):
            raise TidemarkError("malformed", "not a snapshot")
        self.count: int = struct.unpack_from("<Q", self._data, 16)[0]
        kind, self.after = struct.unpack_from("<II", self._data, 192)
        if size != _RECORDS + self.count * _RECORD or kind > 1:
            raise TidemarkError("malformed", "not a snapshot")
        self.is_changes = kind == 1
        self.ledger, flags = struct.unpack_from("<II", self._data, 120)
        self.is_complete = bool(flags & 1)
        self.closed_at, _, self.signed_at_ms, self.age_ms = struct.unpack_from("<QQQQ", self._data, 160)

    def is_of(self, other: Snapshot) -> bool:
        """Whether it is of the same network, deployment and registry."""
        return self._data[24:120] == other._data[24:120]

    def is_signed(self, jwks: Mapping[str, Any], network: str) -> bool:
        """Whether a key of ``jwks`` signed it as it is, and it is of that network (its passphrase)."""
        data = self._data
        if bytes(data[24:56]) != hashlib.sha256(network.encode()).digest() or bytes(data[200:232]) != hashlib.sha256(data[_RECORDS:]).digest():
            return False
        for key in jwks["keys"]:
            if key.get("kty") != "OKP" or key.get("crv") != "Ed25519" or not isinstance(key.get("x"), str):
                continue
            text = json.dumps({"crv": key["crv"], "kty": key["kty"], "x": key["x"]}, separators=(",", ":"))
            if hashlib.sha256(text.encode()).digest() == bytes(data[256:288]):
                return _signed_by(key, b"tidemark-snapshot-v1\0" + bytes(data[:288]), bytes(data[288:_RECORDS]))
        return False

    def find(self, address: bytes) -> int | None:
        """Where the record of an address begins."""
        low, high = 0, self.count
        while low < high:
            middle = (low + high) // 2
            at = _RECORDS + middle * _RECORD
            record = bytes(self._data[at : at + _ADDRESS])
            if record == address:
                return at
            low, high = (low, middle) if address < record else (middle + 1, high)
        return None

    def is_compliant_at(self, at: int, now: int) -> bool:
        """The rule of the registry's contract over the record there."""
        flags, status, _, ends = struct.unpack_from("<BHIQ", self._data, at + _ADDRESS)
        return bool(flags & (1 | 2 | 4 | 128) == 1 and status == 2 and (ends == 0 or ends >= now))


def address_bytes(text: str) -> bytes | None:
    """Kind and 32 bytes of an address; None: it is none."""
    if len(text) != 56 or text[0] not in "GC":
        return None
    try:
        raw = base64.b32decode(text)
    except (binascii.Error, ValueError):
        return None
    wanted = binascii.crc_hqx(raw[:_ADDRESS], 0)
    return raw[:_ADDRESS] if raw[0] in (48, 16) and raw[_ADDRESS:] == struct.pack("<H", wanted) else None


def compliant_by(base: Snapshot, changes: Snapshot | None, address: str, *, stale_after_ms: int = 10_000, ledger_age: int = 300,
                 now_ms: int | None = None) -> SnapshotAnswer:
    """Whether the registry lets an address trade now, by a snapshot and the changes since its ledger.

    ``stale_after_ms`` is the oldest knowledge of the indexer that you take, ``ledger_age`` (seconds; 0: any) the oldest ledger.
    """
    newest = changes or base
    at_ms = time.time_ns() // 1_000_000 if now_ms is None else now_ms
    if base.is_changes:
        return "mismatched"
    if changes and (not changes.is_changes or changes.after != base.ledger or changes.ledger < base.ledger or not changes.is_of(base)):
        return "mismatched"
    if not newest.is_complete:
        return "incomplete"
    since = at_ms - newest.signed_at_ms
    if since < -60_000 or max(since, 0) + newest.age_ms > stale_after_ms:
        return "stale"
    if ledger_age and at_ms // 1000 - newest.closed_at > ledger_age:
        return "stale"
    raw = address_bytes(address)
    if raw is None:
        return "bad_address"
    now = max(at_ms // 1000, newest.closed_at)
    for file in (changes, base) if changes else (base,):
        at = file.find(raw) if file else None
        if file and at is not None:
            return "yes" if file.is_compliant_at(at, now) else "no"
    return "no"


class ComplianceMirror:
    """Keeps a verified snapshot and its changes; ``refresh`` it as often as you need it fresh, once a second for example."""

    def __init__(self, client: Client, network: str, *, stale_after_ms: int = 10_000, ledger_age: int = 300) -> None:
        self._client, self._network, self._limits = client, network, {"stale_after_ms": stale_after_ms, "ledger_age": ledger_age}
        self._base: Snapshot | None = None
        self._changes: Snapshot | None = None
        self._keys: dict[str, Any] | None = None

    @property
    def ledger(self) -> int | None:
        """The answers are true at the close of this ledger; None: none yet."""
        newest = self._changes or self._base
        return newest.ledger if newest else None

    def _ask(self, path: str, query: Mapping[str, Any]) -> Snapshot:
        settings = replace(self._client._settings, retries=60, timeout=120.0) if not query else self._client._settings  # it is large, and may be in the making
        request = replace(request_of(settings, "GET", path, {}, query, {}, None, True), limit=_MOST)
        file = Snapshot(Caller(settings, self._client._http).send(request).content)
        if self._keys is None or not file.is_signed(self._keys, self._network):
            self._keys = self._client.jwks()  # keys rotate
            if not file.is_signed(self._keys, self._network):
                raise TidemarkError("bad_signature", "the snapshot is not signed by a key of the server")
        return file

    def _take(self) -> Snapshot:
        self._base, self._changes = self._ask("/api/sdk/snapshot", {}), None
        return self._base

    def refresh(self) -> None:
        """Asks what changed; takes a new snapshot where that is not known. TidemarkError: what is known stays, and grows old."""
        base = self._base or self._take()
        try:
            self._changes = self._ask("/api/sdk/snapshot/changes", {"after": base.ledger})
        except TidemarkError as error:
            if error.status != 410:
                raise
            self._take()

    def compliant(self, address: str, *, now_ms: int | None = None) -> SnapshotAnswer:
        """Whether the address may trade now. Only ``yes`` lets anything pass."""
        if self._base is None:
            return "stale"
        return compliant_by(self._base, self._changes, address, now_ms=now_ms, **self._limits)
