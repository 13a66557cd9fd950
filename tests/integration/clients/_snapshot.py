"""Compares snapshots with the API. Arguments: the reader as a library, the number of answers to compare (20 000)."""

import base64
import ctypes
import hashlib
import json
import os
import random
import struct
import sys
import time
import urllib.error
import urllib.request

import tidemark_client
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

URL = os.environ["TIDEMARK_API_URL"]
WANTED = int((sys.argv[2:3] or [""])[0] or 20000)
NO, YES, STALE, INCOMPLETE, MISMATCHED, BAD = range(6)
HOUR = 3_600_000
lib = ctypes.CDLL(sys.argv[1])
lib.ask.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_uint64, ctypes.c_uint64, ctypes.c_uint64]
lib.load.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_size_t]
kept = {}


def http(path, body=None):
    request = urllib.request.Request(URL + path, body and json.dumps(body).encode(), {"Content-Type": "application/json"} if body else {})
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.status, answer.headers, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.headers, error.read()


def text_of(raw):
    """An address as its text (strkey)."""
    crc = 0
    for byte in raw:
        crc ^= byte << 8
        for _ in range(8):
            crc = (crc << 1 ^ 0x1021 if crc & 0x8000 else crc << 1) & 0xFFFF
    return base64.b32encode(raw + struct.pack("<H", crc)).decode().rstrip("=")


def keys():
    found, until = {}, time.monotonic() + 60
    while (told := http("/.well-known/jwks.json"))[0] == 503 and time.monotonic() < until:
        time.sleep(0.05)  # withdrawn keys are not known yet
    for key in json.loads(told[2])["keys"]:
        thumbprint = hashlib.sha256(json.dumps({"crv": key["crv"], "kty": key["kty"], "x": key["x"]}, separators=(",", ":")).encode()).digest()
        found[thumbprint] = Ed25519PublicKey.from_public_bytes(base64.urlsafe_b64decode(key["x"] + "="))
    return found


def is_signed(file):
    try:
        KEYS[file[256:288]].verify(file[288:352], b"tidemark-snapshot-v1\0" + file[:288])
    except Exception:
        return False
    return hashlib.sha256(file[352:]).digest() == file[200:232]


def head(file):
    names = ("count", "ledger", "flags", "closed", "renewed", "signed", "age", "kind", "after")
    return dict(zip(names, [struct.unpack_from(form, file, at)[0] for form, at in (("<Q", 16), ("<I", 120), ("<I", 124), ("<Q", 160), ("<Q", 168), ("<Q", 176), ("<Q", 184), ("<I", 192), ("<I", 196))]))


def records(file):
    return {file[at : at + 33]: file[at + 33 : at + 48] for at in range(352, len(file), 48)}


def load(which, file):
    kept[which] = file
    return lib.load(which, file, len(file))


def take():
    """A snapshot. The first client of a while is asked to come again."""
    for _ in range(600):
        status, headers, body = http("/api/sdk/snapshot")
        if status == 200:
            assert headers["Ledger-Sequence"] == str(head(body)["ledger"]) and headers["Content-Type"] == "application/octet-stream"
            assert int(headers["Content-Length"]) == len(body)
            return body
        assert status == 503 and json.loads(body)["code"] == "not_ready" and headers["Retry-After"], body
        time.sleep(0.1)
    raise AssertionError("no snapshot")


class Gone(Exception):
    """A jurisdiction was blocked or unblocked since: the snapshot is of no use any more."""


def changes(after):
    status, headers, body = http(f"/api/sdk/snapshot/changes?after={after}")
    if status == 410 and json.loads(body)["code"] == "snapshot_gone":
        raise Gone
    assert status == 200, body
    assert is_signed(body) and head(body)["kind"] == 1 and head(body)["after"] == after and headers["Ledger-Sequence"] == str(head(body)["ledger"])
    return body


def begin():
    global base, about, people
    base = take()
    assert is_signed(base) and load(0, base) == 0
    about = head(base)
    people = records(base)
    assert list(people) == sorted(people) and len(people) == about["count"] > 20 and about["flags"] == 1


def judge_packages():
    """The two packages on the same files and questions."""
    ours = [tidemark_client.Snapshot(kept[which]) for which in (0, 1)]
    assert all(file.is_signed(jwks, network) for file in ours) and not ours[0].is_signed(jwks, network + " ")
    for address, now, may in wanted:
        assert tidemark_client.compliant_by(*ours, address, stale_after_ms=HOUR, ledger_age=0, now_ms=now) == ("yes" if may else "no"), address
    for which, name in ((0, "base"), (1, "changes")):
        with open(f"{folder}/{name}", "wb") as file:
            file.write(kept[which])
    with open(f"{folder}/wanted.json", "w") as file:
        json.dump({"jwks": jwks, "network": network, "wanted": wanted}, file)


folder = os.path.dirname(sys.argv[1])
jwks = json.loads(http("/.well-known/jwks.json")[2])
KEYS = keys()
begin()
network = json.loads(http("/api/coverage")[2])["network"]
assert base[24:56] == hashlib.sha256(network.encode()).digest()

