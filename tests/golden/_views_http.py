#!/usr/bin/env python3
"""The contracts' recorded answers, asked of the HTTP routes at the same ledger.

usage: _views_http.py PORT CHAIN VIEWS [CONTRACT]   counts by function; exits 1 when an answer differs, when a question is
                                         in no route, a route's function is not asked, or a refusal's code is
                                         another, or as often not, as REFUSED says of that chain (a or b).

The recording has the questions at five ledgers. Without TIDE_LONG they are asked at two: the one in the middle and the last one. Refusals
are then at most as often as REFUSED says. With CONTRACT only that contract's questions are asked.
"""
import collections
import datetime
import http.client
import json
import os
import sys

LONG = bool(os.environ.get("TIDE_LONG"))  # tools/test all
INFINITE = str(2**127 - 1)


class Refused(Exception):
    """The route's answer stands for a contract that does not answer; the reason is its code."""


class Server:
    """One connection that is kept; answers of one ledger are kept while it is asked about."""

    def __init__(self, port):
        self.connection = http.client.HTTPConnection("127.0.0.1", int(port), timeout=30)
        self.kept, self.ledger, self.asked = {}, None, 0

    def at(self, ledger):
        if ledger != self.ledger:
            self.kept, self.ledger = {}, ledger

    def ask(self, path):
        """The answer, None where there is none of it (404); Refused where the rules say so (409)."""
        if path not in self.kept:
            for _ in range(5):
                self.connection.request("GET", f"{path}{'&' if '?' in path else '?'}ledger={self.ledger}")
                answer = self.connection.getresponse()
                self.kept[path] = answer.status, json.loads(answer.read())
                if self.kept[path][1].get("code") != "query_too_long":
                    break  # else the machine stood still
            self.asked += 1
        status, found = self.kept[path]
        if status == 409:
            raise Refused(found["code"])
        if status == 404:
            return None
        if status != 200 or found["ledger"] != str(self.ledger):
            sys.exit(f"{path} at {self.ledger}: {status} {found}")
        return found

    def must(self, path):
        found = self.ask(path)
        if found is None:
            raise Refused(self.kept[path][1]["code"])
        return found

    def all(self, path):
        items, cursor = [], ""
        while cursor is not None:
            page = self.ask(f"{path}{'&' if '?' in path else '?'}limit=200{cursor and '&cursor=' + cursor}")
            if page is None:
                return None
            items += page["items"]
            cursor = page["next"]
        return items


def seconds(text):
    if text is None:
        return "0"
    return str(int(datetime.datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=datetime.timezone.utc).timestamp()))


def pick(found, **names):
    """The members of an answer by the contract's names; names ending in _ are times."""
    return {k.rstrip("_"): seconds(found[v]) if k.endswith("_") else found[v] for k, v in names.items()}


# --- compliance -----------------------------------------------------------------------------------

def kyc(s, who):
    return s.must(f"/api/sdk/kyc/status/{who}")


def compliance_status(s, who):
    found = kyc(s, who)
    record = found["record"] or {"status": 0, "provider": who, "reason": "none", "updatedAt": None, "expiresAt": None}
    said = pick(record, expires_at_="expiresAt", provider="provider", reason="reason", status="status", updated_at_="updatedAt")
    # Answers do not name the country. Where the verdict tells that it is or is not blocked, it is compared.
    if record["status"] == 0 or found["status"] == "Restricted":
        said["jurisdiction_allowed"] = False
    elif found["compliant"]:
        said["jurisdiction_allowed"] = True
    return said


def blocked(s, code):
    return any(i["code"] == code for i in s.all("/api/compliance/blocked-jurisdictions"))


# --- pools, markets, prices ---------------------------------------------------------------------

def pool(s, name):
    return pick(s.must(f"/api/pools/{name}"), cumulative_vol_a="cumulativeVolumeA", cumulative_vol_b="cumulativeVolumeB",
                fee_a_accum="feeAccumulatorA", fee_b_accum="feeAccumulatorB", fee_tier="feeTierBps", paused="paused",
                reserve_a="reserveA", reserve_b="reserveB", token_a="tokenA", token_b="tokenB", total_shares="totalShares")


