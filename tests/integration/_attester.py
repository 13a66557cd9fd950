"""Helpers of the attester's tests: tidemark-attester with a real PostgreSQL and a simulated network.

A World is one network, one database and one verifier. Tests insert intents as rows.
"""
import atexit
import base64
import binascii
import hashlib
import json
import os
import pathlib
import random
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time

import _providers
from _serve import Network

BIN = pathlib.Path(os.environ["TIDE_BIN"])
SIM, ATTESTER, INDEXER = BIN / "tidemark-sim", BIN / "tidemark-attester", BIN / "tidemark-indexer"
PSQL = os.path.join(os.environ["PG_BIN"], "psql")
VERIFIER = "attester1"
QUICK = ["--poll-ms", "20", "--retry-ms-max", "40", "--http-timeout-ms", "8000",
         "--clock-skew-s", "3153600000"]  # the chain's clock races
os.environ["ASAN_OPTIONS"] = "detect_leaks=0:" + os.environ.get("ASAN_OPTIONS", "")


def has_points():
    """Whether this build has failpoints."""
    with tempfile.NamedTemporaryFile() as count:
        subprocess.run([INDEXER, "migrate"], env=dict(os.environ, TIDE_FP_COUNT=count.name), capture_output=True)
        return os.path.getsize(count.name) > 0


def strkey(version, payload):
    body = bytes([version]) + payload
    return base64.b32encode(body + struct.pack("<H", binascii.crc_hqx(body, 0))).decode().rstrip("=")


def raw_key(address):
    return base64.b32decode(address + "=" * (-len(address) % 8))[1:33]


class Db:
    """A psql that stays."""

    def __init__(self, name):
        self.name = name
        self.url = f"host={os.environ['PG_DIR']} port=5432 user=postgres dbname={name}"
        self.open()

    def open(self):
        self.process = subprocess.Popen([PSQL, "-XAtqv", "ON_ERROR_STOP=1", self.url], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)

    def ask(self, sql):
        self.process.stdin.write(sql.strip().rstrip(";") + ";\n\\echo --end--\n")
        self.process.stdin.flush()
        lines = []
        for line in self.process.stdout:
            if line == "--end--\n":
                return lines
            lines.append(line.rstrip("\n"))
        raise SystemExit(f"psql ended at: {sql}")

    def one(self, sql):
        rows = self.ask(sql)
        return rows[0] if rows else None

    def close(self):
        self.process.stdin.close()
        self.process.wait()


