"""Live messages, resumed where they ended."""

from __future__ import annotations

import asyncio
import codecs
import json
import random
import re
import time
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import httpx

from ._core import Body, Settings, TidemarkError, convert, problem_of, request_of, unmoved, whole, why_of
from ._generated import STREAM, EventKind, StreamMessage

LIMIT = 4 << 20  # one message: far more than the server writes
SILENCE = 45.0  # seconds; the server sends something every 15 s
LONGEST_WAIT = 30.0
POSITION = re.compile(r"[\x21-\x7e]{1,256}")  # what a header can carry back
FINAL = {"gap", "archived", "deployment"}  # reasons of `dropped` after which the same position is of no use


@dataclass(frozen=True)
class OtherMessage:
    """A message of a type that this package does not know, as it came."""

    type: str
    id: str | None
    data: dict[str, Any]


def message_of(kind: str, position: str | None, data: dict[str, Any]) -> StreamMessage:
    """The message with exact numbers."""
    made, shape = STREAM.get(kind, (OtherMessage, None))
    return cast(StreamMessage, made(kind, position, convert(data, shape)))


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
        self._size += len(line) + 1
        if self._size > LIMIT and self._data:
            raise TidemarkError("not_json", f"a stream message is longer than {LIMIT} bytes")
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
        return request.url, {**request.headers, "Accept": "text/event-stream", "Accept-Encoding": "identity", "Cache-Control": "no-store"}

    def take(self, found: tuple[str, str | None, str]) -> StreamMessage | None:
        kind, last, text = found
        self._failures = 0
        if kind != "dropped" and last:
            if not POSITION.fullmatch(last):
                raise TidemarkError("not_json", "a message has a position that cannot be asked for")
            self.after = last
        if kind == "":
            return None
        try:
            data = json.loads(text or "{}")
        except (ValueError, RecursionError):
            data = None
        if not isinstance(data, dict):
            raise TidemarkError("not_json", "a message is no JSON object")
        if kind == "dropped":
            reason = str(data.get("reason"))
            raise TidemarkError(reason if reason in FINAL else "dropped", f"the server ended the stream: {reason}")
        return message_of(kind, self.after, data)

    def wait(self, error: Exception) -> float:
        """Seconds until the next attempt, or the error, if another one would not help."""
        if isinstance(error, httpx.TransportError):
            error = TidemarkError("network", f"the stream broke off{why_of(error)}.{self._settings.proxy}")
        if not isinstance(error, TidemarkError):
            raise error
        again = error.code in ("network", "timeout", "dropped") if error.status is None else error.status == 429 or error.status >= 500
        if not again:
            raise error
        pause = max(error.retry_after or 0, 0.25 * 2**self._failures)  # "Retry-After: 0" for ever must not become a loop without a pause
        self._failures = min(self._failures + 1, 16)
        return float(min(pause, LONGEST_WAIT) * random.uniform(0.5, 1.0))


_TIMEOUT = httpx.Timeout(10.0, read=SILENCE)
Names = Sequence[str] | None


def _parameters(topics: Sequence[str], kinds: Sequence[EventKind] | None, contract: str | None, address: str | None, pool: str | None, assets: Names, addresses: Names) -> dict[str, Any]:
    if not topics:
        raise ValueError("topics is missing: ledger, event, price, compliance, or several of them")
    return {"topics": topics if isinstance(topics, str) else list(topics), "kinds": kinds, "contract": contract, "address": address, "pool": pool, "assets": assets, "addresses": addresses}


def _judge(response: httpx.Response) -> None:
    if not re.match("text/event-stream *(;|$)", response.headers.get("Content-Type", ""), re.IGNORECASE) or response.headers.get("Content-Encoding", "identity") != "identity":
        raise TidemarkError("not_json", "the answer is no stream of events", response.status_code)


def stream(http: httpx.Client, settings: Settings, parameters: Mapping[str, Any], after: str | None) -> Iterator[StreamMessage]:
    position = Position(settings, parameters, after)
    while True:
        url, headers = position.request()
        try:
            with http.stream("GET", url, headers=headers, timeout=_TIMEOUT, follow_redirects=False) as response:
                if not unmoved(response).is_success:
                    body, end = Body(response), time.monotonic() + SILENCE
                    for piece in response.iter_raw():
                        body.take(piece)
                        if time.monotonic() > end:
                            break
                    raise problem_of(whole(response, body.bytes()), url, settings.proxy)
                _judge(response)
                parser = EventParser()
                for line in _lines(response.iter_raw()):
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
            async with http.stream("GET", url, headers=headers, timeout=_TIMEOUT, follow_redirects=False) as response:
                if not unmoved(response).is_success:
                    body, end = Body(response), time.monotonic() + SILENCE
                    async for piece in response.aiter_raw():
                        body.take(piece)
                        if time.monotonic() > end:
                            break
                    raise problem_of(whole(response, body.bytes()), url, settings.proxy)
                _judge(response)
                parser, splitter = EventParser(), LineSplitter()
                async for piece in response.aiter_raw():
                    for line in splitter.lines(piece):
                        found = parser.line(line)
                        message = position.take(found) if found else None
                        if message:
                            yield message
            error: Exception = TidemarkError("network", "the stream ended")
        except (httpx.TransportError, TidemarkError) as caught:
            error = caught
        await asyncio.sleep(position.wait(error))


class LineSplitter:
    """Lines that end in \\n, \\r\\n or \\r, of pieces of UTF-8. ``str.splitlines`` would split at more characters."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._held: list[str] = []  # of a line whose end did not come yet: only what comes is searched
        self._size, self._carried = 0, ""

    def lines(self, piece: bytes) -> list[str]:
        text = self._carried + self._decoder.decode(piece)
        self._carried = "\r" if text.endswith("\r") else ""  # its \n may come next
        parts = text[: len(text) - len(self._carried)].replace("\r\n", "\n").replace("\r", "\n").split("\n")
        if len(parts) > 1:
            parts[0] = "".join(self._held) + parts[0]
            self._held, self._size = [], 0
        rest = parts.pop()
        self._held.append(rest)
        self._size += len(rest)
        if self._size > LIMIT:
            raise TidemarkError("not_json", f"a line of the stream is longer than {LIMIT} bytes")
        return parts


def _lines(pieces: Iterator[bytes]) -> Iterator[str]:
    splitter = LineSplitter()
    for piece in pieces:
        yield from splitter.lines(piece)
