"""The short path of webhooks to partners: see webhooks.sh. Run as: PYTHON _webhooks.py WORK VERIFY_MJS"""
import calendar
import json
import subprocess
import sys
import time

import tidemark_client
from _receiver import ask, came, check, name_of, receive, register, sim, sql, until
from _steady import steady

WORK, VERIFY = sys.argv[1:3]
PORT, STRANGER = receive(f"{WORK}/known.pem"), receive(f"{WORK}/stranger.pem")
AT = f"https://localhost:{PORT}"
WATCHED = [name_of(f"watched{i}") for i in range(2)]


def verify(pairs):
    """What each package says of each (notification, secret): its type, or why it is refused."""
    def python(one, secret):
        try:
            return tidemark_client.verify_webhook(one["body"].encode(), one["headers"], secret).type
        except tidemark_client.WebhookError as error:
            return error.code

    run = subprocess.run(["node", VERIFY], input=json.dumps([{**one, "secret": secret} for one, secret in pairs]), capture_output=True, text=True, check=False)
    check(run.returncode == 0, f"node: {run.stderr}")
    said = [python(*pair) for pair in pairs]
    check(run.stdout.split() == said, f"the packages differ: {run.stdout.split()} {said}")
    return said


def tested(hook):
    """Asks for a test of this webhook, which sends to /ok, and waits for it."""
    before = len(came("/ok", type="webhook.test", webhookId=hook))
    check(ask("POST", f"/api/sdk/webhooks/{hook}/test")[0] == 202, "test")
    return until(lambda: came("/ok", type="webhook.test", webhookId=hook)[before:], "a test")[0]


def rotate(hook):
    """A request whose answer was lost is asked again: the same secret. One that names an older secret changes nothing."""
    path = f"/api/sdk/webhooks/{hook}/secret"
    first, again = (ask("POST", path, {"overlapSeconds": 600, "secretRevision": 1}) for _ in range(2))
    check(first[0] == 200 and again[0] == 200 and first[1]["secret"] == again[1]["secret"], f"asked twice: {first} {again}")
    check(first[1]["secretRevision"] == again[1]["secretRevision"] == 2 and again[1]["previousSecretEndsAt"], f"asked twice: {again}")
    during = tested(hook)
    third = ask("POST", path, {"overlapSeconds": 0, "secretRevision": 2})
    check(third[0] == 200 and third[1]["secretRevision"] == 3, f"the third secret: {third}")
    status, answer = ask("POST", path, {"overlapSeconds": 0, "secretRevision": 1})
    check((status, answer["code"]) == (409, "secret_changed"), f"an old revision: {status} {answer}")
    for wrong in ({"overlapSeconds": 0}, {"overlapSeconds": 0, "secretRevision": 0}, {"overlapSeconds": 0, "secretRevision": "1"}, {"secretRevision": 1}):
        check(ask("POST", path, wrong)[0] == 400, f"{wrong}")
    return first[1]["secret"], third[1]["secret"], during


def ends(life):
    """Attestations that end that many seconds later: address, when each is over. Not those that were over before anything was told of them."""
    at, before = {}, {who: len(came("/ok", address=who)) for who in WATCHED}
    for who in WATCHED:
        sim("tx", "attest", "--as", "sumsub", "--subject", who, "--expires-in", str(life))
    for who in WATCHED:
        one = until(lambda who=who: came("/ok", address=who)[before[who]:], "the attestation")[0]["data"]
        if one["compliant"]:
            at[who] = calendar.timegm(time.strptime(one["validUntil"], "%Y-%m-%dT%H:%M:%SZ")) + 1
    return at


def endings(hook):
    """Attestations end."""
    late = []
    # A machine too slow to see four seconds gets longer ones.
    at = ends(4) or ends(30) or ends(120)
    check(at, "no attestation was told before its end")
    for who in sorted(at, key=at.get):
        while time.time() < at[who]:
            time.sleep(0.005)
        began = steady()
        ended = until(lambda who=who: [one for one in came("/ok", address=who, reasonCode="lapsed") if one["at"] >= at[who] - 1], "the end")[0]
        check(ended["at"] >= at[who], f"told {at[who] - ended['at']:.3f} s before the end")
        check(ended["data"]["previouslyCompliant"] is True and ended["data"]["compliant"] is False, f"the end: {ended}")
        late.append(max(0, ended["steady"] - began))
        check(sql(f"SELECT due_at IS NULL FROM kyc.hook_watch WHERE hook = '{hook}' AND address = '{who}'") == "t", "nothing more is planned")
    # The best of them, and longer where a plain notification takes long too: other work on the machine does not decide.
    began = steady()
    plain = tested(hook)["steady"] - began
    print("told", ", ".join(f"{one:.3f}" for one in late), f"s after the end; a plain notification: {plain:.3f} s")
    check(min(late) < 1 + 3 * plain, "no end was told within a second")


