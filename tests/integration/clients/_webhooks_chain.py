"""Webhooks about events of the chain: see webhooks_chain.sh. Run as: _webhooks_chain.py DIR"""
import os
import time

from _nodes import CLOCK, DIR, Node, all_items, close, indexed, prepare, settle, told
from _receiver import ask, check, name_of, receive, sql, until

EVENTS = ["compliance.updated", "price.stale", "price.fresh", "market.listed", "proposal.queued", "proposal.executed"]


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


def foreign(node, hook):
    """Another integrator sees and changes nothing of it."""
    before = ask("GET", f"/api/sdk/webhooks/{hook}", key=key, url=node.url)[1]
    delivery = ask("GET", f"/api/sdk/webhooks/{hook}/deliveries", key=key, url=node.url)[1]["items"][0]["deliveryId"]
    mine = ask("POST", "/api/sdk/webhooks", {"url": "http://127.0.0.1:9/", "events": ["price.stale"]}, key=stranger, url=node.url)[1]["webhookId"]
    at = f"/api/sdk/webhooks/{hook}"
    asked = [("GET", at, None), ("PATCH", at, {"enabled": False}), ("DELETE", at, None), ("POST", at + "/secret", {"overlapSeconds": 0, "secretRevision": 1}),
             ("POST", at + "/test", None), ("GET", at + "/addresses", None), ("PATCH", at + "/addresses", {"remove": WATCHED}), ("GET", at + "/deliveries", None),
             ("POST", f"{at}/deliveries/{delivery}/replay", None), ("POST", f"/api/sdk/webhooks/{mine}/deliveries/{delivery}/replay", None)]
    for method, path, body in asked:
        status, answer = ask(method, path, body, key=stranger, url=node.url)
        check(status == 404 and answer["code"] in ("no_webhook", "no_delivery"), f"another integrator: {method} {path}: {status} {answer}")
    check([one["webhookId"] for one in ask("GET", "/api/sdk/webhooks", key=stranger, url=node.url)[1]["items"]] == [mine], "another integrator's list")
    check(ask("GET", at, key=key, url=node.url)[1] == before, f"changed by another integrator: {before}")
    # The same Idempotency-Key of two integrators means two webhooks.
    body = {"url": "http://127.0.0.1:9/", "events": ["price.stale"]}
    one, two = (ask("POST", "/api/sdk/webhooks", body, key=who, url=node.url, idempotency="same")[1] for who in (key, stranger))
    check(one["webhookId"] != two["webhookId"] and one["secret"] != two["secret"], "the same Idempotency-Key")
    for who, made in ((key, one), (stranger, two), (stranger, {"webhookId": mine})):
        check(ask("DELETE", f"/api/sdk/webhooks/{made['webhookId']}", key=who, url=node.url)[0] == 200, "delete")


def limits(node):
    """A full queue takes no tests and no replays and disables the webhook; a long log delays no deletion."""
    made = ask("POST", "/api/sdk/webhooks", {"url": f"http://127.0.0.1:{PORT}/full", "events": ["market.listed"]}, key=stranger, url=node.url)[1]["webhookId"]
    path = f"/api/sdk/webhooks/{made}"
    check(ask("POST", path + "/test", key=stranger, url=node.url)[0] == 202, "test")
    taken = until(lambda: [one for one in ask("GET", path + "/deliveries", key=stranger, url=node.url)[1]["items"] if one["state"] == "delivered"], "the test")[0]
    sql("INSERT INTO kyc.hook_delivery (deployment, hook, event, subject, head, next_try) SELECT deployment, hook, event, 'full' || i, true, now() + interval '5 hours'"
        f" FROM kyc.hook_delivery, generate_series(1, 10001) AS i WHERE id = {taken['deliveryId']}")
    for ask_for in ("/test", f"/deliveries/{taken['deliveryId']}/replay"):
        status, answer = ask("POST", path + ask_for, key=stranger, url=node.url)
        check((status, answer["code"]) == (409, "queue_full"), f"a full queue: {status} {answer}")
    sql(f"SELECT kyc.hook_limit(ARRAY['{made}', 'x'])")
    full = ask("GET", path, key=stranger, url=node.url)[1]
    check((full["state"], full["reason"], full["queued"]) == ("disabled", "queue_full", 10001), f"a full queue: {full}")
    check(ask("DELETE", path, key=stranger, url=node.url)[0] == 200 and ask("GET", path, key=stranger, url=node.url)[0] == 404, "delete")
    until(lambda: sql(f"SELECT bool_or(kyc.hook_maintain(id)) FROM chain.deployment; SELECT count(*) FROM kyc.hook WHERE id = '{made}'").split()[-1] == "0",
          "the row of a deleted webhook to go")


key, stranger = prepare()
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
    foreign(nodes[0], hook["webhookId"])
    limits(nodes[0])
    watcher = next(one for one in nodes if one.watches())
    other = next(one for one in nodes if one is not watcher)
    check(not other.watches(), "both watch")
    watcher.kill()
    close(64)
    until(other.watches, "the other node takes over")
    settle(other)
    prices(other)
    proposals, listed, compliance = compare(other, base, markets)
    check(not CLOCK or all(len(told(kind)) >= 2 for kind in ("price.stale", "price.fresh")), "prices")
    check(min(proposals, listed, compliance) > 0, f"the chain had too little: {proposals} {listed} {compliance}")
    print(f"ok {proposals} proposals, {listed} markets, {len(told('price.stale', 'price.fresh'))} prices, {compliance} changes of compliance")
finally:
    for one in Node.all:
        one.kill()
