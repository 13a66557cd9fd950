"""Asks two APIs about two chains that differ only by attackers (chain) and compares the answers."""
import http.client
import json
import re
import urllib.parse


class Failure(Exception):
    pass


def pairs(items):
    out = dict(items)
    if len(out) != len(items):
        raise ValueError(f"a name occurs twice: {[k for k, _ in items][:20]}")
    return out


def refuse(constant):
    raise ValueError(f"{constant} is no JSON")


def strict(raw):
    """JSON as its standard has it: UTF-8, no constants of other languages, no name twice."""
    text = raw.decode("utf-8")
    return json.loads(text, object_pairs_hook=pairs, parse_constant=refuse)


# Members that depend on ledgers' hashes, on the numbers of transactions and events, or on the clock.
IGNORED = {"requestId", "next", "agreesWithDao", "multisigWalletNamedByDao", "evaluatedAt", "pollAfterMs", "dataAgeMs"}
# Answers that add up everybody, or that the contract itself would refuse once foreign code wrote an epoch.
WHOLE = {"/api/earnings/claimable/{address}", "/api/stats", "/api/stats/daily", "/api/coverage", "/api/undecoded/entries", "/api/undecoded/events", "/api/dao"}
LEDGER = {"hash", "previousHash", "transactions", "protocolTransactions", "events", "changes", "rawEvents", "rawStates", "rawCalls", "callsVerified",
          "callsRewritten", "callsUnverified", "calls", "proof"}
# Members that count everybody, or are the answer of a route in WHOLE.
COUNTS = {"/api/addresses/{address}/portfolio": {"claimable"}, "/api/ledgers": LEDGER, "/api/ledgers/{sequence}": LEDGER, "/api/sdk/contracts": {"complete", "agrees", "namedByDao"}}
VALUES = {
    "address": "SELECT DISTINCT address AS v FROM state.compliance_registry_compliance_rec ORDER BY 1 LIMIT 12",
    "symbol": "SELECT DISTINCT symbol AS v FROM state.synthetic_engine_asset_config ORDER BY 1",
    "market": "SELECT DISTINCT symbol AS v FROM state.synthetic_engine_asset_config ORDER BY 1",
    "asset": "SELECT asset AS v FROM state.oracle_feed ORDER BY 1",
    "pool": "SELECT pool_id AS v FROM state.liquidity_pool_pool ORDER BY 1",
    "partnerId": "SELECT key_id AS v FROM state.partner_registry_partner ORDER BY 1",
    "epoch": "SELECT key_id AS v FROM state.earnings_distributor_epoch ORDER BY 1",
    "proposalId": "SELECT key_id AS v FROM state.dao_governance_proposal ORDER BY 1",
    "walletId": "SELECT wallet_id AS v FROM state.dao_governance_multi_sig_wallet ORDER BY 1",
    "txId": "SELECT tx_id AS v FROM state.dao_governance_multi_sig_tx ORDER BY 1",
    "sequence": "SELECT ledger AS v FROM chain.ledger ORDER BY ledger % 97, ledger LIMIT 5",
    "id": "SELECT chain.event_id(ledger, tx, op, event) AS v FROM event.log ORDER BY ledger % 101, ledger, tx, op, event LIMIT 40",
    "hash": "SELECT encode(hash, 'hex') AS v FROM chain.tx ORDER BY hash LIMIT 40",
    "token": "SELECT DISTINCT token AS v FROM state.synthetic_engine_asset_config ORDER BY 1",
    "owner": "SELECT DISTINCT owner AS v FROM state.synthetic_engine_vault ORDER BY 1 LIMIT 8",
}
# Together: the values of one row.
TOGETHER = {
    "/api/vaults/{market}/{owner}": "SELECT synth_asset AS market, owner FROM state.synthetic_engine_vault ORDER BY key_hash LIMIT 12",
    "/api/vaults/{market}/{owner}/history": "SELECT synth_asset AS market, owner FROM state.synthetic_engine_vault ORDER BY key_hash LIMIT 12",
    "/api/tokens/{token}/balances/{owner}": "SELECT contract AS token, address AS owner FROM state.synth_token_balance ORDER BY key_hash LIMIT 12",
}
NEEDS = {"/api/pools/{pool}/quote": {"amountIn": "10000000"}}
PAGES, HOSTILE_PAGES = 30, 300  # attackers add to lists


