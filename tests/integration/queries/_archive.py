#!/usr/bin/env python3
"""usage: _archive.py   lists of events while ledgers below 2000 are archived (archive.sh)."""
import sys

sys.dont_write_bytecode = True
from _sql import Driver, sql

d = Driver(1)
pool = sql("SELECT pool_id FROM event.liquidity_pool_swap GROUP BY 1 ORDER BY count(*) DESC LIMIT 1")
there = int(sql(f"SELECT count(*) FROM event.liquidity_pool_swap WHERE pool_id = '{pool}'"))
target, seen, cursor = f"/api/pools/{pool}/swaps?limit=50", 0, None
while True:
    status, _, answer = d.told(target + (f"&cursor={cursor}" if cursor else ""))
    if status != 200:
        break
    seen += len(answer["items"])
    cursor = answer["next"]
    assert cursor, "a list that ends as if there were nothing more"
assert (status, answer["code"]) == (410, "archived") and "1000 to 1999" in answer["detail"], answer
assert seen == there > 50, (seen, there)
assert d.ask(f"/api/pools/{pool}/swaps?ledger=1990", 410)["code"] == "archived"
# the oldest first: refused at once, unless the time asked for begins behind the archive
last, edge = sql("SELECT string_agg(extract(epoch FROM closed_at)::bigint::text, ' ' ORDER BY ledger) FROM chain.ledger WHERE ledger IN (1999, 2000)").split()
assert d.ask(f"/api/pools/{pool}/swaps?order=asc", 410)["code"] == "archived"
assert d.ask(f"/api/pools/{pool}/swaps?order=asc&from={last}", 410)["code"] == "archived"
assert len(d.pages(f"/api/pools/{pool}/swaps?order=asc&from={edge}", 50)[0]) == len(d.pages(f"/api/pools/{pool}/swaps?from={edge}", 50)[0]) == there
assert d.ask("/api/pools?ledger=1990")["items"], "state as of an archived ledger"
assert d.ask(f"/api/pools/{pool}/candles?interval=1d")["items"]
d.close()
print(f"{seen} swaps, then 410")
