"""Checks that `tidemark-indexer verify --proof` and both packages give the same verdict on proofs: valid ones, forged ones and mutants.

    _proofs.py FOLDER NODE_FOLDER [SEED] [MUTANTS]

FOLDER has proof.N.json, answers of /api/proof, and deployment.json. NODE_FOLDER is where _proofs.mjs finds the TypeScript package.

Mutants that are signed again have the right hashes from the pre-image up to the votes: the test holds the keys of its own validators.
They show that all three read results, values and headers alike.
"""

import base64
import binascii
import glob
import hashlib
import json
import os
import random
import struct
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

import tidemark_client as tidemark

FOLDER, NODE = sys.argv[1:3]
dice = random.Random(int(sys.argv[3]) if len(sys.argv) > 3 else 1)
MUTANTS = int(sys.argv[4]) if len(sys.argv) > 4 else 250
INDEXER = os.path.join(os.environ["TIDE_BIN"], "tidemark-indexer")
with open(os.path.join(FOLDER, "deployment.json")) as file:
    deployment = json.load(file)
NETWORK = deployment["network"]
REFUSED = {65: "malformed", 68: "not_proven", 78: "bad_validators"}


def sha(data):
    return hashlib.sha256(data).digest()


def word(n):
    return struct.pack(">I", n)


def part(data):
    return word(len(data)) + data


def strkey(version, payload):
    raw = bytes([version]) + payload
    return base64.b32encode(raw + binascii.crc_hqx(raw, 0).to_bytes(2, "little")).decode()


class Validator:
    def __init__(self, seed):
        self.key = Ed25519PrivateKey.from_private_bytes(sha(seed))
        self.public = self.key.public_key().public_bytes_raw()
        self.address = strkey(6 << 3, self.public)

    def vote(self, slot, value, network=NETWORK, kind=2):
        said = word(0) + self.public + struct.pack(">Q", slot) + word(kind) + word(1) + part(value + bytes(-len(value) % 4)) + word(1) + bytes(32)
        return said + part(self.key.sign(sha(network.encode()) + word(1) + said))


ours = [Validator(bytes([n])) for n in range(4)]
stranger = Validator(b"stranger")
MINE = {"threshold": 3, "validators": [one.address for one in ours]}


class Proof:
    """The parts of a proof, so that they can be changed and put together again."""

    def __init__(self, data):
        self.at, self.data = 8, data
        self.headers = [self.take_part() for _ in range(self.take_word())]
        self.set = self.take_part() if self.take_word() else None
        self.envelopes = [self.take_part() for _ in range(self.take_word())]
        self.hash = self.data[self.at:self.at + 32]
        self.at += 32
        self.results = self.take_part()
        self.preimage = self.take_part() if self.take_word() else None
        assert self.at == len(data)

    def take_word(self):
        self.at += 4
        return struct.unpack_from(">I", self.data, self.at - 4)[0]

    def take_part(self):
        n = self.take_word()
        self.at += n
        return self.data[self.at - n:self.at]

    @property
    def signed(self):
        return self.sequence(-1) + 1

    def results_at(self, header):
        """Offset of txSetResultHash: behind version, previous hash and value."""
        at = 36 + 40
        count, = struct.unpack_from(">I", header, at)
        at += 4
        for _ in range(count):
            n, = struct.unpack_from(">I", header, at)
            at += 4 + n + -n % 4
        arm, = struct.unpack_from(">I", header, at)
        at += 4 + (68 if arm == 2 else 0)
        if arm:
            n, = struct.unpack_from(">I", header, at + 36)
            at += 36 + 4 + n + -n % 4
        return at

    def sequence(self, i):
        return struct.unpack_from(">I", self.headers[i], self.results_at(self.headers[i]) + 64)[0]

    def value(self):
        """The value that the envelopes sign."""
        n, = struct.unpack_from(">I", self.envelopes[0], 36 + 8 + 4 + 4)
        return self.envelopes[0][56:56 + n]

    def bytes(self):
        return (b"TIDEPRF1" + word(len(self.headers)) + b"".join(part(h) for h in self.headers)
                + (word(0) if self.set is None else word(1) + part(self.set)) + word(len(self.envelopes)) + b"".join(part(e) for e in self.envelopes)
                + self.hash + part(self.results) + (word(0) if self.preimage is None else word(1) + part(self.preimage)))

    def signed_again(self, signers=ours, value=None, slot=None):
        """Votes of the test's own validators for what there is now."""
        value = self.value() if value is None else value
        self.envelopes = [one.vote(self.signed if slot is None else slot, value) for one in signers]
        return self

    def hashed_again(self, preimage=None, results=None, header=None, old=None):
        """Every hash above the changed part is made again, and the votes."""
        if preimage is not None:
            new = sha(preimage)
            self.results = (results or self.results).replace(sha(self.preimage), new)
            self.preimage = preimage
            results = self.results
        first = header or self.headers[0]
        if results is not None:
            at = self.results_at(self.headers[0])
            first = first[:at] + sha(results) + first[at + 32:]
            self.results = results
        self.headers[0] = first
        for i in range(1, len(self.headers)):
            self.headers[i] = self.headers[i][:4] + sha(self.headers[i - 1]) + self.headers[i][36:]
        value = self.value()
        if self.set is not None:
            self.set = self.set[:4] + sha(self.headers[-1]) + self.set[36:]
            value = sha(self.set) + value[32:]
        return self.signed_again(value=value)


