"""Checks that `tidemark-indexer verify --proof` and both packages give the same verdict on proofs: valid ones, forged ones and mutants.

    _proofs.py FOLDER NODE_FOLDER [SEED] [MUTANTS]

FOLDER has proof.N.json, answers of /api/proof, and deployment.json. NODE_FOLDER is where _proofs.mjs finds the TypeScript package.

Mutants that are signed again have the right hashes from the pre-image up to the votes: the test holds the keys of its own validators.
They show that all three read results, values and headers alike.
"""

import base64
import glob
import json
import os
import struct

import tidemark_client as tidemark
from _forging import FOLDER, LONG, MINE, MUTANTS, NETWORK, SignedLedgers, answer_of, ask_node, damaged, deployment, dice, header_of, judge, ours, part, sha, strkey, stranger, word


class Proof(SignedLedgers):
    MAGIC = b"TIDEPRF1"

    def read_rest(self):
        self.hash = self.take(32)
        self.results = self.take_part()
        self.preimage = self.take_part() if self.take_word() else None

    def rest(self):
        return self.hash + part(self.results) + (word(0) if self.preimage is None else word(1) + part(self.preimage))

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
        return self.chained_again(first)


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
exact = copy(base).signed_again(ours[:3]).bytes()  # no vote too many: one with another key is a stranger's
for name, piece in (("magic", exact[:8]), ("header", base.headers[0]), ("last header", base.headers[-1]), ("set", base.set), ("envelope", base.envelopes[0]),
                    ("hash", base.hash), ("results", base.results), ("preimage", base.preimage)):
    begin = exact.index(piece)
    for _ in range(8):
        at = begin + dice.randrange(len(piece))
        case(f"{name}: a byte at {at - begin}", exact[:at] + bytes([exact[at] ^ 1 << dice.randrange(8)]) + exact[at + 1:], False)
case("the headers swapped", (lambda p: p.headers.reverse() or p.bytes())(copy(max((p for _, _, p in proofs), key=lambda p: len(p.headers))).signed_again()), False)
case("a header left out", (lambda p: p.headers.pop(1) and p.bytes())(copy(max((p for _, _, p in proofs), key=lambda p: len(p.headers))).signed_again()), False)
case("a header too many", (lambda p: p.headers.append(p.headers[-1]) or p.bytes())(copy(base)), False)
case("another transaction's hash", (lambda p: setattr(p, "hash", sha(b"x")) or p.bytes())(copy(base)), False)
case("the results twice", (lambda p: p.hashed_again(results=word(2 * struct.unpack_from(">I", p.results)[0]) + 2 * p.results[4:]).bytes())(copy(base)), False)
case("a preimage left out", (lambda p: setattr(p, "preimage", None) or p.bytes())(copy(base)), True)

# With the right hashes: what is inside is read alike.


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
        for code in range(-14, 2) if LONG else dice.sample(range(-14, 2), 4):
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


def by_indexer(lines):
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


by_node = ask_node("_proofs.mjs", [{"answer": text, "network": network, "validators": validators} for _, text, network, validators, _ in cases])
judge(cases, by_python, by_node, by_indexer, brief)
