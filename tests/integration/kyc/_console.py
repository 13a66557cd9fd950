"""Calls the console over HTTP as its proxy does, with a real database and real rows of the attester."""
import atexit
import base64
import hashlib
import http.client
import json
import os
import re
import subprocess
import threading
import urllib.parse

import _providers
from _attester import BIN, PSQL, World, check, until
from _bodies import fault, variants

SECRET = "a-secret-of-proxy-and-console-0123456789"
ORIGIN = "https://console.example"


def certificate(name):
    """Any bytes will do as a certificate: the proxy checks it, the console takes its hash."""
    return b"certificate of " + name.encode()


def escaped(der):
    digits = base64.b64encode(der).decode()
    lines = "\n".join(digits[i:i + 64] for i in range(0, len(digits), 64))
    return urllib.parse.quote(f"-----BEGIN CERTIFICATE-----\n{lines}\n-----END CERTIFICATE-----\n", safe="")


def person(name, role, *certificates):
    return {"name": name, "role": role, "certificates": [hashlib.sha256(certificate(c)).hexdigest() for c in certificates or [name]]}


PEOPLE = [person("vera", "viewer"), person("rita", "reviewer"), person("ron", "reviewer", "ron", "ron-2"),
          person("otto", "operator"), person("olga", "operator")]


