"""The limits of all tools, and what refuses a call."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any


class Refused(Exception):
    """Why a tool gives no answer: a stable code, and a text for people."""

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(f"{code}: {detail}")
        self.code = code


@dataclass(frozen=True)
class Limits:
    """Each bounds one call. The server runs ``calls`` of them at a time; the others wait."""

    answer_kib: int = 64
    rows: int = 500
    seconds: int = 10
    calls: int = 4

    @property
    def answer_bytes(self) -> int:
        return self.answer_kib * 1024


def text_of(value: Any) -> str:
    """JSON as a tool answers it."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def bounded(value: Any, limits: Limits, advice: str) -> str:
    """The JSON of an answer. An answer that is larger than the limit is refused, not cut."""
    text = text_of(value)
    size = len(text.encode())
    if size > limits.answer_bytes:
        raise Refused("too_large", f"the answer has {size} bytes, the limit is {limits.answer_kib} KiB. {advice}")
    return text