def answer_of(data, **more):
    return json.dumps({"ledger": "1", "proof": {"data": base64.b64encode(data).decode(), **more}})


cases = []  # name, answer, network, validators, expected: True, False, None (the three agree)


def case(name, data, expected=None, network=NETWORK, validators=MINE):
    text = data if isinstance(data, str) else answer_of(data)
    cases.append((name, text, network, validators, expected))


def sources():
    for path in sorted(glob.glob(os.path.join(FOLDER, "proof.*.json"))):
        with open(path) as file:
            text = file.read()
        yield path, text, Proof(base64.b64decode(json.loads(text)["proof"]["data"]))


def copy(p):
    return Proof(p.bytes())


proofs = list(sources())
assert len(proofs) >= 3, "three proofs at least"
with_events = [p for _, _, p in proofs if p.preimage]
assert with_events and any(p.preimage is None for _, _, p in proofs), "proofs with events and without"
short = min(with_events, key=lambda p: len(p.bytes()))

# As the server gives them, against the simulated validators; and signed by the test's own.
for path, text, p in proofs:
    case(f"{os.path.basename(path)} as it came", text, True, validators=deployment["validators"])
    case("of other validators", text, False)
    case("signed again", copy(p).signed_again().bytes(), True)
    case("hashed again", copy(p).hashed_again().bytes(), True)

base = copy(short).signed_again()
whole = base.bytes()

# Votes
case("another network", whole, False, network=NETWORK + ".")
case("of another network", (lambda p: setattr(p, "envelopes", [o.vote(p.signed, p.value(), "other") for o in ours]) or p.bytes())(copy(base)), False)
case("two of three", copy(base).signed_again(ours[:2]).bytes(), False)
case("three", copy(base).signed_again(ours[:3]).bytes(), True)
case("one votes twice", copy(base).signed_again([ours[0], ours[0], ours[1], ours[2]]).bytes(), False)
case("one votes three times", copy(base).signed_again([ours[0]] * 3).bytes(), False)
case("strangers alone", copy(base).signed_again([stranger] * 3).bytes(), False)
case("a stranger beside", copy(base).signed_again([*ours[:3], stranger, stranger]).bytes(), True)
case("a stranger's false vote beside", (lambda p: p.envelopes.append(stranger.vote(p.signed, p.value(), "x")) or p.bytes())(copy(base).signed_again(ours[:3])), True)
case("a stranger's other value beside", (lambda p: p.envelopes.append(stranger.vote(p.signed, b"else")) or p.bytes())(copy(base).signed_again(ours[:3])), False)
case("votes about the ledger before", copy(base).signed_again(slot=base.signed - 1).bytes(), False)
case("votes about the next ledger", copy(base).signed_again(slot=base.signed + 1).bytes(), False)
case("votes about a slot with 33 bits", copy(base).signed_again(slot=base.signed + 2**32).bytes(), False)
for kind in 0, 1, 3, 4:
    case(f"statements of kind {kind}", (lambda p: setattr(p, "envelopes", [o.vote(p.signed, p.value(), kind=kind) for o in ours]) or p.bytes())(copy(base)), False)
