"""Kills a node at each point of its work on webhooks: see webhooks_kills.sh. Run as: _webhooks_kills.py DIR"""
import base64
import hashlib
import hmac

from _nodes import Node, close, indexed, prepare, settle, told
from _receiver import GOT, ask, check, name_of, receive, sql, until

EVENTS = ["compliance.updated", "market.listed", "proposal.queued", "proposal.executed"]


def asks(node, method, path, body=None, **more):
    """Status and answer; None if the node died of it."""
    try:
        return ask(method, path, body, key=KEY, url=node.url, **more)
    except (OSError, ValueError):
        until(lambda: node.run.poll() is not None, "the node to die")
        return None


def twice(point, number, what, method, path, body=None, **more):
    """A node dies of the request; the same request is answered by the other one."""
    mortal = Node("mortal", f"{point}=kill")
    check(asks(mortal, method, path, body, **more) is None and mortal.run.poll() is not None, f"{point}: {what} did not kill")
    answer = asks(STEADY, method, path, body, **more)
    check(answer[0] in number, f"{point}: {what} again: {answer}")
    return answer[1]


def hooks():
    return asks(STEADY, "GET", "/api/sdk/webhooks")[1]["items"]


def signs(secret, one):
    text = f"{one['headers']['webhook-id']}.{one['headers']['webhook-timestamp']}.{one['body']}".encode()
    want = base64.b64encode(hmac.new(base64.b64decode(secret[6:]), text, hashlib.sha256).digest()).decode()
    return f"v1,{want}" in one["headers"]["webhook-signature"].split(" ")


def tests(hook):
    return [one for one in GOT if f'"{hook}"' in one["body"] and "webhook.test" in one["body"]]


def on_routes(point):
    """Whether the transaction of the first request was committed or not."""
    count = len(hooks())
    body = {"url": f"{AT}/ok", "events": EVENTS}
    made = twice(point, (201,), "registration", "POST", "/api/sdk/webhooks", body, idempotency=point)
    hook, path = made["webhookId"], f"/api/sdk/webhooks/{made['webhookId']}"
    check(len(hooks()) == count + 1, f"{point}: registered {len(hooks()) - count} times")
    other = twice(point, (200,), "another secret", "POST", path + "/secret", {"overlapSeconds": 0, "secretRevision": 1})
    check(other["secretRevision"] == 2 and other["secret"] != made["secret"], f"{point}: {other}")
    watched = twice(point, (200,), "addresses", "PATCH", path + "/addresses", {"add": [name_of("user1")]})
    check(watched["addresses"] == 1, f"{point}: {watched}")
    twice(point, (202,), "a test", "POST", path + "/test")
    came = until(lambda: tests(hook), f"{point}: the test")
    check(signs(other["secret"], came[0]) and not signs(made["secret"], came[0]), f"{point}: not signed with the secret that was answered")
    log = until(lambda: asks(STEADY, "GET", path + "/deliveries")[1]["items"], "the log")
    twice(point, (202,), "a replay", "POST", f"{path}/deliveries/{log[-1]['deliveryId']}/replay")
    off = twice(point, (200,), "off", "PATCH", path, {"enabled": False})
    check(off["state"] == "disabled" and off["reason"] == "integrator", f"{point}: {off}")
    check(twice(point, (200,), "on", "PATCH", path, {"enabled": True})["state"] == "enabled", f"{point}: on")
    twice(point, (200, 404), "deletion", "DELETE", path)
    check(len(hooks()) == count, f"{point}: not deleted")


def later():
    """Twenty seconds later: what a dead node had taken is free."""
    sql("UPDATE kyc.hook_delivery SET next_try = now(), leased_until = now() WHERE leased_until IS NOT NULL")


def on_senders(point, hook):
    """Tests are sent until the node that dies of it has taken one. Each is there in the end."""
    before, asked = {one["headers"]["webhook-id"] for one in tests(hook)}, 0
    mortal = Node("mortal", f"{point}=kill")
    while mortal.run.poll() is None:
        check(asked < 200, f"{point}: nothing kills")
        for _ in range(4):
            check(asks(STEADY, "POST", f"/api/sdk/webhooks/{hook}/test")[0] == 202, "test")
            asked += 1
        until(lambda: mortal.run.poll() is not None or sql("SELECT count(*) FROM kyc.hook_delivery WHERE state = 'queued'") == "0", "deliveries")
    later()
    until(lambda: len({one["headers"]["webhook-id"] for one in tests(hook)} - before) == asked, f"{point}: {asked} tests")
    until(lambda: sql("SELECT count(*) FROM kyc.hook_delivery WHERE state = 'queued'") == "0", f"{point}: the queue")