def quote(s, name, amount, a_to_b, what="amountOut"):
    found = s.must(f"/api/pools/{name}/quote?amountIn={amount}&direction={'a_to_b' if a_to_b else 'b_to_a'}")
    if found[what] is None:
        raise Refused(found["reasonCode"])
    return found[what]


def claimable_fees(s, name, who):
    items = s.all(f"/api/pools/{name}/positions")
    if items is None:
        raise Refused("no_pool")
    for item in items:
        if item["provider"] == who:
            return [item["claimableA"], item["claimableB"]]
    return ["0", "0"]


def market(s, name):
    found = s.ask(f"/api/markets/{name}")
    return found and {**pick(found, debt_ceiling="debtCeiling", enabled="enabled", liq_penalty="liqPenaltyBps",
                             liq_ratio="liqRatioBps", min_coll_ratio="minCollRatioBps", stab_fee_bps="mintFeeMillionths",
                             token="synthToken"),
                      "oracle_symbol": found["oracle"]["asset"], "coll_oracle_sym": found["collateralOracle"]["asset"]}


def debt_total(s, name):
    found = s.ask(f"/api/markets/{name}")
    return found["debt"] if found else "0"


def paused(s):
    return any(m["paused"] for m in s.must("/api/markets")["items"])


def price(s, asset, value, stale):
    found = s.must(f"/api/prices/{asset}")
    if found[stale]:
        raise Refused(stale)
    return found[value]


def is_stale(s, asset):
    found = s.ask(f"/api/prices/{asset}")
    return found is None or found["stale"]


def ratio(s, who, name):
    found = s.must(f"/api/vaults/{name}/{who}")
    if found["state"] == "closed":
        raise Refused("no_vault")
    if found["state"] == "open":
        return INFINITE
    if found["ratioBps"] is None:
        raise Refused(found["unpricedBecause"])
    return found["ratioBps"]


def opened(s, who):
    """The engine's log of vaults: a symbol each time one was opened, the oldest first."""
    events = s.all(f"/api/events?kind=synthetic_engine_open&address={who}")
    return [e["fields"]["market"] for e in reversed(events) if e["fields"]["owner"] == who]


def liquidatable(s, who, name):
    found = s.ask(f"/api/vaults/{name}/{who}")
    if found and found["state"] == "unpriced":
        raise Refused(found["unpricedBecause"])
    return bool(found) and found["state"] == "liquidatable"


# --- partners, earnings -------------------------------------------------------------------------

def partner(s, number):
    found = s.ask(f"/api/partners/{number}")
    return found and {**pick(found, active="active", deployed_assets="deployedAssets", name="name", owner="owner",
                             pending_revenue="pendingRevenue", registered_at_="registeredAt", revenue_share="revenueShareBps",
                             total_earned="totalEarned", total_volume="totalVolume"), "id": int(found["partnerId"])}


def epoch(s, number):
    found = s.ask(f"/api/earnings/epochs/{number}")
    return found and pick(found, end_time_="endsAt", epoch_id="epoch", finalized="finalized", partner_revenue="partnerRevenue",
                          per_token_revenue="perTokenRevenue", protocol_revenue="protocolRevenue",
                          staker_snapshot="stakerSnapshot", start_time_="startsAt", total_revenue="totalRevenue")


def epoch_tokens(s, number):
    found = s.ask(f"/api/earnings/epochs/{number}")
    return [r["token"] for r in found["revenue"]] if found else []


def deposit(s, who, what):
    found = s.ask(f"/api/stability-pool/deposits/{who}")
    if found is None:
        s.must("/api/stability-pool")  # the contract refuses before it is initialised
    if found and found[what] is None:
        raise Refused("overflow")
    return found[what] if found else "0"


def stability(s):
    found = s.must("/api/stability-pool")
    return {**pick(found, epoch="epoch", p="p", paused="paused", scale="scale", sum_coll="sumCollateral",
                   total_coll_gained="totalCollateralGained", total_deposits="totalDeposits"), "total_liq_count": str(found["liquidationCount"])}


# --- governance -----------------------------------------------------------------------------------

