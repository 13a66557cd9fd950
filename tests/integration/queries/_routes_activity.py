#!/usr/bin/env python3
"""usage: _routes_activity.py sim | views FILE

Events, transactions, an address's activity and the stability pool, asked through bin/sql_driver: against plain SQL
over the tables of the events themselves and integers of Python's, and against what the stability pool's contract itself
answered (views). The database is there (routes_activity.sh)."""
import collections
import json
import random
import re
import sys

sys.dont_write_bytecode = True
from _sql import Driver, sql

ONE, NEWEST = 10**12, 2147483647
COMMON = ("deployment", "ledger", "tx", "op", "event", "closed_at", "contract")
HIDDEN = ("jurisdiction_allowed", "form")


def rows(text):
    return json.loads(sql(f"SELECT coalesce(json_agg(x), '[]') FROM ({text}) AS x"), parse_float=str)


def then(table, at):
    return (f"(SELECT * FROM (SELECT DISTINCT ON (key_hash) * FROM history.{table} WHERE ledger <= {at} "
            f"ORDER BY key_hash, ledger DESC, tx DESC, seq DESC) AS v WHERE NOT removed)")


def id_of(e):
    """Stellar RPC's, by arithmetic of Python's."""
    return f"{(e['ledger'] << 32) | (e['tx'] << 12) | e['op']:019d}-{e['event']:010d}"


def place(e):
    return e["ledger"], e["tx"], e["op"], e["event"]


def scaled(raw):
    return f"{'-' if raw < 0 else ''}{abs(raw) // 10**7}.{abs(raw) % 10**7:07d}"


def camel(name):
    return re.sub("_([a-z])", lambda m: m.group(1).upper(), name)


def every_event():
    """All events, from the tables of their kinds and not from event.log: the newest first."""
    found = []
    for table in sql("SELECT string_agg(word, ' ' ORDER BY word) FROM chain.kind").split():
        for e in rows(f"SELECT * FROM event.{table}"):
            e["kind"] = table
            found.append({n: v for n, v in e.items() if not n.endswith("_key")})
    return sorted(found, key=place, reverse=True)


# Columns that answers name as they do elsewhere; all others keep the contract's word.
NAMED = {"pool_id": "pool", "synth_asset": "market", "synthetic_engine_market_created.symbol": "market", "liq_ratio": "liqRatioBps", "liq_penalty": "liqPenaltyBps",
         "min_coll_ratio": "minCollRatioBps", "stab_fee_bps": "mintFeeMillionths", "partner_registry_register.id": "partnerId", "partner_registry_asset.id": "partnerId"}


def name_of(kind, column):
    return NAMED.get(f"{kind}.{column}") or NAMED.get(column) or camel(column)


def check_event(item, e, of=None):
    assert (item["id"], item["kind"], item["contract"]) == (id_of(e), e["kind"], e["contract"]), (item, e)
    shown = {n: v for n, v in item["fields"].items() if not n.endswith("Scaled")}
    said = {name_of(e["kind"], n): v for n, v in e.items() if n not in COMMON + HIDDEN + ("kind",)}
    assert set(shown) == set(said), (item, e)
    for name, value in said.items():
        whole = isinstance(value, int) and not isinstance(value, bool)
        assert not whole or isinstance(shown[name], str) or not name.endswith(("Id", "Ledger")), f"{name} of {e['kind']} names something: a string, as everywhere"
        assert shown[name] == value or whole and shown[name] == str(value) or str(shown[name]) == str(value)[2:], (name, item, e)
        if name + "Scaled" in item["fields"]:
            assert item["fields"][name + "Scaled"] == scaled(int(value)), (name, item)
    named = [v for v in said.values() if isinstance(v, str) and re.fullmatch("[GC][A-Z2-7]{55}", v)]
    assert item["addresses"] == list(dict.fromkeys(named)), (item, e)


def compare(d, target, wanted, limit):
    got, _ = d.pages(target, limit)
    assert [i["id"] for i in got] == [id_of(e) for e in wanted], (target, len(got), len(wanted))
    for item, e in zip(got, wanted):
        check_event(item, e)
    return len(got)


