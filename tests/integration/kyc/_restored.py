"""A restored database and identity checks: see restored.sh. Run as: _restored.py DIR"""
import base64
import hashlib
import hmac
import json
import os
import re
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../clients"))
import _providers  # noqa: E402
from _attester import World, check  # noqa: E402
from _receiver import GOT, ask, receive, until  # noqa: E402

DIR = sys.argv[1]
PROVIDER = {"stands": "persona", "frozen": "persona", "withdrawn": "sumsub", "attested": "persona", "passing": "veriff", "undated": "didit", "declined": "veriff",
            "ordered": "persona", "ended": "persona"}
LATER = {"new": "sumsub", "returns": "persona"}  # their sessions are opened after the backup
COUNTRY = {"sumsub": "CHE", "didit": "CHE", "persona": "CH", "veriff": "CH"}
EVENTS = ["kyc.session.updated", "compliance.updated"]


class Stack:
    def __init__(self):
        self.w = World("restored", "--wall-clock", index=True)
        self.w.tick(1000)
        self.mock = _providers.Providers().start()
        self.api = self.attester = None
        self.people = {name: self.w.subject() for name in {**PROVIDER, **LATER}}
        self.providers = {**PROVIDER, **LATER}
        self.sessions = {}
        env = {**os.environ, "TIDEMARK_DATABASE_URL": self.w.db.url}
        subprocess.run(["tidemark-indexer", "integrator", "put", "shop", "Shop"], env=env, check=True, stdout=subprocess.DEVNULL)
        self.key = subprocess.run(["tidemark-indexer", "key", "add", "shop", "--scopes", "webhooks,kyc"], env=env, check=True, capture_output=True, text=True).stdout.strip()
        with open(os.open(f"{DIR}/kyc.json", os.O_WRONLY | os.O_CREAT, 0o600), "w", encoding="ascii") as file:
            json.dump(_providers.kyc_file(self.mock.url, "http://127.0.0.1:9", _providers.REAL, webhookKey="55" * 32, webhookLocal=True), file)

    def start(self):
        port, role = f"{DIR}/port", f"host={os.environ['PG_DIR']} port=5432 dbname={self.w.db.name} user=tidemark_"
        if os.path.exists(port):
            os.remove(port)
        env = {**os.environ, "TIDEMARK_DATABASE_URL": role + "feeder", "TIDEMARK_KYC_DATABASE_URL": role + "kyc", "TIDEMARK_DEPLOYMENT": str(self.w.path / "deployment.json")}
        with open(f"{DIR}/api.log", "ab") as log:
            self.api = subprocess.Popen(["tidemark-api", "--api-listen", "127.0.0.1:0", "--api-port-file", port, "--api-cache", f"{DIR}/cache", "--kyc-file", f"{DIR}/kyc.json",
                                         "--compliance-age-s", "0", "--stale-after-ms", "86400000", "--clock-skew-s", "3153600000", "--api-drain-ms", "0", "--kyc-reconcile-s", "3600",
                                         "--api-rate-lookup", "0", "--api-rate-query", "0"], env=env, stderr=log)
        until(lambda: os.path.exists(port) and os.path.getsize(port), "the port")
        with open(port, encoding="ascii") as text:
            self.url = f"http://127.0.0.1:{text.read().strip()}"
        until(self.ready, "the API to be ready")
        self.mock.config(webhook=self.url + "/api/kyc/webhook/{provider}")
        self.attester = self.w.attester().__enter__()

    def ready(self):
        check(self.api.poll() is None, "the API ended")
        try:
            return ask("GET", "/readyz", url=self.url)[0] == 200
        except OSError:
            return False

    def stop(self):
        self.attester.kill()
        self.api.kill()
        self.api.wait()

    def ask(self, method, path, body=None):
        return ask(method, path, body, key=self.key, url=self.url)

    def open(self, name):
        status, made = self.ask("POST", "/api/sdk/kyc/session", {"address": self.people[name], "providerKey": self.providers[name], "mode": "redirect"})
        check(status in (200, 201), f"{name}: {status} {made}")
        self.sessions[name] = made["sessionId"]
        return made

    def ref(self, name):
        network = hashlib.sha256(self.w.deployment["network"].encode()).digest()
        return base64.b32encode(hmac.new(b"\x11" * 32, network + self.people[name].encode(), hashlib.sha256).digest()[:20]).decode()

    def decide(self, name, status, send=True):
        """The provider decides; its decisions differ by more than a second."""
        time.sleep(1.1)
        country = {"country": COUNTRY[self.providers[name]]} if status == "approved" else {}
        self.mock.decide(self.providers[name], ref=self.ref(name), status=status, send=send, **country)

    def state(self, name):
        status, said = self.ask("GET", f"/api/sdk/kyc/session/{self.sessions[name]}")
        return said["state"] if status == 200 else status

    def is_compliant(self, name):
        return self.ask("GET", f"/api/sdk/kyc/status/{self.people[name]}")[1]["compliant"]

    def becomes(self, name, state, compliant):
        until(lambda: (self.state(name), self.is_compliant(name)) == (state, compliant), f"{name} to be {state}, {compliant}: it is {self.state(name)}, {self.is_compliant(name)}", 60)

    def rest(self):
        """Until nothing is left to do: the index is current, and everything is checked, sent, compared and delivered."""
        newest = self.w.latest()
        for what, statement in (("the index", f"SELECT ledger >= {newest} FROM chain.cursor"), ("the watcher", f"SELECT coalesce(max(ledger), 0) >= {newest} FROM kyc.hook_cursor"),
                                ("checks", "SELECT count(*) = 0 FROM kyc.session WHERE next_check <= now() + interval '15 s'"), ("webhooks", "SELECT count(*) = 0 FROM kyc.inbox WHERE state = 'new'"),
                                ("intents", "SELECT count(*) = 0 FROM kyc.outbox WHERE state IN ('queued', 'signed', 'submitted')"),
                                ("addresses", "SELECT count(*) = 0 FROM kyc.hook_watch WHERE due_at <= now()"), ("deliveries", "SELECT count(*) = 0 FROM kyc.hook_delivery WHERE state = 'queued'")):
            until(lambda statement=statement: self.w.db.one(statement) == "t", what, 60)

    def counts(self):
        """How often each person was attested and revoked on the chain."""
        return {name: (self.w.attested(who), self.w.attested(who, "revoke")) for name, who in self.people.items()}


