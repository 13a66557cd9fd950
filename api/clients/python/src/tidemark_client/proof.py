"""Proofs: what happened in a transaction, checked against validators that you name. No server is believed. Those of entries: ``entry.py``.

Verifying needs the package `cryptography`: ``pip install 'tidemark-client[receipts]'``.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from ._core import json_of
from .receipt import is_shallow
from .snapshot import address_bytes

PROOF_BYTES = 32 << 20
TEXT_BYTES = 48 << 20
HEADERS = 128
ENVELOPES = 1000
PART_BYTES = 4096  # of a header, of an envelope
DEPTH = 1500  # of values, as stellar-core allows
VALIDATORS = SETS = 1000
NESTING = 4


class ProofError(Exception):
    """``code`` is bad_validators (what you named is no quorum set), malformed (no proof, or of a newer protocol), not_proven or no_bucket (one that
    is needed is missing, or another one came). The text says why."""

    def __init__(self, code: str, why: str) -> None:
        super().__init__(f"{code}: {why}")
        self.code = code


@dataclass(frozen=True)
class ProvenEvent:
    """An event. ``topics`` and ``data`` are SCVals in XDR; ``contract`` is None if no contract emitted it; ``type``: 0 system, 1 contract, 2 diagnostic."""

    index: int
    contract: str | None
    type: int
    topics: list[bytes]
    data: bytes


@dataclass(frozen=True)
class ProvenTransaction:
    """What a proof proves. ``closed_at`` is in seconds since 1970, the clock of contracts; ``closed_at_ms`` in milliseconds, where headers have them (protocol 30; else whole seconds). ``events`` and ``answer`` (an SCVal in XDR) are None if the proof has no events."""

    tx_hash: str
    ledger: int
    ledger_hash: str
    closed_at: int
    closed_at_ms: int
    index: int
    count: int
    ok: bool
    result_code: int
    fee_charged: int
    signed_ledger: int
    signers: list[str]
    answer: bytes | None
    events: list[ProvenEvent] | None


def _malformed(why: str) -> NoReturn:
    raise ProofError("malformed", why)


def _unproven(why: str) -> NoReturn:
    raise ProofError("not_proven", why)


# --- the validators


@dataclass
class _Set:
    threshold: int
    keys: list[bytes]
    inner: list[_Set]

    def satisfied(self, signers: set[bytes]) -> bool:
        return sum(key in signers for key in self.keys) + sum(one.satisfied(signers) for one in self.inner) >= self.threshold


class _Quorum:
    def __init__(self, value: Any) -> None:
        self.names: dict[bytes, str] = {}
        self.sets = 0
        self.outer = self._read(value, 0)

    def _read(self, value: Any, depth: int) -> _Set:
        if not isinstance(value, Mapping) or not set(value) <= {"threshold", "validators", "innerSets"}:
            raise ProofError("bad_validators", "a quorum set has threshold, validators and innerSets")
        self.sets += 1
        if depth > NESTING or self.sets > SETS:
            raise ProofError("bad_validators", "sets are nested deeper than 4 levels, or more than 1000")
        members, inner, threshold = value.get("validators", []), value.get("innerSets", []), value.get("threshold")
        if not isinstance(members, list) or not isinstance(inner, list):
            raise ProofError("bad_validators", "validators and innerSets are lists")
        if type(threshold) is not int or not 1 <= threshold <= len(members) + len(inner):
            raise ProofError("bad_validators", "a threshold is from 1 to the number of members")
        keys = [self._key(one) for one in members]
        return _Set(threshold, keys, [self._read(one, depth + 1) for one in inner])

    def _key(self, text: Any) -> bytes:
        raw = address_bytes(text) if isinstance(text, str) and text.startswith("G") else None
        if raw is None:
            raise ProofError("bad_validators", "a validator is named by its public key G…")
        if raw[1:] in self.names:
            raise ProofError("bad_validators", "a key occurs twice")
        if len(self.names) == VALIDATORS:
            raise ProofError("bad_validators", "more than 1000 validators")
        self.names[raw[1:]] = text
        return raw[1:]


def _signed(key: bytes, signature: bytes, message: bytes) -> bool:
    try:
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    except ImportError as cause:
        raise ImportError("proofs need the package cryptography: pip install 'tidemark-client[receipts]'") from cause
    try:
        Ed25519PublicKey.from_public_bytes(key).verify(signature, message)
    except (InvalidSignature, ValueError):
        return False
    return True


# --- XDR


class _Xdr:
    """A cursor. Whatever is cut short or has bits that nothing needs is refused, as the indexer does."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def take(self, n: int) -> bytes:
        if n > len(self.data) - self.at:
            _malformed("it is cut short")
        self.at += n
        return self.data[self.at - n : self.at]

    def u32(self) -> int:
        return int.from_bytes(self.take(4), "big")

    def i32(self) -> int:
        return int.from_bytes(self.take(4), "big", signed=True)

    def u64(self) -> int:
        return int.from_bytes(self.take(8), "big")

    def i64(self) -> int:
        return int.from_bytes(self.take(8), "big", signed=True)

    def flag(self) -> bool:
        return self.arm(1) == 1

    def arm(self, most: int) -> int:
        """An enum or the arm of a union: 0 to ``most``."""
        value = self.u32()
        if value > most:
            _malformed(f"{value} where {most} is the highest known value")
        return value

    def var(self, most: int = 0xFFFFFFFF) -> bytes:
        n = self.u32()
        if n > most:
            _malformed("a length is too large")
        value = self.take(n)
        if any(self.take(-n % 4)):
            _malformed("padding that is not zero")
        return value

    def count(self, least: int, most: int = 0xFFFFFFFF) -> int:
        """A number of elements, each of which has ``least`` bytes or more."""
        n = self.u32()
        if n > most or n > (len(self.data) - self.at) // least:
            _malformed("a count is too large")
        return n

    def part(self, most: int) -> bytes:
        value = self.var(most)
        if not value or len(value) % 4:
            _malformed("a part is no whole number of words")
        return value

    def end(self) -> None:
        if self.at != len(self.data):
            _malformed("there are bytes behind its end")

    # Types of a ledger

    def public_key(self) -> bytes:
        self.arm(0)
        return self.take(32)

    def asset(self) -> None:
        kind = self.arm(2)
        if kind:
            self.take(4 if kind == 1 else 12)
            self.public_key()

    def address(self) -> None:
        kind = self.arm(5)
        if kind in (0, 3):
            self.arm(0)
        self.take(40 if kind in (2, 5) else 32)

    def value(self) -> bytes:
        """An SCVal. Values are read without recursion: the frames are lists, maps and instances, with the values that they still have."""
        begin, frames = self.at, [1]
        while frames:
            if frames[-1] == 0:
                frames.pop()
                continue
            frames[-1] -= 1
            arm = self.arm(22)
            if arm in (16, 17, 19):  # vec, map, instance
                if len(frames) - 1 >= DEPTH:
                    _malformed("values are nested too deep")
                frames.append(self._elements(arm))
            else:
                self._simple(arm)
        return self.data[begin : self.at]

    def _elements(self, arm: int) -> int:
        if arm == 19:
            executable = self.arm(2)
            if executable == 0:
                self.take(32)
            elif executable == 2:
                self.address()
                self.var()
        if not self.flag():
            return 0
        return self.count(4) if arm == 16 else 2 * self.count(8)

    def _simple(self, arm: int) -> None:
        if arm == 0:
            self.flag()
        elif arm == 2:
            kind, code = self.arm(9), self.u32()
            if kind > 0 and code > 9:
                _malformed("an unknown SCErrorCode")
        elif arm in (13, 14, 22):
            self.var()
        elif arm == 15:
            self.var(32)
        elif arm == 18:
            self.address()
        else:
            self.take({1: 0, 20: 0, 3: 4, 4: 4, 5: 8, 6: 8, 7: 8, 8: 8, 21: 8, 9: 16, 10: 16, 11: 32, 12: 32}[arm])