class Console:
    def __init__(self, world, people=PEOPLE, expect=None, listen="127.0.0.1:0", mode=0o600):
        path = world.path
        self.file, self.log = path / "console.json", path / "console.log"
        self.file.write_text(json.dumps({"origin": ORIGIN, "proxySecret": SECRET, "people": people}))
        self.file.chmod(mode)
        url = world.db.url.replace("user=postgres", "user=tidemark_console")
        command = [BIN / "tidemark-console", "--console-file", self.file, "--console-listen", listen,
                   "--console-database-url", url, "--deployment", path / "deployment.json"]
        if expect is not None:
            done = subprocess.run(command, capture_output=True, text=True, timeout=20)
            check(done.returncode == 78 and expect in done.stderr, f"{expect}: {done.returncode} {done.stderr}")
            return
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log)
        atexit.register(self.process.kill)  # however the test ends
        until(self.listening, lambda: f"the console: {self.log.read_text()}")
        self.port = int(self.listening()[1])

    def listening(self):
        return re.search(r"console\.listening.* port=(\d+) ", self.log.read_text())

    def ask(self, who, path, body=None, headers=None):
        """who: a certificate's name; None: no headers of the proxy."""
        lines = {} if who is None else {"X-Console-Proxy": SECRET, "X-Console-Certificate": escaped(certificate(who))}
        if body is not None:
            lines |= {"Content-Type": "application/json", "Origin": ORIGIN, "Sec-Fetch-Site": "same-origin"}
        lines = {k: v for k, v in (lines | (headers or {})).items() if v is not None}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        body = body if body is None or isinstance(body, str) else json.dumps(body)
        connection.request("GET" if body is None else "POST", f"/console{path}", body, lines)
        answer = connection.getresponse()
        said = answer.read().decode()
        connection.close()
        self.headers = dict(answer.getheaders())
        return answer.status, json.loads(said) if said.startswith("{") else said

    def twice(self, who, name, value):
        """The proxy's headers, and one of them once more: a client's, if a proxy let it pass."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        connection.putrequest("GET", "/console/api/review")
        for line in (name, value), ("X-Console-Proxy", SECRET), ("X-Console-Certificate", escaped(certificate(who))):
            connection.putheader(*line)
        connection.endheaders()
        status = connection.getresponse().status
        connection.close()
        return status

    def does(self, who, what, body, status, code=None):
        got, said = self.ask(who, f"/api/{what}", body)
        check(got == status and (code is None or said.get("code") == code), f"{who} {what} {body}: {got} {said}")
        return said

    def propose(self, who, action, target, status=200, code=None, reason="reviewed", **more):
        return self.does(who, "actions", {"action": action, "target": str(target), "reason": reason, **more}, status, code).get("result")

    def decide(self, who, what, proposal, status=200, code=None):
        return self.does(who, what, {"proposal": int(proposal)}, status, code).get("result")

    def stop(self):
        self.process.terminate()
        check(self.process.wait(20) == 0, "the console does not end as asked")


def login(w, c):
    forged = {"X-Console-Certificate": escaped(certificate("otto"))}
    for what, status in (((None, None), 403), ((None, forged), 403), ((None, forged | {"X-Console-Proxy": SECRET[:-1] + "0"}), 403),
                         ((None, {"X-Console-Proxy": SECRET}), 403), (("stranger", None), 403), (("vera", {"X-Console-Certificate": "%2"}), 403),
                         (("vera", {"X-Console-Certificate": urllib.parse.quote(certificate("vera"))}), 403), (("vera", None), 200)):
        got, said = c.ask(what[0], "/api/review", headers=what[1])
        check(got == status, f"{what}: {got} {said} {c.log.read_text()}")
    check(said["you"] == {"name": "vera", "role": "viewer"} and said["ledger"] > 0 and "imulat" in said["network"], f"{said}")
    check("console.refused why=" in c.log.read_text(), "a refusal is not in the log")
    for path in "", "/app/icon.svg", "/api/audit":
        check(c.ask(None, path)[0] == 403, f"{path} without a certificate")
    for headers in ({"Origin": "https://evil.example"}, {"Origin": None}, {"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"}):
        check(c.ask("otto", "/api/withdraw", {"proposal": 1}, headers)[1].get("code") == "other_origin", f"{headers}")
    for headers, status in (({"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}, 403), ({"Sec-Fetch-Site": "same-site"}, 403),
                            ({"Origin": "https://evil.example"}, 403), ({"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}, 403),
                            ({"Sec-Fetch-Site": "same-origin", "Origin": ORIGIN}, 200), ({"Sec-Fetch-Site": "none"}, 200)):
        check(c.ask("vera", "/api/review", headers=headers)[0] == status, f"GET with {headers}")
    link = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    check(c.ask("vera", "", headers=link)[0] in (200, 404), "a link to the page")  # 404: the page was not built
    check(c.ask("vera", "", headers=link | {"Sec-Fetch-Mode": "no-cors"})[0] == 403, "the page inside another one")
    check(c.ask("otto", "/api/withdraw", {"proposal": 1}, {"Content-Type": "text/plain"})[0] == 415, "a form's content type")
    check(c.ask("otto", "/api/actions", {"action": "requeue", "target": "1; DROP", "reason": "reviewed"})[0] == 400, "no id")
    check(c.ask("otto", "/api/review?after=x")[1].get("code") == "cursor_invalid", "no position")
    twice = [person("ann", "viewer", "x"), person("bob", "operator", "x")]
    Console(w, twice, expect="/people/1/certificates/0: is used twice")
    Console(w, [person("ann", "viewer", "x"), person("ann", "operator", "y")], expect="/people/1/name")
    Console(w, [person("ann", "admin")], expect="/people/0/role: expected viewer, reviewer or operator")
    Console(w, [person("Ann", "viewer")], expect="/people/0/name")
    Console(w, mode=0o640, expect="mode 0640 lets others")
    Console(w, listen="0.0.0.0:0", expect="console_listen")
    for name, value in (("X-Console-Certificate", escaped(certificate("otto"))), ("X-Console-Proxy", SECRET)):
        check(c.twice("vera", name, value) == 403, f"{name} twice")


def forge(w):
    """An intent that KYC did not sign: the attester parks it. No other one waits, so it needs no new ledger."""
    w.db.ask("UPDATE kyc.outbox SET state = 'superseded' WHERE state = 'queued'")
    intent, subject, session = w.plant()
    w.db.ask(f"UPDATE kyc.outbox SET mac = sha256('forged') WHERE id = {intent}")
    code, _, err = w.once("--once")
    check(w.row(intent)[:2] == ["parked", "not_signed"], f"{code} {err} {w.row(intent)}")
    return intent, subject, session


def actors(w, what):
    return w.db.ask(f"SELECT actor FROM kyc.audit WHERE what = '{what}' ORDER BY id DESC LIMIT 1")


def requeue(w, c):
    intent, subject, session = forge(w)
    _, said = c.ask("vera", "/api/review")
    item = next(i for i in said["items"] if i["id"] == str(intent))
    check((item["kind"], item["reason"], item["address"], item["sessionId"]) == ("parked", "not_signed", subject, session), f"{item}")
    c.propose("vera", "requeue", intent, 403, "role")
    c.propose("ron", "requeue", intent, 400, "invalid_body", reason="because Jane Doe said so")
    c.propose("ron", "requeue", intent, 400, "invalid_body", ticket="Jane Doe")
    proposal = c.propose("ron", "requeue", intent, ticket="KYC-12")
    c.propose("rita", "requeue", intent, 409, "proposed_already")
    check(c.propose("ron", "requeue", intent, ticket="KYC-12") == proposal, "a repeated request")
    c.decide("ron", "confirm", proposal, 403, "same_person")
    c.decide("ron-2", "confirm", proposal, 403, "same_person")  # the same person's other certificate
    c.decide("vera", "confirm", proposal, 403, "role")
    check(w.row(intent)[0] == "parked", "released by one person")
    check(c.decide("rita", "confirm", proposal) == "true", "confirmed")
    check(w.row(intent)[0] == "queued" and w.row(intent)[2] == "released by rita and ron", f"{w.row(intent)}")
    c.decide("otto", "confirm", proposal, 404, "nothing_there")
    check(c.decide("rita", "confirm", proposal) == "true", "a repeated confirmation")
    check(actors(w, "proposed.requeue") == ["tidemark_console console ron"], f"{actors(w, 'proposed.requeue')}")
    check(actors(w, "confirmed.requeue") == ["tidemark_console console rita"], f"{actors(w, 'confirmed.requeue')}")
    check(actors(w, "released") == ["tidemark_console outbox"], f"{actors(w, 'released')}")
    w.once("--once")
    check(w.row(intent)[:2] == ["parked", "not_signed"], "a second person does not make a forged intent genuine")
    proposal = c.propose("ron", "requeue", intent)
    code, _, err = w.once("requeue", str(intent))  # on the command line meanwhile
    check(code == 0, err)
    c.decide("rita", "confirm", proposal, 409, "target_changed")
    c.decide("rita", "withdraw", proposal)
    c.decide("rita", "withdraw", proposal)  # the same request again
    c.decide("ron", "withdraw", proposal, 404, "nothing_there")
    check(actors(w, "withdrawn.requeue") == ["tidemark_console console rita"], "withdrawn")
    w.once("--once")
    proposal = c.propose("ron", "requeue", intent)
    w.db.ask(f"UPDATE kyc.proposal SET proposed_at = proposed_at - interval '25 hours' WHERE id = {proposal}")
    c.decide("rita", "confirm", proposal, 409, "proposal_expired")
    check(int(c.propose("rita", "requeue", intent)) > int(proposal), "an expired proposal is in the way")


def reviews(w, c):
    """Sessions that need a person are in the list of what needs review, behind the intents, with age and reason."""
    rows = [("review", "country_unknown", "2 hours"), ("review", None, "3 days"), ("revoked", "no_country", "1 hour"), ("declined", "level", "29 days")]
    others = [("declined", "document_expired", "1 hour"), ("expired", "session_ended", "1 hour"), ("declined", "no_country", "31 days"), ("pending", None, "1 hour"),
              ("approved", "gone", "1 hour"), ("action_required", "face_unclear", "1 hour")]
    for n, (state, reason, age) in enumerate(rows + others):
        w.db.ask("INSERT INTO kyc.session (id, deployment, address, provider, integrator, mode, ref, expires_at, state, reason, updated_at) VALUES"
                 f" ('review-{n}', {w.served}, 'GREVIEW{n}', 'didit', '', 'redirect', 'r{n}', now() + interval '1 day', '{state}',"
                 f" nullif('{reason or ''}', ''), now() - interval '{age}')")
    items, after = [], ""
    while True:  # a page of two at a time
        code, said = c.ask("vera", f"/api/review?limit=2{after}")
        check(code == 200, f"{said}")
        items += said["items"]
        if not said["next"]:
            break
        after = f"&after={urllib.parse.quote(said['next'])}"
    sessions = [i for i in items if i["kind"] == "session"]
    check(items[-len(sessions):] == sessions and len({json.dumps(i) for i in items}) == len(items), f"{items}")
    check([(i["sessionId"], i["sessionState"], i["reason"], i["id"], i["provider"], i["address"]) for i in sessions] ==
          [(f"review-{n}", rows[n][0], rows[n][1], None, "didit", f"GREVIEW{n}") for n in (3, 1, 0, 2)], f"{sessions}")
    check([i["ageS"] // 3600 for i in sessions] == [29 * 24, 72, 2, 1] and all(i["since"] for i in sessions), f"{sessions}")
    whole = c.ask("vera", "/api/review?limit=200")[1]
    check([i["sessionId"] for i in whole["items"]] == [i["sessionId"] for i in items] and whole["next"] is None, "in one page")
    for position in ("x", "s.", "s.x.y", "s.1", "1.5", "-"):
        code, said = c.ask("vera", f"/api/review?after={position}")
        check((code, said.get("code")) == (400, "cursor_invalid") or (position == "s.1" and code == 200), f"after={position}: {code} {said}")
    w.db.ask("DELETE FROM kyc.session WHERE id LIKE 'review-%'")


def attended(w, c):
    intent, _, session = w.plant()
    w.db.ask(f"UPDATE kyc.outbox SET state = 'confirmed', confirmed_ledger = 7, attention = 'suspended' WHERE id = {intent}")
    item = next(i for i in c.ask("vera", "/api/review")[1]["items"] if i["id"] == str(intent))
    check((item["kind"], item["reason"], item["ledger"]) == ("attention", "suspended", 7), f"{item}")
    c.propose("vera", "attended", intent, 403, "role")
    c.propose("rita", "attended", intent, reason="mistake", ticket="KYC-7")
    c.propose("rita", "attended", intent, reason="mistake", ticket="KYC-7")  # the same request again
    check(w.db.one(f"SELECT count(*) FROM kyc.audit WHERE what = 'attended' AND about = '{session}'") == "1", "noted twice")
    c.propose("ron", "attended", intent, 404, "nothing_there")
    check(actors(w, "attended") == ["tidemark_console console rita"], f"{actors(w, 'attended')}")
    check(w.db.one(f"SELECT detail ->> 'reason' FROM kyc.audit WHERE what = 'attended' AND about = '{session}'") == "mistake KYC-7", "the reason is not in the audit")


def hold(w, sql):
    holder = subprocess.Popen([PSQL, "-Xqc", f"BEGIN; {sql}; SELECT pg_sleep(600)", w.db.url], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    until(lambda: w.db.one("SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(600)%' AND wait_event = 'PgSleep'") == "1", "held")
    return holder


class Asking:
    """A confirmation that is repeated until it is answered with 200: it may wait for a lock for longer than the console does."""

    def __init__(self, c, who, proposal):
        self.enough = threading.Event()

        def run():
            while not self.enough.is_set():
                try:
                    if c.ask(who, "/api/confirm", {"proposal": int(proposal)})[0] == 200:
                        return
                except (http.client.HTTPException, OSError):
                    pass
        self.thread = threading.Thread(target=run, daemon=True)
        self.thread.start()

    def stop(self):
        self.enough.set()
        self.thread.join()


def let_go(w, holder):
    w.db.ask("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(600)%' AND pid <> pg_backend_pid()")
    holder.kill()
    holder.wait()
    until(lambda: w.db.one("SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(600)%' AND pid <> pg_backend_pid()") == "0", "let go")


def waits(w):
    return w.db.one("SELECT count(*) FROM pg_stat_activity WHERE usename = 'tidemark_console' AND wait_event_type = 'Lock'")


def erase(w, c):
    intent, subject, session = w.plant()
    c.propose("rita", "erase", session, 403, "role")
    proposal = c.propose("otto", "erase", session, reason="person_request")
    c.decide("rita", "confirm", proposal, 403, "role")
    c.decide("olga", "confirm", proposal, 409, "not_now")  # its intent is on the way
    w.db.ask(f"UPDATE kyc.outbox SET state = 'superseded' WHERE id = {intent}")
    revoke = w.plant(subject, "revoke", 2, session)[0]
    w.db.ask(f"""UPDATE kyc.outbox SET state = 'parked', reason = 'other_key' WHERE id = {revoke};
        UPDATE kyc.session SET attested_until = clock_timestamp() + interval '5 days' WHERE id = '{session}'""")
    c.decide("olga", "confirm", proposal, 409, "not_now")  # nothing else takes the attestation back
    w.db.ask(f"UPDATE kyc.outbox SET genuine = false WHERE id = {revoke}")
    c.decide("otto", "confirm", proposal, 403, "same_person")
    holder = hold(w, f"SELECT FROM kyc.outbox WHERE id = {revoke} FOR UPDATE")
    asking = Asking(c, "olga", proposal)
    until(lambda: waits(w) == "1", "waits")
    # A statement that waits for a row does not block the audit's lock for the attester and KYC.
    w.db.ask("SET lock_timeout = '1s'; SELECT kyc.note('test', 'not_held', 'x', '{}')")
    let_go(w, holder)
    asking.thread.join()
    c.decide("otto", "confirm", proposal, 404, "nothing_there")  # olga's is done
    check(w.db.one(f"SELECT count(*) FROM kyc.session WHERE address = '{subject}'") == "0", "kept")
    c.decide("olga", "confirm", proposal)  # the same request again
    rows = w.db.ask(f"SELECT actor || ' ' || what FROM kyc.audit WHERE about = '{session}' AND actor LIKE 'tidemark_console %' ORDER BY id DESC LIMIT 3")
    check(rows == ["tidemark_console console olga confirmed.erase", "tidemark_console operator erased", "tidemark_console console otto proposed.erase"], f"{rows}")
    check(w.db.one(f"SELECT count(*) FROM kyc.proposal WHERE proposal::text LIKE '%{subject}%'") == "0", "a proposal keeps the address")


def renamed(w, c):
    """Another name in the file makes no second person of the same certificates."""
    intent, _, _ = forge(w)
    proposal = c.propose("ron", "requeue", intent)
    c.stop()
    c.__init__(w, [person("ronald", "reviewer", "ron-2"), *[p for p in PEOPLE if p["name"] != "ron"]])
    c.decide("ron-2", "confirm", proposal, 403, "same_person")
    check(w.row(intent)[0] == "parked", "one person under two names")
    c.stop()
    c.__init__(w)
    c.decide("rita", "withdraw", proposal)


def many(w, c):
    """One person cannot fill the list of the others."""
    sessions = [w.plant()[2] for _ in range(33)]
    made = [c.propose("otto", "erase", s) for s in sessions[:32]]
    c.propose("otto", "erase", sessions[32], 429, "too_many")
    check(c.propose("otto", "erase", sessions[0]) == made[0], "a repeated request at the limit")
    c.decide("olga", "withdraw", c.propose("olga", "erase", sessions[32]))
    for proposal in made:
        c.decide("olga", "withdraw", proposal)
    holder = hold(w, "SELECT pg_advisory_xact_lock(7021, 51)")  # of new sessions
    c.decide("otto", "withdraw", c.propose("otto", "erase", sessions[0]))
    let_go(w, holder)


def one_of_many(w, c):
    """One person's requests that wait leave a worker to the others."""
    intents = [w.plant() for _ in range(5)]
    for intent, _, _ in intents:
        w.db.ask(f"UPDATE kyc.outbox SET state = 'parked', reason = 'manual_review' WHERE id = {intent}")
    proposals = [c.propose("rita", "requeue", intent) for intent, _, _ in intents]
    holder = hold(w, f"SELECT FROM kyc.outbox WHERE id IN ({', '.join(str(i[0]) for i in intents)}) FOR UPDATE")
    asking = [Asking(c, "otto", proposal) for proposal in proposals]
    until(lambda: waits(w) == "2", "two of them wait")
    check(c.ask("vera", "/api/attesters")[0] == 200, "another person")
    check(int(waits(w)) <= 2, "one person has all workers")
    let_go(w, holder)
    for one in asking:
        one.thread.join()
    w.db.ask("UPDATE kyc.outbox SET state = 'superseded' WHERE state = 'queued'")