for other in (p for _, _, p in proofs if p.signed != base.signed):
    case("the value of another ledger", copy(base).signed_again(value=other.value()).bytes(), False)
    case("the set of another ledger", (lambda p: setattr(p, "set", other.set) or p.signed_again(value=other.value()).bytes())(copy(base)), False)
case("no value", copy(base).signed_again(value=b"").bytes(), False)
case("a value of 4 bytes", copy(base).signed_again(value=b"\0\0\0\1").bytes(), False)
case("a value with bytes behind", copy(base).signed_again(value=base.value() + bytes(4)).bytes(), False)
before = sha(base.headers[-1])
empty = bytes(32) + base.value()[32:40] + word(0) + word(2) + sha(b"proposed") + before + word(28) + word(0) + bytes(32) + part(bytes(64))
case("a value without a set", (lambda p: setattr(p, "set", None) or p.signed_again(value=empty).bytes())(copy(base)), True)
case("the same about another ledger", (lambda p: setattr(p, "set", None) or p.signed_again(value=empty.replace(before, sha(b"x"))).bytes())(copy(base)), False)
case("the same with a set", copy(base).signed_again(value=empty).bytes(), False)
case("a set that is missing", (lambda p: setattr(p, "set", None) or p.bytes())(copy(base)), False)
case("no envelope", copy(base).signed_again([]).bytes(), False)
old = before + bytes(4)  # the form of a set before protocol 20, which begins with the hash
case("a set of the old form", (lambda p: setattr(p, "set", old) or p.signed_again(value=sha(old) + p.value()[32:]).bytes())(copy(base)), False)

# The validators
key = [one.address for one in ours]
for name, wanted, expected in (
        ("threshold 0", {"threshold": 0, "validators": key}, False), ("threshold 5", {"threshold": 5, "validators": key}, False),
        ("threshold -1", {"threshold": -1, "validators": key}, False), ("threshold true", {"threshold": True, "validators": key}, False),
        ("threshold 3.5", {"threshold": 3.5, "validators": key}, False), ("threshold as text", {"threshold": "3", "validators": key}, False),
        ("no threshold", {"validators": key}, False), ("no members", {"threshold": 1}, False), ("empty lists", {"threshold": 1, "validators": [], "innerSets": []}, False),
        ("a key twice", {"threshold": 1, "validators": [key[0], key[0]]}, False),
        ("a key twice, in an inner set", {"threshold": 1, "validators": [key[0]], "innerSets": [{"threshold": 1, "validators": [key[0]]}]}, False),
        ("an unknown member", {"threshold": 1, "validators": key, "x": 1}, False), ("a contract's address", {"threshold": 1, "validators": [strkey(2 << 3, bytes(32))]}, False),
        ("a key with a wrong sum", {"threshold": 1, "validators": [key[0][:-1] + ("A" if key[0][-1] != "A" else "B")]}, False),
        ("a list", [key], False), ("validators as text", {"threshold": 1, "validators": key[0]}, False),
        ("inner sets", {"threshold": 2, "validators": [key[0]], "innerSets": [{"threshold": 2, "validators": key[1:3] + [stranger.address]}]}, True),
        ("an inner set that is not satisfied", {"threshold": 2, "validators": [key[0]], "innerSets": [{"threshold": 2, "validators": [key[1], stranger.address]}]}, False),
        ("five levels", {"threshold": 1, "innerSets": [{"threshold": 1, "innerSets": [{"threshold": 1, "innerSets": [{"threshold": 1, "innerSets": [
            {"threshold": 1, "validators": key}]}]}]}]}, True),
        ("six levels", {"threshold": 1, "innerSets": [{"threshold": 1, "innerSets": [{"threshold": 1, "innerSets": [{"threshold": 1, "innerSets": [
            {"threshold": 1, "innerSets": [{"threshold": 1, "validators": key}]}]}]}]}]}, False)):
    case(f"validators: {name}", whole, expected, validators=wanted)

