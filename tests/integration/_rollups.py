#!/usr/bin/env python3
"""The schema rollup against a reckoning of its own from event and history rows, in Python integers.
Called with the database in the environment of libpq; says the first differences and exits with 1.
"""
import json
import subprocess
import sys

DAY = 86400


def rows(sql):
    done = subprocess.run(["psql", "-XAtq", "-v", "ON_ERROR_STOP=1", "-c",
                           f"SELECT row_to_json(x) FROM ({sql}) AS x"], capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    return [json.loads(line, parse_float=str) for line in done.stdout.splitlines()]


def number(x):
    return None if x is None else int(x)


def cut(a, b):
    """a / b towards zero, as the contracts divide."""
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def plus(a, b):
    return b if a is None else a if b is None else a + b


def decimal(price):
    """An integer of 14 decimals as PostgreSQL writes numeric(60,14)."""
    return None if price is None else f"{price // 10**14}.{price % 10**14:014d}"


def usdc():
    found = {}
    for row in rows("""SELECT d.id, j.address FROM chain.deployment d,
                       jsonb_to_recordset(d.contracts) j(address text, role text) WHERE j.role = 'usdc'"""):
        found[row["id"]] = row["address"]
    return found


def versions():
    """The last entry of each pool in each transaction."""
    found = {}
    for row in rows("""SELECT deployment, pool_id, ledger, tx, seq, fee_tier::text, token_a, token_b, reserve_a::text,
                       reserve_b::text FROM history.liquidity_pool_pool WHERE NOT removed ORDER BY ledger, tx, seq"""):
        found[row["deployment"], row["pool_id"], row["ledger"], row["tx"]] = row
    return found


def trades():
    quote, pools = usdc(), versions()
    for row in rows("""SELECT *, extract(epoch FROM closed_at)::bigint AS t, amount_in::text AS a_in, amount_out::text AS a_out
                       FROM event.liquidity_pool_swap ORDER BY ledger, tx, op, event"""):
        pool = pools.get((row["deployment"], row["pool_id"], row["ledger"], row["tx"]))
        got, given, a_to_b = int(row["a_out"]), int(row["a_in"]), row["a_to_b"]
        trade = {"deployment": row["deployment"], "pool": row["pool_id"], "t": row["t"], "trader": row["trader"],
                 "place": row["ledger"] * 2**20 + row["tx"], "a": given if a_to_b else got, "b": got if a_to_b else given,
                 "price": None, "fee_a": None, "fee_b": None, "quote": None, "fee_quote": None}
        if pool:
            fee = cut(given * int(pool["fee_tier"]), 10000)
            bought = cut(fee * got, given) if given else 0
            trade["fee_a"], trade["fee_b"] = (fee, 0) if a_to_b else (0, fee)
            if int(pool["reserve_a"]):
                trade["price"] = int(pool["reserve_b"]) * 10**14 // int(pool["reserve_a"])
            if quote.get(row["deployment"]) in (pool["token_a"], pool["token_b"]):
                is_a = quote[row["deployment"]] == pool["token_a"]
                trade["quote"] = trade["a"] if is_a else trade["b"]
                trade["fee_quote"] = fee if is_a == a_to_b else bought
        yield trade


def candles(all_trades):
    found = {}
    for trade in all_trades:
        for seconds in (60, 300, 3600, DAY):
            key = (trade["deployment"], trade["pool"], seconds, trade["t"] // seconds * seconds)
            c = found.setdefault(key, {"prices": [], "first": trade["place"], "swaps": 0, "a": 0, "b": 0,
                                       "fee_a": None, "fee_b": None, "quote": None, "fee_quote": None})
            c["prices"].append(trade["price"])
            c["last"] = trade["place"]
            c["swaps"] += 1
            for name in ("a", "b", "fee_a", "fee_b", "quote", "fee_quote"):
                c[name] = plus(c[name], trade[name])
    for key, c in found.items():
        known = [p for p in c["prices"] if p is not None]
        yield key, (decimal(c["prices"][0]), decimal(max(known, default=None)), decimal(min(known, default=None)),
                    decimal(c["prices"][-1]), c["first"], c["last"], c["swaps"], c["a"], c["b"], c["fee_a"],
                    c["fee_b"], c["quote"], c["fee_quote"])


def stored_candles():
    for r in rows("""SELECT deployment, pool_id, seconds, extract(epoch FROM at)::bigint AS t, open_price::text, high_price::text,
                     low_price::text, close_price::text, first_place, last_place, swaps, volume_a::text, volume_b::text,
                     fees_a::text, fees_b::text, volume_quote::text, fees_quote::text FROM rollup.candle"""):
        yield (r["deployment"], r["pool_id"], r["seconds"], r["t"]), (
            r["open_price"], r["high_price"], r["low_price"], r["close_price"], r["first_place"], r["last_place"],
            r["swaps"], *(number(r[n]) for n in ("volume_a", "volume_b", "fees_a", "fees_b", "volume_quote", "fees_quote")))


def days(all_trades):
    found = {}
    for trade in all_trades:
        d = found.setdefault((trade["deployment"], trade["t"] // DAY * DAY), [0, 0, None, None])
        d[0] += 1
        d[1] += trade["quote"] is not None
        d[2] = plus(d[2], trade["quote"])
        d[3] = plus(d[3], trade["fee_quote"])
    for key, d in found.items():
        yield key, tuple(d)


def stored_days():
    for r in rows("""SELECT deployment, extract(epoch FROM day)::bigint AS t, swaps, quoted_swaps, volume_quote::text,
                     fees_quote::text FROM rollup.day"""):
        yield (r["deployment"], r["t"]), (r["swaps"], r["quoted_swaps"], number(r["volume_quote"]), number(r["fees_quote"]))


def compare(name, wanted, stored):
    wanted, stored = dict(wanted), dict(stored)
    wrong = [key for key in sorted(wanted.keys() | stored.keys()) if wanted.get(key) != stored.get(key)]
    for key in wrong[:5]:
        print(f"{name} {key}\n  wanted {wanted.get(key)}\n  stored {stored.get(key)}", file=sys.stderr)
    if wrong:
        sys.exit(f"{name}: {len(wrong)} of {len(wanted)} rows differ")
    return f"{len(wanted)} {name}"


def main():
    all_trades = list(trades())
    print(", ".join([compare("candles", candles(all_trades), stored_candles()),
                     compare("days", days(all_trades), stored_days())]))


main()
