"""usage: _keys.py [away|back] URL URL — API keys of integrators, over two nodes. The secrets of all keys go to $PG_DIR/keys.secret.
       _keys.py account URL — a node without a KYC file, of 20 look-ups a minute and 8 connections of an address"""
import http.client
import json
import os
import subprocess
import sys
import time
import urllib.parse

from _steady import steady

BIN, PG_DIR, PG_BIN = os.environ["TIDE_BIN"], os.environ["PG_DIR"], os.environ["PG_BIN"]
ADDRESS = "GA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVSGZ"
STATUS, SESSION, SNAPSHOT = "/api/prices", "/api/sdk/kyc/session", "/api/sdk/snapshot"


def check(good, what):
    if not good:
        sys.exit(what)


def tool(*args, fails=False, user="postgres"):
    env = {**os.environ, "TIDEMARK_DATABASE_URL": f"host={PG_DIR} port=5432 user={user} dbname=tidemark"}
    done = subprocess.run([f"{BIN}/tidemark-indexer", *args], capture_output=True, text=True, timeout=60, env=env)
    check((done.returncode != 0) == fails, f"{args}: {done.returncode} {done.stderr}")
    return done.stderr if fails else done.stdout.strip()


def new(*args, user="postgres"):
    key = tool("key", *args, user=user)
    check(len(key) == 59 and key.startswith("tk_") and key[15] == "_", f"a key: {len(key)}")
    with open(f"{PG_DIR}/keys.secret", "a", encoding="utf-8") as file:
        file.write(key[16:] + "\n")
    return key


def sql(text, user="postgres"):
    done = subprocess.run([f"{PG_BIN}/psql", "-XAtq", "-h", PG_DIR, "-U", user, "-d", "tidemark", "-c", text], capture_output=True, text=True, timeout=60)
    return done.stdout.strip() if done.returncode == 0 else f"refused: {done.stderr}"


def ask(url, path, key=None, ip="192.0.2.1"):
    connection = http.client.HTTPConnection(urllib.parse.urlsplit(url).netloc, timeout=30)
    headers = {"X-Forwarded-For": ip, "Content-Type": "application/json", **({"X-API-Key": key} if key else {})}
    body = json.dumps({"address": ADDRESS, "providerKey": "sandbox", "mode": "redirect"}) if path == SESSION else None
    connection.request("POST" if body else "GET", path, body, headers)
    answer = connection.getresponse()
    raw = answer.read()
    connection.close()
    code = json.loads(raw).get("code", "") if "problem" in answer.headers.get("Content-Type", "") else ""
    return 200 if answer.status == 201 else answer.status, code, answer.headers  # 201: a new session


def until(urls, want, seconds, what, *args):
    """All nodes answer so within that time."""
    end = steady() + seconds
    for url in urls:
        while (got := ask(url, *args)[:2]) != want:
            check(steady() < end, f"{what}: {got}, not {want} after {seconds} s")
            time.sleep(0.02)


GOOD = (200, "")


def life(urls):
    """added, used, ended by rotation, revoked: on both nodes within two seconds"""
    tool("integrator", "put", "acme", "Acme AG", "--origins", "https://acme.example")
    key = new("add", "acme")
    until(urls, GOOD, 2, "a new key", SESSION, key)
    check(ask(urls[0], SESSION, key + "x")[:2] == (401, "key_unknown"), "an unknown key")
    check(ask(urls[0], STATUS, "x" * 300)[0] in (401, 431, 400), "a long key")
    other = new("rotate", key[:15], "--overlap", "10s")  # longer than a slow machine takes to ask for both keys
    until(urls, GOOD, 2, "its successor", SESSION, other)
    check(ask(urls[1], SESSION, key)[:2] == GOOD, "the old key ended before the overlap did")
    until(urls, (401, "key_unknown"), 12, "the old key after the overlap", SESSION, key)
    check(ask(urls[0], SESSION, other)[:2] == GOOD, "the new key goes on")
    tool("key", "revoke", other[:15])
    until(urls, (401, "key_unknown"), 2, "a revoked key", SESSION, other)
    check("no such key" in tool("key", "rotate", other[:15], fails=True), "a revoked key is rotated")
    check("no such key" in tool("key", "end", "tk_000000000000", fails=True), "an unknown key is ended")
    tool("key", "end", key[:15])
    check("has ended" in tool("key", "rotate", key[:15], fails=True), "an ended key is rotated")
    guest = new("rotate", new("add", "acme", "--ends-at", "2099-01-01T00:00:00Z")[:15], "--overlap", "0s")
    line = [found for found in tool("key", "list").splitlines() if guest[:15] in found]
    check(len(line) == 1 and "2099-01-01" in line[0], f"a successor lasts longer than its key might: {line}")
    tool("key", "revoke", guest[:15])
    return new("add", "acme")


