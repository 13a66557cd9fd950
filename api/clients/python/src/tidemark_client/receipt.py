"""Receipts: what an API said, signed, at which ledger. They are verified offline.

Verifying needs the package `cryptography`: ``pip install 'tidemark-client[receipts]'``.
"""

from __future__ import annotations

import base64
import binascii
import re
import time
from collections.abc import Mapping
from typing import Any

from ._core import json_of

SKEW_SECONDS = 60
DEPTH = 64  # of objects and lists: both packages judge alike


_WHY = {
    "malformed": "it is no receipt: three parts of base64url, JSON in two of them",
    "wrong_type": "its header is not that of a receipt",
    "bad_keys": "`jwks` is no set of keys, as `client.jwks()` gives it",
    "unknown_key": "no key of `jwks` has its `kid`: ask for the keys again",
    "bad_signature": "the key did not sign it",
    "other_issuer": "another server made it",
    "other_network": "it is of another network",
    "other_deployment": "it is of another deployment",
    "expired": "it says nothing about now any more",
    "future": "it was signed in the future: a clock is wrong",
}


class ReceiptError(Exception):
    """``code`` is malformed, wrong_type, bad_keys, unknown_key, bad_signature, other_issuer, other_network, other_deployment, expired or future.

    The text says it for people. ``values``: the receipt's, and the expected one, which only a verified receipt shows."""

    def __init__(self, code: str, values: tuple[Any, Any] | None = None) -> None:
        super().__init__(f"{code}: {_WHY[code]}" + (f": it says {values[0]!r}, expected is {values[1]!r}" if values else ""))
        self.code = code


def _bytes(part: str) -> bytes | None:
    """Bytes of base64url without padding; None: it is none. Every text of bytes but one is refused: bits behind the last byte are 0."""
    if not re.fullmatch(r"[A-Za-z0-9_-]*", part):
        return None
    try:
        value = base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))
    except binascii.Error:
        return None
    return value if base64.urlsafe_b64encode(value).rstrip(b"=").decode() == part else None


def is_shallow(value: Any, depth: int = 0) -> bool:
    if not isinstance(value, (dict, list)):
        return True
    return depth < DEPTH and all(is_shallow(one, depth + 1) for one in (value.values() if isinstance(value, dict) else value))


def _json(part: str) -> dict[str, Any]:
    try:
        value = json_of(_bytes(part) or b"")
    except (ValueError, RecursionError):
        raise ReceiptError("malformed") from None
    if not isinstance(value, dict) or not is_shallow(value):
        raise ReceiptError("malformed")
    return value


def _time(value: Any) -> int:
    """A number of seconds. 1e9 and 1000000000.0 are one, as in JavaScript."""
    if type(value) is float and value.is_integer():
        value = int(value)
    if type(value) is not int or not 0 <= value < 2**53:
        raise ReceiptError("malformed")
    return value


KEYS = 64  # of a set: the server publishes 16 at most


def _may_verify(key: Mapping[str, Any]) -> bool:
    """Whether a key of a set may verify what this server signs. Private keys, keys of other kinds and for other uses do not count."""
    kid, x, operations = key.get("kid"), key.get("x"), key.get("key_ops", ["verify"])
    if key.get("kty") != "OKP" or key.get("crv") != "Ed25519" or "d" in key or not isinstance(kid, str) or kid == "":
        return False
    if not isinstance(x, str) or len(_bytes(x) or b"") != 32 or key.get("use", "sig") != "sig" or key.get("alg", "EdDSA") not in ("EdDSA", "Ed25519"):
        return False
    return isinstance(operations, list) and "verify" in operations and all(isinstance(one, str) for one in operations)


def verifying_keys(jwks: Any) -> list[Mapping[str, Any]] | None:
    """The keys of a set that may verify. None: it is no JSON Web Key Set, has a member that is no key, more than 64 of them, or two with the same ``kid``.

    Both packages judge alike.
    """
    keys = jwks.get("keys") if isinstance(jwks, Mapping) else None
    if not isinstance(keys, list) or len(keys) > KEYS or not all(isinstance(one, Mapping) for one in keys):
        return None
    names = [one["kid"] for one in keys if isinstance(one.get("kid"), str)]
    return [one for one in keys if _may_verify(one)] if len(set(names)) == len(names) else None


def signed_by(key: Mapping[str, Any], text: bytes, signature: bytes) -> bool:
    """Whether a key of :func:`verifying_keys` signed these bytes."""
    try:
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    except ImportError as cause:
        raise ImportError("receipts and mirrors need the package cryptography: pip install 'tidemark-client[receipts]'") from cause

    try:
        Ed25519PublicKey.from_public_bytes(_bytes(key["x"]) or b"").verify(signature, text)
    except (InvalidSignature, ValueError):
        return False
    return True


def verify_receipt(token: str, jwks: Mapping[str, Any], *, issuer: str, network: str, deployment: str | None = None, evidence: bool = False,
                   now: float | None = None) -> dict[str, Any]:
    """The claims of a receipt that a key of ``jwks`` (``/.well-known/jwks.json``, kept by you) signed and that is what was expected.

    With ``evidence`` an expired one passes: it says what was answered then, not what holds now. Raises ReceiptError.
    """
    if not isinstance(issuer, str) or not isinstance(network, str):
        raise TypeError("issuer and network must be given: the `iss` agreed on with the operator, and the passphrase")
    parts = token.strip(" \t\r\n").split(".") if isinstance(token, str) and len(token) <= 1 << 20 else []
    if len(parts) != 3:
        raise ReceiptError("malformed")
    header = _json(parts[0])
    if header.get("alg") != "EdDSA" or header.get("typ") != "tidemark-receipt+jwt" or "crit" in header:
        raise ReceiptError("wrong_type")
    keys = verifying_keys(jwks)
    if keys is None:
        raise ReceiptError("bad_keys")
    key = next((one for one in keys if one["kid"] == header.get("kid")), None)
    if key is None:
        raise ReceiptError("unknown_key")
    signature = _bytes(parts[2])
    if not signature or not parts[1].isascii() or not signed_by(key, f"{parts[0]}.{parts[1]}".encode(), signature):
        raise ReceiptError("bad_signature")
    claims = _json(parts[1])
    issued, expires = _time(claims.get("iat")), _time(claims.get("exp"))
    for name, wanted in (("iss", issuer), ("network", network), ("deployment", deployment)):
        if wanted is not None and claims.get(name) != wanted:
            raise ReceiptError("other_issuer" if name == "iss" else f"other_{name}", (claims.get(name), wanted))
    at = time.time() if now is None else now
    if not issued <= at + SKEW_SECONDS:
        raise ReceiptError("future")
    if not evidence and not at < expires:
        raise ReceiptError("expired")
    return claims


def says_compliant(receipt: Mapping[str, Any], address: str) -> bool:
    """Whether a verified receipt says that this address may trade now. One about an earlier ledger, another address or question does not."""
    question, answer = receipt.get("question"), receipt.get("answer")
    if not isinstance(question, dict) or not isinstance(question.get("query"), dict) or not isinstance(answer, dict):
        return False
    return bool(question.get("route") == "kyc_status" and "ledger" not in question["query"] and answer.get("address") == address and answer.get("compliant") is True)