def events(d, every, moments):
    first, last, middle = moments[0], moments[-1], moments[1]
    kinds = collections.Counter(e["kind"] for e in every)
    print(f"{len(every)} events of {len(kinds)} kinds")
    assert len(kinds) > 40
    compare(d, "/api/events", every, 200)
    compare(d, f"/api/events?ledger={middle}&fromLedger={first + 5}", [e for e in every if first + 5 <= e["ledger"] <= middle], 200)
    compare(d, f"/api/events?fromLedger={middle}&toLedger={middle + 2}", [e for e in every if middle <= e["ledger"] <= middle + 2], 3)
    compare(d, f"/api/events?fromLedger={last + 1}&toLedger=4294967295", [], 3)
    for kind in kinds:
        compare(d, f"/api/events?kind={kind}", [e for e in every if e["kind"] == kind], 200)
    for contract in {e["contract"] for e in every}:
        compare(d, f"/api/events?contract={contract}&toLedger={middle}",
                [e for e in every if e["contract"] == contract and e["ledger"] <= middle], 199)
    for pool in {e["pool_id"] for e in every if "pool_id" in e}:
        mine = [e for e in every if e.get("pool_id") == pool]
        compare(d, f"/api/events?pool={pool}", mine, 97)
        compare(d, f"/api/events?pool={pool}&kind=liquidity_pool_swap", [e for e in mine if e["kind"] == "liquidity_pool_swap"], 97)
    d.ask("/api/events?kind=no_such", 400)
    assert sql("SELECT max(cardinality(addresses)) FROM event.log") == "2", "an event names more addresses than are indexed"


def by_address(every):
    parties = collections.defaultdict(list)
    for e in every:
        for who in {v for n, v in e.items() if n not in COMMON and isinstance(v, str) and re.fullmatch("[GC][A-Z2-7]{55}", v)}:
            parties[who].append(e)
    return parties


def activity(d, every, moments):
    parties = by_address(every)
    calls = collections.defaultdict(list)
    for c in rows("SELECT ledger, tx, op, -1 AS event, source, contract, fn, ok, events, encode(hash, 'hex') AS hash FROM chain.call"):
        calls[c["source"]].append(c)
    often = sorted(parties, key=lambda a: len(parties[a]))
    some = often[-6:] + random.sample(often, 6) + random.sample(sorted(calls), 4)
    refused = 0
    for who in some:
        compare(d, f"/api/events?address={who}", parties[who], 200)
        kind = next((e["kind"] for e in parties[who]), "oracle_provider")
        compare(d, f"/api/events?address={who}&kind={kind}", [e for e in parties[who] if e["kind"] == kind], 51)
        for at, limit in ((None, 200), (None, 7), (moments[1], 200)):
            wanted = [e for e in sorted(parties[who] + calls[who], key=place, reverse=True) if e["ledger"] <= (at or NEWEST)]
            if limit == 7:
                got, _ = d.pages(f"/api/addresses/{who}/activity", 7, 70)
                wanted = wanted[:len(got)]
            else:
                got, _ = d.pages(f"/api/addresses/{who}/activity" + (f"?ledger={at}" if at else ""), limit)
            assert len(got) == len(wanted), (who, at, len(got), len(wanted))
            for item, e in zip(got, wanted):
                if e["event"] >= 0:
                    assert item.pop("type") == "event"
                    check_event(item, e)
                else:
                    assert (item["type"], item["ledger"], item["tx"], item["op"], item["function"], item["ok"], item["txHash"],
                            item["contract"], item["events"]) == ("call", str(e["ledger"]), e["tx"], e["op"], e["fn"], e["ok"],
                                                                  e["hash"], e["contract"], e["events"]), (item, e)
                    refused += not e["ok"]
    assert refused > 20, "too few refused calls: this test proves little"
    stranger = "GAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAWHF"
    assert d.ask(f"/api/addresses/{stranger}/activity")["items"] == []
    d.ask("/api/addresses/x/activity", 400)
    print(f"activity of {len(some)} addresses, {refused} refused calls")