def told(since=0):
    """What came, each webhook-id once, in the order of its first arrival: id, type, and what it says of whom."""
    once = {}
    for one in GOT[since:]:
        body = json.loads(one["body"])
        data = {k: v for k, v in body["data"].items() if k not in ("ledger", "closedAt", "previouslyCompliant", "previousState")}
        once.setdefault(one["headers"]["webhook-id"], (body["type"], json.dumps(data, sort_keys=True)))
    return once


def order_revocation(s, name):
    """As two people of the console do."""
    s.w.db.ask(f"INSERT INTO kyc.revocation (session_id, deployment) SELECT id, deployment FROM kyc.session WHERE id = '{s.sessions[name]}'")


def before(s):
    """What the backup has: three people are attested, the others are being checked."""
    hook = s.ask("POST", "/api/sdk/webhooks", {"url": f"http://127.0.0.1:{receive()}/ok", "events": EVENTS})[1]
    status, said = s.ask("PATCH", f"/api/sdk/webhooks/{hook['webhookId']}/addresses", {"add": list(s.people.values())})
    check(status == 200, f"watch: {said}")
    for name in PROVIDER:
        s.open(name)
    for name in ("stands", "frozen", "withdrawn"):
        s.decide(name, "approved")
    for name in ("stands", "frozen", "withdrawn"):
        s.becomes(name, "approved", True)
    s.rest()


def forgotten(s):
    """What happens after the backup, and is forgotten."""
    for name in ("attested", "passing", "undated", "ordered"):
        s.decide(name, "approved")
    for name in ("attested", "passing", "undated", "ordered"):
        s.becomes(name, "approved", True)
    for name in LATER:
        s.open(name)
    s.decide("new", "approved")
    s.becomes("new", "approved", True)
    s.w.tx("freeze", "--as", "admin", "--subject", s.people["frozen"], "--text", "x")
    s.becomes("frozen", "approved", False)
    s.rest()
    s.decide("passing", "declined")
    s.decide("withdrawn", "declined")
    s.decide("declined", "declined")
    s.decide("ended", "expired")
    order_revocation(s, "ordered")
    s.w.tx("unfreeze", "--as", "admin", "--subject", s.people["frozen"])
    for name, state, compliant in (("passing", "revoked", False), ("withdrawn", "revoked", False), ("ordered", "revoked", False), ("declined", "declined", False),
                                   ("frozen", "approved", True)):
        s.becomes(name, state, compliant)
    s.rest()