def turns():
    """An endpoint with many addresses, all of them before another's by their text, has its share of a batch and no more."""
    many, few = "a" * 32, "b" * 32
    took = sql(f"""BEGIN;
        INSERT INTO kyc.hook (id, deployment, integrator, url, events) SELECT i, d.id, 'turns', 'https://turns.example/', '{{compliance.updated}}'
          FROM chain.deployment AS d, unnest(ARRAY['{many}', '{few}']) AS i;
        INSERT INTO kyc.hook_watch (hook, address, deployment, due_at) SELECT '{many}', 'GA' || lpad(n::text, 54, '0'), d.id, now() - interval '1 hour'
          FROM chain.deployment AS d, generate_series(1, 200) AS n;
        INSERT INTO kyc.hook_watch (hook, address, deployment, due_at) SELECT '{few}', rpad('GZ', 56, 'Z'), d.id, now() FROM chain.deployment AS d;
        SELECT string_agg(w.hook, ' ' ORDER BY w.address) FROM chain.deployment AS d, kyc.hook_due(d.id, 16, 64) AS w WHERE w.hook IN ('{many}', '{few}');
        ROLLBACK""")
    check(took.split() == [many] * 16 + [few], f"a batch: {took}")


def repeated(hook):
    """What changes nothing is not noted in the audit, which keeps its rows for ever."""
    rows = f"SELECT count(*) FROM kyc.audit WHERE about = '{hook}'"
    before = sql(rows)
    for body in ({"enabled": True}, {"url": AT + "/ok"}, {"events": ["compliance.updated"], "enabled": True}, {}):
        check(ask("PATCH", f"/api/sdk/webhooks/{hook}", body)[0] == 200, f"{body}")
    check(sql(rows) == before, f"noted: {before} {sql(rows)}")


def bounded():
    """What the audit and the log keep is limited; what stops deliveries is not. Another endpoint is no way around it."""
    one, other = (register(AT + "/bounded", "price.stale")["webhookId"] for _ in range(2))
    sql(f"UPDATE kyc.hook_use SET used = 198, day = day + 1 WHERE what = 'changes of ' || (SELECT integrator FROM kyc.hook WHERE id = '{one}')")
    rows = "SELECT count(*) FROM kyc.audit"
    for body in ({"url": AT + "/twice"}, {"url": AT + "/bounded"}):
        check(ask("PATCH", f"/api/sdk/webhooks/{one}", body)[0] == 200, f"below the limit: {body}")
    before = sql(rows)
    new = {"url": AT + "/more", "events": ["price.stale"]}
    for method, path, body in (("PATCH", "/" + one, {"url": AT + "/twice"}), ("PATCH", "/" + other, {"url": AT + "/more", "enabled": False}),
                               ("POST", "", new), ("POST", f"/{one}/secret", {"overlapSeconds": 0, "secretRevision": 1})):
        status, answer = ask(method, "/api/sdk/webhooks" + path, body)
        check((status, answer["code"]) == (429, "too_many_changes"), f"beyond the limit: {method} {path} {body}: {status} {answer}")
    check(sql(rows) == before, "a refused change is noted")
    check(ask("PATCH", f"/api/sdk/webhooks/{one}", {"enabled": False})[1]["state"] == "disabled", "disabling is free")
    check(ask("PATCH", f"/api/sdk/webhooks/{one}", {"enabled": True})[0] == 429, "enabling is not")
    check(ask("DELETE", f"/api/sdk/webhooks/{one}")[0] == 200, "deleting is free")
    check(ask("POST", "/api/sdk/webhooks", new)[0] == 429, "a deleted one makes no room")
    sql("UPDATE kyc.hook_use SET day = day - 3")
    check(ask("PATCH", f"/api/sdk/webhooks/{other}", {"url": AT + "/more"})[0] == 200, "the next day")
    sends(other)
    check(ask("DELETE", f"/api/sdk/webhooks/{other}")[0] == 200, "delete")