# The answer around it
data = base64.b64encode(whole).decode()
case("other members", answer_of(whole, kind="x", ledger=[1, {}]), True)
for name, text in (("nothing", ""), ("no JSON", "proof"), ("a list", "[]"), ("no proof", "{}"), ("no data", '{"proof":{}}'), ("data is a number", '{"proof":{"data":1}}'),
                   ("no padding", answer_of(whole).replace("=", "")), ("a space", answer_of(whole).replace(data[:8], data[:8] + " ")), ("cut text", answer_of(whole)[:-9]),
                   ("base64url", json.dumps({"proof": {"data": data.replace("+", "-").replace("/", "_")}}) if "+" in data or "/" in data else "{}"),
                   ("two levels", json.dumps({"proof": {"proof": {"data": data}}})), ("deep", "[" * 2000), ("a mark before it", "\ufeff" + answer_of(whole))):
    if text != answer_of(whole):
        case(f"answer: {name}", text, False)

# Lengths and ends
for n in [0, 1, 7, 8, 11, 12, 15, 16, *(dice.randrange(len(whole)) for _ in range(20)), len(whole) - 4, len(whole) - 1]:
    case(f"cut at {n}", whole[:n], False)
for tail in b"\0", bytes(4), whole:
    case("bytes behind it", whole + tail, False)


def lengths(p):
    """Offsets of all counts, flags and lengths."""
    at = 8
    yield at
    at += 4
    for h in p.headers:
        yield at
        at += 4 + len(h)
    yield at
    yield at + 4
    at += 8 + len(p.set)
    yield at
    at += 4
    for e in p.envelopes:
        yield at
        at += 4 + len(e)
    at += 32
    yield at
    at += 4 + len(p.results)
    yield at
    yield at + 4


for at in lengths(base):
    found, = struct.unpack_from(">I", whole, at)
    for n in {0, 1, 2, found - 4, found + 1, found + 4, 2**31 - 1, 2**31, 2**32 - 1, 2**32 - 4}:
        if n != found and n >= 0:
            case(f"the number at {at} is {n}", whole[:at] + word(n) + whole[at + 4:], False)

# A byte of each part
envelopes_at = whole.index(base.envelopes[0])
for name, piece in (("magic", whole[:8]), ("header", base.headers[0]), ("last header", base.headers[-1]), ("set", base.set), ("envelope", base.envelopes[0]),
                    ("hash", base.hash), ("results", base.results), ("preimage", base.preimage)):
    begin = whole.index(piece)
    for _ in range(8):
        at = begin + dice.randrange(len(piece))
        case(f"{name}: a byte at {at - begin}", whole[:at] + bytes([whole[at] ^ 1 << dice.randrange(8)]) + whole[at + 1:], False)
case("the headers swapped", (lambda p: p.headers.reverse() or p.bytes())(copy(max((p for _, _, p in proofs), key=lambda p: len(p.headers))).signed_again()), False)
case("a header left out", (lambda p: p.headers.pop(1) and p.bytes())(copy(max((p for _, _, p in proofs), key=lambda p: len(p.headers))).signed_again()), False)
case("a header too many", (lambda p: p.headers.append(p.headers[-1]) or p.bytes())(copy(base)), False)
case("another transaction's hash", (lambda p: setattr(p, "hash", sha(b"x")) or p.bytes())(copy(base)), False)
case("the results twice", (lambda p: p.hashed_again(results=word(2 * struct.unpack_from(">I", p.results)[0]) + 2 * p.results[4:]).bytes())(copy(base)), False)
case("a preimage left out", (lambda p: setattr(p, "preimage", None) or p.bytes())(copy(base)), True)

# With the right hashes: what is inside is read alike.