class Asker:
    def __init__(self, index):
        self.index, self.asked = index, 0
        self.connection = http.client.HTTPConnection("127.0.0.1", index.port, timeout=120)

    def ask(self, target, method="GET", body=None):
        self.asked += 1
        headers = {"Content-Type": "application/json"} if body else {}
        for last in (False, True):
            try:
                self.connection.request(method, target, body, headers)
                answer = self.connection.getresponse()
                return answer, answer.read()
            except (http.client.HTTPException, OSError):
                self.connection.close()
                if last:
                    raise
        return None

    def json(self, target, method="GET", body=None):
        answer, raw = self.ask(target, method, body)
        try:
            return answer.status, strict(raw)
        except (ValueError, UnicodeDecodeError) as e:
            raise Failure(f"{self.index.name} {target}: {answer.status}, not JSON: {e}: {raw[:200]!r}") from e

    def whole(self, target, paged, most):
        """All pages of a list as one answer, at most so many."""
        status, found = self.json(target)
        pages, cursor = 1, found.get("next") if isinstance(found, dict) else None
        while status == 200 and paged and cursor and pages < most:
            status, more = self.json(target + ("&" if "?" in target else "?") + "cursor=" + urllib.parse.quote(cursor, safe=""))
            if status != 200:
                return status, more
            found["items"] += more["items"]
            cursor, pages = more.get("next"), pages + 1
        return status, found


class Routes:
    """Routes of the API that have answers about the chain, with what they take."""

    def __init__(self, asker):
        self.doc = asker.json("/openapi.json")[1]
        self.all, self.schemas = {}, {}  # by path: names of what the query takes, and their schemas
        for path, item in self.doc["paths"].items():
            if "get" not in item or not path.startswith("/api/") or "/kyc/" in path and "status" not in path or path == "/api/stream":
                continue
            # A partner's own endpoints, not the chain's; proofs of entries need archives.
            if path.startswith(("/api/sdk/webhooks", "/api/proof/entry/", "/api/proof/compliance/")):
                continue
            params = [self.resolve(p) for p in item["get"].get("parameters", [])]
            self.schemas[path] = {p["name"]: self.resolve(p["schema"]) for p in params if p["in"] == "query"}
            self.all[path] = set(self.schemas[path])

    def resolve(self, thing):
        if "$ref" not in thing:
            return thing
        at = self.doc
        for part in thing["$ref"].removeprefix("#/").split("/"):
            at = at[part]
        return at


def fill(path, chosen):
    return re.sub(r"{(\w+)}", lambda m: urllib.parse.quote(str(chosen[m.group(1)]), safe=""), path)


def choices(path, known, together):
    names = re.findall(r"{(\w+)}", path)
    if not names:
        return [{}]
    if path in together:
        return together[path]
    return [{names[0]: value} for value in known[names[0]]]


def known_values(rows, index, values):
    return {name: [str(row["v"]) for row in rows(index.name, text)] for name, text in values.items()}


def known_together(rows, index):
    return {path: rows(index.name, text) for path, text in TOGETHER.items()}


def query(**given):
    text = urllib.parse.urlencode({k: v for k, v in given.items() if v is not None})
    return "?" + text if text else ""


# --- alike -------------------------------------------------------------------------------------------

def adds_up_collateral(name, base, at):
    """Attackers have a token of unknown decimals listed as collateral: what adds up all collateral has no decimals then."""
    return name.endswith("Scaled") and ("ollateral" in name or name == "amountScaled" and (base.get("type") == "claim" or at.endswith("/fields")))


def differs(base, hostile, ignored, at=""):
    """Where the attacked chain's answer lacks or alters something of the other's; None: nowhere."""
    if isinstance(base, dict):
        if not isinstance(hostile, dict):
            return f"{at}: {str(hostile)[:80]}"
        for name, value in base.items():
            if name in ignored:
                continue
            if name not in hostile:
                return f"{at}/{name}: missing"
            if hostile[name] is None and adds_up_collateral(name, base, at):
                continue
            found = differs(value, hostile[name], ignored, f"{at}/{name}")
            if found:
                return found
        return None
    if isinstance(base, list):
        if not isinstance(hostile, list):
            return f"{at}: {str(hostile)[:80]}"
        place, first = 0, None
        for number, item in enumerate(base):
            start = place
            while place < len(hostile):
                found = differs(item, hostile[place], ignored, f"{at}/{number}")
                first = first or found
                place += 1
                if found is None:
                    break
            else:
                return f"{at}/{number} is not there: {str(item)[:300]} (of {len(hostile)} from {start}; {nearest(item, hostile, ignored) or first})"
        return None
    return None if base == hostile else f"{at}: {str(hostile)[:120]}, not {str(base)[:120]}"


def nearest(item, others, ignored):
    """How an item of the same name differs."""
    if isinstance(item, dict) and item:
        name = next(iter(item))
        for other in others:
            if isinstance(other, dict) and other.get(name) == item[name]:
                return differs(item, other, ignored)
    return None


class Faults(dict):
    """What went wrong, by route: the first of each and how many."""

    def add(self, path, text):
        first, count = self.get(path, (text, 0))
        self[path] = first, count + 1

    def lines(self):
        return [f"{text}{f' (and {count - 1} more of {path})' if count > 1 else ''}" for path, (text, count) in self.items()]


