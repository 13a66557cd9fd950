"""Live messages, resumed where they ended."""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import httpx

from ._core import Settings, TidemarkError, problem_of, request_of

LIMIT = 4 << 20  # one message: far more than the server writes
SILENCE = 45.0  # seconds; the server sends something every 15 s
LONGEST_WAIT = 30.0
FINAL = {"gap", "archived", "deployment"}  # reasons of `dropped` after which the same position is of no use


@dataclass(frozen=True)
class StreamMessage:
    """``type`` is ledger, event, price, compliance, open, stale or fresh; ``data`` is JSON as the server wrote it."""

    type: str
    #: where to continue; None: no position was told yet
    id: str | None
    data: dict[str, Any]


class EventParser:
    """Server-sent events of lines (https://html.spec.whatwg.org/multipage/server-sent-events.html)."""

    def __init__(self) -> None:
        self.last: str | None = None
        self._type, self._size = "", 0
        self._data: list[str] = []

    def line(self, line: str) -> tuple[str, str | None, str] | None:
        """(type, id, data) if the line ends an event; a type of "" if that one only moved the position."""
        if line == "":
            had, kind, text = bool(self._data), self._type or "message", "\n".join(self._data)
            self._type, self._data, self._size = "", [], 0
            return (kind if had else "", self.last, text) if had or self.last is not None else None
        self._size += len(line)
        if self._size > LIMIT:
            raise TidemarkError("not_json", "a message without an end")
        name, _, value = line.partition(":")
        value = value[1:] if value.startswith(" ") else value
        if name == "event":
            self._type = value
        elif name == "data":
            self._data.append(value)
        elif name == "id" and "\0" not in value:
            self.last = value
        return None


class Position:
    """Where a stream stands, and what follows from how a connection ended."""

    def __init__(self, settings: Settings, parameters: Mapping[str, Any], after: str | None) -> None:
        self.after, self._settings, self._parameters, self._failures = after, settings, parameters, 0

    def request(self) -> tuple[str, dict[str, str]]:
        query = {key: ",".join(value) if isinstance(value, (list, tuple)) else value for key, value in self._parameters.items()}
        request = request_of(self._settings, "GET", "/api/stream", {}, query, {"Last-Event-ID": self.after}, None, True)
        return request.url, {**request.headers, "Accept": "text/event-stream", "Cache-Control": "no-store"}

    def take(self, found: tuple[str, str | None, str]) -> StreamMessage | None:
        kind, last, text = found
        self._failures = 0
        if kind != "dropped" and last:
            self.after = last
        if kind == "":
            return None
        data = json.loads(text or "{}")
        if kind == "dropped":
            reason = str(data.get("reason"))
            raise TidemarkError(reason if reason in FINAL else "dropped", f"the server ended the stream: {reason}")
        return StreamMessage(kind, self.after, data)

    def wait(self, error: Exception) -> float:
        """Seconds until the next attempt, or the error, if another one would not help."""
        if isinstance(error, httpx.TransportError):
            error = TidemarkError("network", "the stream broke off")
        if not isinstance(error, TidemarkError):
            raise error
        again = error.code in ("network", "timeout", "dropped") if error.status is None else error.status == 429 or error.status >= 500
        if not again:
            raise error
        pause = error.retry_after if error.retry_after is not None else 0.25 * 2**self._failures
        self._failures = min(self._failures + 1, 16)
        return min(pause, LONGEST_WAIT) * random.uniform(0.5, 1.0)


_TIMEOUT = httpx.Timeout(10.0, read=SILENCE)
Names = Sequence[str] | None


def _parameters(topics: Sequence[str], kinds: Names, contract: str | None, address: str | None, pool: str | None, assets: Names, addresses: Names) -> dict[str, Any]:
    return {"topics": list(topics), "kinds": kinds, "contract": contract, "address": address, "pool": pool, "assets": assets, "addresses": addresses}


def stream(http: httpx.Client, settings: Settings, parameters: Mapping[str, Any], after: str | None) -> Iterator[StreamMessage]:
    position = Position(settings, parameters, after)
    while True:
        url, headers = position.request()
        try:
            with http.stream("GET", url, headers=headers, timeout=_TIMEOUT) as response:
                if not response.is_success:
                    response.read()
                    raise problem_of(response)
                parser = EventParser()
                for line in _lines(response.iter_text()):
                    found = parser.line(line)
                    message = position.take(found) if found else None
                    if message:
                        yield message
            error: Exception = TidemarkError("network", "the stream ended")
        except (httpx.TransportError, TidemarkError) as caught:
            error = caught
        time.sleep(position.wait(error))


async def async_stream(http: httpx.AsyncClient, settings: Settings, parameters: Mapping[str, Any], after: str | None) -> AsyncIterator[StreamMessage]:
    position = Position(settings, parameters, after)
    while True:
        url, headers = position.request()
        try:
            async with http.stream("GET", url, headers=headers, timeout=_TIMEOUT) as response:
                if not response.is_success:
                    await response.aread()
                    raise problem_of(response)
                parser, splitter = EventParser(), LineSplitter()
                async for text in response.aiter_text():
                    for line in splitter.lines(text):
                        found = parser.line(line)
                        message = position.take(found) if found else None
                        if message:
                            yield message
            error: Exception = TidemarkError("network", "the stream ended")
        except (httpx.TransportError, TidemarkError) as caught:
            error = caught
        await asyncio.sleep(position.wait(error))


class LineSplitter:
    """Lines that end in \\n, \\r\\n or \\r, across pieces. ``str.splitlines`` would split at more characters."""

    def __init__(self) -> None:
        self._rest = ""

    def lines(self, text: str) -> list[str]:
        text = self._rest + text
        if len(text) > LIMIT:
            raise TidemarkError("not_json", "a line without an end")
        held = "\r" if text.endswith("\r") else ""  # its \n may come next
        parts = text[: len(text) - len(held)].replace("\r\n", "\n").replace("\r", "\n").split("\n")
        self._rest = parts.pop() + held
        return parts


def _lines(pieces: Iterator[str]) -> Iterator[str]:
    splitter = LineSplitter()
    for text in pieces:
        yield from splitter.lines(text)