def damaged(data):
    """One to three words or bytes changed, or a piece left out or doubled."""
    data = bytearray(data)
    for _ in range(dice.choice((1, 1, 1, 2, 3))):
        at = dice.randrange(0, max(1, len(data) - 4), 4)
        kind = dice.randrange(6)
        if kind == 0:
            data[at:at + 4] = word(dice.choice((0, 1, 2, 3, 4, 5, 9, 10, 14, 15, 16, 17, 18, 19, 20, 22, 23, 27, 2**31, 2**32 - 1, 2**32 - dice.randrange(1, 20))))
        elif kind == 1 and data:
            data[dice.randrange(len(data))] ^= 1 << dice.randrange(8)
        elif kind == 2:
            del data[at:at + 4 * dice.randrange(1, 4)]
        elif kind == 3:
            data[at:at] = data[at:at + 4 * dice.randrange(1, 4)]
        elif kind == 4:
            data[at:at] = bytes(4 * dice.randrange(1, 4))
        else:
            n, = struct.unpack_from(">I", data, at) if len(data) >= at + 4 else (0,)
            data[at:at + 4] = word((n + dice.choice((-1, 1, 4, -4))) % 2**32)
    return bytes(data) or bytes(4)


def header_of(p):
    """A header with another value, or other fields; its results are still found."""
    h = bytearray(p.headers[0])
    at = dice.randrange(0, len(h), 4)
    h[at:at + 4] = word(dice.choice((0, 1, 2, 3, 4, 6, 7, 2**32 - 1)))
    return bytes(h)


for i in range(MUTANTS):
    p = copy(dice.choice(with_events))
    case(f"preimage {i}", p.hashed_again(preimage=damaged(p.preimage)).bytes())
    p = copy(dice.choice(proofs)[2])
    case(f"results {i}", p.hashed_again(results=damaged(p.results)).bytes())
    p = copy(dice.choice(proofs)[2])
    try:
        case(f"header {i}", p.hashed_again(header=header_of(p)).bytes())
    except (struct.error, IndexError):
        pass  # the end of the header cannot be found
    p = copy(dice.choice(proofs)[2]).signed_again()
    case(f"value {i}", p.signed_again(value=damaged(p.value())).bytes())
    case(f"anything {i}", damaged(whole))

nested = word(0)
for depth in (63, 1499, 1500, 1501, 5000):  # lists in lists: the limit is 1500
    answer = (word(16) + word(1) + word(1)) * depth + word(1)
    case(f"an answer of depth {depth}", copy(short).hashed_again(preimage=answer + word(0)).bytes(), depth <= 1500)
    answer = (word(17) + word(1) + word(1) + word(1)) * depth + word(1)
    case(f"maps of depth {depth}", copy(short).hashed_again(preimage=answer + word(0)).bytes(), depth <= 1500)


def operation_results():
    """One result of each operation and code, and of each shape of its success."""
    account = word(0) + sha(b"account")
    assets = (word(0), word(1) + b"USDC" + account, word(2) + b"ABCDEFGHIJKL" + account)
    atoms = [word(0) + bytes(32) + bytes(8), word(1) + account + bytes(8), word(2) + bytes(32)]
    atom = [one + dice.choice(assets) + bytes(8) + dice.choice(assets) + bytes(8) for one in atoms]
    for kind in range(28):
        for code in range(-14, 2):
            yield word(0) + word(kind) + struct.pack(">i", code) + dice.choice((b"", b"", assets[1]))
        for body in (b"", bytes(8), word(0), word(1) + account + bytes(8), word(0) + bytes(32), bytes(32), word(1) + atom[0] + account + assets[2] + bytes(8),
                     word(3) + b"".join(atom) + account + assets[0] + bytes(8), word(0) + word(2), word(2) + atom[1] + atom[2] + word(1) + account + bytes(8) + assets[0]
                     + assets[1] + bytes(20) + word(0), word(4) + atom[0]):
            yield word(0) + word(kind) + word(0) + body
    for code in range(-8, 2):
        yield struct.pack(">i", code)


