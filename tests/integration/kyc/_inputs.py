"""usage: _inputs.py URL KEY   bodies and cursors of clients, see inputs.sh. TIDE_INPUTS_SEED, TIDE_INPUTS_SECONDS: other cursors, for longer."""
import base64
import collections
import hashlib
import http.client
import json
import os
import random
import sys
import time
import urllib.parse

from _bodies import fault, variants
from _values import STRANGER, fill, sql, values

HOST, KEY = sys.argv[1].removeprefix("http://"), sys.argv[2]
DOC = json.load(open(os.environ["TIDE_BUILD"] + "/api/openapi.json"))
SEED = int(os.environ.get("TIDE_INPUTS_SEED", "1"))
SECONDS = float(os.environ.get("TIDE_INPUTS_SECONDS", "0"))
CONNECTION = http.client.HTTPConnection(HOST, timeout=60)
faults = []


def ask(method, path, body=None):
    headers = {"X-API-Key": KEY} if "/webhooks" in path else {}
    if body is not None:
        headers["Content-Type"] = "application/json"
        body = (body if isinstance(body, str) else json.dumps(body)).encode()
    CONNECTION.request(method, path, body, headers)
    answer = CONNECTION.getresponse()
    text = answer.read().decode()
    return answer.status, json.loads(text) if text.startswith("{") else text


def operations():
    for path, item in DOC["paths"].items():
        for method, operation in item.items():
            yield method.upper(), path, operation


# --- bodies ---------------------------------------------------------------------------------------------------------

HOOK = {"url": "https://app.example/hook", "events": ["compliance.updated"]}
BODIES = {
    "kyc_status_batch": {"addresses": [STRANGER]},
    "kyc_session": {"address": "GAAQEAYEAUDAOCAJBIFQYDIOB4IBCEQTCQKRMFYYDENBWHA5DYPSABOV", "providerKey": "sandbox", "mode": "iframe"},
    "webhook_create": HOOK,
    "webhook_change": HOOK | {"enabled": True},
    "webhook_secret": {"overlapSeconds": 60, "secretRevision": 1},
    "webhook_watch": {"add": [STRANGER], "remove": []},
}
FOREIGN = {"kyc_webhook": "a provider's: it adds members when it likes", "kyc_sandbox_decide": "a form, not JSON"}


def check_bodies(hook):
    count = 0
    for method, path, operation in operations():
        name = operation["operationId"]
        if "requestBody" not in operation or name in FOREIGN:
            continue
        if name not in BODIES:
            faults.append(f"{name} takes a body, and this test has none for it")
            continue
        target = fill(path, {"webhookId": hook}) if "{" in path else path
        for what, text, where in variants(BODIES[name]):
            count += 1
            wrong = fault(*ask(method, target, text), where)
            faults.extend([f"{name} {what}: {wrong}"] if wrong else [])
        status, answer = ask(method, target, BODIES[name])
        if status not in (200, 201):
            faults.append(f"{name}: its own body is refused: {status} {answer}")
    print(f"{count} bodies of {len(BODIES)} routes are refused")


# --- cursors --------------------------------------------------------------------------------------------------------


class List:
    """A list route, and how a cursor of one of its questions is made (api/sql/cursor.h)."""

    def __init__(self, path, operation, chosen):
        self.name, self.chosen = operation["operationId"], chosen
        self.target = fill(path, chosen) if chosen else path
        self.params = [DOC["components"]["parameters"][p["$ref"].rsplit("/", 1)[1]] if "$ref" in p else p for p in operation.get("parameters", ())]
        self.scopes, self.keys = [], []

    def scope(self, identity):
        parts = [self.name.encode()]
        for p in self.params:
            if p["in"] in ("path", "query") and p["name"] not in ("cursor", "limit"):
                text = self.chosen[p["name"]] if p["in"] == "path" else str(p["schema"].get("default", ""))
                parts += [p["name"].encode(), str(text).encode()]
        return hashlib.sha256(identity + b"".join(len(part).to_bytes(2, "big") + part for part in parts)).digest()

    def learn(self, identities):
        """Real keys of the list, and the scope that their cursors have; False: it has one page, so any scope may be the right one."""
        cursor = None
        self.scopes = [self.scope(identity) for identity in identities]
        for _ in range(3):
            status, answer = ask("GET", self.at(cursor))
            if status != 200 or not answer.get("next"):
                break
            cursor = answer["next"]
            raw = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
            self.keys.append(raw[7:])
            self.scopes = [s for s in self.scopes if hashlib.sha256(s + raw[7:]).digest()[:7] == raw[:7]]
            if not self.scopes:
                faults.append(f"{self.name}: its cursors are made in another way than this test knows")
        return bool(self.keys)

    def at(self, cursor):
        query = {"limit": 1} if any(p["name"] == "limit" for p in self.params) else {}
        return self.target + "?" + urllib.parse.urlencode(query | ({"cursor": cursor} if cursor else {}))

    def forge(self, key):
        for scope in self.scopes:
            raw = hashlib.sha256(scope + key).digest()[:7] + key
            yield self.at(base64.urlsafe_b64encode(raw).decode().rstrip("="))