def transactions(d, every):
    inside = collections.defaultdict(list)
    for e in every:
        inside[e["ledger"], e["tx"]].insert(0, e)
    all_of = rows("SELECT ledger, tx, encode(hash, 'hex') AS hash, source, ok, fee_charged::text AS fee FROM chain.tx")
    for t in random.sample(all_of, 150) + [t for t in all_of if len(inside[t["ledger"], t["tx"]]) > 6][:20]:
        got = d.ask(f"/api/transactions/{t['hash']}")["transaction"]
        assert (got["txHash"], got["ledger"], got["tx"], got["source"], got["ok"], got["feeCharged"], got["feeChargedScaled"]) == (
            t["hash"], str(t["ledger"]), t["tx"], t["source"], t["ok"], t["fee"], scaled(int(t["fee"]))), (got, t)
        wanted = inside[t["ledger"], t["tx"]]
        assert [i["id"] for i in got["events"]] == [id_of(e) for e in wanted], got
        for item, e in zip(got["events"], wanted):
            check_event(item, e)
        assert [(c["op"], c["function"], c["ok"]) for c in got["calls"]] == [(c["op"], c["fn"], c["ok"]) for c in rows(
            f"SELECT op, fn, ok FROM chain.call WHERE ledger = {t['ledger']} AND tx = {t['tx']} ORDER BY op")]
    for e in random.sample(every, 60):
        item = d.ask(f"/api/events/{id_of(e)}")["event"]
        assert item["undecodedBecause"] is None
        check_event(item, e)
    e = every[0]
    for missing in ({**e, "event": 999}, {**e, "op": 7}, {**e, "tx": 4095}, {**e, "ledger": 1}):
        assert d.ask(f"/api/events/{id_of(missing)}", 404)["code"] == "not_found"
    for bad in ("x" * 30, "9" * 19 + "-0000000000", "1", "0000000000000000001_0000000001"):
        d.ask(f"/api/events/{bad}", 400)
    assert d.ask("/api/transactions/" + "ab" * 32, 404)["code"] == "not_found"
    d.ask("/api/transactions/abc", 400)


