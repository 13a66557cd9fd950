#!/usr/bin/env python3
"""usage: _routes_governance.py   asks the routes of partners, earnings, oracle, DAO, multisig, compliance and
transfers through bin/sql_driver and compares with plain SQL; the database is there (routes_governance.sh)."""
import collections
import json

from _sql import Driver, sql

NEWEST = 2147483647


def rows(text):
    return json.loads(sql(f"SELECT coalesce(json_agg(q), '[]') FROM ({text}) AS q"))


def pages(d, target, limit):
    return d.pages(target, limit)[0]


def then(table, at):
    """The entries of a table as of a ledger, by another way than the routes': all versions, sorted."""
    return (f"(SELECT * FROM (SELECT DISTINCT ON (key_hash) * FROM history.{table} WHERE ledger <= {at} "
            f"ORDER BY key_hash, ledger DESC, tx DESC, seq DESC) AS v WHERE NOT removed)")


def scaled(raw):
    return f"{'-' if raw < 0 else ''}{abs(raw) // 10**7}.{abs(raw) % 10**7:07d}"


def check_common(item):
    for name, value in item.items():
        assert "urisdiction" not in name, item
        if name.endswith("Scaled"):
            assert value == scaled(int(item[name[:-6]])), (name, item)


def compare(d, path, at, limits, wanted, keep=lambda item: item):
    """The list, page by page, is what is wanted, in order, each once. wanted names some fields of each item."""
    target = path if at == NEWEST else f"{path}{'&' if '?' in path else '?'}ledger={at}"
    for limit in limits:
        got = pages(d, target, limit)
        for item in got:
            check_common(item)
        short = [{k: i[k] for k in wanted[0]} if wanted else i for i in got]
        assert short == wanted, (target, limit, len(got), len(wanted), [x for x in zip(short, wanted) if x[0] != x[1]][:1])
    return got


# path, table, order, fields as SQL. "at" is tried at several ledgers.
STATE = [
    ("/api/partners", "partner_registry_partner", "key_id", {
        "partnerId": "key_id::text", "owner": "owner", "active": "active", "revenueShareBps": "revenue_share::text",
        "pendingRevenue": "pending_revenue::text", "totalEarned": "total_earned::text",
        "deployedAssets": "deployed_assets", "changedLedger": "ledger::text"}),
    ("/api/earnings/epochs", "earnings_distributor_epoch", "key_id DESC", {
        "epoch": "key_id::text", "finalized": "finalized", "totalRevenue": "total_revenue::text",
        "partnerRevenue": "partner_revenue::text", "protocolRevenue": "protocol_revenue::text",
        "stakerSnapshot": "staker_snapshot::text", "startsAt": "chain.rfc3339(analyst.at(start_time))",
        "endsAt": "chain.rfc3339(analyst.at(end_time))", "changedLedger": "ledger::text"}),
    ("/api/oracle/feeds", "oracle_feed", "asset", {
        "asset": "asset", "latestPrice": "latest_price::text", "twapPrice": "twap_price::text",
        "observationCount": "observation_count", "changedLedger": "ledger::text"}),
    ("/api/oracle/providers", "oracle_provider", "address", {"provider": "address", "changedLedger": "ledger::text"}),
    ("/api/dao/proposals", "dao_governance_proposal", "key_id DESC", {
        "proposalId": "key_id::text", "proposer": "proposer", "yesVotes": "yes_votes::text",
        "noVotes": "no_votes::text", "startsAt": "chain.rfc3339(analyst.at(start_time))",
        "endsAt": "chain.rfc3339(analyst.at(end_time))", "executableAt": "chain.rfc3339(analyst.at(execute_after))", "status": "status", "changedLedger": "ledger::text"}),
    ("/api/multisig/wallets", "dao_governance_multi_sig_wallet", "wallet_id", {
        "walletId": "wallet_id::text", "threshold": "threshold", "signers": "signers", "active": "active"}),
    ("/api/multisig/transactions", "dao_governance_multi_sig_tx", "tx_id DESC", {
        "txId": "tx_id::text", "walletId": "wallet_id::text", "proposalId": "proposal_id::text", "target": "target",
        "functionName": "function_name", "approvals": "approvals", "rejections": "rejections", "status": "status"}),
    ("/api/compliance/blocked-jurisdictions", "compliance_registry_blocked_jurisdiction", "code", {
        "code": "code", "changedLedger": "ledger::text"}),
]


