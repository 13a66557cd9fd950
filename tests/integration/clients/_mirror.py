"""Runs mirrors of several nodes with both packages and the header for C: their answer about an address never
contradicts the newest ledger that they saw.

    _mirror.py NODE_FOLDER READER [SEED] [SCENARIOS]     NODE_FOLDER: where _mirror.mjs finds the TypeScript package; READER: _mirror_reader.c as a library

A model of a chain, of nodes at different ledgers and of a thief with a signing key answers the mirror's questions: nodes fall behind, lose what they
indexed, build their caches anew, belong to another deployment or to the network before its reset; answers come late, or to another question; key sets come
from caches; keys rotate, are stolen and withdrawn. Python's mirror asks the model. The same answers, as a file, go to the other two, which must ask the
same questions and say the same.
"""

import base64
import ctypes
import hashlib
import json
import random
import struct
import subprocess
import sys
import types
from dataclasses import dataclass, field

import httpx
import tidemark_client
import tidemark_client.snapshot as under_test
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

FOLDER, READER = sys.argv[1], sys.argv[2]
FIRST, SCENARIOS = (int(one) for one in (*sys.argv[3:], 1, 60)[:2]) if len(sys.argv) != 4 else (int(sys.argv[3]), 60)
NETWORK, REGISTRY = "Test network", bytes(32)
ANSWERS = ("no", "yes", "stale", "incomplete", "mismatched", "bad_address")  # enum tidemark_answer
STALE_MS, LEDGER_AGE, KEYS_MS = 20_000, 120, 300_000
RECORDED, FROZEN, BLOCKED, GONE = 1, 2, 4, 128
BEGIN_MS = 1_790_000_000_000

lib = ctypes.CDLL(READER)
POINTER, U64 = ctypes.c_void_p, ctypes.c_uint64
lib.mirror_new.argtypes, lib.mirror_new.restype = [U64, U64, ctypes.c_char_p], POINTER
lib.snapshot_new.argtypes, lib.snapshot_new.restype = [ctypes.c_char_p, ctypes.c_size_t], POINTER
lib.mirror_take.argtypes = [POINTER, POINTER, POINTER, U64]
lib.mirror_keys.argtypes, lib.mirror_keys.restype = [POINTER, ctypes.c_char_p, ctypes.c_size_t, U64], None
lib.mirror_ask.argtypes = [POINTER, ctypes.c_char_p, U64]
lib.load.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_size_t]
lib.ask.argtypes = [ctypes.c_int, ctypes.c_char_p, U64, U64, U64]
kept = []  # bytes that the library points into


def text_of(raw):
    """An address as its text (strkey)."""
    import binascii

    return base64.b32encode(raw + struct.pack("<H", binascii.crc_hqx(raw, 0))).decode()


PEOPLE = sorted(bytes([48]) + hashlib.sha256(b"person %d" % i).digest() for i in range(6))
NAMES = {raw: text_of(raw) for raw in PEOPLE}


class Key:
    def __init__(self):
        self.private = Ed25519PrivateKey.generate()
        self.x = base64.urlsafe_b64encode(self.private.public_key().public_bytes_raw()).rstrip(b"=").decode()
        self.thumbprint = hashlib.sha256(json.dumps({"crv": "Ed25519", "kty": "OKP", "x": self.x}, separators=(",", ":")).encode()).digest()
        self.jwk = {"kty": "OKP", "crv": "Ed25519", "x": self.x, "kid": base64.urlsafe_b64encode(self.thumbprint).rstrip(b"=").decode(), "use": "sig", "alg": "EdDSA"}


@dataclass
class Ledger:
    number: int
    closed: int  # seconds
    hash: bytes
    records: dict  # address: (flags, status, ends)
    blocked_at: int  # the ledger at which the blocked jurisdictions last changed