def restore(s, dump):
    s.stop()
    s.w.stop_index()
    s.w.restore(dump)
    s.w.start_index()
    if s.w.db.one("SELECT to_regproc('kyc.restored') IS NOT NULL") == "t":
        s.w.db.ask("CALL kyc.restored()")
    else:
        s.w.db.ask("UPDATE kyc.session SET next_check = now() WHERE next_check IS NOT NULL")
    s.start()
    s.rest()


def check_facts(old, new, lost):
    """What came after the restore: a fact that was told after the backup comes under its id of then, or not at all."""
    again = {i: fact for i, fact in new.items() if i not in old and fact in lost.values()}
    check(not again, "facts under a second id: " + "; ".join(f"{fact} {i}, before {[k for k, f in lost.items() if f == fact]}" for i, fact in again.items()))


def last_told(s):
    """By receivers that drop what they know: the newest of each address."""
    last = {}
    for kind, data in told().values():
        data = json.loads(data)
        last[kind, data["address"]] = data["compliant"] if kind == "compliance.updated" else data["state"]
    for name, who in s.people.items():
        check(last["compliance.updated", who] is s.is_compliant(name), f"{name}: told {last['compliance.updated', who]}, it is {s.is_compliant(name)}")
        # Of the people's order only the chain knows: the receiver still has the revocation, and the session waits for a person.
        if name != "ordered" and s.state(name) not in ("created", "pending", 404):
            check(last["kyc.session.updated", who] == s.state(name), f"{name}: told {last['kyc.session.updated', who]}, it is {s.state(name)}")


def returning(s):
    """Someone comes back whose session is lost, and whom the provider has approved: the webhook came, and the person is checked once."""
    made = s.open("returns")
    check(made["directLink"] is None, f"another check: {made}")
    s.becomes("returns", "approved", True)
    ids = {p["id"] for p in s.mock.state()["people"].values() if p["ref"] == s.ref("returns")}
    check(len(ids) == 1, f"checked {len(ids)} times")


def main():
    s = Stack()
    try:
        s.start()
        before(s)
        dump, at = s.w.path / "dump", len(GOT)
        subprocess.run([os.path.join(os.environ["PG_BIN"], "pg_dump"), "-Fc", "-f", dump, s.w.db.url], check=True)
        forgotten(s)
        counts, old, lost, end = s.counts(), told(), told(at), len(GOT)
        restore(s, dump)
        s.decide("returns", "approved")
        s.rest()
        check_facts(old, told(end), lost)
        for name, state in (("attested", "approved"), ("undated", "approved"), ("passing", "declined"), ("declined", "declined"), ("withdrawn", "revoked"), ("ended", "expired"),
                            ("stands", "approved"), ("frozen", "approved"), ("new", 404), ("returns", 404)):
            check(s.state(name) == state, f"{name}: {s.state(name)}, wanted {state}")
        check(s.counts() == counts, f"on the chain: {s.counts()}, before {counts}")
        review = s.w.db.ask("SELECT o.subject || ' ' || o.last_status FROM kyc.outbox AS o WHERE o.state = 'parked'")
        check(len(review) == 1 and re.fullmatch(rf"{s.people['ordered']} revoked_since \d+", review[0]), f"for people: {review}")
        last_told(s)
        s.open("new")
        s.becomes("new", "approved", True)
        returning(s)
        s.rest()
        check(s.counts() == {**counts, "returns": (1, 0)}, f"on the chain: {s.counts()}, before {counts}")
        s.decide("declined", "approved")
        s.becomes("declined", "approved", True)
        s.rest()
        check_facts(old, told(end), lost)
        last_told(s)
        check(not s.mock.state()["violations"], f"{s.mock.state()['violations']}")
        print(f"ok {len(lost)} notifications of the lost time, {len(told(end))} after the restore, {len([i for i in told(end) if i not in old])} of them new")
    finally:
        if s.api:
            s.stop()
        s.w.close()
        s.mock.stop()


main()
