"""The cases of attester.sh: each is a function whose docstring says the expected result."""
import atexit
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

from _attester import Db, PSQL, World, check, until
from _liar import Liar, make_dear, swallow

REAL = ["--clock-skew-s", "600", "--attester-valid-s", "30", "--poll-ms", "400", "--http-timeout-ms", "20000",
        "--retry-ms-max", "1000"]
DIR = pathlib.Path(os.environ["NETWORK_DIR"])


class Rpc:
    def call(self, method, **params):
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
        request = urllib.request.Request(os.environ["RPC_URL"], body, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=20) as answer:
            return json.load(answer)["result"]


class Chain(World):
    """The registry on the real network, an index that follows it, and one server: RPC, or a proxy before it."""

    def __init__(self, name):
        self.folder = tempfile.TemporaryDirectory(prefix="tide-attester.")
        self.path = pathlib.Path(self.folder.name)
        os.chmod(self.path, 0o755)
        subprocess.run([PSQL, "-Xqc", f"CREATE DATABASE {name} TEMPLATE empty",
                        f"host={os.environ['PG_DIR']} port=5432 user=postgres dbname=postgres"], check=True)
        self.address = self.act("deploy", self.path, os.environ["NETWORK_CHAINS"] + "/a/deployment.json")
        self.deployment = json.loads((self.path / "deployment.json").read_text())
        self.contract, self.key = self.deployment["contracts"]["compliance_registry"], self.path / "key"
        self.network, self.url = Rpc(), os.environ["RPC_URL"]
        self.rpc, self.db = self.url, Db(name)
        self.count, self.lock = 0, threading.Lock()
        self.ticking, self.cursor, self.calls, self.newest, self.runs = None, None, {}, {}, 0
        self.served, self.index = 1, None
        self.start_index()

    def act(self, *words):
        done = subprocess.run(["node", "registry.mjs", *map(str, words)], cwd=os.environ["NETWORK_SCRIPTS"], capture_output=True, text=True,
                              timeout=180)
        if done.returncode:
            raise SystemExit(f"registry.mjs {words}: {done.stdout}{done.stderr[-2000:]}")
        return done.stdout.strip()

    def attester(self, *options):
        kept = [r for at in range(0, len(REAL), 2) if REAL[at] not in options for r in REAL[at:at + 2]]
        return super().attester(*kept, *options)

    def before(self, lies):
        """A proxy before the server."""
        liar = Liar(self.url, lies, self.deployment["network"])
        atexit.register(liar.__enter__().__exit__)
        self.rpc = liar.url
        return liar

    def ends(self, intent, state):
        until(lambda: self.row(intent)[0] == state, lambda: f"{intent} {state}: {self.row(intent)} {self.audit(intent)}", 300)
        return self.row(intent)

    def once_on_chain(self, subject):
        check(self.attested(subject) == 1, f"attested {self.attested(subject)} times")
        self.rpc = self.url


def succeeds(w):
    """an approval and its revocation are on the ledger once each"""
    with w.attester():
        began = time.monotonic()
        intent, subject, session = w.plant()
        w.ends(intent, "confirmed")
        took = time.monotonic() - began
        w.ends(w.plant(subject, "revoke", 2, session)[0], "confirmed")
    w.once_on_chain(subject)
    check(w.attested(subject, "revoke") == 1, "not revoked once")
    return f"{took:.1f} s from the decision to confirmed"


def contract_refuses(w):
    """the verifier is removed while the envelope is under way: it fails on the ledger, is parked, and done once after review"""
    liar = w.before({"sendTransaction": swallow})
    with w.attester("--attester-valid-s", "120"):
        intent, subject, _ = w.plant()
        until(lambda: liar.held, lambda: f"sent: {w.row(intent)}", 300)
        w.act("call", "dao", "remove_verifier", "@dao", "@attester")
        liar.lies = {}
        liar.release()
        try:
            row = w.ends(intent, "parked")
        finally:
            w.act("call", "dao", "add_verifier", "@dao", "@attester")
        check(row[1].split(":")[0] in ("contract", "wasm") and row[2] == "FAILED", f"{row}")
        check(w.attested(subject) == 0, "attested")
        check(w.once("requeue", str(intent))[0] == 0, "requeue")
        w.ends(intent, "confirmed")  # nothing is signed before the old envelope's last moment
    w.once_on_chain(subject)
    return f"{row[1]}"


def fee_too_low(w):
    """an envelope that bids too little is refused until it is too late, and a dearer one is done once; a fee over the limit is parked"""
    low = make_dear(1)
    liar = w.before({"simulateTransaction": low})
    with w.attester():
        intent, subject, _ = w.plant()
        until(lambda: w.row(intent)[2].startswith("tx"), lambda: f"refused: {w.row(intent)}", 300)
        said = w.row(intent)[2]
        liar.lies = {}
        w.ends(intent, "confirmed")
    w.once_on_chain(subject)
    with w.attester("--attester-fee-max", "1000"):
        dear, person, _ = w.plant()
        check(w.ends(dear, "parked")[1] == "fee_ceiling", f"{w.row(dear)}")
    check(w.attested(person) == 0, "attested")
    return said


