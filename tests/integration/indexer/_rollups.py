#!/usr/bin/env python3
"""Compares the schema rollup with a computation from event and history rows in Python integers. Called with the
database in libpq's environment; prints the first differences and exits with 1.
"""
import json
import subprocess
import sys

DAY = 86400
LENGTHS = (60, 300, 900, 3600, 14400, DAY, 7 * DAY)
MONDAY = 4 * DAY  # the first one of unix time


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
    """An integer of 52 decimals as PostgreSQL writes it."""
    return None if price is None else f"{price // 10**52}.{price % 10**52:052d}"


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
                 "place": row["ledger"] * 2**20 + row["tx"], "a_to_b": a_to_b, "sold": given, "partner": row["partner_id"],
                 "token": pool and pool["token_a" if a_to_b else "token_b"], "a": given if a_to_b else got, "b": got if a_to_b else given,
                 "price": None, "fee_a": None, "fee_b": None, "quote": None, "fee_quote": None}
        if pool:
            fee = cut(given * int(pool["fee_tier"]), 10000)
            bought = cut(fee * got, given) if given else 0
            trade["fee_a"], trade["fee_b"] = (fee, 0) if a_to_b else (0, fee)
            if int(pool["reserve_a"]):
                trade["price"] = int(pool["reserve_b"]) * 10**52 // int(pool["reserve_a"])
            if quote.get(row["deployment"]) in (pool["token_a"], pool["token_b"]):
                is_a = quote[row["deployment"]] == pool["token_a"]
                trade["quote"] = trade["a"] if is_a else trade["b"]
                trade["fee_quote"] = fee if is_a == a_to_b else bought
        yield trade


def start_of(seconds, t):
    return (t - MONDAY) // seconds * seconds + MONDAY


def prices():
    """By interval: the first, highest, lowest and last median, the ledgers of first and last, rounds, and the last average."""
    found = {}

    def at(row, seconds):
        return found.setdefault((row["deployment"], row["asset"], seconds, start_of(seconds, row["t"])), [[], None, None])

    for row in events("oracle_price_aggregate"):
        for seconds in LENGTHS:
            at(row, seconds)[0].append((row["ledger"], int(row["median_price"])))
    for row in rows("""SELECT *, extract(epoch FROM closed_at)::bigint AS t FROM history.oracle_feed ORDER BY ledger, tx, seq"""):
        for seconds in LENGTHS:
            at(row, seconds)[1:] = number(row["twap_price"]), row["ledger"]
    for key, (rounds, twap, ledger) in found.items():
        medians = [p for _, p in rounds]
        yield key, (*((medians[0], max(medians), min(medians), medians[-1], rounds[0][0], rounds[-1][0]) if rounds else (None,) * 6),
                    len(rounds), twap, ledger)


def stored_prices():
    names = ("open_price", "high_price", "low_price", "close_price", "first_ledger", "last_ledger", "rounds", "twap_price", "twap_ledger")
    for r in rows(f"""SELECT deployment, asset, seconds, extract(epoch FROM at)::bigint AS t, {", ".join(n + "::text" for n in names)}
                      FROM rollup.price"""):
        yield (r["deployment"], r["asset"], r["seconds"], r["t"]), tuple(number(r[n]) for n in names)


def candles(all_trades):
    found = {}
    for trade in all_trades:
        for seconds in LENGTHS:
            key = (trade["deployment"], trade["pool"], seconds, start_of(seconds, trade["t"]))
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


def day_of(row):
    return row["t"] // DAY * DAY


def events(table):
    return rows(f"SELECT *, extract(epoch FROM closed_at)::bigint AS t FROM event.{table} ORDER BY ledger, tx, op, event")