def undecoded(d, every):
    """An event that could not be decoded is shown as such, in its place."""
    e = every[len(every) // 2]
    sql(f"INSERT INTO event.raw SELECT deployment, ledger, tx, op, 77, closed_at, contract, 1, 'data: planted', '\\x00' "
        f"FROM event.{e['kind']} WHERE (ledger, tx, op, event) = {place(e)}")
    item = d.ask(f"/api/events/{id_of({**e, 'event': 77})}")["event"]
    assert (item["kind"], item["fields"], item["addresses"], item["undecodedBecause"]) == (None, None, None, "data: planted")
    tx = d.ask(f"/api/transactions/{item['txHash']}")["transaction"]
    assert [i["undecodedBecause"] for i in tx["events"]].count("data: planted") == 1
    lists_of_undecoded(d, e)
    sql("DELETE FROM event.raw WHERE event IN (77, 78)")


def lists_of_undecoded(d, e):
    """What could not be decoded is listed: events as of any ledger, entries as they are; a page at a time."""
    sql("INSERT INTO event.raw SELECT deployment, ledger, tx, op, 78, closed_at, contract, 1, 'planted too', '\\x00' FROM event.raw")
    first = d.ask("/api/undecoded/events?limit=1")
    last = d.ask(f"/api/undecoded/events?limit=1&cursor={first['next']}")
    told = [(i["id"], i["contract"], i["undecodedBecause"]) for i in first["items"] + last["items"]]
    assert told == [(id_of({**e, "event": n}), e["contract"], why) for n, why in ((78, "planted too"), (77, "data: planted"))], told
    assert last["next"] is None
    oldest = d.pages("/api/undecoded/events?order=asc", 1)[0]
    assert oldest == (first["items"] + last["items"])[::-1]
    closed = oldest[0]["closedAt"]
    assert d.ask(f"/api/undecoded/events?from={closed}")["items"] and not d.ask(f"/api/undecoded/events?to={closed}")["items"]
    assert d.ask(f"/api/undecoded/events?ledger={e['ledger'] - 1}")["items"] == []
    assert d.ask("/api/undecoded/entries")["items"] == []
    keys = ["00" * 32, "7f" * 32, "ff" * 32]
    for key in keys:
        sql(f"INSERT INTO state.raw SELECT id, '\\x{key}', {e['ledger']}, 1, 0, now(), '{e['contract']}', 1, 'odd', '\\x00', NULL FROM chain.deployment")
    first = d.ask("/api/undecoded/entries?limit=2")
    rest = d.ask(f"/api/undecoded/entries?limit=2&cursor={first['next']}")
    assert [i["keyHash"] for i in first["items"] + rest["items"]] == keys and rest["next"] is None
    assert {(i["ledger"], i["contract"], i["durability"], i["undecodedBecause"]) for i in first["items"]} == {
        (str(e["ledger"]), e["contract"], "persistent", "odd")}
    sql("DELETE FROM state.raw WHERE reason = 'odd'")
    decoded_since(d)
    many_undecoded(d, e)


def decoded_since(d):
    """An entry is listed until a newer version of it is decoded, or removes it; not what is of the version itself."""
    for table in ("oracle_feed", "synth_token_balance"):
        key, ledger, tx, seq, contract = sql(f"SELECT encode(key_hash, 'hex'), ledger, tx, seq, contract FROM history.{table}"
                                             " ORDER BY ledger DESC, tx DESC, seq DESC LIMIT 1").split("|")
        for at, listed in (((int(ledger) - 1, 1, 0), False), ((ledger, tx, seq), True), ((ledger, tx, int(seq) + 1), True)):
            sql(f"INSERT INTO state.raw SELECT id, '\\x{key}', {', '.join(map(str, at))}, now(), '{contract}', 1, 'odd', '\\x00', NULL FROM chain.deployment")
            told = [i["keyHash"] for i in d.ask("/api/undecoded/entries")["items"]]
            assert told == [key] * listed, (table, at, told)
            sql("DELETE FROM state.raw WHERE reason = 'odd'")


def many_undecoded(d, e):
    """Many contracts, and many versions that were decoded since: a page looks at few of them, and none is left out."""
    some = "SELECT DISTINCT ON (key_hash) key_hash, contract FROM history.{} ORDER BY key_hash, ledger DESC"
    sql(f"""INSERT INTO chain.contract_seen SELECT id, rpad('CPLANTED' || translate(i::text, '01589', 'ABCDE'), 56, 'Z'), 1950, 1, 'discovered',
          'synth_token', 'planted' FROM chain.deployment, generate_series(1, 130) AS i;
        INSERT INTO state.raw SELECT deployment, sha256(contract::bytea || n::text::bytea), {e['ledger']}, 1, 0, now(), contract, 1, 'odd', '\\x00', NULL
          FROM chain.contract_seen, generate_series(1, 2) AS n WHERE name = 'planted';
        INSERT INTO state.raw SELECT id, t.key_hash, 1, 1, 0, now(), t.contract, 1, 'decoded', '\\x00', NULL FROM chain.deployment,
          ({' UNION ALL '.join(f'({some.format(t)})' for t in ('synth_token_balance', 'compliance_registry_compliance_rec', 'oracle_feed'))}) AS t;
        INSERT INTO state.raw SELECT id, sha256('stranger'), 1, 1, 0, now(), rpad('CSTRANGER', 56, 'A'), 1, 'odd', '\\x00', NULL FROM chain.deployment""")
    decoded = int(sql("SELECT count(*) FROM state.raw WHERE reason = 'decoded'"))
    wanted = sql("SELECT string_agg(encode(key_hash, 'hex'), ' ' ORDER BY contract, key_hash) FROM state.raw WHERE reason = 'odd'"
                 " AND contract NOT LIKE 'CSTRANGER%'").split()
    assert len(wanted) == 260 and decoded > 60, (len(wanted), decoded)
    for limit in (7, 50, 200):
        got, pages, short, cursor = [], 0, 0, None
        while pages == 0 or cursor:
            page = d.ask(f"/api/undecoded/entries?limit={limit}" + (f"&cursor={cursor}" if cursor else ""))
            got, pages, cursor = got + [i["keyHash"] for i in page["items"]], pages + 1, page["next"]
            short += len(page["items"]) < limit
        assert got == wanted, (limit, len(got))
        assert short > 1 and pages <= (260 + decoded) // limit + 12, (limit, pages, short)
    sql("DELETE FROM state.raw WHERE reason IN ('odd', 'decoded'); DELETE FROM chain.contract_seen WHERE name = 'planted'")


def toward_zero(a, b):
    return abs(a) // b * (1 if a >= 0 else -1)


def stability(d, moments, every):
    books = "epoch, p::text, paused, scale, sum_coll::text, total_coll_gained::text, total_deposits::text, total_liq_count, ledger"
    seen = 0
    for at in moments + [NEWEST]:
        query = "" if at == NEWEST else f"?ledger={at}"
        pool = rows(f"SELECT {books} FROM {then('stability_pool_state', at)} AS v")
        if not pool:
            d.ask("/api/stability-pool" + query, 404)
            assert d.ask("/api/stability-pool/deposits" + query)["items"] == []
            continue
        pool = pool[0]
        got = d.ask("/api/stability-pool" + query)
        assert (got["p"], got["sumCollateral"], got["totalDeposits"], got["totalCollateralGained"], got["liquidationCount"],
                got["paused"], got["changedLedger"]) == (pool["p"], pool["sum_coll"], pool["total_deposits"],
                pool["total_coll_gained"], pool["total_liq_count"], pool["paused"], str(pool["ledger"])), (got, pool)
        assert got["totalDepositsScaled"] == scaled(int(pool["total_deposits"]))
        wanted = []
        for s in rows(f"SELECT depositor, initial_value::text AS v, snapshot_epoch AS epoch, snapshot_p_value::text AS p, "
                      f"snapshot_sum_coll::text AS sum, ledger FROM {then('stability_pool_deposit', at)} AS v "
                      f'ORDER BY depositor COLLATE "C"'):
            whole = int(s["v"]) * (int(pool["p"]) * ONE // max(int(s["p"]), 1)) // ONE if s["epoch"] == pool["epoch"] else 0
            gain = toward_zero(int(s["v"]) * (int(pool["sum_coll"]) - int(s["sum"])), ONE)
            wanted.append((s["depositor"], s["v"], str(whole), str(gain), str(s["ledger"])))
        show = lambda i: (i["depositor"], i["initialValue"], i["compoundedDeposit"], i["collateralGain"], i["changedLedger"])
        for limit in (3, 200):
            items, _ = d.pages("/api/stability-pool/deposits" + query, limit)
            assert [show(i) for i in items] == wanted, (at, limit)
        for item in random.sample(items, min(5, len(items))):
            one = d.ask(f"/api/stability-pool/deposits/{item['depositor']}{query}")
            assert {k: one[k] for k in item} == item or one["changedLedger"] == item["changedLedger"] and show(one) == show(item)
        seen += sum(w[2] not in ("0", w[1]) and w[3] != "0" for w in wanted)
    assert seen > 20, f"only {seen} deposits with losses and gains"
    d.ask("/api/stability-pool/deposits/GAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAWHF", 404)
    of = [e for e in every if e["kind"] in ("stability_pool_deposit", "stability_pool_withdraw", "stability_pool_claim",
                                            "stability_pool_absorb")]
    kinds = collections.Counter()
    people = collections.Counter(e["depositor"] for e in of if "depositor" in e)
    for who, at in [(None, NEWEST), (None, moments[1])] + [(who, NEWEST) for who, _ in people.most_common(3)]:
        query = "&".join([f"address={who}"] * bool(who) + [f"ledger={at}"] * (at != NEWEST))
        for limit in (5, 200):
            items, _ = d.pages("/api/stability-pool/events" + ("?" + query if query else ""), limit)
            assert [(i["id"], i["type"], i["depositor"], i["amount"], i["debtAbsorbed"], i["collateralReward"]) for i in items] == [
                (id_of(e), e["kind"].rsplit("_", 1)[1], e.get("depositor"), *(str(e[n]) if n in e else None for n in (
                    "amount", "debt_absorbed", "collateral_reward"))) for e in of
                if who in (None, e.get("depositor")) and e["ledger"] <= at], (who, at, limit)
        kinds.update(i["type"] for i in items)
    print(f"stability pool: {seen} deposits with losses and gains, {dict(kinds)}")
    assert len(kinds) >= 3


def simulated():
    d = Driver(1)
    first, last = map(int, sql("SELECT min(ledger), max(ledger) FROM chain.ledger").split("|"))
    moments = [first, (first + last) // 2, last - 40, last]
    every = every_event()
    events(d, every, moments)
    activity(d, every, moments)
    transactions(d, every)
    undecoded(d, every)
    stability(d, moments, every)
    d.close()


def views(path):
    """What the contract answered, at the same ledger."""
    d = Driver(1)
    asked = collections.Counter()
    for line in open(path):
        view = json.loads(line)
        if view["role"] != "stability_pool" or not view["ok"]:
            continue
        at, name = view["ledger"], view["fn"]
        if name in ("get_compounded_deposit", "get_collateral_gain"):
            status, _, got = d.told(f"/api/stability-pool/deposits/{view['args'][0]}?ledger={at}")
            said = 0 if status == 404 else got["compoundedDeposit" if name == "get_compounded_deposit" else "collateralGain"]
            assert str(said) == view["ret"], (view, got)
        elif name == "get_total_deposits":
            assert d.ask(f"/api/stability-pool?ledger={at}")["totalDeposits"] == view["ret"], view
        else:
            continue
        asked[name] += 1
    d.close()
    print(f"as the contract answered: {dict(asked)}")
    assert asked["get_compounded_deposit"] > 10 and asked["get_collateral_gain"] > 10, asked


if __name__ == "__main__":
    random.seed(1)
    simulated() if sys.argv[1] == "sim" else views(sys.argv[2])
    print("ok")
