"""Helpers of the tests of SQL routes: calls to sql_driver without HTTP, the list of routes, and values for their
parameters. Imported, not run."""
import hashlib
import base64
import json
import os
import pathlib
import re
import subprocess
import sys
import urllib.parse

HERE = pathlib.Path(__file__).resolve().parent
API = HERE.parent.parent / "api"
DRIVER = os.environ["TIDE_BIN"] + "/sql_driver"
COMPACT = re.compile(r'(?:[^"\s]++|"(?:[^"\\]++|\\.)*+")*+')  # JSON without space between its tokens
PUBLIC_NEVER = ("jurisdiction",)  # names of members that no answer has

# A value of each parameter that finds something, as SQL; of one route's alone as "route.name". A
# choice needs none, nor what has a default.
SAMPLES = {
    "address": "SELECT trader FROM event.liquidity_pool_swap GROUP BY 1 ORDER BY count(*) DESC LIMIT 1",
    "pool": "SELECT pool_id FROM state.liquidity_pool_lp_pos GROUP BY 1 ORDER BY count(*) DESC LIMIT 1",
    "symbol": "SELECT synth_asset FROM state.synthetic_engine_vault GROUP BY 1 ORDER BY count(*) DESC LIMIT 1",
    "market": "SELECT synth_asset FROM state.synthetic_engine_vault GROUP BY 1 ORDER BY count(*) DESC LIMIT 1",
    "asset": "SELECT asset FROM state.oracle_feed ORDER BY 1 LIMIT 1",
    "partnerId": "SELECT partner_id FROM event.liquidity_pool_swap WHERE partner_id > 0 GROUP BY 1 ORDER BY count(*) DESC LIMIT 1",
    "sequence": "SELECT max(ledger) - 7 FROM chain.ledger",
    "owner": "SELECT owner FROM state.synthetic_engine_vault GROUP BY 1 ORDER BY count(*) DESC LIMIT 1",
    "epoch": "SELECT epoch FROM state.earnings_distributor_claimed GROUP BY 1 ORDER BY count(*) DESC LIMIT 1",
    "proposalId": "SELECT proposal_id FROM state.dao_governance_has_voted GROUP BY 1 ORDER BY count(*) DESC LIMIT 1",
    "walletId": "SELECT wallet_id FROM state.dao_governance_multi_sig_tx GROUP BY 1 ORDER BY count(*) DESC LIMIT 1",
    "txId": "SELECT max(tx_id) FROM state.dao_governance_multi_sig_tx",
    "provider": "SELECT address FROM state.oracle_provider ORDER BY 1 LIMIT 1",
    "status": "SELECT 'Executed'",
    "vault.market": "SELECT synth_asset FROM state.synthetic_engine_vault ORDER BY key_hash LIMIT 1",
    "vault.owner": "SELECT owner FROM state.synthetic_engine_vault ORDER BY key_hash LIMIT 1",
    "vault_history.market": "SELECT synth_asset FROM state.synthetic_engine_vault ORDER BY key_hash LIMIT 1",
    "vault_history.owner": "SELECT owner FROM state.synthetic_engine_vault ORDER BY key_hash LIMIT 1",
    "earnings_claims.address": "SELECT claimer FROM state.earnings_distributor_claimed GROUP BY 1 ORDER BY count(*) DESC LIMIT 1",
    "compliance_history.address": "SELECT address FROM history.compliance_registry_compliance_rec GROUP BY 1 ORDER BY count(*) DESC LIMIT 1",
    "compliance_providers.address": "SELECT address FROM state.compliance_registry_attestation GROUP BY 1 ORDER BY count(*) DESC LIMIT 1",
    "stability_deposit.address": "SELECT depositor FROM state.stability_pool_deposit ORDER BY key_hash LIMIT 1",
    "stability_events.address": "SELECT depositor FROM event.stability_pool_deposit GROUP BY 1 ORDER BY count(*) DESC LIMIT 1",
    "hash": "SELECT encode(hash, 'hex') FROM chain.tx ORDER BY ledger DESC, tx DESC LIMIT 1",
    "id": "SELECT chain.event_id(ledger, tx, op, event) FROM event.log ORDER BY ledger DESC LIMIT 1",
    "kind": "SELECT kind FROM event.log GROUP BY 1 ORDER BY count(*) OFFSET 9 LIMIT 1",
    "contract": "SELECT contract FROM event.log GROUP BY 1 ORDER BY count(*) OFFSET 2 LIMIT 1",
    "fromLedger": "SELECT min(ledger) + 3 FROM chain.ledger",
    "toLedger": "SELECT (min(ledger) + max(ledger)) / 2 FROM chain.ledger",
    "token": "SELECT contract FROM event.synth_token_transfer GROUP BY 1 ORDER BY count(*) DESC LIMIT 1",
    "order": "SELECT 'asc'",
    "from": "SELECT extract(epoch FROM min(closed_at))::bigint FROM chain.ledger",
    "to": "SELECT extract(epoch FROM max(closed_at))::bigint FROM chain.ledger",
}