ACTORS = {"liquidity_pool_add_liquidity": "provider", "liquidity_pool_remove_liquidity": "provider", "liquidity_pool_claim": "provider",
          "synthetic_engine_open": "owner", "synthetic_engine_deposit": "owner", "synthetic_engine_mint": "owner",
          "synthetic_engine_burn": "owner", "synthetic_engine_withdraw": "owner", "stability_pool_deposit": "depositor",
          "stability_pool_withdraw": "depositor", "stability_pool_claim": "depositor"}


def active(all_trades):
    """(deployment, pool or nothing, day or None for ever, address)"""
    found = set()
    for trade in all_trades:
        found.add((trade["deployment"], trade["pool"], day_of(trade), trade["trader"]))
        found.add((trade["deployment"], "", day_of(trade), trade["trader"]))
    for table, column in ACTORS.items():
        for row in events(table):
            found.add((row["deployment"], "", day_of(row), row[column]))
    return found | {(deployment, "", -1, address) for deployment, _, _, address in found}


def stored_active():
    for r in rows("""SELECT deployment, pool_id, CASE WHEN isfinite(day) THEN extract(epoch FROM day)::bigint ELSE -1 END AS t,
                     address FROM rollup.active_words"""):
        yield (r["deployment"], r["pool_id"], r["t"], r["address"]), True


def totals(seen):
    found = {}
    for deployment, _, day, _ in seen:
        found[deployment] = found.get(deployment, 0) + (day == -1)
    return found.items()


def pool_days(all_trades, seen):
    found = {}

    def at(deployment, pool, day):
        return found.setdefault((deployment, pool, day), [0] * 13)

    for deployment, pool, day, _ in seen:
        if pool:
            at(deployment, pool, day)[0] += 1
    for trade in all_trades:
        sums = at(trade["deployment"], trade["pool"], day_of(trade))
        sums[10] += 1
        sums[11 if trade["a_to_b"] else 12] += trade["sold"]
    for n, (table, a, b) in enumerate((("add_liquidity", "amount_a", "amount_b"), ("remove_liquidity", "out_a", "out_b"),
                                       ("claim", "claim_a", "claim_b"))):
        for row in events("liquidity_pool_" + table):
            sums = at(row["deployment"], row["pool_id"], day_of(row))
            sums[1 + n] += 1
            sums[4 + 2 * n] += int(row[a])
            sums[5 + 2 * n] += int(row[b])
    return found.items()


def traders(all_trades):
    found = {}
    for trade in all_trades:
        sums = found.setdefault((trade["deployment"], trade["trader"], trade["pool"], int(trade["a_to_b"])), [0, 0, trade["t"], 0])
        sums[0] += 1
        sums[1] += trade["sold"]
        sums[2], sums[3] = min(sums[2], trade["t"]), max(sums[3], trade["t"])
    return found.items()


def stored_traders():
    for r in rows("""SELECT deployment, trader, pool_id, a_to_b::int AS direction, swaps, sold::text, extract(epoch FROM first_at)::bigint AS first,
                     extract(epoch FROM last_at)::bigint AS last FROM rollup.trader"""):
        yield (r["deployment"], r["trader"], r["pool_id"], r["direction"]), (r["swaps"], int(r["sold"]), r["first"], r["last"])


def partner_volumes(all_trades):
    found = {}
    for trade in all_trades:
        if trade["partner"] and trade["token"]:
            sums = found.setdefault((trade["deployment"], trade["partner"], day_of(trade), trade["token"]), [0, 0])
            sums[0] += 1
            sums[1] += trade["sold"]
    return found.items()


def revenue():
    """By epoch and token: what the distributor received; by partner too, and by day: cuts, the fees they were taken from, their number."""
    received, cuts, daily = {}, {}, {}
    fees = list(events("earnings_distributor_revenue_received"))
    for row in fees:
        sums = received.setdefault((row["deployment"], row["epoch"], row["token"]), [0, 0])
        sums[0] += int(row["amount"])
        sums[1] += 1
    for row in events("earnings_distributor_partner_revenue_forwarded"):
        place = [row[n] for n in ("deployment", "ledger", "tx", "op")]
        fee = next(f for f in fees if [f[n] for n in ("deployment", "ledger", "tx", "op")] == place and f["event"] > row["event"])
        for sums in (cuts.setdefault((row["deployment"], row["partner_id"], row["epoch"], fee["token"]), [0, 0, 0]),
                     daily.setdefault((row["deployment"], row["partner_id"], day_of(row), fee["token"]), [0, 0, 0])):
            sums[0] += int(row["partner_cut"])
            sums[1] += int(fee["amount"])
            sums[2] += 1
    return received, cuts, daily


