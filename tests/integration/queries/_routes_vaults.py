#!/usr/bin/env python3
"""usage: _routes_vaults.py sim | views FILE

Vaults and liquidations, asked through bin/sql_driver: against what the history says by plain SQL and integers of
Python's, and against what the contracts themselves answered (views). The database is there (routes_vaults.sh)."""
import collections
import json
import random
import sys
import urllib.parse

from _sql import Driver, sql

WAD, MOST = 10**7, 2**127 - 1
STATES = ("open", "active", "at_risk", "liquidatable", "unpriced")


def rows(text):
    return json.loads(sql(f"SELECT coalesce(json_agg(x), '[]') FROM ({text}) AS x") or "[]", parse_float=str)


def as_of(table, n):
    return rows(f"""SELECT * FROM (SELECT DISTINCT ON (key_hash) * FROM history.{table} WHERE ledger <= {n}
        ORDER BY key_hash, ledger DESC, tx DESC, seq DESC) AS h WHERE NOT removed""")


def state_of(vault, markets, feeds, now):
    """State and ratio, by the contract's rule."""
    debt, collateral = int(vault["debt"]), int(vault["collateral"])
    if debt == 0:
        return "open", None
    market = markets.get(vault["synth_asset"])
    prices = []
    for feed in (market["coll_oracle_sym"], market["oracle_symbol"]) if market else ():
        if feed not in feeds or now - int(feeds[feed]["twap_ts"]) > 600:
            return "unpriced", None
        prices.append(int(feeds[feed]["twap_price"]))
    if not market:
        return "unpriced", None
    steps = [collateral * prices[0], collateral * prices[0] // WAD * 10000, debt * prices[1]]
    owed = steps[2] // WAD
    if max(steps) > MOST or owed == 0:
        return "unpriced", None
    ratio = steps[1] // owed
    if ratio < int(market["liq_ratio"]):
        return "liquidatable", ratio
    return ("at_risk" if ratio < int(market["min_coll_ratio"]) else "active"), ratio


def expected(vaults, markets, feeds, now):
    by_symbol = {m["symbol"]: m for m in markets}
    by_asset = {f["asset"]: f for f in feeds}
    out = {}
    for v in vaults:
        state, ratio = state_of(v, by_symbol, by_asset, now)
        out[v["synth_asset"], v["owner"]] = (str(v["collateral"]), str(v["debt"]), state, None if ratio is None else str(ratio))
    return out


def shown(items):
    got = {(i["market"], i["owner"]): (i["collateral"], i["debt"], i["state"], i["ratioBps"]) for i in items}
    assert len(got) == len(items), "an item twice"
    return got


def check_lists(d, want, at, limits, seen):
    """Every filter, page by page, against what is expected."""
    markets = sorted({m for m, _ in want})
    owners = sorted({o for _, o in want})
    for market in [None] + markets:
        for state in (None,) + STATES:
            query = "&".join([f"market={market}"] * bool(market) + [f"state={state}"] * bool(state) + [at] * bool(at))
            for limit in limits:
                items = d.pages("/api/vaults" + ("?" + query if query else ""), limit)[0]
                wanted = {k: v for k, v in want.items() if market in (None, k[0]) and state in (None, v[2])}
                got = shown(items)
                assert got == wanted, (query, limit, len(got), len(wanted), list(set(got.items()) ^ set(wanted.items()))[:4])
                if not at:
                    assert [i["market"] for i in items] == sorted(i["market"] for i in items)
                if state:
                    seen[state] += len(items)
    for owner in random.sample(owners, min(5, len(owners))):
        for state in (None, "active", "unpriced"):
            items = d.pages(f"/api/vaults?owner={owner}" + (f"&state={state}" if state else "") + (f"&{at}" if at else ""), 2)[0]
            assert shown(items) == {k: v for k, v in want.items() if k[1] == owner and state in (None, v[2])}, owner
    for market, owner in random.sample(sorted(want), min(5, len(want))):
        one = d.ask(f"/api/vaults/{market}/{owner}" + (f"?{at}" if at else ""))
        assert shown([one]) == {(market, owner): want[market, owner]}, one


def liquidations(d):
    got = d.pages("/api/liquidations", 2)[0]
    events = rows("SELECT ledger, tx, op, event, owner, synth_asset, collateral_seized FROM event.synthetic_engine_liq")
    assert len(got) == len(events) == len({i["id"] for i in got}) > 3, (len(got), len(events))
    assert [i["id"] for i in got] == sorted((i["id"] for i in got), reverse=True)
    for item in got:
        call, = rows(f"SELECT args, source FROM chain.call WHERE hash = '\\x{item['txHash']}'")
        liquidator, owner, market, asked = call["args"]
        assert (item["liquidator"], item["owner"], item["market"]) == (liquidator, owner, market), (item, call)
        assert 0 < int(item["debtRepaid"]) <= int(asked)
        # the vault before and after says the same
        before, after = (next(iter(rows(f"""SELECT collateral, debt, removed FROM history.synthetic_engine_vault
            WHERE synth = '{market}' AND key_owner = '{owner}' AND (ledger, tx) {sign} (SELECT ledger, tx FROM chain.tx
              WHERE hash = '\\x{item['txHash']}') ORDER BY ledger DESC, tx DESC, seq DESC LIMIT 1""")), None)
            for sign in ("<", "="))
        left = (0, 0) if after["removed"] else (int(after["collateral"]), int(after["debt"]))
        assert int(before["debt"]) - left[1] == int(item["debtRepaid"]), item
        assert int(before["collateral"]) - left[0] == int(item["collateralSeized"]) + int(item["collateralToStabilityPool"] or 0), item
    past = sorted(e["ledger"] for e in events)[len(events) // 2]
    assert [i["id"] for i in d.pages(f"/api/liquidations?ledger={past}", 2)[0]] == [i["id"] for i in got if int(i["ledger"]) <= past]
    for key in ("owner", "market"):
        for value in {i[key] for i in got}:
            assert [i["id"] for i in d.pages(f"/api/liquidations?{key}={value}", 3)[0]] == [i["id"] for i in got if i[key] == value]


def histories(d):
    for vault in rows("SELECT key_owner, synth, count(*) AS n FROM history.synthetic_engine_vault GROUP BY 1, 2 ORDER BY 3 DESC LIMIT 5"):
        items = d.pages(f"/api/vaults/{vault['synth']}/{vault['key_owner']}/history", 3)[0]
        want = rows(f"""SELECT ledger, collateral, debt, removed FROM history.synthetic_engine_vault
            WHERE synth = '{vault['synth']}' AND key_owner = '{vault['key_owner']}' ORDER BY ledger DESC, tx DESC, seq DESC""")
        text = lambda v: None if v is None else str(v)
        assert [(i["ledger"], i["collateral"], i["debt"], i["closed"]) for i in items] == [
            (str(w["ledger"]), text(w["collateral"]), text(w["debt"]), w["removed"]) for w in want]
        assert all(i["txHash"] and i["function"] for i in items)


def plant(vaults):
    """Many more vaults, prices that are fresh for ever: what the ranges of a state must find, dust included."""
    sql("UPDATE chain.cursor SET closed_at = now() + interval '1 day'")
    sql("UPDATE state.oracle_feed SET twap_ts = extract(epoch FROM now() + interval '1 day')::bigint")
    sql("UPDATE state.oracle_feed SET twap_ts = 1 WHERE asset = (SELECT oracle_symbol FROM state.synthetic_engine_asset_config ORDER BY symbol LIMIT 1)")
    values = []
    for i in range(vaults):
        debt = random.choice((0, random.randrange(1, 50), random.randrange(1, 2 * WAD), random.randrange(10**13)))
        collateral = random.choice((0, random.randrange(100), debt * random.randrange(1, 12), debt * random.randrange(10**4, 10**6) // 10**5, 10**30))
        values.append(f"({i}, {collateral}, {debt})")
    sql(f"""INSERT INTO state.synthetic_engine_vault SELECT v.deployment, sha256(convert_to(v.key_hash::text || n.i, 'UTF8')), v.ledger, v.tx, v.seq,
        v.closed_at, v.contract, 'G' || upper(md5(n.i::text)), v.synth, n.c, v.collateral_tok, n.d, v.last_update, v.opened_at,
        'G' || upper(md5(n.i::text)), v.synth_asset FROM (VALUES {", ".join(values)}) AS n(i, c, d)
        JOIN LATERAL (SELECT DISTINCT ON (synth_asset) * FROM state.synthetic_engine_vault ORDER BY synth_asset, key_hash) AS v ON true""")


def plant_past(vaults, first, last):
    """More vaults than are looked at one by one, each of one or two versions; some are gone again."""
    sql(f"""CREATE TEMPORARY TABLE copy AS SELECT v.deployment, sha256(convert_to(v.key_hash::text || 'past' || n.i, 'UTF8')) AS key_hash,
          p.ledger, 0 AS tx, 0 AS seq, l.closed_at, v.contract, p.removed, 'G' || upper(md5('past' || n.i)) AS key_owner, v.synth,
          CASE WHEN NOT p.removed THEN n.c + p.ledger % 2 END AS collateral, v.collateral_tok, CASE WHEN NOT p.removed THEN n.d END AS debt,
          v.last_update, v.opened_at, CASE WHEN NOT p.removed THEN 'G' || upper(md5('past' || n.i)) END AS owner,
          CASE WHEN NOT p.removed THEN v.synth_asset END AS synth_asset
        FROM (SELECT i, a, a + 1 + i * 104729 % ({last} - a) AS b, i % 3 AS fate, d * (i % 11 + 1) AS c, d
            FROM generate_series(1, {vaults}) AS i, LATERAL (SELECT {first} + i * 7919 % ({last} - {first}) AS a,
              (ARRAY[0, i % 50 + 1, i::bigint * 99991 % 10000000, i::bigint * 998877665544])[i % 4 + 1] AS d) AS v) AS n
          JOIN (SELECT *, row_number() OVER (ORDER BY key_hash) AS r, count(*) OVER () AS of FROM state.synthetic_engine_vault) AS v
            ON v.r = n.i % v.of + 1
          JOIN LATERAL (VALUES (n.a, false), (n.b, n.fate = 2)) AS p(ledger, removed) ON p.ledger = n.a OR n.fate > 0
          JOIN chain.ledger AS l ON l.ledger = p.ledger;
        INSERT INTO history.synthetic_engine_vault (deployment, key_hash, ledger, tx, seq, closed_at, contract, removed, key_owner, synth,
          collateral, collateral_tok, debt, last_update, opened_at, owner, synth_asset) SELECT * FROM copy;
        INSERT INTO state.synthetic_engine_vault (deployment, key_hash, ledger, tx, seq, closed_at, contract, key_owner, synth,
          collateral, collateral_tok, debt, last_update, opened_at, owner, synth_asset)
        SELECT DISTINCT ON (key_hash) deployment, key_hash, ledger, tx, seq, closed_at, contract, key_owner, synth, collateral, collateral_tok,
          debt, last_update, opened_at, owner, synth_asset FROM (SELECT *, bool_or(removed) OVER (PARTITION BY key_hash) AS gone FROM copy) AS c
        WHERE NOT gone ORDER BY key_hash, ledger DESC""")


def many_past(d, first, last):
    """As of a ledger when there are many: a page that the next 2000 keys do not fill, one by one and all of history at once."""
    plant_past(3600, first, last)
    seen = collections.Counter()
    for n in (last - 20, (first + last) // 2, first + 60):
        now = int(sql(f"SELECT extract(epoch FROM closed_at)::bigint FROM chain.ledger WHERE ledger = {n}"))
        vaults = as_of("synthetic_engine_vault", n)
        want = expected(vaults, as_of("synthetic_engine_asset_config", n), as_of("oracle_feed", n), now)
        for filters in ({}, *({"state": s} for s in STATES), {"market": vaults[0]["synth_asset"], "state": "open"}):
            items = d.pages("/api/vaults?" + urllib.parse.urlencode({"ledger": n, **filters}), 200)[0]
            wanted = {k: v for k, v in want.items() if filters.get("market") in (None, k[0]) and filters.get("state") in (None, v[2])}
            got = shown(items)
            assert got == wanted, (n, filters, len(got), len(wanted), list(set(got.items()) ^ set(wanted.items()))[:4])
            seen[n] += len(items)
    assert seen[last - 20] > 2000, seen
    sql("""DELETE FROM state.synthetic_engine_vault WHERE length(owner) <> 56;
        DELETE FROM history.synthetic_engine_vault WHERE length(key_owner) <> 56""")


def simulated():
    random.seed(5)
    first, last = map(int, sql("SELECT min(ledger), max(ledger) FROM chain.ledger").split("|"))
    d, seen = Driver(2), collections.Counter()
    liquidations(d)
    histories(d)
    for n in (last, last - 1, (first + last) // 2, first + 100, first):
        now = int(sql(f"SELECT extract(epoch FROM closed_at)::bigint FROM chain.ledger WHERE ledger = {n}"))
        want = expected(as_of("synthetic_engine_vault", n), as_of("synthetic_engine_asset_config", n), as_of("oracle_feed", n), now)
        check_lists(d, want, f"ledger={n}", (7, 200), seen)
    for vault in rows("SELECT DISTINCT key_owner, synth FROM history.synthetic_engine_vault WHERE removed"):
        one = d.ask(f"/api/vaults/{vault['synth']}/{vault['key_owner']}")
        seen["closed"] += one["state"] == "closed"
    d.ask(f"/api/vaults/NOSUCH/{vault['key_owner']}", 404)
    many_past(d, first, last)
    plant(400)
    state = lambda table: rows(f"SELECT * FROM state.{table}")
    now = int(sql("SELECT extract(epoch FROM closed_at)::bigint FROM chain.cursor"))
    want = expected(state("synthetic_engine_vault"), state("synthetic_engine_asset_config"), state("oracle_feed"), now)
    now_seen = collections.Counter()
    # an owner's strkey is not planted: those are listed, and asked for one by one only where they are real
    real = {k: v for k, v in want.items() if len(k[1]) == 56}
    markets = sorted({m for m, _ in want})
    for market in [None] + markets:
        for wanted_state in (None,) + STATES:
            for limit in (50, 200):
                query = "&".join([f"market={market}"] * bool(market) + [f"state={wanted_state}"] * bool(wanted_state))
                items = d.pages("/api/vaults" + ("?" + query if query else ""), limit)[0]
                wanted = {k: v for k, v in want.items() if market in (None, k[0]) and wanted_state in (None, v[2])}
                got = shown(items)
                assert got == wanted, (query, limit, len(got), len(wanted), list(set(got.items()) ^ set(wanted.items()))[:4])
                now_seen[wanted_state] += len(items)
    assert real and all(now_seen[s] > 50 for s in STATES), now_seen
    d.close()
    print("ok", dict(now_seen), dict(seen))


def views(path):
    d, asked = Driver(2), collections.Counter()
    for line in open(path, encoding="utf-8"):
        view = json.loads(line)
        if view["fn"] not in ("get_cr_bps", "is_liquidatable"):
            continue
        owner, market = view["args"]
        if not owner.startswith(("G", "C")):
            continue
        target = f"/api/vaults/{market}/{owner}?ledger={view['ledger']}"
        status, _, _, body = d.line(f"GET {target}").split(" ", 3)
        vault = json.loads(body)
        there = status == "200" and vault["state"] != "closed"
        if view["fn"] == "is_liquidatable":
            # no vault, or no debt: false, asked of no price; unpriced: the contract refuses
            equal = (there and vault["state"] == "unpriced") != view["ok"] and (
                not view["ok"] or view["ret"] == (there and vault["state"] == "liquidatable"))
        elif not there:
            equal = not view["ok"]
        elif vault["debt"] == "0":
            equal = view["ok"] and view["ret"] == str(MOST)
        else:
            equal = vault["ratioBps"] == (view["ret"] if view["ok"] else None)
        assert equal, (view, vault)
        asked[view["fn"], view["ok"]] += 1
    d.close()
    print("views", sum(asked.values()), {f"{f} {'answered' if ok else 'refused'}": n for (f, ok), n in asked.items()})
    assert sum(asked.values()) > 500 and min(asked.values()) > 10, asked


if __name__ == "__main__":
    simulated() if sys.argv[1] == "sim" else views(sys.argv[2])