class World:
    def __init__(self, name, *options, verifier=True, index=False, beside=None):
        """beside: another world, in whose database this one's deployment is too."""
        self.folder = tempfile.TemporaryDirectory(prefix="tide-attester.")
        path = pathlib.Path(self.folder.name)
        os.chmod(path, 0o755)
        if not beside:
            subprocess.run([PSQL, "-Xqc", f"CREATE DATABASE {name} TEMPLATE empty",
                            f"host={os.environ['PG_DIR']} port=5432 user=postgres dbname=postgres"], check=True)
        self.network = Network("--close-ms", 0, "--deployment", path / "deployment.json", "--ledgers", 64, "--txs", 2,
                               "--noise", 0, "--diagnostics", "--quiet", *options, folder=path)
        self.network.__enter__()
        atexit.register(self.network.process.kill)  # however the test ends
        self.url = f"http://127.0.0.1:{self.network.port}"
        self.twin = f"http://localhost:{self.network.port}"  # counts as another server
        self.rpc = f"{self.url},{self.twin}"  # without an index, two servers have to agree
        self.deployment = json.loads((path / "deployment.json").read_text())
        self.contract = self.deployment["contracts"]["compliance_registry"]
        self.path, self.db = path, Db(beside.db.name if beside else name)
        self.count, self.lock = 1000 if beside else 0, threading.Lock()  # sessions have a number
        self.ticking, self.cursor, self.calls, self.newest, self.runs = None, None, {}, {}, 0
        self.served = 1  # the deployment that intents are planted for
        self.index = None
        if index:
            self.start_index()
        else:
            self.served = self.plant_deployment()
        said = subprocess.run([SIM, "keys", "--name", VERIFIER], capture_output=True, text=True, check=True).stdout.split()
        self.address, self.seed = said[1], said[2]
        self.key = path / "key"
        self.key.write_text(self.seed + "\n")
        self.key.chmod(0o600)
        self.tick(20)
        self.tx("fund", "--as", VERIFIER)
        if verifier:
            self.tx("add_verifier", "--as", "daowallet", "--subject", VERIFIER)
        self.still()

    def plant_deployment(self):
        contracts = json.dumps([{"name": n, "role": n, "address": a} for n, a in self.deployment["contracts"].items()])
        phrase = self.deployment["network"].replace("'", "''")
        return int(self.db.one(f"""INSERT INTO chain.deployment (passphrase, network_id, contracts_hash, contracts)
            VALUES ('{phrase}', sha256('{phrase}'), sha256('x'), '{contracts}') RETURNING id"""))

    def start_index(self):
        """An index of our own that follows the network."""
        env = dict(os.environ, TIDEMARK_DATABASE_URL=self.db.url)
        with open(self.path / "indexer.log", "ab") as log:
            self.index = subprocess.Popen([INDEXER, "run", "--rpc", self.url, "--deployment", self.path / "deployment.json",
                                           "--poll-ms", "20", "--rpc-requests-s", "1000"], env=env, stdout=log, stderr=log)
        atexit.register(self.index.kill)
        until(lambda: int(self.db.one("SELECT coalesce(max(ledger), 0) FROM chain.cursor")) >= self.latest(), "indexed", 60)

    def restore(self, dump):
        """In the place of the database, the one of that dump."""
        self.db.close()
        for words in (["dropdb", "-f", self.db.name], ["createdb", "-T", "template0", self.db.name], ["pg_restore", "-d", self.db.name, "--exit-on-error", dump]):
            subprocess.run([os.path.join(os.environ["PG_BIN"], words[0]), "-h", os.environ["PG_DIR"], "-U", "postgres", *words[1:]], check=True)
        self.db.open()

    def stop_index(self):
        self.index.terminate()
        self.index.wait()

    def close(self):
        self.still()
        if self.index and self.index.poll() is None:
            self.stop_index()
        self.db.close()
        self.network.__exit__(None)
        self.folder.cleanup()

    # --- the network

    def post(self, path, body, method="POST"):
        status, _, said = self.network.http(method, path, body)
        if status != 200:
            raise SystemExit(f"{path} {body}: {status} {said}")
        return said

    def ledgers(self, n=1):
        self.post("/close", str(n))

    def latest(self):
        return self.network.call("getLatestLedger")["sequence"]

    def fault(self, *lines):
        self.post("/faults", "\n".join(lines))

    def calm(self):
        self.post("/faults", None, "DELETE")

    def requests(self):
        """All that the network's server got."""
        return sum(json.loads(self.post("/stats", None, "GET")).get("requests", {}).values())

    def sends(self):
        return json.loads(self.post("/stats", None, "GET")).get("requests", {}).get("sendTransaction", 0)

    def tick(self, ms):
        """A ledger every so many milliseconds, until still()."""
        self.still()
        stop = threading.Event()

        def run():
            while not stop.wait(ms / 1000):
                self.ledgers()
        self.ticking = (threading.Thread(target=run, daemon=True), stop)
        self.ticking[0].start()

    def still(self):
        if self.ticking:
            self.ticking[1].set()
            self.ticking[0].join()
            self.ticking = None

    def tx(self, *words):
        """One call through the simulator's own client; ledgers close meanwhile."""
        ticking = self.ticking
        if not ticking:
            self.tick(20)
        for _ in range(5):
            done = subprocess.run([SIM, "tx", *words, "--rpc", self.url], capture_output=True, text=True, timeout=120)
            if "archived contract data entry" not in done.stdout + done.stderr:
                break  # else an entry's life ended between the simulation and the ledger: simulated again
        if not ticking:
            self.still()
        if done.returncode:
            raise SystemExit(f"tx {words}: {done.stdout}{done.stderr}")

    def background(self, *words):
        """The simulator's own client, which ends once a ledger took its call."""
        return subprocess.Popen([SIM, *words, "--rpc", self.url], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    def read_events(self):
        """Counts successful calls of ours on the chain, from where the last reading ended."""
        ours = raw_key(self.address)
        while True:
            page = {"limit": 1000} | ({"cursor": self.cursor} if self.cursor else {})
            params = {"filters": [{"contractIds": [self.contract]}], "pagination": page}
            if not self.cursor:
                params["startLedger"] = self.network.call("getHealth")["oldestLedger"]
            answer = self.network.call("getEvents", **params)
            for event in answer["events"]:
                topics = [base64.b64decode(t) for t in event["topic"]]
                if len(topics) == 3 and topics[1][12:] == ours:
                    key = topics[0][8:14].decode(), topics[2][12:]
                    self.calls[key] = self.calls.get(key, 0) + 1
                    self.newest[key[1]] = key[0]
            self.cursor = answer["cursor"]
            if len(answer["events"]) < 1000 and int(self.cursor.split("-")[0]) >> 32 >= answer["latestLedger"]:
                return

    def attested(self, subject, function="attest"):
        """How often that subject was attested (revoked) by us."""
        self.read_events()
        return self.calls.get((function, raw_key(subject)), 0)

    def compliant(self, subject):
        """Whether our newest word about that subject is an attestation."""
        self.read_events()
        return self.newest.get(raw_key(subject)) == "attest"

    # --- intents

    def subject(self):
        return strkey(6 << 3, random.randbytes(32))

    def plant(self, subject=None, action="attest", rev=1, session=None, jurisdiction=756, expires=4102444800, meta=None):
        """A decision's row; (id, subject, session). meta: of which "session rev" it has the hash."""
        with self.lock:
            self.count += 1
            number = self.count
        subject = subject or self.subject()
        made = session or f"session-{number}"
        text = ""
        if not session:
            text = f"""INSERT INTO kyc.session (id, deployment, address, provider, integrator, mode, ref, expires_at)
                VALUES ('{made}', {self.served}, '{subject}', 'sandbox', 'i{number}', 'redirect', 'r', now() + interval '1 day');"""
        row = self.db.one(f"{text} {self.intent(subject, made, rev, action, jurisdiction, expires, meta or f'{made} {rev}')}")
        return int(row), subject, made

    def sign(self, intent):
        """A MAC for the row as it stands."""
        *values, meta = self.db.one(f"""SELECT deployment, subject, session_id, decision_rev, action, jurisdiction, expires_at, encode(meta_hash, 'hex')
            FROM kyc.outbox WHERE id = {intent}""").split("|")
        mac = _providers.intent_mac(self.deployment["network"], *values, bytes.fromhex(meta))
        self.db.ask(f"UPDATE kyc.outbox SET mac = '\\x{mac.hex()}' WHERE id = {intent}")

    def intent(self, subject, session, rev, action, jurisdiction, expires, meta, **more):
        """The statement that writes a row as KYC does; more: other columns, as texts."""
        values = (self.served, subject, session, rev, action, jurisdiction, expires)
        mac = _providers.intent_mac(self.deployment["network"], *values, hashlib.sha256(meta.encode()).digest())
        columns = "".join(f", {name}" for name in more)
        rest = "".join(f", '{value}'" for value in more.values())
        return f"""INSERT INTO kyc.outbox (deployment, subject, session_id, decision_rev, action, jurisdiction, expires_at, meta_hash, mac{columns})
            VALUES ({self.served}, '{subject}', '{session}', {rev}, '{action}', {jurisdiction}, {expires}, sha256('{meta}'), '\\x{mac.hex()}'{rest})
            RETURNING id"""

    def row(self, intent, columns="state, reason, last_status"):
        return self.db.one(f"SELECT {columns} FROM kyc.outbox WHERE id = {intent}").split("|")

    def audit(self, intent):
        return self.db.ask(f"SELECT what FROM kyc.audit WHERE (detail ->> 'id')::bigint = {intent} ORDER BY id")

    # --- the program

    def arguments(self, *options):
        quick = [q for at in range(0, len(QUICK), 2) if QUICK[at] not in options for q in QUICK[at:at + 2]]
        return [ATTESTER, *options, "--attester-key", self.key, "--deployment", self.path / "deployment.json", "--rpc",
                self.rpc, "--attester-database-url", self.db.url, "--attester-intent-key", _providers.INTENT_KEY, *quick]

    def attester(self, *options, points=None):
        env = dict(os.environ)
        for name in "TIDEMARK_DATABASE_URL", "TIDE_FP", "TIDE_FP_COUNT":
            env.pop(name, None)
        if points:
            env["TIDE_FP"] = points
        self.runs += 1
        return Attester(self.arguments(*options), env, self.path / f"attester.{self.runs % 100}.log")

    def last_said(self):
        return (self.path / f"attester.{self.runs % 100}.log").read_text(errors="replace")

    def once(self, *options, timeout=60):
        done = subprocess.run(self.arguments(*options), capture_output=True, text=True, timeout=timeout)
        return done.returncode, done.stdout, done.stderr


class Attester:
    def __init__(self, arguments, env, log):
        self.path = log
        with open(log, "ab") as out:
            self.start = out.tell()
            self.process = subprocess.Popen([str(a) for a in arguments], env=env, stdout=out, stderr=out)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.send(signal.SIGCONT)
        if self.process.poll() is None:
            self.process.terminate()
        try:
            code = self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise SystemExit("the attester does not end when asked to: " + self.said()[-2000:])
        if exception[0] is None and code not in (0, -9, -15):
            raise SystemExit(f"the attester ended with {code}: {self.said()[-2000:]}")
        if exception[0] is not None:
            print(self.said()[-6000:], file=sys.stderr)

    def send(self, number):
        if self.process.poll() is None:
            self.process.send_signal(number)

    def kill(self):
        self.send(signal.SIGKILL)
        self.process.wait()

    def said(self):
        with open(self.path, "rb") as file:
            file.seek(self.start)
            return file.read().decode(errors="replace")


def until(condition, what, seconds=30):
    """what: a text, or a function that says at the end how it stands."""
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise SystemExit(f"never: {what() if callable(what) else what}")
        time.sleep(0.01)


def check(condition, what):
    if not condition:
        raise SystemExit(what)
