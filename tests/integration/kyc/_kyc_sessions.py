"""usage: _kyc_sessions.py file MOCK FILE | all|again|away API MOCK PID | grep FILE     steps of kyc_sessions.sh"""
import base64
import hashlib
import http.client
import json
import os
import re
import struct
import subprocess
import sys
import threading
import time
import urllib.parse
import urllib.request

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import _providers  # noqa: E402
from _ed25519 import Account, strkey  # noqa: E402
from _promise import Watch  # noqa: E402
from _steady import steady  # noqa: E402

PUBLIC = "https://kyc.example"
KEY, OTHER_KEY, POOR_KEY = "acme-api-key-planted-1", "other-api-key-planted-2", "poor-api-key-planted-3"
ORIGIN, FOREIGN = "https://acme.example", "https://evil.example"
PASSWORDS = [KEY, OTHER_KEY, POOR_KEY]
checks = 0


def expect(got, wanted, about):
    global checks
    checks += 1
    if got != wanted:
        sys.exit(f"FAIL: {about}: got {got!r}, wanted {wanted!r}")


def sql(text):
    done = subprocess.run([os.environ["PG_BIN"] + "/psql", "-XAtqv", "ON_ERROR_STOP=1", "-c", text],
                          capture_output=True, text=True, check=True)
    return done.stdout.strip()


# --- accounts -------------------------------------------------------------------------------------
def account(n):
    return Account(hashlib.sha256(b"account %d" % n).digest())


SERVER = Account(bytes(range(1, 33)))  # SAAQEAYE…: 01 02 03 …


# --- transactions ---------------------------------------------------------------------------------
def var(data):
    return struct.pack(">I", len(data)) + data + b"\0" * (-len(data) % 4)


def manage(source, name, value):
    return struct.pack(">II", 1, 0) + source.public + struct.pack(">I", 10) + var(name) + struct.pack(">I", 1) + var(value)


def challenge(client, now, source=SERVER, domain=b"kyc.example", web=b"kyc.example", life=900, seq=0):
    nonce = base64.b64encode(os.urandom(48))
    return (struct.pack(">I", 0) + source.public + struct.pack(">IqIQQII", 200, seq, 1, now, now + life, 0, 2)
            + manage(client, domain + b" auth", nonce) + manage(source, b"web_auth_domain", web) + struct.pack(">I", 0))


def envelope(tx, network, *signers):
    digest = hashlib.sha256(network + struct.pack(">I", 2) + tx).digest()
    signed = b"".join(s.public[-4:] + var(s.sign(digest)) for s in signers)
    return base64.b64encode(struct.pack(">I", 2) + tx + struct.pack(">I", len(signers)) + signed).decode()


def countersign(text, network, signer):
    raw = base64.b64decode(text)
    expect(struct.unpack(">I", raw[-76:-72])[0], 1, "one signature on a challenge")
    tx = raw[4:-76]
    digest = hashlib.sha256(network + struct.pack(">I", 2) + tx).digest()
    return base64.b64encode(raw[:-76] + struct.pack(">I", 2) + raw[-72:] + signer.public[-4:] + var(signer.sign(digest))).decode()


# --- HTTP -----------------------------------------------------------------------------------------
class Api:
    seen = []  # every answer, for the grep
    watch = Watch()

    def __init__(self, url):
        self.host = urllib.parse.urlsplit(url).netloc

    def ask(self, method, path, body=None, headers=None):
        connection = http.client.HTTPConnection(self.host, timeout=30)
        headers = dict(headers or {})
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
        if body is not None:
            headers.setdefault("Content-Type", "application/json")
        connection.request(method, path, body=body, headers=headers)
        response = connection.getresponse()
        raw = response.read()
        connection.close()
        Api.watch.heard(method, path, response.status, response.headers, raw)
        Api.seen.append(f"{response.headers}{raw.decode(errors='replace')}")
        return response, json.loads(raw) if raw else None

    def session(self, address, provider="didit", mode="redirect", key=KEY, idem=None, **more):
        headers = {**({"X-API-Key": key} if key else {}), **({"Idempotency-Key": idem} if idem else {})}
        response, answer = self.ask("POST", "/api/sdk/kyc/session", {"address": address, "providerKey": provider, "mode": mode, **more}, headers)
        return response.status, answer, response


