"""usage: _contract.py URL all|away|limited   answers against openapi.json; the stack is contract.sh's."""
import collections
import http.client
import json
import os
import re
import sys
import urllib.parse

from _promise import TIMEOUT, Contract, of_kyc
from _values import STRANGER, fill, instance_key, sql, values

LONG = bool(os.environ.get("TIDE_LONG"))  # tools/test all


def of_dashboard(operation):
    """Whether the route is a page, or a file of one: tests/browser asks for them."""
    return operation["operationId"].startswith(("page_", "app_"))


def good(schema, name, known):
    """Values of a parameter that must be taken."""
    if name in known and known[name]:
        return known[name][:2]
    if "enum" in schema:
        return schema["enum"]
    if schema["type"] == "integer":
        return [max(schema["minimum"], 1), schema["maximum"]]
    if schema["type"] == "boolean":
        return ["true", "false"]
    if schema.get("pattern", "").startswith("^(0|[1-9][0-9]{0,37})"):
        return ["1", "10000000", "123456789012345678"]
    if schema.get("pattern", "").startswith("^([0-3]?[0-9]{1,9}|"):
        return ["0", "4294967295", "2026-01-01", "2026-01-01T00:00:00Z", "2026-01-01t02:30:00.250+02:30"]
    return [STRANGER] if schema.get("pattern", "").startswith("^[GC]") else ["x"]


def bad(schema):
    """Values that must be refused."""
    if "enum" in schema:
        return ["nonsense", "", schema["enum"][0].swapcase() + "0"]
    if schema["type"] == "integer":
        return [str(schema["minimum"] - 1), str(schema["maximum"] + 1), "1.5", "0x10", "", "01", "9" * 40]
    if schema["type"] == "boolean":
        return ["yes", "1", "TRUE", ""]
    pattern = schema.get("pattern", "")
    if pattern.startswith("^[GC]"):
        return ["G", STRANGER[:-1] + "G", STRANGER.lower(), "S" + STRANGER[1:], ""]
    if pattern.startswith("^(0|[1-9][0-9]{0,37})"):
        return ["-1", "01", "170141183460469231731687303715884105728", "1e5", ""]
    if pattern.startswith("^([0-3]?[0-9]{1,9}|"):
        return ["-1", "4294967296", "2026-02-29T00:00:00Z", "2026-02-29", "2026-01-1", "1969-12-31T23:59:59Z", "2107-01-01T00:00:00Z", "x", ""]
    if pattern == "^[a-z0-9_]{1,64}$":
        return ["nonsense", "LIQUIDITY_POOL_SWAP", "x" * 65, ""]
    if pattern.startswith("^[A-Za-z0-9_]"):
        return ["a" * 33, "a-b", "%20", "é", ""]
    if pattern.startswith("^[0-9a-fA-F]"):
        return ["0" * 63, "g" * 64, ""]
    return ["x" * (schema.get("maxLength", 4000) + 1), ""]


def choices(operation, params, known):
    names = [p["name"] for p in params if p["in"] == "path"]
    if not names:
        return [{}]
    group = operation["operationId"].removesuffix("_history")
    sets = [known.get(f"{group}.{name}") or known[name] for name in names]
    return [dict(zip(names, combined)) for combined in zip(*sets)]


NEEDS = {"pool_quote": {"amountIn": "10000000"}, "stream": {}}
EITHER = (200, 404, 409)  # a state of long ago may be none


