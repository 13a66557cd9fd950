#!/usr/bin/env python3
"""usage: _sql_routes.py   asks SQL routes through bin/sql_driver; the database is there (sql_routes.sh)."""
import collections
import datetime
import itertools
import json
import os
import re
import sys
import urllib.parse

sys.dont_write_bytecode = True
from _sql import API, Driver, forge, params, questions, routes, samples, sql

LONG = bool(os.environ.get("TIDE_LONG"))  # tools/test all

# A7: what must not get further than a refusal or an empty answer.
HOSTILE = [
    "'", "''", "' OR '1'='1", "'; DROP TABLE chain.ledger; --", "1; SELECT pg_sleep(5)", "1) OR 1=1 --", "$1", "$$x$$", "\\", "\\'",
    "%", "_", "*", "NULL", "null", "true", "-1", "0", "1e9", "0x10", "1.5", "2147483647", "2147483648", "4294967295", "4294967296",
    "9223372036854775807", "9223372036854775808", "18446744073709551615", "18446744073709551616", "9" * 60, "infinity", "NaN", "now",
    "{}", "{1,2}", "[]", "(1,2)", "a.b.c.d", "1.2.3.4", "1.2.3", "....", "../../etc/passwd", "<script>", "${jndi:x}", "＇ＯＲ", "\u202e", "A" * 32,
    "A" * 33, "A" * 89, "A" * 600, "pg_catalog.pg_class", "1::regclass", "x' UNION SELECT jurisdiction::text FROM state.compliance_registry_compliance_rec --",
    "GAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAWHF",
]
RAW = ["%00", "%c0%af", "%ff", "%ed%a0%80", "%0a", "%", "%4", "a%00b", ";x", "\\"]


def ledgers(d):
    first, last, count = map(int, sql("SELECT min(ledger), max(ledger), count(*) FROM chain.ledger").split("|"))
    for limit in (7, 200):
        got = [int(i["ledger"]) for i in d.pages("/api/ledgers", limit)[0]]
        assert got == list(range(last, first - 1, -1)), (limit, len(got))
        assert len(got) == count
    page = d.ask("/api/ledgers?limit=3")
    assert page["ledger"] == str(last) and page["items"][0]["hash"] == sql(
        f"SELECT encode(hash, 'hex') FROM chain.ledger WHERE ledger = {last}"), page
    one = d.ask(f"/api/ledgers/{first}")
    closed = lambda n: sql(f"SELECT chain.rfc3339(closed_at) FROM chain.ledger WHERE ledger = {n}")
    assert (one["ledger"], one["closedAt"]) == (str(last), closed(last)), one
    assert (one["item"]["ledger"], one["item"]["closedAt"]) == (str(first), closed(first)), one
    for beside in (first - 1, last + 1, 2**31 - 1, 2**31, 2**32 - 1):
        assert d.ask(f"/api/ledgers/{beside}", 404)["code"] == "not_found"
    ranges = d.ask("/api/coverage")["ranges"]
    assert [(r["fromLedger"], r["toLedger"]) for r in ranges] == [(str(first), str(last))], ranges


def pools_as_of(n):
    """id, reserves, shares of each pool at the close of n, straight from the history."""
    return sql(f"""SELECT string_agg(concat_ws(' ', pool_id, reserve_a, reserve_b, total_shares, ledger), ',' ORDER BY pool_id)
        FROM (SELECT DISTINCT ON (key_hash) * FROM history.liquidity_pool_pool WHERE ledger <= {n}
              ORDER BY key_hash, ledger DESC, tx DESC, seq DESC) h WHERE NOT removed""")


def positions_as_of(n, pool):
    return sql(f"""SELECT string_agg(concat_ws(' ', provider, shares, ledger), ',' ORDER BY provider)
        FROM (SELECT DISTINCT ON (key_hash) * FROM history.liquidity_pool_lp_pos WHERE ledger <= {n} AND pool_id = '{pool}'
              ORDER BY key_hash, ledger DESC, tx DESC, seq DESC) h WHERE NOT removed""")


