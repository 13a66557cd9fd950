#!/usr/bin/env python3
"""usage: _amounts.py plant ROUND | routes ROUND URL | views ROUND | functions   (amounts.sh)

plant      gives each token other decimals, and others again in the second half of the ledgers: 0 to 38, none, 39 and 2^32 - 1
routes     asks every route that has a scaled field, now and as of a ledger of either half, and the stream: each …Scaled is what integer
           arithmetic makes of the raw units beside it and of the decimals planted; of no decimals, null
views      the same of every column of every analyst view, and of its function as of a ledger
functions  what SQL scales and divides is what C does, and what integer arithmetic does, on random numbers and at all limits
"""
import copy
import decimal
import fractions
import http.client
import json
import os
import random
import subprocess
import sys
import urllib.parse

sys.dont_write_bytecode = True
from _sql import SAMPLES, routes, samples, sql

PLAN = os.environ.get("PG_DIR", "") + "/amounts.json"
VALUES = [0, 2, 6, 7, 8, 18, 38, None, 39, 2**32 - 1]
decimal.getcontext().prec = 200
OF_TOKENS = """SELECT t.token, greatest((SELECT greatest(min(s.ledger) FILTER (WHERE s.what = 'discovered'), min(s.ledger) FILTER (WHERE s.what <> 'discovered'))
  FROM chain.contract_seen AS s WHERE s.contract = t.token AND s.what IN ('discovered', 'asset', 'token')), 0) AS since, t.kind FROM analyst.tokens AS t ORDER BY 1"""


def rows(text):
    return json.loads(sql(f"SELECT coalesce(json_agg(x), '[]') FROM ({text}) AS x"), parse_float=decimal.Decimal)


# --- planting ----------------------------------------------------------------------------------------

def written(way):
    """How a synthetic token says its decimals: the protocol's own slot, soroban-token-sdk's METADATA or OpenZeppelin's."""
    slot, member = [("decimals", None), (None, "decimal"), (None, "decimals")][way % 3]
    kept = lambda v: "NULL" if v is None or not slot else str(v)
    noted = lambda v: "NULL" if v is None or not member else f"""'{{"{member}": {v}, "name": "planted", "symbol": "P"}}'"""
    return lambda v: f"decimals = {kept(v)}, metadata = {noted(v)}"


