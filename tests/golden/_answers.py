#!/usr/bin/env python3
"""Compares figures of the analyst's views with the contracts' own answers as of the same ledger.

usage: _answers.py views.jsonl LEDGER     (the database stands at LEDGER)

Ratios, claimable fees, compounded deposits, gains, pool prices, debts, prices with their age,
compliance. A question that a contract refuses has no number in the view.
"""
import json
import subprocess
import sys

NO_DEBT = str(2**127 - 1)


def rows(sql):
    done = subprocess.run(["psql", "-XAtq", "-v", "ON_ERROR_STOP=1", "-U", "tidemark_analyst", "-c",
                           f"SELECT coalesce(json_agg(x), '[]') FROM ({sql}) AS x"],
                          capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def table(sql, keys):
    return {tuple(r[k] for k in keys): r for r in rows(sql)}


vaults = table("SELECT owner, market, ratio_bps::text, debt_raw::text, status FROM vaults", ["owner", "market"])
positions = table("SELECT pool_id, provider, claimable_a_raw::text AS a, claimable_b_raw::text AS b FROM lp_positions", ["pool_id", "provider"])
deposits = table("SELECT depositor, compounded_raw::text, gain_raw::text FROM stability_deposits", ["depositor"])
pools = table("SELECT pool_id, round(price_a_in_b * 10000000)::text AS price FROM pools", ["pool_id"])
markets = table("SELECT market, debt_raw::text FROM markets", ["market"])
feeds = table("SELECT feed, round(price * 10000000)::text AS price, price_stale, round(twap * 10000000)::text AS twap, twap_stale FROM feeds", ["feed"])
people = table("SELECT address, status, extract(epoch FROM expires_at)::bigint AS expires_at FROM compliance", ["address"])
STATUS = ["Unknown", "Pending", "Verified", "Suspended", "Sanctioned", "Expired"]


def ratio(args, ok, ret):
    vault = vaults.get(tuple(args))
    if ok and ret == NO_DEBT:
        return vault and vault["status"] == "open" and vault["ratio_bps"] is None
    if ok:
        return vault and vault["ratio_bps"] == ret
    return vault is None or (vault["ratio_bps"] is None and vault["status"] == "unpriced")


def liquidatable(args, ok, ret):
    vault = vaults.get(tuple(args))
    if not ok:
        return vault and vault["status"] == "unpriced"
    return (vault is not None and vault["status"] == "liquidatable") == ret


def claimable(args, ok, ret):
    position = positions.get(tuple(args), {"a": "0", "b": "0"})
    return not ok or [position["a"], position["b"]] == ret


def compounded(args, ok, ret):
    return deposits.get(tuple(args), {"compounded_raw": "0"})["compounded_raw"] == ret


def gain(args, ok, ret):
    return deposits.get(tuple(args), {"gain_raw": "0"})["gain_raw"] == ret


def pool_price(args, ok, ret):
    if not args[1]:
        return None
    pool = pools.get((args[0],))
    return pool is not None and pool["price"] == ret if ok else pool is None or pool["price"] is None


def feed(column, stale):
    def check(args, ok, ret):
        f = feeds.get((args[0],))
        if not ok:
            return f is None or f[stale]
        return f is not None and not f[stale] and f[column] == ret
    return check


def compliance(args, ok, ret):
    person = people.get(tuple(args))
    if person is None:
        return ret["status"] == 0
    return STATUS[ret["status"]] == person["status"] and ret["expires_at"] == str(person["expires_at"] or 0)


CHECKS = {("synthetic_engine", "get_cr_bps"): ratio,
          ("synthetic_engine", "is_liquidatable"): liquidatable,
          ("synthetic_engine", "get_debt_total"): lambda args, ok, ret: markets.get((args[0],), {"debt_raw": "0"})["debt_raw"] == ret,
          ("liquidity_pool", "claimable_fees"): claimable,
          ("liquidity_pool", "get_price"): pool_price,
          ("stability_pool", "get_compounded_deposit"): compounded,
          ("stability_pool", "get_collateral_gain"): gain,
          ("oracle", "get_price"): feed("price", "price_stale"),
          ("oracle", "get_twap"): feed("twap", "twap_stale"),
          ("compliance_registry", "get_compliance_status"): compliance}


def main():
    path, ledger = sys.argv[1], int(sys.argv[2])
    asked, wrong = {}, 0
    for line in open(path, encoding="utf-8"):
        view = json.loads(line)
        check = CHECKS.get((view["role"], view["fn"]))
        if view["ledger"] != ledger or not check:
            continue
        holds = check(view["args"], view["ok"], view.get("ret"))
        if holds is None:
            continue
        asked[view["fn"]] = asked.get(view["fn"], 0) + 1
        if not holds:
            wrong += 1
            if wrong <= 5:
                print("differs", json.dumps(view))
    print(f"ledger {ledger}: " + ", ".join(f"{n} {fn}" for fn, n in sorted(asked.items())) + f", {wrong} differ")
    sys.exit(1 if wrong or len(asked) < len({fn for _, fn in CHECKS}) else 0)


main()