def is_compliant(ledger, raw, now_ms):
    """Time is the later of the clock and of the ledger's close."""
    record, now = ledger.records.get(raw), max(now_ms // 1000, ledger.closed)
    return record is not None and record[0] & (RECORDED | FROZEN | BLOCKED) == RECORDED and record[1] == 2 and (record[2] == 0 or record[2] >= now)


class Chain:
    """One epoch of a network."""

    def __init__(self, dice, name, number, now_ms):
        self.dice, self.name, self.number = dice, name, number
        records = {one: (RECORDED, 2, 0) for one in PEOPLE[:5]}
        self.ledgers = [Ledger(1, now_ms // 1000 - 5, hashlib.sha256(b"%s 1" % name).digest(), records, 0)]

    @property
    def tip(self):
        return self.ledgers[-1]

    def at(self, number):
        return self.ledgers[number - 1]

    def close(self, now_ms):
        """The next ledger: an address is frozen, released, erased, or its attestation ends; or a jurisdiction is blocked."""
        number, records, blocked_at = self.tip.number + 1, dict(self.tip.records), self.tip.blocked_at
        who = self.dice.choice(PEOPLE)
        change = self.dice.randrange(12)
        now = now_ms // 1000
        if change < 4:
            records[who] = (RECORDED | FROZEN, 2, 0)
        elif change < 6:
            records[who] = (RECORDED, 2, 0)
        elif change == 6:
            records.pop(who, None)
        elif change == 7:
            records[who] = (RECORDED, 2, now + self.dice.randrange(40))
        elif change == 8:
            records[who] = (RECORDED, self.dice.randrange(6), 0)
        elif change == 9:
            blocked_at = number
            records = {one: (flags ^ (BLOCKED if self.dice.random() < 0.4 else 0), *rest) for one, (flags, *rest) in records.items()}
        self.ledgers.append(Ledger(number, max(now, self.tip.closed + 1), hashlib.sha256(b"%s %d" % (self.name, number)).digest(), records, blocked_at))


def record_of(raw, record, ledger):
    if record is None:
        return raw + struct.pack("<BHIQ", GONE, 0, 0, 0)
    return raw + struct.pack("<BHIQ", record[0], record[1], ledger, record[2])


def file_of(key, ledger, records, *, protocol, deployment, complete, signed, age, after=None):
    body = b"".join(records)
    head = struct.pack("<8sIIQ", b"TIDESNP1", 256, 48, len(records)) + hashlib.sha256(NETWORK.encode()).digest() + protocol + REGISTRY
    head += struct.pack("<II32sQQQQII", ledger.number, complete, ledger.hash, ledger.closed, signed, signed, age, after is not None, after or 0)
    head += hashlib.sha256(body).digest() + struct.pack("<I20x", deployment) + key.thumbprint
    return head + key.private.sign(b"tidemark-snapshot-v1\0" + head) + body


OURS, OTHER = hashlib.sha256(b"ours").digest(), hashlib.sha256(b"other").digest()


@dataclass
class Node:
    chain: Chain
    ledger: int
    key: Key
    complete: bool = True
    protocol: bytes = OURS
    changes_from: int = 1
    made: bytes = b""  # its snapshot's file
    made_at: tuple = (0, 0)
    published: list = field(default_factory=list)

    def signed(self, records, world, after=None):
        held = self.chain.at(self.ledger)
        # If the registry is indexed in part, some records are unknown.
        return file_of(self.key, held, records, protocol=self.protocol, deployment=self.chain.number, complete=self.complete, signed=world.now, age=world.dice.randrange(800), after=after)

    def snapshot(self, world):
        if not self.made or self.made_at[0] < self.chain.at(self.ledger).blocked_at or self.made_at[0] < self.changes_from or world.dice.random() < 0.5:
            held = self.chain.at(self.ledger)
            known = [one for one in PEOPLE if one in held.records and (self.complete or world.dice.random() < 0.5)]
            self.made = self.signed([record_of(one, held.records[one] if self.complete else (RECORDED, 2, 0), held.number) for one in known], world)
            self.made_at = (self.ledger, self.key)
        return 200, self.made

    def changes(self, world, after):
        held = self.chain.at(self.ledger)
        if after > self.ledger:
            return 503, {"code": "behind", "detail": "x"}
        if after < self.changes_from or after < held.blocked_at:
            return 410, {"code": "snapshot_gone", "detail": "x"}
        before = self.chain.at(after).records
        changed = [one for one in PEOPLE if before.get(one) != held.records.get(one)]
        return 200, self.signed([record_of(one, held.records.get(one), held.number) for one in changed], world, after)


class World:
    """What the mirror's questions meet."""

    def __init__(self, seed):
        self.dice = dice = random.Random(seed)
        self.now = BEGIN_MS
        self.chain = Chain(dice, b"chain", 1, self.now)
        self.first, self.second = Key(), Key()
        self.keys = {self.first.x: self.first}
        self.key_times = [(0, [self.first.jwk])]  # since when which set is published
        self.nodes = [Node(self.chain, 1, self.first) for _ in range(dice.randrange(1, 4))]
        self.calm = True
        self.thief = self.withdrawn_at = None
        self.features = {one for one in ("late", "thief", "epoch", "other", "incomplete", "keys") if dice.random() < 0.5}
        self.log, self.transcript, self.seen = [], [], 0
        self.tainted = False  # a forged file was delivered that a key proved then
        self.proven = {}  # thumbprints of the last key set that was delivered
        self.files = []

    # --- time and mischief ---

    def publish(self, keys):
        self.key_times.append((self.now, [one.jwk for one in keys]))

    def advance(self):
        dice = self.dice
        self.now += dice.choice((0, 200, 1000, 1000, 1000, 5000, 15_000, 40_000, 170_000) if not self.calm else (500, 1000))
        for _ in range(dice.randrange(3)):
            self.chain.close(self.now)
        for node in self.nodes:
            if node.chain is self.chain and (self.calm or dice.random() < 0.7):
                node.ledger = dice.randrange(node.ledger, self.chain.tip.number + 1) if not self.calm else self.chain.tip.number
            if node.chain is not self.chain and dice.random() < 0.8:
                node.chain.close(self.now)
                node.ledger = node.chain.tip.number
            if not self.calm and dice.random() < 0.05:
                node.changes_from, node.made = node.ledger, b""
            if "incomplete" in self.features and not self.calm and node.chain is self.chain and dice.random() < 0.15:
                node.complete, node.made, node.changes_from = not node.complete, b"", node.ledger
        if not self.calm:
            self.mischief()

    def mischief(self):
        dice = self.dice
        if "epoch" in self.features and len(self.nodes) < 5 and dice.random() < 0.1:
            other = Chain(dice, b"reset", 2, self.now)
            for _ in range(dice.choice((0, self.chain.tip.number, self.chain.tip.number + 3))):
                other.close(self.now)
            self.nodes.append(Node(other, other.tip.number, self.first))
        if "other" in self.features and len(self.nodes) < 5 and dice.random() < 0.1:
            other = Chain(dice, b"other", 1, self.now)
            for _ in range(self.chain.tip.number):
                other.close(self.now)
            self.nodes.append(Node(other, other.tip.number, self.first, protocol=OTHER))
        if "keys" in self.features and self.second.x not in self.keys and dice.random() < 0.1:
            self.keys[self.second.x] = self.second
            self.publish([self.second, self.first])
        if self.second.x in self.keys and dice.random() < 0.3:
            dice.choice(self.nodes).key = self.second
        if "thief" in self.features and self.thief is None and dice.random() < 0.2:
            self.thief = self.first
        if self.thief and self.withdrawn_at is None and dice.random() < 0.15:
            self.withdraw()

    def withdraw(self):
        self.keys[self.second.x] = self.second
        self.withdrawn_at = self.now
        self.publish([self.second])
        for node in self.nodes:
            node.key, node.made = self.second, b""

    def heal(self):
        """Afterwards the chain goes on, all nodes are well, and the thief is gone."""
        if self.thief and self.withdrawn_at is None:
            self.withdraw()
        self.thief = None
        self.calm = True
        self.now += 400_000
        self.features = set()
        self.nodes = [Node(self.chain, self.chain.tip.number, self.nodes[0].key)]
        for _ in range(3):
            self.chain.close(self.now)
        self.nodes[0].ledger = self.chain.tip.number

    # --- answers ---

    def forged(self, after):
        """All are compliant, says the thief."""
        dice = self.dice
        number = dice.choice((self.chain.tip.number, self.chain.tip.number + 1, self.chain.tip.number + 50, 2**32 - 2))
        ledger = Ledger(number, self.now // 1000 + dice.choice((0, 0, 3600)), bytes(32), {}, 0)
        records = [record_of(one, (RECORDED, 2, 0), number) for one in PEOPLE]
        return 200, file_of(self.thief, ledger, records, protocol=OURS, deployment=1, complete=1, signed=self.now + dice.choice((0, 0, 3_600_000)), age=0, after=after)

    def jwks(self):
        age = 0 if self.calm else self.dice.choice((0, 0, 0, 30, 150, 299, 301, 4000))
        if not self.calm and self.dice.random() < 0.1:
            return 500, {"code": "internal", "detail": "x"}, {}
        at = self.now - age * 1000
        body = {"keys": next(keys for since, keys in reversed(self.key_times) if since <= max(at, BEGIN_MS) or since == 0)}
        return 200, body, {"Age": str(age)}

    def answer(self, target):
        path, _, query = target.partition("?")
        if path == "/.well-known/jwks.json":
            return self.jwks()
        after = int(query.removeprefix("after=")) if query else None
        late = [one for one in self.log if one[0] == path]
        if not self.calm and "late" in self.features and late and self.dice.random() < 0.2:
            return (*self.dice.choice(late)[1], {})
        if not self.calm and self.thief and self.dice.random() < 0.3:
            return (*self.forged(after), {})
        node = self.dice.choice(self.nodes)
        given = node.snapshot(self) if after is None else node.changes(self, after)
        if self.dice.random() < 0.3:
            self.log.append((path, given))
        return (*given, {})

    def handle(self, request):
        target = request.url.raw_path.decode()
        status, body, headers = self.answer(target)
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.transcript[-1]["answers"].append({"target": target, "status": status, "headers": headers, "body": base64.b64encode(content).decode()})
        return httpx.Response(status, headers=headers, content=content)

    # --- what must hold ---

    def note_refresh(self, answers):
        """Updates seen, the newest true ledger that the mirror was given, and tainted: a stolen key that it could not know as withdrawn signed a file."""
        for at, one in enumerate(answers):
            if one["status"] != 200:
                continue
            body = base64.b64decode(one["body"])
            if one["target"].startswith("/.well-known"):
                self.take_keys(one, body)
                continue
            if at + 1 < len(answers) and answers[at + 1]["target"].startswith("/.well-known") and body[256:288] not in self.proven and answers[at + 1]["status"] == 200:
                self.take_keys(answers[at + 1], base64.b64decode(answers[at + 1]["body"]))
            if body[256:288] not in self.proven or body[56:88] != OURS or struct.unpack_from("<I", body, 232)[0] != 1:
                continue
            ledger, kind = struct.unpack_from("<I", body, 120)[0], body[192]
            self.files.append(body)
            if ledger <= self.chain.tip.number and body[128:160] == self.chain.at(ledger).hash:
                self.seen = max(self.seen, ledger)
            elif self.withdrawn_at is None or self.now < self.withdrawn_at + KEYS_MS:
                self.tainted = True
            assert kind < 2

    def take_keys(self, one, body):
        if int(one["headers"]["Age"]) >= KEYS_MS // 1000:
            return
        self.proven = {base64.urlsafe_b64decode(key["kid"] + "=") for key in json.loads(body)["keys"]}
        if self.first.thumbprint not in self.proven:
            self.tainted = False

    def judge(self, said):
        if self.withdrawn_at is not None and self.now >= self.withdrawn_at + KEYS_MS:
            self.tainted = False
        for raw, name in NAMES.items():
            if said[name] == "yes" and not self.tainted:
                assert self.seen, "a yes without a file"
                held = self.chain.at(self.seen)
                assert is_compliant(held, raw, self.now), f"yes for one that is not compliant at ledger {self.seen}: {held.records.get(raw)}"


class Clock(types.SimpleNamespace):
    world = None

    def time_ns(self):
        return self.world.now * 1_000_000

    def monotonic(self):
        return self.world.now / 1000


clock = under_test.time = Clock()


class CMirror:
    """A caller of the header for C, on the answers that were given to Python's mirror."""

    def __init__(self):
        self.mirror = lib.mirror_new(STALE_MS, LEDGER_AGE, OURS)
        self.kids, self.base, self.identity, self.jwks = [], None, None, {"keys": []}

    def take_keys(self, one, now):
        age = int(one["headers"]["Age"])
        if one["status"] == 200 and age < KEYS_MS // 1000:
            self.jwks = json.loads(base64.b64decode(one["body"]))
            self.kids = [base64.urlsafe_b64decode(key["kid"] + "=") for key in self.jwks["keys"]]
            lib.mirror_keys(self.mirror, b"".join(self.kids), len(self.kids), now - age * 1000)
            if self.base and self.base[0][256:288] not in self.kids:
                self.base = None

    def refresh(self, answers, now):
        done = set()
        for at, one in enumerate(answers):
            if one["target"].startswith("/.well-known"):
                if at not in done:
                    self.take_keys(one, now) if one["headers"] else None
                continue
            body = base64.b64decode(one["body"])
            if one["status"] != 200:
                continue
            file = tidemark_client.Snapshot(body)
            if not file.is_signed(self.jwks, NETWORK) and at + 1 < len(answers):
                done.add(at + 1)
                self.take_keys(answers[at + 1], now) if answers[at + 1]["headers"] else None
            if not file.is_signed(self.jwks, NETWORK):
                continue
            kept.append(body)
            opened = lib.snapshot_new(body, len(body))
            if file.is_changes and self.base and not one["target"].endswith("/snapshot"):
                lib.mirror_take(self.mirror, self.base[1], opened, now)
                continue
            lib.mirror_take(self.mirror, opened, None, now)
            self.identity = self.identity or (file.identity if OURS.hex() in file.identity else None)
            if not file.is_changes and file.identity == self.identity:
                self.base = (body, opened)

    def ask(self, now):
        return {name: ANSWERS[lib.mirror_ask(self.mirror, name.encode(), now)] for name in NAMES.values()}


def judge_pairs(world):
    """Two files alone: by all three, and the files of one chain that are complete say no more than their newest ledger."""
    pairs = []
    for _ in range(20 if len(world.files) > 1 else 0):
        one, two = world.dice.choice(world.files), world.dice.choice(world.files)
        base, changes = tidemark_client.Snapshot(one), tidemark_client.Snapshot(two)
        lib.load(0, one, len(one))
        lib.load(1, two, len(two))
        said = {}
        for name in NAMES.values():
            said[name] = tidemark_client.compliant_by(base, changes, name, stale_after_ms=10**12, ledger_age=0, now_ms=world.now)
            other = ANSWERS[lib.ask(1, name.encode(), world.now, 10**12, 0)]
            assert said[name] == other, f"two files: {said[name]} by Python, {other} by C"
            assert said[name] != "yes" or (base.is_complete and changes.is_complete and changes.after == base.ledger), "a yes by two files that do not belong together"
        pairs.append({"base": base64.b64encode(one).decode(), "changes": base64.b64encode(two).decode(), "now": world.now, "said": said})
    return pairs


def play(seed):
    """One scenario: what Python's mirror was told and said, for the others to say too."""
    world = clock.world = World(seed)
    with httpx.Client(transport=httpx.MockTransport(world.handle)) as http:
        client = tidemark_client.Client("http://model", retries=0, http=http)
        mirror = tidemark_client.ComplianceMirror(client, NETWORK, stale_after_ms=STALE_MS, ledger_age=LEDGER_AGE, deployment=OURS.hex())
        c_mirror = CMirror()
        counts = {}
        for step in range(60):
            if step == (3 if "epoch" in world.features else 1):
                world.calm = False
            if step == 50:
                world.heal()
            world.advance()
            # A mirror keeps to the epoch of the first file that it sees: it sees one before a node of another epoch is there.
            one = {"now": world.now, "answers": [], "refresh": world.dice.random() < 0.8 or step > 50 or step == 0, "result": "none"}
            world.transcript.append(one)
            if one["refresh"]:
                try:
                    mirror.refresh()
                    one["result"] = "ok"
                except tidemark_client.TidemarkError as error:
                    one["result"] = error.code
                world.note_refresh(one["answers"])
                c_mirror.refresh(one["answers"], world.now)
            one["said"] = {name: mirror.compliant(name, now_ms=world.now) for name in NAMES.values()}
            for answer in one["said"].values():
                counts[answer] = counts.get(answer, 0) + 1
            try:
                world.judge(one["said"])
                in_c = c_mirror.ask(world.now)
                assert in_c == one["said"], f"by C: {in_c}, by Python: {one['said']}"
            except AssertionError as error:
                told = [(each["target"], each["status"]) for each in one["answers"]]
                raise SystemExit(f"FAIL: seed {seed}, step {step}: {error}; {one['result']} {told}; {sorted(world.features)}") from None
        wanted = {name: "yes" if is_compliant(world.chain.tip, raw, world.now) else "no" for raw, name in NAMES.items()}
        if one["said"] != wanted:
            raise SystemExit(f"FAIL: seed {seed}: healed, it says {one['said']} instead of {wanted}; {one['result']}; {sorted(world.features)}")
    return {"seed": seed, "steps": world.transcript, "pairs": judge_pairs(world)}, counts


total = {}
scenarios = []
for seed in range(FIRST, FIRST + SCENARIOS):
    scenario, counts = play(seed)
    scenarios.append(scenario)
    total = {answer: total.get(answer, 0) + counts.get(answer, 0) for answer in {*total, *counts}}
asked = json.dumps({"network": NETWORK, "limits": {"staleAfterMs": STALE_MS, "ledgerAgeSeconds": LEDGER_AGE, "deployment": OURS.hex()}, "scenarios": scenarios})
run = subprocess.run(["node", f"{FOLDER}/_mirror.mjs"], input=asked, capture_output=True, text=True)
if run.returncode:
    raise SystemExit(f"FAIL: {run.stderr[-2000:]}")
results = {}
for scenario in scenarios:
    for step in scenario["steps"]:
        results[step["result"]] = results.get(step["result"], 0) + 1
assert all(total.get(answer, 0) > 100 for answer in ("yes", "no", "stale")), total
print(f"mirrors: seeds {FIRST} to {FIRST + SCENARIOS - 1}, refreshes {results}, answers {total}")
