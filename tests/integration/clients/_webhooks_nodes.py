"""Webhooks to partners on a running stack with two more nodes: see webhooks_nodes.sh. Run as: PYTHON
_webhooks_nodes.py WORK PACKAGES"""
import os
import signal
import socket
import subprocess
import sys
import time

from _receiver import GOT, ask, came, check, fail, name_of, receive, register, sim, sql, until

WORK, PACKAGES = sys.argv[1:3]
STACK = os.environ["TIDEMARK_STACK"]
PORT = receive()
AT = f"http://127.0.0.1:{PORT}"


def node(name):
    env = {**os.environ, "TIDEMARK_DATABASE_URL": sql_role("tidemark_feeder"), "TIDEMARK_KYC_DATABASE_URL": sql_role("tidemark_kyc")}
    # A session of its own: the test alone ends it.
    with open(f"{WORK}/{name}.log", "wb") as log:
        return subprocess.Popen(["tidemark-api", "--api-listen", "127.0.0.1:0", "--api-cache", f"{WORK}/{name}", "--kyc-file", f"{STACK}/kyc.json",
                                 "--compliance-age-s", "0", "--stale-after-ms", "86400000", "--api-drain-ms", "0"], env=env, stderr=log)


def sql_role(role):
    return f"host={STACK}/db port={sql('SELECT inet_server_port()')} user={role} dbname=tidemark"


def refusals():
    for body, code in (({"url": "https://a.example/x"}, 400), ({"url": "ftp://a.example/", "events": ["price.stale"]}, 400),
                       ({"url": "https://a.example/x", "events": ["price.stale", "price.stale"]}, 400),
                       ({"url": "https://a.example/x", "events": ["price.stale"], "secret": "s"}, 400)):
        status, answer = ask("POST", "/api/sdk/webhooks", body)
        check(status == code, f"{body}: {status} {answer}")
    check(ask("GET", "/api/sdk/webhooks", key=None)[0] == 401 and ask("GET", "/api/sdk/webhooks", key="x")[0] == 401, "without a key")
    check(ask("GET", "/api/sdk/webhooks/" + "0" * 32)[0] == 404, "a webhook that is not there")
    check(ask("DELETE", "/api/sdk/webhooks/" + "0" * 32)[0] == 404, "a webhook that is not there")


def compliance(hook):
    who = name_of(f"watched{os.getpid()}")
    status, answer = ask("PATCH", f"/api/sdk/webhooks/{hook['webhookId']}/addresses", {"add": [who]})
    check(status == 200 and answer["addresses"] == 1, f"watch: {answer}")
    check(ask("GET", f"/api/sdk/webhooks/{hook['webhookId']}/addresses")[1]["items"] == [who], "addresses")
    one = until(lambda: came("/ok", type="compliance.updated", address=who), "the first answer")[0]["data"]
    check(one["compliant"] is False and one["previouslyCompliant"] is None, f"the first answer: {one}")
    sim("tx", "attest", "--as", "sumsub", "--subject", who, "--expires-in", "30")
    until(lambda: came("/ok", type="compliance.updated", address=who, compliant=True), "the attestation")
    until(lambda: came("/ok", type="compliance.updated", address=who, reasonCode="lapsed"), "its end")


def sessions():
    deployment = sql("SELECT max(id) FROM chain.deployment")
    for i in range(21):
        sql(f"INSERT INTO kyc.session (id, deployment, address, provider, integrator, mode, ref, expires_at) VALUES (lpad('{i}', 32, 'a'), {deployment},"
            f" 'A{i}', 'sandbox', 'harbour', 'redirect', 'r{i}', now() + interval '1 day')")


def examples():
    """The receivers of the guide print what they were told, once."""
    for program in (["node", "hooks.mjs"], [sys.executable, "hooks.py"]):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
        status, made = ask("POST", "/api/sdk/webhooks", {"url": f"http://127.0.0.1:{port}/hooks", "events": ["compliance.updated"]})
        check(status == 201, f"register: {made}")
        env = {**os.environ, "PORT": str(port), "WEBHOOK_SECRET": made["secret"]}
        with subprocess.Popen(program, cwd=PACKAGES, env=env, stdout=subprocess.PIPE, text=True) as run:
            try:
                check(run.stdout.readline().strip() == f"http://127.0.0.1:{port}/hooks", f"{program} does not start")
                who = name_of("example")
                ask("PATCH", f"/api/sdk/webhooks/{made['webhookId']}/addresses", {"add": [who]})
                line = run.stdout.readline()
                check(line.startswith("compliance.updated ") and who in line, f"{program}: {line}")
            finally:
                run.kill()
        check(ask("DELETE", "/api/sdk/webhooks/" + made["webhookId"])[0] == 200, "delete")