def sequence_taken(w):
    """another program uses the key's next number: the envelope is dead, a new one is done once, the old one comes late"""
    liar = w.before({"sendTransaction": swallow})
    with w.attester():
        intent, subject, _ = w.plant()
        until(lambda: liar.held, lambda: f"sent: {w.row(intent)}", 300)
        w.act("pay", "attester")
        liar.lies = {}
        w.ends(intent, "confirmed")
        liar.release()
    check("requeued" in w.audit(intent), f"{w.audit(intent)}")
    w.once_on_chain(subject)


def expires(w):
    """an envelope that reaches no ledger before its last moment is dead, a new one is done once, the old one comes late"""
    liar = w.before({"sendTransaction": swallow})
    with w.attester():
        intent, subject, _ = w.plant()
        until(lambda: "requeued" in w.audit(intent), lambda: f"too late: {w.row(intent)} {w.audit(intent)}", 300)
        liar.lies = {}
        w.ends(intent, "confirmed")
        liar.release()
    w.once_on_chain(subject)


def restored(w):
    """the registry's instance, code and entries are archived: restored with the call, within the fee's limit"""
    def lives():
        instance, code, latest = map(int, w.act("archived").split())
        return instance, code, latest
    until(lambda: max(lives()[:2]) < lives()[2], lambda: f"archived: {lives()}", 900)
    with w.attester() as attester:
        intent, subject, _ = w.plant()
        w.ends(intent, "confirmed")
        check("attester.policy" not in attester.said(), attester.said())
    w.once_on_chain(subject)
    instance, code, latest = lives()
    check(min(instance, code) >= latest, f"live until {instance} {code} at {latest}")
    fee = w.db.one(f"SELECT charged FROM kyc.attester_fee WHERE outbox = {intent}")
    return f"{fee} stroops"


def lapsed(w):
    """the registry's entries are archived between simulation and ledger: the call fails there, and a new one restores them"""
    def near():
        instance, code, latest = map(int, w.act("archived").split())
        return instance, code, latest
    # The attester's start and simulation take ledgers too, and so does each question.
    until(lambda: 10 < min(near()[:2]) - near()[2] < 50, lambda: f"nearly archived: {near()}", 900)
    liar = w.before({"sendTransaction": swallow})
    with w.attester("--attester-valid-s", "300"):
        intent, subject, _ = w.plant()
        until(lambda: liar.held, lambda: f"sent: {w.row(intent)}", 300)
        until(lambda: max(near()[:2]) < near()[2], lambda: f"archived: {near()}", 300)
        liar.lies = {}
        liar.release()
        w.ends(intent, "confirmed")
    w.once_on_chain(subject)
    check(w.audit(intent).count("requeued") == 1, f"{w.audit(intent)}")


def server_lost(w):
    """the server dies between the transaction and its answer: done once, and confirmed when a server is back"""
    def lose(liar, params, ask):
        ask()
        pid = int((DIR / "rpc.pid").read_text())
        os.killpg(pid, signal.SIGKILL)
        (DIR / "rpc.pid").unlink()
        liar.lies = {}
        raise OSError("lost")
    w.before({"sendTransaction": lose})
    with w.attester() as attester:
        intent, subject, _ = w.plant()
        until(lambda: not (DIR / "rpc.pid").exists(), lambda: f"sent: {w.row(intent)}", 300)
        until(lambda: "attester.send_unknown" in attester.said(), attester.said, 300)
        subprocess.run([os.environ["TIDE_STELLAR"] + "/standalone", "start", DIR], check=True, capture_output=True, timeout=180)
        w.ends(intent, "confirmed")
    w.once_on_chain(subject)


CASES = [succeeds, contract_refuses, fee_too_low, sequence_taken, expires, restored, lapsed, server_lost]


def main():
    failed = 0
    began = time.monotonic()
    w = Chain("real")
    print(f"the registry is on the network ({time.monotonic() - began:.1f} s)", flush=True)
    for case in CASES:
        if sys.argv[1:] and case.__name__ not in sys.argv[1:]:
            continue
        began = time.monotonic()
        try:
            note = case(w)
            print(f"ok {case.__name__}: {case.__doc__}{': ' + note if note else ''} ({time.monotonic() - began:.1f} s)", flush=True)
        except (SystemExit, subprocess.SubprocessError, OSError) as error:
            failed += 1
            print(f"not ok {case.__name__}: {error}", flush=True)
    check(w.db.one("SELECT kyc.audit_broken() IS NULL") == "t", "the audit does not hold together")
    w.stop_index()
    w.db.close()
    sys.exit(failed > 0)


main()