class Api:
    """tidemark-api, for its workers: they take what people ordered."""

    def __init__(self, w):
        self.log, port, file = w.path / "api.log", w.path / "api.port", w.path / "kyc.json"
        file.touch(0o600)
        file.write_text(json.dumps(_providers.kyc_file("http://127.0.0.1:9", "http://127.0.0.1:8080", ("sandbox",))))
        env = dict(os.environ, TIDEMARK_DATABASE_URL=w.db.url.replace("user=postgres", "user=tidemark_feeder"),
                   TIDEMARK_KYC_DATABASE_URL=w.db.url.replace("user=postgres", "user=tidemark_kyc"), TIDEMARK_KYC_FILE=str(file))
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen([BIN / "tidemark-api", "--api-listen", "127.0.0.1:0", "--api-port-file", port, "--api-cache", w.path / "cache",
                                             "--deployment", w.path / "deployment.json", "--clock-skew-s", "3153600000", "--api-drain-ms", "0"],
                                            env=env, stdout=log, stderr=log)
        atexit.register(self.process.kill)
        until(lambda: port.exists() and port.read_text(), lambda: f"the API: {self.log.read_text()}")

    def stop(self):
        self.process.terminate()
        check(self.process.wait(30) == 0, f"the API: {self.log.read_text()[-2000:]}")