def fields(names):
    return ", ".join(f'{expr} AS "{name}"' for name, expr in names.items())


def state_lists(d, moments):
    for path, table, order, names in STATE:
        counts = []
        for at in moments:
            wanted = rows(f"SELECT {fields(names)} FROM {then(table, at)} AS v ORDER BY {order}")
            counts.append(len(wanted))
            compare(d, path, at, (7, 200) if at == NEWEST else (29,), wanted)
        assert counts[-1] > 2 and counts[0] <= counts[-1] or "blocked" in path or "providers" in path, (path, counts)
        # the newest by history says what state says
        assert pages(d, f"{path}?ledger={moments[-2]}", 200) == pages(d, path, 200), path
        print(f"{path}: {counts}")


def filtered(d, moments):
    for at in moments:
        partners = rows(f"SELECT key_id, owner FROM {then('partner_registry_partner', at)} AS v")
        assets = rows(f"SELECT partner_id, key_symbol, token, live, (SELECT min(t.symbol) FROM chain.token AS t WHERE t.token = v.token) AS own FROM {then('partner_registry_partner_asset', at)} AS v "
                      "ORDER BY key_symbol COLLATE \"C\"")
        for p in partners[:6]:
            compare(d, f"/api/partners/{p['key_id']}/catalog", at, (3,),
                    [{"symbol": a["key_symbol"], "token": a["token"], "tokenSymbol": a["own"], "live": a["live"]} for a in assets
                     if a["partner_id"] == p["key_id"]])
            compare(d, f"/api/partners/{p['key_id']}/claims", at, (5,), rows(
                f"SELECT chain.event_id(ledger, tx, op, event) AS id, claimable::text AS claimed "
                f"FROM event.partner_registry_claim WHERE partner_owner = '{p['owner']}' AND ledger <= {at} "
                f"ORDER BY 1 DESC"))
        for e in rows(f"SELECT key_id FROM {then('earnings_distributor_epoch', at)} AS v ORDER BY 1 DESC LIMIT 4"):
            n = e["key_id"]
            compare(d, f"/api/earnings/epochs/{n}/partners", at, (2,), rows(
                f'SELECT partner_id::text AS "partnerId", value::text AS revenue FROM '
                f"{then('earnings_distributor_epoch_partner_revenue', at)} AS v WHERE epoch = {n} ORDER BY partner_id"))
            compare(d, f"/api/earnings/epochs/{n}/claims", at, (9,), rows(
                f"SELECT claimer FROM {then('earnings_distributor_claimed', at)} AS v WHERE epoch = {n} ORDER BY 1"))
        for query, where in (("walletId=0", "wallet_id = 0"), ("status=Executed", "status = 'Executed'"),
                             ("walletId=1&status=Pending", "wallet_id = 1 AND status = 'Pending'"),
                             ("proposalId=9", "proposal_id = 9")):
            compare(d, f"/api/multisig/transactions?{query}", at, (11,), rows(
                f'SELECT tx_id::text AS "txId", status FROM {then("dao_governance_multi_sig_tx", at)} AS v '
                f"WHERE {where} ORDER BY tx_id DESC"))


