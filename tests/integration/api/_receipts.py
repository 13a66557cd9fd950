#!/usr/bin/env python3
"""Receipts of a running tidemark-api; run by receipts.sh. Signatures are made and verified by the openssl program.

usage: _receipts.py PORT none|answers|rotate|verify|withdraw|unknown [DIR [PID [SECOND_PORT SECOND_PID]]]
"""
import base64
import http.client
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

PORT, WHAT = int(sys.argv[1]), sys.argv[2]
DIR = pathlib.Path(sys.argv[3]) if len(sys.argv) > 3 else None
JWT = {"Accept": "application/jwt"}
ISSUER = "https://api.example.org"


def check(condition, what):
    if not condition:
        sys.exit(f"FAIL: {what}")


def ask(path, headers=None):
    connection = http.client.HTTPConnection("127.0.0.1", PORT, timeout=30)
    connection.request("GET", path, headers=headers or {})
    response = connection.getresponse()
    body = response.read()
    connection.close()
    return response.status, response.headers, body


def get(path):
    status, _, body = ask(path)
    check(status == 200, f"{path}: {status} {body[:200]}")
    return json.loads(body)


def url64(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def to_url64(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def openssl(*args, data):
    folder = DIR / "openssl"
    folder.mkdir(exist_ok=True)
    (folder / "in").write_bytes(data)
    return subprocess.run(["openssl", "pkeyutl", "-rawin", "-in", folder / "in", *args], capture_output=True)


def holds(token, jwk):
    """Of a JWK by the openssl program: its x as a SubjectPublicKeyInfo (RFC 8410)."""
    signed, _, signature = token.rpartition(".")
    (DIR / "key.der").write_bytes(bytes.fromhex("302a300506032b6570032100") + url64(jwk["x"]))
    (DIR / "signature").write_bytes(url64(signature))
    return openssl("-verify", "-pubin", "-keyform", "DER", "-inkey", DIR / "key.der", "-sigfile", DIR / "signature",
                   data=signed.encode()).returncode == 0


def sign(header, payload, key):
    signed = to_url64(json.dumps(header).encode()) + "." + to_url64(json.dumps(payload).encode())
    made = openssl("-sign", "-inkey", key, data=signed.encode())
    check(made.returncode == 0, made.stderr)
    return signed + "." + to_url64(made.stdout)


def parts(token):
    header, payload, _ = token.split(".")
    return json.loads(url64(header)), json.loads(url64(payload))


def keys():
    status, headers, body = ask("/.well-known/jwks.json")
    check(status == 200 and headers["Content-Type"].startswith("application/json"), f"jwks: {status} {headers}")
    check(headers["ETag"] and "max-age" in headers["Cache-Control"], f"jwks: {headers}")
    again, other, _ = ask("/.well-known/jwks.json", {"If-None-Match": headers["ETag"]})
    check(again == 304 or other["ETag"] != headers["ETag"], "jwks: no 304")  # keys may be rotated between the two
    return json.loads(body)["keys"]


def questions():
    """(route, path, contracts): of people who may trade and who may not, of a price and of a quote."""
    prices, pools = get("/api/prices")["items"], get("/api/pools")["items"]
    people = [item["address"] for item in get("/api/compliance/expiring?within=4294967295&limit=3")["items"]]
    people.append("GA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVSGZ")
    check(prices and pools and len(people) > 1, "the chain has too little")
    for who in people:
        yield "kyc_status", f"/api/sdk/kyc/status/{who}", {"compliance_registry", "liquidity_pool", "synthetic_engine",
                                                          "stability_pool", "dao_governance"}
    yield "price", f"/api/prices/{prices[0]['asset']}", {"oracle", "dao_governance"}
    for more in ("amountIn=1000", "amountIn=1000&direction=b_to_a", "amountIn=0"):
        yield "pool_quote", f"/api/pools/{pools[0]['pool']}/quote?{more}", {"liquidity_pool", "dao_governance"}


def with_query(path, more):
    return path + ("&" if "?" in path else "?") + more


def receipt(path, headers=None):
    status, head, body = ask(path, headers)
    check(status == 200 and head["Content-Type"] == "application/jwt", f"{path}: {status} {head} {body[:200]}")
    check(head["Cache-Control"] == "no-store" and not head["ETag"], f"{path}: {head}")
    check("Accept" in [v.strip() for v in ",".join(head.get_all("Vary")).split(",")], f"{path}: {head.get_all('Vary')}")
    return body.decode()


# --- without keys ---------------------------------------------------------------------------


def none():
    check(keys() == [], "keys without keys")
    path = "/api/sdk/kyc/status/GA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVSGZ"
    for asked, headers, want in ((path + "?receipt=1", {}, 406), (path, JWT, 406), (path + "?receipt=1", {"Accept": "*/*"}, 406),
                                 (path, {"Accept": "application/jwt, application/json;q=0.5"}, 200), (path, {}, 200)):
        status, head, body = ask(asked, headers)
        check(status == want, f"{asked} {headers}: {status}")
        check(head["Content-Type"].startswith("application/json" if want == 200 else "application/problem+json"), head["Content-Type"])
        check(want == 200 or json.loads(body)["code"] == "no_receipts", body)
        check("Accept" in head.get_all("Vary"), f"{asked}: {head.get_all('Vary')}")


# --- with keys ------------------------------------------------------------------------------


def check_receipt(token, plain, route, path, contracts, ledger):
    jwks = {k["kid"]: k for k in keys()}
    header, payload = parts(token)
    check(header == {"alg": "EdDSA", "kid": header["kid"], "typ": "tidemark-receipt+jwt"}, header)
    check(holds(token, jwks[header["kid"]]), f"{path}: openssl refuses the signature")
    raw = url64(token.split(".")[1]).decode()
    check("urisdiction" not in raw.replace('"reasonCode":"jurisdiction"', ""), f"{path}: {raw}")
    stored = get(f"/api/ledgers?limit=1&ledger={payload['ledger']['sequence']}")["items"][0]
    check(payload["ledger"]["hash"] == stored["hash"], f"{path}: {payload['ledger']} {stored}")
    check(payload["ledger"]["sequence"] == payload["answer"]["ledger"], payload)
    check(payload["ledger"]["closedAt"] == payload["answer"]["closedAt"], payload)
    check(payload["iss"] == ISSUER and abs(payload["iat"] - time.time()) < 60, payload)
    check(set(payload["contracts"]) == contracts, payload["contracts"])
    query = dict(q.split("=") for q in path.partition("?")[2].split("&") if q)
    check(payload["question"] == {"route": route, "path": path.partition("?")[0],
                                  "query": {**query, **({"ledger": str(ledger)} if ledger else {})}}, payload["question"])
    if ledger:
        check(payload["lease"] is None and payload["exp"] < payload["iat"], "an answer of the past passes for one of now")
        check(payload["evaluatedAt"] == payload["answer"]["closedAt"], payload)
        check(f'"answer":{plain.decode()}}}' in raw, f"{path}: not the same bytes")
    else:
        check(payload["lease"]["ageMs"] >= 0 and payload["exp"] > payload["iat"], payload)
        now = {"evaluatedAt", "pollAfterMs"}
        same = [{k: v for k, v in a.items() if k not in now} for a in (payload["answer"], json.loads(plain))]
        check(same[0] == same[1], f"{path}: {same}")
    if payload["answer"].get("validUntil"):
        check(time.strptime(payload["answer"]["validUntil"], "%Y-%m-%dT%H:%M:%SZ") >= time.gmtime(payload["exp"]), "exp after validUntil")


def answers():
    last = get("/api/ledgers?limit=1")["items"][0]["ledger"]
    for route, path, contracts in questions():
        for ledger in (None, int(last) - 5):
            asked = with_query(path, f"ledger={ledger}") if ledger else path
            status, head, plain = ask(asked)
            check(status == 200 and head["Content-Type"].startswith("application/json"), f"{asked}: {status}")
            check("Accept" in head.get_all("Vary"), f"{asked}: {head.get_all('Vary')}")
            for token in (receipt(asked, JWT), receipt(with_query(asked, "receipt=1"))):
                check_receipt(token, plain, route, path, contracts, ledger)
    negotiation(path)
    refusals(path)
    costs(path)


def negotiation(path):
    """Whether the receipt comes, by Accept."""
    for accept, signed in (("application/jwt", True), ("Application/JWT", True), ("application/jwt;q=0", False), ("*/*", False),
                           ("application/*", False), ("application/jwt, */*", True), ("application/json, application/jwt", True),
                           ("application/jwt;q=0.5, application/json", False), ("application/jwt;q=0.5, */*;q=0.1", True),
                           ("application/json;q=0, application/jwt;q=0.1", True), ("application/jwt;q=2", False),
                           ("text/html, application/jwt ; q=0.9", True), ("", False)):
        got = ask(path, {"Accept": accept})[1]["Content-Type"]
        check((got == "application/jwt") == signed, f"Accept: {accept}: {got}")


def refusals(path):
    """Errors stay problems, and are never signed."""
    for asked, want in (("/api/prices/NOSUCH", 404), (with_query(path, "ledger=4000000000"), 404), (with_query(path, "receipt=0"), 400),
                        (with_query(path, "receipt=1&receipt=1"), 400), ("/api/sdk/kyc/status/nonsense", 400)):
        for headers in ({}, JWT):
            status, head, body = ask(asked, headers)
            check(status == want and head["Content-Type"].startswith("application/problem+json"), f"{asked}: {status} {body[:100]}")
            json.loads(body)
    for other in ("/api/markets", "/api/prices"):
        check(ask(other, JWT)[1]["Content-Type"].startswith("application/json"), f"{other} is signed")
        check(ask(other + "?receipt=1")[0] == 400, f"{other} takes receipt")


def costs(path):
    """A receipt takes two tokens more than the answer, which takes one. Tokens come back: 20 a second."""
    def taken(headers):
        left = [int(ask(path, headers)[1]["RateLimit"].split("r=")[1].split(";")[0]) for _ in range(16)]
        return [before - after for before, after in zip(left, left[1:])]
    # A pause of the machine gives tokens back within a few of the steps, and the largest step shows the price.
    plain, signed = taken({}), taken(JWT)
    check(max(plain) <= 1 and max(signed) == 3, f"15 answers take {plain} tokens, as receipts {signed}")


# --- rotation -------------------------------------------------------------------------------


def until(what, condition):
    end = time.monotonic() + 60
    while not condition():
        check(time.monotonic() < end, what)
        time.sleep(0.05)


def install(files, to):
    with open(DIR / "keys" / "new", "wb", opener=lambda p, f: os.open(p, f, 0o600)) as out:
        for file in files:
            out.write((DIR / "keys" / file).read_bytes())
    os.replace(DIR / "keys" / "new", DIR / "keys" / to)


def rotate():
    """The next key is published, then signs, while the first is published still; a wrong file changes nothing."""
    _, path, _ = next(questions())
    old, published = receipt(path, JWT), keys()
    check(len(published) == 2 and parts(old)[0]["kid"] == published[0]["kid"], published)
    install(["second.pem"], "signing.pem")
    install(["first.pub"], "more.pem")
    os.kill(int(sys.argv[4]), signal.SIGHUP)
    until("the keys are not read again", lambda: keys()[0] == published[1])
    check(keys() == published[::-1], "the old key is not published")
    new = receipt(path, JWT)
    check(parts(new)[0]["kid"] == published[1]["kid"] and holds(new, published[1]), "the new key does not sign")
    check(holds(old, published[0]) and not holds(new, published[0]), "keys are confused")
    install(["x25519.pem"], "signing.pem")
    os.kill(int(sys.argv[4]), signal.SIGHUP)
    until("receipts.kept is not logged", lambda: "receipts.kept" in (DIR / "api.log").read_text())
    check(keys() == published[::-1] and holds(receipt(path, JWT), published[1]), "a wrong file changed the keys")
    install(["second.pem"], "signing.pem")
    install(["first.pub", "other.pub"], "more.pem")
    os.kill(int(sys.argv[4]), signal.SIGHUP)
    until("several keys of a file", lambda: len(keys()) == 3)


# --- withdrawal -----------------------------------------------------------------------------


def indexer(*args):
    return subprocess.run([pathlib.Path(os.environ["TIDE_BIN"]) / "tidemark-indexer", *args], capture_output=True, text=True)


def sql(statement):
    subprocess.run(["psql", "-Xqc", statement, os.environ["TIDEMARK_DATABASE_URL"]], check=True)


def kids_of(port):
    """The published keys; None: the node does not say."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request("GET", "/.well-known/jwks.json")
    response = connection.getresponse()
    body = json.loads(response.read())
    connection.close()
    check(response.status in (200, 503), body)
    check(response.status == 503 or response.headers["Cache-Control"] == "public, max-age=60", response.headers["Cache-Control"])
    return [key["kid"] for key in body["keys"]] if response.status == 200 else None


def metric(port):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request("GET", "/metrics")
    lines = connection.getresponse().read().decode().splitlines()
    connection.close()
    return next(float(line.split()[1]) for line in lines if line.startswith("tidemark_receipt_keys_withdrawn "))


def withdraw():
    """Keys of the files are second (it signs), first and other. One that does not sign is withdrawn, then the one that signs."""
    nodes = {PORT: int(sys.argv[4]), int(sys.argv[5]): int(sys.argv[6])}
    before = kids_of(PORT)
    check(len(before) == 3, before)
    until("the second node does not publish the keys", lambda: kids_of(int(sys.argv[5])) == before)
    _, path, _ = next(questions())
    stolen = receipt(path, JWT)
    check(parts(stolen)[0]["kid"] == before[0], stolen)
    for wrong in (["withdraw", "x"], ["withdraw", before[0] + "A"], ["withdraw", "é" + before[0][1:]], ["withdraw", before[0], before[1]]):
        check(indexer(*wrong).returncode == 64, wrong)
    check(indexer("withdraw").stdout == "", "something is withdrawn")
    for count, kid in ((1, before[2]), (2, before[0])):
        done = indexer("withdraw", kid, "--reason", "stolen")
        check(done.returncode == 0, done)
        left = [one for one in before if one not in {before[2], kid}]
        for port in nodes:
            until(f"{port} publishes {kid}", lambda: kids_of(port) == left)
            until(f"{port} does not count {kid}", lambda: metric(port) == count)
    check(indexer("withdraw", before[0]).returncode == 0, "again")
    expect(stolen, 68, "was withdrawn", jwks=None)
    listed = indexer("withdraw").stdout.splitlines()
    check(len(listed) == 2 and listed[0].startswith(before[2]) and listed[1].startswith(before[0]) and listed[1].endswith("stolen"), listed)
    for port, pid in nodes.items():
        status, _, body = ask(path, JWT) if port == PORT else (406, None, None)
        check(status == 406, f"{port} signs with a withdrawn key: {body}")
        os.kill(pid, signal.SIGHUP)
    until("the files are not read again", lambda: (DIR / "second.log").read_text().count("receipts.reloaded") == 1)
    for port in nodes:
        check(kids_of(port) == [before[1]], f"{port} publishes a withdrawn key after SIGHUP")
    check(ask("/api/sdk/snapshot")[0] == 404, "a snapshot without a key that signs")
    check((DIR / "second.log").read_text().count("receipts.withdrawn") >= 2, "receipts.withdrawn is not logged")
    install(["first.pem"], "signing.pem")
    install([], "more.pem")
    os.kill(nodes[PORT], signal.SIGHUP)
    until("the next key does not sign", lambda: ask(path, JWT)[0] == 200)
    check(parts(receipt(path, JWT))[0]["kid"] == before[1] == keys()[0]["kid"], "another key signs")
    install([], "signing.pem")
    os.kill(nodes[PORT], signal.SIGHUP)
    until("an empty file is not heeded", lambda: kids_of(PORT) == [])
    check(ask(path, JWT)[0] == 406, "without a key a receipt is signed")
    install(["first.pem"], "signing.pem")
    os.kill(nodes[PORT], signal.SIGHUP)
    until("the key is not published again", lambda: kids_of(PORT) == [before[1]])
    # A restored backup has as many withdrawals as a node knows, but others.
    sql(f"BEGIN; DELETE FROM chain.withdrawn_key WHERE kid = '{before[2]}'; INSERT INTO chain.withdrawn_key (kid) VALUES ('{before[1]}'); COMMIT")
    until("a key is published whose withdrawal replaced another one", lambda: kids_of(PORT) == [])


def unknown():
    """The database is away."""
    until("it publishes keys without knowing which were withdrawn", lambda: kids_of(PORT) is None)
    status, _, body = ask("/.well-known/jwks.json")
    check(status == 503 and json.loads(body)["code"] == "stale", body)


# --- tidemark-indexer verify ------------------------------------------------------------------


def tell(token, jwks=True):
    (DIR / "receipt.jwt").write_text(token + "\n")
    if jwks is True:
        (DIR / "jwks.json").write_bytes(ask("/.well-known/jwks.json")[2])
    run = subprocess.run([pathlib.Path(os.environ["TIDE_BIN"]) / "tidemark-indexer", "verify", "--receipt", DIR / "receipt.jwt",
                          *(["--jwks", DIR / "jwks.json"] if jwks else [])], capture_output=True, text=True)
    return run.returncode, run.stdout + run.stderr


def expect(token, code, *words, jwks=True):
    got = tell(token, jwks)
    check(got[0] == code and all(w in got[1] for w in words), f"verify: {got}, not {code} {words}")


def changed(token, change):
    header, payload = parts(token)
    change(payload)
    return sign(header, payload, DIR / "keys" / "signing.pem")


def malformed(token):
    """A set of keys that is none, or has odd members beside the right one: refused with a documented code, or the right one is found."""
    right = json.loads(ask("/.well-known/jwks.json")[2])
    key = next(k for k in right["keys"] if k["kid"] == parts(token)[0]["kid"])
    odd = [None, 1, "x", [], {}, {"kty": None}, {**key, "x": None}, {**key, "x": key["x"] + "="}, {**key, "x": key["x"][:-1]}, {**key, "x": 1}, {**key, "crv": None}, {**key, "kty": "oct"}]

    def says(keys, code):
        (DIR / "jwks.json").write_text(keys if isinstance(keys, str) else json.dumps(keys))
        got = tell(token, "kept")
        check(got[0] == code, f"verify with {keys}: {got}, not {code}")
    for keys in "", "null", "[]", "{", "{}", '{"keys":null}', '{"keys":{}}', '{"keys":1}', '{"keys":[],"keys":[]}', json.dumps(right["keys"]), "\\u0000":
        says(keys, 65)
    for one in odd:
        says({"keys": [one]}, 68)
        says({"keys": [one, key]}, 0)
    says({"keys": odd}, 68)


def verify():
    last = int(get("/api/ledgers?limit=1")["items"][0]["ledger"])
    for _, path, _ in questions():
        for asked in (path, with_query(path, f"ledger={last - 7}")):
            expect(receipt(asked, JWT), 0, "right", "holds")
    _, path, _ = next(questions())
    token = receipt(path, JWT)
    expect(token, 0, "right", "not checked", jwks=None)
    flip = lambda text: text[:-20] + ("B" if text[-20] == "A" else "A") + text[-19:]
    expect(flip(token), 68, "the signature does not hold")
    header, payload, signature = token.split(".")
    expect(".".join((header, flip(payload), signature)), 68, "the signature does not hold")
    expect(sign(parts(token)[0], parts(token)[1], DIR / "keys" / "other.pem"), 68, "the signature does not hold")
    expect(sign({**parts(token)[0], "kid": "x" * 43}, parts(token)[1], DIR / "keys" / "signing.pem"), 68, "has no key")
    expect(sign({**parts(token)[0], "alg": "none"}, parts(token)[1], DIR / "keys" / "signing.pem"), 68, "alg must be EdDSA")
    for crit in [], ["exp"], None, "exp":
        expect(sign({**parts(token)[0], "crit": crit}, parts(token)[1], DIR / "keys" / "signing.pem"), 68, "crit")
    malformed(token)
    was = parts(token)[1]["answer"]["compliant"]
    expect(changed(token, lambda p: p["answer"].update(compliant=not was)), 68, "/answer/compliant", "wrong: 1 difference")
    expect(changed(token, lambda p: p["answer"].update(extra=1)), 68, "/answer/extra")
    expect(changed(token, lambda p: p.update(evaluatedAt="2020-01-01T00:00:00Z")), 68, "/evaluatedAt")
    expect(changed(token, lambda p: p["contracts"].popitem()), 68, "/contracts")
    expect(changed(token, lambda p: p["question"]["query"].update(ledger="7")), 68, "the question names ledger 7")
    expect(changed(token, lambda p: p["question"].update(path=p["question"]["path"][:-2] + "AA")), 68, "/answer/address")
    expect(changed(token, lambda p: p.update(network="Public")), 67, "cannot be told", "network Public")
    expect(changed(token, lambda p: p.update(deployment="00" * 32)), 67, "another deployment")
    expect(changed(token, lambda p: p["ledger"].update(hash="00" * 32)), 67, "another hash")
    expect(changed(token, lambda p: p["ledger"].update(sequence="2000000000")), 67, "is not indexed")
    expect(changed(token, lambda p: p.pop("evaluatedAt")), 65, "missing or malformed")
    expect("nonsense", 65, "not a signed receipt")


{"none": none, "answers": answers, "rotate": rotate, "verify": verify, "withdraw": withdraw, "unknown": unknown}[WHAT]()