# Every address that is known, and as many that are not.
addresses = [text_of(raw) for raw in people] + [text_of(bytes([random.choice((16, 48))]) + os.urandom(32)) for _ in range(len(people))]
wanted = []
compared = yes = rounds = changed = gone = 0
first = about["ledger"]
while compared < WANTED or changed == 0 or rounds < 5:
    try:
        newest = changes(about["ledger"])
    except Gone:
        gone += 1
        begin()
        continue
    assert load(1, newest) == 0
    assert list(records(newest)) == sorted(records(newest))
    changed = max(changed, head(newest)["count"])
    for raw, rest in records(newest).items():
        if text_of(raw) not in addresses:
            addresses.append(text_of(raw))
    at = last = head(newest)["ledger"]
    rounds += 1
    wanted = []
    for _ in range(50):
        chosen = [random.choice(addresses) for _ in range(1000)]
        said = json.loads(http("/api/sdk/kyc/status", {"addresses": chosen})[2])
        if int(said["ledger"]) != at:
            break
        now = int(time.mktime(time.strptime(said["evaluatedAt"], "%Y-%m-%dT%H:%M:%SZ")) - time.timezone) * 1000
        for item in said["items"]:
            mine = lib.ask(1, item["address"].encode(), now, HOUR, 0)
            assert mine == (YES if item["compliant"] else NO), (item, mine, at)
            if compared % 5000 == 0:  # the packages are slower: a part of the answers
                wanted.append((item["address"], now, item["compliant"]))
            yes += item["compliant"]
        compared += len(chosen)
    if wanted:
        judge_packages()
    assert rounds < 100000
assert 0 < yes < compared

# A later snapshot is the earlier one with the changes in between.
deadline = time.time() + 200
while True:
    assert time.time() < deadline, "no later snapshot"
    later = take()
    try:
        if head(later)["ledger"] > about["ledger"]:
            before, after = changes(about["ledger"]), changes(head(later)["ledger"])
            between = records(before)
            expected = {raw: rest for raw, rest in {**people, **between}.items() if not rest[0] & 128}
            unsettled = set(records(after))
            wrong = [text_of(raw) for raw in {**expected, **records(later)} if raw not in unsettled and expected.get(raw) != records(later).get(raw)]
            assert not wrong, wrong
            break
    except Gone:
        begin()
    time.sleep(1)

# Files that give no answer.
while True:
    try:
        begin()
        assert load(1, changes(about["ledger"])) == 0
        break
    except Gone:
        pass
someone = next(text_of(raw) for raw, rest in people.items() if rest[0] == 1 and rest[1:3] == b"\2\0")
now = head(kept[1])["signed"]
whole = kept[1]
assert lib.ask(1, someone.encode(), now + 5001 - head(kept[1])["age"], 5000, 0) == STALE
assert lib.ask(1, someone.encode(), now - 60001, HOUR, 0) == STALE
assert lib.ask(1, someone.encode(), now + 20000, HOUR, 1) == STALE
assert lib.ask(1, (someone[:-1] + ("A" if someone[-1] != "A" else "B")).encode(), now, HOUR, 0) == BAD
assert lib.ask(1, b"M" + someone[1:].encode(), now, HOUR, 0) == BAD
for at, wanted in ((196, MISMATCHED), (192, MISMATCHED), (24, MISMATCHED), (56, MISMATCHED), (88, MISMATCHED), (232, MISMATCHED)):
    other = bytearray(kept[1])
    other[at] ^= 1
    assert load(1, bytes(other)) == 0 and lib.ask(1, someone.encode(), now, HOUR, 0) == wanted, at
incomplete = bytearray(base)
incomplete[124] = 0
assert load(0, bytes(incomplete)) == 0 and lib.ask(0, someone.encode(), now, HOUR, 0) == INCOMPLETE
assert load(1, whole) == 0 and lib.ask(1, someone.encode(), now, HOUR, 0) == INCOMPLETE  # changes do not have what their base lacks
for cut in (0, 351, 353, len(base) - 1):
    assert load(0, base[:cut]) == 1, cut
for _ in range(500):
    forged = bytearray(base)
    forged[random.randrange(len(base))] ^= 1 << random.randrange(8)
    assert not is_signed(bytes(forged))

# A mirror keeps itself fresh.
with tidemark_client.Client(URL) as client:
    mirror = tidemark_client.ComplianceMirror(client, network, stale_after_ms=86400000, ledger_age=0)
    assert mirror.compliant(someone) == "stale"
    mirror.refresh()
    seen = mirror.ledger
    while mirror.ledger == seen:
        mirror.refresh()
    assert mirror.compliant(someone) in ("yes", "no")

# Questions that have no answer.
for path, status, code in ((f"after={about['ledger'] + 10**6}", 503, "behind"), ("after=1", 410, "snapshot_gone"), ("after=x", 400, "invalid_parameters"), ("after=99999999999", 400, "invalid_parameters"), ("", 400, None)):
    got, _, body = http("/api/sdk/snapshot/changes?" + path)
    assert got == status and (code is None or json.loads(body)["code"] == code), (path, got, body)
print(f"{compared} answers equal, {yes} of them compliant; {len(people)} records, {changed} changes at most; ledgers {first} to {last}, {gone} new snapshots")