# --- headers, values, votes


@dataclass
class _Header:
    previous: bytes
    close_time: int
    close_ms: int
    results: bytes
    buckets: bytes
    sequence: int
    hash: bytes


@dataclass
class _Value:
    set_hash: bytes
    close_time: int
    close_ms: int
    previous: bytes | None  # the hash of the ledger before, if the value names it itself


def _stellar_value(x: _Xdr) -> _Value:
    value = _Value(x.take(32), x.u64(), 0, None)
    for _ in range(x.count(4, 6)):
        x.var(128)
    arm = x.arm(4)
    value.close_ms = x.u64() if arm >= 3 else value.close_time * 1000
    if value.close_ms // 1000 != value.close_time:
        _malformed("two close times of a value differ")
    if arm in (2, 4):
        x.take(32)
        value.previous = x.take(32)
        x.take(4)
    if arm:
        x.public_key()
        x.var(64)
    return value


def _header(data: bytes) -> _Header:
    x = _Xdr(data)
    x.take(4)
    previous = x.take(32)
    value = _stellar_value(x)
    results, buckets = x.take(32), x.take(32)
    sequence = x.u32()
    x.take(40 + 4 * 32)
    if x.arm(1):
        x.take(4)
        x.arm(0)
    x.end()
    return _Header(previous, value.close_time, value.close_ms, results, buckets, sequence, hashlib.sha256(data).digest())


