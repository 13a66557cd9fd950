"""A call of a route: the request, what is sent again and when, the answer's strings as exact numbers.

The rules stand once, in :func:`attempts`, a generator that asks its driver to send or to sleep. :class:`Caller` drives it and waits,
:class:`AsyncCaller` drives it in an event loop.
"""

from __future__ import annotations

import json
import random
import re
import time
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, timezone
from decimal import Decimal
from typing import Any, Generic, TypeVar
from urllib.parse import quote
from urllib.request import getproxies, proxy_bypass

import asyncio
import httpx

T = TypeVar("T")

#: The form of a value: 1 an integer, 2 a ledger, 3 a decimal number, 4 a time. A list has one Shape, an object one for each member.
Shape = Any

_PATTERNS = {
    1: re.compile(r"-?[0-9]{1,77}"), 2: re.compile(r"[0-9]{1,10}"), 3: re.compile(r"-?[0-9]{1,77}(\.[0-9]{1,77})?"),
    4: re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,9})?(Z|[+-][0-9]{2}:[0-9]{2})"),
}
BODY_LIMIT = 32 << 20  # bytes of an answer, decompressed: far more than the server writes
PAUSE = 60.0  # seconds; the server's windows are no longer


def _text_of_fault(fault: dict[str, str]) -> str:
    """Where a request was wrong, and why: "parameter limit: …". The server repeats no name that it does not know."""
    parameter, pointer = fault.get("parameter"), fault.get("pointer")
    place = f"parameter {parameter}: " if parameter else f"body {pointer}: " if pointer else ""
    return f"{place}{fault.get('detail', '')}"


class TidemarkError(Exception):
    """Why there is no answer. ``code`` is stable: the server's, or ``network``, ``timeout``, ``not_json``, ``too_large``, ``redirected``.

    The text has all of it for people: the code, the detail, and each wrong field with the reason."""

    def __init__(self, code: str, detail: str, status: int | None = None, errors: list[dict[str, str]] | None = None,
                 request_id: str | None = None, retry_after: float | None = None) -> None:
        super().__init__(f"{code}: " + " ".join([detail, *map(_text_of_fault, errors or [])]))
        self.code, self.detail, self.status = code, detail, status
        self.errors, self.request_id, self.retry_after = errors or [], request_id, retry_after


@dataclass(frozen=True)
class Answer(Generic[T]):
    """An answer with what its headers say of it. ``data`` is true at the close of ``ledger``."""

    data: T
    ledger: int | None
    closed_at: datetime | None
    #: signatures of validators prove all ledgers up to this one; None: none, or the operator names no validators
    proven_through: int | None
    #: milliseconds since the server last heard of the indexer
    age_ms: int | None
    network: str | None
    request_id: str | None
    #: the first ledger of the past that the server knows, if its index began with a checkpoint
    history_from: int | None = None


@dataclass(frozen=True)
class Settings:
    """How calls are made. ``timeout`` is in seconds and covers all attempts of a call, waiting included."""

    base_url: str
    api_key: str | None = field(default=None, repr=False)
    retries: int = 3
    timeout: float = 10.0
    #: a sentence about the proxy that the environment names, or nothing
    proxy: str = ""

    def __post_init__(self) -> None:
        check_base_url(self.base_url)
        if self.api_key is not None and (not isinstance(self.api_key, str) or self.api_key == ""):
            raise ValueError("api_key must be a text that is not empty")
        if type(self.retries) is not int or self.retries < 0:
            raise ValueError(f"retries must be a whole number from 0 on, not {self.retries!r}")
        if isinstance(self.timeout, bool) or not isinstance(self.timeout, (int, float)) or not self.timeout > 0:
            raise ValueError(f"timeout must be a number of seconds above 0, not {self.timeout!r}")


