"""Proves that a past answer never changes: an index that continued is asked as of ledger N and compared with one
that ends at N (chain, integration.as_of).

Both answers are equal word for word. So is what the index that ends at N says without `ledger`, as long as no clock is ahead of its newest ledger:
chains that are compared begin in the future (START).
"""
import json
import re
import shutil
import urllib.parse

from _chain_ask import HOSTILE_PAGES, LEDGER, Asker, Faults, Routes, differs, fill, query

# Chains begin in 2035, so that "now" is the newest close time, and two minutes before a day begins.
START = 2051222400 - 120
# Each statement gives values of a parameter, and the ledger of each version that names them.
ADDRESSES = """SELECT address AS v, ledger FROM history.compliance_registry_compliance_rec
    UNION ALL SELECT owner, ledger FROM history.synthetic_engine_vault UNION ALL SELECT key_owner, ledger FROM history.synthetic_engine_vault
    UNION ALL SELECT provider, ledger FROM history.liquidity_pool_lp_pos UNION ALL SELECT address, ledger FROM history.synth_token_balance
    UNION ALL SELECT address, ledger FROM history.stellar_asset_balance UNION ALL SELECT depositor, ledger FROM history.stability_pool_deposit
    UNION ALL SELECT claimer, ledger FROM history.earnings_distributor_claimed"""
SYMBOLS = """SELECT symbol AS v, ledger FROM history.synthetic_engine_asset_config UNION ALL SELECT synth_asset, ledger FROM history.synthetic_engine_vault"""
SOURCES = {
    "address": ADDRESSES,
    "owner": "SELECT owner AS v, ledger FROM history.synthetic_engine_vault UNION ALL SELECT key_owner, ledger FROM history.synthetic_engine_vault",
    "symbol": SYMBOLS,
    "market": SYMBOLS,
    "asset": "SELECT asset AS v, ledger FROM history.oracle_feed",
    "pool": "SELECT pool_id AS v, ledger FROM history.liquidity_pool_pool",
    "partnerId": "SELECT key_id AS v, ledger FROM history.partner_registry_partner UNION ALL SELECT partner_id, ledger FROM history.partner_registry_partner_asset",
    "epoch": "SELECT key_id AS v, ledger FROM history.earnings_distributor_epoch",
    "proposalId": "SELECT key_id AS v, ledger FROM history.dao_governance_proposal UNION ALL SELECT proposal_id, ledger FROM history.dao_governance_multi_sig_tx",
    "walletId": "SELECT wallet_id AS v, ledger FROM history.dao_governance_multi_sig_wallet UNION ALL SELECT wallet_id, ledger FROM history.dao_governance_multi_sig_tx",
    "txId": "SELECT tx_id AS v, ledger FROM history.dao_governance_multi_sig_tx",
    "token": """SELECT contract AS v, ledger FROM history.synth_token_instance UNION ALL SELECT contract, ledger FROM history.stellar_asset_instance
        UNION ALL SELECT analyst.readable(symbol), ledger FROM history.synth_token_instance WHERE analyst.readable(symbol) ~ '^[A-Za-z0-9_]{1,32}$'""",
    "provider": "SELECT address AS v, ledger FROM history.oracle_provider",
    "kind": "SELECT kind AS v, ledger FROM event.log",
    "contract": "SELECT contract AS v, ledger FROM event.log",
    "sequence": "SELECT ledger AS v, ledger FROM chain.ledger",
    "id": "SELECT chain.event_id(ledger, tx, op, event) AS v, ledger FROM event.log",
    "hash": "SELECT encode(hash, 'hex') AS v, ledger FROM chain.tx",
    # of one route
    "/api/earnings/claimable/{address}": """SELECT claimer AS v, ledger FROM history.earnings_distributor_claimed
        UNION ALL SELECT depositor, ledger FROM history.stability_pool_deposit""",
    "/api/stability-pool/deposits/{address}": "SELECT depositor AS v, ledger FROM history.stability_pool_deposit",
    "/api/compliance/{address}/providers": "SELECT address AS v, ledger FROM history.compliance_registry_attestation",
    "/api/compliance/{address}/history": "SELECT address AS v, ledger FROM history.compliance_registry_compliance_rec",
}
# Paths with two parameters take the values of one row.
ROWS = {
    "/api/vaults/{market}/{owner}": """SELECT synth_asset AS market, owner, ledger FROM history.synthetic_engine_vault WHERE NOT removed
        UNION ALL SELECT synth, key_owner, ledger FROM history.synthetic_engine_vault""",
    "/api/tokens/{token}/balances/{owner}": """SELECT contract AS token, address AS owner, ledger FROM history.synth_token_balance
        UNION ALL SELECT contract, address, ledger FROM history.stellar_asset_balance""",
}
ROWS["/api/vaults/{market}/{owner}/history"] = ROWS["/api/vaults/{market}/{owner}"]
NEEDS = {"/api/pools/{pool}/quote": {"amountIn": "10000000"}}
# Routes of one event, ledger or transaction take no `ledger`: their answers are true for ever.
FIXED = ("/api/ledgers/{sequence}", "/api/events/{id}", "/api/transactions/{hash}")
# Without `ledger`, counts of a ledger and lists of a transaction gain what is found later of a token's past. As of a ledger its market becomes
# complete then, and nothing else changes.
COMPLETE = re.compile(rb'"complete":(true|false)|"requestId":"[^"]*"')
LATER = {"/api/markets": COMPLETE, "/api/markets/{symbol}": COMPLETE}
GAIN = {"/api/ledgers/{sequence}", "/api/transactions/{hash}"}
FOLLOWED_AFTER = """SELECT count(*) AS v FROM (SELECT FROM chain.contract_seen WHERE what IN ('discovered', 'asset', 'token') GROUP BY contract
    HAVING greatest(min(ledger) FILTER (WHERE what = 'discovered'), min(ledger) FILTER (WHERE what <> 'discovered')) > {at}) AS s"""