def _headers(x: _Xdr) -> tuple[_Header, _Header]:
    """The first and the last header."""
    first: _Header | None = None
    last: _Header | None = None
    for _ in range(x.count(8, HEADERS)):
        one = _header(x.part(PART_BYTES))
        if last and (one.sequence != last.sequence + 1 or one.previous != last.hash):
            _unproven("a header does not follow the one before it")
        if not 0 < one.sequence < 2**31 - 1:
            _unproven("a header has a sequence that no ledger has")
        first, last = first or one, one
    if not first or not last:
        _unproven("the proof has no header")
    return first, last


def _vote(data: bytes) -> tuple[bytes, int, bytes, bytes, bytes]:
    """Key, ledger, value, statement and signature of an EXTERNALIZE envelope."""
    x = _Xdr(data)
    key, slot = x.public_key(), x.u64()
    if x.u32() != 2:
        _unproven("an envelope is no final vote about the ledger behind the headers")
    x.take(4)
    value = x.var(64 << 10)
    x.take(36)
    statement = data[: x.at]
    signature = x.var(64)
    x.end()
    return key, slot, value, statement, signature


def _votes(x: _Xdr, quorum: _Quorum, network_id: bytes, ledger: int) -> tuple[bytes, set[bytes]]:
    """The value that enough validators signed, and these validators."""
    decided, signers = b"", set[bytes]()
    for _ in range(x.count(8, ENVELOPES)):
        key, slot, value, statement, signature = _vote(x.part(PART_BYTES))
        if slot != ledger:
            _unproven("an envelope is no final vote about the ledger behind the headers")
        decided = decided or value
        if not value or value != decided:
            _unproven("the envelopes vote for different values")
        if key not in quorum.names:
            continue
        if key in signers:
            _unproven("a validator votes twice")
        if len(signature) != 64 or not _signed(key, signature, network_id + b"\0\0\0\1" + statement):
            _unproven("a validator's signature does not hold on this network")
        signers.add(key)
    if not quorum.outer.satisfied(signers):
        _unproven("not enough of the named validators signed")
    return decided, signers