class Mock:
    def __init__(self, url):
        self.url = url

    def do(self, name, **args):
        request = urllib.request.Request(f"{self.url}/control/{name}", json.dumps(args).encode(), {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=30) as response:
            return json.loads(response.read())

    def people(self, provider):
        return [p for p in self.do("state")["people"].values() if p["provider"] == provider]

    def calls(self, name):
        return self.do("state")["calls"].get(name, 0)


def write_file(mock_url, path):
    for n, (name, key, origins, sessions) in enumerate((("acme", KEY, f"{ORIGIN},http://127.0.0.1:9", 500), ("other", OTHER_KEY, "", 200), ("poor", POOR_KEY, "", 2))):
        sql(f"""SELECT kyc.integrator_put('test', '{name}', '{name.capitalize()}', string_to_array('{origins}', ','), NULL, {sessions}, 'active'),
                kyc.key_add('test', 'tk_00000000000{n}', '{name}', sha256('{key}'), '{{kyc}}', NULL, NULL, '{{}}', NULL, NULL)""")
    file = _providers.kyc_file(mock_url, PUBLIC, sessionsPerAddressDay=4)
    for provider in file["providers"]:
        provider["timeoutMs"] = 1500
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as out:
        json.dump(file, out)


# --- what is asked --------------------------------------------------------------------------------
def shape(api):
    who = account(1).address
    status, s, response = api.session(who, "sandbox")
    expect(status, 201, f"a new session {s}")
    expect(set(s), {"sessionId", "state", "startUrl", "directLink", "embedUrl", "callbackUrl", "expiresAt", "directLinkExpiresAt",
                    "alreadyCompliant"}, "members")
    token = re.escape(s["sessionId"]) + r"\.[A-Za-z0-9_-]{43}"
    for name, path in (("startUrl", r"/kyc/start/"), ("embedUrl", r"/kyc\?embed=1&s="), ("callbackUrl", r"/kyc/return/")):
        expect(bool(re.fullmatch(re.escape(PUBLIC) + path + token, s[name])), True, s[name])
    expect(len({s["startUrl"][-43:], s["embedUrl"][-43:], s["callbackUrl"][-43:]}), 3, "a token for each purpose")
    expect(s["directLink"].startswith("https://"), True, s["directLink"])
    expect((s["state"], s["alreadyCompliant"] in (True, False), response.headers["Cache-Control"]), ("created", True, "no-store"), "state")
    for mode in ("iframe", "direct"):
        status, other, _ = api.session(who, "sandbox", mode)
        expect((status, other["sessionId"] != s["sessionId"], all(other.values()) or other["alreadyCompliant"] is False), (201, True, True), mode)
    for provider in _providers.REAL:
        status, s, _ = api.session(account(2).address, provider)
        expect(status, 201, f"{provider} {s}")
    compliant = sql("SELECT address FROM state.compliance_registry_compliance_rec ORDER BY key_hash LIMIT 40").split()
    told = [api.session(a, "sandbox")[1]["alreadyCompliant"] for a in compliant[:40]]
    expect({True, False} >= set(told) and True in told, True, f"renewals are allowed, and told: {told}")


def validation(api):
    who, url = account(3).address, "/api/sdk/kyc/session"
    muxed = strkey(12 << 3, account(3).public + struct.pack(">Q", 7))
    good = {"address": who, "providerKey": "didit", "mode": "redirect"}
    for change, pointers in (({"address": None}, ["/address"]), ({"address": 5}, ["/address"]), ({"address": muxed}, ["/address"]),
                             ({"address": who[:-1] + "A"}, ["/address"]), ({"providerKey": "nobody"}, ["/providerKey"]),
                             ({"providerKey": {"a": [1]}}, ["/providerKey"]), ({"mode": "popup"}, ["/mode"]), ({"mode": "Redirect"}, ["/mode"]),
                             ({"challenge": 1}, ["/challenge"]), ({"challenge": "?"}, ["/challenge"]), ({"challenge": "A" * 4000}, ["/challenge"]),
                             ({"provider_key": "didit"}, ["/provider_key"]), ({"<script>": 1}, [""]),
                             ({"address": "x", "providerKey": 1, "mode": [], "more": 1}, ["/address", "/providerKey", "/mode", "/more"])):
        body = {k: v for k, v in {**good, **change}.items() if v is not None}
        response, answer = api.ask("POST", url, body, {"X-API-Key": KEY})
        expect((response.status, answer["code"], [e["pointer"] for e in answer["errors"]]), (400, "bad_body", pointers), f"{change}")
        if change.get("address") == muxed:
            expect(who in answer["errors"][0]["detail"], True, "an M names its G")
    for body in (b"", b"{", b"[]", b"null", b'{"address":"x","address":"y"}', b"[" * 4000, b'"x"', b"{\"address\":\"\xff\"}"):
        response, answer = api.ask("POST", url, body, {"X-API-Key": KEY})
        expect(response.status, 400, f"{body[:20]} {answer}")
    expect(api.ask("POST", url, b" " * 8193, {"X-API-Key": KEY})[0].status, 413, "a large body")
    expect(api.ask("POST", url, good, {"X-API-Key": KEY, "Content-Type": "text/plain"})[0].status, 415, "text")
    for idem in (" ", "a b", "x" * 129, ""):
        response, answer = api.ask("POST", url, good, {"X-API-Key": KEY, "Idempotency-Key": idem})
        expect((response.status, answer["code"]), (400, "bad_idempotency_key"), f"key {idem!r}")
    for headers, code in (({}, "proof_required"), ({"X-API-Key": "nobody's"}, "key_unknown"), ({"X-API-Key": ""}, "key_unknown")):
        response, answer = api.ask("POST", url, good, headers)
        expect((response.status, answer["code"]), (401, code), f"who asks {headers}")
    contract = strkey(2 << 3, b"\7" * 32)
    response, answer = api.ask("POST", url, {**good, "address": contract})
    expect((response.status, answer["code"]), (401, "key_required"), "a contract")
    expect(api.session(contract)[0], 201, "a contract, by an integrator")
    expect(sql(f"SELECT count(*) FROM kyc.session WHERE address = '{who}'"), "0", "rows of what was refused")


def same(api, mock):
    who, before = account(4).address, mock.calls("didit create")
    expect(api.session(who)[0], 201, "first")
    status, again, _ = api.session(who)
    expect((status, mock.calls("didit create") - before), (200, 1), "the same request")
    expect(api.session(who, key=OTHER_KEY)[0], 201, "another integrator's is another")
    status, a, _ = api.session(account(5).address, idem="order-1")
    expect(status, 201, "with a key")
    expect(api.session(account(5).address, idem="order-1")[1]["sessionId"], a["sessionId"], "the same key")
    for address, mode in ((account(6).address, "redirect"), (account(5).address, "direct")):
        status, answer, _ = api.session(address, mode=mode, idem="order-1")
        expect((status, answer["code"]), (422, "idempotency_key_reused"), "the key, another body")
    expect(api.session(account(6).address, key=OTHER_KEY, idem="order-1")[0], 201, "another client may choose the same key")
    status, second, _ = api.session(account(5).address, idem="order-2")
    expect((status, second["sessionId"]), (200, a["sessionId"]), "another key for what is open")
    expect(api.session(account(5).address)[1]["sessionId"], a["sessionId"], "and none")
    for address, mode in ((account(6).address, "redirect"), (account(5).address, "direct")):
        status, answer, _ = api.session(address, mode=mode, idem="order-2")
        expect((status, answer["code"]), (422, "idempotency_key_reused"), "the second key, another body")
    for n in range(3, 41):  # each is told the same, and the last of them are remembered
        expect(api.session(account(5).address, idem=f"order-{n}")[1]["sessionId"], a["sessionId"], f"key {n}")
    expect(sql(f"SELECT count(*) FROM kyc.session_key WHERE session_id = '{a['sessionId']}'"), "32", "later keys are bounded")
    sql(f"UPDATE kyc.session SET state = 'declined' WHERE id = '{a['sessionId']}'")
    status, answer, _ = api.session(account(5).address, idem="order-1")
    expect((status, answer["sessionId"], answer["state"]), (200, a["sessionId"], "declined"), "the key, of a closed session")
    for n in (9, 25, 40):
        status, answer, _ = api.session(account(5).address, idem=f"order-{n}")
        expect((status, answer["sessionId"], answer["state"]), (200, a["sessionId"], "declined"), f"key {n}, of a closed session")
    expect(api.session(account(5).address)[0], 201, "a closed one makes room")
    sql(f"UPDATE kyc.session SET expires_at = clock_timestamp() - interval '1 s' WHERE address = '{who}'")
    status, fresh, _ = api.session(who)
    expect((status, fresh["sessionId"] != again["sessionId"]), (201, True), "an unused one made room")
    expect(sql(f"SELECT state, reason FROM kyc.session WHERE id = '{again['sessionId']}'"), "expired|not_used", "the old one")


def parallel(api, mock):
    who, answers = account(7).address, []
    before, made = mock.calls("veriff create"), len(mock.people("veriff"))
    ask = lambda: answers.append(api.session(who, "veriff")[:2])
    threads = [threading.Thread(target=ask) for _ in range(50)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    expect(sorted({s for s, _ in answers}), [200, 201], f"50 at once: {[a for s, a in answers if s > 201][:2]}")
    expect(([s for s, _ in answers].count(201), len({a["sessionId"] for _, a in answers}), len({a["directLink"] for _, a in answers})),
           (1, 1, 1), "one session")
    expect((mock.calls("veriff create") - before, len(mock.people("veriff")) - made), (1, 1), "one at the provider")


def spent(address, integrator, count, provider="didit", network=None, name="limit"):
    """As if so many sessions had been made just now."""
    sql(f"""INSERT INTO kyc.session (id, deployment, address, provider, integrator, mode, ref, state, expires_at, network)
            SELECT md5('{name}{address}{integrator}{provider}' || i), (SELECT id FROM chain.deployment),
                   CASE WHEN {count} > 10 THEN 'G' || i ELSE '{address}' END, '{provider}', '{integrator}',
                   'redirect', 'r', 'declined', now(), {f"decode('{network}', 'hex')" if network else "NULL"}
            FROM generate_series(1, {count}) AS i""")


def budgets(api, network):
    """Who comes without an integrator has a budget of its own, and so has each network that they come from."""
    now = int(time.time())

    def anonymous(n, forwarded, provider="sandbox"):
        me = account(n)
        body = {"address": me.address, "providerKey": provider, "mode": "redirect",
                "challenge": envelope(challenge(me, now), network, SERVER, me)}
        response, answer = api.ask("POST", "/api/sdk/kyc/session", body, {"X-Forwarded-For": forwarded})
        return response.status, answer.get("code"), answer.get("sessionId")

    told = [anonymous(400, "198.51.100.7"), anonymous(401, "198.51.100.9"), anonymous(402, "203.0.113.1"),
            anonymous(403, "2001:db8:5:1::1"), anonymous(404, "2001:db8:5:2::1"), anonymous(405, "2001:db8:6:1::1")]
    expect([t[:2] for t in told], [(201, None)] * 6, "sessions by a signature")
    nets = [sql(f"SELECT encode(network, 'hex') FROM kyc.session WHERE id = '{t[2]}'") for t in told]
    expect((nets[0] == nets[1], nets[3] == nets[4], len(set(nets)), all(len(n) == 16 for n in nets)), (True, True, 4, True), f"networks {nets}")
    spent("", "", 18, "veriff", nets[0], "network")
    expect(anonymous(406, "198.51.100.8")[:2], (429, "too_many_sessions"), "of a network an hour, at whichever provider")
    expect(anonymous(406, "198.51.101.8")[:2], (201, None), "another network's is not used up")
    spent("", "", 1000, "sandbox", None, "flood")
    expect(anonymous(407, "192.0.2.1")[:2], (429, "too_many_sessions"), "of all without integrator, at that provider")
    expect(anonymous(407, "192.0.2.1", "didit")[:2], (201, None), "at another there is room")
    expect(api.session(account(408).address, "sandbox")[0], 201, "an integrator's budget is its own")
    spent("", "acme", 1000, "persona", None, "provider")
    expect(api.session(account(409).address, "persona", key=OTHER_KEY)[0], 429, "a provider's hour of all integrators")
    expect(anonymous(409, "192.0.2.1", "persona")[:2], (201, None), "which is not that of the others")
    sql("DELETE FROM kyc.session WHERE mode = 'redirect' AND ref = 'r' AND state = 'declined'")


def limits(api):
    who = account(8).address
    sql(f"""INSERT INTO kyc.session (id, deployment, address, provider, integrator, mode, ref, state, expires_at, created_at)
            SELECT md5(i::text), (SELECT id FROM chain.deployment), '{who}', 'didit', 'acme', 'redirect', 'r', 'declined',
                   now(), now() - interval '23 hours' FROM generate_series(1, 4) AS i""")
    status, answer, response = api.session(who)
    expect((status, answer["code"]), (429, "too_many_sessions"), "of an address a day")
    expect(3500 < int(response.headers["Retry-After"]) <= 3600, True, f"when: {response.headers['Retry-After']}")
    got = [api.session(account(100 + i).address, "sandbox", key=POOR_KEY)[0] for i in range(4)]
    expect(got, [201, 201, 429, 429], "of an integrator an hour")
    expect(api.session(account(100).address, "sandbox", key=POOR_KEY)[0], 200, "what is open stays")
    expect(api.session(who, key=OTHER_KEY)[0], 201, "which another integrator has not used up")
    spent(account(9).address, "acme", 2)
    spent(account(9).address, "other", 2)
    answers = []
    jobs = [(mode, key) for mode in ("redirect", "iframe", "direct") for key in (KEY, OTHER_KEY)]
    threads = []
    for mode, key in jobs:
        threads.append(threading.Thread(target=lambda m=mode, k=key: answers.append(api.session(account(9).address, "sandbox", m, key=k)[0])))
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    expect((answers.count(201), answers.count(429)), (4, 2), "at once, the limit is exact")


def challenges(api, network):
    me, other = account(20), account(21)
    response, given = api.ask("GET", f"/api/sdk/kyc/challenge/{me.address}")
    expect((response.status, set(given)), (200, {"transaction", "networkPassphrase", "expiresAt"}), "a challenge")
    expect(hashlib.sha256(given["networkPassphrase"].encode()).digest(), network, "network")
    signed = countersign(given["transaction"], network, me)
    refused = lambda address, text, about, code="challenge_invalid": expect(
        (lambda r: (r[0], r[1]["code"]))(api.session(address, "sandbox", key=None, challenge=text)), (401, code), about)
    refused(me.address, given["transaction"], "as it was given")
    refused(other.address, signed, "somebody else's")
    status, s, _ = api.session(me.address, "sandbox", key=None, challenge=signed)
    expect(status, 201, f"signed {s}")
    refused(me.address, signed, "a second time", "challenge_used")
    now = int(time.time())
    mine = lambda **more: challenge(me, **{"now": now, **more})
    status, s2, _ = api.session(me.address, "sandbox", key=None, challenge=envelope(mine(), network, me, SERVER))
    expect((status, s2["sessionId"]), (200, s["sessionId"]), "signatures in any order; the session that is open")
    refused(me.address, envelope(mine(), network, me), "not ours")
    refused(me.address, envelope(mine(), network, other, me), "forged by another")
    refused(me.address, envelope(mine(source=other), network, other, me), "of another server")
    refused(me.address, envelope(mine(now=now - 901), network, SERVER, me), "expired")
    refused(me.address, envelope(mine(now=now + 600), network, SERVER, me), "of the future")
    refused(me.address, envelope(mine(life=9000), network, SERVER, me), "that lives too long")
    refused(me.address, envelope(mine(seq=1), network, SERVER, me), "that could run")
    refused(me.address, envelope(mine(domain=b"evil.example"), network, SERVER, me), "of another home domain")
    refused(me.address, envelope(mine(web=b"evil.example"), network, SERVER, me), "of another web domain")
    refused(me.address, envelope(mine(), hashlib.sha256(b"Test SDF Network ; September 2015").digest(), SERVER, me), "of another network")
    refused(me.address, envelope(mine(), network, SERVER, me, other), "signed by a third")
    refused(me.address, envelope(mine(), network, SERVER, me, me), "signed twice")
    text, answers = envelope(mine(), network, SERVER, me), []
    threads = [threading.Thread(target=lambda: answers.append(api.session(me.address, "sandbox", key=None, challenge=text)[0])) for _ in range(10)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    expect((answers.count(200), answers.count(401)), (1, 9), "ten at once: one counts")
    response, answer = api.ask("GET", "/api/sdk/kyc/challenge/" + strkey(2 << 3, b"\7" * 32))
    expect((response.status, answer["code"]), (400, "invalid_parameters"), "a contract's")


def account_entry(who, thresholds, signers=()):
    """LedgerKey and LedgerEntryData of an account, base64; thresholds: master, low, medium, high."""
    key = struct.pack(">II", 0, 0) + who.public
    entry = key + struct.pack(">qqIIII", 10000000, 1 << 32, len(signers), 0, 0, 0) + bytes(thresholds) + struct.pack(">I", len(signers))
    for signer, weight in signers:
        entry += signer + struct.pack(">I", weight)
    return base64.b64encode(key).decode(), base64.b64encode(entry + struct.pack(">I", 0)).decode()


def signers(api, mock, network, passphrase):
    """SEP-10 for accounts of several signers: their weights, as the network tells them when the session is opened."""
    me, a, b, c = account(500), account(501), account(502), account(503)
    key = lambda who: struct.pack(">I", 0) + who.public
    payload = lambda who: struct.pack(">I", 3) + who.public + struct.pack(">I", 3) + b"abc\0"
    hashed = lambda who: struct.pack(">I", 2) + who.public

    def tries(thresholds, listed, *by):
        ledger_key, entry = account_entry(me, thresholds, listed)
        mock.do("network", entries={ledger_key: entry})
        sql(f"DELETE FROM kyc.session WHERE address = '{me.address}'")
        status, answer, response = api.session(me.address, "sandbox", key=None,
                                               challenge=envelope(challenge(me, int(time.time())), network, SERVER, *by))
        expect(status in (201, 401), True, f"{thresholds} {listed} {answer}")
        return status

    two = ((key(a), 1), (key(b), 1))
    for thresholds, listed, by, want in (
            ((1, 0, 0, 0), (), (me,), 201), ((0, 0, 0, 0), (), (me,), 401), ((0, 0, 0, 0), two, (me,), 401), ((0, 0, 0, 0), two, (a,), 201),
            ((0, 1, 2, 3), two, (a,), 401), ((0, 1, 2, 3), two, (a, b), 201), ((0, 1, 2, 3), two, (a, a), 401), ((1, 1, 2, 3), two, (me,), 401),
            ((1, 1, 2, 3), two, (me, b), 201), ((1, 1, 2, 3), two, (me, b, c), 401), ((2, 1, 2, 3), two, (me,), 201), ((1, 2, 2, 2), two, (c,), 401),
            ((0, 1, 1, 1), ((payload(a), 5), (hashed(b), 5), (key(c), 1)), (c,), 201), ((0, 1, 1, 1), ((payload(a), 5), (key(c), 1)), (a,), 401),
            ((0, 1, 1, 1), ((hashed(b), 5), (key(c), 1)), (b,), 401), ((0, 0, 0, 0), ((key(a), 0),), (a,), 401),
            ((255, 255, 255, 255), tuple((key(account(510 + i)), 12) for i in range(20)), (me,), 201),
            ((0, 255, 240, 255), tuple((key(account(510 + i)), 12) for i in range(20)), [account(510 + i) for i in range(19)], 401),
            ((0, 255, 228, 255), tuple((key(account(510 + i)), 12) for i in range(20)), [account(510 + i) for i in range(19)], 201)):
        expect(tries(thresholds, listed, *by), want, f"thresholds {thresholds}, {len(listed)} signers, signed by {len(by)}")
    # The network does not say: nothing is taken for granted. What is forged is not asked about.
    mine = lambda *by: envelope(challenge(me, int(time.time())), network, *by)
    before = mock.calls("rpc")
    expect(api.session(me.address, "sandbox", key=None, challenge=mine(a, me))[0], 401, "not signed by this server")
    expect(mock.calls("rpc"), before, "questions about what is forged")
    sql(f"DELETE FROM kyc.session WHERE address = '{me.address}'")
    for wrong, right in (({"broken": True}, {"broken": False}), ({"passphrase": "Another Network"}, {"passphrase": passphrase}),
                         ({"ledger": 1}, {"ledger": 1 << 30}), ({"entries": {account_entry(me, (1, 0, 0, 0))[0]: "AAAA"}}, {"entries": {}}),
                         ({"entries": {account_entry(me, (1, 0, 0, 0))[0]: account_entry(a, (1, 0, 0, 0))[1]}}, {"entries": {}})):
        mock.do("network", **wrong)
        time.sleep(1.1)  # after a failure they are left alone for a second
        status, answer, response = api.session(me.address, "sandbox", key=None, challenge=mine(SERVER, me))
        expect((status, answer["code"], bool(response.headers["Retry-After"])), (503, "signers_unknown", True), f"{wrong}")
        mock.do("network", **right)
    expect(sql(f"SELECT count(*) FROM kyc.session WHERE address = '{me.address}'"), "0", "sessions of what was not known")
    ledger_key, forged = account_entry(me, (1, 0, 0, 0), ((key(a), 1),))
    for first, second in ((forged, {}), (account_entry(me, (1, 0, 0, 0))[1], {ledger_key: forged})):  # one of two servers lies
        mock.do("network", entries={ledger_key: first}, second=second)
        time.sleep(1.1)
        status, answer, _ = api.session(me.address, "sandbox", key=None, challenge=mine(SERVER, a))
        expect((status, answer["code"]), (503, "signers_unknown"), "signers that one server alone names")
    mock.do("network", entries={}, second=None)
    expect(sql(f"SELECT count(*) FROM kyc.session WHERE address = '{me.address}'"), "0", "sessions that a lying server let in")
    end = steady() + 15  # the servers are left alone for a moment
    while (status := api.session(me.address, "sandbox", key=None, challenge=mine(SERVER, me))[0]) == 503 and steady() < end:
        time.sleep(0.2)
    expect(status, 201, "once the network answers again; an account that is not there has its own key alone")


def failing(api, mock):
    """K9 and K10: the provider fails, hangs, or does it and loses its answer."""
    for n, (provider, what, least) in enumerate((("didit", "status:503", 0), ("sumsub", "status:429", 0), ("persona", "status:500", 0),
                                                 ("veriff", "hang", 1))):
        who = account(30 + n).address
        mock.do("fault", provider=provider, call="create", do=what, times=2, after=6)
        started, ran = time.monotonic(), steady()
        status, answer, response = api.session(who, provider)
        spent, ran = time.monotonic() - started, steady() - ran
        expect((status, answer["code"], bool(response.headers["Retry-After"])), (502, "provider_unavailable", True), f"K9 {provider} {what} {answer}")
        expect(least <= spent and ran < 10, True, f"K9 {provider} {what}: {spent:.1f} s")
        row = sql(f"SELECT id FROM kyc.session WHERE address = '{who}' AND state = 'created' AND provider_id IS NULL")
        status, answer, _ = api.session(who, provider)
        expect((status, answer.get("sessionId")), (200, row), f"K9 {provider}: the next try is the same session")
        expect(len([p for p in mock.people(provider) if p["ref"] == sql(f"SELECT ref FROM kyc.session WHERE id = '{row}'")]), 1, f"K9 {provider} {what}")
    for n, provider in enumerate(("didit", "sumsub", "persona")):
        who = account(40 + n).address
        mock.do("fault", provider=provider, call="create", do="drop_after", times=1)
        status, answer, _ = api.session(who, provider)
        expect(status, 201, f"K10 {provider}: the second try {answer}")
        # Three: over a connection that was open already the client's library asks once more by itself.
        mock.do("fault", provider=provider, call="create", do="drop_after", times=3)
        status, answer, _ = api.session(account(50 + n).address, provider)
        expect(status, 502, f"K10 {provider}: both answers lost")
        status, answer, _ = api.session(account(50 + n).address, provider)
        expect(status, 200, f"K10 {provider}: the next request")
        for address in (who, account(50 + n).address):
            ref = sql(f"SELECT ref FROM kyc.session WHERE address = '{address}' AND provider = '{provider}'")
            expect(len([p for p in mock.people(provider) if p["ref"] == ref]), 1, f"K10 {provider}: people at the provider")
    for what, code in (("status:401", "provider_refused"), ("not_json", "provider_refused"), ("foreign_page", "provider_refused"),
                       ("redirect", "provider_refused"), ("huge", "provider_refused")):
        mock.do("fault", provider="didit", call="create", do=what, times=1)
        status, answer, _ = api.session(account(60).address, "didit")
        expect((status, answer["code"]), (502, code), what)
    expect(api.session(account(60).address, "didit")[0], 200, "and then it is well again")
    expect(mock.do("state")["violations"], [], "requests that a provider would refuse")


def wait_calls(mock, name, count):
    """Waits until the provider was called so often."""
    end = steady() + 30
    while mock.calls(name) < count and steady() < end:
        time.sleep(0.05)
    expect(mock.calls(name) >= count, True, f"{name} was called {mock.calls(name)} times of {count}")


def hanging(api, mock):
    """While a provider hangs, look-ups and other routes answer."""
    _, s, _ = api.session(account(1).address, "sandbox")
    mock.do("fault", provider="veriff", call="create", do="hang", times=8, after=5)
    before = mock.calls("veriff create")
    threads = [threading.Thread(target=lambda n=n: api.session(account(70 + n).address, "veriff")) for n in range(4)]
    for t in threads:
        t.start()
    wait_calls(mock, "veriff create", before + 1)
    slowest = 0
    for path in (f"/api/sdk/kyc/session/{s['sessionId']}", f"/api/sdk/kyc/challenge/{account(1).address}", "/api/sdk/kyc/providers") * 5:
        started = steady()
        expect(api.ask("GET", path)[0].status, 200, path)
        slowest = max(slowest, steady() - started)
    expect(any(t.is_alive() for t in threads), True, f"look-ups waited for it, up to {slowest:.2f} s")
    for t in threads:
        t.join()
    mock.do("clear")
    print(f"while a provider hangs a look-up takes {slowest * 1000:.0f} ms at most")


def hanging_provider(api, mock, network):
    """A provider that hangs, with more requests for it than there are threads: by POST, and by people who need another page of
    it. The others' sessions are opened at once; a session that waits for it only loses time."""
    starts = []
    for n in range(4):
        _, s, _ = api.session(account(200 + n).address, "veriff")
        sql(f"UPDATE kyc.session SET hosted_url = NULL, hosted_until = NULL WHERE id = '{s['sessionId']}'")
        starts.append(s["startUrl"][len(PUBLIC):])
    mock.do("fault", provider="veriff", call="create", do="hang", times=200, after=3)
    got, threads, before = [], [], mock.calls("veriff create")

    def post(n, **more):
        got.append(api.session(account(210 + n).address, "veriff", **more)[:2])

    jobs = [lambda n=n: post(n) for n in range(12)]
    jobs += [lambda path=path: got.append((page(api.host, "GET", path, {}) and 0, {})) for path in starts]
    me = account(230)
    challenge_text = envelope(challenge(me, int(time.time())), network, SERVER, me)
    jobs.append(lambda: post(20, key=None, challenge=challenge_text))
    for job in jobs:
        threads.append(threading.Thread(target=job))
        threads[-1].start()
    wait_calls(mock, "veriff create", before + 1)
    slowest = 0
    for n in range(8):
        started = steady()
        status, answer, _ = api.session(account(240 + n).address, ("didit", "sumsub", "persona", "sandbox")[n % 4])
        slowest = max(slowest, steady() - started)
        expect(status, 201, f"while another provider hangs {answer}")
    expect(any(t.is_alive() for t in threads), True, f"sessions elsewhere waited for it, up to {slowest:.2f} s")
    mock.do("clear")
    for t in threads:
        t.join()
    codes = sorted({(status, answer.get("code")) for status, answer in got if status})
    expect({(status, code) for status, code in codes} <= {(200, None), (201, None), (502, "provider_unavailable"), (503, "overloaded")}, True,
           f"who waited for it: {codes}")
    for n in range(12):
        status, answer, _ = api.session(account(210 + n).address, "veriff")
        expect(status in (200, 201) and bool(answer["directLink"]), True, f"afterwards {answer}")
    ids = [answer.get("sessionId") for _, answer in got if answer.get("sessionId")]
    expect(len(ids), len(set(ids)), "a session each")
    print(f"while a provider hangs another's session takes {slowest * 1000:.0f} ms at most")


def progress(api):
    who = account(1).address
    _, s, _ = api.session(who, "sandbox")
    path = f"/api/sdk/kyc/session/{s['sessionId']}"
    none = {"state": "none", "action": None, "ledger": None, "txHash": None}
    response, p = api.ask("GET", path)
    expect((response.status, response.headers["Cache-Control"], p["state"], p["attestation"]), (200, "no-store", "created", none), "progress")
    expect(who in json.dumps(p), False, "the address is not told")
    token = s["startUrl"].rsplit("/", 1)[1]
    intent = f"""INSERT INTO kyc.outbox (deployment, subject, session_id, decision_rev, action, jurisdiction, expires_at, meta_hash)
        SELECT deployment, address, id, %d, '%s', 756, 2000000000, sha256('x') FROM kyc.session WHERE id = '{s['sessionId']}'"""
    sql(f"UPDATE kyc.session SET state = 'approved', decision_rev = 1, jurisdiction = 756 WHERE id = '{s['sessionId']}'")
    sql(intent % (1, "attest"))
    for change, state, ledger in (("", "queued", None),
                                  ("state = 'submitted', seq = 1, envelope = '\\x00', tx_hash = sha256('t'), max_time = 1", "submitted", None),
                                  ("state = 'confirmed', confirmed_ledger = 77", "confirmed", "77"), ("state = 'parked'", "manual_review", "77")):
        if change:
            sql(f"SET session_replication_role = replica; UPDATE kyc.outbox SET {change} WHERE session_id = '{s['sessionId']}'; RESET session_replication_role")
        for proof, headers in ((f"?s={token}", {}), ("", {"X-API-Key": KEY})):
            a = api.ask("GET", path + proof, None, headers)[1]["attestation"]
            expect((a["state"], a["action"], a["ledger"], bool(a["txHash"])), (state, "attest", ledger, state in ("submitted", "confirmed")), state)
        for proof, headers in (("", {}), (f"?s={token[:-1]}{'A' if token[-1] != 'A' else 'B'}", {}), ("", {"X-API-Key": OTHER_KEY})):
            a = api.ask("GET", path + proof, None, headers)[1]["attestation"]
            expect(a, {"state": state, "action": "attest", "ledger": None, "txHash": None}, f"{state}, to a client that shows nothing")
        expect(api.ask("GET", path, None, {"X-API-Key": "x"})[1]["code"], "key_unknown", "an unknown key")
    sql(f"UPDATE kyc.session SET expires_at = now() - interval '1 s' WHERE id = '{s['sessionId']}'")
    expect(api.ask("GET", f"{path}?s={token}")[1]["attestation"]["ledger"], None, "a link ends with its session")
    expect(api.ask("GET", path, None, {"X-API-Key": KEY})[1]["attestation"]["ledger"], "77", "the integrator's does not")
    for way in ("/kyc/start/", "/kyc/return/", "/kyc?embed=1&s="):
        url = {"/kyc/start/": s["startUrl"], "/kyc/return/": s["callbackUrl"]}.get(way, s["embedUrl"])
        status, text = look(api.host, way + url[url.index(way) + len(way):])
        expect((status, who in text), (404, False), f"{way} of a session that is over")
    sql(f"UPDATE kyc.session SET expires_at = now() + interval '1 day' WHERE id = '{s['sessionId']}'")
    sql(intent % (2, "revoke"))
    expect(api.ask("GET", path)[1]["attestation"]["action"], "revoke", "the newest decision's")
    for state, told in (("review", "pending"), ("declined", "declined"), ("revoked", "revoked")):
        sql(f"UPDATE kyc.session SET state = '{state}' WHERE id = '{s['sessionId']}'")
        expect(api.ask("GET", path)[1]["state"], told, state)
    for ident, status in (("0" * 32, 404), ("X" * 32, 404), ("0" * 31, 400)):
        expect(api.ask("GET", f"/api/sdk/kyc/session/{ident}")[0].status, status, ident)
    response, answer = api.ask("GET", "/api/sdk/kyc/providers")
    expect([(p["key"], p["sandbox"]) for p in answer["providers"]], [(k, True) for k in ("sandbox", *_providers.REAL)], "providers")


def look(host, path):
    connection = http.client.HTTPConnection(host, timeout=30)
    connection.request("GET", path)
    response = connection.getresponse()
    text = response.read().decode(errors="replace")
    connection.close()
    return response.status, text


def page(host, method, path, headers):
    connection = http.client.HTTPConnection(host, timeout=30)
    connection.request(method, path, body=b"{}" if method == "POST" else None, headers=headers)
    response = connection.getresponse()
    response.read()
    connection.close()
    return response.headers


def origins(api):
    """Who may read from another page: registered origins, exactly; never all, never null; webhooks and pages: none."""
    who = f"/api/sdk/kyc/challenge/{account(1).address}"
    for path in (who, "/api/sdk/kyc/providers", "/api/sdk/kyc/session", "/api/sdk/kyc/session/" + "0" * 32):
        for origin, allowed in ((None, None), (ORIGIN, ORIGIN), ("http://127.0.0.1:9", "http://127.0.0.1:9"), (FOREIGN, None), ("null", None),
                                (ORIGIN + ".evil.example", None), (ORIGIN.upper(), None), (ORIGIN + "/", None), ("http://acme.example", None), ("*", None)):
            for method in ("OPTIONS", "POST" if path.endswith("session") else "GET"):
                headers = {"Origin": origin} if origin else {}
                response, _ = api.ask(method, path, {} if method == "POST" else None, headers)
                expect((response.headers["Access-Control-Allow-Origin"], response.headers["Vary"]), (allowed, "Origin"), f"{method} {path} {origin}")
                if method == "OPTIONS" and allowed:
                    expect("Idempotency-Key" in response.headers["Access-Control-Allow-Headers"], True, "preflight")
    with open(os.environ["TIDE_BUILD"] + "/api/openapi.json", encoding="utf-8") as file:
        paths = json.load(file)["paths"]
    for path, sample in (("/api/kyc/webhook/{providerKey}", "/api/kyc/webhook/sumsub"), ("/kyc", "/kyc")):
        for method in ["OPTIONS", *(m.upper() for m in paths.get(path, {}))] if path in paths else []:
            headers = {"Origin": ORIGIN, **({"Content-Type": "application/json"} if method == "POST" else {})}
            allowed = page(api.host, method, sample, headers).get("Access-Control-Allow-Origin")
            expect(allowed, None, f"{method} {sample}")
    response, _ = api.ask("GET", "/api/prices", None, {"Origin": FOREIGN})
    expect(response.headers["Access-Control-Allow-Origin"], "*", "what is on the chain is everybody's")


def everything(api, mock, pid):
    network = bytes.fromhex(sql("SELECT encode(network_id, 'hex') FROM chain.deployment"))
    passphrase = sql("SELECT passphrase FROM chain.deployment")
    mock.do("network", passphrase=passphrase)
    steps = ((shape, api), (validation, api), (same, api, mock), (parallel, api, mock), (limits, api), (budgets, api, network), (challenges, api, network),
             (signers, api, mock, network, passphrase), (progress, api), (origins, api), (failing, api, mock), (hanging, api, mock),
             (hanging_provider, api, mock, network), (leaks, api, pid))
    for step, *arguments in steps:
        started = time.monotonic()
        step(*arguments)
        print(f"{step.__name__}: {time.monotonic() - started:.1f} s", flush=True)
    _, s, _ = api.session(account(80).address, "persona")
    mock.do("fault", provider="persona", call="create", do="hang", times=2, after=20)
    threading.Thread(target=lambda: api.session(account(81).address, "persona"), daemon=True).start()
    begun = steady()
    there = f"SELECT count(*) FROM kyc.session WHERE address = '{account(81).address}'"
    while sql(there) != "1" and steady() - begun < 15:
        time.sleep(0.05)
    expect(sql(there), "1", "the row is there before the provider answers")
    expect(sql("SELECT coalesce(kyc.audit_broken(), 0)"), "0", "the audit's chain")
    print(f"{checks} checks")
    Api.watch.settle()
    sys.stdout.flush()
    os._exit(0)


def again(api, mock):
    """The process was killed between its row and the provider's answer."""
    mock.do("clear")
    status, s, _ = api.session(account(81).address, "persona")
    expect((status, s.get("sessionId")), (200, sql(f"SELECT id FROM kyc.session WHERE address = '{account(81).address}'")), "after a kill")


def away(api):
    for method, path, body in (("POST", "/api/sdk/kyc/session", {"address": account(90).address, "providerKey": "sandbox", "mode": "direct"}),
                               ("GET", "/api/sdk/kyc/session/" + "0" * 32, None)):
        started = steady()
        response, answer = api.ask(method, path, body, {"X-API-Key": KEY})
        expect((response.status, answer["code"], bool(response.headers["Retry-After"])), (503, "database_unavailable", True), f"{path}, database away")
        expect(steady() - started < 8, True, "at once")
    expect(api.ask("GET", "/healthz")[0].status, 200, "/healthz")
    expect(api.ask("GET", "/api/sdk/kyc/providers")[0].status, 200, "what needs no database")


# --- planted values -------------------------------------------------------------------------------
def secrets_of(file):
    """All secrets of a KYC file."""
    out = [file["challengeSeed"], file["referenceKey"], file["metadataKey"], file["tokenKey"], file["intentKey"]] + PASSWORDS
    for provider in file["providers"]:
        out += [provider[k] for k in ("apiKey", "apiSecret") if k in provider]
        out += [s["secret"] for s in provider.get("webhookSecrets", [])]
    return out


def leaks(api, pid):
    """What is in this process's arguments and environment, and in every answer so far."""
    with open(os.environ["PG_DIR"] + "/kyc.json", encoding="utf-8") as file:
        secrets = secrets_of(json.load(file))
    texts = {"answers": "".join(Api.seen)}
    for name in ("environ", "cmdline"):
        with open(f"/proc/{pid}/{name}", "rb") as file:
            texts[name] = file.read().decode(errors="replace")
    for where, text in texts.items():
        for value in secrets + ["PLANTED"]:
            expect(value in text, False, f"a secret in {where}: {value[:6]}…")
    expect(len(texts["answers"]) > 10000, True, "answers were looked at")


def grep(path):
    with open(path, encoding="utf-8") as file:
        secrets = secrets_of(json.load(file))
    dump = subprocess.run([os.environ["PG_BIN"] + "/pg_dump", "--inserts", "--schema=kyc"], capture_output=True, text=True, check=True).stdout
    expect("INSERT INTO kyc.session" in dump and "INSERT INTO kyc.audit" in dump, True, "the dump has rows")
    with open(os.environ["PG_DIR"] + "/api.log", encoding="utf-8", errors="replace") as file:
        log = file.read()
    expect("route=kyc_session" in log, True, "the log has requests")
    for where, text in (("the database", dump), ("the log", log)):
        for value in secrets + ["PLANTED", "Planted"]:
            expect(value in text, False, f"planted, in {where}: {value[:6]}…")
    expect(re.search(r"[0-9a-f]{32}\.[A-Za-z0-9_-]{43}", log), None, "a token in the log")


def main():
    step = sys.argv[1]
    if step == "file":
        return write_file(sys.argv[2], sys.argv[3])
    if step == "grep":
        return grep(sys.argv[2])
    api, mock = Api(sys.argv[2]), Mock(sys.argv[3])
    if step == "all":
        everything(api, mock, sys.argv[4])
    elif step == "again":
        again(api, mock)
    else:
        away(api)
    Api.watch.settle()


main()