def proposal(s, number):
    found = s.must(f"/api/dao/proposals/{number}")
    return {**pick(found, call_data="callData", description="descriptionHex", end_time_="endsAt", execute_after_="executableAt",
                   id="proposalId", no_votes="noVotes", proposer="proposer", start_time_="startsAt", title="titleHex",
                   yes_votes="yesVotes"), "status": [found["status"]]}


def proposal_txs(s, number):
    return [t["txId"] for t in reversed(s.all(f"/api/multisig/transactions?proposalId={number}"))]


def pending_txs(s, number):
    s.must(f"/api/multisig/wallets/{number}")
    return [t["txId"] for t in reversed(s.all(f"/api/multisig/transactions?walletId={number}&status=Pending"))]


def tx_summary(s, number):
    found = s.must(f"/api/multisig/transactions/{number}")
    return {**pick(found, approvals="approvals", created_at_="createdAt", function_name="functionName", proposal_id="proposalId",
                   rejections="rejections", signer_count="signerCount", target="target", threshold="threshold", tx_id="txId"),
            "status": [found["status"]], "wallet_id": int(found["walletId"])}


# Every read function of the contracts, with the route that answers it.
ROUTES = {
    "compliance_registry.get_compliance_status": compliance_status,
    "compliance_registry.get_providers": lambda s, a: [i["provider"] for i in s.all(f"/api/compliance/{a}/providers")],
    "compliance_registry.get_travel_rule_count": lambda s: str(s.must("/api/compliance")["travelRuleCount"]),
    "compliance_registry.is_jurisdiction_blocked": blocked,
    "compliance_registry.is_user_compliant": lambda s, a: kyc(s, a)["compliant"],
    "compliance_registry.is_verified": lambda s, a: kyc(s, a)["compliant"],
    "compliance_registry.list_verifiers": lambda s: [i["verifier"] for i in s.all("/api/compliance/verifiers")],
    "dao_governance.get_multisig_tx_summary": tx_summary,
    "dao_governance.get_pending_multisig_txs": pending_txs,
    "dao_governance.get_proposal": proposal,
    "dao_governance.get_proposal_multisig_txs": proposal_txs,
    "dao_governance.get_signers": lambda s, w: s.must(f"/api/multisig/wallets/{w}")["signers"],
    "earnings_distributor.get_current_epoch": lambda s: (s.must("/api/earnings/epochs?limit=1")["items"] or [{"epoch": "0"}])[0]["epoch"],
    "earnings_distributor.get_epoch": epoch,
    "earnings_distributor.get_epoch_tokens": epoch_tokens,
    "liquidity_pool.claimable_fees": claimable_fees,
    "liquidity_pool.get_pool": pool,
    "liquidity_pool.get_price": lambda s, p, a_to_b: quote(s, p, 0, a_to_b, "spotPrice"),
    "liquidity_pool.quote": quote,
    "oracle.get_price": lambda s, a: price(s, a, "latestPrice", "stale"),
    "oracle.get_twap": lambda s, a: price(s, a, "twapPrice", "twapStale"),
    "oracle.is_stale": is_stale,
    "partner_registry.get_partner": partner,
    "partner_registry.get_partner_assets": lambda s, n: s.must(f"/api/partners/{n}")["deployedAssets"],
    "stability_pool.get_collateral_gain": lambda s, a: deposit(s, a, "collateralGain"),
    "stability_pool.get_compounded_deposit": lambda s, a: deposit(s, a, "compoundedDeposit"),
    "stability_pool.get_state": stability,
    "synth_token.balance": lambda s, a, token: s.must(f"/api/tokens/{token}/balances/{a}")["balance"],
    "synthetic_engine.get_asset_config": market,
    "synthetic_engine.get_cr_bps": ratio,
    "synthetic_engine.get_debt_total": debt_total,
    "synthetic_engine.is_liquidatable": liquidatable,
    "synthetic_engine.get_vaults_by_owner": opened,
    "synthetic_engine.is_paused": paused,
}

