#!/usr/bin/env python3
"""Plants random vaults into an index and asks for them by risk through bin/sql_driver. Expectations are fractions of Python's integers:
no key of the database's is used. The database is there (vault_order.sh)."""
import collections
import fractions
import math
import random
import urllib.parse

from _sql import Driver, sql

WAD, MOST = 10**7, 2**127 - 1
STATES = ("active", "at_risk", "liquidatable", "open", "unpriced")
VAULTS, DEAR = 400, 61337 * WAD  # DEAR: the price of a token that vaults owe parts of


def near(a, b):
    """A fraction that differs from a / b as little as two of so many bits can (b > 1, no common divisor)."""
    inverse = pow(a, -1, b)
    return (a * inverse - 1) // b, inverse


def pair(market):
    """Collateral and debt of a vault."""
    debt = random.choice((1, random.randrange(1, 50), random.randrange(1, WAD), random.randrange(1, WAD), random.getrandbits(random.randrange(1, 128)) or 1, MOST))
    kind = random.randrange(8)
    if kind == 0:
        return random.getrandbits(127), 0
    if kind == 1:
        return random.randrange(4), debt
    if kind == 2:
        return random.getrandbits(random.randrange(1, 128)), debt
    if kind == 3:
        return MOST - random.randrange(3), random.choice((1, 2, MOST, MOST - 1))
    liq, least, own, synth = market  # near the limits of the market, where the engine's rounding may decide
    ratio = random.choice((liq, least, (liq + least) // 2, 2 * least)) + random.choice((0, random.randrange(-20, 20)))
    return min(debt * synth * ratio // (own * 10**4) + random.randrange(-3, 4) if debt * synth > 10**8 else random.randrange(90), MOST), debt


def pairs(markets):
    made = [pair(markets[i % len(markets)]) for i in range(VAULTS)]
    for _ in range(40):  # neighbours that only all of the digits tell apart, and equal ratios
        a, b = random.getrandbits(126) | 2**125, random.getrandbits(126) | 2**125
        if math.gcd(a, b) == 1:
            made += [(a, b), near(a, b)]
        few = random.randrange(1, 10**9), random.randrange(1, 10**9)
        made += [(few[0] * n, few[1] * n) for n in (1, 7, 10**10)]
    return [(max(c, 0), debt) for c, debt in made]


def plant(first, last):
    """Half of them have other amounts up to a ledger, some are gone now, some came late."""
    values = []
    # Prices that are fresh for ever; the last market's token is dear, and the first market's is worth next to nothing.
    sql(f"""UPDATE chain.cursor SET closed_at = now() + interval '1 day';
        UPDATE state.oracle_feed SET twap_ts = extract(epoch FROM now() + interval '1 day')::bigint;
        UPDATE state.oracle_feed SET twap_price = CASE asset WHEN m.high THEN {DEAR} ELSE 1717 END
        FROM (SELECT max(oracle_symbol) AS high, min(oracle_symbol) AS low FROM state.synthetic_engine_asset_config) AS m WHERE asset IN (m.low, m.high)""")
    markets = [tuple(map(int, line.split())) for line in sql("""SELECT m.liq_ratio || ' ' || m.min_coll_ratio || ' ' || c.twap_price || ' ' || y.twap_price
        FROM state.synthetic_engine_asset_config AS m JOIN state.oracle_feed AS c ON c.asset = m.coll_oracle_sym JOIN state.oracle_feed AS y ON y.asset = m.oracle_symbol
        ORDER BY m.symbol""").split("\n")]
    present, past = pairs(markets), pairs(markets)
    random.shuffle(past)
    for i, (now, then) in enumerate(zip(present, past)):
        born, changed = random.randrange(first, last - 40), random.randrange(last - 40, last)
        values.append(f"({i}, {born}, {then[0]}, {then[1]}, false)")
        if i % 2:
            values.append(f"({i}, {changed}, {now[0]}, {now[1]}, {'true' if i % 7 == 0 else 'false'})")
    columns = "collateral, collateral_tok, debt, last_update, opened_at, owner, synth_asset"
    sql(f"""CREATE TEMPORARY TABLE copy AS SELECT v.deployment, sha256(convert_to('planted' || n.i, 'UTF8')) AS key_hash, n.ledger, 0 AS tx, 0 AS seq,
          l.closed_at, v.contract, n.gone AS removed, 'G' || upper(md5('planted' || n.i)) AS key_owner, v.synth, CASE WHEN NOT n.gone THEN n.c END AS collateral,
          v.collateral_tok, CASE WHEN NOT n.gone THEN n.d END AS debt, v.last_update, v.opened_at,
          CASE WHEN NOT n.gone THEN 'G' || upper(md5('planted' || n.i)) END AS owner, CASE WHEN NOT n.gone THEN v.synth_asset END AS synth_asset
        FROM (VALUES {", ".join(values)}) AS n(i, ledger, c, d, gone)
          JOIN (SELECT *, row_number() OVER (ORDER BY synth) AS r, count(*) OVER () AS of
            FROM (SELECT DISTINCT ON (synth) * FROM history.synthetic_engine_vault WHERE NOT removed ORDER BY synth, ledger) AS v) AS v ON v.r = n.i % v.of + 1
          JOIN chain.ledger AS l ON l.ledger = n.ledger;
        INSERT INTO history.synthetic_engine_vault (deployment, key_hash, ledger, tx, seq, closed_at, contract, removed, key_owner, synth, {columns})
          SELECT * FROM copy;
        INSERT INTO state.synthetic_engine_vault (deployment, key_hash, ledger, tx, seq, closed_at, contract, key_owner, synth, {columns})
        SELECT deployment, key_hash, ledger, tx, seq, closed_at, contract, key_owner, synth, {columns}
        FROM (SELECT DISTINCT ON (key_hash) * FROM copy ORDER BY key_hash, ledger DESC) AS c WHERE NOT removed""")


def rank(item):
    """The market, then collateral / debt, those without debt last."""
    collateral, debt = int(item["collateral"]), int(item["debt"])
    return item["market"], debt == 0, fractions.Fraction(collateral, debt) if debt else 0


def there(at):
    """All vaults, from history: (market, owner) to amounts."""
    told = sql(f"""SELECT h.synth || ' ' || h.key_owner || ' ' || h.collateral || ' ' || h.debt FROM (SELECT DISTINCT ON (key_hash) *
        FROM history.synthetic_engine_vault WHERE ledger <= {at or 2147483647} ORDER BY key_hash, ledger DESC, tx DESC, seq DESC) AS h WHERE NOT h.removed""")
    return {tuple(line.split()[:2]): tuple(line.split()[2:]) for line in told.split("\n")}


def told(items):
    found = {(i["market"], i["owner"]): (i["collateral"], i["debt"]) for i in items}
    assert len(found) == len(items), f"an item twice: {[i for n, i in enumerate(items) if i in items[:n]][:1]}"
    return found


def in_order(items, what):
    ranks = [rank(i) for i in items]
    wrong = [i for i, two in enumerate(zip(ranks, ranks[1:])) if two[0] > two[1]]
    assert not wrong, f"{what}: {len(wrong)} of {len(ranks)} stand before a riskier one, {items[wrong[0]]} before {items[wrong[0] + 1]}"


def ask(d, limit, **query):
    target = "/api/vaults?" + urllib.parse.urlencode({k: v for k, v in query.items() if v})
    items = d.pages(target, limit)[0]
    in_order(items, target)
    return items


def lists(d, at, seen):
    want, market = there(at), sorted({m for m, _ in there(at)})[0]
    for limit in (31, 200) if at else (7, 200):
        items = ask(d, limit, ledger=at, sort="risk")
        assert told(items) == want, (at, limit, len(items), len(want))
    assert [i for i in items if i["market"] == market] == ask(d, 50, ledger=at, sort="risk", market=market)
    by_state = collections.defaultdict(dict)  # a state's list: what the list of all says of each
    for item in items:
        by_state[item["state"]] |= told([item])
        seen[item["unpricedBecause"]] += 1
    for state in STATES:
        assert told(ask(d, 23, ledger=at, state=state)) == by_state[state], (at, state)
        seen[state] += len(by_state[state])
    small = sum(0 < int(debt) < WAD for _, debt in want.values())
    assert small > 50 and len({rank(i) for i in items}) < len(items), (len(want), small)
    return items


def riskiest(d, items, at):
    """The sums of a market's risk count the vaults at the front of its list: here all of them, in buckets by ratio."""
    for market in {i["market"] for i in items}:
        got = d.ask(f"/api/markets/{market}/risk" + (f"?ledger={at}" if at else ""))
        assert got["vaults"] == sum(i["market"] == market and i["debt"] != "0" for i in items) and got["complete"], (market, got)


def cut(d, at):
    """Of more than 10000 vaults the riskiest 10000 are counted: those with the lowest ratio, and no other."""
    market = sql("SELECT min(synth) FROM state.synthetic_engine_vault")
    sql(f"""INSERT INTO state.synthetic_engine_vault SELECT v.deployment, sha256(convert_to('many' || i, 'UTF8')), v.ledger, v.tx, v.seq, v.closed_at,
          v.contract, 'G' || upper(md5('many' || i)), v.synth, (50 + i) * d, v.collateral_tok, d, v.last_update, v.opened_at, 'G' || upper(md5('many' || i)), v.synth_asset
        FROM generate_series(1, 11000) AS i, LATERAL (SELECT 1 + (i::bigint * 7919 % 11003) * (i % 5) * 4001 AS d) AS n,
          LATERAL (SELECT * FROM state.synthetic_engine_vault AS v WHERE v.synth = '{market}' ORDER BY key_hash LIMIT 1) AS v""")
    vaults = sorted((fractions.Fraction(int(c), int(debt)), key, int(c), int(debt)) for key, c, debt in (line.split() for line in sql(
        f"SELECT encode(key_hash, 'hex') || ' ' || collateral || ' ' || debt FROM state.synthetic_engine_vault WHERE synth = '{market}' AND debt > 0").split("\n")))
    got = d.ask(f"/api/markets/{market}/risk")
    assert (got["vaults"], got["complete"]) == (10000, False), got["vaults"]
    price = [int(got[n]) for n in ("collateralPrice", "synthPrice")]
    ratio = lambda c, debt: c * price[0] // WAD * 10000 // (debt * price[1] // WAD) if debt * price[1] // WAD and max(
        c * price[0], c * price[0] // WAD * 10000, debt * price[1]) <= MOST else None
    counted = [(ratio(c, debt), debt, c) for _, _, c, debt in vaults[:10000]]
    for bucket in got["buckets"]:
        low, high = int(bucket["fromRatioBps"]), int(bucket["toRatioBps"] or MOST + 1)
        inside = [v for v in counted if v[0] is not None and low <= v[0] < high]
        assert (bucket["vaults"], int(bucket["debt"]), int(bucket["collateral"])) == (
            len(inside), sum(v[1] for v in inside), sum(v[2] for v in inside)), (bucket, len(inside))


def main():
    random.seed(11)
    first, last = map(int, sql("SELECT min(ledger), max(ledger) FROM chain.ledger").split("|"))
    plant(first, last)
    d, seen = Driver(2), collections.Counter()
    for at in (None, last - 20, first + 30):
        riskiest(d, lists(d, at, seen), at)
    assert all(seen[s] > 20 for s in STATES), seen
    cut(d, None)
    d.close()
    print("ok", dict(seen))


if __name__ == "__main__":
    main()