def check_base_url(given: Any) -> None:
    """ValueError: what is wrong, and what the address of a server must look like. Shows none that may hold a password."""
    like = 'it must be like "https://api.example" or "http://127.0.0.1:8080", with a path if a proxy has one'
    shown = f" {given!r}" if isinstance(given, str) and "@" not in given else ""
    try:
        url = httpx.URL(given)
    except (httpx.InvalidURL, TypeError):
        raise ValueError(f"base_url{shown} is no URL: {like}") from None
    if url.userinfo:
        raise ValueError(f"base_url has a user or a password: {like}")
    if url.scheme not in ("http", "https") or not url.host:
        raise ValueError(f"base_url{shown} does not begin with http:// or https:// and a host: {like}")
    if url.query or url.fragment:
        raise ValueError(f"base_url{shown} has a query or a fragment: {like}")


def proxy_of_environment(base_url: str) -> str:
    """A sentence about the proxy that httpx takes from the environment for that server (HTTPS_PROXY, NO_PROXY …), or nothing. Without its password."""
    url = httpx.URL(base_url)
    proxies = getproxies()
    proxy = proxies.get(url.scheme) or proxies.get("all")
    if not proxy or proxy_bypass(url.host):
        return ""
    address = httpx.URL(proxy if "://" in proxy else f"http://{proxy}").copy_with(userinfo=b"")
    return f" The environment names the proxy {address} for this server: NO_PROXY={url.host} goes around it."


def convert(value: Any, shape: Shape) -> Any:
    """Strings of the API as exact numbers and times. What does not look like one stays: a field may get a new form."""
    if shape is None or value is None:
        return value
    if isinstance(shape, int):
        return _converted(value, shape) if isinstance(value, str) else value
    if isinstance(shape, list):
        return [convert(one, shape[0]) for one in value] if isinstance(value, list) else value
    if not isinstance(value, dict):
        return value
    return {key: convert(one, shape.get(key)) for key, one in value.items()}


def _converted(text: str, kind: int) -> Any:
    if not _PATTERNS[kind].fullmatch(text):
        return text
    if kind == 4:
        try:
            return datetime.fromisoformat(text.replace("Z", "+00:00"))
        except ValueError:
            return text  # a 30th of February
    return Decimal(text) if kind == 3 else int(text)


def _number(text: str | None) -> int | None:
    return int(text) if text is not None and re.fullmatch("[0-9]{1,15}", text) else None


class Body:
    """Collects a body, decompressed, up to a limit. Layers of compression, and other kinds, are not asked for and are refused."""

    def __init__(self, response: httpx.Response, limit: int = BODY_LIMIT) -> None:
        self._response, self._limit, self._size = response, limit, 0
        self._parts: list[bytes] = []
        encoding = response.headers.get("Content-Encoding", "").strip().lower()
        if encoding not in ("", "identity", "gzip"):
            raise TidemarkError("not_json", "an answer in an encoding that was not asked for", response.status_code)
        self._gzip = zlib.decompressobj(31) if encoding == "gzip" else None

    def take(self, piece: bytes) -> None:
        if self._gzip:
            try:
                piece = self._gzip.decompress(piece, self._limit + 1 - self._size)
            except zlib.error:
                raise TidemarkError("not_json", "the answer is not compressed as it says", self._response.status_code) from None
        self._size += len(piece)
        if self._size > self._limit:
            raise TidemarkError("too_large", f"an answer of more than {self._limit} bytes", self._response.status_code,
                                request_id=self._response.headers.get("Request-Id"))
        self._parts.append(piece)

    def bytes(self) -> bytes:
        return b"".join(self._parts)


def whole(response: httpx.Response, content: bytes) -> httpx.Response:
    """The response with its body, as if it had been read in one."""
    headers = [(key, value) for key, value in response.headers.multi_items() if key not in ("content-encoding", "content-length", "transfer-encoding")]
    return httpx.Response(response.status_code, headers=headers, content=content)


def _integer(text: str) -> int | float:
    return int(text) if len(text) < 400 else float(text)  # Python refuses integers of more than 4300 digits, JavaScript does not