# The code with which a route stands for a contract that does not answer: how often on chain a, and on b.
REFUSED = {
    "dao_governance.get_multisig_tx_summary": {"not_found": (126, 79)},
    "dao_governance.get_proposal": {"not_found": (133, 53)},
    "dao_governance.get_signers": {"not_found": (10, 6)},
    "liquidity_pool.get_pool": {"not_found": (5, 5)},
    "liquidity_pool.get_price": {"no_pool": (10, 10)},
    "liquidity_pool.quote": {"no_pool": (40, 40)},
    "oracle.get_price": {"no_feed": (5, 5), "stale": (6, 12)},
    "oracle.get_twap": {"no_feed": (5, 5), "twapStale": (6, 12)},
    "partner_registry.get_partner_assets": {"not_found": (12, 15)},
    "synthetic_engine.get_cr_bps": {"no_vault": (0, 3), "not_found": (521, 500), "stale_twap": (16, 33)},
    "synthetic_engine.is_liquidatable": {"stale_twap": (16, 33)},
}


def same(name, want, got):
    if name == "compliance_registry.get_compliance_status" and "jurisdiction_allowed" not in got:
        want = {k: v for k, v in want.items() if k != "jurisdiction_allowed"}
    return json.dumps(want, sort_keys=True) == json.dumps(got, sort_keys=True)


def answer(server, view, name):
    args = view["args"] + ([view["contract"]] if name == "synth_token.balance" else [])
    try:
        return {"ok": True, "ret": ROUTES[name](server, *args)}
    except Refused as why:
        return {"ok": False, "why": why.args[0]}


def compare(server, views):
    """Counters by function: asked, equal; and of refusals by code."""
    asked, equal = collections.Counter(), collections.Counter()
    whys, shown = collections.defaultdict(collections.Counter), 0
    for view in views:
        name = f"{view['role']}.{view['fn']}"
        asked[name] += 1
        server.at(view["ledger"])
        got = answer(server, view, name)
        if view["ok"] == got["ok"] and (got.get("why") if not got["ok"] else same(name, view["ret"], got["ret"])):
            equal[name] += 1
            if not got["ok"]:
                whys[name][got["why"]] += 1
        elif shown < 10:
            shown += 1
            print(f"{name} {view['args']} at {view['ledger']}\n  got  {json.dumps(got)}\n"
                  f"  want {json.dumps({k: view[k] for k in ('ok', 'ret') if k in view})}")
    return asked, equal, whys


def other_refusals(whys, chain):
    if not LONG:
        return [f"{name}: refused {n} times as {why}" for name, codes in whys.items() for why, n in codes.items()
                if n > REFUSED.get(name, {}).get(why, (0, 0))[chain]]
    want = {name: {code: n[chain] for code, n in codes.items() if n[chain]} for name, codes in REFUSED.items()}
    return [f"{name}: refused {dict(whys.get(name, {}))}, expected {want.get(name, {})}"
            for name in sorted(set(want) | set(whys)) if want.get(name, {}) != dict(whys.get(name, {}))]


def main():
    server = Server(sys.argv[1])
    with open(sys.argv[3], encoding="utf-8") as lines:
        views = [json.loads(line) for line in lines]
    unsaid = sorted({f"{v['role']}.{v['fn']}" for v in views} ^ set(ROUTES))
    if unsaid:
        sys.exit(f"in no route, or never asked: {' '.join(unsaid)}")
    ledgers = sorted({v["ledger"] for v in views})
    if not LONG:
        views = [v for v in views if v["ledger"] in (ledgers[len(ledgers) // 2], ledgers[-1])]
    if sys.argv[4:]:
        views = [v for v in views if v["role"] == sys.argv[4]]
    asked, equal, whys = compare(server, views)
    for name in sorted(asked):
        refused = ", ".join(f"{n} {why}" for why, n in sorted(whys[name].items()))
        print(f"{name:48} {equal[name]:5} of {asked[name]:5}{'  refused: ' + refused if refused else ''}")
    others = other_refusals({name: codes for name, codes in whys.items() if codes}, "ab".index(sys.argv[2]))
    print("\n".join(others), end="\n" if others else "")
    print(f"views over HTTP: {sum(equal.values())} of {len(views)} equal, {server.asked} requests")
    sys.exit(0 if equal == asked and not others else 1)


if __name__ == "__main__":
    main()