# Series have the interval that is not over without `ledger` alone, and so have the number of users and counts of ledgers.
SERIES = re.compile(r"/(history|daily|candles|stats|ledgers)$")
TIPS = re.compile(rb'"(requestId|dataAgeMs|evaluatedAt|pollAfterMs|next)":("[^"]*"|[0-9]+|null),?')
PROBLEM = re.compile(rb'"requestId":"[^"]*"')
PAGES = 4


def link_lake(whole, part, last):
    """The objects of a lake up to a ledger, in another folder."""
    for path in whole.rglob("*"):
        name = re.search(r"--([0-9]+)(?:-[0-9]+)?\.", path.name)
        there = part / path.relative_to(whole)
        if path.is_file() and not there.exists() and (not name or int(name.group(1)) <= last):
            there.parent.mkdir(parents=True, exist_ok=True)
            try:
                there.hardlink_to(path)
            except OSError:
                shutil.copyfile(path, there)


def ledgers_of_changes(index, rows, dice, first, last, count):
    """Ledgers just before those at which entries are removed, stop to be decoded, or change their owner, or tokens are found; and any."""
    tables = [t["name"] for t in rows(index.name, "SELECT relname AS name FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace"
                                      " WHERE n.nspname = 'history' AND c.relkind = 'v' ORDER BY 1")]
    removals = " UNION ALL ".join(f"SELECT ledger, '{t}' AS what FROM history.\"{t}\" WHERE removed" for t in tables if t not in ("ttl", "raw"))
    special = rows(index.name, f"""SELECT DISTINCT ledger - 1 AS v FROM (SELECT ledger, what FROM ({removals}) AS r
        UNION ALL SELECT min(ledger), 'raw' FROM history.raw GROUP BY key_hash
        UNION ALL SELECT ledger, what FROM chain.contract_seen WHERE what IN ('discovered', 'market')
        UNION ALL SELECT ledger, 'owner' FROM (SELECT ledger, owner, lag(owner) OVER (PARTITION BY key_hash ORDER BY ledger, tx, seq) AS before
            FROM history.synthetic_engine_vault) AS o WHERE owner <> before) AS s WHERE ledger - 1 BETWEEN {first} AND {last} ORDER BY 1""")
    special = [row["v"] for row in special]
    chosen = set(dice.sample(special, min(len(special), (count + 1) // 2)))
    while len(chosen) < min(count, last - first + 1):
        chosen.add(dice.randrange(first, last + 1))
    return sorted(chosen)


def follow(later, then, rows, dice, span, options):
    """Indexes the chain of `later` again, as `then`, in options.past steps within a range of ledgers, and compares both at each."""
    done = Past(later, then, rows, dice, options.values)
    (then.folder / "lake").mkdir()
    shutil.copyfile(later.folder / "deployment.json", then.folder / "deployment.json")
    for at in ledgers_of_changes(later, rows, dice, span.start, span.stop - 1, options.past):
        link_lake(later.folder / "lake", then.folder / "lake", at)
        then.index()
        if not then.api:
            then.start()
            done.then = Asker(then)
        then.wait_for(at)
        done.everything(at)
    return done


class Past:
    """Compares what `later` says as of a ledger with `then`, which ends there. Both have a name (of a database) and a port."""

    def __init__(self, later, then, rows, dice, most=4):
        self.later, self.then, self.database = Asker(later), None, later.name
        self.rows, self.dice, self.most = rows, dice, most
        self.faults, self.compared = Faults(), 0
        self.routes, self.found_later = Routes(self.later), 0

    @property
    def asked(self):
        return self.later.asked + self.then.asked

    def sample(self, text, names, at):
        """Returns values that any version names. Versions up to the ledger and later ones name half of them."""
        columns = ", ".join(names)
        found = self.rows(self.database, f"""SELECT {columns}, bool_or(ledger <= {at}) AND bool_or(ledger > {at}) AS both FROM ({text}) AS s
            WHERE {names[0]} IS NOT NULL GROUP BY {columns} ORDER BY {columns}""")
        self.dice.shuffle(found)
        half = [row for row in found if row["both"]][:(self.most + 1) // 2]
        return half + [row for row in found if row not in half][:self.most - len(half)]

    def values(self, path, name, at):
        return [str(row["v"]) for row in self.sample(SOURCES.get(path if "{" + name + "}" in path else name, SOURCES[name]), ["v"], at)]

    def paths(self, path, at):
        names = re.findall(r"{(\w+)}", path)
        if not names:
            return [{}]
        if path in ROWS:
            return self.sample(ROWS[path], names, at)
        return [{names[0]: value} for value in self.values(path, names[0], at)]

    def filters(self, params, at, times):
        """Each filter of a route alone, then two together."""
        known = {}
        for name, schema in params.items():
            if name in ("ledger", "limit", "cursor", "maxAgeMs", "receipt", "amountIn"):
                continue
            if "enum" in schema:
                known[name] = schema["enum"]
            elif name in ("from", "to"):
                known[name] = times
            elif name in ("fromLedger", "toLedger"):
                known[name] = [str(at - 5), str(at)]
            elif name == "within":
                known[name] = ["86400", "4000000000"]
            else:
                known[name] = self.values("", name, at)
        given = [{}] + [{name: self.dice.choice(values)} for name, values in known.items() if values]
        if len(given) > 2:
            two = self.dice.sample(given[1:], 2)
            given.append({**two[0], **two[1]})
        if "owner" in known or "address" in known:
            name = "owner" if "owner" in known else "address"
            given += [{name: value} for value in known[name]]
        return given

    def same(self, path, target, present=None):
        """Asks both indexes, notes each difference, and returns the answer of the index that ends there."""
        (one, got), (two, want) = self.later.ask(target), self.then.ask(target)
        self.compared += 1
        if not self.equals(path, (one.status, got), (two.status, want)):
            self.faults.add(path, f"{target}: {one.status} {difference(got, want)}: {two.status} {difference(want, got)} where the index ends")
        elif got == want and one.headers.get("ETag") != two.headers.get("ETag"):
            self.faults.add(path, f"{target}: ETag {one.headers.get('ETag')}, {two.headers.get('ETag')} where the index ends")
        if present:
            now, body = self.then.ask(present)
            if (now.status, TIPS.sub(b"", body)) != (two.status, TIPS.sub(b"", want)):
                self.faults.add(path + " now", f"{present}: {now.status} {difference(body, want)}: as of {two.status} {difference(want, body)}")
        return two.status, want

    def equals(self, path, later, then):
        but = LATER.get(path, PROBLEM) if self.found_later else PROBLEM
        return (later[0], but.sub(b"", later[1])) == (then[0], but.sub(b"", then[1]))

    def gains(self, path, target, paged):
        """Expects all that the index that ends there has, and perhaps more."""
        got, want = self.later.whole(target, paged, HOSTILE_PAGES), self.then.whole(target, paged, HOSTILE_PAGES)
        if path in FIXED:  # they say as of which ledger they are true
            got[1].update({name: want[1].get(name) for name in ("ledger", "closedAt")})
        self.compared += 1
        found = differs(want[1], got[1], LEDGER | {"requestId", "next"}) if got[0] == want[0] == 200 else got[0] != want[0] and f"{got[0]}, {want[0]} where the index ends"
        if found:
            self.faults.add(path, f"{target}: {found}")

    def walk(self, path, chosen, given, at, paged):
        if self.found_later and path in GAIN:
            more = {**given, "limit": 200 if paged else None}
            self.gains(path, fill(path, chosen) + query(**more, ledger=at), paged)
            return
        limit = self.dice.choice((1, 3, 7, 200)) if paged else None
        cursor = None
        for page in range(PAGES):
            more = {**NEEDS.get(path, {}), **given, "limit": limit}
            target = fill(path, chosen) + query(**more, ledger=at, cursor=cursor)
            status, body = self.same(path, target, fill(path, chosen) + query(**more) if page == 0 and not SERIES.search(path) else None)
            found = re.search(rb'"next":"([^"]+)"', body) if paged and status == 200 else None
            cursor = found and urllib.parse.unquote(found.group(1).decode())
            if not cursor:
                break

    def everything(self, at):
        ends = self.rows(self.then.index.name, "SELECT max(ledger) AS v FROM chain.ledger")[0]["v"]
        assert ends == at, f"{self.then.index.name} ends at {ends}, not {at}"
        times = [str(row["v"]) for row in self.rows(self.database, f"""SELECT extract(epoch FROM closed_at)::bigint AS v FROM chain.ledger
            WHERE ledger IN ({at}, {at - 9}, {at - 30}) ORDER BY 1""")]
        self.found_later = self.rows(self.database, FOLLOWED_AFTER.format(at=at))[0]["v"]
        self.batch(at)
        for path, takes in self.routes.all.items():
            if path in FIXED:
                for value in self.values("", re.findall(r"{(\w+)}", path)[0], at):
                    self.unchanged(path, fill(path, {re.findall(r"{(\w+)}", path)[0]: value}))
                continue
            if "ledger" not in takes:
                continue
            for number, chosen in enumerate(self.paths(path, at)):
                given = self.filters(self.routes.schemas[path], at, times)
                for filters in given if number == 0 else [{}, self.dice.choice(given)]:
                    self.walk(path, chosen, filters, at, "cursor" in takes)

    def batch(self, at):
        """The route that takes addresses in its body."""
        body = json.dumps({"addresses": [str(row["v"]) for row in self.sample(SOURCES["address"], ["v"], at)]})
        (one, got), (two, want) = (asker.ask(f"/api/sdk/kyc/status?ledger={at}", "POST", body) for asker in (self.later, self.then))
        self.compared += 1
        if not self.equals("POST", (one.status, got), (two.status, want)):
            self.faults.add("POST", f"{body} at {at}: {one.status} {difference(got, want)}: {two.status} {difference(want, got)} where the index ends")

    def unchanged(self, path, target):
        """Expects that the later index has what the one that ends there has."""
        answer, want = self.then.ask(target)
        if answer.status == 200 and self.found_later and path in GAIN:
            self.gains(path, target, False)
        elif answer.status == 200:
            later, got = self.later.ask(target)
            self.compared += 1
            if (later.status, body_of(got)) != (200, body_of(want)):
                self.faults.add(path, f"{target}: {later.status} {difference(got, want)}: {difference(want, got)} where the index ends")


def body_of(body):
    """Returns it without the ledger of the answer itself."""
    return re.sub(rb'^{"ledger":"[0-9]+","closedAt":"[^"]*"', b"", body)


def difference(text, other):
    at = next((i for i, (a, b) in enumerate(zip(text, other)) if a != b), min(len(text), len(other)))
    return text[max(at - 90, 0):at + 90].decode(errors="replace")
