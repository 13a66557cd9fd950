#!/usr/bin/env python3
"""The hot routes of a running tidemark-api, asked and judged.

usage: _routes_hot.py PORT same LEDGER          from the cache and with ?ledger=LEDGER (its last): the same
       _routes_hot.py PORT windows EXPECTED     lines "ledger|market|swaps|volume|fees"
       _routes_hot.py PORT model SAYS EVERY     compliance at each EVERY-th ledger as the model says
       _routes_hot.py PORT views VIEWS LAST     the contracts' recorded answers, at their ledger; those that
                                                do not depend on time from the cache too, of ledger LAST
       _routes_hot.py PORT refusals ADDRESS POOL
       _routes_hot.py PORT tags LEDGER          documents that nothing changed are not sent again
       _routes_hot.py PORT assets EXPECTED      EXPECTED: lines "partner token token …"; "-": everybody
       _routes_hot.py PORT get PATH [KEY=JSON…] status is 200 and the members are so
       _routes_hot.py PORT problem PATH STATUS CODE
Exits 1 when an answer is wrong, and says which.
"""
import collections
import http.client
import json
import sys

# Members that a later "now" changes: not compared between the cache and a ledger's close.
TIMED = {"collateralValue", "collateralValueScaled", "engineValue", "engineValueScaled", "evaluatedAt", "stale", "twapStale", "pollAfterMs", "validUntil", "compliant",
         "needsKyc", "status", "reasonCode", "gates", "volume24h", "volume24hScaled", "fees24h", "fees24hScaled",
         "swaps24h", "change24h", "change24hScaled", "change24hBps"}
PRIVATE = "jurisdiction"


class Server:
    def __init__(self, port):
        self.connection = http.client.HTTPConnection("127.0.0.1", int(port), timeout=30)

    def ask(self, path, body=None, method=None):
        headers = {"Content-Type": "application/json"} if body is not None else {}
        self.connection.request(method or ("POST" if body is not None else "GET"), path, body, headers)
        answer = self.connection.getresponse()
        text = answer.read()
        found = json.loads(text)
        forbid(path, found)
        return answer, found

    def get(self, path, body=None):
        answer, found = self.ask(path, body)
        if answer.status != 200:
            sys.exit(f"{path}: {answer.status} {found}")
        if answer.headers["Ledger-Sequence"] != found.get("ledger", answer.headers["Ledger-Sequence"]):
            sys.exit(f"{path}: Ledger-Sequence {answer.headers['Ledger-Sequence']}, ledger {found['ledger']}")
        return found

    def problem(self, path, status, code, body=None):
        answer, found = self.ask(path, body)
        if answer.status != status or found.get("code") != code:
            sys.exit(f"{path} {str(body)[:80]}: {answer.status} {found}, not {status} {code}")
        if not answer.headers["Content-Type"].startswith("application/problem+json"):
            sys.exit(f"{path}: a problem of type {answer.headers['Content-Type']}")
        return answer, found


def forbid(path, found):
    """Where a person lives is nowhere, but that it is the reason."""
    if isinstance(found, dict):
        for name, value in found.items():
            if PRIVATE in name.lower():
                sys.exit(f"{path} tells {name}")
            forbid(path, value)
    elif isinstance(found, list):
        for value in found:
            forbid(path, value)


def timeless(found):
    if isinstance(found, dict):
        return {k: timeless(v) for k, v in found.items() if k not in TIMED}
    return [timeless(v) for v in found] if isinstance(found, list) else found


def item_list(server, path):
    """All items, by pages of the size that the route has without limit; of two items each it is the same."""
    found = paged(server, path)
    if path.startswith("/api/markets"):
        small = paged(server, path + ("&" if "?" in path else "?") + "limit=2")
        if [i["market"] for i in small] != [i["market"] for i in found] or found != sorted(found, key=lambda i: i["market"]):
            sys.exit(f"{path}: other markets by pages of two")
    return found


def paged(server, path):
    join, cursor, found = "&" if "?" in path else "?", "", []
    while cursor is not None:
        page = server.get(path + (f"{join}cursor={cursor}" if cursor else ""))
        found += page["items"]
        cursor = page["next"]
    return found


def judged(server, path):
    answer, found = server.ask(path)
    found.pop("requestId", None)
    return answer.status, timeless(found)


