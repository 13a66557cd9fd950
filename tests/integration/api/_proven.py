"""Asks a server about an index to which this test adds proofs and a fork."""
import base64
import json
import os
import subprocess
import sys
import time
import urllib.error
import urllib.request

URL, REQUIRES = sys.argv[1], sys.argv[2] == "true"
WAIT_S = 60


def sql(statement):
    done = subprocess.run([os.path.join(os.environ["PG_BIN"], "psql"), "-XAtqv", "ON_ERROR_STOP=1", "-c", statement, os.environ["TIDEMARK_DATABASE_URL"]],
                          capture_output=True, text=True, check=True)
    return done.stdout.strip()


def ask(path, body=None):
    """Status, headers, text."""
    request = urllib.request.Request(URL + path, body, {"Content-Type": "application/json"} if body else {})
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status, answer.headers, answer.read().decode()
    except urllib.error.HTTPError as answer:
        return answer.code, answer.headers, answer.read().decode()


def code(path, body=None):
    status, _, text = ask(path, body)
    return status if status == 200 else (status, json.loads(text)["code"])


def expect(about, found, wanted):
    if found != wanted:
        sys.exit(f"{about}: {found!r}, wanted {wanted!r}")
    print(f"ok      {about}")


def wait(about, reached):
    end = time.monotonic() + WAIT_S
    while not reached():
        if time.monotonic() > end:
            sys.exit(f"{about}: not reached")
        time.sleep(0.02)
    print(f"ok      {about}")


def ready():
    return json.loads(ask("/readyz")[2])


def proven(path):
    return ask(path)[1]["Proven-Through"]


def metric(name):
    for line in ask("/metrics")[2].splitlines():
        if line.startswith(f"tidemark_{name} "):
            return float(line.split()[1])
    return None


tip = int(sql("SELECT ledger FROM chain.cursor"))
asset = sql("SELECT asset FROM state.oracle_feed ORDER BY 1 LIMIT 1")
pool = json.loads(ask("/api/pools")[2])["items"][0]["pool"]
person = sql("SELECT address FROM state.compliance_registry_compliance_rec ORDER BY 1 LIMIT 1")
signed = tip - 10
lookups = [f"/api/sdk/kyc/status/{person}", "/api/prices", f"/api/prices/{asset}", f"/api/pools/{pool}/quote?amountIn=1"]
others = ["/api/sdk/contracts", "/api/markets", "/api/pools", "/api/ledgers", "/api/coverage", "/api/events", f"/api/markets?ledger={tip - 20}"]
many = ("/api/sdk/kyc/status", json.dumps({"addresses": [person]}).encode())
sql("DELETE FROM chain.checkpoint")


def at(path, ledger):
    return f"{path}{'&' if '?' in path else '?'}ledger={ledger}"


# nothing is proven
wait("nothing is proven", lambda: proven("/api/sdk/contracts") is None)
expect("readiness", (ready()["ready"], ready()["provenThrough"]), (True, None))
expect("a ledger is linked", json.loads(ask(f"/api/ledgers/{signed}")[2])["item"]["chainProof"], "linked")
for path in lookups:
    expect(path, code(path), (503, "not_proven") if REQUIRES else 200)
    expect(f"{path} of a ledger", code(at(path, signed)), (503, "not_proven") if REQUIRES else 200)

# a proof
sql(f"INSERT INTO chain.checkpoint (deployment, ledger, hash, signed_by) SELECT deployment, ledger, hash, '{{G}}' FROM chain.ledger WHERE ledger = {signed}")
for path in others:
    wait(f"{path} says so", lambda: proven(path) == str(signed))
expect("readiness", (ready()["ready"], ready()["provenThrough"]), (True, str(signed)))
for ledger, word in ((signed - 30, "signed"), (signed, "signed"), (signed + 1, "linked")):
    expect(f"{ledger} is {word}", json.loads(ask(f"/api/ledgers/{ledger}")[2])["item"]["chainProof"], word)
expect("not as of a ledger", json.loads(ask(f"/api/ledgers?ledger={signed}")[2])["items"][0]["chainProof"], None)
for path in lookups:
    expect(path, code(path), (503, "not_proven") if REQUIRES else 200)
    expect(f"{path} of the proven ledger", code(at(path, signed)), 200)
    expect(f"{path} of a later one", code(at(path, signed + 1)), (503, "not_proven") if REQUIRES else 200)
expect("many", code(*many), (503, "not_proven") if REQUIRES else 200)
expect("the newest ledger to ask with is named", not REQUIRES or f"ledger={signed}." in json.loads(ask(lookups[0])[2])["detail"], True)
status, headers, text = ask(at(f"/api/prices/{asset}?receipt=1", signed))
payload = text.split(".")[1]
claims = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
expect("a receipt", (status, claims["ledger"]["provenThrough"]), (200, str(signed)))
wait("metrics", lambda: metric("indexed_proven_ledger") == signed)
expect("others", (metric("indexed_unproven_ledgers"), metric("indexed_proof_trouble_seconds"), metric("indexed_forked")), (10, 0, 0))
sql("INSERT INTO chain.prover (deployment, trouble, trouble_at) SELECT id, 'no archive', now() - interval '1 hour' FROM chain.deployment")
wait("trouble", lambda: metric("indexed_proof_trouble_seconds") >= 3600)
expect("which is no reason", ready()["ready"], True)
sql("DELETE FROM chain.prover")

# a fork
stream = urllib.request.urlopen(f"{URL}/api/stream?topics=ledger", timeout=WAIT_S)
sql(f"INSERT INTO chain.fork (deployment, ledger, hash, signed_hash, signed_by) SELECT deployment, ledger, hash, sha256(hash), '{{G}}' FROM chain.ledger WHERE ledger = {tip}")
wait("readiness tells the fork", lambda: "forked" in ready()["reasons"])
expect("which is no readiness", (ask("/readyz")[0], ready()["functions"]["lookups"], ready()["functions"]["sql"]), (503, "down", "down"))
for path in lookups + others + [at(lookups[0], signed), "/api/stream?topics=ledger", f"/api/ledgers/{signed}"]:
    expect(path, code(path), (503, "forked"))
expect("many", code(*many), (503, "forked"))
expect("no ledger is named", ask("/api/markets")[1]["Ledger-Sequence"], None)
expect("it lives", ask("/healthz")[0], 200)
while line := stream.readline():
    if line.startswith(b"data: ") and b'"reason"' in line:
        expect("the stream tells it", json.loads(line[6:])["reason"], "forked")
        break
stream.close()
wait("metrics", lambda: metric("indexed_forked") == 1)
sql("DELETE FROM chain.fork")
wait("dismissed", lambda: ready()["ready"])
expect("answers go on", code("/api/markets"), 200)
