"""Compliance records inside your own process: "may this address trade now?" without a question over the network.

The format is documented byte by byte in api/clients/c/tidemark_snapshot.h. Verifying needs `cryptography`: ``pip install tidemark-client[receipts]``.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import struct
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from ._core import Caller, TidemarkError, request_of
from .receipt import signed_by, verifying_keys

if TYPE_CHECKING:
    from ._client import Client

#: ``yes`` is compliant now; with every other answer nothing may pass.
SnapshotAnswer = Literal["yes", "no", "stale", "incomplete", "mismatched", "bad_address"]

_RECORDS, _RECORD, _ADDRESS = 352, 48, 33
_MOST = 1 << 30  # bytes: twenty million addresses


def _thumbprint(key: Mapping[str, Any]) -> str:
    """A key's thumbprint (RFC 7638), in hex."""
    text = json.dumps({"crv": key["crv"], "kty": key["kty"], "x": key["x"]}, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


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
        #: the hash of the ledger, in hex
        self.ledger_hash = self._data[128:160].hex()
        #: the key that signed: its thumbprint (RFC 7638), in hex
        self.signer = self._data[256:288].hex()
        #: network, deployment, registry, and the deployment's number in the server's database, which a reset of the network changes; in hex
        self.identity = self._data[24:120].hex() + self._data[232:236].hex()

    def is_of(self, other: Snapshot) -> bool:
        """Whether it is of the same network, deployment and registry, in the same epoch of the network."""
        return self.identity == other.identity

    def continues(self, base: Snapshot) -> bool:
        """Whether it can be the changes since ``base``: of the same chain, after its ledger, not from before it."""
        if base.is_changes or not self.is_changes or self.after != base.ledger or not self.is_of(base):
            return False
        if self.ledger == base.ledger:
            return bool(self.ledger_hash == base.ledger_hash)
        return bool(self.ledger > base.ledger and self.closed_at >= base.closed_at)

    def is_of_network(self, network: str) -> bool:
        """Whether it says that it is of that network (its passphrase)."""
        return bool(bytes(self._data[24:56]) == hashlib.sha256(network.encode()).digest())

    def is_signed(self, jwks: Mapping[str, Any], network: str) -> bool:
        """Whether a key of ``jwks`` signed it as it is, and it is of that network (its passphrase)."""
        data = self._data
        if not self.is_of_network(network) or bytes(data[200:232]) != hashlib.sha256(data[_RECORDS:]).digest():
            return False
        for key in verifying_keys(jwks) or []:
            if _thumbprint(key) == self.signer:
                return signed_by(key, b"tidemark-snapshot-v1\0" + bytes(data[:288]), bytes(data[288:_RECORDS]))
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
    if base.is_changes or (changes and not changes.continues(base)):
        return "mismatched"
    if not base.is_complete or not newest.is_complete:
        return "incomplete"  # changes do not have what their base lacks
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


_KEYS_RENEWED = 150.0  # seconds; a refresh asks for the keys again when they are older
_KEYS_OLDEST = 300.0  # nothing is believed by older ones
_AHEAD_MS = 60_000  # by which clocks may differ


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


@dataclass(frozen=True)
class _Since:
    """When something was learned. The age is by the larger of two clocks: one may be set, the other may stand still while the host sleeps."""

    before: float = 0.0
    wall_ms: int = field(default_factory=_now_ms)
    steady: float = field(default_factory=lambda: time.monotonic())

    def age(self, now_ms: int | None = None) -> float:
        wall_ms = _now_ms() if now_ms is None else now_ms
        return self.before + max((wall_ms - self.wall_ms) / 1000, time.monotonic() - self.steady)


@dataclass(frozen=True)
class _Keys:
    jwks: dict[str, Any]
    signers: frozenset[str]
    since: _Since


@dataclass(frozen=True)
class _Known:
    """What the answers are made of; replaced as one, because other threads read it."""

    #: a snapshot and its changes (None: none yet), both verified
    base: Snapshot | None = None
    changes: Snapshot | None = None
    keys: _Keys | None = None
    #: the newest ledger that was seen, who said so, and when it closed
    ledger: int = 0
    ledger_signer: str = ""
    closed_at: int = 0

    @property
    def newest(self) -> Snapshot | None:
        return self.changes or self.base

    @property
    def is_complete(self) -> bool:
        return all(file.is_complete for file in (self.base, self.newest) if file)

    def is_behind(self, file: Snapshot) -> bool:
        return bool(file.ledger < self.ledger or file.closed_at < self.closed_at)


class ComplianceMirror:
    """Keeps a verified snapshot and its changes; ``refresh`` it as often as you need it fresh, once a second for example.

    Its answers never step back: an answer of a node that is behind, a late one, or one of another chain is refused. After a reset of the
    network, or to follow another deployment, make a new one. Nothing is believed that only a withdrawn key proves. Threads may share it.

    ``deployment`` is that of receipts, 64 hex digits. Without it the first snapshot decides which one is followed.
    """

    def __init__(self, client: Client, network: str, *, stale_after_ms: int = 10_000, ledger_age: int = 300, deployment: str | None = None) -> None:
        if not isinstance(network, str):
            raise TypeError("network must be given: the network's passphrase")
        self._client, self._network, self._limits = client, network, {"stale_after_ms": stale_after_ms, "ledger_age": ledger_age}
        self._deployment = deployment
        self._lock = threading.Lock()  # of a refresh
        self._known = _Known()
        self._base: Snapshot | None = None  # the verified snapshot whose changes are asked for
        self._identity: str | None = None  # of the first snapshot

    @property
    def ledger(self) -> int | None:
        """The answers are true at the close of this ledger; None: none yet."""
        newest = self._known.newest
        return newest.ledger if newest else None

    def _fetch_keys(self) -> None:
        begun = _Since()
        jwks, age = self._client._jwks_aged()
        since = _Since(age + begun.age())
        if since.before >= _KEYS_OLDEST:
            raise TidemarkError("stale", "the keys left the server too long ago: a cache keeps them, or a clock is wrong")
        self._forget(_Keys(jwks, frozenset(_thumbprint(key) for key in verifying_keys(jwks) or []), since))

    def _forget(self, keys: _Keys) -> None:
        """Drops what only a withdrawn key proves. When the newest ledger closed stays: a node that is behind must not become the newest."""
        known = replace(self._known, keys=keys)
        if known.base and known.base.signer not in keys.signers:
            known = replace(known, base=None, changes=None)
        if known.changes and known.changes.signer not in keys.signers:
            known = replace(known, changes=None)
        if known.ledger_signer not in keys.signers:
            known = replace(known, ledger=0)
        if self._base and self._base.signer not in keys.signers:
            self._base = None
        self._known = known

    def _renew_keys(self) -> None:
        """Keys that are young enough. If they cannot be fetched, those that are there do until they are too old."""
        age = self._known.keys.since.age() if self._known.keys else _KEYS_OLDEST
        if age < _KEYS_RENEWED:
            return
        try:
            self._fetch_keys()
        except TidemarkError:
            if age >= _KEYS_OLDEST:
                raise

    def _is_signed(self, file: Snapshot) -> bool:
        return self._known.keys is not None and file.is_signed(self._known.keys.jwks, self._network)

    def _verified(self, file: Snapshot) -> Snapshot:
        if not file.is_of_network(self._network):
            raise TidemarkError("other_network", f"the snapshot is not of the network {self._network!r}")
        if not self._is_signed(file):
            self._fetch_keys()  # keys rotate
            if not self._is_signed(file):
                raise TidemarkError("bad_signature", "the snapshot is not signed by a key of the server")
        if (self._identity is not None and file.identity != self._identity) or (self._deployment is not None and file.identity[64:128] != self._deployment):
            raise TidemarkError("mismatched", "the snapshot is of another deployment")
        self._note(file)
        return file

    def _note(self, file: Snapshot) -> None:
        """Remembers what a verified file says of the chain, whatever becomes of the file."""
        self._identity = file.identity
        known = self._known
        if file.ledger >= known.ledger:
            known = replace(known, ledger=file.ledger, ledger_signer=file.signer)
        self._known = replace(known, closed_at=max(known.closed_at, min(file.closed_at, (_now_ms() + _AHEAD_MS) // 1000)))

    def _offer(self, base: Snapshot, changes: Snapshot | None) -> None:
        """Uses this pair from now on if its ledger is later. At the same ledger the complete pair is used, and of two that are equally complete the fresher.
        Raises ``behind`` if this one is of an earlier ledger than one that is known."""
        known, offered = self._known, replace(self._known, base=base, changes=changes)
        old, file = known.newest, changes or base
        if known.is_behind(file):
            raise TidemarkError("behind", f"the answer is of ledger {file.ledger}, known is {known.ledger}")
        if old and old.ledger == file.ledger and old.signed_at_ms <= _now_ms() + _AHEAD_MS:
            if old.ledger_hash != file.ledger_hash:
                raise TidemarkError("mismatched", "two chains have this ledger")
            if known.is_complete if known.is_complete != offered.is_complete else file.signed_at_ms - file.age_ms < old.signed_at_ms - old.age_ms:
                return
        self._known = offered

    def _ask(self, path: str, query: Mapping[str, Any]) -> Snapshot:
        settings = replace(self._client._settings, retries=60, timeout=120.0) if not query else self._client._settings  # it is large, and may be in the making
        request = replace(request_of(settings, "GET", path, {}, query, {}, None, True), limit=_MOST)
        return Snapshot(Caller(settings, self._client._http).send(request).content)

    def _take(self) -> Snapshot:
        file = self._verified(self._ask("/api/sdk/snapshot", {}))
        if file.is_changes:
            raise TidemarkError("mismatched", "the answer is no snapshot")
        self._base = file
        if not self._known.is_behind(file):
            self._offer(file, None)
        return file

    def _change(self, base: Snapshot) -> None:
        """Asks what changed since a snapshot."""
        changes = self._verified(self._ask("/api/sdk/snapshot/changes", {"after": base.ledger}))
        if not changes.continues(base):
            raise TidemarkError("mismatched", "the changes are not those of the snapshot")
        if self._base is not base:
            raise TidemarkError("bad_signature", "the key of the snapshot was withdrawn meanwhile")
        self._offer(base, changes)
        if changes.is_complete and not base.is_complete:
            self._base = None  # there is a better one now

    def refresh(self) -> None:
        """Fetches the changes since the snapshot. If the server no longer has them (410), takes a new snapshot.

        After a TidemarkError the mirror keeps the files that it has, and they grow old.

        ``behind``: the answer is of an earlier ledger than an answer before.
        """
        with self._lock:
            self._renew_keys()
            base = self._base or self._take()
            try:
                self._change(base)
            except TidemarkError as error:
                if error.status != 410:
                    raise
                self._change(self._take())

    def compliant(self, address: str, *, now_ms: int | None = None) -> SnapshotAnswer:
        """Whether the address may trade now. Only ``yes`` lets anything pass."""
        known = self._known
        newest = known.newest
        if known.base is None or newest is None or known.keys is None or known.keys.since.age(now_ms) >= _KEYS_OLDEST or known.is_behind(newest):
            return "stale"
        return compliant_by(known.base, known.changes, address, now_ms=now_ms, **self._limits)
