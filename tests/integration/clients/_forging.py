"""What _proofs.py and _entries.py share: the parts of a proof's begin, votes of the test's own validators, and the verdicts of three checkers.

Called with FOLDER NODE_FOLDER [SEED] [MUTANTS]. FOLDER has the deployment file of the simulated chain.
"""

import base64
import binascii
import hashlib
import json
import os
import random
import shutil
import struct
import subprocess
import sys

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

FOLDER, NODE = sys.argv[1:3]
dice = random.Random(int(sys.argv[3]) if len(sys.argv) > 3 else 1)
MUTANTS = int(sys.argv[4]) if len(sys.argv) > 4 else 250
LONG = bool(os.environ.get("TIDE_LONG"))  # tools/test all
INDEXER_RUNS = os.path.join(os.environ["TIDE_BIN"], "runs_driver")
with open(os.path.join(FOLDER, "deployment.json")) as file:
    deployment = json.load(file)
NETWORK = deployment["network"]
REFUSED = {65: "malformed", 66: "no_bucket", 67: "no_bucket", 68: "not_proven", 78: "bad_validators"}


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


class SignedLedgers:
    """The begin of a proof, so that its parts can be changed and put together again. A kind of proof adds the rest."""

    MAGIC = b""

    def __init__(self, data):
        self.at, self.data = 8, data
        self.headers = [self.take_part() for _ in range(self.take_word())]
        self.set = self.take_part() if self.take_word() else None
        self.envelopes = [self.take_part() for _ in range(self.take_word())]
        self.read_rest()
        assert self.at == len(data)

    def take(self, n):
        self.at += n
        return self.data[self.at - n:self.at]

    def take_word(self):
        return struct.unpack(">I", self.take(4))[0]

    def take_part(self):
        return self.take(self.take_word())

    @property
    def signed(self):
        return self.sequence(-1) + 1

    def results_at(self, header):
        """Offset of txSetResultHash, before bucketListHash: behind version, previous hash and value."""
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
        return (self.MAGIC + word(len(self.headers)) + b"".join(part(h) for h in self.headers)
                + (word(0) if self.set is None else word(1) + part(self.set)) + word(len(self.envelopes)) + b"".join(part(e) for e in self.envelopes)
                + self.rest())

    def signed_again(self, signers=ours, value=None, slot=None):
        """Votes of the test's own validators for what there is now."""
        value = self.value() if value is None else value
        self.envelopes = [one.vote(self.signed if slot is None else slot, value) for one in signers]
        return self

    def chained_again(self, first):
        """Another first header; the hashes behind it are made again, and the votes."""
        last = sha(self.headers[-1])
        self.headers[0] = first
        for i in range(1, len(self.headers)):
            self.headers[i] = self.headers[i][:4] + sha(self.headers[i - 1]) + self.headers[i][36:]
        value = self.value().replace(last, sha(self.headers[-1]))  # a value without a set names it itself
        if self.set is not None:
            self.set = self.set[:4] + sha(self.headers[-1]) + self.set[36:]
            value = sha(self.set) + value[32:]
        return self.signed_again(value=value)


def answer_of(data, **more):
    return json.dumps({"ledger": "1", "proof": {"data": base64.b64encode(data).decode(), **more}})


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


def ask_indexer(questions):
    """Of each (text, network, validators, archive) the lines that `verify --proof` prints, or why it refused."""
    folder = os.path.join(FOLDER, "cases")
    os.makedirs(folder, exist_ok=True)
    runs = []
    for i, (text, network, validators, archive) in enumerate(questions):
        path = os.path.join(folder, str(i))
        with open(path, "wb") as out:
            out.write(text.encode("utf-8", "surrogatepass"))
        with open(path + ".deployment", "w") as out:
            json.dump({**deployment, "network": network, "validators": validators}, out)
        runs.append("\t".join(("verify", "--proof", path, "--deployment", path + ".deployment", *(["--archive", archive] if archive else []))))
    with open(os.path.join(FOLDER, "err"), "w+b") as err:
        done = subprocess.run([INDEXER_RUNS], input="".join(run + "\n" for run in runs).encode(), stdout=subprocess.PIPE, stderr=err, check=True).stdout
        err.seek(0)
        crash = err.read()[-400:]
    shutil.rmtree(folder)
    verdicts, at = [], 0
    for _ in runs:
        end = done.index(b"\n", at)
        code, length = map(int, done[at:end].split())
        at = end + 1 + length
        verdicts.append(REFUSED.get(code, f"CRASH {code} {crash}") if code else [line.split() for line in done[end + 1:at].decode("utf-8", "replace").splitlines()])
    assert at == len(done)
    return verdicts


def ask_node(script, questions):
    lines = "".join(json.dumps(one) + "\n" for one in questions)
    node = subprocess.run(["node", os.path.join(NODE, script)], input=lines.encode(), capture_output=True, check=True)
    verdicts = [json.loads(line) for line in node.stdout.decode().splitlines()]
    assert len(verdicts) == len(questions)
    return verdicts


def judge(cases, by_python, by_node, by_indexer, brief):
    """Compares the verdicts of the three. brief: the part of a package's verdict that the indexer prints. Ends the program."""
    lines = ask_indexer([(text, network, validators, archive[0] if archive else None) for _, text, network, validators, *archive, _ in cases])
    indexer = [one if isinstance(one, str) else by_indexer(one) for one in lines]
    wrong = accepted = 0
    for i, (name, text, *_, expected) in enumerate(cases):
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
