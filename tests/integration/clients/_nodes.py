"""Nodes of the API with webhooks over a network whose ledgers close on request; run as PROGRAM DIR, see webhooks_chain.sh."""
import json
import os
import secrets
import subprocess
import sys
import urllib.request

from _receiver import GOT, RPC, ask, check, sql, until

DIR = sys.argv[1]
CLOCK = os.path.join(os.environ["TIDE_BIN"], "libwall_clock.so")
CLOCK = CLOCK if os.path.exists(CLOCK) else ""  # a build with a sanitizer has none
METRICS_KEY = "metrics-key-of-tests"


class Node:
    all = []

    def __init__(self, name, failpoint=""):
        """failpoint: as TIDE_FP has it; the build must have failpoints."""
        file = f"{DIR}/{name}.port"
        if os.path.exists(file):
            os.remove(file)
        role = f"host={DIR} port=5432 dbname=tidemark user=tidemark_"
        env = {**os.environ, "TIDEMARK_DATABASE_URL": role + "feeder", "TIDEMARK_KYC_DATABASE_URL": role + "kyc", "TIDEMARK_API_METRICS_KEY": METRICS_KEY, "TIDE_FP": failpoint,
               **({"LD_PRELOAD": CLOCK, "TIDE_WALL_FILE": f"{DIR}/wall"} if CLOCK else {})}
        with open(f"{DIR}/{name}.log", "ab") as log:
            self.run = subprocess.Popen(["tidemark-api", "--api-listen", "127.0.0.1:0", "--api-port-file", file, "--api-cache", f"{DIR}/{name}", "--kyc-file",
                                         f"{DIR}/kyc.json", "--compliance-age-s", "0", "--stale-after-ms", "86400000", "--clock-skew-s", "3153600000",
                                         "--api-drain-ms", "0", "--api-rate-lookup", "0", "--api-rate-query", "0"], env=env, stderr=log)
        Node.all.append(self)
        until(lambda: os.path.exists(file) and os.path.getsize(file), f"the port of {name}")
        with open(file, encoding="ascii") as text:
            self.url = f"http://127.0.0.1:{text.read().strip()}"
        until(self.ready, f"{name} to be ready")

    def ready(self):
        try:
            return ask("GET", "/readyz", url=self.url)[0] == 200
        except OSError:
            check(self.run.poll() is None, f"the node ended with {self.run.poll()}")
            return False

    def kill(self):
        self.run.kill()
        self.run.wait()

    def watches(self):
        request = urllib.request.Request(self.url + "/metrics", headers={"Authorization": f"Bearer {METRICS_KEY}"})
        with urllib.request.urlopen(request, timeout=20) as answer:
            return "\ntidemark_kyc_notify_watches 1\n" in answer.read().decode()


def prepare():
    """The KYC file, two integrators and a key of each."""
    words = {name: secrets.token_hex(32) for name in ("referenceKey", "metadataKey", "tokenKey", "intentKey", "webhookKey")}
    seed = subprocess.run(["tidemark-sim", "keys", "--name", "challenge"], capture_output=True, text=True, check=True).stdout.split()[2]
    file = {"publicUrl": "http://127.0.0.1:9", "open": True, "challengeSeed": seed, **words, "webhookLocal": True,
            "providers": [{"key": "sandbox", "type": "sandbox", "name": "Sandbox", "webhookSecrets": [{"secret": secrets.token_hex(32), "notAfter": None}]}]}
    with open(os.open(f"{DIR}/kyc.json", os.O_WRONLY | os.O_CREAT, 0o600), "w", encoding="ascii") as out:
        json.dump(file, out)
    keys = []
    for name in ("harbour", "other"):
        subprocess.run(["tidemark-indexer", "integrator", "put", name, name], check=True, stdout=subprocess.DEVNULL)
        keys.append(subprocess.run(["tidemark-indexer", "key", "add", name, "--scopes", "webhooks"], capture_output=True, text=True, check=True).stdout.strip())
    return keys


def close(count):
    with urllib.request.urlopen(urllib.request.Request(RPC + "/close", str(count).encode(), method="POST"), timeout=60) as answer:
        answer.read()


def indexed():
    request = urllib.request.Request(RPC, json.dumps({"jsonrpc": "2.0", "id": 1, "method": "getLatestLedger"}).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=20) as answer:
        newest = json.load(answer)["result"]["sequence"]
    return newest if sql("SELECT max(ledger) FROM chain.cursor") == str(newest) else 0


def told(*types):
    """What came, each notification once, in the order of its first arrival."""
    once = {}
    for one in list(GOT):
        once.setdefault(one["headers"]["webhook-id"], json.loads(one["body"]))
    return [one for one in once.values() if not types or one["type"] in types]


def all_items(node, path):
    items, cursor = [], ""
    while cursor is not None:
        status, page = ask("GET", path + (f"?cursor={cursor}" if cursor else ""), url=node.url)
        check(status == 200, f"{path}: {page}")
        items, cursor = items + page["items"], page.get("next")
    return items


def settle(node):
    """Until everything is indexed, compared and delivered."""
    newest = until(indexed, "the indexer")
    until(lambda: sql(f"SELECT ledger = {newest} FROM kyc.hook_cursor") == "t", "the watcher")

    def same():
        seen = dict(line.split("|") for line in sql("SELECT subject, state FROM kyc.hook_seen WHERE kind = 'asset'").splitlines())
        return seen == {one["asset"]: "price.stale" if one["stale"] else "price.fresh" for one in all_items(node, "/api/prices")}

    until(same, "prices")
    until(lambda: sql("SELECT count(*) FROM kyc.hook_watch WHERE due_at <= now()") == "0", "addresses")
    until(lambda: sql("SELECT count(*) FROM kyc.hook_delivery WHERE state = 'queued'") == "0", "deliveries")
