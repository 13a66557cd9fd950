"""Asks the API for the proof of every entry (without TIDE_LONG: every third) that its contracts have in a checkpoint's state, and compares what it says with the archive's buckets.

    _entry_each.py FOLDER API_URL LEAST

FOLDER has deployment.json and archive/; LEAST is the number of entries whose value a proof must tell. Writes answers of each kind as entry.N.json, for _entries.py.
"""

import base64
import collections
import gzip
import json
import os
import sys
import urllib.error
import urllib.request

import tidemark_client as tidemark

FOLDER, API, LEAST = sys.argv[1:4]
ARCHIVE = os.path.join(FOLDER, "archive")
with open(os.path.join(FOLDER, "deployment.json")) as file:
    deployment = json.load(file)
names = {address: name for name, address in deployment["contracts"].items()}


def ask(path):
    try:
        with urllib.request.urlopen(API + path) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read())["code"]


def verify(text, buckets=ARCHIVE):
    return tidemark.verify_entry_proof(text, network=deployment["network"], validators=deployment["validators"], buckets=buckets)


def strkey(contract):
    return tidemark.entry._strkey(16, contract)


def url_of(key):
    return "/api/proof/entry/" + base64.urlsafe_b64encode(key).decode().rstrip("=")


def records(name):
    with gzip.open(os.path.join(ARCHIVE, "bucket", name[0:2], name[2:4], name[4:6], f"bucket-{name}.xdr.gz")) as file:
        data = file.read()
    at = 0
    while at < len(data):
        length = int.from_bytes(data[at:at + 4], "big") & 0x7FFFFFFF
        yield data[at + 4:at + 4 + length]
        at += 4 + length


def key_of(record):
    """The LedgerKey of contract data in a record, or None."""
    arm, kind = record[:4], record[4:8] if record[:4] == b"\0\0\0\1" else record[8:12]
    if kind != b"\0\0\0\6":
        return None
    if arm == b"\0\0\0\1":
        return record[4:]
    x = tidemark.entry._Xdr(record)
    x.take(16)
    x.address()
    x.value()
    x.arm(1)
    return b"\0\0\0\6" + record[16:x.at]


# Entries whose value the API does not say: nonces, a person's jurisdiction, lists of structs, and what the index does not follow of Stellar assets.
UNTOLD = {"nonce", "ComplianceRec", "Kyc", "PendingObservations", "instance", "Balance"}


def kind_of(key):
    """The symbol that a key begins with."""
    arm = int.from_bytes(key[40:44], "big")
    if arm != 16:
        return {20: "instance", 21: "nonce"}.get(arm, str(arm))
    length = int.from_bytes(key[56:60], "big")
    return key[60:60 + length].decode()


def read_list(buckets):
    """Of each key the newest value; None: it is removed, or restored."""
    found = {}
    for record in (record for name in buckets if name != "0" * 64 for record in records(name)):
        key = key_of(record)
        if key is None or key in found:
            continue
        x = tidemark.entry._Xdr(record)
        if record[:4] != b"\0\0\0\1":
            x.take(16 + len(key) - 4)
        found[key] = None if record[:4] == b"\0\0\0\1" else x.value()
    return found


def read_state(buckets):
    live, hot = read_list(buckets[:22]), read_list(buckets[22:])
    evicted = sum(value is not None and live.get(key) is None for key, value in hot.items())
    assert evicted, "no entry is in the hot archive alone"
    print(f"{evicted} entries are in the hot archive alone")
    return {key: live.get(key) or hot.get(key) for key in {*live, *hot}}


account = next(iter(deployment["accounts"].values()))
code, text = ask(f"/api/proof/compliance/{account}")
assert code == 200, f"{code} {text}"
assert verify(text, None).state is None and verify(text).said == "nothing"
state = read_state(verify(text, None).buckets)
count = collections.Counter()
kept = collections.Counter()
written = 0


def keep(kind, text):
    global written
    kept[kind] += 1
    if kept[kind] <= 2:
        written += 1
        with open(os.path.join(FOLDER, f"entry.{written}.json"), "w") as out:
            out.write(text)


strangers = 0
for key, value in sorted(state.items())[::None if os.environ.get("TIDE_LONG") else 3]:
    ours = key[4:8] == b"\0\0\0\1" and strkey(key[8:40]) in names
    strangers += not ours
    if not ours and strangers > 20:
        continue  # nonces, and what others keep
    code, text = ask(url_of(key))
    if code == 404:
        count["not followed"] += 1
        assert text == "not_found" and not ours, f"{key.hex()} {text}"
        continue
    assert code == 200, f"{key.hex()}: {code} {text}"
    proof = json.loads(text)["proof"]
    data = base64.b64decode(proof["data"])
    said = {"nothing": b"\0\0\0\0", "absent": b"\0\0\0\1", "value": b"\0\0\0\2" + len(value or b"").to_bytes(4, "big") + (value or b"")}[proof["said"]]
    kind = ("absent" if value is None else "there", proof["said"])
    assert kind not in (("absent", "value"), ("there", "absent")) and data.endswith(key + said) and len(data) == proof["bytes"], f"{key.hex()} {value and value.hex()}: {proof}"
    count[f"{kind[0]}, said {kind[1]}"] += 1
    if proof["said"] == "nothing":
        count[f"    {kind_of(key)} of {names[proof['contract']].rstrip('0123456789')}" if ours else "    of found tokens"] += 1
        assert kind_of(key) in UNTOLD or not ours, key.hex()
    if kept[kind] < 2:
        proven = verify(text)
        assert (proof["keyHash"], proof["contract"], proof["stateLedger"], proof["said"]) == (proven.key_hash, proven.contract, str(proven.ledger), proven.said), proof
        assert proven.value == value, text
    keep(kind, text)

for entry in "record", "frozen", "whitelist":
    code, text = ask(f"/api/proof/compliance/{account}?entry={entry}")
    assert code == 200 and verify(text).contract == deployment["contracts"]["compliance_registry"], text
    keep((entry, "registry"), text)
registry = base64.b32decode(deployment["contracts"]["compliance_registry"])[1:33]
begin = b"\0\0\0\6\0\0\0\1"
for what, key, wanted in (("no base64", b"", (400, "invalid_parameters")), ("an account", bytes(40), (400, "invalid_parameters")), ("a stranger's contract", begin + bytes(32) + b"\0\0\0\1\0\0\0\1", (404, "not_found")),
                          ("a key behind a key", begin + registry + b"\0\0\0\1\0\0\0\1" * 2, (400, "invalid_parameters"))):
    path = url_of(key) if key else "/api/proof/entry/AAA="
    assert ask(path) == wanted, f"{what}: {ask(path)}"
code, text = ask(url_of(begin + registry + b"\0\0\0\1\0\0\0\1"))
assert code == 200 and verify(text).state == "absent", text

for what, n in sorted(count.items()):
    print(f"{n:6} {what}")
assert count["there, said value"] >= int(LEAST) and kept["frozen", "registry"], count
