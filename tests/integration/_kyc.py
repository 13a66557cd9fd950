"""Helpers of kyc_faults.sh: the database, tidemark-api with the mock providers, sessions.

A program that imports this module is run as: PROGRAM DIR PG_BIN    DIR has PostgreSQL's socket; the API's log is
DIR/api.log"""
import base64
import concurrent.futures
import hashlib
import hmac
import json
import os
import random
import re
import secrets
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
import uuid

import _providers
from _promise import Watch

HERE = os.path.dirname(os.path.abspath(__file__))
DIR, PG_BIN = sys.argv[1:3]
BIN = os.environ["TIDE_BIN"]
REAL = _providers.REAL
COUNTRY = {"sumsub": "CHE", "didit": "CHE", "persona": "CH", "veriff": "CH"}
CHE = 756
PATIENCE_S = 30
METRICS_KEY = "metrics-key-of-tests"
WATCH = Watch()


def fail(what):
    sys.exit(f"FAIL: {what}")


def check(condition, what):
    if not condition:
        fail(what)

class Psql:
    """One psql that is asked again and again; a new one after the server went away."""

    END = "-- the end --"

    def __init__(self):
        self.run = subprocess.Popen([f"{PG_BIN}/psql", "-XAtq", "-U", "postgres"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                    stderr=subprocess.DEVNULL, text=True)

    def ask(self, statement):
        try:
            self.run.stdin.write(f"{statement};\n\\echo :ERROR\n\\echo '{self.END}'\n")
            self.run.stdin.flush()
        except OSError:
            return None
        lines = []
        for line in self.run.stdout:
            if line.rstrip("\n") == self.END:
                return "\n".join(lines[:-1]) if lines[-1] == "false" else None
            lines.append(line.rstrip("\n"))
        return None


LOCAL = threading.local()


def sql(statement, user=None, want_failure=False):
    if user is None:
        LOCAL.psql = getattr(LOCAL, "psql", None) or Psql()
        answer = LOCAL.psql.ask(statement)
        if answer is not None:
            return answer
        LOCAL.psql.run.kill()
        LOCAL.psql = None
    run = subprocess.run([f"{PG_BIN}/psql", "-XAtqv", "ON_ERROR_STOP=1", "-U", user or "postgres", "-c", statement],
                         capture_output=True, text=True, timeout=60)
    if want_failure:
        return run.returncode != 0
    check(run.returncode == 0, f"{statement}: {run.stderr}")
    return run.stdout.strip()


def cluster(command):
    script = os.path.join(os.environ["TIDE_SOURCE_DIR"], "tools/lib/cluster.sh")
    subprocess.run(["bash", "-c", f'. "{script}"; {command}'], check=True, timeout=60, stdout=subprocess.DEVNULL)


def until(ask, want, what, seconds=PATIENCE_S):
    """Asks until the answer is what is wanted."""
    end = time.monotonic() + seconds
    while (found := ask()) != want:
        if time.monotonic() > end:
            fail(f"{what}: {found!r} after {seconds} s, wanted {want!r}")
        time.sleep(0.05)


class Api:
    """tidemark-api, with a KYC file of the mock's providers."""
    every = []

    def __init__(self, mock, name="kyc", deployment=None):
        self.mock, self.process = mock, None
        self.own = {"TIDEMARK_DEPLOYMENT": deployment, "TIDEMARK_API_CACHE": f"{DIR}/cache_{name}"} if deployment else {}
        Api.every.append(self)
        self.port_file, self.file = f"{DIR}/{name}.port", f"{DIR}/{name}.json"
        self.log = open(f"{DIR}/api.log", "ab")

    def start(self, reconcile_s=3600, failpoint="", settings=None, wait=True):
        if os.path.exists(self.port_file):
            os.unlink(self.port_file)
        content = settings or _providers.kyc_file(self.mock.url, "http://127.0.0.1:1", open=True)
        with open(os.open(self.file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            json.dump(content, file)
        env = {**os.environ, "TIDEMARK_CLOCK_SKEW_S": "3153600000", "TIDEMARK_COMPLIANCE_AGE_S": "0", "TIDEMARK_STALE_AFTER_MS": "86400000", "TIDEMARK_API_DRAIN_MS": "0", "TIDEMARK_API_CACHE": f"{DIR}/cache",
               "TIDEMARK_API_LISTEN": "127.0.0.1:0", "TIDEMARK_KYC_FILE": self.file, "TIDEMARK_API_METRICS_KEY": METRICS_KEY, "TIDE_FP": failpoint, **self.own}
        self.process = subprocess.Popen([f"{BIN}/tidemark-api", "--api-port-file", self.port_file,
                                         "--kyc-reconcile-s", str(reconcile_s)], env=env, stderr=self.log)
        if wait:
            self.ready()

    def ready(self):
        end = time.monotonic() + 60
        while not (os.path.exists(self.port_file) and os.path.getsize(self.port_file)):
            check(self.process.poll() is None, f"tidemark-api ended: {self.process.returncode}")
            check(time.monotonic() < end, "tidemark-api does not come up")
            time.sleep(0.02)
        with open(self.port_file, encoding="ascii") as file:
            self.url = f"http://127.0.0.1:{file.read().strip()}"
        self.mock.config(webhook=self.url + "/api/kyc/webhook/{provider}")

    def get(self, path, headers=None, method="GET", body=None):
        request = urllib.request.Request(self.url + path, headers=headers or {}, method=method, data=body)
        try:
            with urllib.request.urlopen(request, timeout=20) as answer:
                told = answer.status, dict(answer.headers), answer.read().decode()
        except urllib.error.HTTPError as error:
            told = error.code, dict(error.headers), error.read().decode()
        WATCH.heard(method, path, *told)
        return told

    def metric(self, name, **labels):
        total = 0
        for line in self.get("/metrics", {"Authorization": "Bearer " + METRICS_KEY})[2].splitlines():
            match = re.match(rf"tidemark_{name}(?:{{(.*)}})? (\S+)$", line)
            if match and all(f'{k}="{v}"' in (match.group(1) or "") for k, v in labels.items()):
                total += float(match.group(2))
        return total

    def died(self, seconds=20):
        try:
            return self.process.wait(seconds) == -signal.SIGKILL
        except subprocess.TimeoutExpired:
            return False

    def stop(self, kill=False):
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL if kill else signal.SIGTERM)
            code = self.process.wait(30)
            check(kill or code == 0, f"tidemark-api ended with {code}")
        self.process = None


def reference(address, deployment="id"):
    """What a provider knows that address by (tide_kyc_reference), with the key of _providers.kyc_file."""
    network = bytes.fromhex(sql(f"SELECT encode(network_id, 'hex') FROM chain.deployment WHERE id = {deployment} ORDER BY id LIMIT 1"))
    digest = hmac.new(b"\x11" * 32, network + address.encode(), hashlib.sha256).digest()
    return base64.b32encode(digest[:20]).decode()


class Session:
    """A session, in our database and at the provider, as if it had been opened. of: another session of the same address; with the
    same provider it is the same person's, and in another mode."""

    def __init__(self, mock, provider, next_check="NULL", provider_id=True, state="created", of=None, deployment=None, address=None):
        self.mock, self.provider, self.id = mock, provider, secrets.token_hex(16)
        self.address = address or of.address if of or address else "G" + "".join(random.choices("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", k=55))
        self.ref = reference(self.address, deployment or "id")
        twin = of is not None and of.provider == provider
        ident = {"sumsub": secrets.token_hex(12), "persona": "inq_" + secrets.token_hex(12)}.get(provider) or str(uuid.uuid4())
        ident = of.person.id if twin else ident
        self.person = of.person if twin else mock.dialects[provider].new_person(ident, self.ref,
                                                                                level=_providers.ACCOUNTS[provider].get("level"))
        held = f"'{ident}'" if provider_id else "NULL"
        sql("INSERT INTO kyc.session (id, deployment, address, provider, integrator, mode, ref, provider_id, state, expires_at, next_check)"
            f" SELECT '{self.id}', id, '{self.address}', '{provider}', '', '{'direct' if twin else 'redirect'}', '{self.ref}', {held},"
            f" '{state}',"
            f" now() + interval '1 day', {next_check} FROM chain.deployment WHERE id = {deployment or 'id'}")

    def decide(self, status, country="", **more):
        if country != "":
            more["country"] = country
        elif status == "approved":
            more["country"] = COUNTRY[self.provider]
        return self.mock.decide(self.provider, id=self.person.id, status=status, **more)

    def tell(self, **more):
        return self.mock.webhook(self.provider, id=self.person.id, **more)

    def codes(self, **more):
        return [sent["code"] for sent in self.tell(**more)["sent"]]

    def state(self):
        return sql(f"SELECT state FROM kyc.session WHERE id = '{self.id}'")

    def rev(self):
        return int(sql(f"SELECT decision_rev FROM kyc.session WHERE id = '{self.id}'"))

    def intents(self):
        rows = sql(f"SELECT action FROM kyc.outbox WHERE session_id = '{self.id}' ORDER BY decision_rev")
        return rows.split("\n") if rows else []

    def becomes(self, state, intents=None, seconds=PATIENCE_S):
        until(self.state, state, f"{self.provider}: its session", seconds)
        if intents is not None:
            check(self.intents() == intents, f"{self.provider}: intents {self.intents()}, wanted {intents}")
        return self


def each(part):
    """The same with every provider, at once."""
    with concurrent.futures.ThreadPoolExecutor(len(REAL)) as pool:
        list(pool.map(part, REAL))


def pause(provider):
    """Until its next decision has another time: Sumsub's are whole seconds."""
    time.sleep(1.1 if provider == "sumsub" else 0.01)


def idle():
    """Nothing is left to be done."""
    until(lambda: sql("SELECT count(*) FROM kyc.inbox WHERE state = 'new'"), "0", "webhooks that wait")


def rows(table, where="true"):
    return int(sql(f"SELECT count(*) FROM kyc.{table} WHERE {where}"))


def approved(mock, provider):
    s = Session(mock, provider)
    s.decide("approved", send=True)
    return s.becomes("approved", ["attest"])