def sends(hook):
    """A notification is sent again ten times, and an endpoint has so many tests and replays a day."""
    path = f"/api/sdk/webhooks/{hook}"
    sql(f"UPDATE kyc.hook SET paused_until = now() + interval '1 day' WHERE id = '{hook}'")  # no sender takes them
    check(ask("POST", path + "/test")[0] == 202, "test")
    sql(f"UPDATE kyc.hook_use SET day = day + 1 WHERE what = 'sends of {hook}'")  # midnight ends nothing here
    first = sql(f"SELECT id FROM kyc.hook_delivery WHERE hook = '{hook}' AND subject = 'webhook:{hook}'")
    done = f"""UPDATE kyc.hook SET updated_at = now() WHERE id = '{hook}';
        UPDATE kyc.hook_delivery SET state = 'delivered', head = false, done_at = now() WHERE hook = '{hook}'"""
    for n in range(12):
        sql(done)
        status, answer = ask("POST", f"{path}/deliveries/{first}/replay")
        check((status, answer.get("code")) == ((202, None) if n < 10 else (409, "too_many_replays")), f"replay {n}: {status} {answer}")
    check(sql(f"SELECT used FROM kyc.hook_use WHERE what = 'sends of {hook}'") == "11", "tests and replays are counted")
    sql(f"UPDATE kyc.hook_use SET used = 1000 WHERE what = 'sends of {hook}'")
    status, answer = ask("POST", path + "/test")
    check((status, answer["code"]) == (429, "too_many_sends"), f"beyond the limit: {status} {answer}")
    sql("UPDATE kyc.hook_use SET day = day - 4")
    until(lambda: sql(f"SELECT bool_or(kyc.hook_maintain(id)) FROM chain.deployment; SELECT count(*) FROM kyc.hook_use WHERE what = 'sends of {hook}'").split()[-1] == "0",
          "what was used of another day to go")


hook = register(AT + "/ok", "compliance.updated")
broken = register(AT + "/broken", "kyc.session.updated")["webhookId"]
stranger = register(f"https://localhost:{STRANGER}/ok", "kyc.session.updated")["webhookId"]
ID = hook["webhookId"]
status, answer = ask("PATCH", f"/api/sdk/webhooks/{ID}/addresses", {"add": WATCHED})
check(status == 200 and answer["addresses"] == 2, f"watch: {answer}")
for one in (broken, stranger):
    check(ask("POST", f"/api/sdk/webhooks/{one}/test")[0] == 202, "test")
first = tested(ID)
second_secret, third_secret, during = rotate(ID)
second = tested(ID)
for who in WATCHED:
    begun = until(lambda who=who: came("/ok", type="compliance.updated", address=who), "the first answer")[0]["data"]
    check(begun["compliant"] is False and begun["previouslyCompliant"] is None, f"the first answer: {begun}")
endings(ID)
turns()
repeated(ID)
bounded()
# Meanwhile the 500 was followed by a second attempt, with the same id.
tries = until(lambda: len(came("/broken", type="webhook.test")) == 2 and came("/broken", type="webhook.test"), "500 is tried again")
check(len({one["headers"]["webhook-id"] for one in tries}) == 1, "the same id")


def log(one):
    return ask("GET", f"/api/sdk/webhooks/{one}/deliveries")[1]["items"][0]


taken = until(lambda: log(broken)["state"] == "delivered" and log(broken), "the second attempt in the log")
check([(one["status"], one["error"]) for one in taken["tries"]] == [(500, "bad_answer"), (204, None)] and taken["attempts"] == 2, f"the log: {taken}")
check(all(one["endedAt"] for one in taken["tries"]), f"the log: {taken}")
check(not came("/ok", webhookId=stranger), "sent to a receiver with a foreign certificate")
refused = until(lambda: log(stranger)["tries"] and log(stranger), "a receiver with a foreign certificate")
check(refused["error"] == "no_answer" and refused["state"] == "queued", f"a foreign certificate: {refused}")
forged = {**first, "body": first["body"].replace("webhook.test", "webhook.tesT")}
check(verify([(first, hook["secret"]), (first, second_secret), (forged, hook["secret"]), (during, hook["secret"]), (during, second_secret),
               (second, third_secret), (second, second_secret)]) ==
      ["webhook.test", "bad_signature", "bad_signature", "webhook.test", "webhook.test", "webhook.test", "bad_signature"], "signatures")
print("ok webhooks")