def _check_binding(value: bytes, tx_set: bytes | None, last: _Header) -> None:
    x = _Xdr(value)
    signed = _stellar_value(x)
    x.end()
    previous = signed.previous
    if (tx_set is None) != (previous is not None):
        _unproven("the signed value has no transaction set, or its set is missing")
    if tx_set is not None:
        if len(tx_set) < 40 or tx_set[:4] != b"\0\0\0\1" or hashlib.sha256(tx_set).digest() != signed.set_hash:
            _unproven("the transaction set is not the one that was signed")
        previous = tx_set[4:36]
    if previous != last.hash:
        _unproven("the signed value names another ledger than the last header")


# --- results

_LOWEST = (4, 9, 12, 12, 12, 10, 8, 6, 7, 1, 4, 1, 12, 12, 5, 6, 3, 1, 5, 4, 3, 5, 8, 6, 5, 3, 3)  # code of each operation, negated


@dataclass
class _Result:
    hash: bytes
    fee: int
    code: int
    invoke_hash: bytes | None


def _claim_atoms(x: _Xdr) -> None:
    for _ in range(x.count(60)):
        kind = x.arm(2)
        if kind == 0:
            x.take(40)
        elif kind == 1:
            x.public_key()
            x.take(8)
        else:
            x.take(32)
        for _ in range(2):
            x.asset()
            x.take(8)


def _offer(x: _Xdr) -> None:
    x.public_key()
    x.take(8)
    x.asset()
    x.asset()
    x.take(20)
    x.arm(0)


def _success(x: _Xdr, kind: int) -> bytes | None:
    """Reads the body of an operation's success. The hash of an InvokeHostFunction's."""
    if kind in (2, 13):
        _claim_atoms(x)
        x.public_key()
        x.asset()
        x.take(8)
    elif kind in (3, 4, 12):
        _claim_atoms(x)
        if x.arm(2) < 2:
            _offer(x)
    elif kind == 8:
        x.take(8)
    elif kind == 9:
        for _ in range(x.count(44)):
            x.public_key()
            x.take(8)
    elif kind == 14:
        x.arm(0)
        x.take(32)
    elif kind == 24:
        return x.take(32)
    return None


def _operation(x: _Xdr) -> bytes | None:
    code = x.i32()
    if code > 0 or code < -6:
        _malformed("an unknown OperationResultCode")
    if code:
        return None
    kind = x.arm(26)
    code = x.i32()
    if code == 0:
        return _success(x, kind)
    if code > 0 or -code > _LOWEST[kind]:
        _malformed("an unknown result code of an operation")
    if code == -9 and kind in (2, 13):
        x.asset()
    return None


def _operations(x: _Xdr) -> bytes | None:
    found = [_operation(x) for _ in range(x.count(4))]
    return found[0] if found else None


def _result(x: _Xdr) -> _Result:
    result = _Result(x.take(32), x.i64(), x.i32(), None)
    if result.code in (1, -13):
        x.take(32 + 8)
        inner = x.i32()
        if inner in (0, -1):
            result.invoke_hash = _operations(x)
        elif not -18 <= inner <= 1 or inner in (1, -13):
            _malformed("an unknown InnerTransactionResult code")
        x.arm(0)
    elif result.code in (0, -1):
        result.invoke_hash = _operations(x)
    elif not -18 <= result.code <= 1:
        _malformed("an unknown TransactionResult code")
    x.arm(0)
    return result


def _find_result(results: bytes, wanted: bytes) -> tuple[int, int, _Result]:
    """Place in the set, number of results, and the result."""
    x = _Xdr(results)
    count = x.count(48)
    all_of = [_result(x) for _ in range(count)]
    x.end()
    found = [(i + 1, count, one) for i, one in enumerate(all_of) if one.hash == wanted]
    if len(found) != 1:
        _unproven("the transaction is not one of the ledger's results")
    return found[0]


# --- events


def _strkey(version: int, payload: bytes) -> str:
    raw = bytes([version]) + payload
    return base64.b32encode(raw + binascii.crc_hqx(raw, 0).to_bytes(2, "little")).decode()


