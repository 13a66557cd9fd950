#!/usr/bin/env python3
"""usage: _routes_people.py   asks the routes about people through bin/sql_driver and compares with plain SQL; the database
is there (routes_people.sh)."""
import collections
import json
import os
import pathlib
import random
import subprocess

from _sql import Driver, sql

NEWEST = 2147483647
STRANGER = "GAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAWHF"


USDC = sql("SELECT j ->> 'address' FROM chain.deployment, jsonb_array_elements(contracts) AS j WHERE j ->> 'role' = 'usdc'")


def rows(text):
    return json.loads(sql(f"SELECT coalesce(json_agg(q), '[]') FROM ({text}) AS q"))


def then(table, at):
    """The entries of a table as of a ledger, by another way than the routes': all versions, sorted."""
    return (f"(SELECT * FROM (SELECT DISTINCT ON (key_hash) * FROM history.{table} WHERE ledger <= {at} "
            f"ORDER BY key_hash, ledger DESC, tx DESC, seq DESC) AS v WHERE NOT removed)")


def with_at(target, at):
    return target if at == NEWEST else f"{target}{'&' if '?' in target else '?'}ledger={at}"


def prices_then(at):
    """By token what the engine believes of it: USDC itself, tokens of markets and of collateral at fresh averages."""
    closed = sql(f"SELECT extract(epoch FROM closed_at)::bigint FROM chain.ledger WHERE ledger = least({at}, (SELECT ledger FROM chain.cursor))")
    now = int(closed) if at != NEWEST else max(int(closed), int(sql("SELECT extract(epoch FROM now())::bigint")))
    feeds = {f["asset"]: int(f["p"]) for f in rows(f"SELECT asset, twap_price::text AS p, twap_ts FROM {then('oracle_feed', at)} AS f") if now - f["twap_ts"] <= 600}
    markets = rows(f"SELECT * FROM {then('synthetic_engine_asset_config', at)} AS m ORDER BY symbol DESC")
    prices = {t["token"]: feeds.get(t["symbol"]) for t in rows("SELECT DISTINCT t.token, t.symbol FROM chain.token AS t JOIN history.synthetic_engine_collateral_allowed AS c ON "
              f"c.token = t.token WHERE c.ledger <= {at}") if t["symbol"] in {m["coll_oracle_sym"] for m in markets}}
    return prices | {m["token"]: feeds.get(m["oracle_symbol"]) for m in markets} | {USDC: 10**7}


# --- portfolio --------------------------------------------------------------------------------------------------------

