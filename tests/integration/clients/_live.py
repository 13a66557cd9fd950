"""Tests the Python package on a running API. Argument: the example that writes a portfolio."""

import asyncio
import json
import os
import subprocess
import sys
import urllib.request
from decimal import Decimal

import tidemark_client as tidemark

URL = os.environ["TIDEMARK_API_URL"]


def raw(path):
    with urllib.request.urlopen(URL + path) as answer:
        return json.load(answer)


def sql(statement):
    return subprocess.run(["psql", "-XAtq", os.environ["TIDEMARK_DATABASE_URL"], "-c", statement], check=True, capture_output=True, text=True).stdout.strip()


def plain(value):
    """As the API writes it: numbers are texts again."""
    if isinstance(value, dict):
        return {key: plain(one) for key, one in value.items()}
    if isinstance(value, list):
        return [plain(one) for one in value]
    return str(value) if isinstance(value, Decimal) else value


with tidemark.Client(URL) as client:
    answer = client.markets()
    at = client.markets(ledger=answer.ledger)
    for one, wanted in zip(at.data["items"], raw(f"/api/markets?ledger={answer.ledger}")["items"], strict=True):
        assert isinstance(one["debt"], int) and str(one["debt"]) == wanted["debt"]
        assert str(one["debtScaled"]) == wanted["debtScaled"] == str(tidemark.to_decimal(one["debt"], 7))
        assert one["oracle"] is None or one["oracle"]["latestAt"] is None or one["oracle"]["latestAt"].tzinfo is not None
    counted = int(sql(f"SELECT count(*) FROM event.liquidity_pool_swap WHERE ledger <= {answer.ledger}"))
    ids = [swap["id"] for pool in client.pools().data["items"] for swap in tidemark.items(client.pool_swaps, pool=pool["pool"], ledger=answer.ledger, limit=50)]
    assert len(ids) == len(set(ids)) == counted > 40, (len(ids), counted)
    owner = sql("SELECT owner FROM state.vault LIMIT 1") if sql("SELECT to_regclass('state.vault')") else client.vaults(limit=1).data["items"][0]["owner"]
    page = subprocess.run([sys.executable, sys.argv[1], owner], check=True, capture_output=True, text=True).stdout
    assert "vault, " in page and "may trade: " in page, page


async def waiting():
    seen = []
    async with tidemark.AsyncClient(URL) as client:
        answers = await asyncio.gather(*(client.price(asset=one["asset"]) for one in (await client.prices()).data["items"][:4]))
        assert all(one.data["latestPrice"] is None or isinstance(one.data["latestPrice"], int) for one in answers)
        async for message in client.stream(["ledger"]):
            if message.type == "ledger":
                seen.append(message.data["ledger"])
            if len(seen) == 3:
                return seen


seen = asyncio.run(waiting())
assert seen == [seen[0], seen[0] + 1, seen[0] + 2], seen
print(f"python: {counted} swaps, markets and a portfolio equal the API's and SQL's; ledgers {seen}")
