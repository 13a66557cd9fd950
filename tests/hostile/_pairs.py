"""usage: _pairs.py --seed N | --seconds S [--ledgers N] [--txs N] [--past N] [--keep]   called by pairs

One fact has one answer. For each seed a hostile chain is indexed, and each pair of routes, filters, views and streams that tell one fact is
asked about everything that the index holds, now and as of ledgers: what both tell is equal.
"""
import argparse
import json
import os
import random
import re
import shutil
import signal
import sys
import time
import urllib.parse

from _chain import DIR, FIRST, SINCE, Index, psql, rows
from _chain_ask import Asker, Failure, Faults
from _chain_past import START

MANY = 40  # items of each kind that are asked for one by one
ADDRESSES = """SELECT address AS v FROM history.compliance_registry_compliance_rec UNION SELECT key_owner FROM history.synthetic_engine_vault
    UNION SELECT provider FROM history.liquidity_pool_lp_pos UNION SELECT address FROM history.synth_token_balance
    UNION SELECT address FROM history.stellar_asset_balance UNION SELECT depositor FROM history.stability_pool_deposit"""
STATES = ("active", "at_risk", "liquidatable", "open", "unpriced")
NEVER = re.compile(r"^(0001-|1969-|1970-01-01T00:00:00Z|[0-9]{5,}-)")  # texts of times that are none


def key(item, *names):
    return tuple(str(item[name]) for name in names)