def on_disabling():
    """The node dies when it has noted a 410: the endpoint is disabled once, and its integrator is told."""
    gone = asks(STEADY, "POST", "/api/sdk/webhooks", {"url": f"{AT}/gone", "events": ["market.listed"]})[1]["webhookId"]
    mortal, disabled = Node("mortal", "notify.noted=kill"), 0
    while mortal.run.poll() is None:
        check(disabled < 100, "nothing kills")
        sql(f"DELETE FROM kyc.hook_delivery WHERE hook = '{gone}'")  # an enabled endpoint gets what waits for it, and would answer 410 before the test
        check(asks(STEADY, "PATCH", f"/api/sdk/webhooks/{gone}", {"enabled": True})[0] == 200, "on")
        check(asks(STEADY, "POST", f"/api/sdk/webhooks/{gone}/test")[0] == 202, "test")
        disabled += 1
        until(lambda: [one["reason"] for one in hooks() if one["webhookId"] == gone] == ["gone"], "410 disables")
        # The notice of the one before may have killed it too.
        until(lambda: mortal.run.poll() is not None or len([one for one in told("webhook.disabled") if one["data"]["webhookId"] == gone]) == disabled, "the notice")
    later()
    until(lambda: len([one for one in told("webhook.disabled") if one["data"]["webhookId"] == gone]) == disabled, f"{disabled} notices")
    check(asks(STEADY, "DELETE", f"/api/sdk/webhooks/{gone}")[0] == 200, "delete")


def on_watcher(point):
    """The only node dies while it compares; the next one tells what it had not."""
    global STEADY
    settle(STEADY)
    STEADY.kill()
    mortal = Node("mortal", point)
    for _ in range(24):
        close(1)
        newest = until(indexed, "the indexer")
        until(lambda: mortal.run.poll() is not None or sql(f"SELECT ledger = {newest} FROM kyc.hook_cursor") == "t", f"{point}: ledger {newest}")
    check(mortal.run.poll() is not None, f"{point}: nothing kills")
    STEADY = Node("steady")
    settle(STEADY)
    last = {}
    for one in told("compliance.updated"):
        data = one["data"]
        check(data["previouslyCompliant"] is last.get(data["address"]), f"{point}: not the one before: {data}")
        last[data["address"]] = data["compliant"]
    check(len(last) == len(WATCHED), f"{point}: {last}")
    for who, says in last.items():
        now = ask("GET", f"/api/sdk/kyc/status/{who}", url=STEADY.url)[1]
        check(now["compliant"] is says or now["reasonCode"] == "lapsed", f"{point}: {who}: told {says}, now {now}")


KEY = prepare()[0]
until(indexed, "the indexer")
AT = f"http://127.0.0.1:{receive()}"
WATCHED = [name_of(f"user{i}") for i in range(12)]
STEADY = Node("steady")
try:
    HOOK = asks(STEADY, "POST", "/api/sdk/webhooks", {"url": f"{AT}/ok", "events": EVENTS})[1]["webhookId"]
    check(asks(STEADY, "PATCH", f"/api/sdk/webhooks/{HOOK}/addresses", {"add": WATCHED})[0] == 200, "watch")
    settle(STEADY)
    for at in ("notify.ledger=kill@3", "notify.compared=kill", "notify.compared=kill@2"):
        on_watcher(at)
        print("ok", at, flush=True)
    for at in ("notify.claimed", "notify.sent", "notify.noted"):
        on_senders(at, HOOK)
        print("ok", at, flush=True)
    on_disabling()
    print("ok disabled", flush=True)
    for at in ("notify.asks", "notify.asked"):
        on_routes(at)
        print("ok", at, flush=True)
finally:
    for one in Node.all:
        one.kill()
