#!/usr/bin/env python3
"""usage: _routes_series.py   asks routes of series through bin/sql_driver; the database is there (routes_series.sh)."""
import datetime
import json
import os
import random
import re
import sys

sys.dont_write_bytecode = True
from _sql import Driver, sql

LENGTHS = {"1m": 60, "5m": 300, "15m": 900, "1h": 3600, "4h": 14400, "1d": 86400, "1w": 604800}
LONG = os.environ.get("TIDE_LONG") and list(LENGTHS)
DAY, MONDAY = 86400, 4 * 86400
VOLUMES = ("volumeA", "volumeB", "feesA", "feesB", "volumeQuote", "feesQuote")


def rows(text):
    return json.loads(sql(f"SELECT coalesce(json_agg(x), '[]') FROM ({text}) AS x"), parse_float=str)


def start_of(seconds, t):
    return (t - MONDAY) // seconds * seconds + MONDAY


def time_of(text):
    return int(datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp())


def text_of(t):
    return datetime.datetime.fromtimestamp(t, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def scaled(raw, decimals=7):
    if raw is None:
        return None
    sign, raw = "-" * (int(raw) < 0), abs(int(raw))
    return f"{sign}{raw // 10**decimals}.{raw % 10**decimals:0{decimals}d}"


def cut(a, b):
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


class Chain:
    """What happened, by plain SQL."""

    def __init__(self):
        self.closes = {r["ledger"]: r["t"] for r in rows("SELECT ledger, extract(epoch FROM closed_at)::bigint AS t FROM chain.ledger")}
        self.first, self.last = min(self.closes), max(self.closes)
        self.usdc = sql("SELECT j ->> 'address' FROM chain.deployment, jsonb_array_elements(contracts) AS j WHERE j ->> 'role' = 'usdc'")
        self.pools = {}
        for v in rows("""SELECT ledger, tx, removed, pool_id, token_a, token_b, fee_tier, reserve_a::text AS a, reserve_b::text AS b,
                total_shares::text AS shares, fee_a_accum::text AS earned_a, fee_b_accum::text AS earned_b
                FROM history.liquidity_pool_pool ORDER BY ledger, tx, seq"""):
            self.pools.setdefault(v["pool_id"], []).append(
                {k: int(x) if k in ("a", "b", "shares", "earned_a", "earned_b") and x is not None else x for k, x in v.items()})
        self.trades = [self.trade(r) for r in rows("""SELECT pool_id, ledger, tx, extract(epoch FROM closed_at)::bigint AS t, a_to_b,
            amount_in::text AS given, amount_out::text AS got FROM event.liquidity_pool_swap ORDER BY ledger, tx, op, event""")]
        self.rounds = rows("""SELECT asset, ledger, extract(epoch FROM closed_at)::bigint AS t, median_price::text AS price
            FROM event.oracle_price_aggregate ORDER BY ledger, tx, op, event""")
        self.feeds = rows("""SELECT asset, ledger, extract(epoch FROM closed_at)::bigint AS t, twap_price::text AS price
            FROM history.oracle_feed ORDER BY ledger, tx, seq""")

    def pool(self, pool, ledger, tx=2**31):
        """The newest version, None where it was removed or is not yet there."""
        found = [v for v in self.pools[pool] if (v["ledger"], v["tx"]) <= (ledger, tx)]
        return found[-1] if found and not found[-1]["removed"] else None

    def trade(self, r):
        version, given, got = self.pool(r["pool_id"], r["ledger"], r["tx"]), int(r["given"]), int(r["got"])
        a, b = (given, got) if r["a_to_b"] else (got, given)
        fee = cut(given * version["fee_tier"], 10000)
        quote = {version["token_a"]: a, version["token_b"]: b}.get(self.usdc)
        sold = version["token_a" if r["a_to_b"] else "token_b"]
        return {**r, "volumeA": a, "volumeB": b, "feesA": fee if r["a_to_b"] else 0, "feesB": 0 if r["a_to_b"] else fee,
                "volumeQuote": quote, "price": version["b"] * 10**14 // version["a"],
                "feesQuote": None if quote is None else fee if sold == self.usdc else cut(fee * got, given)}


def total(trades, name):
    return None if any(t[name] is None for t in trades) else str(sum(t[name] for t in trades))


def grouped(found, seconds):
    out = {}
    for one in found:
        out.setdefault(start_of(seconds, one["t"]), []).append(one)
    return out


def prices_of(values, decimals):
    values = [int(v) for v in values]
    out = {}
    for name, value in (("open", values[0]), ("high", max(values)), ("low", min(values)), ("close", values[-1])):
        out[name], out[name + "Scaled"] = str(value), scaled(value, decimals)
    return out


def candles_of(chain, pool, seconds):
    for at, trades in sorted(grouped([t for t in chain.trades if t["pool_id"] == pool], seconds).items()):
        item = {"startsAt": text_of(at), **prices_of([t["price"] for t in trades], 14), "swaps": len(trades),
                "firstLedger": str(trades[0]["ledger"]), "lastLedger": str(trades[-1]["ledger"])}
        for name in VOLUMES:
            item[name] = total(trades, name)
            item[name + "Scaled"] = scaled(item[name])
        yield item


def carried_candle(item):
    out = {**item, "swaps": 0, "firstLedger": None, "lastLedger": None}
    for name in ("open", "high", "low"):
        out[name], out[name + "Scaled"] = item["close"], item["closeScaled"]
    for name in VOLUMES:
        if item[name] is not None:
            out[name], out[name + "Scaled"] = "0", "0.0000000"
    return out


def twap_at(chain, asset, until):
    found = [f["price"] for f in chain.feeds if f["asset"] == asset and f["t"] < until]
    return {"twapClose": found[-1] if found else None, "twapCloseScaled": scaled(found[-1]) if found else None}


def history_of(chain, asset, seconds):
    for at, found in sorted(grouped([r for r in chain.rounds if r["asset"] == asset], seconds).items()):
        yield {"startsAt": text_of(at), **prices_of([r["price"] for r in found], 7), **twap_at(chain, asset, at + seconds),
               "rounds": len(found), "firstLedger": str(found[0]["ledger"]), "lastLedger": str(found[-1]["ledger"])}


def carried_price(item):
    out = {**item, "rounds": 0, "firstLedger": None, "lastLedger": None}
    for name in ("open", "high", "low"):
        out[name], out[name + "Scaled"] = item["close"], item["closeScaled"]
    return out


def fill(items, seconds, ends, carry):
    """Each interval from the first item up to the end, exclusive."""
    by, at, out = {time_of(i["startsAt"]): i for i in items}, None, []
    for at in range(min(by), ends, seconds) if by else ():
        out.append(by[at] if at in by else {**carry(out[-1]), "startsAt": text_of(at)})
    return out


def page_all(d, target):
    """All items, oldest first; both orders and several limits say the same."""
    newest, _ = d.pages(target.replace("?&", "?").rstrip("?"), 200)
    oldest, _ = d.pages((target + "&order=asc").replace("?&", "?"), 199)
    assert newest == oldest[::-1], f"{target}: {len(newest)} newest first, {len(oldest)} oldest first"
    return oldest


def same(wanted, got, target):
    for n, (a, b) in enumerate(zip(wanted, got)):
        assert a == b, f"{target}: item {n}\nwanted {a}\ngot    {b}"
    assert len(wanted) == len(got), f"{target}: {len(wanted)} wanted, {len(got)} got"


def series(d, chain, target, items_of, seconds, carry, after_fill=None):
    """One series: whole, as of ledgers, in parts, with and without fill."""
    whole, count = list(items_of), 0
    now = start_of(seconds, chain.closes[chain.last]) + seconds
    span = (now - time_of(whole[0]["startsAt"])) // seconds
    for ledger in (None, chain.last, chain.last - 60, (chain.first + chain.last) // 2):
        ends = now if ledger is None else start_of(seconds, chain.closes[ledger])
        over = [i for i in whole if time_of(i["startsAt"]) < ends]
        asked = target + ("" if ledger is None else f"&ledger={ledger}")
        same(over, page_all(d, asked), asked)
        count += len(over)
        if not over or span > (4500 if LONG else 400):
            continue
        filled = fill(over, seconds, ends, carry)
        if after_fill:
            filled = [after_fill(i) for i in filled]
        same(filled, page_all(d, asked + "&fill=previous"), asked + "&fill=previous")
        count += len(filled)
        for _ in range(2):
            low, high = sorted(random.randrange(time_of(filled[0]["startsAt"]) - 2 * seconds, ends + seconds) for _ in "12")
            part = f"{asked}&from={low}&to={text_of(high)}"
            same([i for i in over if low <= time_of(i["startsAt"]) < high], page_all(d, part), part)
            same([i for i in filled if low <= time_of(i["startsAt"]) < high], page_all(d, part + "&fill=previous"), part)
    return count


def candles(d, chain):
    busy = max(chain.pools, key=lambda p: sum(t["pool_id"] == p for t in chain.trades))
    count = 0
    for pool, lengths in ((busy, LENGTHS), (min(chain.pools), LONG or ["1h"])):
        for length in lengths:
            seconds = LENGTHS[length]
            wanted = list(candles_of(chain, pool, seconds))
            if wanted:
                count += series(d, chain, f"/api/pools/{pool}/candles?interval={length}", wanted, seconds, carried_candle)
    print(f"candles: {count} items")


def history(d, chain):
    count = 0
    for asset, lengths in zip(sorted({r["asset"] for r in chain.rounds}), (LENGTHS, LONG or ["4h"])):
        for length in lengths:
            seconds = LENGTHS[length]
            twap = lambda item: {**item, **twap_at(chain, asset, time_of(item["startsAt"]) + seconds)}
            count += series(d, chain, f"/api/prices/{asset}/history?interval={length}", history_of(chain, asset, seconds), seconds,
                            carried_price, twap)
    assert d.ask("/api/prices/MISSING/history", 404)["code"] == "not_found"
    print(f"price history: {count} items")


def days(d, chain):
    """With fill there is an item a day; those of days with events are the same as without, the others carry values."""
    zero = {"users", "swaps", "traders", "opened", "liquidations", "volumeA", "volumeB", "feesA", "feesB", "volumeQuote", "feesQuote",
            "minted", "repaid", "collateralDeposited", "collateralWithdrawn", "collateralSeized", "addedA", "addedB", "removedA",
            "removedB", "claimedA", "claimedB"}
    market = sql("SELECT market FROM rollup.market_day GROUP BY 1 ORDER BY count(*), 1 LIMIT 1")
    holes, pool = 0, sql("SELECT pool_id FROM rollup.candle GROUP BY 1 ORDER BY count(*), 1 LIMIT 1")
    for target in ("/api/stats/daily?", f"/api/pools/{pool}/daily?", f"/api/markets/{market}/daily?"):
        for at in (None, chain.last - 100):
            asked = target + ("" if at is None else f"&ledger={at}")
            over = chain.closes[at or chain.last] // DAY + (at is None)
            own, filled = page_all(d, asked), page_all(d, asked + "&fill=previous")
            number = lambda item: time_of(item["day"] + "T00:00:00Z") // DAY
            assert [number(i) for i in filled] == list(range(number(own[0]), over)), asked
            by = {i["day"]: i for i in own}
            for before, item in zip([None] + filled, filled):
                if item["day"] in by:
                    kept = {k: v for k, v in by[item["day"]].items() if v is not None}
                    assert {k: item[k] for k in kept} == kept, (asked, item, kept)
                    continue
                holes += 1
                for name, value in item.items():
                    if name in zero:
                        assert value in (0, "0", None), (asked, name, item)
                    elif name in ("open", "high", "low", "close"):
                        assert value == before["close"], (asked, name, item)
                    elif name in ("tvl", "debt", "reserveA", "reserveB"):
                        assert value == before[name], (asked, name, item)
            low, high = number(filled[0]) * DAY + 1, (over - 1) * DAY
            part = page_all(d, f"{asked}&fill=previous&from={low}&to={high}")
            assert part == filled[1:-1], asked
            assert page_all(d, f"{asked}&from={low}&to={high}") == [i for i in own if filled[1]["day"] <= i["day"] < filled[-1]["day"]], asked
    assert holes > 3, "each day has events: this test proves little"
    print(f"days: {holes} of them carried")


def before(chain, t, newest):
    """The newest ledger that had closed by then, None before the first."""
    found = [n for n, close in chain.closes.items() if close <= t and n <= newest]
    return max(found) if found else None


def figures_of(chain, pool, ledger):
    version, now = chain.pool(pool, ledger), chain.closes[ledger]
    quote = {version["token_a"]: version["a"], version["token_b"]: version["b"]}.get(chain.usdc)
    since = (now - DAY) // 60 * 60 + 60
    mine = [t for t in chain.trades if t["pool_id"] == pool]
    day = [t for t in mine if t["t"] >= since and t["ledger"] <= ledger]
    out = {"tvlQuote": None if quote is None else str(2 * quote), "swaps24h": len(day),
           "volumeQuote24h": None if quote is None else total(day, "volumeQuote"),
           "feesQuote24h": None if quote is None else total(day, "feesQuote"), "change24hBps": None, "providerReturnBps": None}
    then = before(chain, now - DAY, ledger)
    old = chain.pool(pool, then) if then else None
    spot = lambda v: v["b"] * 10**7 // v["a"] if v and v["a"] else None
    if spot(old) and spot(version) is not None:
        out["change24hBps"] = str(cut((spot(version) - spot(old)) * 10000, spot(old)))
    then = before(chain, now - 7 * DAY, ledger)
    old = chain.pool(pool, then) if then else None
    if old and old["shares"] > 0 and min(version["a"], version["b"], version["shares"]) > 0:
        a, b = (version[n] - old[n] for n in ("earned_a", "earned_b"))
        out["providerReturnBps"] = str((a * version["b"] + b * version["a"]) * version["shares"] * 365 * 10000
                                       // (10**12 * 7 * 2 * version["a"] * version["b"]))
    return {**out, **{n + "Scaled": scaled(out[n]) for n in ("tvlQuote", "volumeQuote24h", "feesQuote24h")}}


def within_minutes(chain):
    """Ledgers in whose minute a pool traded both up to them and later."""
    minutes = {}
    for t in chain.trades:
        minutes.setdefault((t["pool_id"], t["t"] // 60), set()).add(t["ledger"])
    return sorted({ledger for found in minutes.values() for ledger in found if ledger < max(found)})


def pools(d, chain):
    seen = {"change24hBps": 0, "providerReturnBps": 0, "swaps24h": 0}
    ledgers = [chain.last, chain.last - 1, chain.last - 33, chain.last - 150] + random.sample(sorted(chain.closes)[40:], 6)
    within = within_minutes(chain)
    assert len(within) >= 3, "hardly any ledger within a minute of trades"
    ledgers += random.sample(within, min(len(within), 6))
    for ledger in [None] + ledgers:
        for item in d.pages("/api/pools" + ("" if ledger is None else f"?ledger={ledger}"), 3)[0]:
            wanted = figures_of(chain, item["pool"], ledger or chain.last)
            assert {k: item[k] for k in wanted} == wanted, f"{item['pool']} at {ledger}:\nwanted {wanted}\ngot    {item}"
            for name in seen:
                seen[name] += item[name] not in (None, 0, "0")
    assert min(seen.values()) > 3, f"hardly any figures: {seen}"
    now = d.ask("/api/stats")
    items = d.pages("/api/pools", 200)[0]
    for name in ("swaps24h", "volumeQuote24h", "feesQuote24h"):
        assert int(now[name]) == sum(int(i[name] or 0) for i in items), (name, now)
    sql(f"DELETE FROM chain.ledger WHERE ledger = {before(chain, chain.closes[chain.last] - DAY, chain.last) + 1}")
    assert all(i["change24hBps"] is None for i in d.ask("/api/pools")["items"]), "the change over a gap is shown"
    print(f"pools: figures of {len(ledgers) + 1} ledgers, {seen}")


def changes(d, chain):
    """What changed over 24 hours, 7 and 30 days before the answer's moment, whatever the time of the day: against plain history."""
    debts, tokens = {}, {}
    for r in rows("SELECT synth, ledger, CASE WHEN removed THEN 0 ELSE value END::text AS value FROM history.synthetic_engine_debt_total ORDER BY ledger, tx, seq"):
        debts.setdefault(r["synth"], []).append((r["ledger"], int(r["value"])))
    for r in rows("SELECT symbol, ledger, token FROM history.synthetic_engine_asset_config WHERE NOT removed ORDER BY ledger, tx, seq"):
        tokens[r["symbol"]] = tokens.get(r["symbol"], []) + [(r["ledger"], r["token"])]
    newest = lambda versions, n: next((v for at, v in reversed(versions) if at <= n), None)

    def price(pool, token, n):
        v = chain.pool(pool, n) if pool and n else None
        given, got = (v["a"], v["b"]) if v and v["token_a"] == token else (v["b"], v["a"]) if v else (0, 0)
        return got * 10**7 // given if given else None

    def pool_of(token, n):
        found = []
        for pool in chain.pools:
            v = chain.pool(pool, n)
            if v and {v["token_a"], v["token_b"]} == {token, chain.usdc}:
                found.append((-(v["a"] if v["token_a"] == chain.usdc else v["b"]), pool))
        return min(found)[1] if found else None

    seen, text = {"debtChangeBps": 0, "spotPriceChangeBps": 0, "sinceLedger": 0, "unlike a day's": 0}, lambda n: None if n is None else str(n)
    for at in [None, chain.last, chain.last - 1] + random.sample(sorted(chain.closes)[20:], 12):
        n = at or chain.last
        for market in debts:
            if newest(tokens[market], n) is None:
                d.ask(f"/api/markets/{market}/changes" + (f"?ledger={at}" if at else ""), 404)
                continue
            got = d.ask(f"/api/markets/{market}/changes" + (f"?ledger={at}" if at else ""))
            token, debt = newest(tokens[market], n), newest(debts[market], n) or 0
            pool = pool_of(token, n)
            assert (got["debt"], got["pool"], got["spotPrice"]) == (str(debt), pool, text(price(pool, token, n))), (at, market, got)
            assert [i["span"] for i in got["items"]] == ["24h", "7d", "30d"]
            for item, span in zip(got["items"], (1, 7, 30)):
                since = chain.closes[n] - span * DAY
                then = before(chain, since, n)
                was, cost, now = (newest(debts[market], then) or 0) if then else None, price(pool, token, then), price(pool, token, n)
                wanted = {"sinceAt": text_of(chain.closes[then]) if then else None, "sinceLedger": text(then), "debt": text(was), "debtScaled": scaled(was), "spotPrice": text(cost), "spotPriceScaled": scaled(cost),
                          "debtChangeBps": text(cut((debt - was) * 10000, was)) if was else None,
                          "spotPriceChangeBps": text(cut((now - cost) * 10000, cost)) if cost and now is not None else None}
                assert {k: item[k] for k in wanted} == wanted, f"{market} at {at}:\nwanted {wanted}\ngot    {item}"
                midnight = before(chain, chain.closes[n] // DAY * DAY - (span - 1) * DAY - 1, n)
                seen["unlike a day's"] += then is not None and midnight is not None and (newest(debts[market], midnight) or 0) != was
                for name in ("debtChangeBps", "spotPriceChangeBps", "sinceLedger"):
                    seen[name] += item[name] not in (None, "0")
    d.ask("/api/markets/NOSUCH/changes", 404)
    assert min(seen.values()) > 5, f"hardly any figures: {seen}"
    print("changes", seen)


def attacks(d, chain):
    """The largest ranges, empty and reversed ones: a page each, quickly, with nothing in it that is not asked for."""
    pool, asset = max(chain.pools), chain.rounds[0]["asset"]
    targets = [f"/api/pools/{pool}/candles?", f"/api/prices/{asset}/history?", f"/api/pools/{pool}/daily?", "/api/stats/daily?"]
    for target in targets:
        for order in ("asc", "desc"):
            for ask in ("from=0&to=4294967295", "to=4294967295", "from=0", "from=4294967295", "to=0", "from=4294967295&to=0",
                        f"from={chain.closes[chain.last]}&to={chain.closes[chain.first]}", "from=1970-01-01T00:00:00Z"):
                for interval in ("1m", "1w") if "daily" not in target else (None,):
                    asked = f"{target}{ask}&order={order}&fill=previous&limit=200" + (f"&interval={interval}" if interval else "")
                    answer = d.ask(asked)
                    empty = ask in ("from=4294967295", "to=0", "from=4294967295&to=0") or "&to=41" in ask
                    assert bool(answer["items"]) != empty and len(answer["items"]) <= 200, (asked, len(answer["items"]))
                    assert not empty or answer["next"] is None, asked
    ten_years = f"/api/pools/{pool}/candles?interval=5m&fill=previous&from={chain.closes[chain.last] - 10 * 365 * DAY}&limit=200"
    assert len(d.ask(ten_years)["items"]) == 200
    for bad in ("interval=2m", "fill=next", "order=up", "from=-1", "to=4294967296", "from=now", "fill="):
        assert d.ask(f"{targets[0]}{bad}", 400)["code"], bad
    print("attacks: answered")


def hostile(d):
    """Prices and amounts at the edges of what a contract can store."""
    pool, asset = sql("SELECT min(pool_id) FROM rollup.candle"), sql("SELECT min(asset) FROM rollup.price")
    most = 2**127 - 1
    for a, b, shares in ((1, most, most), (most, 1, 1), (-most, most, most), (most, -1, -1), (0, 0, 0), (1, 1, most)):
        sql(f"UPDATE state.liquidity_pool_pool SET reserve_a = {a}, reserve_b = {b}, total_shares = {shares}, fee_a_accum = {most}, fee_b_accum = {-most - 1}")
        for item in d.ask("/api/pools")["items"]:
            assert all(re.fullmatch(r"-?[0-9]{1,39}", item[n] or "0") for n in ("change24hBps", "providerReturnBps", "tvlQuote")), item
    sql(f"UPDATE rollup.candle SET open_price = {most}e14, high_price = NULL, low_price = -0.00000000000001, volume_quote = -{most}{most}")
    sql(f"UPDATE rollup.price SET open_price = {-most - 1}, close_price = {most}, twap_price = NULL")
    for target in (f"/api/pools/{pool}/candles?", f"/api/pools/{pool}/daily?", f"/api/prices/{asset}/history?", "/api/pools?", "/api/stats?"):
        for more in ("", "&fill=previous") if target not in ("/api/pools?", "/api/stats?") else ("",):
            d.ask((target + more).replace("?&", "?").rstrip("?"))
    print("hostile values: answered")


def main():
    random.seed(14)
    d, chain = Driver(1), Chain()
    candles(d, chain)
    history(d, chain)
    days(d, chain)
    attacks(d, chain)
    changes(d, chain)
    pools(d, chain)
    hostile(d)
    d.close()
    print("ok")


main()