class Pairs(Asker):
    def __init__(self, index, dice, at):
        super().__init__(index)
        self.dice, self.at, self.faults, self.pairs, self.found = dice, at, Faults(), 0, {}

    def get(self, path, **given):
        """An answer as of the ledger; None: 404; empty: it needs what is not indexed, or not decoded."""
        given = {name: value for name, value in {**given, "ledger": self.at}.items() if value is not None}
        status, body = self.json(path + ("?" + urllib.parse.urlencode(given) if given else ""))
        if body.get("code") == "incomplete":
            return {}
        if status not in (200, 404):
            self.faults.add(f"status {path.split('/')[2]}", f"{path} {given}: {status} {str(body)[:300]}")
        self.times(path, body)
        return body if status == 200 else None

    def times(self, path, body, name=""):
        """No answer has a time that is none: it is null everywhere."""
        if isinstance(body, dict):
            for member, value in body.items():
                self.times(path, value, member)
        elif isinstance(body, list):
            for value in body:
                self.times(path, value, name)
        elif isinstance(body, str) and name.endswith(("At", "Until")) and NEVER.match(body):
            self.faults.add(f"time {name}", f"{path}: {name} {body}")

    def items(self, path, pages=400, **given):
        out, cursor = [], None
        for number in range(pages):
            page = self.get(path, **given, limit=None if path == "/api/prices" else 200, cursor=cursor)
            if not page:
                return out
            out, cursor = out + page["items"], page["next"]
            if not cursor or number + 1 == pages < 400:
                return out
        raise Failure(f"{path}: no end")

    def sample(self, things):
        things = list(things)
        return things if len(things) <= MANY else self.dice.sample(things, MANY)

    def same(self, fact, one, other, but=()):
        """Members that both have are equal."""
        self.pairs += 1
        if one is None or other is None:
            if one is not other:
                self.faults.add(re.match(r"[a-z_. ]*", fact)[0], f"{fact}: {str(one)[:160]}, elsewhere {str(other)[:160]}")
            return
        for name in one.keys() & other.keys() - {"ledger", "closedAt", "requestId", *but}:
            if one[name] != other[name]:
                self.faults.add(re.match(r"[a-z_. ]*", fact)[0], f"{fact}: {name} {str(one[name])[:160]}, elsewhere {str(other[name])[:160]}")

    def equal(self, fact, one, other):
        self.pairs += 1
        if one != other:
            more = [x for x in one if x not in other][:2], [x for x in other if x not in one][:2]
            self.faults.add(re.match(r"[a-z_. ]*", fact)[0], f"{fact}: {str(more[0])[:300]}, elsewhere {str(more[1])[:300]}")

    def each(self, fact, items, path, names, member=None, but=(), **whole):
        """Each item of a list is what its own route tells. whole: texts that lists cut."""
        self.found[fact] = len(items)
        for item in self.sample(items):
            own = self.get(path.format(*(urllib.parse.quote(str(item[name]), safe="") for name in names)))
            own = own[member] if own and member else own
            if own:
                own = {name: value[:256] if name in whole and isinstance(value, str) else value for name, value in own.items()}
            self.same(f"{fact} {key(item, *names)}", item, own, but)

    # --- what is the same in lists and in routes of one item -----------------------------------------------

    def lists(self):
        self.each("pool", self.items("/api/pools"), "/api/pools/{}", ["pool"])
        self.each("partner", self.items("/api/partners"), "/api/partners/{}", ["partnerId"], name=True)
        self.each("proposal", self.items("/api/dao/proposals"), "/api/dao/proposals/{}", ["proposalId"], but=("action",), title=True)
        self.each("wallet", self.items("/api/multisig/wallets"), "/api/multisig/wallets/{}", ["walletId"])
        self.each("multisig transaction", self.items("/api/multisig/transactions"), "/api/multisig/transactions/{}", ["txId"], but=("action", "approvals", "rejections"))
        self.each("epoch", self.items("/api/earnings/epochs"), "/api/earnings/epochs/{}", ["epoch"])
        self.each("deposit", self.items("/api/stability-pool/deposits"), "/api/stability-pool/deposits/{}", ["depositor"])
        self.each("market", self.items("/api/markets"), "/api/markets/{}", ["market"])
        self.each("price", self.items("/api/prices"), "/api/prices/{}", ["asset"])

    def prices(self):
        """Prices of a feed: its own route's, the oracle's, the market's."""
        feeds = {f["asset"]: f for f in self.items("/api/oracle/feeds")}
        for one in self.items("/api/prices"):
            self.same(f"feed {one['asset']}", one, feeds.get(one["asset"]))
        for market in self.items("/api/markets"):
            for feed in ("oracle", "collateralOracle"):
                self.same(f"{feed} of market {market['market']}", market[feed], feeds.get(market[feed].get("asset"), {}))
        for asset in self.sample(feeds):
            for interval in ("1m", "1h", "1d") if not self.at else ():
                newest = self.items(f"/api/prices/{asset}/history", interval=interval, fill="previous", pages=1)[:1]
                self.equal(f"average of feed {asset} at the end of {interval}", [i["twapClose"] for i in newest], [feeds[asset]["twapPrice"] for _ in newest])
            hours = self.items(f"/api/prices/{asset}/history", interval="1h")
            filled = {i["startsAt"]: i for i in self.items(f"/api/prices/{asset}/history", interval="1h", fill="previous")} if hours else {}
            for item in hours:
                self.same(f"interval {asset} {item['startsAt']}", item, filled.get(item["startsAt"]))

    # --- vaults ------------------------------------------------------------------------------------------

    def vaults(self):
        whole = self.items("/api/vaults")
        self.each("vault", whole, "/api/vaults/{}/{}", ["market", "owner"])
        for sort in ("debt", "collateral"):
            self.equal(f"vaults by {sort}", sorted(key(v, "market", "owner") for v in whole), sorted(key(v, "market", "owner") for v in self.items("/api/vaults", sort=sort)))
        states = {state: sorted(key(v, "market", "owner") for v in self.items("/api/vaults", state=state)) for state in STATES}
        for state in STATES:
            self.equal(f"vaults that are {state}", sorted(key(v, "market", "owner") for v in whole if v["state"] == state), states[state])
        for owner in self.sample({v["owner"] for v in whole}):
            for state in STATES:
                self.equal(f"vaults of {owner} that are {state}", sorted(key(v, "market", "owner") for v in whole if v["owner"] == owner and v["state"] == state),
                           sorted(key(v, "market", "owner") for v in self.items("/api/vaults", owner=owner, state=state)))
        return whole

    # --- an address ----------------------------------------------------------------------------------------

    def addresses(self, vaults):
        chosen = self.sample(sorted(r["v"] for r in rows(self.index.name, ADDRESSES) if re.match(r"^[GC][A-Z2-7]{55}$", r["v"])))
        deposits = {d["depositor"]: d for d in self.items("/api/stability-pool/deposits")}
        status, batch = self.json("/api/sdk/kyc/status" + (f"?ledger={self.at}" if self.at else ""), "POST", json.dumps({"addresses": chosen[:100]}))
        batch = {b["address"]: b for b in batch["items"]} if status == 200 else {}
        for who in chosen:
            about = self.get(f"/api/addresses/{who}/portfolio")
            own = self.get(f"/api/sdk/kyc/status/{who}")
            self.standing(who, about, own, batch.get(who))
            self.equal(f"vaults of {who}", sorted(map(str, about["vaults"])), sorted(str(v) for v in vaults if v["owner"] == who)[:100])
            self.same(f"deposit of {who}", about["stabilityDeposit"], deposits.get(who))
            for balance in about["balances"]:
                told = self.get(f"/api/tokens/{balance['token']}/balances/{who}")
                self.same(f"balance {balance['token']} of {who}", balance, told)
            for position in about["positions"]:
                listed = [p for p in self.items(f"/api/pools/{position['pool']}/positions") if p.get("provider") == who]
                self.same(f"position {position['pool']} of {who}", position, listed[0] if listed else None)

    def standing(self, who, about, own, batch):
        """Whether an address may trade, and until when."""
        if not own:
            self.equal(f"standing of {who}", ["incomplete"], [about["compliance"]["unknownBecause"]])
            return
        record = own["record"]
        self.same(f"standing of {who}", own, about["compliance"])
        self.same(f"record of {who}", {"expiresAt": record and record["expiresAt"], "provider": record and record["provider"]}, about["compliance"])
        if batch:
            self.same(f"standing of {who} among others", own, batch, ("pollAfterMs",))
        past = self.get(f"/api/compliance/{who}/history", limit=1)
        first = past and past["items"] and past["items"][0]
        if record and first and first.get("ledger") == record["changedLedger"]:
            self.same(f"newest version of {who}", {"expiresAt": first["expiresAt"], "updatedAt": first["updatedAt"]}, record)
        if own["compliant"] and record:
            self.equal(f"end of {who}", [own["validUntil"]], [record["expiresAt"]])

    # --- views, streams, totals ------------------------------------------------------------------------------

    def views(self):
        """Views of what is now. They run as the analyst."""
        def view(text):
            found = psql(self.index.name, f"SET ROLE tidemark_analyst; SET TimeZone = 'UTC'; SELECT coalesce(json_agg(x), '[]') FROM ({text}) AS x")
            return json.loads(found.stdout)
        rfc = lambda column: f"to_char({column}, 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"')"
        records = {r["address"]: r for r in view(f"SELECT address, {rfc('expires_at')} AS \"expiresAt\", {rfc('updated_at')} AS \"updatedAt\" FROM analyst.compliance")}
        for who in self.sample(records):
            own = self.get(f"/api/sdk/kyc/status/{who}")
            self.same(f"record of {who} in analyst.compliance", records[who], own["record"] if own else {})
        feeds = {f["asset"]: f for f in view(f"SELECT feed AS asset, {rfc('price_at')} AS \"latestAt\", {rfc('twap_at')} AS \"twapAt\" FROM analyst.feeds")}
        for one in self.items("/api/prices"):
            self.same(f"feed {one['asset']} in analyst.feeds", feeds.get(one["asset"]), one)
        for asset in self.sample(feeds):
            hours = {h["at"]: h["twap"] for h in view(f"SELECT {rfc('at')} AS at, twap_close_raw::text AS twap FROM analyst.price_candles WHERE feed = '{asset}' AND length = '1h'")}
            for item in self.items(f"/api/prices/{asset}/history", interval="1h"):
                self.equal(f"twap of {asset} in analyst.price_candles", [hours.get(item["startsAt"])], [item["twapClose"]])

    def totals(self, last):
        """Totals now are those as of the newest ledger, and those of the parts."""
        now, then = self.json("/api/stats")[1], self.json(f"/api/stats?ledger={last}")[1]
        self.same("totals", now, then, ("users",))
        days = self.items("/api/stats/daily")
        self.equal("trades of all days", [now["swaps"]], [sum(d["swaps"] for d in days)])

    def stream(self, event, after):
        """Messages of a stream from a position to the newest ledger, by its id."""
        topics = {"event": "topics=event,ledger", "compliance": "topics=compliance,ledger"}[event.split(" ")[0]]
        more = "&addresses=" + event.split(" ")[1] if " " in event else ""
        self.connection.request("GET", f"/api/stream?{topics}{more}" + (f"&after={after}" if after else ""))
        answer, out, message = self.connection.getresponse(), [], {}
        if answer.status == 503 and b'"incomplete"' in answer.read():
            return []  # an entry of the registry cannot be decoded
        if answer.status != 200:
            raise Failure(f"stream {event}: {answer.status} {answer.read()[:200]}")
        last = rows(self.index.name, "SELECT max(ledger) AS v FROM chain.ledger")[0]["v"]
        end = time.monotonic() + 60
        while time.monotonic() < end:
            line = answer.readline().decode().rstrip("\n")
            if line:
                name, _, value = line.partition(": ")
                message[name] = value
                continue
            data = json.loads(message.get("data", "{}"))
            if message.get("event") == event.split(" ")[0]:
                out.append(data)
            if message.get("event") == "ledger" and int(data["ledger"]) >= last or message.get("event") == "compliance" and not after:
                break
            message = {}
        else:
            raise Failure(f"stream {event}: no end within 60 s")
        self.connection.close()
        return out

    def streams(self):
        """A stream tells what lists tell, and on every node the same: no event that was indexed later."""
        listed = {e["id"]: e for e in self.items("/api/events")}
        late = {(r["ledger"], r["tx"], r["event"]) for r in rows(self.index.name, SINCE.replace("since > ledger", "since >= ledger"))}
        told = self.stream("event", f"1:{FIRST}")  # behind the first ledger
        for one in told:
            self.same(f"event {one['id']} in a stream", one, listed.get(one["id"]))
        ids = {e["id"] for e in told}
        wanted = {i for i, e in listed.items() if int(e["ledger"]) > FIRST and (int(e["ledger"]), e["tx"], e["event"]) not in late}
        self.equal("events of a stream", sorted(ids), sorted(wanted))
        self.found["late events"] = len(late)
        never = [r["v"] for r in rows(self.index.name, "SELECT address AS v FROM state.compliance_registry_compliance_rec WHERE expires_at > 253402300799 AND status = 2 ORDER BY 1 LIMIT 4")]
        self.found["attestations that never end"] = len(never)
        for who in never + self.sample(r["v"] for r in rows(self.index.name, "SELECT address AS v FROM state.compliance_registry_compliance_rec"))[:4]:
            for one in self.stream(f"compliance {who}", None)[:1]:
                self.times("/api/stream", one)
                self.same(f"standing of {who} in a stream", one, self.get(f"/api/sdk/kyc/status/{who}"), ("evaluatedAt",))

    def everything(self):
        self.lists()
        self.prices()
        self.addresses(self.vaults())
        if not self.at:
            self.views()
            self.streams()


