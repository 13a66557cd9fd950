#!/usr/bin/env python3
"""usage: _analyst_as_of.py note LEDGER | compare LEDGER…   (analyst_as_of.sh)

note     keeps the rows of each view of entries; the index ends at that ledger
compare  the index goes on: each NAME_as_of(ledger) gives the rows that were noted, and the API's ?ledger= gives the same numbers
"""
import json
import sys

from _sql import Driver, sql

# Columns of the analyst's functions, and the members of the API's items that say the same. The first ones are the key.
ROUTES = {
    "vaults": ("/api/vaults", {
        "market": "market", "owner": "owner", "collateral_raw": "collateral", "debt_raw": "debt", "status": "state", "collateral_token": "collateralToken",
        "collateral_token_symbol": "collateralTokenSymbol", "liquidation_ratio_bps": "liqRatioBps", "ledger": "changedLedger"}),
    "pools": ("/api/pools", {
        "pool_id": "pool", "reserve_a_raw": "reserveA", "reserve_b_raw": "reserveB", "token_a_symbol": "tokenASymbol", "token_b_symbol": "tokenBSymbol",
        "total_shares": "totalShares", "volume_a_raw": "cumulativeVolumeA", "ledger": "changedLedger"}),
    "partners": ("/api/partners", {
        "partner_id": "partnerId", "owner": "owner", "active": "active", "revenue_share_bps": "revenueShareBps", "ledger": "changedLedger"}),
    "stability_deposits": ("/api/stability-pool/deposits", {
        "depositor": "depositor", "initial_raw": "initialValue", "compounded_raw": "compoundedDeposit", "gain_raw": "collateralGain", "ledger": "changedLedger"}),
    "feeds": ("/api/oracle/feeds", {"feed": "asset", "observations": "observationCount", "ledger": "changedLedger"}),
    "proposals": ("/api/dao/proposals", {
        "proposal_id": "proposalId", "proposer": "proposer", "yes_votes": "yesVotes", "no_votes": "noVotes", "ledger": "changedLedger"}),
    "multisig_wallets": ("/api/multisig/wallets", {"wallet_id": "walletId", "threshold": "threshold", "active": "active", "ledger": "changedLedger"}),
    "multisig_transactions": ("/api/multisig/transactions", {"tx_id": "txId", "status": "status", "approvals": "approvals", "ledger": "changedLedger"}),
}


def views():
    return sql("SELECT regexp_replace(p.proname, '_as_of$', '') FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace"
               " WHERE n.nspname = 'analyst' AND p.proname LIKE '%\\_as\\_of' ORDER BY 1").split()


def note(ledger):
    assert sql("SELECT ledger FROM analyst.networks") == ledger, f"the index does not end at {ledger}"
    sql("CREATE SCHEMA IF NOT EXISTS noted")
    for view in views():
        sql(f"CREATE TABLE noted.{view}_{ledger} AS SELECT v::text AS row FROM analyst.{view} AS v")


def compare_noted(ledger):
    """Rows as they were. Returns how many there are, and how many views have changed since."""
    rows = changed = 0
    for view in views():
        was, now = f"SELECT row FROM noted.{view}_{ledger}", f"SELECT v::text FROM analyst.{view} AS v"
        then = f"SELECT v::text FROM analyst.{view}_as_of({ledger}) AS v"
        differ = lambda a, b: f"(({a}) EXCEPT ALL ({b})) UNION ALL (({b}) EXCEPT ALL ({a}))"
        wrong = sql(differ(was, then) + " LIMIT 4")
        assert not wrong, f"{view} as of {ledger}:\n{wrong}"
        rows += int(sql(f"SELECT count(*) FROM noted.{view}_{ledger}"))
        changed += bool(sql(differ(was, now) + " LIMIT 1"))
    return rows, changed


def text(value):
    return None if value is None else str(value)


def compare_api(driver, view, ledger):
    path, names = ROUTES[view]
    columns = ", ".join(f"{c}::text" if c not in ("active",) else c for c in names)
    have = json.loads(sql(f"SELECT coalesce(json_agg(x), '[]') FROM (SELECT {columns} FROM analyst.{view}_as_of({ledger})) AS x"))
    want = driver.pages(f"{path}?ledger={ledger}", 100)[0]
    have = sorted((tuple(text(row[c]) for c in names) for row in have), key=str)
    want = sorted((tuple(text(item[m]) for m in names.values()) for item in want), key=str)
    assert have == want, f"{view} as of {ledger}: {[pair for pair in zip(have, want) if pair[0] != pair[1]][:2]}, {len(have)} and {len(want)} rows"
    return len(have)


def compare(ledgers):
    assert len(views()) >= 14, views()
    driver = Driver()
    for ledger in ledgers:
        rows, changed = compare_noted(ledger)
        assert changed >= 8, f"only {changed} views changed after {ledger}"
        asked = {view: compare_api(driver, view, ledger) for view in ROUTES}
        print(f"ledger {ledger}: {rows} rows as they were, {changed} of {len(views())} views changed since; the API says", asked)
    driver.close()
    newest = sql("SELECT ledger FROM analyst.networks")
    for view in views():
        assert sql(f"SELECT count(*) FROM (SELECT v::text FROM analyst.{view}_as_of({newest}) AS v EXCEPT ALL SELECT v::text FROM analyst.{view} AS v) AS d") == "0", view


if sys.argv[1] == "note":
    note(sys.argv[2])
else:
    compare(sys.argv[2:])