class Route:
    def __init__(self, contract, path, method, operation, known):
        self.c, self.path, self.method, self.operation = contract, path, method, operation
        self.params = [contract.resolve(p) for p in operation.get("parameters", [])]
        self.query = {p["name"]: p for p in self.params if p["in"] == "query"}
        self.known, self.body = known, None
        self.headers = {}
        if "requestBody" in operation:
            self.body = json.dumps({"addresses": known["address"] + ["nonsense"]})
            self.headers = {"Content-Type": "application/json"}
        self.all = choices(operation, self.params, known)

    def target(self, chosen, **query):
        given = {**NEEDS.get(self.operation["operationId"], {}), **query}
        text = urllib.parse.urlencode({k: v for k, v in given.items() if v is not None})
        return fill(self.path, chosen) + ("?" + text if text else "")

    def ask(self, chosen, want, method=None, body=None, headers=None, **query):
        return self.c.ask(self.operation, method or self.method, self.target(chosen, **query), body or self.body,
                          {**self.headers, **(headers or {})}, want)

    def successes(self):
        for chosen in self.all:
            response, answer = self.ask(chosen, EITHER)
            if response.status == 200 and isinstance(answer, dict):
                self.c.items[self.operation["operationId"]] += len(answer["items"]) if "items" in answer else 1
            if {"limit", "cursor"} <= set(self.query) and response.status == 200 and (LONG or chosen is self.all[0]):
                self.pages(chosen)
        for name in self.query:
            if name not in ("cursor", "ledger", "maxAgeMs"):
                for value in good(self.query[name]["schema"], name, self.known):
                    self.ask(self.all[0], EITHER, **{name: value})
        if "maxAgeMs" in self.query:
            self.ask(self.all[0], (200, 503), maxAgeMs=100)
        if "ledger" in self.query:
            self.past()
        if self.method == "GET":
            self.ask(self.all[0], EITHER, method="HEAD")
        response, _ = self.ask(self.all[0], EITHER)
        if "304" in self.operation["responses"] and response.headers.get("ETag"):
            self.unchanged(response.headers["ETag"])

    def unchanged(self, tag):
        for _ in range(5):  # readings of time are in some answers
            response, _ = self.ask(self.all[0], (200, 304), headers={"If-None-Match": tag})
            if response.status == 304:
                return
            tag = response.headers["ETag"]
        self.c.fault(self.path, "is never unchanged")

    def past(self):
        first, last = map(int, sql("SELECT min(ledger) FROM chain.ledger") + sql("SELECT max(ledger) FROM chain.ledger"))
        for ledger in (first, first + 40, (first + last) // 2, last) if LONG else ((first + last) // 2, last):
            for chosen in self.all if LONG else self.all[:1]:
                response, answer = self.ask(chosen, EITHER, ledger=ledger)
                if response.status == 200 and isinstance(answer, dict) and answer["ledger"] != str(ledger):
                    self.c.fault(self.target(chosen, ledger=ledger), f'answers of {answer["ledger"]}')
        for ledger in (1, last + 1000, 4294967295):
            self.ask(self.all[0], (400, 404, 409, 503), ledger=ledger)

    def pages(self, chosen):
        for limit in (1, 200) if LONG else (1, 20):  # the largest one is asked, too: good()
            cursor = None
            for _ in range(4 if LONG else 2):
                _, answer = self.ask(chosen, 200, limit=limit, cursor=cursor)
                if not answer or "items" not in answer or len(answer["items"]) > limit:
                    return self.c.fault(self.target(chosen, limit=limit), "more than were asked for, or none")
                cursor = answer["next"]
                if cursor is None:
                    break
            if cursor:
                self.refuses("cursor", limit=limit, cursor=cursor[:-1] + ("A" if cursor[-1] != "A" else "B"))

    def refuses(self, name, **query):
        _, answer = self.ask(self.all[0], 400, **query)
        if answer and name not in {e.get("parameter") for e in answer.get("errors", [])}:
            self.c.fault(self.target(self.all[0], **query), f'{name} is not named: {answer.get("errors")}')

    def refusals(self):
        for name, p in self.query.items():
            for value in bad(p["schema"]):
                self.refuses(name, **{name: value})
            if p["required"]:
                self.refuses(name, **{name: None})
            self.c.ask(self.operation, self.method, self.target(self.all[0]) + ("&" if "?" in self.target(self.all[0]) else "?")
                       + f"{name}=1&{name}=1", self.body, self.headers, 400)
        self.refuses("nonsense", nonsense=1)
        for p in (p for p in self.params if p["in"] == "path"):
            for value in filter(None, bad(p["schema"])):
                self.c.ask(self.operation, self.method, self.target({**self.all[0], p["name"]: value}), self.body, self.headers, (400, 414))
        for method in ("DELETE", "PUT", "PATCH"):
            response, _ = self.c.ask(self.operation, method, self.target(self.all[0]), None, None, 405)
            if self.method not in response.headers.get("Allow", ""):
                self.c.fault(f"{method} {self.path}", f'Allow: {response.headers.get("Allow")}')
        if self.body:
            self.bodies()

    def bodies(self):
        target, limit = self.target(self.all[0]), self.operation["requestBody"]["x-max-bytes"]
        for body in (b"", b"{", b"[]", b"null", b'"x"', b'{"addresses":5}', b'{"addresses":[5]}', b'{"addresses":[],"more":1}', b'{"addresses":[],"addresses":[]}',
                     b'{"addresses":["\xff"]}', b'{"addresses":["\\u0000"', json.dumps({"addresses": ["G"] * 1001}).encode(), b"[" * 5000):
            self.c.ask(self.operation, "POST", target, body, self.headers, 400)
        self.c.ask(self.operation, "POST", target, b"{}", {"Content-Type": "text/plain"}, 415)
        self.c.ask(self.operation, "POST", target, b" " * (limit + 1), self.headers, 413)
        self.c.connection.close()

    def unknown(self):
        """Well-formed names of what is not there."""
        if "404" not in self.operation["responses"] or not self.all[0]:
            return
        stranger = {"pool": "nopool", "symbol": "NOSYMBOL", "asset": "NOASSET", "partnerId": "999999", "epoch": 2**64 - 1, "proposalId": 2**64 - 1,
                    "walletId": 2**32 - 1, "txId": 2**64 - 1, "sequence": 2**32 - 1, "address": STRANGER, "token": STRANGER, "owner": STRANGER,
                    "market": "NOMARKET", "id": "0" * 19 + "-" + "0" * 10, "hash": "0" * 64, "key": instance_key(STRANGER)}
        self.ask({name: stranger[name] for name in self.all[0]}, 404 if "cursor" not in self.query and "address" not in self.all[0] else (200, 404))


def tell(c, what):
    print(f"{what}:", dict(sorted(collections.Counter(status for _, status in c.seen.elements()).items())))


def not_configured(c, path, method, operation):
    """A server without a KYC file knows its routes, and says that it has none of it; with one: kyc_*.sh."""
    sample = {"address": STRANGER, "sessionId": "0" * 32, "token": "0" * 32 + "." + "A" * 43, "webhookId": "0" * 32, "deliveryId": "1"}
    names = re.findall(r"{(\w+)}", path)
    target = fill(path, {name: sample.get(name, "sandbox") for name in names})
    required = [p["name"] for p in map(c.resolve, operation.get("parameters", [])) if p["in"] == "query" and p["required"]]
    target += "?" * bool(required) + "&".join(f"{name}=1" for name in required)
    body, headers = (b"{}", {"Content-Type": "application/json"}) if "requestBody" in operation else (None, {})
    _, answer = c.ask(operation, method, target, body, headers, want=404)
    if not answer or answer["code"] != "kyc_not_configured":
        c.fault(target, f"is there without a KYC file: {answer}")
    for origin in ("https://a.example", "null"):
        response, _ = c.ask(operation, method, target, body, {**headers, "Origin": origin}, want=404)
        if response.headers.get("Access-Control-Allow-Origin"):
            c.fault(target, "may be read by any page")


def everything(c):
    known = values()
    response, body = c.send("GET", "/openapi.json")
    if body.decode() != c.text:
        c.fault("/openapi.json", "is not the document that the build made")
    for path, method, operation in c.operations():
        if operation["operationId"] in ("stream", "sdk_snapshot", "sdk_snapshot_changes") or of_dashboard(operation):
            continue  # the stream follows; integration.snapshot asks for snapshots, which are true at changing ledgers
        if of_kyc(operation):
            not_configured(c, path, method, operation)
            continue
        route = Route(c, path, method, operation, known)
        route.successes()
        route.refusals()
        route.unknown()
    stream(c)
    for target, want in (("/api", 404), ("/index", 404), ("/api/markets/", 404), ("//api/markets", 404),
                         ("/api/../api/markets", 404), ("/api/markets?%00", 400),
                         ("/api/markets?x=%ff", 400), ("/" + "a" * 3000, 414), ("/api/prices/%zz", 400)):
        c.ask(None, "GET", target, want=want)
    for operation_id in (o["operationId"] for _, _, o in c.operations() if not of_dashboard(o) and "snapshot" not in o["operationId"]):
        if not c.seen[operation_id, "200"] and not c.seen[operation_id, "404"]:
            c.fault(operation_id, "never a success: this proves little")
    # The chain is older than its prices and attestations may be: routes_people asks for these at a past ledger.
    # Proofs need archives: integration.proofs has them.
    aged = ("compliance_expiring", "market_risk", "proof", "proof_entry", "proof_compliance")
    empty = sorted(o["operationId"] for _, _, o in c.operations() if "snapshot" not in o["operationId"] and not c.items[o["operationId"]] and o["operationId"] not in aged
                   and o["x-from"] not in ("the process itself", "the stream service") and not of_kyc(o))
    if empty:
        c.fault(f"lists without an item: {empty}", "this proves little")
    print(f"{sum(c.seen.values())} answers of {len(list(c.operations()))} routes")
    tell(c, "by status")


def stream(c):
    operation = c.doc["paths"].get("/api/stream", {}).get("get")
    if not operation:
        return
    for query in ("topics=nonsense", "topics=", "addresses=x&topics=compliance", "topics=compliance", "kinds=nonsense", "after=nonsense", "nonsense=1",
                  "kinds=liquidity_pool_swap", "topics=price,ledger&pool=XLMUSDC", f"address={STRANGER}", f"topics=price&contract={STRANGER}",
                  "topics=event&assets=XLM", f"topics=event&addresses={STRANGER}"):
        c.ask(operation, "GET", "/api/stream?" + query, want=400)
    for target in ("/api/stream?topics=event&kinds=nonsense", "/api/events?kind=nonsense"):
        known = c.send("GET", target)[1].decode()
        if not all(kind in known for kind in sql("SELECT DISTINCT kind FROM event.log")):
            c.fault(target, f"does not name the kinds that there are: {known[:200]}")
    c.ask(operation, "GET", "/api/stream", headers={"Last-Event-ID": "nonsense"}, want=400)
    connection = http.client.HTTPConnection(c.host, timeout=TIMEOUT)
    connection.request("GET", "/api/stream?topics=ledger,event,price")
    response = connection.getresponse()
    c.check_headers("/api/stream", response, operation["responses"]["200"].get("headers", {}))
    first = b"".join(response.fp.readline() for _ in range(4))
    if response.status != 200 or b"event: open" not in first or response.headers["Content-Type"].split(";")[0] != "text/event-stream":
        c.fault("/api/stream", f"{response.status} {first}")
    c.seen["stream", "200"] += 1
    connection.close()


def away(c):
    """The database is gone: what asks it says so, the rest goes on."""
    for path, method, operation in c.operations():
        if "{" in path or method != "GET" or operation["operationId"] in (*NEEDS, "sdk_snapshot_changes") or of_kyc(operation):
            continue
        source = operation["x-from"]
        want = 503 if source == "PostgreSQL" else (200, 503)
        response, answer = c.ask(operation, method, path, want=want)
        if source == "PostgreSQL" and not response.headers.get("Retry-After"):
            c.fault(path, f"does not say when to ask again: {answer}")
    tell(c, "database away")


def limited(c):
    """Over the limit each class says so, with when to ask again."""
    for path in ("/api/markets", "/api/ledgers"):
        operation = c.doc["paths"][path]["get"]
        for _ in range(200):
            response, _ = c.ask(operation, "GET", path, want=(200, 429))
            if response.status == 429:
                break
        if response.status != 429 or not response.headers.get("Retry-After") or "RateLimit" not in response.headers:
            c.fault(path, f"is never limited: {response.status} {dict(response.headers)}")
    tell(c, "limited")


def main():
    c = Contract(sys.argv[1])
    {"all": everything, "away": away, "limited": limited}[sys.argv[2]](c)
    for fault in c.faults:
        print(fault)
    sys.exit(bool(c.faults))


main()