def burst(nodes):
    """Sessions change while nodes die: nothing is lost, and each address's changes come in order."""
    for round_, state in enumerate(["pending", "action_required"] * 5):
        sql(f"UPDATE kyc.session SET state = '{state}' WHERE address LIKE 'A%' AND address <> 'A20'")
        if round_ in (2, 6):
            one = nodes.pop(0)
            os.kill(one, signal.SIGKILL)
    want = ["pending", "action_required"] * 5
    for i in range(20):
        def states(i=i):
            seen, out = set(), []
            for one in came("/ok", type="kyc.session.updated", address=f"A{i}"):
                if one["headers"]["webhook-id"] not in seen:
                    out.append(one["data"]["state"])
                seen.add(one["headers"]["webhook-id"])
            return out
        until(lambda: len(states()) >= len(want), f"changes of A{i}", 90)
        check(states() == want, f"A{i}: {states()}")


def repetition():
    """A registration whose answer was lost is asked again: one endpoint, the same secret, also after another one was made."""
    body = {"url": f"http://127.0.0.1:{PORT}/again", "events": ["price.stale"]}
    before = len(ask("GET", "/api/sdk/webhooks")[1]["items"])
    first, again = (ask("POST", "/api/sdk/webhooks", body, idempotency="one") for _ in range(2))
    check(first[0] == 201 and first == again, f"the same key: {first} {again}")
    rotated = ask("POST", f"/api/sdk/webhooks/{first[1]['webhookId']}/secret", {"overlapSeconds": 0, "secretRevision": 1})[1]
    check(ask("POST", "/api/sdk/webhooks", body, idempotency="one")[1]["secret"] == rotated["secret"], "the secret that signs now")
    status, answer = ask("POST", "/api/sdk/webhooks", {**body, "events": ["price.fresh"]}, idempotency="one")
    check(status == 422 and answer["code"] == "idempotency_key_reused", f"another request: {status} {answer}")
    other = ask("POST", "/api/sdk/webhooks", body, idempotency="two")[1]
    check(len(ask("GET", "/api/sdk/webhooks")[1]["items"]) == before + 2, "one endpoint a key")
    check(ask("POST", "/api/sdk/webhooks", body, idempotency="x" * 129)[0] == 400, "a long key")
    for one in (first[1], other):
        check(ask("DELETE", "/api/sdk/webhooks/" + one["webhookId"])[0] == 200, "delete")


