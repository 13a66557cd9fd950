"""What the chain does, told to partners: see webhooks_chain.sh. Run as: _webhooks_chain.py DIR"""
import json
import os
import secrets
import subprocess
import sys
import time
import urllib.request

from _receiver import GOT, RPC, ask, check, name_of, receive, sql, until

DIR = sys.argv[1]
CLOCK = os.path.join(os.environ["TIDE_BIN"], "libwall_clock.so")
CLOCK = CLOCK if os.path.exists(CLOCK) else ""  # a build with a sanitizer has none
METRICS_KEY = "metrics-key-of-tests"
EVENTS = ["compliance.updated", "price.stale", "price.fresh", "market.listed", "proposal.queued", "proposal.executed"]


class Node:
    def __init__(self, name):
        file = f"{DIR}/{name}.port"
        role = f"host={DIR} port=5432 dbname=tidemark user=tidemark_"
        env = {**os.environ, "TIDEMARK_DATABASE_URL": role + "feeder", "TIDEMARK_KYC_DATABASE_URL": role + "kyc", "TIDEMARK_API_METRICS_KEY": METRICS_KEY,
               **({"LD_PRELOAD": CLOCK, "TIDE_WALL_FILE": f"{DIR}/wall"} if CLOCK else {})}
        with open(f"{DIR}/{name}.log", "wb") as log:
            self.run = subprocess.Popen(["tidemark-api", "--api-listen", "127.0.0.1:0", "--api-port-file", file, "--api-cache", f"{DIR}/{name}", "--kyc-file",
                                         f"{DIR}/kyc.json", "--compliance-age-s", "0", "--stale-after-ms", "86400000", "--clock-skew-s", "3153600000",
                                         "--api-drain-ms", "0", "--api-rate-lookup", "0", "--api-rate-query", "0"], env=env, stderr=log)
        until(lambda: os.path.exists(file) and os.path.getsize(file), f"the port of {name}")
        with open(file, encoding="ascii") as text:
            self.url = f"http://127.0.0.1:{text.read().strip()}"
        until(self.ready, f"{name} to be ready")

    def ready(self):
        try:
            return ask("GET", "/readyz", url=self.url)[0] == 200
        except OSError:
            return False

    def watches(self):
        request = urllib.request.Request(self.url + "/metrics", headers={"Authorization": f"Bearer {METRICS_KEY}"})
        with urllib.request.urlopen(request, timeout=20) as answer:
            return "\ntidemark_kyc_notify_watches 1\n" in answer.read().decode()


def prepare():
    """The KYC file, an integrator and its key."""
    words = {name: secrets.token_hex(32) for name in ("referenceKey", "metadataKey", "tokenKey", "intentKey", "webhookKey")}
    seed = subprocess.run(["tidemark-sim", "keys", "--name", "challenge"], capture_output=True, text=True, check=True).stdout.split()[2]
    file = {"publicUrl": "http://127.0.0.1:9", "open": True, "challengeSeed": seed, **words, "webhookLocal": True,
            "providers": [{"key": "sandbox", "type": "sandbox", "name": "Sandbox", "webhookSecrets": [{"secret": secrets.token_hex(32), "notAfter": None}]}]}
    with open(os.open(f"{DIR}/kyc.json", os.O_WRONLY | os.O_CREAT, 0o600), "w", encoding="ascii") as out:
        json.dump(file, out)
    subprocess.run(["tidemark-indexer", "integrator", "put", "harbour", "Harbour"], check=True, stdout=subprocess.DEVNULL)
    return subprocess.run(["tidemark-indexer", "key", "add", "harbour", "--scopes", "webhooks"], capture_output=True, text=True, check=True).stdout.strip()


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


def prices(node):
    """The population sets prices in each ledger. By the nodes' clock they grow old, and the next ledger makes them fresh."""
    if not CLOCK:
        return
    stale, fresh = len(told("price.stale")), len(told("price.fresh"))
    closed = int(sql("SELECT extract(epoch FROM max(closed_at))::bigint FROM chain.ledger"))
    with open(f"{DIR}/wall.new", "w", encoding="ascii") as file:
        file.write(str(closed + 400 - int(time.time())))
    os.rename(f"{DIR}/wall.new", f"{DIR}/wall")
    until(lambda: len(told("price.stale")) > stale, "a stale price")
    settle(node)
    close(1)
    until(lambda: len(told("price.fresh")) > fresh, "a fresh price")
    settle(node)