KEYS = [b"0", b"-1", b"1", b"x", b" ", b"\xff", b"\xc3(", b"\xed\xa0\x80", b"a\x00b", b"\xe2\x80\xae", b"9" * 125, b"-" * 60, b"9223372036854775807", b"9223372036854775808",
        b"-9223372036854775809", b"18446744073709551616", b"1e400", b"NaN", b"Infinity", b"-Infinity", b"1e-400", b"2147483648", b"4294967296", b".", b"...", b"1.2.3.4",
        b"1.2.3.4.5", b"99999999999.1.1.1", b"infinity", b"-infinity", b"294277-01-01", b"4714-11-24 BC", b"2026-02-30", b"\\x", b"\\x0", b"{}", b"{NULL}", b"null", b"[]",
        b"'", b"' OR 1=1 --", b"$1", b"0x10", b"1_000", b"true", STRANGER.encode(), STRANGER.lower().encode(), b"A" * 125, b"G" * 56, b"\t", b"\n", b"\x7f"]
PIECES = [b".", b"-", b"0", b"9", b"99999999999999999999", b"x", b"\xff", b" ", b"e9", b"", b"NaN", b"/", b"|", b":", b"~"]


def mutate(r, key):
    """A key near one that the list gave out."""
    key = bytearray(key)
    for _ in range(r.randrange(1, 4)):
        place, end = r.randrange(len(key) + 1), r.randrange(len(key) + 1)
        how = r.randrange(5)
        if how == 0 and key:
            key[place % len(key)] = r.randrange(1, 256)
        elif how == 1:
            key[place:place] = r.choice(PIECES)
        elif how == 2:
            del key[min(place, end):max(place, end)]
        elif how == 3:
            key[min(place, end):max(place, end)] = r.choice(PIECES)
        else:
            key += key[min(place, end):max(place, end)]
    return bytes(key[:125]) or b"0"


def lists(hook):
    known = values() | {"webhookId": [hook]}
    for method, path, operation in operations():
        names = [p["$ref"].rsplit("/", 1)[1] for p in operation.get("parameters", ()) if "$ref" in p]
        if method == "GET" and "cursor" in names:
            wanted = [DOC["components"]["parameters"][n]["name"] for n in names if n.startswith("path.")]
            group = operation["operationId"].removesuffix("_history")
            sets = [known.get(f"{group}.{name}") or known[name] for name in wanted]
            for chosen in list(zip(*sets))[:6] if wanted else [()]:
                yield List(path, operation, dict(zip(wanted, chosen)))


def forge_all(hook):
    row = sql("SELECT id, epoch, encode(network_id, 'hex'), encode(contracts_hash, 'hex') FROM chain.deployment ORDER BY id LIMIT 1")[0].split("|")
    protocol = hashlib.sha256(bytes.fromhex(row[2]) + bytes.fromhex(row[3])).digest()
    identities = [hashlib.sha256(protocol + row[1].encode()).digest(), int(row[0]).to_bytes(2, "big") + bytes(30), bytes(32)]
    # The list of each route that has pages, else the first: its own keys show what is near them.
    routes = {}
    for one in lists(hook):
        if one.name not in routes or not routes[one.name].keys:
            one.learn(identities)
            if one.name not in routes or one.keys:
                routes[one.name] = one
    paged = [one for one in routes.values() if one.keys]
    if len(paged) < 25:
        faults.append(f"only {len(paged)} routes have pages: {[one.name for one in paged]}")
    r, said, end = random.Random(SEED), collections.Counter(), time.monotonic() + SECONDS
    while True:
        for one in routes.values():
            for key in KEYS * (SECONDS == 0) + [mutate(r, r.choice(one.keys or KEYS)) for _ in range(30)]:
                for target in one.forge(key):
                    status, answer = ask("GET", target)
                    said[status] += 1
                    if status >= 500 or (status == 400 and answer.get("code") != "cursor_invalid"):
                        faults.append(f"{one.name} with the key {key!r}: {status} {answer}")
        if time.monotonic() >= end or len(faults) > 50:
            break
    print(f"{sum(said.values())} cursors of {len(routes)} lists, {len(paged)} of them with pages: {dict(said)}")


def main():
    status, made = ask("POST", "/api/sdk/webhooks", HOOK)
    assert status == 201, made
    hook = made["webhookId"]
    accounts = sql("SELECT DISTINCT address FROM state.compliance_registry_compliance_rec ORDER BY 1 LIMIT 4")
    assert ask("PATCH", f"/api/sdk/webhooks/{hook}/addresses", {"add": accounts})[0] == 200
    for _ in range(3):
        assert ask("POST", f"/api/sdk/webhooks/{hook}/test")[0] == 202
    forge_all(hook)
    check_bodies(hook)
    print(*faults[:40], sep="\n")
    sys.exit(f"{len(faults)} faults" if faults else 0)


main()