def plant(turn):
    first, last = (rows("SELECT min(ledger) AS a, max(ledger) AS b FROM chain.ledger")[0][k] for k in "ab")
    half, plan = (first + last) // 2, {}
    for i, token in enumerate(rows(OF_TOKENS)):
        then, now = (VALUES[(3 * i + turn + shift) % len(VALUES)] for shift in (5, 0))
        plan[token["token"]] = {"then": then, "now": now, "since": token["since"]}
        table, put = ("synth_token_instance", written(i + turn)) if token["kind"] == "synthetic" else (
            "stellar_asset_instance", lambda v: "metadata = jsonb_set(metadata::jsonb, '{decimal}', '" + ('"many"' if v is None else str(v)) + "')::json")
        of = f"contract = '{token['token']}'"
        sql(f"DELETE FROM history.{table} WHERE {of} AND tx = 1048000")
        sql(f"UPDATE history.{table} SET {put(now)} WHERE {of} AND NOT removed")
        changed = sql(f"SELECT count(*) FROM history.{table} WHERE {of} AND ledger <= {half} AND NOT removed")
        if changed != "0":
            sql(f"""INSERT INTO history.{table} SELECT (jsonb_populate_record(NULL::history.{table}, to_jsonb(h)
                || jsonb_build_object('ledger', {half + 1}, 'tx', 1048000, 'seq', 0))).* FROM history.{table} AS h
                WHERE {of} AND ledger <= {half} AND NOT removed ORDER BY ledger DESC, tx DESC, seq DESC LIMIT 1""")
        sql(f"UPDATE history.{table} SET {put(then)} WHERE {of} AND NOT removed AND ledger <= {half}")
        sql(f"UPDATE state.{table} SET {put(now)}, ledger = greatest(ledger, {half + 1}) WHERE {of}")
    json.dump({"tokens": plan, "half": half, "last": last, "early": (first + half) // 2, "late": last - 5}, open(PLAN, "w"))


# --- what is expected --------------------------------------------------------------------------------

def text(raw, decimals):
    """Raw units with the decimals applied, in digits; None: not known."""
    if raw is None or decimals is None:
        return None
    digits = str(abs(raw)).rjust(decimals + 1, "0")
    return ("-" if raw < 0 else "") + (f"{digits[:-decimals]}.{digits[-decimals:]}" if decimals else digits)


def cut(number, decimals):
    """A fraction cut after so many decimals, as an integer."""
    scaled = number * fractions.Fraction(10) ** decimals
    whole = abs(scaled.numerator) // scaled.denominator
    return whole if scaled >= 0 else -whole


class World:
    """What is needed to know which token an amount counts, as of a ledger; at None: now."""

    def __init__(self, plan, at):
        self.plan, self.at = plan, at
        end = at or plan["last"]
        newest = lambda table, names: rows(
            f"SELECT {names} FROM (SELECT DISTINCT ON (key_hash) * FROM history.{table} WHERE ledger <= {end}"
            f" ORDER BY key_hash, ledger DESC, tx DESC, seq DESC) AS h WHERE NOT removed")
        self.pools = {p["pool_id"]: p for p in newest("liquidity_pool_pool", "pool_id, token_a, token_b, reserve_a, reserve_b")}
        self.markets = {m["symbol"]: m["token"] for m in newest("synthetic_engine_asset_config", "symbol, token")}
        self.taken = [c["token"] for c in newest("synthetic_engine_collateral_allowed", "token")]
        self.usdc = sql("SELECT j ->> 'address' FROM chain.deployment, jsonb_array_elements(contracts) AS j WHERE j ->> 'role' = 'usdc'")
        self.quote = self.of(self.usdc)
        taken = {self.of(t) for t in self.taken}
        self.collateral = taken.pop() if len(taken) == 1 else None

    def of(self, token):
        """The decimals of a token."""
        one = self.plan["tokens"].get(token)
        if one is None or self.at is not None and one["since"] > self.at:
            return None
        value = one["then" if self.at is not None and self.at <= self.plan["half"] else "now"]
        return value if value is not None and value <= 38 else None

    def of_ledger(self, ledger):
        """The same with decimals as of a ledger: an event's amounts have those of its own."""
        other = copy.copy(self)
        other.at = int(ledger)
        other.quote = other.of(self.usdc)
        taken = {other.of(t) for t in self.taken}
        other.collateral = taken.pop() if len(taken) == 1 else None
        return other

    def side(self, pool, side):
        return self.of(self.pools[pool][f"token_{side}"]) if pool in self.pools else None

    def market(self, symbol):
        return self.of(self.markets.get(symbol))

    def price(self, amount, amount_decimals, per, per_decimals):
        """A price in whole tokens, cut after 7 decimals, as text."""
        if amount_decimals is None or per_decimals is None or not per:
            return None
        found = cut(fractions.Fraction(amount, per) * fractions.Fraction(10) ** (per_decimals - amount_decimals), 7)
        return text(found, 7) if abs(found) < 2**127 else None


ORACLE = {"latestPrice", "twapPrice", "price", "medianPrice", "collateralPrice", "synthPrice", "liquidationPrice", "feeCharged"}


DAYS = {}


def of_day(plan, day):
    """The decimals of USDC at the end of a day."""
    if day not in DAYS:
        DAYS[day] = World(plan, int(sql(f"SELECT max(ledger) FROM chain.ledger WHERE closed_at < '{day}'::date + 1"))).quote
    return DAYS[day]


def of_event(world, item, name):
    """The decimals of a field of an event."""
    fields, kind = item["fields"], item["kind"]
    if kind.startswith("oracle_"):
        return 7
    if kind.startswith(("synth_token_", "stellar_asset_")):
        return world.of(item["contract"])
    if kind.startswith("liquidity_pool_"):
        if name in ("amountIn", "amountOut"):
            return world.side(fields["pool"], "a" if fields["aToB"] == (name == "amountIn") else "b")
        return world.side(fields["pool"], name[-1].lower())
    if kind in ("synthetic_engine_mint", "synthetic_engine_burn"):
        return world.market(fields["market"])
    if kind == "synthetic_engine_open":
        return world.of(fields["collateralToken"])
    if kind in ("synthetic_engine_market_created", "earnings_distributor_revenue_received"):
        return world.of(fields["token"])
    if kind.startswith("synthetic_engine_"):
        return world.of(vault_token(item["id"], fields["owner"], fields["market"]))
    if kind.startswith("stability_pool_"):
        return world.collateral if kind.endswith("_claim") or name == "collateralReward" else world.quote
    if kind in ("partner_registry_claim", "earnings_distributor_revenue_claimed"):
        return world.quote
    assert kind in ("partner_registry_forward", "earnings_distributor_partner_revenue_forwarded"), kind
    return world.of(cut_token(item["id"]))


def place(event_id):
    toid, event = event_id.split("-")
    return int(toid) >> 32, int(toid) >> 12 & 1048575, int(toid) & 4095, int(event)


def vault_token(event_id, owner, market):
    ledger, tx, _, _ = place(event_id)
    return sql(f"SELECT collateral_tok FROM history.synthetic_engine_vault WHERE key_owner = '{owner}' AND synth = '{market}' AND NOT removed"
               f" AND (ledger, tx) <= ({ledger}, {tx}) ORDER BY ledger DESC, tx DESC, seq DESC LIMIT 1")


def cut_token(event_id):
    ledger, tx, op, event = place(event_id)
    return sql(f"SELECT token FROM event.earnings_distributor_revenue_received WHERE (ledger, tx, op) = ({ledger}, {tx}, {op}) AND event > {event}"
               " ORDER BY event LIMIT 1")


def of_pool(world, pool, name):
    return world.side(pool, name[-1].lower()) if name[-1] in "AB" else world.quote


RATIOS = {}


def candle(world, pool, raw, got):
    """A candle's price has 14 decimals of what the reserves say, whatever the raw one has lost."""
    a, b = world.side(pool, "a"), world.side(pool, "b")
    if a is None or b is None:
        return None
    if pool not in RATIOS:
        RATIOS[pool] = [fractions.Fraction(r["reserve_b"], r["reserve_a"]) for r in rows(
            f"SELECT DISTINCT reserve_a, reserve_b FROM history.liquidity_pool_pool WHERE pool_id = '{pool}' AND NOT removed AND reserve_a > 0")]
    found = {text(cut(ratio * fractions.Fraction(10) ** (a - b), 14), 14) for ratio in RATIOS[pool] if cut(ratio, 14) == raw}
    assert found, (pool, raw)
    return got if got in found else sorted(found)[0]


def spot(world, item, route, values):
    if "reserveA" in item:
        a, b = (world.of(item[f"token{s}"]) for s in "AB")
        return world.price(int(item["reserveB"]), b, int(item["reserveA"]), a)
    if "reserveSynth" in item:
        return world.price(int(item["reserveQuote"]), world.quote, int(item["reserveSynth"]), world.of(item["synthToken"]))
    pool, back = world.pools[item["pool"]], item["direction"] == "b_to_a"
    sides = ("a", "b") if back else ("b", "a")
    return world.price(pool[f"reserve_{sides[0]}"], world.of(item["tokenOut"]), pool[f"reserve_{sides[1]}"], world.of(item["tokenIn"]))


def expected(world, route, values, item, name, above, got):
    """The text of a scaled field: route is its name, above the objects around it, innermost last."""
    raw = None if item[name] is None else int(item[name])
    given = lambda parameter: str(values.get(f"{route}.{parameter}", values.get(parameter)))
    if raw is None:
        return None
    if "id" in item and "ledger" in item:
        world = world.of_ledger(item["ledger"])
    if "kind" in (above[-1] if above else {}) and "fields" in above[-1]:
        return text(raw, of_event(world.of_ledger(place(above[-1]["id"])[0]), above[-1], name))
    if route == "market_changes":
        own = world.market(given("symbol"))
        if name == "debt":
            return text(raw, own)
        return None if None in (own, world.quote) else text(raw, 7) if own == world.quote else got
    if name == "spotPrice":
        return spot(world, item, route, values)
    if name in ORACLE or route == "price_history" or name == "debtValue" and route == "stats":
        return text(raw, 7)
    if route in ("pool_candles", "pool_daily"):
        if name in ("open", "high", "low", "close"):
            return candle(world, given("pool"), raw, got)
        return text(raw, of_pool(world, given("pool"), name))
    if route in ("pools", "pool"):
        return text(raw, of_pool(world, item["pool"], name))
    if name == "valueQuote" or name == "value" and "balance" in item:  # a position, a balance
        return text(raw, world.quote)
    if name.startswith(("underlying", "claimable")) and name[-1] in "AB":
        return text(raw, of_pool(world, item.get("pool", given("pool")), name))
    if "tokenIn" in item:
        return text(raw, world.of(item["tokenOut" if name == "amountOut" else "tokenIn"]))
    if name == "change24h":
        own, quote = world.of(item["synthToken"]), world.quote
        return None if None in (own, quote) else text(raw, 7) if own == quote or raw == 0 else got
    if "tokenSymbol" in item and name in ("amount", "engineValue", "poolValue"):  # a market's collateral
        return text(raw, world.quote if name == "poolValue" else world.of(item["token"]))
    if route in ("markets", "market"):
        return text(raw, world.collateral if name == "collateralValue" else world.quote if name in ("reserveQuote", "volume24h", "fees24h")
                    else world.of(item["synthToken"]))
    if route == "vault" and above and "collateralToken" in above[-1]:  # what to add, what a liquidation takes
        item = above[-1]
    if "collateralToken" in item and name.startswith(("collateral", "debt")):
        market = item.get("market", given("market"))
        return text(raw, world.of(item["collateralToken"]) if name.startswith("collateral") else world.market(market))
    if route in ("market_daily", "market_risk"):
        return text(raw, world.collateral if name.startswith("collateral") else world.market(given("symbol")))
    if route == "stats" and above:
        return text(raw, world.market(item["market"]))
    if route == "stats_daily":  # what was held is added up with the decimals at the end of the day
        return text(raw, of_day(world.plan, item["day"]))
    if name == "debtCeiling":
        return text(raw, world.of(item.get("token", above[-1].get("token") if above else None)))
    if name == "balance" and "decimals" in item:
        assert item["decimals"] == world.of(item["token"]), (item, world.of(item["token"]))
    if route in ("partner_daily", "partner_revenue", "partner_revenue_epochs") or "token" in item and name in ("amount", "balance"):
        return text(raw, world.of(item["token"]))
    if route == "token_transfers":
        return text(raw, world.of(given("token")))
    if name in ("collateralGain", "totalCollateralGained", "collateralReward") or route == "stability_events" and item["type"] == "claim":
        return text(raw, world.collateral)
    assert route in ("stats", "stats_daily", "epochs", "epoch", "epoch_partners", "claimable", "earnings_claims", "partners", "partner", "partner_claims",
                     "stability_pool", "stability_deposits", "stability_deposit", "stability_events", "portfolio"), (route, name, item)
    return text(raw, world.quote)


class Checked:
    def __init__(self):
        self.fields, self.values, self.bad = {}, 0, []

    def walk(self, world, route, values, node, above=()):
        if isinstance(node, list):
            for one in node:
                self.walk(world, route, values, one, above)
        if not isinstance(node, dict):
            return
        for name, got in node.items():
            if name.endswith("Scaled"):
                want = expected(world, route, values, node, name[:-6], above, got)
                seen = self.fields.setdefault(("event " + above[-1]["kind"] if above and "fields" in above[-1] else route) + " " + name[:-6], set())
                seen.add(got is not None)
                self.values += 1
                if got != want:
                    self.bad.append(f"{route} as of {world.at}: {name} is {got}, wanted {want}: {json.dumps(node)[:300]}")
            else:
                self.walk(world, route, values, got, (*above, node))


# --- routes ------------------------------------------------------------------------------------------

class Api:
    def __init__(self, url):
        self.place = urllib.parse.urlsplit(url).netloc

    def ask(self, target):
        connection = http.client.HTTPConnection(self.place, timeout=60)
        connection.request("GET", target)
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        return answer.status, json.loads(body)

    def messages(self, target, until):
        """Messages of the stream up to the ledger message of a ledger."""
        connection = http.client.HTTPConnection(self.place, timeout=60)
        connection.request("GET", target)
        answer, event = connection.getresponse(), None
        assert answer.status == 200, answer.read()
        for line in answer:
            line = line.decode().rstrip("\n")
            if line.startswith("event: "):
                event = line[7:]
            elif line.startswith("data: "):
                data = json.loads(line[6:])
                yield event, data
                if event == "ledger" and int(data["ledger"]) >= until:
                    break
        connection.close()


SAMPLE = {**SAMPLES,
          "vault_history.owner": "SELECT key_owner FROM history.synthetic_engine_vault ORDER BY ledger LIMIT 1",
          "vault_history.market": "SELECT synth FROM history.synthetic_engine_vault ORDER BY ledger LIMIT 1",
          "vault.owner": "SELECT key_owner FROM history.synthetic_engine_vault ORDER BY ledger LIMIT 1",
          "vault.market": "SELECT synth FROM history.synthetic_engine_vault ORDER BY ledger LIMIT 1",
          "claimable.address": SAMPLES["stability_deposit.address"]}
HOT = [("markets", "/api/markets"), ("market", "/api/markets/{symbol}"), ("assets", "/api/sdk/assets"), ("contracts", "/api/sdk/contracts"),
       ("price", "/api/prices/{asset}"), ("prices", "/api/prices"), ("pool_quote", "/api/pools/{pool}/quote?amountIn=1234567"),
       ("pool_quote", "/api/pools/{pool}/quote?amountIn=1234567&direction=b_to_a"), ("claimable", "/api/earnings/claimable/{claimable.address}"),
       ("portfolio", "/api/addresses/{address}/portfolio"), ("portfolio", "/api/addresses/{stability_deposit.address}/portfolio"),
       ("token_balance", "/api/tokens/{token}/balances/{transfer_to}")]


def questions(values, pools, tokens, partners):
    for name, path in HOT:
        yield name, fill(path, values), values
    skipped = ("token_balance", "ledger", "coverage", "undecoded_events", "undecoded_entries", "ledgers", "event", "transaction")
    for route in routes():
        if route.name in skipped or "limit" not in route.query and "ledger" not in route.query:
            continue
        many = {"pool": pools, "token": tokens, "partnerId": partners}
        own = next((p for p in route.parts if p in many), None)
        for one in many[own] if own else [None]:
            given = {**values, **({own: one, f"{route.name}.{own}": one} if own else {})}
            target = route.target(given)
            if route.name == "pool_candles":
                target += "&interval=1d" if "?" in target else "?interval=1d"
            if route.is_list:
                target += ("&" if "?" in target else "?") + "limit=200"
            yield route.name, target, given
    for row in rows("SELECT encode(hash, 'hex') AS hash FROM chain.tx WHERE ok ORDER BY ledger DESC, tx DESC LIMIT 40"):
        yield "transaction", "/api/transactions/" + row["hash"], values
    for row in rows("SELECT DISTINCT ON (kind) kind, chain.event_id(ledger, tx, op, event) AS id FROM event.log ORDER BY kind, ledger DESC, tx DESC, op, event"):
        yield "event", "/api/events/" + row["id"], values
        yield "events", f"/api/events?kind={row['kind']}&limit=100", values


def fill(path, values):
    for name in values:
        path = path.replace("{" + name + "}", urllib.parse.quote(str(values[name]), safe=""))
    return path


def ask_routes(turn, url):
    plan, api, checked = json.load(open(PLAN)), Api(url), Checked()
    SAMPLES.update(SAMPLE)
    values = samples(list(routes()))
    values["transfer_to"] = sql("SELECT to_address FROM event.synth_token_transfer WHERE contract = '" + values["token"] + "' LIMIT 1")
    pools = [r["pool_id"] for r in rows("SELECT pool_id FROM state.liquidity_pool_pool")]
    partners = [r["id"] for r in rows("SELECT key_id AS id FROM state.partner_registry_partner")]
    for at in (None, plan["early"], plan["late"]):
        world, asked = World(plan, at), 0
        for name, target, given in questions(values, pools, list(plan["tokens"]), partners):
            if at and name in ("transaction", "event"):
                continue
            status, answer = api.ask(target + ("" if at is None else ("&" if "?" in target else "?") + f"ledger={at}"))
            assert status == 200 or status == 404 or at and status in (400, 410, 422, 503), (target, at, status, answer)
            asked += status == 200
            checked.walk(world, name, given, answer)
        assert asked > 60, asked
    stream(plan, api, checked)
    totals(plan, api)
    finish(checked, f"round {turn}")


def stream(plan, api, checked):
    """A message has the decimals of its own ledger, whenever it is sent."""
    worlds = {}
    for from_ledger in (plan["early"], plan["late"]):
        seen = 0
        for event, data in api.messages(f"/api/stream?topics=ledger,event,price&after=1:{from_ledger}", from_ledger + 4):
            if event in ("event", "price"):
                at = int(data["ledger"])
                worlds.setdefault(at, World(plan, at))
                checked.walk(worlds[at], "stream", {}, data if event == "event" else {"price": data})
                seen += event == "event"
        assert seen > 5, seen


def totals(plan, api):
    """What the engine holds is added up in USDC."""
    world = World(plan, None)
    status, answer = api.ask("/api/stats")
    assert status == 200
    held = rows("""SELECT y.token, b.amount, f.twap_price FROM chain.collateral AS y
        JOIN state.stellar_asset_balance AS b ON b.contract = y.token AND b.address = (SELECT contract FROM chain.role WHERE role = 'synthetic_engine')
        LEFT JOIN state.oracle_feed AS f ON f.asset = y.feed""")
    total = 0
    for one in held:
        if one["token"] == world.usdc:
            total += one["amount"]
        elif None not in (one["twap_price"], world.of(one["token"]), world.quote):
            total += cut(fractions.Fraction(one["amount"] * one["twap_price"] * 10**world.quote, 10 ** (7 + world.of(one["token"]))), 0)
    assert int(answer["tvlCollateral"]) == total, (answer, held, total)


def finish(checked, what):
    if checked.bad:
        sys.exit(f"{what}: {len(checked.bad)} of {checked.values} values are wrong\n" + "\n".join(checked.bad[:25]))
    seen = json.load(open(PLAN + ".seen")) if os.path.exists(PLAN + ".seen") else {}
    for name, found in checked.fields.items():
        seen[name] = sorted({*seen.get(name, []), *found})
    json.dump(seen, open(PLAN + ".seen", "w"))
    print(f"{what}: {checked.values} values of {len(checked.fields)} fields")


# --- views -------------------------------------------------------------------------------------------

# The token of each amount, by view and column; a column of the row that names a token, pool or market, or what is said below.
POOL_A, POOL_B = "pool a", "pool b"
VIEWS = {
    "pools": {"reserve_a": "token_a", "reserve_b": "token_b", "volume_a": "token_a", "volume_b": "token_b"},
    "swaps": {"amount_in": "token_in", "amount_out": "token_out"},
    "traders": {"sold": "token_in"},
    "liquidity_changes": {"amount_a": POOL_A, "amount_b": POOL_B},
    "lp_positions": {"underlying_a": POOL_A, "underlying_b": POOL_B, "claimable_a": POOL_A, "claimable_b": POOL_B},
    "markets": {"debt": "token", "debt_ceiling": "token"},
    "vaults": {"collateral": "collateral_token", "debt": "market"},
    "vault_events": {"amount": "vault"},
    "liquidations": {"debt_repaid": "market", "collateral_seized": "collateral_token"},
    "revenue": {"amount": "token"}, "partner_revenue": {"cut": "token", "fee": "token"},
    "partner_revenue_per_token": {"fees": "token", "cuts": "token"},
    "daily_partners": {"volume": "token", "fees": "token", "cuts": "token"},
    "revenue_per_token": {"fees": "token", "partner_cuts": "token", "protocol_part": "token"},
    "stability_pool": {"total_deposits": "quote", "collateral_gained": "collateral"},
    "stability_deposits": {"initial": "quote", "compounded": "quote", "gain": "collateral"},
    "stability_events": {"amount": "stability", "reward": "collateral"},
    "prices": {"price": 7}, "price_candles": {"open": 7, "high": 7, "low": 7, "close": 7, "twap_close": 7},
    "transfers": {"amount": "token"}, "balances": {"balance": "token"},
    "daily_pools": {"sold_a": POOL_A, "sold_b": POOL_B, "fees_a": POOL_A, "fees_b": POOL_B},
    "daily_markets": {"minted": "market", "repaid": "market", "collateral_in": "collateral", "collateral_out": "collateral"},
    "candles": {"volume_a": POOL_A, "volume_b": POOL_B, "fees_a": POOL_A, "fees_b": POOL_B, "volume_usdc": "quote", "fees_usdc": "quote"},
    "daily_protocol": {"volume_usdc": "day", "fees_usdc": "day", "held_usdc": "day"},
    "daily_closings": {"amount": "closing", "amount_b": "closing b"},
}


def of_row(world, plan, row, of):
    if of == 7:
        return 7
    if of in (POOL_A, POOL_B):
        return world.side(row["pool_id"], of[-1])
    if of in ("quote", "collateral"):
        return getattr(world, of)
    if of == "market":
        return world.market(row["market"])
    if of == "stability":
        return world.collateral if row["kind"] == "claim" else world.quote
    if of == "day":
        return of_day(plan, row["day"])
    if of.startswith("closing"):
        pool = world.side(row["name"], "b" if of.endswith("b") else "a")
        return {"price": 7, "stability": world.quote, "debt": world.market(row["name"]), "collateral": world.of(row["name"])}.get(row["what"], pool)
    if of == "vault":
        if row["kind"] in ("mint", "burn"):
            return world.market(row["market"])
        return world.of(sql(f"SELECT collateral_tok FROM history.synthetic_engine_vault WHERE key_owner = '{row['owner']}' AND synth = '{row['market']}'"
                            f" AND NOT removed AND (ledger, tx) <= ({row['ledger']}, {row['tx_order']}) ORDER BY ledger DESC, tx DESC, seq DESC LIMIT 1"))
    return world.of(row[of])


def held(raw, decimals):
    """What a numeric(38,18) can hold of it, without rounding."""
    if raw is None or decimals is None or abs(raw) >= 10 ** (20 + decimals) or decimals > 18 and raw % 10 ** (decimals - 18):
        return None
    return decimal.Decimal(raw).scaleb(-decimals)


def check_view(plan, name, world, of_past):
    source = f"analyst.{name}_as_of({world.at})" if of_past else f"analyst.{name}"
    found = rows(f"SELECT * FROM {source} LIMIT 300")
    for row in found:
        for column, of in VIEWS[name].items():
            decimals = of_row(world, plan, row, of)
            want = held(row[column + "_raw"], decimals) if decimals != 7 or of != 7 else (
                None if row[column + "_raw"] is None else decimal.Decimal(row[column + "_raw"]).scaleb(-7))
            got = None if row[column] is None else decimal.Decimal(row[column])
            assert got == want, (source, column, decimals, got, want, row)
        if name == "pools":
            want = world.price(row["reserve_b_raw"], world.of(row["token_b"]), row["reserve_a_raw"], world.of(row["token_a"]))
            assert row["price_a_in_b"] == (want and decimal.Decimal(want)), (row, want)
    return len(found)


def views(turn):
    plan = json.load(open(PLAN))
    named = rows("SELECT table_name AS v, array_agg(column_name::text) AS c FROM information_schema.columns WHERE table_schema = 'analyst' AND column_name LIKE '%\\_raw' GROUP BY 1")
    for view in named:
        assert {c[:-4] for c in view["c"]} == set(VIEWS[view["v"]]), view
    count = sum(check_view(plan, v["v"], World(plan, None), False) for v in named)
    past = sql("SELECT string_agg(p.proname, ' ') FROM pg_proc AS p WHERE p.pronamespace = 'analyst'::regnamespace AND p.proname LIKE '%\\_as\\_of'").split()
    for at in (plan["early"], plan["late"]):
        count += sum(check_view(plan, n[:-6], World(plan, at), True) for n in past if n[:-6] in VIEWS)
    assert count > 1000, count
    print(f"round {turn}: {count} rows of {len(named)} views")


# --- functions ---------------------------------------------------------------------------------------

def functions():
    """SQL, C and Python on the same numbers."""
    dice, cases = random.Random(49), []
    limits = [0, 1, -1, 9, 10, 2**127 - 1, -(2**127), 10**38, -(10**37), 12345678]
    pick = lambda: dice.choice([dice.choice(limits), dice.getrandbits(dice.randrange(1, 127)), -dice.getrandbits(dice.randrange(1, 127))])
    some = lambda: dice.choice([0, 2, 6, 7, 8, 18, 38, dice.randrange(39), 39, 2**31 - 1])
    for _ in range(3000):
        cases.append((pick(), some(), pick(), some()))
    given = "".join(f"{' '.join(map(str, case))}\n" for case in cases)
    by_c = subprocess.run([os.environ["TIDE_BIN"] + "/amount_driver"], input=given, capture_output=True, text=True, check=True).stdout.splitlines()
    by_sql = sql("SELECT coalesce(analyst.scaled(a, d)::text, 'null') || ' ' || coalesce(analyst.scaled(chain.price(a, d, b, e), 7)::text, 'null') FROM (VALUES "
                 + ", ".join(f"({i}, {a}::numeric, {d}, {b}::numeric, {e})" for i, (a, d, b, e) in enumerate(cases)) + ") AS v (i, a, d, b, e) ORDER BY i").split("\n")
    assert len(by_c) == len(by_sql) == len(cases)
    for (a, d, b, e), c, s in zip(cases, by_c, by_sql):
        known = d <= 38 and e <= 38 and b
        price = cut(fractions.Fraction(a, b) * fractions.Fraction(10) ** (e - d), 7) if known else None
        want = f"{text(a, d) if d <= 38 else 'null'} {text(price, 7) if known and abs(price) < 2**127 else 'null'}"
        assert c == s == want, (a, d, b, e, c, s, want)
    print(f"{len(cases)} numbers")


if __name__ == "__main__":
    what, *more = sys.argv[1:]
    {"plant": lambda turn: plant(int(turn)), "routes": ask_routes, "views": views, "functions": functions}[what](*more)
