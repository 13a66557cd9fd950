"""Notifications by the Standard Webhooks specification (https://www.standardwebhooks.com): is this one of ours?"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any, cast

from ._core import convert, json_of
from ._generated import NOTIFICATIONS, Notification

#: ``type`` says which ``data`` there is; ``timestamp`` is that of the attempt
Webhook = Notification


class WebhookError(Exception):
    """``code`` is missing_header, bad_timestamp, bad_secret, bad_signature, or malformed: signed, but no notification."""

    def __init__(self, code: str, why: str) -> None:
        super().__init__(f"{code}: {why}")
        self.code = code


@dataclass(frozen=True)
class OtherWebhook:
    """A notification of a type that this package does not know, as it came."""

    id: str
    timestamp: datetime
    type: str
    data: dict[str, Any]


def _header(headers: Mapping[str, str], name: str) -> str:
    value = next((one for key, one in headers.items() if key.lower() == name), "")
    if not isinstance(value, str) or not value:
        raise WebhookError("missing_header", f"the request has no header {name}")
    return value


_BAD_SECRET = "a secret is whsec_ and base64, as it was given when the webhook was registered"


def _key(secret: str) -> bytes:
    text = secret.removeprefix("whsec_")
    try:
        key = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise WebhookError("bad_secret", _BAD_SECRET) from None
    if len(key) < 16 or base64.b64encode(key).decode() != text:
        raise WebhookError("bad_secret", _BAD_SECRET)
    return key


def _content(raw: bytes) -> tuple[str, dict[str, Any]]:
    try:
        content = json_of(raw)
    except (ValueError, RecursionError):
        content = None
    if not isinstance(content, dict) or not isinstance(content.get("type"), str) or not isinstance(content.get("data"), dict):
        raise WebhookError("malformed", "it is signed, but its body is no notification")
    return content["type"], content["data"]


def verify_webhook(body: bytes | str, headers: Mapping[str, str], secrets: str | Sequence[str], *, tolerance: float = 300, now: float | None = None) -> Webhook:
    """The notification, if one of the secrets signed it within the last (or next) five minutes.

    ``body`` is what came, byte for byte: parse nothing before. The same id may come more than once; keep the ids that were handled.
    Raises WebhookError.
    """
    if secrets is None:
        raise TypeError("secrets is missing: one whsec_… or a list of them")
    raw = body.encode(errors="surrogatepass") if isinstance(body, str) else body
    id_, sent = _header(headers, "webhook-id"), _header(headers, "webhook-timestamp")
    if not re.fullmatch("[0-9]{1,12}", sent) or not abs((time.time() if now is None else now) - int(sent)) <= tolerance:
        raise WebhookError("bad_timestamp", "webhook-timestamp is not within five minutes of now, or what `tolerance` says")
    signed = f"{id_}.{sent}.".encode(errors="surrogatepass") + raw
    given = [one[3:] for one in _header(headers, "webhook-signature").split(" ") if one.startswith("v1,")][:16]
    for secret in [secrets] if isinstance(secrets, str) else secrets:
        wanted = base64.b64encode(hmac.new(_key(secret), signed, hashlib.sha256).digest()).decode()
        if any(hmac.compare_digest(wanted.encode(), one.encode(errors="surrogatepass")) for one in given):
            kind, data = _content(raw)
            made, shape = NOTIFICATIONS.get(kind, (OtherWebhook, None))
            return cast(Webhook, made(id_, datetime.fromtimestamp(int(sent), timezone.utc), kind, convert(data, shape)))
    raise WebhookError("bad_signature", "no secret signed these bytes: pass the body as it came, and the present secret")