def windows(server, expected):
    """The day before a ledger's close, as SQL over the events has it: ledger, market, swaps, volume, fees."""
    with open(expected, encoding="utf-8") as lines:
        rows = [line.rstrip("\n").split("|") for line in lines]
    for ledger, symbol, *want in rows:
        market = server.get(f"/api/markets/{symbol}?ledger={ledger}")
        got = [str(market["swaps24h"]), market["volume24h"], market["fees24h"]]
        if got != want:
            sys.exit(f"{symbol} at {ledger}: {got}, the events say {want}")
    print(f"the day's trade of {len(rows)} markets and ledgers as the events have it")
    if not any(int(row[2]) for row in rows):
        sys.exit("no trade: this test proves little")


# --- the cache and its last ledger -----------------------------------------------------------

def same(server, ledger):
    paths = ["/api/sdk/contracts", "/api/sdk/assets", "/api/sdk/assets?partnerId=1", "/api/markets", "/api/prices"]
    paths += [f"/api/markets/{m['market']}" for m in item_list(server, "/api/markets")]
    paths += [f"/api/prices/{p['asset']}" for p in item_list(server, "/api/prices")]
    pools = {a["pool"] for a in item_list(server, "/api/sdk/assets")} - {None}
    for pool in sorted(pools):
        for direction in ("a_to_b", "b_to_a"):
            paths += [f"/api/pools/{pool}/quote?amountIn={n}&direction={direction}" for n in (0, 1, 10**7, 10**13)]
    for path in paths:
        status, now = judged(server, path)
        status_then, then = judged(server, f"{path}{'&' if '?' in path else '?'}ledger={ledger}")
        if status != status_then or now != then:
            sys.exit(f"{path}\n  cache  {status} {now}\n  ledger {status_then} {then}")
        if now.get("ledger", ledger) != ledger:
            sys.exit(f"{path}: of ledger {now['ledger']}")
    traded = sum(int(m["swaps24h"] or 0) for m in item_list(server, f"/api/markets?ledger={ledger}"))
    print(f"{len(paths)} answers from the cache as from PostgreSQL; {traded} swaps in the day before the last ledger")


# --- compliance against the model ----------------------------------------------------------------

def said(item):
    return [str(int(item["compliant"])), str(int(item["needsKyc"])), item["status"],
            str(int(item["gates"]["liquidityPool"]))]


def model(server, says, every):
    ledgers = collections.defaultdict(list)
    with open(says, encoding="utf-8") as lines:
        for line in lines:
            ledger, *rest = line.rstrip("\n").split("\t")
            ledgers[int(ledger)].append(rest)
    asked, seen = 0, collections.Counter()
    for ledger in sorted(ledgers)[::int(every)]:
        wanted = ledgers[ledger]
        body = json.dumps({"addresses": [w[0] for w in wanted]})
        items = server.get(f"/api/sdk/kyc/status?ledger={ledger}", body)["items"]
        for want, got in zip(wanted, items, strict=True):
            if got["address"] != want[0] or said(got) != want[1:]:
                sys.exit(f"ledger {ledger}: {got}, the model says {want}")
            asked += 1
            seen[got["status"]] += 1
    print(f"{asked} answers at {len(range(0, len(ledgers), int(every)))} closes as the model's: {dict(seen)}")
    if len(seen) < 5:
        sys.exit("few kinds of answers: this test proves little")


# --- what the contracts said -----------------------------------------------------------------------

def view_of(server, v, ledger):
    """Ours in the contract's shape; None: no route of this file answers it."""
    suffix = f"ledger={ledger}" if ledger else "maxAgeMs=86400000"
    name = f"{v['role']}.{v['fn']}"
    args = v["args"]
    if name in ("compliance_registry.is_user_compliant", "compliance_registry.is_verified"):
        return server.get(f"/api/sdk/kyc/status/{args[0]}?{suffix}")["compliant"]
    if name == "compliance_registry.get_compliance_status":
        record = server.get(f"/api/sdk/kyc/status/{args[0]}?{suffix}")["record"]
        record = record or {"status": 0, "provider": args[0], "reason": "none", "updatedAt": None, "expiresAt": None}
        want = {"status": v["ret"]["status"], "provider": v["ret"]["provider"], "reason": v["ret"]["reason"]}
        got = {name: record[name] for name in want}
        return v["ret"] if got == want else got
    if v["role"] == "oracle":
        answer, feed = server.ask(f"/api/prices/{args[0]}?{suffix}")
        if v["fn"] == "is_stale":
            return answer.status == 404 or feed["stale"]
        price, old = ("latestPrice", "stale") if v["fn"] == "get_price" else ("twapPrice", "twapStale")
        return "refused" if answer.status == 404 or feed[old] else feed[price]
    if name in ("liquidity_pool.quote", "liquidity_pool.get_price"):
        amount, forward = (args[1], args[2]) if v["fn"] == "quote" else ("0", args[1])
        answer, quote = server.ask(f"/api/pools/{args[0]}/quote?amountIn={amount}"
                                   f"&direction={'a_to_b' if forward else 'b_to_a'}&{suffix}")
        return quote["amountOut" if v["fn"] == "quote" else "spotPrice"] if answer.status == 200 else "refused"
    if name in ("synthetic_engine.get_asset_config", "synthetic_engine.get_debt_total"):
        answer, market = server.ask(f"/api/markets/{args[0]}?{suffix}")
        if answer.status == 404:
            return None if v["fn"] == "get_asset_config" else "0"
        if v["fn"] == "get_debt_total":
            return market["debt"]
        return {"token": market["synthToken"], "oracle_symbol": market["oracle"]["asset"],
                "coll_oracle_sym": market["collateralOracle"]["asset"], "min_coll_ratio": market["minCollRatioBps"],
                "liq_ratio": market["liqRatioBps"], "liq_penalty": market["liqPenaltyBps"],
                "stab_fee_bps": market["mintFeeMillionths"], "debt_ceiling": market["debtCeiling"], "enabled": market["enabled"]}
    return view_of  # not ours


