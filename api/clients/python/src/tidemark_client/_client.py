"""The two clients."""

from __future__ import annotations

import re
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import replace
from email.utils import parsedate_to_datetime
from typing import Any, Literal

import httpx

from ._core import Request, Settings, TidemarkError, object_of, proxy_of_environment, request_of
from ._generated import AsyncOperations, EventKind, Operations, StreamMessage
from ._stream import Names, _parameters, async_stream, stream
from .receipt import is_shallow, verifying_keys

Topic = Literal["ledger", "event", "price", "compliance"]


_RECEIPTS = {"compliance": "/api/sdk/kyc/status/{address}", "price": "/api/prices/{asset}", "quote": "/api/pools/{pool}/quote"}


def _receipt_request(settings: Settings, kind: Literal["compliance", "price", "quote"], given: dict[str, Any]) -> Request:
    path: dict[str, Any] = {key: given.pop(key) for key in ("address", "asset", "pool") if key in given}
    names = {"max_age_ms": "maxAgeMs", "amount_in": "amountIn"}
    query = {names.get(key, key): value for key, value in given.items()}
    return request_of(settings, "GET", _RECEIPTS[kind], path, {**query, "receipt": 1}, {}, None, True)


def _receipt_text(response: httpx.Response) -> str:
    if response.headers.get("Content-Type", "").split(";")[0] != "application/jwt":
        raise TidemarkError("no_receipts", "the answer is no receipt", response.status_code)
    return response.content.decode("ascii", "replace")


def _keys(response: httpx.Response) -> dict[str, Any]:
    try:
        body = object_of(response)
    except TidemarkError:
        body = {}
    if verifying_keys(body) is None or not is_shallow(body):
        raise TidemarkError("bad_keys", "the answer is no set of keys", response.status_code)
    return {"keys": body["keys"]}


def _age(response: httpx.Response) -> float:
    """Seconds that an answer spent in caches (RFC 9111): by what they say, or by the clocks of the server and of this host."""
    said: str = response.headers.get("Age", "")
    apparent = 0.0
    try:
        apparent = time.time() - parsedate_to_datetime(response.headers.get("Date", "")).timestamp()
    except ValueError:
        pass  # a test's server may say none
    return max(float(said) if re.fullmatch("[0-9]{1,10}", said) else 0.0, apparent, 0.0)


def _jwks_request(settings: Settings) -> Request:
    return request_of(settings, "GET", "/.well-known/jwks.json", {}, {}, {}, None, True)


def _settings(base_url: str, api_key: str | None, retries: int, timeout: float, ours: bool) -> Settings:
    """``ours``: the package makes the httpx client, which then heeds the environment's proxies."""
    settings = Settings(base_url, api_key, retries, timeout)
    return replace(settings, proxy=proxy_of_environment(base_url)) if ours else settings


class Client(Operations):
    """A client that waits for each answer. Use it as a context manager, or close it. Threads may share it."""

    def __init__(self, base_url: str, *, api_key: str | None = None, retries: int = 3, timeout: float = 10.0, http: httpx.Client | None = None) -> None:
        super().__init__(_settings(base_url, api_key, retries, timeout, http is None), http or httpx.Client())

    def stream(self, topics: Sequence[Topic], *, kinds: Sequence[EventKind] | None = None, contract: str | None = None, address: str | None = None, pool: str | None = None,
               assets: Names = None, addresses: Names = None, after: str | None = None) -> Iterator[StreamMessage]:
        """Live messages. A connection that breaks is made again behind the last message; ends with a TidemarkError if it cannot be continued."""
        return stream(self._http, self._settings, _parameters(topics, kinds, contract, address, pool, assets, addresses), after)

    def receipt(self, kind: Literal["compliance", "price", "quote"], **parameters: Any) -> str:
        """A receipt of an answer: ``receipt("compliance", address="G…")``. Keep the text."""
        return _receipt_text(self.send(_receipt_request(self._settings, kind, parameters)))

    def jwks(self) -> dict[str, Any]:
        """The server's public keys: to be kept for five minutes at most, and asked for again when a receipt names an unknown one. TidemarkError ``bad_keys``."""
        return self._jwks_aged()[0]

    def _jwks_aged(self) -> tuple[dict[str, Any], float]:
        """The keys, and the seconds that they spent in caches."""
        response = self.send(_jwks_request(self._settings))
        return _keys(response), _age(response)

    def close(self) -> None:
        self._http.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class AsyncClient(AsyncOperations):
    """The same for an event loop."""

    def __init__(self, base_url: str, *, api_key: str | None = None, retries: int = 3, timeout: float = 10.0, http: httpx.AsyncClient | None = None) -> None:
        super().__init__(_settings(base_url, api_key, retries, timeout, http is None), http or httpx.AsyncClient())

    def stream(self, topics: Sequence[Topic], *, kinds: Sequence[EventKind] | None = None, contract: str | None = None, address: str | None = None, pool: str | None = None,
               assets: Names = None, addresses: Names = None, after: str | None = None) -> AsyncIterator[StreamMessage]:
        """As that of :class:`Client`."""
        return async_stream(self._http, self._settings, _parameters(topics, kinds, contract, address, pool, assets, addresses), after)

    async def receipt(self, kind: Literal["compliance", "price", "quote"], **parameters: Any) -> str:
        """As that of :class:`Client`."""
        return _receipt_text(await self.send(_receipt_request(self._settings, kind, parameters)))

    async def jwks(self) -> dict[str, Any]:
        """As that of :class:`Client`."""
        return _keys(await self.send(_jwks_request(self._settings)))

    async def aclose(self) -> None:
        await self._http.aclose()

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()