def compare(node, base, markets):
    """What came against the tables of the index, and the routes."""
    want = sql("SELECT key_id, CASE status WHEN 'Passed' THEN 'proposal.queued' ELSE 'proposal.executed' END FROM (SELECT key_id, status, ledger,"
               " lag(status) OVER (PARTITION BY key_id ORDER BY ledger, tx, seq) AS was FROM history.dao_governance_proposal WHERE NOT removed) AS p"
               f" WHERE ledger > {base} AND status IN ('Passed', 'Executed') AND status IS DISTINCT FROM was").splitlines()
    got = [f"{one['data']['proposalId']}|{one['type']}" for one in told("proposal.queued", "proposal.executed")]
    check(sorted(got) == sorted(want), f"proposals: told {sorted(got)}, in the tables {sorted(want)}")
    new = sorted({one["market"] for one in all_items(node, "/api/markets")} - markets)
    check(sorted(one["data"]["market"] for one in told("market.listed")) == new, f"markets: told {told('market.listed')}, listed {new}")
    last = {}
    for one in told("price.stale", "price.fresh"):
        asset = one["data"]["asset"]
        check(last.get(asset) != one["type"], f"{asset}: {one['type']} twice")
        last[asset] = one["type"]
    compliance = {}
    for one in told("compliance.updated"):
        data = one["data"]
        check(data["previouslyCompliant"] is compliance.get(data["address"]), f"not the one before: {data}")
        compliance[data["address"]] = data["compliant"]
    check(len(compliance) == len(WATCHED), f"{len(compliance)} of {len(WATCHED)} addresses were told")
    for who, says in compliance.items():
        now = ask("GET", f"/api/sdk/kyc/status/{who}", url=node.url)[1]
        # Ends are due by the database's clock, which the chain of this test is years ahead of.
        check(now["compliant"] is says or now["reasonCode"] == "lapsed", f"{who}: told {says}, now {now}")
    return len(want), len(new), len(told("compliance.updated")) - len(WATCHED)


key = prepare()
base = until(indexed, "the indexer")
nodes = [Node("first"), Node("second")]
try:
    PORT = receive()
    status, hook = ask("POST", "/api/sdk/webhooks", {"url": f"http://127.0.0.1:{PORT}/ok", "events": EVENTS}, key=key, url=nodes[0].url)
    check(status == 201, f"register: {hook}")
    WATCHED = [name_of(f"user{i}") for i in range(12)]
    status, answer = ask("PATCH", f"/api/sdk/webhooks/{hook['webhookId']}/addresses", {"add": WATCHED}, key=key, url=nodes[1].url)
    check(status == 200, f"watch: {answer}")
    until(lambda: sum(one.watches() for one in nodes) == 1, "one node watches")
    settle(nodes[0])
    check(not told(*EVENTS[1:]), f"what was there already is no news: {told(*EVENTS[1:])}")
    markets = {one["market"] for one in all_items(nodes[0], "/api/markets")}
    close(64)
    settle(nodes[0])
    prices(nodes[0])
    compare(nodes[0], base, markets)
    watcher = next(one for one in nodes if one.watches())
    other = next(one for one in nodes if one is not watcher)
    check(not other.watches(), "both watch")
    watcher.run.kill()
    watcher.run.wait()
    close(64)
    until(other.watches, "the other node takes over")
    settle(other)
    prices(other)
    proposals, listed, compliance = compare(other, base, markets)
    check(not CLOCK or all(len(told(kind)) >= 2 for kind in ("price.stale", "price.fresh")), "prices")
    check(min(proposals, listed, compliance) > 0, f"the chain had too little: {proposals} {listed} {compliance}")
    print(f"ok {proposals} proposals, {listed} markets, {len(told('price.stale', 'price.fresh'))} prices, {compliance} changes of compliance")
finally:
    for one in nodes:
        one.run.kill()
        one.run.wait()