# An even seed's attackers leave the registry and the oracle readable, and rows are planted that a contract may cause.
CALM = "refused,events,strangers,footprint,router,tokens,asset,names,code"
TIMES = {"compliance_registry_compliance_rec": ("expires_at", "updated_at"), "oracle_feed": ("latest_ts", "twap_ts"), "partner_registry_partner": ("registered_at",),
         "partner_registry_partner_asset": ("deployed_at",), "liquidity_pool_lp_pos": ("deposited_at",)}
EXTREMES = (2**64 - 1, 2**63, 253402300800, 253402300799, 0, 1)


def plant(index):
    """Times at the edges, and in the newest minute a round of each feed without a new version of it."""
    psql(index.name, """INSERT INTO rollup.price (deployment, asset, seconds, at, open_price, high_price, low_price, close_price, first_ledger, last_ledger, rounds)
        SELECT DISTINCT ON (p.asset) p.deployment, p.asset, 60, chain.interval_start(60, c.closed_at), p.close_price, p.close_price, p.close_price, p.close_price, c.ledger, c.ledger, 1
        FROM rollup.price AS p JOIN chain.cursor AS c USING (deployment) WHERE p.seconds = 60 AND p.close_price IS NOT NULL ORDER BY p.asset, p.at DESC
        ON CONFLICT DO NOTHING""")
    for table, columns in TIMES.items():
        for place, column in enumerate(columns):
            cases = " ".join(f"WHEN {i} THEN {value}" for i, value in enumerate(EXTREMES))
            for schema in ("history_rows", "state"):
                psql(index.name, f"UPDATE {schema}.{table} SET {column} = CASE get_byte(key_hash, {place}) % {2 * len(EXTREMES)} {cases} ELSE {column} END")