def _no_constant(text: str) -> None:
    raise ValueError(f"{text} is no JSON")


def json_of(raw: bytes) -> Any:
    """JSON as JavaScript reads it, in UTF-8 without a mark before it. ValueError, or RecursionError for what is too deep."""
    return json.loads(raw.decode(), parse_int=_integer, parse_constant=_no_constant)


def object_of(response: httpx.Response) -> dict[str, Any]:
    """The object of a body: every answer of the API is one."""
    try:
        body = json_of(response.content)
    except (ValueError, RecursionError):
        body = None
    if not isinstance(body, dict):
        raise TidemarkError("not_json", "the answer is no JSON object", response.status_code, request_id=response.headers.get("Request-Id"))
    return body


def unmoved(response: httpx.Response) -> httpx.Response:
    """Refuses what leads elsewhere: the key of a request must not follow to another origin."""
    if 300 <= response.status_code < 400:
        raise TidemarkError("redirected", "the server answers with a redirection: base_url is not its address", response.status_code)
    return response


def why_of(cause: Exception) -> str:
    """Why a connection failed, as the system says it."""
    return f": {cause}" if str(cause) else ""


def problem_of(response: httpx.Response, url: str, proxy: str = "") -> TidemarkError:
    """The problem that a server's answer to ``url`` tells. A proxy's page is one too: then the text names the proxy.

    No such route often means that base_url is wrong: then the text names the url, without its query, which may name a person's address."""
    try:
        body = object_of(response)
    except TidemarkError:
        body = {}
    errors, code = body.get("errors"), body.get("code")
    detail = str(body.get("detail") or f"HTTP {response.status_code}.{proxy}")
    place = f" ({url.split('?')[0]})" if code in (None, "no_route") else ""
    return TidemarkError(
        str(code or f"http_{response.status_code}"), detail + place,
        response.status_code, [one for one in errors if isinstance(one, dict)] if isinstance(errors, list) else [],
        response.headers.get("Request-Id"), _number(response.headers.get("Retry-After")),
    )


def answer_of(response: httpx.Response, shape: Shape) -> Answer[Any]:
    headers = response.headers
    closed = _converted(headers.get("Ledger-Closed-At", ""), 4)
    return Answer(convert(object_of(response), shape), _number(headers.get("Ledger-Sequence")), closed if isinstance(closed, datetime) else None,
                  _number(headers.get("Proven-Through")), _number(headers.get("Data-Age-Ms")), headers.get("Network"), headers.get("Request-Id"),
                  _number(headers.get("History-From")))


@dataclass(frozen=True)
class Request:
    method: str
    url: str
    headers: dict[str, str]
    content: bytes | None
    #: whether it may be sent twice
    repeatable: bool
    #: bytes of the answer, decompressed
    limit: int = BODY_LIMIT


def _text(value: Any) -> str:
    return "true" if value is True else "false" if value is False else str(value)


def _query_text(name: str, value: Any) -> str:
    """A parameter as the API takes it: a time in UTC, a date alone. ValueError: a time without a zone, which would be another time elsewhere."""
    if isinstance(value, datetime):
        if value.utcoffset() is None:
            raise ValueError(f"{name} has no time zone: give it one, such as datetime(2026, 5, 2, tzinfo=timezone.utc), or give a date")
        return value.astimezone(timezone.utc).isoformat().replace("+00:00", "Z")
    return value.isoformat() if isinstance(value, date) else _text(value)