def deletion():
    """A decision neither waits for an endpoint that is being deleted, nor fails because of it."""
    made = register(AT + "/deleted", "kyc.session.updated")["webhookId"]
    psql = ["psql", "-XAtqv", "ON_ERROR_STOP=1", os.environ["TIDEMARK_DATABASE_URL"]]
    with subprocess.Popen(psql, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        other.stdin.write(f"BEGIN;\nDELETE FROM kyc.hook WHERE id = '{made}' RETURNING 'held';\n")
        other.stdin.flush()
        check(other.stdout.readline().strip() == "held", "delete in a transaction")
        sql("SET lock_timeout = '2s'; UPDATE kyc.session SET state = 'pending' WHERE address = 'A20'")
        other.stdin.write("COMMIT;\n")
        other.stdin.close()
        check(other.wait() == 0, "delete")
    until(lambda: came("/ok", type="kyc.session.updated", address="A20", state="pending"), "the other endpoint")
    check(not came("/deleted"), "a deleted endpoint got something")


def misbehaviour(hook):
    bad = {path: register(AT + path, "kyc.session.updated") for path in ("/slow", "/late", "/redirect", "/gone", "/broken", "/huge")}
    sql("UPDATE kyc.session SET state = 'approved' WHERE address = 'A20'")
    began = time.monotonic()
    until(lambda: came("/ok", type="kyc.session.updated", address="A20", state="approved"), "beside bad endpoints", 5)
    print(f"beside six bad endpoints: {time.monotonic() - began:.3f} s")
    until(lambda: ask("GET", "/api/sdk/webhooks/" + bad["/gone"]["webhookId"])[1]["reason"] == "gone", "410 disables")
    until(lambda: came("/ok", type="webhook.disabled", webhookId=bad["/gone"]["webhookId"]), "the notice")

    def log(path):
        items = ask("GET", f"/api/sdk/webhooks/{bad[path]['webhookId']}/deliveries")[1]["items"]
        return next(one for one in items if one["type"] == "kyc.session.updated")

    until(lambda: log("/redirect")["status"] == 302 and log("/huge")["state"] == "delivered", "redirect and huge")
    check(not came("/elsewhere"), "a redirection was followed")
    until(lambda: len(came("/broken", type="kyc.session.updated")) == 2, "500 is tried again")
    check(len({one["headers"]["webhook-id"] for one in came("/broken", type="kyc.session.updated")}) == 1, "the same id")
    until(lambda: log("/late")["state"] == "delivered", "late")
    check(ask("GET", "/api/sdk/webhooks/" + bad["/late"]["webhookId"])[1]["failures"] == 1, "an endpoint that is late may hold all senders")
    until(lambda: log("/broken")["state"] == "delivered", "the second attempt")
    status, answer = ask("POST", f"/api/sdk/webhooks/{bad['/broken']['webhookId']}/deliveries/{log('/broken')['deliveryId']}/replay")
    check(status == 202, f"replay: {answer}")
    until(lambda: len(came("/broken", type="kyc.session.updated")) == 3, "replayed")
    check(len({one["headers"]["webhook-id"] for one in came("/broken", type="kyc.session.updated")}) == 1, "replayed with another id")
    # Three days later.
    sql(f"UPDATE kyc.hook_delivery SET first_try = now() - interval '4 days', next_try = now() WHERE hook = '{bad['/redirect']['webhookId']}' AND state = 'queued'")
    until(lambda: ask("GET", "/api/sdk/webhooks/" + bad["/redirect"]["webhookId"])[1]["reason"] == "failed", "three days disable")
    until(lambda: came("/ok", type="webhook.disabled", reason="failed"), "its notice")
    for one in bad.values():
        check(ask("DELETE", "/api/sdk/webhooks/" + one["webhookId"])[0] == 200, "delete")
    check([one["webhookId"] for one in ask("GET", "/api/sdk/webhooks")[1]["items"]] == [hook["webhookId"]], "what is left")


def hanging():
    """Three integrators make endpoints that hang, again and again: they hold one sender each, and another integrator's notification passes them."""
    names, most = [f"hanging{i}" for i in range(3)], 0
    for name in names:
        subprocess.run(["tidemark-indexer", "integrator", "put", name, name], check=True, stdout=subprocess.DEVNULL)
    keys = [subprocess.run(["tidemark-indexer", "key", "add", name, "--scopes", "webhooks"], capture_output=True, text=True, check=True).stdout.strip()
            for name in names]
    until(lambda: all(ask("GET", "/api/sdk/webhooks", key=key)[0] == 200 for key in keys), "their keys")

    def held():
        return int(sql("SELECT count(*) FROM kyc.hook_delivery AS d JOIN kyc.hook AS h ON h.id = d.hook WHERE h.integrator LIKE 'hanging%' AND d.leased_until > now()"))

    for state in ("pending", "action_required", "approved"):
        made = [(key, ask("POST", "/api/sdk/webhooks", {"url": AT + "/slow", "events": ["price.stale"]}, key=key)[1]["webhookId"]) for key in keys for _ in range(8)]
        for key, one in made:
            check(ask("POST", f"/api/sdk/webhooks/{one}/test", key=key)[0] == 202, "a test of an endpoint that hangs")
        until(held, "an endpoint that hangs")
        before = len(came("/ok", type="kyc.session.updated", address="A20", state=state))
        sql(f"UPDATE kyc.session SET state = '{state}' WHERE address = 'A20'")
        most = max(most, held())
        until(lambda s=state, b=before: len(came("/ok", type="kyc.session.updated", address="A20", state=s)) > b, "beside endpoints that hang", 20)
        most = max(most, held())
        for key, one in made:
            check(ask("DELETE", "/api/sdk/webhooks/" + one, key=key)[0] == 200, "delete")
    check(most <= 3, f"{most} senders are held by endpoints that hang")
    print(f"three integrators with 24 endpoints that hang hold {most} senders of three nodes")


refusals()
repetition()
HOOK = register(AT + "/ok", "compliance.updated", "kyc.session.updated", "price.stale", "price.fresh", "market.listed", "proposal.queued", "proposal.executed")
examples()
compliance(HOOK)
CHILDREN = [node("second"), node("third")]
try:
    # Before one dies the others must be there.
    until(lambda: int(sql("SELECT count(*) FROM pg_stat_activity WHERE usename = 'tidemark_kyc' AND query LIKE '%hook_claim(%'")) == 3 * 8, "three nodes")
    sessions()
    deletion()
    misbehaviour(HOOK)
    hanging()
    burst([CHILDREN[0].pid, CHILDREN[1].pid])
finally:
    for child in CHILDREN:
        child.kill()
        child.wait()
print(f"{len(GOT)} notifications came")