def compare(server, v, ledger, asked, shown):
    got = view_of(server, v, ledger)
    if got is view_of:
        return 0
    want = v["ret"] if v["ok"] else "refused"
    asked[f"{v['role']}.{v['fn']}"] += 1
    if got == want:
        return 0
    if not shown:
        print(f"{v['role']}.{v['fn']} {v['args']} at {ledger or 'the cache'}: {got}, the contract said {want}")
    return 1


def views(server, path, last):
    timeless_views = {"quote", "get_asset_config", "get_debt_total"}
    asked, cached, wrong = collections.Counter(), collections.Counter(), 0
    with open(path, encoding="utf-8") as lines:
        for v in map(json.loads, lines):
            wrong += compare(server, v, v["ledger"], asked, wrong > 5)
            stays = v["fn"] in timeless_views or (v["role"] == "liquidity_pool" and v["fn"] == "get_price")
            if v["ledger"] == int(last) and stays:
                wrong += compare(server, v, None, cached, wrong > 5)
    print(f"{sum(asked.values())} recorded answers of {len(asked)} functions at their ledger, "
          f"{sum(cached.values())} from the cache, {wrong} differ")
    if wrong or sum(asked.values()) < 700 or not cached:
        sys.exit(1)


# --- refusals ---------------------------------------------------------------------------------------

def fields(found):
    return [(e.get("pointer") or e.get("parameter"), e["detail"]) for e in found.get("errors", [])]


def refusals(server, address, pool):
    muxed, account = muxed_of(), "GA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVSGZ"
    _, found = server.problem(f"/api/sdk/kyc/status/{muxed}", 400, "invalid_parameters")
    if account not in json.dumps(found):
        sys.exit(f"a muxed address is refused without its account: {found}")
    _, found = server.problem(f"/api/sdk/kyc/status/{MUXED_CONTRACT}", 400, "invalid_parameters")
    if "ask for its contract, CA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJUWDA" not in json.dumps(found):
        sys.exit(f"a muxed contract is refused without its contract: {found}")
    seed = "SA3W53XXG64ITFFIYQSBIJDG26LMXYRIMEVMNQMFAQJOYCZACCYBA34L"
    _, found = server.problem(f"/api/sdk/kyc/status/{seed}", 400, "invalid_parameters")
    if seed in json.dumps(found):
        sys.exit("a secret is repeated")
    server.problem("/api/sdk/assets?partnerId=4000000000", 404, "no_partner")
    server.problem("/api/sdk/assets?partnerId=01", 404, "no_partner")
    server.problem("/api/sdk/assets?partnerId=acme", 404, "no_partner")
    server.problem("/api/markets/NONE", 404, "no_market")
    server.problem("/api/markets?limit=201", 400, "invalid_parameters")
    server.problem("/api/markets?cursor=AAAA", 400, "cursor_invalid")
    cursor = server.get("/api/markets?limit=1")["next"]
    server.problem(f"/api/prices?cursor={cursor}", 400, "cursor_invalid")
    server.problem("/api/prices/NONE_AT_ALL", 404, "no_feed")
    server.problem("/api/pools/NONE/quote?amountIn=1", 404, "no_pool")
    server.problem(f"/api/pools/{pool}/quote", 400, "invalid_parameters")
    server.problem(f"/api/pools/{pool}/quote?amountIn=-1", 400, "invalid_parameters")
    server.problem(f"/api/pools/{pool}/quote?amountIn=1&direction=sideways", 400, "invalid_parameters")
    server.problem(f"/api/pools/{pool}/quote?amountIn={10**38 - 1}", 409, "overflow")
    server.problem("/api/prices?ledger=1", 404, "ledger_not_indexed")
    server.problem("/api/prices?ledger=4294967295", 404, "ledger_not_reached")
    batch(server, address, muxed, account, seed)
    print("refusals are as they should be")


