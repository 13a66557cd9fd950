"""Receipts: what an API said, signed, at which ledger. They are verified offline.

Verifying needs the package `cryptography`: ``pip install tidemark-client[receipts]``.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
import time
from collections.abc import Mapping
from typing import Any

SKEW_SECONDS = 60


class ReceiptError(Exception):
    """``code`` is malformed, wrong_type, unknown_key, bad_signature, other_issuer, other_network, other_deployment, expired or future."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


def _bytes(part: str) -> bytes:
    if not re.fullmatch(r"[A-Za-z0-9_-]*", part):
        raise ReceiptError("malformed")
    try:
        return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))
    except (binascii.Error, ValueError):
        raise ReceiptError("malformed") from None


def _json(part: str) -> dict[str, Any]:
    try:
        value = json.loads(_bytes(part))
    except (ValueError, RecursionError):
        raise ReceiptError("malformed") from None
    if not isinstance(value, dict):
        raise ReceiptError("malformed")
    return value


def _signed_by(jwk: Mapping[str, Any], text: bytes, signature: bytes) -> bool:
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        Ed25519PublicKey.from_public_bytes(_bytes(str(jwk.get("x")))).verify(signature, text)
    except (InvalidSignature, ValueError):
        return False
    return True


def verify_receipt(token: str, jwks: Mapping[str, Any], *, issuer: str, network: str, deployment: str | None = None, evidence: bool = False,
                   now: float | None = None) -> dict[str, Any]:
    """The claims of a receipt that a key of ``jwks`` (``/.well-known/jwks.json``, kept by you) signed and that is what was expected.

    With ``evidence`` an expired one passes: it says what was answered then, not what holds now. Raises ReceiptError.
    """
    parts = token.strip().split(".")
    if len(parts) != 3 or len(token) > 1 << 20:
        raise ReceiptError("malformed")
    header = _json(parts[0])
    if header.get("alg") != "EdDSA" or header.get("typ") != "tidemark-receipt+jwt" or "crit" in header:
        raise ReceiptError("wrong_type")
    key = next((one for one in jwks["keys"] if one.get("kid") == header.get("kid") and one.get("kty") == "OKP" and one.get("crv") == "Ed25519"), None)
    if key is None or not isinstance(header.get("kid"), str):
        raise ReceiptError("unknown_key")
    if not _signed_by(key, f"{parts[0]}.{parts[1]}".encode(), _bytes(parts[2])):
        raise ReceiptError("bad_signature")
    claims = _json(parts[1])
    if not all(type(claims.get(name)) is int for name in ("iat", "exp")):
        raise ReceiptError("malformed")
    for name, wanted in (("iss", issuer), ("network", network), ("deployment", deployment)):
        if wanted is not None and claims.get(name) != wanted:
            raise ReceiptError("other_issuer" if name == "iss" else f"other_{name}")
    at = time.time() if now is None else now
    if claims["iat"] > at + SKEW_SECONDS:
        raise ReceiptError("future")
    if not evidence and at >= claims["exp"]:
        raise ReceiptError("expired")
    return claims


def says_compliant(receipt: Mapping[str, Any], address: str) -> bool:
    """Whether a verified receipt says that this address may trade now. One about an earlier ledger, another address or question does not."""
    question, answer = receipt["question"], receipt["answer"]
    return bool(question["route"] == "kyc_status" and "ledger" not in question["query"] and answer.get("address") == address and answer.get("compliant") is True)