def approve(w, subject=None, provider="sandbox"):
    intent, subject, session = w.plant(subject)
    w.db.ask(f"""UPDATE kyc.session SET state = 'approved', jurisdiction = 756, decision_rev = 1, provider = '{provider}',
        attested_until = clock_timestamp() + interval '300 days' WHERE id = '{session}'""")
    return subject, session


def revoke(w, c):
    """Two people's order reaches the chain by the way that a provider's withdrawal takes."""
    w.db.ask("UPDATE kyc.outbox SET state = 'superseded' WHERE state = 'queued'")
    subject, session = approve(w)
    _, other = approve(w, subject, "no-longer-in-the-file")
    bystander, _ = approve(w)
    with w.attester("run"):
        w.tick(20)
        until(lambda: w.compliant(subject) and w.compliant(bystander), "attested")
        c.propose("vera", "revoke", session, 403, "role")
        c.propose("rita", "revoke", "f" * 32, 404, "nothing_there")
        check(c.ask("rita", f"/api/address/{w.subject()}")[1]["items"] == [], "sessions of a stranger")
        proposal = c.propose("rita", "revoke", session, reason="fraud", ticket="KYC-9")
        c.decide("rita", "confirm", proposal, 403, "same_person")
        c.decide("ron", "confirm", proposal)
        check(c.decide("ron", "confirm", proposal) == "true", "a repeated confirmation")
        items = c.ask("vera", f"/api/address/{subject}")[1]["items"]
        check([(i["state"], bool(i["revocationOrderedAt"])) for i in items] == [("approved", True)] * 2, f"ordered: {items}")
        blocked = c.propose("otto", "erase", session)
        c.decide("olga", "confirm", blocked, 409, "not_now")  # the order would be lost with the session
        api = Api(w)  # was away until now
        until(lambda: not w.compliant(subject), lambda: f"revoked: {w.db.ask('SELECT * FROM kyc.revocation')} {api.log.read_text()[-3000:]}")
        check(w.compliant(bystander), "another address was revoked")
        until(lambda: w.db.one("SELECT count(*) FROM kyc.revocation WHERE done_at IS NULL") == "0", "both orders are done")
        until(lambda: w.db.one(f"SELECT status FROM analyst.compliance WHERE address = '{subject}'") != "Verified", "the index says so")
        item = c.ask("vera", f"/api/address/{subject}")[1]["items"][0]
        check(item["chain"]["status"] == "Unknown" and item["state"] == "revoked" and not item["revocationOrderedAt"], f"{item}")
        rows = w.db.ask(f"SELECT state, reason, decision_rev FROM kyc.session WHERE id IN ('{session}', '{other}')")
        check(rows == ["revoked|operator|2"] * 2, f"{rows}")
        until(lambda: w.db.one("SELECT count(*) FROM kyc.outbox WHERE state IN ('queued', 'signed', 'submitted')") == "0", "both intents are over")
        api.stop()
        w.still()
    rows = w.db.ask(f"SELECT actor || ' ' || what || ' ' || coalesce(detail ->> 'because', '') FROM kyc.audit WHERE about = '{session}'"
                    " AND (actor LIKE '%console%' OR what LIKE 'decision%') ORDER BY id")
    check(rows == ["tidemark_console console rita proposed.revoke ", "tidemark_console console ron confirmed.revoke ",
                   "tidemark_console console otto proposed.erase ", "tidemark_kyc worker decision.moved people_ordered"], f"{rows}")
    c.propose("rita", "revoke", session, 404, "nothing_there")  # nothing stands
    c.decide("olga", "withdraw", blocked)
    _, session = approve(w)
    proposal = c.propose("rita", "revoke", session)
    w.db.ask(f"UPDATE kyc.session SET state = 'declined' WHERE id = '{session}'")
    c.decide("ron", "confirm", proposal, 409, "target_changed")
    w.db.ask(f"""UPDATE kyc.session SET state = 'approved' WHERE id = '{session}';
        INSERT INTO kyc.proposal (deployment, action, target, target_state, reason, state, proposed_by, certificates, decided_by, decided_at)
        SELECT {w.served}, 'revoke', 'x', '', 'fraud', 'done', 'a', '{{}}', 'b', clock_timestamp() FROM generate_series(1, 19)""")
    c.decide("ron", "confirm", proposal, 429, "too_many")
    c.decide("ron", "withdraw", proposal)