def shown(items, *names):
    return ",".join(" ".join(i[name] for name in names) for i in items)


def pools(d):
    first, last = map(int, sql("SELECT min(ledger), max(ledger) FROM chain.ledger").split("|"))
    seen = 0
    for n in (None, last, last - 1, (first + last) // 2, first + 40, first) if LONG else (None, last - 1, first + 40):
        at, of = ("", last) if n is None else (f"?ledger={n}", n)
        for limit in (1, 3, 200) if LONG else (1, 200):
            got, _ = d.pages("/api/pools" + at, limit)
            assert shown(got, "pool", "reserveA", "reserveB", "totalShares", "changedLedger") == pools_as_of(of), (n, limit)
        for pool in got:
            one = d.ask(f"/api/pools/{pool['pool']}{at}")
            assert {k: one[k] for k in pool} == pool, (one, pool)
            for limit in (2, 200):
                inside, _ = d.pages(f"/api/pools/{pool['pool']}/positions{at}", limit)
                assert shown(inside, "provider", "shares", "changedLedger") == positions_as_of(of, pool["pool"]), (n, pool, limit)
            seen += len(inside)
            swaps, _ = d.pages(f"/api/pools/{pool['pool']}/swaps{at}", 200)
            assert len(swaps) == int(sql(
                f"SELECT count(*) FROM event.liquidity_pool_swap WHERE ledger <= {of} AND pool_id = '{pool['pool']}'"))
            assert swaps == sorted(swaps, key=lambda s: s["id"], reverse=True) and len({s["id"] for s in swaps}) == len(swaps)
    assert seen > 20, "too few positions: this test proves little"
    assert d.ask("/api/pools/NO_SUCH", 404)["code"] == "not_found"
    assert d.ask(f"/api/pools?ledger={last + 1}", 404)["code"] == "ledger_not_reached"
    assert d.ask("/api/pools?ledger=4294967295", 404)["code"] == "ledger_not_reached"
    assert str(first) in d.ask(f"/api/pools?ledger={first - 1}", 404)["detail"]


def sums_over_time(d):
    """Candles and days page by page are the rollups; what is held now is what state says."""
    all_of = lambda target, limit: d.pages(target, limit)[0]
    one = lambda text: sql(f"SELECT string_agg(x, ' ') FROM ({text}) AS y(x)")
    pool = sql("SELECT pool_id FROM rollup.candle GROUP BY 1 ORDER BY count(*) DESC LIMIT 1")
    for interval, seconds in (("1m", 60), ("15m", 900), ("1d", 86400), ("1w", 604800)):
        items = all_of(f"/api/pools/{pool}/candles?interval={interval}", 7)
        assert " ".join(f"{i['startsAt']}/{i['openScaled']}/{i['closeScaled']}/{i['volumeA']}/{i['feesQuote']}" for i in items) == one(
            f"""SELECT to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') || '/' || trunc(open_price, 14) || '/' || trunc(close_price, 14) ||
                '/' || volume_a || '/' || fees_quote FROM rollup.candle WHERE pool_id = '{pool}' AND seconds = {seconds}
                ORDER BY at DESC"""), interval
    first, last = (int(x) for x in sql("SELECT extract(epoch FROM min(at))::bigint, extract(epoch FROM max(at))::bigint "
                                       f"FROM rollup.candle WHERE pool_id = '{pool}' AND seconds = 60").split("|"))
    part = all_of(f"/api/pools/{pool}/candles?interval=1m&from={first + 60}&to={last}", 50)
    assert len(part) == len(all_of(f"/api/pools/{pool}/candles?interval=1m", 50)) - 2, len(part)
    assert d.ask(f"/api/pools/{pool}/candles?from={last + 86400}")["items"] == []
    text = lambda seconds: sql(f"SELECT to_char(to_timestamp({seconds}) AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"')")
    assert part == all_of(f"/api/pools/{pool}/candles?interval=1m&from={text(first + 60)}&to={text(last)}", 50)
    # As of a ledger what was over when it closed, and nothing that came after shows.
    n = sql("SELECT ledger FROM chain.ledger ORDER BY ledger OFFSET 200 LIMIT 1")
    for target, over in ((f"/api/pools/{pool}/candles?interval=5m", "to_timestamp(extract(epoch FROM closed_at)::bigint - 300)"),
                         (f"/api/pools/{pool}/candles?interval=1m", "to_timestamp(extract(epoch FROM closed_at)::bigint - 60)")):
        then, now = all_of(f"{target}&ledger={n}", 50), all_of(target, 50)
        edge = sql(f"""SELECT to_char({over} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') FROM chain.ledger WHERE ledger = {n}""")
        assert then == [i for i in now if i["startsAt"] <= edge] and 0 < len(then) < len(now), (target, edge, len(then), len(now))
    close = sql(f"SELECT closed_at::date FROM chain.ledger WHERE ledger = {n}")
    market = sql("SELECT market FROM rollup.market_day GROUP BY 1 ORDER BY count(*) DESC, 1 LIMIT 1")
    for target in (f"/api/pools/{pool}/daily", f"/api/markets/{market}/daily", "/api/stats/daily"):
        assert all_of(f"{target}?ledger={n}", 50) == [i for i in all_of(target, 50) if i["day"] < close], target
    counts = ("protocolTransactions", "events", "changes", "rawEvents", "rawStates", "rawCalls", "callsVerified", "callsRewritten", "callsUnverified",
              "chainProof")
    assert all_of(f"/api/ledgers?ledger={n}", 50) == [{**i, **dict.fromkeys(counts)} for i in all_of("/api/ledgers", 50) if int(i["ledger"]) <= int(n)]
    days = all_of("/api/stats/daily", 2)
    assert " ".join(f"{i['day']}/{i['users']}/{i['swaps']}/{i['volumeQuote']}" for i in days) == one(
        "SELECT day || '/' || users || '/' || swaps || '/' || volume_quote FROM rollup.day ORDER BY day DESC")
    assert " ".join(i["day"] for i in all_of(f"/api/pools/{pool}/daily", 3)) == one(
        f"""SELECT day::text FROM (SELECT day FROM rollup.pool_day WHERE pool_id = '{pool}' UNION SELECT (at AT TIME ZONE 'UTC')::date
            FROM rollup.candle WHERE pool_id = '{pool}' AND seconds = 86400) AS u ORDER BY day DESC""")
    market = sql("SELECT market FROM rollup.market_day GROUP BY 1 ORDER BY count(*) DESC, 1 LIMIT 1")
    of_market = all_of(f"/api/markets/{market}/daily", 3)
    assert sum(int(i["minted"]) for i in of_market) == int(sql(
        f"SELECT sum(amount) FROM event.synthetic_engine_mint WHERE synth_asset = '{market}'"))
    assert of_market[0]["debt"] == sql(f"SELECT value FROM state.synthetic_engine_debt_total WHERE synth = '{market}'")
    now = d.ask("/api/stats")
    raw = d.line("GET /api/stats").split(" ", 3)[3]
    assert now["debts"] and json.dumps(now, separators=(",", ":")) == raw, "white space in it"
    role = lambda name: sql(f"""SELECT j ->> 'address' FROM chain.deployment, jsonb_array_elements(contracts) AS j
                                WHERE j ->> 'role' = '{name}'""")
    usdc = role("usdc")
    assert now["tvlPools"] == sql(f"""SELECT sum(2 * CASE '{usdc}' WHEN token_a THEN reserve_a WHEN token_b THEN reserve_b END)
                                      FROM state.liquidity_pool_pool"""), now
    assert now["tvlStability"] == sql("SELECT total_deposits FROM state.stability_pool_state"), now
    assert now["tvlCollateral"] == sql(f"""SELECT sum(CASE b.contract WHEN '{usdc}' THEN b.amount ELSE div(b.amount * f.twap_price,
        10000000) END) FROM state.stellar_asset_balance AS b LEFT JOIN chain.token AS t ON t.token = b.contract LEFT JOIN
        state.oracle_feed AS f ON f.asset = t.symbol WHERE b.address = '{role("synthetic_engine")}'"""), now
    strangers_tokens(d, now, role("synthetic_engine"))
    assert int(now["tvl"]) == sum(int(now[n]) for n in ("tvlPools", "tvlCollateral", "tvlStability")) > 0, now
    assert days[0]["tvl"] == now["tvl"], (days[0], now)
    stats_past(d, now, usdc, role("synthetic_engine"))
    assert now["users"] == int(sql("SELECT count(DISTINCT address_key) FROM rollup.active")), now
    assert now["swaps"] == sum(i["swaps"] for i in days) == int(sql("SELECT count(*) FROM event.liquidity_pool_swap"))
    print(f"rollups: {len(days)} days, TVL {now['tvlScaled']} USDC")


def stats_past(d, now, usdc, engine):
    """Totals as of a ledger: at the newest those of now; before it, from the events and the versions of entries up to it."""
    newest = d.ask(f"/api/stats?ledger={now['ledger']}")
    for name in set(now) - {"users", "since24hAt", "swaps24h", "volumeQuote24h", "volumeQuote24hScaled", "feesQuote24h", "feesQuote24hScaled",
                            "stalePrices", "debtValue", "debtValueScaled", "unpricedDebts"}:  # the clock's
        assert newest[name] == now[name], (name, newest[name], now[name])
    # Ledgers that no swap of the same minute follows.
    for n in sql("""SELECT ledger FROM chain.ledger AS l WHERE NOT EXISTS (SELECT FROM event.liquidity_pool_swap AS e WHERE e.ledger > l.ledger
                    AND date_trunc('minute', e.closed_at) = date_trunc('minute', l.closed_at)) AND EXISTS (SELECT FROM
                    event.liquidity_pool_swap AS e WHERE e.ledger < l.ledger) ORDER BY ledger % 7, ledger LIMIT 5""").split():
        at = lambda table: f"""(SELECT * FROM (SELECT DISTINCT ON (key_hash) * FROM history.{table} WHERE ledger <= {n}
                                ORDER BY key_hash, ledger DESC, tx DESC, seq DESC) AS h WHERE NOT removed)"""
        then = d.ask(f"/api/stats?ledger={n}")
        assert then["users"] is None and then["ledger"] == n, then
        day = f"closed_at > (SELECT date_trunc('minute', closed_at - interval '1 day') + interval '1 minute' FROM chain.ledger WHERE ledger = {n})"
        wanted = {
            "swaps": f"SELECT count(*) FROM event.liquidity_pool_swap WHERE ledger <= {n}",
            "swaps24h": f"SELECT count(*) FROM event.liquidity_pool_swap WHERE ledger <= {n} AND {day}",
            "liquidations": f"SELECT count(*) FROM event.synthetic_engine_liquidate WHERE ledger <= {n}",
            "tvlPools": f"SELECT sum(2 * CASE '{usdc}' WHEN token_a THEN reserve_a WHEN token_b THEN reserve_b END) FROM {at('liquidity_pool_pool')} AS p",
            "tvlStability": f"SELECT total_deposits FROM {at('stability_pool_state')} AS s",
            "tvlCollateral": f"""SELECT sum(CASE b.contract WHEN '{usdc}' THEN b.amount ELSE div(b.amount * f.twap_price, 10000000) END)
                FROM {at('stellar_asset_balance')} AS b LEFT JOIN chain.token AS t ON t.token = b.contract
                LEFT JOIN {at('oracle_feed')} AS f ON f.asset = t.symbol WHERE b.address = '{engine}'""",
            "debtValue": f"""SELECT sum(div(o.value * f.twap_price, 10000000)) FROM {at('synthetic_engine_debt_total')} AS o
                JOIN {at('synthetic_engine_asset_config')} AS m ON m.symbol = o.synth JOIN {at('oracle_feed')} AS f ON f.asset = m.oracle_symbol
                WHERE extract(epoch FROM (SELECT closed_at FROM chain.ledger WHERE ledger = {n})) - f.twap_ts <= 600 AND o.value > 0""",
        }
        for name, query in wanted.items():
            assert str(then[name] if then[name] is not None else "") == sql(query), (n, name, then[name], sql(query))
    print("totals as of a ledger")


def every_route(d, of, values):
    """Each route answers, with each filter, now and as of a ledger; who found nothing is said."""
    middle = int(sql("SELECT (min(ledger) + 2 * max(ledger)) / 3 FROM chain.ledger"))
    empty = []
    for route, more, target in questions(of, values):
        answer = d.ask(target)
        assert "closedAt" in answer and (not route.is_list or isinstance(answer["items"], list)), target
        if route.is_list and not answer["items"]:
            empty.append(target)
        if "ledger" in route.query:
            past = route.target(values, ledger=middle, **more)
            status, _, answer = d.told(past)
            assert status in (200, 404), (past, answer)
            assert status == 404 or answer["ledger"] == str(middle), past
    print(f"{len(of)} routes, nothing in: {' '.join(empty) or 'none'}")


def strangers_tokens(d, now, engine):
    """Anyone may send the engine a token with the symbol of a feed: what the protocol holds stays the same."""
    feeds = sql("SELECT DISTINCT coll_oracle_sym FROM state.synthetic_engine_asset_config").split()
    days = d.ask("/api/stats/daily?limit=5")["items"]
    for name, symbol in [("XLM", "native"), *((f, f) for f in feeds)]:
        sql(f"""INSERT INTO state.stellar_asset_instance (deployment, key_hash, ledger, tx, seq, closed_at, contract, executable, metadata)
              SELECT deployment, sha256(convert_to('{name}', 'UTF8')), ledger, tx, seq, closed_at, 'C{name}', executable,
                json_build_object('decimal', 7, 'name', '{symbol}', 'symbol', '{symbol}') FROM state.stellar_asset_instance LIMIT 1 ON CONFLICT DO NOTHING;
            INSERT INTO state.stellar_asset_balance (deployment, key_hash, ledger, tx, seq, closed_at, contract, address, amount, authorized, clawback)
              SELECT deployment, sha256(convert_to('{name}', 'UTF8')), ledger, tx, seq, closed_at, 'C{name}', '{engine}', 1e15, true, false
              FROM state.stellar_asset_balance LIMIT 1 ON CONFLICT DO NOTHING;
            INSERT INTO history.stellar_asset_balance (deployment, key_hash, ledger, tx, seq, closed_at, contract, removed, address, amount,
                authorized, clawback)
              SELECT deployment, key_hash, ledger, tx, seq, closed_at, contract, false, address, amount, authorized, clawback
              FROM state.stellar_asset_balance AS s WHERE contract = 'C{name}'
                AND NOT EXISTS (SELECT FROM history.stellar_asset_balance AS h WHERE h.key_hash = s.key_hash);
            INSERT INTO rollup.closing SELECT deployment, what, 'C{name}', day, ledger, tx, seq, 1e15 FROM rollup.closing
              WHERE what = 'collateral' ON CONFLICT DO NOTHING""")
    told = ("tvl", "tvlCollateral", "unpriced")
    for target in ("/api/stats", f"/api/stats?ledger={now['ledger']}"):
        assert feeds and {n: d.ask(target)[n] for n in told} == {n: now[n] for n in told}, (target, "a stranger's token is counted")
    assert d.ask("/api/stats/daily?limit=5")["items"] == days, "a stranger's token is counted on its day"
    sql("""DELETE FROM state.stellar_asset_instance WHERE length(contract) < 56; DELETE FROM state.stellar_asset_balance WHERE length(contract) < 56;
        DELETE FROM history.stellar_asset_balance WHERE length(contract) < 56;
        DELETE FROM rollup.closing WHERE what = 'collateral' AND length(name) < 56""")


def both_ways(d, of, values):
    """Lists that take order, from and to: the oldest first is the newest first turned round, and a range is what closed in it. Without
    TIDE_LONG each list takes two of the six ranges in turn, one in each order."""
    seconds = lambda text: int(datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp())
    count, turn = 0, itertools.count()
    for route, more, target in questions([r for r in of if "order" in r.query], values):
        if "order" in more or "from" in more or "to" in more:
            continue
        join = "&" if "?" in target else "?"
        newest = d.pages(target, 200, 1000)[0]
        if not newest or len(newest) >= 1000:
            continue
        assert d.pages(f"{target}{join}order=asc", 199)[0] == newest[::-1], target
        if "closedAt" not in newest[0]:
            continue
        count += len(newest)
        times = sorted({seconds(i["closedAt"]) for i in newest})
        low, high = times[len(times) // 4], times[len(times) * 3 // 4]
        ranges = ((low, high), (low, low), (low, low + 1), (0, low), (high, 4294967295), (high + 1, high))
        every = list(itertools.product(ranges, ("asc", "desc")))
        for (start, end), order in every if LONG else [every[next(turn) * 7 % len(every)] for _ in range(2)]:
            got = d.pages(f"{target}{join}from={start}&to={end}&order={order}", 30)[0]
            wanted = [i for i in newest if start <= seconds(i["closedAt"]) < end]
            assert got == (wanted if order == "desc" else wanted[::-1]), (target, start, end, order, len(got), len(wanted))
    assert count > 300, f"only {count} items"
    print(f"both ways: {count} items")


def parents(d, of, values):
    """A list whose parent is missing is a 404 with the parent's code and words. An empty list is a 200."""
    missing = {"pool": "MISSING", "asset": "MISSING", "symbol": "MISSING", "market": "MISSING", "partnerId": "4294967295", "epoch": "18446744073709551615",
              "owner": HOSTILE[-1], "proposalId": "18446744073709551615",
              "token": sql("SELECT contract FROM event.log WHERE kind LIKE 'oracle%' LIMIT 1")}
    codes, found = {}, {r.name: r for r in of}
    for route in of:
        parent = re.match(r"-- list:.*\n-- of: (\w+)\n", next(API.glob(f"sql/queries/*/{route.name}.sql")).read_text())
        assert bool(parent) == bool(set(route.parts) - {"address"} and route.is_list), route.name
        if not parent:
            continue
        answer = d.ask(route.target(values, **{n: missing[n] for n in route.parts}), 404)
        codes[route.name] = answer["code"]
        if parent.group(1) in found:
            one = d.ask(found[parent.group(1)].target(values, **{n: missing[n] for n in route.parts}), 404)
            assert {**answer, "detail": 0} == {**one, "detail": 0} and answer["detail"] == one["detail"], (answer, one)
        else:
            assert answer["code"] == {"market": "no_market", "token": "not_found", "feed": "not_found"}[parent.group(1)], answer
        if "ledger" in route.query and route.name != "vault_history":  # before it was
            first = int(sql("SELECT min(ledger) FROM chain.ledger"))
            for at in (first, first + 1):
                assert d.told(route.target(values, ledger=at))[0] in (200, 404)
    assert len(codes) > 12, codes
    for text, target in (
            ("SELECT pool_id, (SELECT min(ledger) FROM history.liquidity_pool_pool AS h WHERE h.pool_id = p.pool_id) FROM"
             " state.liquidity_pool_pool AS p LIMIT 1", "/api/pools/{}/swaps?ledger={}"),
            ("SELECT key_id, ledger FROM history.partner_registry_partner ORDER BY ledger LIMIT 1",
             "/api/partners/{}/claims?ledger={}"),
            ("SELECT proposal_id, ledger FROM event.dao_governance_proposed ORDER BY ledger, event DESC LIMIT 1",
             "/api/dao/proposals/{}/votes?ledger={}")):
        there = target.format(*sql(text).split("|"))
        assert d.ask(there)["items"] == [], there
        before = re.sub(r"\d+$", lambda m: str(int(m.group()) - 1), there)
        assert d.ask(before, 404)["code"] in ("not_found", "ledger_not_indexed"), before
    print(f"lists of what is not there: {len(codes)} answer 404")


def a7(d, of, values):
    """With TIDE_LONG each text for each parameter of each route. Else each parameter of a route takes some of them in turn: the routes that
    share a parameter's name share its texts, and all of them come to each kind of parameter."""
    asked, turn = 0, 0
    at, shared = {}, collections.Counter(name for route in of for name in route.parts + route.query)
    texts = [urllib.parse.quote(t, safe="") for t in HOSTILE] + RAW
    for route in of:
        for name in route.parts + route.query:
            few = name in ("limit", "cursor", "ledger")  # of every list, and read by one piece of code
            turn += 1
            if LONG:
                chosen = texts if not few else [texts[(turn * 7 + i) % len(texts)] for i in range(8)]
            else:
                begin, count = at.get(name, 0), max(2 if few else 5, -(-len(texts) // shared[name]))
                chosen = [texts[(begin + i) % len(texts)] for i in range(count)]
                at[name] = begin + count
            for text in chosen:
                target = route.target(values, **{name: "HERE"}).replace("HERE", text)
                status, _, answer = d.told(target)
                assert status in (200, 400, 404, 414), (target, answer)
                asked += 1
        if route.is_list:
            given = route.given(values)
            keys = [key for key in HOSTILE if len(key.encode()) <= 89]
            for key in keys if LONG else [keys[(turn + i) % len(keys)] for i in range(10)]:
                target = route.target(values, cursor=forge(route, given, key))
                status, _, answer = d.told(target)
                assert status in (200, 400), (target, key, answer)
                assert status == 200 or answer["code"] == "cursor_invalid", answer
                asked += 1
    assert sql("SELECT count(*) > 0 FROM chain.ledger") == "t"
    print(f"ok A7 {asked} hostile requests, none answered 5xx")


def cursors(d, of, values):
    """Damaged, of another question, of another epoch of the network."""
    kept = []
    for route in of:
        if not route.is_list:
            continue
        cursor = d.ask(route.target(values, limit=1))["next"]
        if cursor is None:
            continue
        damaged = ("B" if cursor[0] == "A" else "A") + cursor[1:]
        for bad in (damaged, cursor[:-1], cursor + "A", "A" * 128, "-", "eyJsZWRnZXIiOjF9"):
            answer = d.ask(route.target(values, cursor=bad), 400)
            assert answer["code"] == "cursor_invalid", answer
        d.ask(route.target(values, cursor=cursor, limit=2))
        for other, _ in kept[-3:]:
            assert d.ask(other.target(values, cursor=cursor), 400)["code"] == "cursor_invalid"
        if "ledger" in route.query:
            past = sql("SELECT max(ledger) - 1 FROM chain.ledger")
            assert d.ask(route.target(values, cursor=cursor, ledger=past), 400)["code"] == "cursor_invalid"
        kept.append((route, cursor))
    sql("UPDATE chain.deployment SET epoch = epoch + 1")
    later = Driver(1)
    for route, cursor in kept:
        assert later.ask(route.target(values, cursor=cursor), 400)["code"] == "cursor_invalid"
    later.close()
    sql("UPDATE chain.deployment SET epoch = epoch - 1")
    print(f"ok A14 cursors of {len(kept)} lists: damaged, foreign and of another epoch are refused")


def rights():
    """What SQL routes run as reads no jurisdiction."""
    for text in ("SELECT jurisdiction FROM state.compliance_registry_compliance_rec",
                 "SELECT jurisdiction FROM history.compliance_registry_kyc", "SELECT args FROM chain.call",
                 "SELECT value_xdr FROM state.raw", "DELETE FROM chain.ledger"):
        done = sql(f"""DO $$ BEGIN SET LOCAL ROLE tidemark_api; EXECUTE '{text}'; RAISE EXCEPTION 'it may';
            EXCEPTION WHEN insufficient_privilege OR read_only_sql_transaction THEN NULL; END $$""")
        assert done == "", text
    assert sql("""SELECT string_agg(table_schema || '.' || table_name, ' ') FROM information_schema.column_privileges
        WHERE grantee = 'tidemark_api' AND column_name IN ('jurisdiction', 'xdr', 'value_xdr', 'args')""") == ""


def payers(d):
    """A fee bump is found by both hashes. A relayed call that was refused is its caller's, not the relayer's."""
    rows = lambda question: json.loads(sql(f"SELECT coalesce(json_agg(x), '[]') FROM ({question}) AS x"))
    bumped = rows("SELECT encode(t.hash, 'hex') AS hash, encode(t.inner_hash, 'hex') AS inner, t.source, t.fee_source, t.fee_source_muxed_id::text AS id,"
                  " c.source AS caller FROM chain.tx AS t JOIN chain.call AS c USING (deployment, ledger, tx) WHERE t.inner_hash IS NOT NULL")
    assert len(bumped) > 10 and any(t["id"] for t in bumped) and any(len({t["caller"], t["source"], t["fee_source"]}) == 3 for t in bumped), bumped
    for t in bumped:
        one = d.ask(f"/api/transactions/{t['hash']}")["transaction"]
        assert d.ask(f"/api/transactions/{t['inner']}")["transaction"] == one
        assert (one["txHash"], one["innerTxHash"], one["source"], one["feeSource"], one["feeSourceMuxedId"], one["calls"][0]["source"]) == (
            t["hash"], t["inner"], t["source"], t["fee_source"], t["id"], t["caller"]), (one, t)
        for event in one["events"][:1]:
            assert d.ask(f"/api/events/{event['id']}")["event"]["innerTxHash"] == t["inner"]
    call = rows("SELECT encode(c.hash, 'hex') AS hash, c.source AS caller, t.source FROM chain.call AS c JOIN chain.tx AS t USING (deployment, ledger, tx)"
                " WHERE NOT c.ok AND c.source <> t.source AND t.inner_hash IS NULL ORDER BY c.ledger DESC LIMIT 1")[0]
    seen = [[i["ok"] for i in d.pages(f"/api/addresses/{who}/activity", 200)[0] if i["txHash"] == call["hash"]] for who in (call["caller"], call["source"])]
    assert seen == [[False], []], (call, seen)
    one = d.ask(f"/api/transactions/{call['hash']}")["transaction"]
    assert (one["innerTxHash"], one["feeSource"]) == (None, call["source"]), one
    made = rows("SELECT args::text AS args FROM chain.call WHERE fn IS NULL AND json_array_length(args) = 2")
    assert made and all('"constructor"' in m["args"] for m in made), made
    print(f"{len(bumped)} fee bumps by both hashes, a relayed refused call, {len(made)} constructors with arguments")


def main():
    d = Driver(2)
    of = routes()
    assert set(params()) >= {n for r in of for n in r.parts + r.query}
    values = samples(of)
    ledgers(d)
    payers(d)
    pools(d)
    every_route(d, of, values)
    both_ways(d, of, values)
    parents(d, of, values)
    sums_over_time(d)
    cursors(d, of, values)
    a7(d, of, values)
    rights()
    d.close()
    print("ok")


if __name__ == "__main__":
    main()
