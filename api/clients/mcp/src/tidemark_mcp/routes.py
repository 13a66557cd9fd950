"""Tools of the API's routes: the parameters of the contract in, the server's own JSON out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tidemark_client import AsyncClient, TidemarkError
from tidemark_client._core import answer_of, request_of

from .limits import Limits, Refused, bounded


def _advice(tool: Mapping[str, Any]) -> str:
    return "Ask with a smaller limit, page by page." if "limit" in tool["inputSchema"]["properties"] else "Ask for less."


async def ask_route(client: AsyncClient, limits: Limits, tool: Mapping[str, Any], arguments: Mapping[str, Any]) -> str:
    """Asks one route. Strings of the answer stay strings, so amounts are exact whatever reads them."""
    path = {name: arguments[name] for name in tool["path"]}
    query = {name: arguments[name] for name in tool["query"] if name in arguments}
    request = request_of(client._settings, "GET", tool["template"], path, query, {}, None, True)
    try:
        answer = answer_of(await client.send(replace(request, limit=limits.answer_bytes)), None)
    except TidemarkError as error:
        if error.code == "too_large":
            raise Refused("too_large", f"the answer has more than {limits.answer_kib} KiB. {_advice(tool)}") from None
        raise Refused(error.code, str(error).removeprefix(f"{error.code}: ")) from None
    told = {
        "ledger": answer.ledger, "closedAt": answer.closed_at.isoformat().replace("+00:00", "Z") if answer.closed_at else None,
        "ageMs": answer.age_ms, "network": answer.network, "data": answer.data,
    }
    return bounded(told, limits, _advice(tool))