def unique(pairs):
    """An object of an answer: no name twice, and none that no answer has."""
    made = dict(pairs)
    assert len(made) == len(pairs), f"a name twice: {[name for name, _ in pairs]}"
    assert not any(name in made for name in PUBLIC_NEVER), f"a name that is never shown: {list(made)}"
    return made


class Driver:
    """A sql_driver that answers one line after the other."""

    def __init__(self, *args, **env):
        self.log = open(os.environ["PG_DIR"] + "/driver.log", "a+")
        self.program = subprocess.Popen([DRIVER, *map(str, args)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=self.log, text=True, env={**os.environ, **env})

    def line(self, text):
        self.program.stdin.write(text + "\n")
        self.program.stdin.flush()
        answer = self.program.stdout.readline().rstrip("\n")
        if not answer:
            sys.exit(f"the driver died at: {text[:200]}")
        return answer

    def timed(self, target):
        """status, microseconds, answer"""
        status, ledger, took, body = self.line(f"GET {target}").split(" ", 3)
        answer = json.loads(body, object_pairs_hook=unique)
        assert COMPACT.fullmatch(body), f"{target}: space between the tokens of {body[:2000]}"
        if status == "200":
            assert answer["ledger"] == ledger, body[:200]
        else:
            assert answer["status"] == int(status) and answer["code"], body[:200]
        return int(status), int(took), answer

    def told(self, target):
        """As timed; a statement that the database cancelled is asked for again, as a client does that is told when."""
        for _ in range(5):
            answered = self.timed(target)
            if answered[2].get("code") != "query_too_long":
                break  # else the machine stood still
        return answered

    def ask(self, target, status=200):
        got, _, answer = self.told(target)
        if got != status:
            sys.exit(f"{target}: {got}, wanted {status}: {str(answer)[:400]}")
        return answer

    def pages(self, target, limit, most=None, between=lambda: None):
        """All items of a list, page after page, and the ledger of the first page. between() is called between two pages."""
        items, cursor, first, join = [], None, None, "&" if "?" in target else "?"
        while most is None or len(items) < most:
            page = self.ask(f"{target}{join}limit={limit}" + (f"&cursor={cursor}" if cursor else ""))
            first = first or int(page["ledger"])
            assert len(page["items"]) <= limit
            items += page["items"]
            cursor = page["next"]
            if cursor is None:
                break
            assert len(page["items"]) == limit and len(cursor) <= 316
            between()
        return items, first

    def close(self):
        self.program.stdin.close()
        assert self.program.wait(20) == 0


class Psql:
    """One psql for all statements of a test: a process for each takes 15 ms. Each text has a transaction and, in effect, a session of its own."""

    def __init__(self):
        self.log = open(os.environ["PG_DIR"] + "/psql.log", "a+")
        self.program = subprocess.Popen([os.environ["PG_BIN"] + "/psql", "-XAtqv", "ON_ERROR_STOP=1"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=self.log, text=True)

    def run(self, text):
        end = "-- end of " + hashlib.sha256(text.encode()).hexdigest()
        whole = f"BEGIN;\n{text}\n;\nCOMMIT;\n" if ";" in text else f"{text}\n;\n"
        self.program.stdin.write(f"DISCARD ALL;\n{whole}\\echo {end}\n")
        self.program.stdin.flush()
        lines = []
        for line in self.program.stdout:
            if line.rstrip("\n") == end:
                return "".join(lines).strip()
            lines.append(line)
        self.log.seek(0)
        sys.exit(f"{text}: {self.log.read()}")


PSQL = []


def sql(text):
    if not PSQL:
        PSQL.append(Psql())
    return PSQL[0].run(text)


class Route:
    def __init__(self, name, path, query):
        self.name, self.path = name, path
        self.query = [word.rstrip("!") for word in query.split()]
        self.required = [word[:-1] for word in query.split() if word.endswith("!")]
        self.parts = re.findall(r"\{(\w+)\}", path)
        self.is_list = "cursor" in self.query
        self.filters = [name for name in self.query if name not in ("limit", "cursor", "ledger")]

    def value(self, values, name):
        return values.get(f"{self.name}.{name}", values.get(name))

    def given(self, values):
        """What must be given: of the path, and of the query."""
        return {n: self.value(values, n) for n in self.parts + self.required}

    def target(self, values, **more):
        """The target with what must be given, and more of the query."""
        given = {**self.given(values), **more}
        path = re.sub(r"\{(\w+)\}", lambda m: urllib.parse.quote(str(given[m.group(1)]), safe=""), self.path)
        query = {n: v for n, v in given.items() if n not in self.parts}
        return path + ("?" + urllib.parse.urlencode(query) if query else "")


def routes():
    text = (API / "routes/route.def").read_text()
    found = re.findall(r'^TIDE_QUERY\((\w+),\s*"([^"]*)",\s*\d+,\s*(?:"[^"]*"|NULL),\s*"([^"]*)"\)', text, re.M)
    assert len(found) == len(re.findall(r"^TIDE_QUERY\(", text, re.M)), "a line of route.def that is not understood"
    return [Route(*line) for line in found]


def params():
    """name -> (type, default, words of a choice)"""
    text = (API / "http/param.def").read_text()
    return {n: (t, d, w) for n, t, d, w in re.findall(r'^TIDE_PARAM\((\w+),\s*(\w+),[^"]*"([^"]*)",\s*"([^"]*)",', text, re.M)}


def samples(of):
    """A value of each parameter that these routes take."""
    known, values = params(), {}
    for name, text in SAMPLES.items():
        values[name] = sql(text)
        assert values[name], f"nothing for {name}: {text}"
    for name in {n for route in of for n in route.parts + route.filters} - set(values):
        kind, default, words = known[name]
        values[name] = {"CHOICE": words.split("|")[0], "BOOL": "true"}.get(kind, default)
        assert values[name], f"say in SAMPLES of _sql.py what {name} may be"
    return values


def questions(of, values):
    """Each route without filters and with each of them alone: (route, what was added, target)."""
    for route in of:
        for name in [None] + [f for f in route.filters if f not in route.required]:
            more = {name: route.value(values, name)} if name else {}
            yield route, more, route.target(values, **more)


def forge(route, given, key):
    """A cursor with this key as the program itself would make it: api/sql/cursor.h."""
    row = sql("SELECT network_id, epoch, contracts_hash FROM chain.deployment").split("|")
    scope = hashlib.sha256("".join(f"{v}\n" for v in row).encode()).digest()
    part = lambda text: len(text.encode()).to_bytes(2, "big") + text.encode()
    sha = hashlib.sha256(scope + part(route.name))
    for name in route.parts + [q for q in route.query if q not in ("limit", "cursor")]:
        sha.update(part(name) + part(str(given.get(name, params()[name][1]))))
    tag = hashlib.sha256(sha.digest() + key.encode()).digest()[:7]
    return base64.urlsafe_b64encode(tag + key.encode()).decode().rstrip("=")