def strict(c, acme, add):
    """No body with an unknown, misspelt, missing or repeated member is taken: `network` for `networks` would make a key for everywhere."""
    count = 0
    wholes = [{"action": action, "target": "acme", "reason": "reviewed", "ticket": "KYC-1", "detail": detail} for action, detail in
              (("integrator_put", acme), ("key_add", add), ("key_rotate", {"overlapS": 60}))]
    wholes.append({"action": "attended", "target": "1", "reason": "reviewed"})
    for route, body in [("actions", whole) for whole in wholes] + [("confirm", {"proposal": 7}), ("withdraw", {"proposal": 7})]:
        for what, text, where in variants(body):
            count += 1
            # From many addresses: the rate of one would not do.
            wrong = fault(*c.ask("otto", f"/api/{route}", text, {"X-Forwarded-For": f"192.0.2.{count % 250}"}), where)
            check(not wrong, f"{route} {body.get('action')} {what}: {wrong}")
        for name in body.get("detail", ()):
            less = body | {"detail": {k: v for k, v in body["detail"].items() if k != name}}
            wrong = fault(*c.ask("otto", f"/api/{route}", less), f"/detail/{name}")
            check(not wrong, f"{route} {body['action']} without {name}: {wrong}")
    print(f"{count} bodies are refused")