def limits(urls):
    tool("integrator", "put", "busy", "Busy")
    scoped = new("add", "busy", "--scopes", "receipts")
    placed = new("add", "busy", "--networks", "198.51.100.0/24,2001:db8::/32")
    until(urls, (200, ""), 2, "a key that needs no scope there", STATUS, scoped)
    until(urls, GOOD, 2, "a key from its network", SESSION, placed, "198.51.100.7")
    for path in (SESSION, SNAPSHOT):
        check(ask(urls[0], path, scoped)[:2] == (403, "key_scope"), f"{path} with a key that is not for it: {ask(urls[0], path, scoped)[:2]}")
    check(ask(urls[0], SESSION, placed, "2001:db8:7::1")[:2] == GOOD, "from its IPv6 network")
    for ip in ("198.51.101.7", "2001:db9::1", "10.0.0.1", "nonsense"):
        check(ask(urls[0], STATUS, placed, ip)[:2] == (403, "key_network"), f"from {ip}")
    slow, quick = new("add", "busy", "--rate", "1", "--burst", "4"), new("add", "acme", "--rate", "100", "--burst", "100")
    until(urls, (200, ""), 2, "a key with a rate", STATUS, slow)
    until(urls, (200, ""), 2, "another", STATUS, quick)
    answers = [ask(urls[0], STATUS, slow) for _ in range(12)]
    refused = [a for a in answers if a[0] == 429]
    check(len(refused) >= 6 and all(int(a[2]["Retry-After"]) >= 1 for a in refused), f"beyond its rate: {[a[:2] for a in answers]}")
    check([ask(urls[0], STATUS, quick)[0] for _ in range(12)] == [200] * 12, "another integrator's key")
    check(ask(urls[0], STATUS)[0] == 200, "its address without the key")
    tool("integrator", "put", "busy", "Busy", "--suspended")
    until(urls, (401, "key_unknown"), 2, "a key of a suspended integrator", STATUS, scoped)


def rights():
    tool("integrator", "put", "third", "Third", user="tidemark_console", fails=True)  # two people do that, in the console
    tool("integrator", "put", "third", "Third")
    tool("key", "add", "third", user="tidemark_console", fails=True)
    new("add", "third")
    check("third" in tool("key", "list", user="tidemark_console"), "the console lists keys")
    for user, text in (("tidemark_kyc", "SELECT kyc.key_revoke('x', 'y')"), ("tidemark_kyc", "UPDATE kyc.integrator_key SET revoked_at = NULL"),
                       ("tidemark_kyc", "SELECT kyc.key_add('x', 'tk_aaaaaaaaaaaa', 'acme', sha256('x'), '{kyc}', NULL, NULL, '{}', NULL, NULL)"),
                       ("tidemark_kyc", "UPDATE kyc.integrator_revision SET revision = gen_random_uuid()"),
                       ("tidemark_console", "SELECT sha256 FROM kyc.integrator_key"), ("tidemark_console", "DELETE FROM kyc.integrator_key"),
                       ("tidemark_console", "UPDATE kyc.integrator SET state = 'active'"), ("tidemark_console", "SELECT * FROM kyc.session"),
                       ("tidemark_console", "SELECT kyc.note('a', 'b', 'c', '{}')"), ("tidemark_console", "SELECT kyc.key_used('{}')"),
                       ("tidemark_api", "SELECT key_id FROM kyc.integrator_key"), ("tidemark_feeder", "SELECT key_id FROM kyc.integrator_key"),
                       ("tidemark_attester", "SELECT key_id FROM kyc.integrator_key"), ("tidemark_analyst", "SELECT id FROM kyc.integrator")):
        check("permission denied" in sql(text, user), f"{user}: {text}: {sql(text, user)}")
    for wrong in ("--networks=10.0.0.1/8", "--scopes=all", "--rate=0", "--ends-at=soon"):
        tool("key", "add", "acme", wrong, fails=True)
    for brand, why in (('{"color": "#cccccc"}', "/color: its contrast"), ('{"colour": "#0b5c6b"}', "/colour: no such member"), ("{", "not JSON"),
                       ('{"logo": "http://acme.example/logo.svg"}', "/logo: expected https"), ('{"name": ""}', "/name: expected a text")):
        check(why in (said := tool("integrator", "put", "x", "n", "--brand", brand, fails=True)), f"{brand}: {said}")
    check(sql("SELECT count(*) FROM kyc.integrator WHERE id = 'x'") == "0", "a brand was refused, its integrator is there")
    tool("integrator", "put", "third", "Third", "--brand", '{"name": "Third", "color": "#0b5c6b", "colorDark": "#7fd0e2", "logo": "https://third.example/l.svg"}')
    for port in (1, 8443, 65535):
        tool("integrator", "put", "ports", "Ports", "--origins", f"https://a.example:{port}")
    for port in ("0", "65536", "99999", "08443", ""):
        tool("integrator", "put", "x", "n", "--origins", f"https://a.example:{port}", fails=True)
    for wrong in (("Bad id", "n"), ("x", "n", "--origins", "https://a.example/b"), ("x", "n", "--origins", "*"), ("x", "n", "--brand", "[]")):
        tool("integrator", "put", *wrong, fails=True)
    tool("key", "add", "unknown", fails=True)
    noted = sql("SELECT string_agg(DISTINCT split_part(actor, ' ', 1) || ' ' || what, ',' ORDER BY split_part(actor, ' ', 1) || ' ' || what) FROM kyc.audit"
                " WHERE what LIKE 'key%' OR what LIKE 'integrator%'")
    check(noted == "postgres integrator_put,postgres key_add,postgres key_end,postgres key_revoke", noted)
    check(sql("SELECT kyc.audit_broken() IS NULL") == "t", "the audit")
    check(sql("SELECT created_by FROM kyc.integrator_key WHERE integrator = 'third'") == "postgres operator", "who added it")
    end = steady() + 10
    while sql("SELECT count(*) > 2 AND bool_and(last_used_at = (now() AT TIME ZONE 'UTC')::date) FROM kyc.integrator_key WHERE last_used_at IS NOT NULL") != "t":
        check(steady() < end, "last uses")