class Same:
    def __init__(self, base, hostile):
        self.base, self.hostile = Asker(base), Asker(hostile)
        self.faults, self.compared = Faults(), 0

    @property
    def asked(self):
        return self.base.asked + self.hostile.asked

    def check(self, path, target, paged):
        want, got = self.base.whole(target, paged, PAGES), self.hostile.whole(target, paged, HOSTILE_PAGES)
        self.compared += 1
        if want[0] != got[0]:
            self.faults.add(path, f"{target}: {got[0]} {str(got[1])[:200]}, without attackers {want[0]}")
        elif want[0] == 200:
            found = differs(want[1], got[1], IGNORED | COUNTS.get(path, set()))
            if found:
                self.faults.add(path, f"{target}: {found}")


def compare(base, hostile, rows, as_of=None):
    """Every answer about what people have is the same on both; lists may hold more."""
    same = Same(base, hostile)
    routes = Routes(same.base)
    known, together = known_values(rows, base, VALUES), known_together(rows, base)
    for path, takes in routes.all.items():
        if path in WHOLE or (as_of and "ledger" not in takes):
            continue
        paged = "cursor" in takes
        for chosen in choices(path, known, together)[:12]:
            more = {**NEEDS.get(path, {}), "ledger": as_of, "limit": 200 if "limit" in takes else None}
            same.check(path, fill(path, chosen) + query(**more), paged)
    return same


# --- healthy ------------------------------------------------------------------------------------------

class Crawl(Asker):
    """Every route, about whatever is stored: no answer is a failure of ours, and what is stored is never the client's mistake."""

    def __init__(self, index, rows, dice):
        super().__init__(index)
        self.rows, self.dice, self.faults, self.path = rows, dice, Faults(), None

    def sample(self, values, most):
        """The first, the last and some between."""
        return values if len(values) <= most else values[:2] + values[-2:] + self.dice.sample(values, most - 4)

    def judge(self, target, may_be_absent=False):
        try:
            status, found = self.json(target)
        except Failure as e:
            self.faults.add(self.path, str(e))
            return None
        code = found.get("code") if isinstance(found, dict) else None
        documented = status == 409 or (status == 503 and code in ("incomplete",)) or (status == 404 and may_be_absent)
        if status == 500:
            found["log"] = self.logged(found.get("requestId", "?"))
        if status != 200 and not documented:
            self.faults.add(self.path, f"{target}: {status} {str(found)[:900]}")
        return found if status == 200 else None

    def logged(self, request):
        """What the API's log says of a request."""
        lines = (self.index.folder / "api.log").read_text(errors="replace").splitlines()
        return [line[-300:] for line in lines if request in line][:3]

    def pages(self, target, limit):
        cursor, seen, more = None, 0, "&" if "?" in target else "?"
        while seen < 60:
            asked = {"limit": limit, "cursor": cursor}
            found = self.judge(target + query(**asked).replace("?", more, 1), may_be_absent=True)
            cursor, seen = (found or {}).get("next"), seen + 1
            if not cursor:
                return

    def everything(self):
        routes = Routes(self)
        values = {name: text.split(" LIMIT ")[0] if name not in ("id", "hash", "sequence") else text for name, text in VALUES.items()}
        known, together = known_values(self.rows, self.index, values), known_together(self.rows, self.index)
        first, last = (self.rows(self.index.name, f"SELECT {f}(ledger) AS v FROM chain.ledger")[0]["v"] for f in ("min", "max"))
        for path, takes in routes.all.items():
            if path.startswith("/api/sdk/snapshot"):
                continue  # bytes, and no key here: integration.snapshot
            self.path, detail = path, "{" in path
            for chosen in self.sample(choices(path, known, together), 24):
                target = fill(path, chosen) + query(**NEEDS.get(path, {}))
                if "cursor" in takes:
                    self.pages(target, 200 if "limit" in takes else None)
                    continue
                self.judge(target, may_be_absent=detail)
            if {"cursor", "limit"} <= set(takes) and not detail:
                self.pages(path, 7)
            if "ledger" in takes:
                for chosen in self.sample(choices(path, known, together), 6):
                    more = {**NEEDS.get(path, {}), "ledger": self.dice.randrange(first, last + 1)}
                    self.judge(fill(path, chosen) + query(**more), may_be_absent=True)
        self.path = "/api/sdk/kyc/status"
        self.judge("/api/sdk/kyc/status/" + (known["address"] or ["x"])[0])
        status, found = self.json("/api/sdk/kyc/status", "POST", json.dumps({"addresses": self.sample(known["address"], 200)}))
        if status != 200 and found.get("code") != "incomplete":
            self.faults.add("POST", f"POST /api/sdk/kyc/status: {status} {str(found)[:200]}")