def keys(w, c):
    """Who gets a right needs two operators; who loses one does so at once. The secret is the proposer's alone."""
    acme = {"name": "Acme AG", "origins": ["https://acme.example"], "sessionsPerHour": 20, "state": "active"}
    add = {"scopes": ["kyc", "webhooks"], "rate": 5, "burst": 9, "networks": ["192.0.2.0/24", "2001:db8::/32"], "endsAt": None}

    def ask(who, action, target, detail, status=200, code=None):
        body = {"action": action, "target": target, "reason": "reviewed"} | ({"detail": detail} if detail is not None else {})
        return c.does(who, "actions", body, status, code)
    ask("rita", "integrator_put", "acme", acme, 403, "role")
    ask("otto", "key_add", "acme", add, 404, "nothing_there")  # no such integrator
    ports = [acme | {"origins": [f"https://acme.example:{port}"]} for port in ("99999", "65536", "0", "00443", "443443", "")]
    for wrong in (*ports, acme | {"origins": ["https://acme.example/x"]}, acme | {"origins": "https://acme.example"}, acme | {"sessionsPerHour": 0}, acme | {"sessionsPerHour": "many"},
                  acme | {"state": "x"}, acme | {"name": "a\u0000b"}, acme | {"name": None}, [], "x", None, acme | {"name": "x" * 3000}, acme | {"origins": [None]}):
        ask("otto", "integrator_put", "acme", wrong, 400, "invalid_body")
    ask("otto", "requeue", "1", acme, 400, "invalid_body")
    for name in "\u202eemca", "ac\u200bme", "\u3000", "\u0301", "a\u2066b", "\u00ad", "\ufeffacme", "\U000e0041", "":
        said = ask("otto", "integrator_put", "acme", acme | {"name": name}, 400, "invalid_body")
        check([e["pointer"] for e in said["errors"]] == ["/detail/name"], f"{name!r}: {said}")
    strict(c, acme, add)
    put = ask("otto", "integrator_put", "acme", acme)["result"]
    check("Jane" not in json.dumps(c.ask("vera", "/api/proposals")[1]) + (w.db.one("SELECT string_agg(detail::text, '') FROM kyc.audit") or ""), "an unknown member is kept")
    check(w.db.one("SELECT count(*) FROM kyc.integrator") == "0", "one person made an integrator")
    c.decide("rita", "confirm", put, 403, "role")
    c.decide("otto", "confirm", put, 403, "same_person")
    c.decide("olga", "confirm", put)
    item = c.ask("vera", "/api/integrators")[1]["items"][0]
    check((item["id"], item["name"], item["origins"], item["sessionsPerHour"], item["state"], item["keys"]) == ("acme", "Acme AG", acme["origins"], 20, "active", 0), f"{item}")
    for wrong in (add | {"scopes": ["all"]}, add | {"scopes": []}, add | {"rate": None}, add | {"networks": ["192.0.2.1/24"]}, add | {"endsAt": "soon"}, {}):
        ask("otto", "key_add", "acme", wrong, 400, "invalid_body")
    said = ask("otto", "key_add", "acme", add)
    key, proposal = said["key"], said["result"]
    check(len(key) == 59 and key.startswith("tk_") and key[15] == "_", "a key")
    ask("otto", "key_add", "acme", add, 409, "proposed_already")  # another secret is not shown for the same proposal
    check(w.db.one("SELECT count(*) FROM kyc.integrator_key") == "0", "one person made a key")
    item = next(i for i in c.ask("vera", "/api/proposals")[1]["items"] if i["id"] == proposal)
    check(item["detail"]["scopes"] == add["scopes"] and item["detail"]["networks"] == add["networks"] and item["detail"]["keyId"] == key[:15], f"{item}")
    check("key" not in c.does("olga", "confirm", {"proposal": int(proposal)}, 200), "the confirmer is shown the key")
    check(w.db.one(f"SELECT sha256 = sha256('{key}') AND created_by = 'tidemark_console console olga and otto' FROM kyc.integrator_key") == "t", "the key")
    item = c.ask("vera", "/api/keys")[1]["items"][0]
    check((item["id"], item["state"], item["rate"], item["networks"]) == (key[:15], "active", 5, add["networks"]), f"{item}")
    ask("otto", "key_rotate", "tk_000000000000", {"overlapS": 60}, 404, "nothing_there")
    said = ask("olga", "key_rotate", key[:15], {"overlapS": 3600})
    c.decide("otto", "confirm", said["result"])
    rows = {i["id"]: (i["state"], bool(i["endsAt"])) for i in c.ask("vera", "/api/keys")[1]["items"]}
    check(rows == {key[:15]: ("active", True), said["key"][:15]: ("active", False)}, f"{rows}")
    stale = ask("otto", "key_add", "acme", add)["result"]
    ask("rita", "suspend", "acme", None, 403, "role")
    ask("otto", "suspend", "acme", None)
    ask("otto", "suspend", "acme", None)  # the same request again
    check(c.ask("vera", "/api/integrators")[1]["items"][0]["state"] == "suspended", "suspended")
    c.decide("olga", "confirm", stale, 409, "target_changed")
    c.decide("olga", "withdraw", stale)
    ask("otto", "key_end", "tk_000000000000", None, 404, "nothing_there")
    for _ in range(2):
        ask("olga", "key_end", key[:15], None)
    check(w.db.one(f"SELECT count(*) FROM kyc.audit WHERE what = 'did.key_end' AND about = '{key[:15]}' AND actor = 'tidemark_console console olga'") == "1", "the audit of an end")
    # The last 64 ended keys stay.
    w.db.ask("""INSERT INTO kyc.integrator_key (key_id, integrator, sha256, scopes, created_by, revoked_at) SELECT 'tk_' || lpad(n::text, 12, '0'), 'acme',
        sha256(n::text::bytea), '{kyc}', 'x', clock_timestamp() - n * interval '1 day' FROM generate_series(1, 300) AS n""")
    c.decide("olga", "confirm", ask("otto", "key_rotate", said["key"][:15], {"overlapS": 0})["result"])
    check(w.db.one("SELECT count(*) FILTER (WHERE revoked_at IS NOT NULL), count(*) FILTER (WHERE key_id = 'tk_000000000001') FROM kyc.integrator_key") == "63|1", "ended keys")
    seen, after = [], ""
    while after is not None:
        _, page = c.ask("vera", f"/api/keys?limit=20{after and '&after=' + urllib.parse.quote(after)}")
        seen += [i["id"] for i in page["items"]]
        after = page["next"]
    check(len(seen) == len(set(seen)) == 65, f"{len(seen)} keys in pages")
    everything = subprocess.run([os.path.join(os.environ["PG_BIN"], "pg_dump"), w.db.url], capture_output=True, text=True, check=True).stdout + c.log.read_text()
    check(key[:15] in everything and key[16:] not in everything and said["key"][16:] not in everything, "a key is in the database or the log")