def account(url):
    """Whose limits count. 127.0.0.9 is no proxy, and no other test asks from there."""
    tool("integrator", "put", "late", "Late")
    key, narrow = new("add", "late", "--scopes", "kyc,snapshot"), new("add", "late", "--scopes", "receipts", "--rate", "9")
    until([url], GOOD, 2, "without a KYC file: a new key", STATUS, key)
    until([url], GOOD, 2, "another", STATUS, narrow)
    got = ask(url, SNAPSHOT, narrow, "203.0.113.11")[:2]  # what is refused counts for the address
    check(got == (403, "key_scope"), f"a key that is not for snapshots: {got}")
    got = ask(url, SESSION, key)[:2]
    check(got == (404, "kyc_not_configured"), f"a session: {got}")
    policy = ask(url, STATUS, key)[2]["RateLimit-Policy"]
    check(policy == '"lookup";q=200;w=60', f"a key without a rate of its own has ten times the limit: {policy}")
    guesses = [ask(url, STATUS, f"{key[:-1]}{i % 10}{i}", "203.0.113.9")[:2] for i in range(40)]
    check(guesses[0] == (401, "key_unknown") and (429, "too_many_requests") in guesses, f"guesses count for their address: {guesses}")
    # A slow machine gives the address a token meanwhile, which the first of these takes.
    until([url], (429, "too_many_requests"), 5, "the address has no look-up left", STATUS, None, "203.0.113.9")
    check(ask(url, STATUS, key, "203.0.113.9")[:2] == GOOD, "the key's bucket is not its address's")
    target = urllib.parse.urlsplit(url)
    held = []
    for i in range(9):  # a key has no connections beyond those of its address
        connection = http.client.HTTPConnection(target.hostname, target.port, timeout=30, source_address=("127.0.0.9", 0))
        connection.request("GET", STATUS, headers={"X-API-Key": key})
        answer = connection.getresponse()
        code = json.loads(answer.read()).get("code") if answer.status != 200 else ""
        check((answer.status, code) == ((200, "") if i < 8 else (503, "too_many_connections")), f"connection {i + 1}: {answer.status} {code}")
        held.append(connection)
    tool("key", "revoke", key[:15])
    until([url], (401, "key_unknown"), 2, "without a KYC file: a revoked key", STATUS, key, "203.0.113.10")


if sys.argv[1] == "account":
    account(sys.argv[2])
    print("ok without a KYC file: scopes, rates of a key and of guesses, connections, revoked")
elif sys.argv[1] in ("away", "back"):
    kept = open(f"{PG_DIR}/keys.kept", encoding="utf-8").read()
    for node in sys.argv[2:]:
        check(ask(node, STATUS, kept)[:2] == (200, ""), f"{sys.argv[1]}: a good key")
        check(ask(node, STATUS, kept[:-1])[:2] == (401, "key_unknown"), f"{sys.argv[1]}: a bad key")
    if sys.argv[1] == "back":
        tool("key", "revoke", kept[:15])
        until(sys.argv[2:], (401, "key_unknown"), 10, "revoked after the database came back", STATUS, kept)
    print(f"ok {sys.argv[1]}")
else:
    nodes = sys.argv[1:]
    lasting = life(nodes)
    until(nodes, (200, ""), 2, "another new key", STATUS, lasting)
    with open(os.open(f"{PG_DIR}/keys.kept", os.O_WRONLY | os.O_CREAT, 0o600), "w", encoding="utf-8") as out:
        out.write(lasting)
    limits(nodes)
    rights()
    print("ok added, used, scopes, networks, rates, rotated, revoked, roles")