def earlier_owner(d):
    """A partner that another contract's code gave away: its claims are those of the owner that it had then, not of today's."""
    owner = sql("SELECT partner_owner FROM event.partner_registry_claim GROUP BY 1 ORDER BY count(*) DESC LIMIT 1")
    partner = sql(f"SELECT key_id FROM state.partner_registry_partner WHERE owner = '{owner}'")
    path, past_owner = f"/api/partners/{partner}/claims", "GAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAWHF"
    before = pages(d, path, 200)
    last, moved = before[0]["ledger"], int(before[len(before) // 2]["ledger"])
    assert int(last) > moved, before
    sql(f"UPDATE event.partner_registry_claim SET partner_owner = '{past_owner}' WHERE partner_owner = '{owner}' AND ledger <= {moved};"
        f"UPDATE event.partner_registry_claim SET partner_owner = '{past_owner}' WHERE partner_owner = '{owner}' AND ledger = {last};"
        f"UPDATE history.partner_registry_partner SET owner = '{past_owner}' WHERE key_id = {partner} AND ledger <= {moved}")
    want = [{"id": i["id"], "owner": past_owner if int(i["ledger"]) <= moved else owner} for i in before if i["ledger"] != last]
    compare(d, path, NEWEST, (1, 200), want)
    compare(d, path, moved, (3,), [w for w in want if w["owner"] == past_owner])
    sql(f"UPDATE event.partner_registry_claim SET partner_owner = '{owner}' WHERE partner_owner = '{past_owner}';"
        f"UPDATE history.partner_registry_partner SET owner = '{owner}' WHERE owner = '{past_owner}'")
    compare(d, path, NEWEST, (200,), before)


def tokens_of_cuts():
    """Each cut, with its day and the whole fee, and its token: the next revenue_received of the operation."""
    received = collections.defaultdict(list)
    for r in rows("SELECT ledger, tx, op, event, token, amount::text FROM event.earnings_distributor_revenue_received ORDER BY 1, 2, 3, 4"):
        received[r["ledger"], r["tx"], r["op"]].append((r["event"], r["token"], r["amount"]))
    for f in rows("SELECT ledger, tx, op, event, partner_id, epoch, partner_cut::text AS cut, (closed_at AT TIME ZONE 'UTC')::date AS day "
                  "FROM event.earnings_distributor_partner_revenue_forwarded"):
        token, f["fee"] = next(r[1:] for r in received[f["ledger"], f["tx"], f["op"]] if r[0] > f["event"])
        yield f, token


def partner_days(d, moments):
    """Sums of the events by day and token; as of a ledger, of the days that were over."""
    sums = collections.defaultdict(lambda: [0] * 5)
    for f, token in tokens_of_cuts():
        for n, amount in ((2, 1), (3, int(f["fee"])), (4, int(f["cut"]))):
            sums[str(f["partner_id"]), f["day"], token][n] += amount
    for s in rows("""SELECT s.partner_id, (s.closed_at AT TIME ZONE 'UTC')::date AS day, s.amount_in::text AS amount,
                       CASE WHEN s.a_to_b THEN p.token_a ELSE p.token_b END AS token
                     FROM event.liquidity_pool_swap AS s JOIN state.liquidity_pool_pool AS p USING (pool_id) WHERE s.partner_id <> 0"""):
        sums[str(s["partner_id"]), s["day"], s["token"]][0] += 1
        sums[str(s["partner_id"]), s["day"], s["token"]][1] += int(s["amount"])
    days = sorted({day for _, day, _ in sums})
    assert len(days) > 3 and any(v[0] and not v[2] for v in sums.values()), "this proves little"
    seconds = lambda day: int(sql(f"SELECT extract(epoch FROM '{day}'::timestamp)::bigint"))
    for at in moments:
        ends = "9999" if at == NEWEST else sql(f"SELECT (closed_at AT TIME ZONE 'UTC')::date FROM chain.ledger WHERE ledger = {at}")
        for partner in (str(r["key_id"]) for r in rows(f"SELECT key_id FROM {then('partner_registry_partner', at)} AS v")):
            wanted = [{"day": day, "token": token, "swaps": v[0], "volume": str(v[1]), "forwards": v[2], "fees": str(v[3]), "revenue": str(v[4])}
                      for (p, day, token), v in sorted(sums.items()) if p == partner and day < ends]
            path = f"/api/partners/{partner}/daily"
            compare(d, path, at, (2, 200), wanted[::-1])
            compare(d, f"{path}?order=asc", at, (3,), wanted)
            low, high = seconds(days[1]), seconds(days[-1])
            compare(d, f"{path}?from={low}&to={high}", at, (2,), [w for w in wanted[::-1] if days[1] <= w["day"] < days[-1]])
            compare(d, f"{path}?from={low + 1}", at, (200,), [w for w in wanted[::-1] if days[1] < w["day"]])
    assert d.ask("/api/partners/4000000000/daily", 404)["code"] == "not_found"
    print(f"partners by day: {len(sums)} sums of {len(days)} days")


def revenue(d, moments):
    cuts = list(tokens_of_cuts())
    assert len(cuts) > 100 and len({t for _, t in cuts}) > 1, len(cuts)
    for at in moments:
        totals, epochs, times, epoch_times = (collections.Counter() for _ in range(4))
        for f, token in cuts:
            if f["ledger"] <= at:
                totals[str(f["partner_id"]), token] += int(f["cut"])
                epochs[str(f["partner_id"]), f["epoch"], token] += int(f["cut"])
                times[str(f["partner_id"]), token] += 1
                epoch_times[str(f["partner_id"]), f["epoch"], token] += 1
        for partner in sorted({p for p, _ in totals}):
            compare(d, f"/api/partners/{partner}/revenue", at, (2, 200), [
                {"token": t, "amount": str(totals[p, t]), "forwards": times[p, t]} for p, t in sorted(totals) if p == partner])
            compare(d, f"/api/partners/{partner}/revenue/epochs", at, (3,), [
                {"epoch": str(e), "token": t, "amount": str(epochs[p, e, t]), "forwards": epoch_times[p, e, t]}
                for p, e, t in sorted(epochs, key=lambda k: k[1:], reverse=True) if p == partner])
        print(f"revenue at {at}: {len(totals)} sums")
    total = sum(int(f["cut"]) for f, _ in cuts)
    assert total == sum(int(i["amount"]) for p in {f["partner_id"] for f, _ in cuts}
                        for i in pages(d, f"/api/partners/{p}/revenue", 200))


def single(d, moments):
    for at in moments:
        ask = lambda path, status=200: d.ask(path if at == NEWEST else f"{path}?ledger={at}", status)
        for w in rows(f"SELECT key_id FROM {then('earnings_distributor_epoch', at)} AS v"):
            got = ask(f"/api/earnings/epochs/{w['key_id']}")
            assert got["epoch"] == str(w["key_id"])
            assert [(r["token"], r["amount"]) for r in got["revenue"]] == [(r["token"], r["value"]) for r in rows(
                f"SELECT r.token, r.value::text FROM {then('earnings_distributor_epoch_token_list', at)} AS l, "
                f"unnest(l.value) WITH ORDINALITY AS u (t, n), {then('earnings_distributor_epoch_revenue', at)} AS r "
                f"WHERE l.epoch = {w['key_id']} AND r.epoch = l.epoch AND r.token = u.t ORDER BY u.n")]
        tx = rows(f"SELECT tx_id, wallet_id, approvals, rejections FROM {then('dao_governance_multi_sig_tx', at)} AS v")
        for t in tx[:: max(1, len(tx) // 20)]:
            got = ask(f"/api/multisig/transactions/{t['tx_id']}")
            words = [x["approve"] for x in got["decisions"]]
            assert (words.count(True), words.count(False)) == (t["approvals"], t["rejections"]), got
            assert ask(f"/api/multisig/wallets/{t['wallet_id']}")["threshold"] == got["threshold"]
        proposals(ask, at)
        partners(ask, at)
        for path, table, names in (
                ("/api/oracle", "oracle_instance", {"providerCount": "provider_count", "admin": "admin",
                                                    "minProviders": "coalesce(min_providers, 3)"}),
                ("/api/compliance", "compliance_registry_instance", {
                    "verifier": "verifier", "verifierCount": "verifier_count",
                    "travelRuleCount": "travel_rule_count"})):
            wanted = rows(f"SELECT {fields(names)} FROM {then(table, at)} AS v")
            if wanted:
                got = ask(path)
                assert {k: got[k] for k in wanted[0]} == wanted[0]
            else:
                ask(path, 404)
    for path in ("/api/partners/99999", "/api/partners/4294967295/catalog", "/api/partners/4294967295/claims", "/api/partners/x", "/api/partners/01", "/api/partners/99999999999",
                 "/api/earnings/epochs/18446744073709551615", "/api/dao/proposals/123456789",
                 "/api/multisig/wallets/4294967295", "/api/multisig/transactions/1234567890123"):
        d.ask(path, 404)
    for path in ("/api/earnings/epochs/x", "/api/earnings/epochs/18446744073709551616", "/api/multisig/wallets/4294967296",
                 "/api/multisig/transactions?status=pending", "/api/oracle/observations?provider=G",
                 "/api/compliance/x/providers", "/api/partners?cursor=x", "/api/partners?limit=201"):
        d.ask(path, 400)


def proposals(ask, at):
    """Texts, decoded action, state by votes and clock, queued transactions."""
    threshold = rows(f"SELECT threshold FROM {then('dao_governance_multi_sig_wallet', at)} AS v WHERE wallet_id = 0")
    queued = {q["proposal_id"]: q["value"] for q in rows(
        f"SELECT proposal_id, value::text[] FROM {then('dao_governance_proposal_multi_sig_txs', at)} AS v")}
    states = collections.Counter()
    for p in rows(f"SELECT key_id, encode(title, 'hex') AS title, encode(call_data, 'hex') AS data, action::text, status, "
                  f"yes_votes, execute_after FROM {then('dao_governance_proposal', at)} AS v ORDER BY 1 LIMIT 60"):
        got = ask(f"/api/dao/proposals/{p['key_id']}")
        assert (got["titleHex"], got["callData"]) == (p["title"], p["data"])
        said = json.loads(p["action"], object_pairs_hook=list)
        (_, number), (_, name), *args = [pair for pair in said if pair[0] != "undecodable"]
        assert (got["action"]["action"], got["action"]["name"]) == (number, name), got
        assert got["action"]["undecodable"] == (len(args) + 2 < len(said)), got
        assert [(k.replace("_", "").lower(), v) for k, v in args] == [
            (k.lower(), v) for k, v in got["action"]["args"].items()], got
        assert got["multisigTxIds"] == queued.get(p["key_id"], [])
        if at != NEWEST:
            now = int(sql(f"SELECT extract(epoch FROM closed_at)::bigint FROM chain.ledger WHERE ledger = {at}"))
            ready = p["status"] in ("Active", "Passed") and threshold and p["yes_votes"] >= threshold[0]["threshold"] \
                and now >= p["execute_after"]
            assert got["state"] == ("executable" if ready else p["status"].lower()), got
        states[got["state"]] += 1
    print(f"proposals at {at}: {dict(states)}")


def partners(ask, at):
    held = rows(f"SELECT b.amount FROM {then('stellar_asset_balance', at)} AS b, state.partner_registry_instance AS i "
                "WHERE b.address = i.contract AND b.contract = i.usdc")
    held = held[0]["amount"] if held else 0
    for p in rows(f"SELECT key_id, active, pending_revenue AS pending FROM {then('partner_registry_partner', at)} AS v"):
        got = ask(f"/api/partners/{p['key_id']}")
        why = ("partner_inactive" if not p["active"] else "nothing_pending" if p["pending"] <= 0
               else "registry_holds_too_little" if held < p["pending"] else None)
        assert (got["claimRefused"], got["claimable"]) == (why, str(0 if why else p["pending"])), got


EVENT_ID = "chain.event_id(ledger, tx, op, event) AS id, ledger::text AS ledger"


def events(d, moments):
    assets = [r["asset"] for r in rows("SELECT DISTINCT asset FROM event.oracle_price_aggregate ORDER BY 1")]
    provider = sql("SELECT provider FROM event.oracle_price_observation GROUP BY 1 ORDER BY count(*) DESC, 1 LIMIT 1")
    claimer = sql("SELECT claimer FROM event.earnings_distributor_revenue_claimed ORDER BY ledger LIMIT 1")
    for at in moments:
        for path, table, names, where in [
                ("/api/oracle/observations", "oracle_price_observation", "asset, provider, price::text", "true"),
                (f"/api/oracle/observations?asset={assets[0]}", "oracle_price_observation", "provider, price::text",
                 f"asset = '{assets[0]}'"),
                (f"/api/oracle/observations?provider={provider}&asset={assets[1]}", "oracle_price_observation",
                 "asset, price::text", f"asset = '{assets[1]}' AND provider = '{provider}'"),
                (f"/api/oracle/observations?provider={provider}", "oracle_price_observation", "asset",
                 f"provider = '{provider}'"),
                ("/api/oracle/rounds", "oracle_price_aggregate", 'asset, median_price::text AS "medianPrice"', "true"),
                (f"/api/oracle/rounds?asset={assets[2]}", "oracle_price_aggregate",
                 'asset, median_price::text AS "medianPrice"', f"asset = '{assets[2]}'"),
                ("/api/earnings/claims", "earnings_distributor_revenue_claimed", "claimer, total::text", "true"),
                (f"/api/earnings/claims?address={claimer}", "earnings_distributor_revenue_claimed", "total::text",
                 f"claimer = '{claimer}'")]:
            compare(d, path, at, (97,), rows(f"SELECT {EVENT_ID}, {names} FROM event.{table} "
                                             f"WHERE {where} AND ledger <= {at} ORDER BY 1 DESC"))
        rounds(d, at)
        votes(d, at)
        transfers(d, at)


def rounds(d, at):
    """Each observation is in the round that came of it, and the round is the mean of its middle."""
    waiting, wanted = collections.defaultdict(list), {}
    for r in rows(f"SELECT {EVENT_ID}, asset, provider, price::text, NULL AS median FROM event.oracle_price_observation "
                  f"WHERE ledger <= {at} UNION ALL SELECT {EVENT_ID}, asset, NULL, NULL, median_price::text "
                  f"FROM event.oracle_price_aggregate WHERE ledger <= {at} ORDER BY 1"):
        if r["median"] is None:
            waiting[r["asset"]].append((r["provider"], r["price"]))
        else:
            wanted[r["id"]] = waiting.pop(r["asset"])
            prices = sorted(int(p) for _, p in wanted[r["id"]])
            cut = len(prices) // 4
            middle = prices[cut:len(prices) - cut]
            assert r["median"] == str(sum(middle) // len(middle))
    got = pages(d, "/api/oracle/rounds" + ("" if at == NEWEST else f"?ledger={at}"), 200)
    assert {i["id"]: [(o["provider"], o["price"]) for o in i["observations"]] for i in got} == wanted
    assert all(i["observationCount"] == len(i["observations"]) for i in got)
    feeds = pages(d, "/api/oracle/feeds" + ("" if at == NEWEST else f"?ledger={at}"), 200)
    assert {f["asset"]: [(o["provider"], o["price"]) for o in f["pendingObservations"]] for f in feeds
            if f["pendingObservations"]} == {a: w for a, w in waiting.items() if a in {f["asset"] for f in feeds} and w}
    print(f"rounds at {at}: {len(wanted)}")


def votes(d, at):
    for p in rows(f"SELECT key_id, yes_votes, no_votes FROM {then('dao_governance_proposal', at)} AS v ORDER BY 1 DESC LIMIT 40"):
        got = pages(d, f"/api/dao/proposals/{p['key_id']}/votes" + ("" if at == NEWEST else f"?ledger={at}"), 2)
        assert len({v["id"] for v in got}) == len(got) and [v["id"] for v in got] == sorted((v["id"] for v in got), reverse=True)
        assert [sum(int(v["weight"]) for v in got if v["support"] is side) for side in (True, False)] == [
            p["yes_votes"], p["no_votes"]], (p, got)


def transfers(d, at):
    kinds = ["synth_token_transfer", "synth_token_mint", "synth_token_burn", "synth_token_clawback",
             "stellar_asset_transfer", "stellar_asset_mint", "stellar_asset_burn", "stellar_asset_clawback"]
    tokens = [r["contract"] for r in rows("SELECT contract FROM state.synth_token_instance UNION "
                                          "SELECT contract FROM state.stellar_asset_instance")]
    for token in tokens:
        wanted = []
        for kind in kinds:
            ends = ("NULL::text" if kind.endswith("mint") else "from_address",
                    "to_address" if kind.endswith(("transfer", "mint")) or kind == "synth_token_clawback" else "NULL::text")
            wanted += rows(f"SELECT {EVENT_ID}, '{kind.rsplit('_', 1)[1]}' AS type, {ends[0]} AS from, {ends[1]} AS to, "
                           f"amount::text FROM event.{kind} WHERE contract = '{token}' AND ledger <= {at}")
        there = [r for table in ("synth_token_instance", "stellar_asset_instance")
                 for r in rows(f"SELECT contract FROM {then(table, at)} AS v WHERE contract = '{token}'")]
        if not there:
            assert wanted == [], "transfers of a token that is not there"
            d.ask(f"/api/tokens/{token}/transfers?ledger={at}", 404)
            continue
        compare(d, f"/api/tokens/{token}/transfers", at, (200,), sorted(wanted, key=lambda w: w["id"], reverse=True))
        kind = sql(f"SELECT count(*) FROM state.synth_token_instance WHERE contract = '{token}'") == "1"
        table = "synth_token_balance" if kind else "stellar_asset_balance"
        for b in rows(f"SELECT address, {'value' if kind else 'amount'}::text AS held FROM "
                      f"{then(table, at)} AS b WHERE contract = '{token}' ORDER BY 1 LIMIT 9"):
            got = d.ask(f"/api/tokens/{token}/balances/{b['address']}" + ("" if at == NEWEST else f"?ledger={at}"))
            assert got["balance"] == b["held"], (b, got)
            check_common(got)
        stranger = "GAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAWHF"
        if kind:
            assert d.ask(f"/api/tokens/{token}/balances/{stranger}")["balance"] == "0"
        else:
            d.ask(f"/api/tokens/{token}/balances/{stranger}", 404)
    pool = sql("SELECT contract FROM state.liquidity_pool_instance")
    d.ask(f"/api/tokens/{pool}/transfers" + ("" if at == NEWEST else f"?ledger={at}"), 404)


def compliance(d, moments):
    whitelisted = [r["address"] for r in rows("SELECT DISTINCT address FROM history.compliance_registry_whitelist ORDER BY 1")]
    for table, variant, key in (("compliance_rec", "ComplianceRec", "address"), ("kyc", "Kyc", "key_address"),
                                ("frozen", "Frozen", "address"), ("whitelist", "Whitelist", "address")):
        assert sql(f"SELECT count(*) FROM (SELECT DISTINCT contract, {key}, key_hash FROM history.compliance_registry_{table}) "
                   f"AS h WHERE key_hash <> chain.entry_key(contract, '{variant}', {key})") == "0", table
    for at in moments:
        there = {r["address"] for r in rows(f"SELECT address FROM {then('compliance_registry_verifier', at)} AS v")}
        listed = rows(f"SELECT index, value FROM {then('compliance_registry_verifier_list', at)} AS v ORDER BY index")
        compare(d, "/api/compliance/verifiers", at, (2, 200), [
            {"index": str(v["index"]), "verifier": v["value"]} for v in listed if v["value"] in there])
        people = collections.defaultdict(list)
        for r in rows(f"SELECT address, index, value FROM {then('compliance_registry_attestation', at)} AS v ORDER BY 1, 2"):
            people[r["address"]].append({"index": str(r["index"]), "provider": r["value"]})
        for who in list(people)[:20]:
            compare(d, f"/api/compliance/{who}/providers", at, (1,), people[who])
        for who in list(people)[:12] + whitelisted[:4]:
            written(d, at, who)
        print(f"compliance at {at}: {len(there)} verifiers, {len(people)} people")


def written(d, at, who):
    wanted = []
    for table, entry, provider in (("compliance_rec", "record", "provider"), ("kyc", "attestation", "verifier"),
                                   ("frozen", "frozen", "NULL"), ("whitelist", "whitelisted", "NULL")):
        status = "'Unknown,Pending,Verified,Suspended,Sanctioned,Expired'" if entry == "record" else "NULL"
        number = "status::integer + 1" if entry == "record" else "1"
        key = "key_address" if table == "kyc" else "address"
        wanted += rows(f"SELECT ledger, tx, seq, '{entry}' AS entry, removed, {provider}::text AS provider, "
                       f"nullif(split_part({status}, ',', {number}), '') AS status "
                       f"FROM history.compliance_registry_{table} WHERE {key} = '{who}' AND ledger <= {at}")
    wanted.sort(key=lambda w: (w["ledger"], w["tx"], w["seq"]), reverse=True)
    assert len(wanted) > 0 or at != NEWEST
    compare(d, f"/api/compliance/{who}/history", at, (7,), [
        {"ledger": str(w["ledger"]), **{k: w[k] for k in ("entry", "removed", "provider", "status")}} for w in wanted])


def claimable(d, moments):
    """claim's arithmetic of each closed epoch; what was really claimed is what was claimable the ledger before."""
    people = [r["depositor"] for r in rows(f"SELECT depositor FROM {then('stability_pool_deposit', NEWEST)} AS v ORDER BY 1")]
    paid = 0
    for at in moments:
        state = rows(f"SELECT epoch, p FROM {then('stability_pool_state', at)} AS v")[0]
        closed = rows(f"SELECT key_id AS id, protocol_revenue AS revenue, staker_snapshot AS snapshot "
                      f"FROM {then('earnings_distributor_epoch', at)} AS v WHERE finalized ORDER BY 1 DESC")
        for who in people[:12] + ["GAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAWHF"]:
            saved = rows(f"SELECT initial_value, snapshot_p_value AS p, snapshot_epoch AS epoch "
                         f"FROM {then('stability_pool_deposit', at)} AS v WHERE depositor = '{who}'")
            deposit = 0
            if saved and saved[0]["epoch"] == state["epoch"]:
                deposit = saved[0]["initial_value"] * (state["p"] * 10**12 // max(saved[0]["p"], 1)) // 10**12
            claimed = {r["epoch"] for r in rows(f"SELECT epoch FROM {then('earnings_distributor_claimed', at)} AS v "
                                                f"WHERE claimer = '{who}'")}
            shares = {e["id"]: 0 if e["id"] in claimed or not e["snapshot"] or deposit <= 0 else
                      3500 * e["revenue"] * deposit // (e["snapshot"] * 10000) for e in closed}
            target = f"/api/earnings/claimable/{who}?limit=2" + ("" if at == NEWEST else f"&ledger={at}")
            got, epoch = [], ""
            while epoch is not None:
                page = d.ask(target + (f"&epoch={epoch}" if epoch else ""))
                assert page["deposit"] == str(deposit) and (page["refused"] is None) == (deposit > 0), page
                assert page["total"] == str(sum(int(e["share"]) for e in page["epochs"])), page
                got += page["epochs"]
                epoch = page["nextEpoch"]
            assert [(int(e["epoch"]), int(e["share"]), e["claimed"]) for e in got] == [
                (n, s, n in claimed) for n, s in shares.items()], (at, who, got, shares)
            paid += sum(s > 0 for s in shares.values())
    assert paid > 10, paid
    print(f"claimable: {paid} shares")


def main():
    first, last = map(int, sql("SELECT min(ledger), max(ledger) FROM chain.ledger").split("|"))
    moments = [first + 60, (first + last) // 2, last, NEWEST]
    d = Driver(2)
    state_lists(d, moments)
    filtered(d, moments)
    revenue(d, moments)
    partner_days(d, moments)
    single(d, moments[:2] + [NEWEST])
    events(d, moments[1::2])
    earlier_owner(d)
    compliance(d, moments[1:])
    claimable(d, moments)
    d.close()
    print("ok")


if __name__ == "__main__":
    main()