def market_days():
    found = {}
    for table, what, amount in (("open", 0, None), ("open", 4, "collateral_amount"), ("liquidate", 1, None), ("mint", 2, "amount"),
                                ("burn", 3, "amount"), ("deposit", 4, "amount"), ("withdraw", 5, "amount"),
                                ("liquidate", 6, "collateral_seized")):
        for row in events("synthetic_engine_" + table):
            sums = found.setdefault((row["deployment"], row["synth_asset"], day_of(row)), [0] * 7)
            sums[what] += int(row[amount]) if amount else 1
    return found.items()


def call_days():
    found = {}
    for row in rows("SELECT deployment, contract, fn, ok, extract(epoch FROM closed_at)::bigint AS t FROM chain.call"):
        sums = found.setdefault((row["deployment"], day_of(row), row["contract"], row["fn"] or ""), [0, 0])
        sums[0] += 1
        sums[1] += not row["ok"]
    return found.items()


def closings():
    engines = {(r["id"], r["address"]) for r in rows("""SELECT d.id, j.address FROM chain.deployment d,
        jsonb_to_recordset(d.contracts) j(address text, role text) WHERE j.role = 'synthetic_engine'""")}
    found = {}
    for what, table, name, amount, other in (
            ("pool", "liquidity_pool_pool", "pool_id", "reserve_a", "reserve_b"),
            ("debt", "synthetic_engine_debt_total", "synth", "value", None),
            ("stability", "stability_pool_state", None, "total_deposits", None),
            ("price", "oracle_feed", "asset", "twap_price", None),
            ("collateral", "stellar_asset_balance", "contract", "amount", None)):
        for row in rows(f"""SELECT *, extract(epoch FROM closed_at)::bigint AS t FROM history.{table}
                            ORDER BY ledger, tx, seq"""):
            if what == "collateral" and (row["deployment"], row["address"]) not in engines:
                continue
            found[row["deployment"], what, row[name] if name else "", day_of(row)] = (
                row["ledger"], row["tx"], row["seq"], number(row[amount]), number(row[other]) if other else None)
    return found.items()