def request_of(settings: Settings, method: str, template: str, path: Mapping[str, Any], query: Mapping[str, Any], header: Mapping[str, Any],
               body: Any, safe: bool) -> Request:
    def filled(match: re.Match[str]) -> str:
        given = path[match[1]]
        value = "" if given is None else _text(given)
        if value in ("", ".", ".."):
            raise ValueError(f"{match[1]} is missing")
        return quote(value, safe="")

    url = settings.base_url.rstrip("/") + re.sub(r"\{(\w+)\}", filled, template)
    given: list[tuple[str, str | int | float | bool | None]] = [(key, _query_text(key, value)) for key, value in query.items() if value is not None]
    if given:
        url += "?" + str(httpx.QueryParams(given))
    headers = {"Accept": "application/json", "Accept-Encoding": "gzip", **{key: str(value) for key, value in header.items() if value is not None}}
    if settings.api_key and "X-API-Key" not in headers:
        headers["X-API-Key"] = settings.api_key
    content = None
    if body is not None:
        headers["Content-Type"] = "application/json"
        content = json.dumps(body, default=str).encode()
    return Request(method, url, headers, content, method == "GET" or safe or "Idempotency-Key" in headers)


def _may_repeat(request: Request, error: TidemarkError) -> bool:
    if not request.repeatable:
        return False
    if error.status in (429, 503):
        return error.status == 429 or error.retry_after is not None
    return (error.status is None and error.code == "network") or error.status in (502, 504)


class Limit:
    """Until when the server wants no request, by the clock ``time.monotonic``."""

    def __init__(self) -> None:
        self.until = 0.0

    def heed(self, response: httpx.Response) -> None:
        found = re.search(r";r=([0-9]{1,9});t=([0-9]{1,9})", response.headers.get("RateLimit", "").replace(" ", ""))
        if found and found[1] == "0":
            self.until = time.monotonic() + min(float(found[2]), PAUSE)


Step = tuple[str, Any]


def attempts(settings: Settings, limit: Limit, request: Request) -> Generator[Step, Any, httpx.Response]:
    """Yields ("sleep", seconds) and ("send", (request, seconds)); is sent the response, or has the error of httpx thrown in."""
    until = time.monotonic() + settings.timeout
    attempt = 0
    while True:
        pause = limit.until - time.monotonic()
        if pause > 0:
            if time.monotonic() + pause >= until:
                raise TidemarkError("timeout", f"the server's rate limit asks to wait {pause:.0f} s")
            yield "sleep", pause
        left = until - time.monotonic()
        if left <= 0:
            raise TidemarkError("timeout", f"no answer within {settings.timeout} s")
        try:
            response: httpx.Response = yield "send", (request, left)
            limit.heed(unmoved(response))
            if response.is_success:
                return response
            error = problem_of(response, request.url, settings.proxy)
        except httpx.TransportError as cause:
            error = TidemarkError("timeout" if isinstance(cause, httpx.TimeoutException) else "network", f"no answer of {httpx.URL(request.url).netloc.decode()}{why_of(cause)}.{settings.proxy}")
            error.__cause__ = cause
        wait = error.retry_after if error.retry_after is not None else min(0.1 * 2**attempt, 5.0) * random.uniform(0.5, 1.5)
        attempt += 1
        if attempt > settings.retries or not _may_repeat(request, error) or time.monotonic() + wait >= until:
            raise error
        yield "sleep", wait


class Caller:
    """Calls that wait for their answer."""

    def __init__(self, settings: Settings, http: httpx.Client) -> None:
        self._settings, self._http, self._limit = settings, http, Limit()

    def send(self, request: Request) -> httpx.Response:
        steps = attempts(self._settings, self._limit, request)
        try:
            kind, value = next(steps)
            while True:
                try:
                    if kind == "sleep":
                        time.sleep(value)
                        result = None
                    else:
                        one, left = value
                        result = self._fetch(one, left)
                except httpx.TransportError as error:
                    kind, value = steps.throw(error)
                else:
                    kind, value = steps.send(result)
        except StopIteration as done:
            return done.value  # type: ignore[no-any-return]

    def _fetch(self, one: Request, left: float) -> httpx.Response:
        """httpx bounds each read, not all of them: a body that drips ends here. Its headers may drip for longer."""
        until = time.monotonic() + left
        with self._http.stream(one.method, one.url, headers=one.headers, content=one.content, timeout=left, follow_redirects=False) as response:
            if response.is_stream_consumed:  # of a transport without a network
                return response
            body = Body(response, one.limit)
            for piece in response.iter_raw():
                body.take(piece)
                if time.monotonic() > until:
                    raise httpx.ReadTimeout("the answer does not end")
            return whole(response, body.bytes())

    def call(self, method: str, template: str, *, path: Mapping[str, Any] = {}, query: Mapping[str, Any] = {}, header: Mapping[str, Any] = {},
             body: Any = None, shape: Shape = None, safe: bool = False) -> Answer[Any]:
        return answer_of(self.send(request_of(self._settings, method, template, path, query, header, body, safe)), shape)