def _event(x: _Xdr, index: int) -> ProvenEvent:
    x.arm(0)
    contract = _strkey(16, x.take(32)) if x.flag() else None
    kind = x.arm(2)
    x.arm(0)
    topics = [x.value() for _ in range(x.count(4))]
    return ProvenEvent(index, contract, kind, topics, x.value())


def _preimage(data: bytes, result: _Result) -> tuple[bytes, list[ProvenEvent]]:
    if result.code not in (0, 1) or result.invoke_hash is None or hashlib.sha256(data).digest() != result.invoke_hash:
        _unproven("answer and events are not those of the transaction's result")
    x = _Xdr(data)
    answer = x.value()
    events = [_event(x, i) for i in range(x.count(24))]
    x.end()
    return answer, events


# --- the proof


def _proof_bytes(answer: Any) -> bytes:
    if isinstance(answer, str):
        answer = answer.encode("utf-8", "surrogatepass")
    if isinstance(answer, (bytes, bytearray)):
        if len(answer) > TEXT_BYTES:
            _malformed("it is too long")
        try:
            answer = json_of(bytes(answer))
        except (ValueError, RecursionError):
            _malformed("it is no JSON")
        if not is_shallow(answer):
            _malformed("it is no answer of /api/proof")
    proof = answer.get("proof") if isinstance(answer, Mapping) else None
    data = proof.get("data") if isinstance(proof, Mapping) else None
    if not isinstance(data, str) or len(data) > TEXT_BYTES:
        _malformed("it is no answer of /api/proof")
    try:
        value = base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        _malformed("its data are no base64")
    if base64.b64encode(value).decode() != data or len(value) > PROOF_BYTES:
        _malformed("its data are no base64, or too long")
    return value


def _open(answer: Any, magic: bytes, network: Any) -> _Xdr:
    """A cursor behind the magic bytes."""
    if not isinstance(network, str):
        raise TypeError("network must be given: the passphrase")
    x = _Xdr(_proof_bytes(answer))
    if x.data[:8] != magic:
        _malformed("it is no proof of that kind")
    x.take(8)
    return x


def _signed_ledgers(x: _Xdr, quorum: _Quorum, network: str) -> tuple[_Header, _Header, list[str]]:
    """The first and the last header, and the names of those who signed."""
    first, last = _headers(x)
    tx_set = x.part(PROOF_BYTES) if x.flag() else None
    value, signers = _votes(x, quorum, hashlib.sha256(network.encode()).digest(), last.sequence + 1)
    _check_binding(value, tx_set, last)
    return first, last, [name for key, name in quorum.names.items() if key in signers]


def verify_proof(answer: str | bytes | Mapping[str, Any], *, network: str, validators: Mapping[str, Any]) -> ProvenTransaction:
    """What an answer of ``/api/proof/{hash}`` proves, offline.

    ``network`` is the passphrase, ``validators`` the quorum set that you believe: ``{"threshold": 2, "validators": ["G…", …]}``, with ``innerSets``
    as in a deployment file. Compare ``tx_hash``, ``events`` and ``ledger`` with what you were told. Raises ProofError.
    """
    quorum = _Quorum(validators)
    x = _open(answer, b"TIDEPRF1", network)
    first, last, signers = _signed_ledgers(x, quorum, network)
    tx_hash, results = x.take(32), x.part(PROOF_BYTES)
    if hashlib.sha256(results).digest() != first.results:
        _unproven("the results are not those of the first header")
    index, count, result = _find_result(results, tx_hash)
    said = _preimage(x.part(PROOF_BYTES), result) if x.flag() else None
    x.end()
    return ProvenTransaction(
        tx_hash.hex(), first.sequence, first.hash.hex(), first.close_time, first.close_ms, index, count, result.code in (0, 1), result.code, result.fee,
        last.sequence + 1, signers, said[0] if said else None, said[1] if said else None,
    )