def compliance():
    """Of records: the last version of each day; changes by day, status and provider; ends by second and provider."""
    versions, changes, ends = {}, {}, {}
    for row in rows("""SELECT *, extract(epoch FROM closed_at)::bigint AS t, encode(key_hash, 'hex') AS key, expires_at::text AS e
                       FROM history.compliance_registry_compliance_rec ORDER BY ledger, tx, seq"""):
        expires = 0 if row["removed"] or row["status"] != 2 else int(row["e"])
        versions[row["deployment"], row["key"], day_of(row)] = (
            row["ledger"], row["tx"], row["seq"], None if row["status"] is None else min(row["status"], 6), row["provider"], expires + 1 if 0 < expires < 253402300799 else None)
    lines = {}
    for deployment, key, day in sorted(versions):
        lines.setdefault((deployment, key), []).append(day)
    until = max((day for _, _, day in versions), default=0)
    last = max([until, *(v[5] // DAY * DAY for v in versions.values() if v[5])])
    for (deployment, key), days_of in lines.items():
        before = None
        marks = {*days_of, *(versions[deployment, key, d][5] // DAY * DAY for d in days_of if versions[deployment, key, d][5])}
        for day in sorted(marks):  # what the record is at the end of each day that could change it
            if day < days_of[0] or day > last:
                continue
            at = max(d for d in days_of if d <= day)
            status, provider, end = versions[deployment, key, at][3:]
            now = None if status is None else (5 if end and end // DAY * DAY <= day else status, provider)
            for value, n in ((before, -1), (now, 1)):
                if value:
                    where = (deployment, day, *value)
                    changes[where] = changes.get(where, 0) + n
            if now and end and end // DAY * DAY == day:
                ends[deployment, end, provider] = ends.get((deployment, end, provider), 0) + 1
            before = now
    return versions, {k: (n,) for k, n in changes.items() if n}, {k: (n,) for k, n in ends.items()}


def stored_versions():
    for r in rows("""SELECT *, encode(key_hash, 'hex') AS key, extract(epoch FROM day)::bigint AS t FROM rollup.compliance_version"""):
        yield (r["deployment"], r["key"], r["t"]), tuple(r[n] for n in ("ledger", "tx", "seq", "status", "provider", "ends"))


def days(all_trades, seen, markets):
    found = {}

    def at(deployment, day):
        return found.setdefault((deployment, day), [0, 0, None, None, 0, 0])

    for trade in all_trades:
        d = at(trade["deployment"], day_of(trade))
        d[0] += 1
        d[1] += trade["quote"] is not None
        d[2] = plus(d[2], trade["quote"])
        d[3] = plus(d[3], trade["fee_quote"])
    for deployment, pool, day, _ in seen:
        if pool == "" and day != -1:
            at(deployment, day)[4] += 1
    for (deployment, _, day), sums in markets:
        if sums[1]:
            at(deployment, day)[5] += sums[1]
    return found.items()


def spans(found, key, ledger):
    first, last = found.get(key, (ledger, ledger))
    found[key] = min(first, ledger), max(last, ledger)


def decimals():
    """What each token said at the ends of ledgers, first and last; -1 is no number up to 38."""
    ends, found = {}, {}
    for table, said in (("synth_token_instance", "coalesce(decimals::text, metadata ->> 'decimal', metadata ->> 'decimals')"), ("stellar_asset_instance", "metadata ->> 'decimal'")):
        for row in rows(f"SELECT deployment, contract, ledger, removed, {said} AS said FROM history.{table} ORDER BY ledger, tx, seq"):
            known = not row["removed"] and row["said"] in {str(n) for n in range(39)}
            ends[row["deployment"], row["contract"], int(row["ledger"])] = row["said"] if known else "-1"
    for (deployment, token, ledger), said in ends.items():
        spans(found, (deployment, token, said), ledger)
    return found


def named():
    """The first ledger of each naming of tokens, by pools and by the engine."""
    pools, engine = {}, {}
    for row in rows("SELECT deployment, contract, pool_id, token_a, token_b, ledger FROM history.liquidity_pool_pool WHERE NOT removed"):
        spans(pools, tuple(row[k] for k in ("deployment", "contract", "pool_id", "token_a", "token_b")), int(row["ledger"]))
    for row in rows("SELECT deployment, contract, symbol, token, ledger FROM history.synthetic_engine_asset_config WHERE NOT removed"):
        spans(engine, (row["deployment"], row["contract"], "market", row["symbol"], row["token"]), int(row["ledger"]))
    for row in rows("SELECT deployment, contract, removed, token, ledger FROM history.synthetic_engine_collateral_allowed"):
        spans(engine, (row["deployment"], row["contract"], "dropped" if row["removed"] else "collateral", "", row["token"]), int(row["ledger"]))
    return [{key: (first,) for key, (first, _) in found.items()} for found in (pools, engine)]


def stored(table, keys, numbers):
    """Rows of a table; a column called day becomes its first second."""
    shown = ", ".join(f"extract(epoch FROM {k})::bigint AS {k}" if k == "day" else k for k in keys)
    for r in rows(f"SELECT {shown}, {', '.join(n + '::text' for n in numbers)} FROM {table if table[0] == '(' else 'rollup.' + table} AS x"):
        key = tuple(r[k] for k in keys)
        yield key if len(keys) > 1 else key[0], tuple(number(r[n]) for n in numbers)


def compare(name, wanted, found):
    wanted, found = dict(wanted), dict(found)
    wanted = {k: tuple(v) if isinstance(v, list) else v for k, v in wanted.items()}
    wrong = [key for key in sorted(wanted.keys() | found.keys()) if wanted.get(key) != found.get(key)]
    for key in wrong[:5]:
        print(f"{name} {key}\n  wanted {wanted.get(key)}\n  stored {found.get(key)}", file=sys.stderr)
    if wrong:
        sys.exit(f"{name}: {len(wrong)} of {len(wanted)} rows differ")
    return f"{len(wanted)} {name}"


def main():
    all_trades = list(trades())
    seen = active(all_trades)
    markets = list(market_days())
    versions, changes, ends = compliance()
    received, cuts, cuts_daily = revenue()
    pools, engine = named()
    print(", ".join([
        compare("candles", candles(all_trades), stored_candles()),
        compare("prices", prices(), stored_prices()),
        compare("days", days(all_trades, seen, markets), stored("day", ("deployment", "day"), (
            "swaps", "quoted_swaps", "volume_quote", "fees_quote", "users", "liquidations"))),
        compare("active", {key: True for key in seen}, stored_active()),
        compare("totals", {k: (n,) for k, n in totals(seen)}, stored("total", ("deployment",), ("users",))),
        compare("pool days", pool_days(all_trades, seen), stored("pool_day", ("deployment", "pool_id", "day"), (
            "traders", "additions", "removals", "claims", "added_a", "added_b", "removed_a", "removed_b", "claimed_a",
            "claimed_b", "swaps", "sold_a", "sold_b"))),
        compare("traders", traders(all_trades), stored_traders()),
        compare("revenue", received, stored("revenue", ("deployment", "epoch", "token"), ("fees", "payments"))),
        compare("partners' revenue", cuts, stored("partner_epoch_revenue", ("deployment", "partner_id", "epoch", "token"), (
            "amount", "fees", "forwards"))),
        compare("days of partners' revenue", cuts_daily, stored("partner_day_revenue", ("deployment", "partner_id", "day", "token"), (
            "amount", "fees", "forwards"))),
        compare("days of partners' trades", partner_volumes(all_trades), stored("partner_day_volume", ("deployment", "partner_id", "day", "token"), (
            "swaps", "volume"))),
        compare("market days", markets, stored("market_day", ("deployment", "market", "day"), (
            "opened", "liquidations", "minted", "repaid", "deposited", "withdrawn", "seized"))),
        compare("days of calls", call_days(), stored("(SELECT deployment, day, contract, coalesce(fn, '') AS fn, calls, refused FROM rollup.call_day_words)", ("deployment", "day", "contract", "fn"), ("calls", "refused"))),
        compare("closings", closings(), stored("closing", ("deployment", "what", "name", "day"), (
            "ledger", "tx", "seq", "amount", "amount_b"))),
        compare("decimals", decimals(), stored("(SELECT deployment, token, decimals::text, first_ledger, last_ledger FROM rollup.decimals)",
            ("deployment", "token", "decimals"), ("first_ledger", "last_ledger"))),
        compare("tokens of pools", pools, stored("pool_token", ("deployment", "contract", "pool_id", "token_a", "token_b"), ("first_ledger",))),
        compare("tokens of the engine", engine, stored("engine_token", ("deployment", "contract", "what", "market", "token"), ("first_ledger",))),
        compare("versions of records", versions, stored_versions()),
        compare("changes of records", changes, stored("compliance_day", ("deployment", "day", "status", "provider"), ("change",))),
        compare("ends of records", ends, stored("compliance_end", ("deployment", "ends", "provider"), ("records",)))]))


main()