for i, one in enumerate(operation_results()):
    p = copy(short)
    extra = sha(b"extra") + bytes(8) + word(0) + word(1) + one + word(0)
    count, = struct.unpack_from(">I", p.results)
    if i % 3:
        extra = sha(b"extra") + bytes(8) + word(1) + bytes(32) + bytes(8) + word(0) + word(1) + one + word(0) + word(0)
    case(f"an operation's result {i}", p.hashed_again(results=word(count + 1) + extra + p.results[4:]).bytes())

# --- verdicts


def by_indexer(i):
    name, text, network, validators, _ = cases[i]
    path = os.path.join(FOLDER, f"case.{i}")
    with open(path, "wb") as out:
        out.write(text.encode("utf-8", "surrogatepass"))
    with open(path + ".deployment", "w") as out:
        json.dump({**deployment, "network": network, "validators": validators}, out)
    done = subprocess.run([INDEXER, "verify", "--proof", path, "--deployment", path + ".deployment"], capture_output=True)
    os.remove(path)
    os.remove(path + ".deployment")
    if done.returncode:
        return REFUSED.get(done.returncode, f"CRASH {done.returncode} {done.stderr[-200:]}")
    lines = [line.split() for line in done.stdout.decode("utf-8", "replace").splitlines()]
    first, result, ledger, signed = lines[:4]
    events = None if lines[4][1] == "not" else [[line[2] if line[2] != "-" else None, int(line[4].rstrip(":"))] for line in lines[5:] if line and line[0] == "event"]
    return [first[2].rstrip(","), int(first[9]), ledger[-1], int(first[4]), int(first[6]), result[1] == "succeeded:", int(result[3].rstrip(",")), result[5],
            int(signed[8].rstrip(",")), int(signed[1]), events]


def by_python(i):
    _, text, network, validators, _ = cases[i]
    try:
        p = tidemark.verify_proof(text, network=network, validators=validators)
    except tidemark.ProofError as error:
        return error.code
    events = None if p.events is None else [[one.contract, one.type, len(one.topics)] for one in p.events]
    return [p.tx_hash, p.ledger, p.ledger_hash, str(p.closed_at), p.index, p.count, p.ok, p.result_code, str(p.fee_charged), p.signed_ledger, p.signers, events]


def brief(said):
    """What the indexer prints of a package's verdict."""
    if isinstance(said, str):
        return said
    events = None if said[11] is None else [one[:2] for one in said[11]]
    return [said[0], said[1], said[2], said[4], said[5], said[6], said[7], said[8], said[9], len(said[10]), events]


lines = "".join(json.dumps({"answer": text, "network": network, "validators": validators}) + "\n" for _, text, network, validators, _ in cases)
node = subprocess.run(["node", os.path.join(NODE, "_proofs.mjs")], input=lines.encode(), capture_output=True, check=True)
by_node = [json.loads(line) for line in node.stdout.decode().splitlines()]
with ThreadPoolExecutor(4) as pool:
    indexer = list(pool.map(by_indexer, range(len(cases))))
assert len(by_node) == len(cases)
wrong = accepted = 0
for i, (name, text, network, validators, expected) in enumerate(cases):
    said = by_python(i), by_node[i]
    accepted += isinstance(said[0], list)
    # Reasons may differ; what is proven may not.
    reasons = {bool(isinstance(one, str)) for one in (*said, indexer[i])}
    right = len(reasons) == 1 and not any(isinstance(one, str) and one.startswith("CRASH") for one in (*said, indexer[i]))
    if right and isinstance(said[0], list):
        right = said[0] == said[1] and brief(said[0]) == indexer[i]
    if right and expected is not None:
        right = isinstance(said[0], list) == expected
    if not right:
        wrong += 1
        with open(os.path.join(FOLDER, f"wrong.{wrong}.json"), "w", errors="surrogatepass") as out:
            out.write(text)
        if wrong <= 10:
            print(f"{name}: expected {expected}\n  python  {said[0]}\n  node    {said[1]}\n  indexer {indexer[i]}")
print(f"{len(cases)} proofs, {accepted} accepted, {wrong} judged differently")
sys.exit(wrong > 0)