def check_portfolio(d, who, at):
    got = d.ask(with_at(f"/api/addresses/{who}/portfolio", at))
    assert got["address"] == who
    held = [(b["token"], b["balance"]) for b in got["balances"]]
    wanted = rows(f"SELECT contract, value::text AS n FROM {then('synth_token_balance', at)} AS v WHERE address = '{who}' UNION ALL "
                  f"SELECT contract, amount::text FROM {then('stellar_asset_balance', at)} AS v WHERE address = '{who}'")
    assert sorted(held) == sorted((w["contract"], w["n"]) for w in wanted), (who, at)
    assert all(b["decimals"] == 7 and b["balanceScaled"] == f"{int(b['balance']) // 10**7}.{int(b['balance']) % 10**7:07d}"
               for b in got["balances"])
    prices = prices_then(at)
    for b in got["balances"]:
        assert b["value"] == (None if prices.get(b["token"]) is None else str(int(b["balance"]) * prices[b["token"]] // 10**7)), (at, b)
    vaults = d.pages(with_at(f"/api/vaults?owner={who}&sort=risk", at), 200)[0]
    by_market = lambda items: sorted(items, key=lambda i: i["market"])
    assert by_market(got["vaults"]) == by_market(vaults), (who, at)
    pools = sorted(r["pool_id"] for r in rows(f"SELECT pool_id FROM {then('liquidity_pool_lp_pos', at)} AS v WHERE provider = '{who}'"))
    assert [p["pool"] for p in got["positions"]] == pools
    for position in got["positions"]:
        own = [p for p in d.pages(with_at(f"/api/pools/{position['pool']}/positions", at), 200)[0] if p["provider"] == who]
        assert [{k: v for k, v in position.items() if k != "pool"}] == own, (who, at)
        pair, = rows(f"SELECT token_a, token_b FROM {then('liquidity_pool_pool', at)} AS p WHERE pool_id = '{position['pool']}'")
        quoted = [position["underlying" + side] for side, token in (("A", pair["token_a"]), ("B", pair["token_b"])) if token == USDC]
        assert position["valueQuote"] == (str(2 * int(quoted[0])) if quoted else None), (who, at, position)
    status, _, saved = d.told(with_at(f"/api/stability-pool/deposits/{who}", at))
    assert got["stabilityDeposit"] == ({k: v for k, v in saved.items() if k not in ("ledger", "closedAt")} if status == 200 else None)
    votes = rows(f"SELECT chain.event_id(ledger, tx, op, event) AS id, proposal_id::text AS p, support FROM event.dao_governance_voted "
                 f"WHERE voter = '{who}' AND ledger <= {at} ORDER BY 1 DESC LIMIT 20")
    assert [(v["id"], v["proposalId"], v["support"]) for v in got["votes"]] == [(v["id"], v["p"], v["support"]) for v in votes]
    assert got["claims"] == d.ask(with_at(f"/api/earnings/claims?address={who}&limit=20", at))["items"]
    status, _, claimable = d.told(with_at(f"/api/earnings/claimable/{who}?limit=100", at))
    assert got["claimable"] == ({k: claimable[k] for k in got["claimable"]} if status == 200 else None)
    for name in ("balances", "vaults", "positions"):
        assert got[name + "Count"] == len(got[name])
    return got


def standing(d, who, at, got):
    """The rule: what the registry keeps, evaluated at the ledger's close."""
    record = rows(f"SELECT status, expires_at, provider FROM {then('compliance_registry_compliance_rec', at)} AS v WHERE address = '{who}'")
    frozen = rows(f"SELECT FROM {then('compliance_registry_frozen', at)} AS v WHERE address = '{who}'")
    blocked = rows(f"SELECT FROM {then('compliance_registry_compliance_rec', at)} AS v JOIN "
                   f"{then('compliance_registry_blocked_jurisdiction', at)} AS b ON b.code = v.jurisdiction WHERE v.address = '{who}'")
    now = int(sql(f"SELECT extract(epoch FROM closed_at)::bigint FROM chain.ledger WHERE ledger = {at}"))
    valid = bool(record) and record[0]["status"] == 2 and (record[0]["expires_at"] == 0 or now <= record[0]["expires_at"])
    told = got["compliance"]
    assert told["unknownBecause"] is None and told["compliant"] == (valid and not frozen and not blocked), (who, at, told, record)
    assert told["provider"] == (record[0]["provider"] if record else None)
    return told["status"]


def portfolios(d, moments):
    seen = collections.Counter()
    people = {r["a"] for table, column in (("synthetic_engine_vault", "key_owner"), ("liquidity_pool_lp_pos", "provider"),
              ("stability_pool_deposit", "depositor"), ("compliance_registry_compliance_rec", "address"))
              for r in rows(f"SELECT {column} AS a FROM history.{table} GROUP BY 1 ORDER BY count(*) DESC, 1 LIMIT 5")}
    people |= {r["voter"] for r in rows("SELECT voter FROM event.dao_governance_voted GROUP BY 1 ORDER BY count(*) DESC LIMIT 2")}
    people |= {r["claimer"] for r in rows("SELECT claimer FROM event.earnings_distributor_revenue_claimed GROUP BY 1 LIMIT 2")}
    for at in moments:
        for who in sorted(people) + [STRANGER]:
            got = check_portfolio(d, who, at)
            for name in ("balances", "vaults", "positions", "votes", "claims"):
                seen[name] += len(got[name])
            seen["stabilityDeposit"] += got["stabilityDeposit"] is not None
            seen["valued"] += sum(b["value"] is not None and b["token"] != USDC for b in got["balances"])
            if at != NEWEST:
                seen[standing(d, who, at, got)] += 1
    assert len(people) > 8 and min(seen[n] for n in ("balances", "vaults", "positions", "votes", "claims", "stabilityDeposit", "valued",
                                                      "Verified", "Unknown")) > 3, seen
    d.ask("/api/addresses/nobody/portfolio", 400)
    print("portfolios", dict(seen))


def many_rows(d, count):
    """An address with many rows: the lists are cut, the counts end at 200, and it takes no longer."""
    who = sql("SELECT owner FROM state.synthetic_engine_vault ORDER BY key_hash LIMIT 1")
    for table, key, name in (("synthetic_engine_vault", "owner", "key_owner, synth"), ("synth_token_balance", "address", "contract"),
                             ("liquidity_pool_lp_pos", "provider", "pool_id")):
        columns = [c for c in sql(f"SELECT string_agg(quote_ident(column_name), ',') FROM information_schema.columns "
                                  f"WHERE table_schema = 'state' AND table_name = '{table}'").split(",") if c not in ("key_hash", key)]
        picked = f"(SELECT * FROM state.{table} ORDER BY key_hash LIMIT 1) AS v, generate_series(1, {count}) AS i"
        shown = ", ".join("'" + who + "'" if c == "key_owner" else "v." + c for c in columns)
        for into, extra, value in (("state", "", ""), ("history", ", removed", ", false")):
            sql(f"INSERT INTO {into}.{table} (key_hash, {key}, {', '.join(columns)}{extra}) SELECT sha256(convert_to('many' || i, 'UTF8')), "
                f"'{who}', {shown}{value} FROM {picked} WHERE v.{columns[0]} IS NOT NULL")
        sql(f"ANALYZE state.{table}")
    for at in (NEWEST, int(sql("SELECT max(ledger) FROM chain.ledger"))):
        status, took, got = d.told(with_at(f"/api/addresses/{who}/portfolio", at))
        assert status == 200 and [len(got[n]) for n in ("balances", "vaults", "positions")] == [100] * 3, (status, got)
        assert [got[n + "Count"] for n in ("balances", "vaults", "positions")] == [200] * 3
        print(f"an address with {count} rows in each of three tables: {took / 1000:.0f} ms")
    for table, key in (("synthetic_engine_vault", "owner"), ("synth_token_balance", "address"), ("liquidity_pool_lp_pos", "provider")):
        sql(f"""CREATE TEMPORARY TABLE many AS SELECT sha256(convert_to('many' || i, 'UTF8')) AS key_hash FROM generate_series(1, {count}) AS i;
            DELETE FROM state.{table} USING many WHERE {table}.key_hash = many.key_hash;
            DELETE FROM history.{table} USING many WHERE {table}.key_hash = many.key_hash""")


# --- compliance -------------------------------------------------------------------------------------------------------

STATUSES = ["Unknown", "Pending", "Verified", "Suspended", "Sanctioned", "Expired"]


def moment(at):
    return int(sql(f"SELECT extract(epoch FROM closed_at)::bigint FROM chain.ledger WHERE ledger = {at}")) if at != NEWEST else int(
        sql("SELECT greatest(extract(epoch FROM now()), (SELECT extract(epoch FROM closed_at) FROM chain.cursor))::bigint"))


def records(at):
    return rows(f"SELECT encode(key_hash, 'hex') AS key, address, status, provider, expires_at, ledger "
                f"FROM {then('compliance_registry_compliance_rec', at)} AS v")


def expiring(d, moments):
    seen = 0
    for at in moments:
        now = moment(at)
        for within in (86400, 30 * 86400, 400 * 86400, 2**32 - 1):
            wanted = sorted((r["expires_at"], r["key"], r["address"], STATUSES[r["status"]], r["provider"], str(r["ledger"]))
                            for r in records(at) if now <= r["expires_at"] <= now + within)
            got = d.pages(with_at(f"/api/compliance/expiring?within={within}", at), 3)[0]
            assert [(g["address"], g["status"], g["provider"], g["changedLedger"]) for g in got] == [w[2:] for w in wanted], (at, within)
            assert [g["expiresAt"] for g in got] == sorted(g["expiresAt"] for g in got)
            seen += len(got)
    assert seen > 30, seen
    for wrong in ("within=0", "within=4294967296", "within=x", "limit=201", "cursor=x", "cursor=" + "A" * 177):
        d.ask("/api/compliance/expiring?" + wrong, 400)
    print("expiring", seen)


def counts(d, moments):
    seen = collections.Counter()
    for at in moments:
        now, wanted = moment(at), collections.Counter()
        for r in records(at):
            late = r["status"] == 2 and 0 < r["expires_at"] < now
            wanted["Expired" if late else (STATUSES + [None])[min(r["status"], 6)], r["provider"]] += 1
        got = d.ask(with_at("/api/compliance/counts", at))
        assert got["complete"] and {(i["status"], i["provider"]): i["addresses"] for i in got["items"]} == dict(wanted), (at, got)
        seen.update(s for s, _ in wanted.elements())
    assert seen["Verified"] > 10 and len(seen) > 2, seen
    print("counts", dict(seen))


def invent(dice, count):
    """Records that change, end and go at times around the ends of days, which the story of the chain has few of. The rollups are made anew."""
    closes = rows("SELECT ledger, closed_at, extract(epoch FROM closed_at)::bigint AS t FROM chain.ledger ORDER BY ledger")
    contract = sql("SELECT contract FROM state.compliance_registry_instance LIMIT 1")
    last = sql("SELECT max(ledger) FROM chain.ledger")
    edges = [c["t"] for c, after in zip(closes, closes[1:]) if c["t"] // 86400 != after["t"] // 86400]
    values = []
    for n in range(count):
        for c in sorted(dice.sample(closes, dice.choice((1, 1, 2, 3, 5))), key=lambda c: c["ledger"]):
            for seq in range(dice.choice((1, 1, 2))):
                near = dice.choice((c["t"] + dice.randrange(-86400, 40 * 86400), dice.choice(edges) + dice.randrange(-2, 3),
                                    dice.choice(edges) // 86400 * 86400 + dice.randrange(86397, 86403), 0, 1, 253402300799, 2**64 - 1))
                values.append(f"({n}, {c['ledger']}, {1000 + seq}, '{c['closed_at']}'::timestamptz, {str(dice.random() < 0.1).lower()},"
                              f" {near}, '{dice.choice('ABC')}', {dice.choice((0, 1, 2, 2, 2, 2, 3, 4, 5, 6, 4294967295))})")
    sql(f"""CREATE TABLE public.invented AS SELECT sha256(convert_to('invented' || n, 'UTF8')) AS key_hash, v.* FROM (VALUES {", ".join(values)})
            AS v (n, ledger, tx, closed_at, removed, ends, provider, status);
        INSERT INTO history.compliance_registry_compliance_rec (deployment, key_hash, ledger, tx, seq, closed_at, contract, removed, address,
            expires_at, jurisdiction, provider, reason, status, updated_at)
          SELECT 1, key_hash, ledger, tx, 0, closed_at, '{contract}', removed, CASE WHEN NOT removed THEN 'G' || n END,
            CASE WHEN NOT removed THEN ends END, 276, CASE WHEN NOT removed THEN provider END, 'attest', CASE WHEN NOT removed THEN status END, 0
          FROM public.invented;
        INSERT INTO state.compliance_registry_compliance_rec (deployment, key_hash, ledger, tx, seq, closed_at, contract, address,
            expires_at, jurisdiction, provider, reason, status, updated_at)
          SELECT 1, key_hash, ledger, tx, 0, closed_at, '{contract}', 'G' || n, ends, 276, provider, 'attest', status, 0
          FROM (SELECT DISTINCT ON (key_hash) * FROM public.invented ORDER BY key_hash, ledger DESC, tx DESC) AS v WHERE NOT removed;
        DROP TABLE public.invented; DELETE FROM rollup.built; ANALYZE""")
    subprocess.run([os.environ["TIDE_BIN"] + "/tidemark-indexer", "run", "--lake", os.environ["PG_DIR"] + "/sim/lake", "--stop-at-end",
                    "--proof", "none"], check=True, stderr=subprocess.DEVNULL)
    assert sql("SELECT count(*) FROM rollup.built") == "1", last


def any_order(dice):
    """The rollup of records is the same in whatever order it takes the ranges."""
    text = (pathlib.Path(__file__).resolve().parents[3] / "indexer/rollup/compliance.sql").read_text()
    text = text.replace("{!history.", "history.").replace("{=", "trial.").replace("}", "")
    tables = ("compliance_version", "compliance_day", "compliance_end")
    first, last = map(int, sql("SELECT min(ledger), max(ledger) FROM chain.ledger").split("|"))
    for cuts in (0, 1, 7, 30):
        marks = [first, *sorted(dice.sample(range(first + 1, last), cuts)), last + 1]
        ranges = list(zip(marks, marks[1:]))
        dice.shuffle(ranges)
        sql("CREATE SCHEMA trial; " + "; ".join(f"CREATE TABLE trial.{t} (LIKE rollup.{t} INCLUDING INDEXES)" for t in tables))
        sql("PREPARE fold AS " + text + ";" + ";".join(f"EXECUTE fold (1, {lo}, {hi - 1})" for lo, hi in ranges))
        for t in tables:
            differ = sql(f"SELECT count(*) FROM ((TABLE trial.{t} EXCEPT TABLE rollup.{t}) UNION ALL (TABLE rollup.{t} EXCEPT TABLE trial.{t})) AS x")
            assert differ == "0" and sql(f"SELECT count(*) > 20 FROM trial.{t}") == "t", (t, differ, ranges)
        sql("DROP SCHEMA trial CASCADE")


def daily(d, dice, moments):
    """Counts by day: those at the last ledger of each day, which are those of /api/compliance/counts as of that ledger."""
    closes = rows("SELECT ledger, closed_at, (closed_at AT TIME ZONE 'UTC')::date::text AS day FROM chain.ledger ORDER BY ledger")
    born = sql("SELECT min(closed_at AT TIME ZONE 'UTC')::date FROM history.compliance_registry_compliance_rec WHERE NOT removed")
    days = sql(f"SELECT d::date FROM generate_series('{born}'::date, '{closes[-1]['day']}'::date, interval '1 day') AS d").split()
    last = {day: max(c["ledger"] for c in closes if c["day"] <= day) for day in days}  # some days have no ledger
    told = {}
    for day in days:
        got = d.ask(with_at("/api/compliance/counts", last[day]))
        told[day] = [(i["status"], i["provider"], i["addresses"]) for i in got["items"]]
    for at in moments:
        today = next(c["day"] for c in closes if c["ledger"] == at) if at != NEWEST else None
        for order in ("desc", "asc"):
            wanted = [day for day in days if today is None or day < today]
            got = d.pages(with_at(f"/api/compliance/daily?order={order}", at), 5 if order == "asc" else 60)[0]
            assert [g["day"] for g in got] == (wanted if order == "asc" else wanted[::-1]), (at, order)
            for g in got:
                assert g["complete"] and g["ledger"] == str(last[g["day"]]), g
                assert [(i["status"], i["provider"], i["addresses"]) for i in g["counts"]] == told[g["day"]], (at, g, told[g["day"]])
    assert "jurisdiction" not in json.dumps(got).lower()
    for _ in range(20):
        lo, hi = sorted(dice.sample(range(len(days)), 2))
        got = d.ask(f"/api/compliance/daily?from={days[lo]}T00:00:00Z&to={days[hi]}T00:00:00Z&limit=200")["items"]
        assert [g["day"] for g in got] == days[lo:hi][::-1], (days[lo], days[hi])
        assert [[(i["status"], i["provider"], i["addresses"]) for i in g["counts"]] for g in got] == [told[x] for x in days[lo:hi]][::-1]
    for wrong in ("from=x", "order=x", "limit=201", "cursor=x", "fill=previous"):
        d.ask("/api/compliance/daily?" + wrong, 400)
    states = {s or "none" for items in told.values() for s, _, _ in items}
    assert len(days) > 10 and "Verified" in states and len(states) > 2, (len(days), states)
    print(f"counts of {len(days)} days, {sum(map(len, told.values()))} figures: {sorted(states)}")


# --- tokens by symbol -------------------------------------------------------------------------------------------------

def symbols(d):
    """By symbol as by address; a symbol that two tokens have is refused with both; one that none has, or only a stranger's, is a 404."""
    tokens = rows("SELECT token, symbol FROM chain.token ORDER BY 1")
    last = int(sql("SELECT max(ledger) FROM chain.ledger"))
    holder, held = sql("SELECT address, contract FROM state.synth_token_balance ORDER BY key_hash LIMIT 1").split("|")
    named = {t["token"]: t["symbol"] for t in tokens}
    assert len(set(named.values())) == len(tokens) > 3
    listed = set(sql("""SELECT string_agg(token, ' ') FROM (SELECT j.address AS token FROM chain.deployment, jsonb_to_recordset(contracts) AS j (address text)
        UNION SELECT token FROM state.synthetic_engine_asset_config UNION SELECT token_a FROM state.liquidity_pool_pool
        UNION SELECT token_b FROM state.liquidity_pool_pool) AS x""").split())
    assert len(listed & named.keys()) > 3
    for token in named.keys() - listed:
        d.ask(f"/api/tokens/{named[token]}/transfers", 404)
    for token, symbol in ((t, s) for t, s in named.items() if t in listed):
        for rest in ("/transfers?limit=3", f"/transfers?limit=3&ledger={last - 50}"):
            one, other = d.told(f"/api/tokens/{symbol}{rest}"), d.told(f"/api/tokens/{token}{rest}")
            told = lambda answer: {k: v for k, v in answer.items() if k != "next"}
            assert one[0] == other[0] == 200 and told(one[2]) == told(other[2]), (symbol, rest)
    assert d.ask(f"/api/tokens/{named[held]}/balances/{holder}") == d.ask(f"/api/tokens/{held}/balances/{holder}")
    page = d.ask(f"/api/tokens/{named[held]}/transfers?limit=2")
    d.ask(f"/api/tokens/{held}/transfers?limit=2&cursor={page['next']}", 400)  # a cursor is of the question as it was asked
    assert d.pages(f"/api/tokens/{named[held]}/transfers", 50)[0] == d.pages(f"/api/tokens/{held}/transfers", 50)[0]
    for hostile in ("nosuch", "'%3B%20DROP%20TABLE%20state.raw%3B--", "%25", "native", "%F0%9F%92%A9", "A" * 32, "..x", "%22"):
        d.ask(f"/api/tokens/{hostile}/transfers", 404)
        d.ask(f"/api/tokens/{hostile}/balances/{holder}", 404)
    for wrong in ("A" * 33, "%00", "%01", "%FF", "C" + "A" * 55, "S" * 56):
        d.ask(f"/api/tokens/{wrong}/transfers", 400)
    protocol = sql("SELECT string_agg(token, ' ') FROM state.synthetic_engine_asset_config").split()
    other = next(t for t in protocol if t != held)
    before = sql(f"SELECT encode(symbol, 'hex') FROM state.synth_token_instance WHERE contract = '{other}'")
    sql(f"UPDATE state.synth_token_instance SET symbol = convert_to('{named[held]}', 'UTF8') WHERE contract = '{other}'")
    answer = d.ask(f"/api/tokens/{named[held]}/transfers", 400)
    assert answer["code"] == "ambiguous_symbol" and held in str(answer["errors"]) and other in str(answer["errors"]), answer
    # One of the deployment file wins over one that only the chain lists.
    files = sql("SELECT string_agg(j.address, ' ') FROM chain.deployment, jsonb_to_recordset(contracts) AS j (address text)").split()
    file = next(t for t in files if t in named and t != other)
    contracts = sql("SELECT contracts FROM chain.deployment")
    sql(f"UPDATE chain.deployment SET contracts = (SELECT jsonb_agg(x) FROM jsonb_array_elements(contracts) AS x WHERE x ->> 'address' <> '{other}')")
    sql(f"UPDATE state.synth_token_instance SET symbol = convert_to('{named[file]}', 'UTF8') WHERE contract = '{other}'")
    assert d.ask(f"/api/tokens/{named[file]}/transfers?limit=3")["items"] == d.ask(f"/api/tokens/{file}/transfers?limit=3")["items"]
    sql(f"UPDATE chain.deployment SET contracts = '{contracts}'")
    sql(f"UPDATE state.synth_token_instance SET symbol = decode('{before}', 'hex') WHERE contract = '{other}'")
    print("symbols", len(named))


def main():
    d = Driver(2)
    first, last = map(int, sql("SELECT min(ledger), max(ledger) FROM chain.ledger").split("|"))
    portfolios(d, (NEWEST, last, (first + last) // 2, first + 40))
    expiring(d, (NEWEST, last, (first + last) // 2, first + 40))
    counts(d, (NEWEST, last, (first + last) // 2, first + 40))
    dice = random.Random(int(os.environ.get("TIDE_SEED", "14")))
    invent(dice, 400)
    any_order(dice)
    counts(d, (NEWEST, last, *(dice.randrange(first, last) for _ in range(6))))
    daily(d, dice, (NEWEST, last, (first + last) // 2, dice.randrange(first, last)))
    symbols(d)
    many_rows(d, 3000)
    d.close()


main()