def one_seed(seed, options):
    """What differs."""
    dice, index = random.Random(seed), Index(DIR / f"pairs{seed}", f"pairs_{seed}")
    last, faults, asked, pairs, found = FIRST + options.ledgers - 1, [], 0, 0, {}
    try:
        index.write(options.ledgers, "--seed", seed % 1000 + 1, "--txs", options.txs, "--ledgers-per-object", 1, "--hostile", seed,
                    "--hostile-all-from", FIRST + options.ledgers // 3, *([] if seed % 2 else ["--hostile-attacks", CALM]))
        index.index()
        if seed % 2 == 0:
            plant(index)
        index.start()
        index.wait_for(last)
        for at in (None, *sorted(dice.sample(range(FIRST + 8, last), options.past))):
            told = Pairs(index, dice, at)
            told.everything()
            if not at:
                told.totals(last)
                found = told.found
            faults += [f"seed {seed}{f', as of ledger {at}' if at else ''}: {line}" for line in told.faults.lines()]
            asked, pairs = asked + told.asked, pairs + told.pairs
        index.stop()
    finally:
        index.drop()
        if not options.keep:
            shutil.rmtree(index.folder, ignore_errors=True)
    print(f"seed {seed}: {options.ledgers} ledgers, {asked} answers, {pairs} pairs, {len(faults)} differ; of {found}", flush=True)
    for fault in faults:
        print(f"FAIL: {fault}", flush=True)
    return bool(faults)


def main():
    parser = argparse.ArgumentParser(prog="pairs", description="one fact, one answer")
    parser.add_argument("--seed", type=int)
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--ledgers", type=int, default=96)
    parser.add_argument("--txs", type=int, default=4)
    parser.add_argument("--past", type=int, default=2, help="ledgers as of which all is asked again")
    parser.add_argument("--keep", action="store_true")
    options = parser.parse_args()
    if (options.seed is None) == (options.seconds is None):
        parser.error("one of --seed and --seconds")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    end, failed, seeds = time.monotonic() + (options.seconds or 0), 0, 0
    while seeds == 0 or time.monotonic() < end:
        failed += one_seed(options.seed if options.seed is not None else random.SystemRandom().randrange(1, 1 << 31), options)
        seeds += 1
        if options.seed is not None:
            break
    print(f"{seeds} seeds, {failed} failed")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