def figures(w, c):
    def read(headers=None):
        connection = http.client.HTTPConnection("127.0.0.1", c.port, timeout=30)
        connection.request("GET", "/metrics", headers=headers or {})
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        return answer.status, text
    status, text = read()
    values = dict(line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
    check(status == 200 and int(values["tidemark_console_refused_total"]) >= 8 and int(values["tidemark_console_other_origin_total"]) >= 8, f"{status} {text}")
    check(int(values["tidemark_console_actions_total"]) > 3 and int(values["tidemark_console_actions_refused_total"]) > 3, text)
    check(values['tidemark_console_requests_total{route="review",status="200"}'] != "0" and values["tidemark_console_pool_connected"] == "3", text)
    check(not any(p["name"] in text for p in PEOPLE), "a person in the figures")
    for headers in {"X-Forwarded-For": "192.0.2.1"}, {"X-Console-Proxy": SECRET}:
        check(read(headers)[0] == 404, f"metrics through the proxy: {headers}")


def at_once(w, hook, delivered):
    """Two people send the same one again at the same moment: it is queued once. Neither statement ends before both have begun."""
    call = f"SELECT kyc.console_replay({w.served}::smallint, {delivered}, 'reviewed', '%s', ARRAY[sha256('%s')])"
    holder = hold(w, "LOCK TABLE kyc.audit_turn IN EXCLUSIVE MODE")
    url = w.db.url.replace("user=postgres", "user=tidemark_console")
    two = [subprocess.Popen([PSQL, "-XqtA", "-c", "SET statement_timeout = 0", "-c", call % (who, who), url], stdout=subprocess.PIPE, text=True) for who in ("rita", "ron")]
    until(lambda: waits(w) == "2", "both have begun")
    let_go(w, holder)
    said = {one.communicate(timeout=60)[0] for one in two}
    queued = w.db.one(f"SELECT count(*) FROM kyc.hook_delivery WHERE hook = '{hook}' AND event = 'evt_1' AND state = 'queued'")
    check(queued == "1" and len(said) == 1 and "" not in said, f"queued {queued} times: {said}")


def webhooks(w, c):
    """Endpoints by host, deliveries without bodies; one person sends again, and the log has the same notification twice."""
    hook, off = "ab" * 16, "cd" * 16
    w.db.ask(f"""INSERT INTO kyc.hook (id, deployment, integrator, url, events, state, reason, failures) VALUES
        ('{hook}', {w.served}, 'acme', 'https://user:hush@hooks.acme.example:8443/in?token=hush', '{{compliance.updated}}', 'enabled', NULL, 3),
        ('{off}', {w.served}, 'acme', 'https://other.example/', '{{compliance.updated}}', 'disabled', 'gone', 0);
        INSERT INTO kyc.hook_event (id, deployment, kind, subject, payload) SELECT 'evt_' || n, {w.served}, 'compliance.updated', 'GSUBJECT', '{{"hush": 1}}' FROM generate_series(1, 3) AS n;
        INSERT INTO kyc.hook_delivery (deployment, hook, event, subject, state, head, attempts, last_status, last_error, done_at) VALUES
        ({w.served}, '{hook}', 'evt_1', 'GSUBJECT', 'delivered', false, 2, 200, NULL, clock_timestamp()), ({w.served}, '{hook}', 'evt_2', 'GSUBJECT', 'queued', true, 4, 503, 'status', NULL),
        ({w.served}, '{off}', 'evt_3', 'GSUBJECT', 'queued', true, 1, 410, 'status', NULL)""")
    status, said = c.ask("vera", "/api/webhooks")
    item = said["items"][0]
    check((item["host"], item["state"], item["failures"], item["queued"], bool(item["oldest"])) == ("hooks.acme.example:8443", "enabled", 3, 1, True), f"{item}")
    log = c.ask("vera", f"/api/webhooks/{hook}/deliveries")[1]["items"]
    check([(i["eventId"], i["state"], i["status"]) for i in log] == [("evt_2", "queued", 503), ("evt_1", "delivered", 200)], f"{log}")
    for text in json.dumps(said), json.dumps(log):
        check("hush" not in text and "GSUBJECT" not in text, f"a path, a body or a subject: {text}")
    check(c.ask("vera", f"/api/webhooks/{'0' * 32}/deliveries")[1]["items"] == [], "of no webhook")
    delivered, waiting = log[1]["id"], log[0]["id"]
    c.propose("vera", "replay", delivered, 403, "role")
    c.propose("rita", "replay", 999999999, 404, "nothing_there")
    c.propose("rita", "replay", w.db.one(f"SELECT id FROM kyc.hook_delivery WHERE hook = '{off}'"), 409, "webhook_disabled")
    made = c.propose("rita", "replay", delivered)
    check(c.propose("rita", "replay", delivered) == made and made not in (delivered, waiting), "a repeated request adds none")
    w.db.ask(f"UPDATE kyc.hook_delivery SET next_try = clock_timestamp() + interval '1 hour' WHERE id = {waiting}")
    check(c.propose("rita", "replay", waiting) == waiting, "one that waits")
    check(w.db.one(f"SELECT next_try <= clock_timestamp() FROM kyc.hook_delivery WHERE id = {waiting}") == "t", "tried now")
    noted = f"SELECT count(*) FROM kyc.audit WHERE what = 'did.replay' AND about = '{hook}'"
    check(w.db.one(noted) == "2", "a repeated request is noted again")
    check(w.db.one(f"SELECT string_agg(event || ' ' || state, ',' ORDER BY id) FROM kyc.hook_delivery WHERE hook = '{hook}'") == "evt_1 delivered,evt_2 queued,evt_1 queued", "the queue")
    w.db.ask("UPDATE kyc.hook_delivery SET state = 'delivered', head = false WHERE event = 'evt_1'")
    at_once(w, hook, delivered)
    for n in range(20):  # as often as the endpoint takes it
        w.db.ask(f"UPDATE kyc.hook_delivery SET state = 'delivered', head = false WHERE hook = '{hook}'")
        c.propose("rita", "replay", delivered, *((200, None) if n < 8 else (409, "too_many")))
    check(w.db.one(noted) == "11", "sent again without end")
    check(w.db.one(f"SELECT actor FROM kyc.audit WHERE what = 'did.replay' AND about = '{hook}' LIMIT 1") == "tidemark_console console rita", "the audit")


def lists(w, c):
    for _ in range(2):
        w.plant()
    w.db.ask("""UPDATE kyc.session SET state = 'approved', attested_until = clock_timestamp() + interval '5 days'
        WHERE id IN (SELECT id FROM kyc.session ORDER BY id LIMIT 3)""")
    w.db.ask("UPDATE kyc.session SET next_check = clock_timestamp(), attempts = 7 WHERE id = (SELECT min(id) FROM kyc.session)")
    seen, after = [], ""
    while after is not None:
        _, page = c.ask("vera", f"/api/expiring?limit=1{after and '&after=' + after}")
        seen += [i["sessionId"] for i in page["items"]]
        after = page["next"]
    check(len(seen) == 3 == len(set(seen)), f"expiring: {seen}")
    check(c.ask("vera", "/api/expiring?within=60")[1]["items"] == [], "within")
    days = c.ask("vera", "/api/sessions")[1]["items"]
    check(days[0]["provider"] == "sandbox" and days[0]["states"]["approved"] == 3, f"{days}")
    item = c.ask("vera", "/api/providers")[1]["items"][0]
    check((item["provider"], item["sessions"], item["failing"], item["attempts"]) == ("sandbox", 1, 1, 7), f"{item}")
    for path in "attesters", "proposals":
        status, said = c.ask("vera", f"/api/{path}")
        check(status == 200 and said["items"], f"{path}: {status} {said}")
    whole, after = [], ""
    while after is not None:
        _, page = c.ask("vera", f"/api/audit?limit=7{after and '&after=' + after}")
        whole += [int(i["id"]) for i in page["items"]]
        after = page["next"]
    check(whole == list(range(int(w.db.one("SELECT max(id) FROM kyc.audit")), 0, -1)), f"audit: {whole}")
    text = json.dumps([c.ask("vera", f"/api/{p}")[1] for p in ("review", "proposals", "expiring", "sessions", "providers", "attesters", "audit")])
    check("jurisdiction" not in text and "756" not in [i.strip(' ",}') for i in text.split(":")], "a jurisdiction")
    check(c.headers["Cache-Control"] == "no-store" and "Access-Control-Allow-Origin" not in c.headers, f"{c.headers}")


def audit(w, c):
    item = c.ask("vera", "/api/audit/check")[1]["items"][0]
    check(item["intact"] and item["rows"] > 10 and len(item["head"]) == 64, f"{item}")
    w.db.ask("UPDATE kyc.audit SET actor = 'another' WHERE id = 3")
    item = c.ask("vera", "/api/audit/check")[1]["items"][0]
    check(not item["intact"] and item["broken"] == "3", f"{item}")


def role(w, _):
    def run(sql):
        return subprocess.run([PSQL, "-XAtqc", sql, w.db.url.replace("user=postgres", "user=tidemark_console")], capture_output=True, text=True)
    for sql in ("SELECT jurisdiction FROM kyc.session", "SELECT * FROM kyc.session", "SELECT * FROM kyc.outbox", "SELECT * FROM kyc.sandbox",
                "SELECT jurisdiction FROM state.compliance_registry_compliance_rec", "SELECT * FROM event.log", "SELECT ref FROM kyc.inbox",
                "INSERT INTO kyc.proposal (deployment, action, target, target_state, reason, proposed_by) VALUES (1, 'erase', 'x', '', 'x', 'x')",
                "UPDATE kyc.proposal SET state = 'done'", "DELETE FROM kyc.audit", "UPDATE kyc.outbox SET state = 'queued'",
                "SELECT kyc.note('console otto', 'x', 'y', '{}')", "SELECT kyc.release(1::smallint, 1, 'otto')", "CALL kyc.erase('x')",
                "SELECT certificates FROM kyc.proposal", "INSERT INTO kyc.revocation VALUES ('x', 1)",
                "SELECT key_sha256 FROM kyc.proposal", "SELECT payload FROM kyc.hook_event", "SELECT url FROM kyc.hook",
                "SELECT kyc.hook_replay(1::smallint, 'acme', 'x', 1)", "SELECT subject FROM kyc.hook_delivery", "SELECT sha256 FROM kyc.integrator_key", "INSERT INTO kyc.integrator_key VALUES ('x')",
                "SELECT kyc.key_add('x', 'tk_aaaaaaaaaaaa', 'acme', sha256('x'), '{kyc}', NULL, NULL, '{}', NULL, NULL)", "SELECT kyc.key_revoke('x', 'y')",
                "SELECT kyc.key_rotate('x', 'y', 'z', sha256('x'), '1 s')", "SELECT kyc.key_end('x', 'y', NULL)",
                "SELECT kyc.integrator_put('x', 'y', 'z', '{}', NULL, 1, 'active')", "SELECT kyc.console_keys('key_add', 'acme', '{}', sha256('x'), 'otto')",
                "SELECT kyc.console_try('key_add', 'acme', '{}', sha256('x'))", "SELECT kyc.revocation_done('x')", "SELECT * FROM kyc.revocation",
                "SELECT kyc.attend(1::smallint, 1, 'console otto', NULL, 'otto')", "SELECT pg_read_file('/etc/passwd')"):
        done = run(sql)
        check(done.returncode and ("permission denied" in done.stderr or "must be" in done.stderr), f"{sql}: {done.stdout}{done.stderr}")
    intent, _, _ = forge(w)
    one, two = "ARRAY[sha256('one')]", "ARRAY[sha256('two')]"
    proposal = run(f"SELECT kyc.propose({w.served}::smallint, 'requeue', '{intent}', 'reviewed', 'otto', {one}, NULL, NULL)").stdout.strip()
    for who, what, why in (("otto", two, "who proposed it"), ("olga", one, "who proposed it"), ("Otto", two, "a person has a name"), ("otto ", two, "a person has a name"),
                           ("", two, "a person has a name"), ("olga", "NULL", "1 to 4 certificates"), ("olga", "'{}'", "1 to 4 certificates"),
                           ("olga", "ARRAY[''::bytea]", "1 to 4 certificates"), ("olga", "ARRAY[NULL::bytea]", "1 to 4 certificates")):
        check(why in run(f"SELECT kyc.confirm({w.served}::smallint, {proposal}, '{who}', {what})").stderr, f"confirmed by {who!r} with {what}")
    check(w.row(intent)[0] == "parked", "released")


def killed(w, c):
    """What was proposed stands after a kill, and a confirmation is whole or not there."""
    intent, _, _ = forge(w)
    proposal = c.propose("ron", "requeue", intent)
    holder = hold(w, f"SELECT FROM kyc.outbox WHERE id = {intent} FOR UPDATE")
    asking = Asking(c, "rita", proposal)
    until(lambda: waits(w) == "1", "waits")
    c.process.kill()
    c.process.wait()
    asking.stop()
    w.db.ask("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'tidemark_console'")
    let_go(w, holder)
    again = Console(w)
    check(w.row(intent)[0] == "parked" and w.db.one(f"SELECT state FROM kyc.proposal WHERE id = {proposal}") == "open", "half a confirmation")
    check(w.db.one("SELECT count(*) FROM kyc.audit WHERE what = 'confirmed.requeue' AND detail ->> 'proposal' = '%s'" % proposal) == "0", "a note of it")
    again.decide("rita", "confirm", proposal)
    check(w.row(intent)[0] == "queued", "confirmed after the kill")
    again.stop()


def main():
    w = World("console", index=True)
    c = Console(w)
    for test in login, requeue, reviews, attended, erase, figures, keys, webhooks, lists, renamed, many, one_of_many, revoke, role, audit, killed:
        test(w, c)
        print("ok", test.__name__, flush=True)
    w.close()


main()