class AsyncCaller:
    """Calls of an event loop."""

    def __init__(self, settings: Settings, http: httpx.AsyncClient) -> None:
        self._settings, self._http, self._limit = settings, http, Limit()

    async def send(self, request: Request) -> httpx.Response:
        steps = attempts(self._settings, self._limit, request)
        try:
            kind, value = next(steps)
            while True:
                try:
                    if kind == "sleep":
                        await asyncio.sleep(value)
                        result = None
                    else:
                        one, left = value
                        result = await self._fetch(one, left)
                except httpx.TransportError as error:
                    kind, value = steps.throw(error)
                else:
                    kind, value = steps.send(result)
        except StopIteration as done:
            return done.value  # type: ignore[no-any-return]

    async def _fetch(self, one: Request, left: float) -> httpx.Response:
        try:
            async with asyncio.timeout(left), self._http.stream(
                one.method, one.url, headers=one.headers, content=one.content, timeout=left, follow_redirects=False
            ) as response:
                if response.is_stream_consumed:  # of a transport without a network
                    return response
                body = Body(response, one.limit)
                async for piece in response.aiter_raw():
                    body.take(piece)
                return whole(response, body.bytes())
        except TimeoutError as cause:
            raise httpx.ReadTimeout("the answer does not end") from cause

    async def call(self, method: str, template: str, *, path: Mapping[str, Any] = {}, query: Mapping[str, Any] = {}, header: Mapping[str, Any] = {},
                   body: Any = None, shape: Shape = None, safe: bool = False) -> Answer[Any]:
        return answer_of(await self.send(request_of(self._settings, method, template, path, query, header, body, safe)), shape)


def _next(page: Answer[Any], cursor: Any) -> Any:
    """The cursor of the page after. A list without one, or with the same again, would go round for ever."""
    after = page.data.get("next", 0)
    if not isinstance(page.data.get("items"), list) or not (after is None or isinstance(after, str)) or (after is not None and after == cursor):
        raise TidemarkError("not_json", "the answer is no page of a list")
    return after


def pages(operation: Callable[..., Answer[Any]], **parameters: Any) -> Iterator[Answer[Any]]:
    """The pages of a list, one after the other: ``pages(client.pool_swaps, pool="XLMUSDC")``."""
    while True:
        page = operation(**parameters)
        cursor = _next(page, parameters.get("cursor"))
        yield page
        if cursor is None:
            return
        parameters["cursor"] = cursor


def items(operation: Callable[..., Answer[Any]], **parameters: Any) -> Iterator[Any]:
    """The items of a list; pages are asked for as they are needed."""
    for page in pages(operation, **parameters):
        yield from page.data["items"]


async def async_pages(operation: Callable[..., Awaitable[Answer[Any]]], **parameters: Any) -> AsyncIterator[Answer[Any]]:
    """:func:`pages` of an :class:`AsyncClient`."""
    while True:
        page = await operation(**parameters)
        cursor = _next(page, parameters.get("cursor"))
        yield page
        if cursor is None:
            return
        parameters["cursor"] = cursor


async def async_items(operation: Callable[..., Awaitable[Answer[Any]]], **parameters: Any) -> AsyncIterator[Any]:
    """:func:`items` of an :class:`AsyncClient`."""
    async for page in async_pages(operation, **parameters):
        for one in page.data["items"]:
            yield one