MUXED_CONTRACT = "WA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVAAAAAAAAAAAACWJY"


def muxed_of():
    return "MA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJUAAAAAAAAAAAACJUQ"


def batch(server, address, muxed, account, seed):
    path = "/api/sdk/kyc/status"
    one = server.get(f"{path}/{address}")
    items = server.get(path, json.dumps({"addresses": [address, muxed, seed, "", address]}))["items"]
    for at in (0, 4):
        if any(items[at][k] != one[k] for k in ("address", "compliant", "status", "gates", "record")):
            sys.exit(f"item {at}: {items[at]}, alone {one}")
    if [bool(i.get("error")) for i in items] != [False, True, True, True, False]:
        sys.exit(f"not each item for itself: {items}")
    if account not in items[1]["error"]["detail"] or seed in json.dumps(items):
        sys.exit(f"item: {items[1]} {items[2]}")
    if any("compliant" in i for i in items[1:4]):
        sys.exit("a bad address is called compliant, or not")
    if len(server.get(path, json.dumps({"addresses": [address] * 1000}))["items"]) != 1000:
        sys.exit("not a thousand")
    if server.get(path, ' { "addresses" : [ ] } ')["items"] != []:
        sys.exit("none is some")
    server.problem(path, 400, "too_many_addresses", json.dumps({"addresses": [address] * 1001}))
    for body in ("", "[]", "7", "{", "{}", '{"addresses":7}', '{"addresses":[7]}', '{"addresses":[null]}', '{"addresses":[],"addresses":[]}', '{"addresses":[],"x":1}',
                 '{"addresses":[]} x', '{"addresses":["\\ud800"]}', '{"addresses":' + "[" * 5000 + "]" * 5000 + "}"):
        server.problem(path, 400, "bad_body", body)


# --- what need not be sent again -----------------------------------------------------------------------

def tags(server, ledger):
    for path in ("/api/sdk/contracts", "/api/sdk/assets"):
        tag = server.ask(path)[0].headers["ETag"]
        then = server.ask(f"{path}?ledger={int(ledger) - 1}")[0].headers["ETag"]
        if tag != then or not tag.startswith('W/"'):
            sys.exit(f"{path}: {tag} now, {then} a ledger before")
        for sent in (tag, tag[2:], f'"other", {tag}', "*"):
            server.connection.request("GET", path, headers={"If-None-Match": sent})
            answer = server.connection.getresponse()
            if answer.status != 304 or answer.read() or answer.headers["ETag"] != tag:
                sys.exit(f"{path} If-None-Match {sent}: {answer.status}")
        server.connection.request("GET", path, headers={"If-None-Match": 'W/"other"'})
        answer = server.connection.getresponse()
        if answer.status != 200 or not answer.read():
            sys.exit(f"{path} If-None-Match of another: {answer.status}")


# --- assets --------------------------------------------------------------------------------------------

def assets(server, expected):
    with open(expected, encoding="utf-8") as lines:
        for line in lines:
            partner, *tokens = line.split()
            query = "" if partner == "-" else f"?partnerId={partner}"
            items = item_list(server, "/api/sdk/assets" + query)
            if sorted(i["token"] for i in items) != sorted(tokens):
                sys.exit(f"partner {partner}: {items}, not {tokens}")
            for i in items:
                if partner != "-" and any(c["partnerId"] != partner or not c["live"] for c in i["catalog"]):
                    sys.exit(f"partner {partner}: another partner's, or not live: {i}")
    alike = collections.Counter(i["tokenSymbol"] for i in item_list(server, "/api/sdk/assets"))
    print(f"assets {dict(alike)}")
    if max(alike.values()) < 2:
        sys.exit("no two assets share a symbol: this test proves little")


def main():
    server, what, args = Server(sys.argv[1]), sys.argv[2], sys.argv[3:]
    if what == "get":
        found = server.get(args[0])
        for pair in args[1:]:
            name, _, value = pair.partition("=")
            if found[name] != json.loads(value):
                sys.exit(f"{args[0]}: {name} is {found[name]}, not {value}")
    elif what == "problem":
        server.problem(args[0], int(args[1]), args[2])
    else:
        {"same": same, "windows": windows, "model": model, "views": views, "refusals": refusals, "tags": tags, "assets": assets}[what](server, *args)


main()
