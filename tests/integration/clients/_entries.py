"""Checks that `tidemark-indexer verify --proof` and both packages give the same verdict on proofs of entries: valid ones, forged ones and mutants.

    _entries.py FOLDER NODE_FOLDER [SEED] [MUTANTS]

FOLDER has entry.N.json, answers of /api/proof/entry and /api/proof/compliance, deployment.json, and the history archive in archive/.

Proofs that are signed again have the right hashes from the buckets up to the votes: the test holds the keys of its own validators, and makes
buckets of its own. So it can place any version of an entry in any bucket.
"""

import base64
import glob
import gzip
import json
import os
import shutil
import struct

import tidemark_client as tidemark
from _forging import FOLDER, LONG, MINE, MUTANTS, NETWORK, SignedLedgers, answer_of, ask_node, damaged, deployment, dice, header_of, judge, ours, part, sha, word

ARCHIVE = os.path.join(FOLDER, "archive")
MADE = os.path.join(FOLDER, "made")  # the network's buckets and the test's own
EMPTY = bytes(32)
META, META_HOT = word(2**32 - 1) + word(28) + word(0), word(2**32 - 1) + word(28) + word(1) + word(1)
LIVE, DEAD, INIT = word(0), word(1), word(2)  # in the hot archive: ARCHIVED, RESTORED


class Entry(SignedLedgers):
    MAGIC = b"TIDEPRE1"

    def read_rest(self):
        self.buckets = [self.take(32) for _ in range(self.take_word())]
        self.key = self.take_part()
        self.said = self.take_word()
        self.value_said = self.take_part() if self.said == 2 else None

    def rest(self):
        return word(len(self.buckets)) + b"".join(self.buckets) + part(self.key) + word(self.said) + (b"" if self.value_said is None else part(self.value_said))

    def state_hash(self):
        lists = [sha(b"".join(sha(self.buckets[i] + self.buckets[i + 1]) for i in range(at, at + 22, 2))) for at in range(0, len(self.buckets) - 21, 22)]
        return lists[0] if len(lists) == 1 else sha(b"".join(lists))

    def hashed_again(self, header=None):
        """The first header has the state of these buckets; every hash above is made again, and the votes."""
        first = header or self.headers[0]
        at = self.results_at(self.headers[0]) + 32
        return self.chained_again(first[:at] + self.state_hash() + first[at + 32:])

    def saying(self, said, value=None):
        self.said, self.value_said = said, value
        return self


def bucket_path(folder, name):
    text = name.hex()
    return os.path.join(folder, "bucket", text[0:2], text[2:4], text[4:6], f"bucket-{text}.xdr.gz")


def write_bucket(data, name=None, folder=MADE, packed=None):
    """Puts a bucket into the archive under its own name, or another one."""
    name = sha(data) if name is None else name
    path = bucket_path(folder, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as out:
        out.write(gzip.compress(data) if packed is None else packed)
    return name


def records(*them):
    return b"".join(word(2**31 | len(one)) + one for one in them)


def entry(key, value, arm=LIVE, ledger=42, ext=word(0)):
    return arm + word(ledger) + word(6) + word(0) + key[4:] + value + ext


def gone(key):
    return DEAD + key


shutil.copytree(ARCHIVE, MADE)
cases = []  # name, answer, network, validators, archive or None, expected: True, False, None (the three agree)


def case(name, data, expected=None, network=NETWORK, validators=MINE, archive=MADE):
    cases.append((name, data if isinstance(data, str) else answer_of(data), network, validators, archive, expected))


def copy(p):
    return Entry(p.bytes())


proofs = []
for path in sorted(glob.glob(os.path.join(FOLDER, "entry.*.json"))):
    with open(path) as file:
        text = file.read()
    p = Entry(base64.b64decode(json.loads(text)["proof"]["data"]))
    proofs.append(p)
    for archive in ARCHIVE, None:
        case(f"{os.path.basename(path)} as it came, {archive}", text, True, validators=deployment["validators"], archive=archive)
    case("of other validators", text, False)
    case("signed again", copy(p).signed_again().bytes(), True)
    case("hashed again", copy(p).hashed_again().bytes(), True)
assert {p.said for p in proofs} == {0, 1, 2}, "proofs that say a value, absence and nothing"
there = next(p for p in proofs if p.said == 2)
base = copy(there).signed_again()
whole = base.bytes()

# Votes: the code is shared with proofs of transactions, whose test has all cases.
case("another network", whole, False, network=NETWORK + ".")
case("two of three", copy(base).signed_again(ours[:2]).bytes(), False)
case("votes about the ledger before", copy(base).signed_again(slot=base.signed - 1).bytes(), False)
case("a header left out", (lambda p: p.headers.pop(1) and p.bytes())(copy(base)), False)
case("the magic of a transaction", b"TIDEPRF1" + whole[8:], False)
case("of another state", (lambda p: setattr(p, "buckets", p.buckets[2:] + p.buckets[:2]) or p.bytes())(copy(base)), False)

# Buckets: swapped levels, lists and buckets; another number of them. With the right hashes above, the order is another state.
hashes = base.buckets
full = [i for i, one in enumerate(hashes[:22]) if one != EMPTY]
for name, buckets in (("levels swapped", hashes[2:4] + hashes[:2] + hashes[4:]), ("curr and snap swapped", [hashes[1], hashes[0], *hashes[2:]]),
                      ("lists swapped", hashes[22:] + hashes[:22]), ("another bucket", [sha(b"x"), *hashes[1:]]), ("an empty one", [EMPTY, *hashes[1:]]),
                      ("the live list alone", hashes[:22]), ("the live list twice", hashes[:22] * 2)):
    if buckets != hashes:
        case(name, (lambda p: setattr(p, "buckets", buckets) or p.bytes())(copy(base)), False)
        for archive in MADE, None:
            case(f"{name}, hashed again", (lambda p: setattr(p, "buckets", buckets) or p.hashed_again().bytes())(copy(base)), archive=archive)
for n in 0, 1, 21, 23, 43, 45, 66:
    buckets = (hashes * 2)[:n]
    case(f"{n} buckets", (lambda p: setattr(p, "buckets", buckets) or p.bytes())(copy(base)), False)
case("a bucket that no archive has", (lambda p: setattr(p, "buckets", [sha(b"x"), *hashes[1:]]) or p.hashed_again().bytes())(copy(base)), False)

# Versions of the key, anywhere
KEY = there.key
OLD, NEW = word(3) + word(1), word(3) + word(2)
OTHER = KEY[:-4] + word(0)


def state(live=(), hot=(), said=0, value=None, lists=2, key=KEY):
    """A state of these buckets alone: (place, records)."""
    p = copy(base)
    p.buckets = [EMPTY] * 22 * lists
    for at, them in live:
        p.buckets[at] = write_bucket(records(META, *them))
    for at, them in hot:
        p.buckets[22 + at] = write_bucket(records(META_HOT, *them))
    p.key = key
    return p.saying(said, value).hashed_again().bytes()


def sayings(name, right, **where):
    """The state with each claim: right is None (absent) or the value."""
    case(f"{name}: nothing said", state(**where), True)
    case(f"{name}: absent", state(**where, said=1), right is None)
    for value in OLD, NEW:
        case(f"{name}: value {value.hex()}", state(**where, said=2, value=value), right == value)


sayings("in the youngest", NEW, live=[(0, [entry(KEY, NEW)])])
sayings("created", NEW, live=[(0, [entry(KEY, NEW, INIT)])])
sayings("in the oldest", NEW, live=[(21, [entry(KEY, NEW)])])
sayings("in two buckets", NEW, live=[(3, [entry(KEY, NEW)]), (9, [entry(KEY, OLD)])])
sayings("in two buckets, the other way", OLD, live=[(3, [entry(KEY, OLD)]), (9, [entry(KEY, NEW)])])
sayings("in curr and snap", NEW, live=[(2, [entry(KEY, NEW)]), (3, [entry(KEY, OLD, INIT)])])
sayings("removed", None, live=[(2, [gone(KEY)]), (8, [entry(KEY, OLD)])])
sayings("removed and made again", NEW, live=[(1, [entry(KEY, NEW, INIT)]), (2, [gone(KEY)]), (8, [entry(KEY, OLD)])])
sayings("removed alone", None, live=[(2, [gone(KEY)])])
sayings("nowhere", None)
sayings("another key alone", None, live=[(0, [entry(OTHER, NEW)])])
sayings("evicted", NEW, live=[(2, [gone(KEY)])], hot=[(4, [entry(KEY, NEW)])])
sayings("evicted long ago", NEW, hot=[(20, [entry(KEY, NEW)])])
sayings("restored", OLD, live=[(0, [entry(KEY, OLD, INIT)])], hot=[(1, [gone(KEY)]), (4, [entry(KEY, NEW)])])
sayings("restored and removed", None, live=[(0, [gone(KEY)])], hot=[(1, [gone(KEY)]), (4, [entry(KEY, NEW)])])
sayings("evicted twice", NEW, live=[(0, [gone(KEY)])], hot=[(1, [entry(KEY, NEW)]), (4, [gone(KEY)]), (6, [entry(KEY, OLD)])])
sayings("before the hot archive", NEW, live=[(5, [entry(KEY, NEW)])], lists=1)
sayings("nowhere, before the hot archive", None, lists=1)
sayings("sponsored", NEW, live=[(0, [entry(KEY, NEW, ext=word(1) + word(1) + word(0) + sha(b"sponsor") + word(0))])])
sayings("without a sponsor", NEW, live=[(0, [entry(KEY, NEW, ext=word(1) + word(0) + word(0))])])
case("twice in a bucket", state([(0, [entry(KEY, NEW), entry(KEY, OLD)])]), False)
case("an entry with a byte too many", state([(0, [entry(KEY, NEW) + bytes(4)])]), False)
case("an unknown arm", state([(0, [word(3) + KEY])]), False)
case("metadata of the live list in the hot archive", state(hot=[(0, [META, entry(KEY, NEW)])]), False)
case("metadata twice", state([(0, [META, entry(KEY, NEW)])]), False)
for what, meta, expected in (("none", (), True), ("of the live list, said", (word(2**32 - 1) + word(28) + word(1) + word(0),), True), ("of the hot archive", (META_HOT,), False),
                             ("of an unknown list", (word(2**32 - 1) + word(28) + word(1) + word(2),), False), ("longer", (META + bytes(4),), False)):
    p = copy(base)
    p.buckets = [write_bucket(records(*meta, entry(KEY, NEW)))] + [EMPTY] * 43
    p.key = KEY
    case(f"metadata: {what}", p.saying(2, NEW).hashed_again().bytes(), expected)
case("INIT in the hot archive", state(hot=[(0, [entry(KEY, NEW, INIT)])]), False)

# Buckets that are not what their names say
other = write_bucket(records(META, entry(KEY, OLD)))
data = records(META, entry(KEY, NEW))
for name, bytes_, packed in (("an older value", records(META, entry(KEY, OLD)), None), ("a removal", records(META, gone(KEY)), None), ("nothing", b"", None),
                             ("a byte changed", data[:-9] + b"\1" + data[-8:], None), ("cut", data[:-1], None), ("a byte behind", data + b"\0", None),
                             ("no gzip", b"", data), ("no file", b"", b""), ("gzip that is cut", b"", gzip.compress(data)[:-9]),
                             ("gzip with a wrong sum", b"", gzip.compress(data)[:-8] + bytes(8)), ("two members", b"", gzip.compress(data[:20]) + gzip.compress(data[20:]))):
    folder = os.path.join(FOLDER, f"wrong.{name.replace(' ', '_')}")
    write_bucket(bytes_, sha(data), folder, packed)
    case(f"the bucket: {name}", state([(0, [entry(KEY, NEW)])], said=2, value=NEW), name == "two members", archive=folder)
os.makedirs(os.path.join(FOLDER, "wrong.none"))
case("no bucket at all", state([(0, [entry(KEY, NEW)])]), False, archive=os.path.join(FOLDER, "wrong.none"))
case("buckets that are not needed may be missing", state([(0, [entry(KEY, NEW)]), (7, [entry(OTHER, OLD)])], said=2, value=NEW), True, archive=os.path.join(FOLDER, "wrong.two_members"))
case("an older bucket that is needed", state([(0, [entry(OTHER, NEW)]), (7, [entry(KEY, OLD)])]), False, archive=os.path.join(FOLDER, "wrong.two_members"))

# Keys and claims
owner = KEY[4:40]
for name, key, expected in (("of an account", word(0) + word(0) + bytes(32), False), ("of code", word(7) + bytes(32), False), ("of a time to live", word(9) + bytes(32), False),
                            ("nothing", b"", False), ("longer", KEY + bytes(4), False), ("shorter", KEY[:-4], False), ("of another durability", KEY[:-4] + word(2), False),
                            ("temporary", OTHER, True), ("of another contract", KEY[:8] + sha(b"x") + KEY[40:], True), ("of an account's data", word(6) + word(0) + word(0) + bytes(32) + KEY[40:], True),
                            ("of the instance", word(6) + owner + word(20) + word(1), True), ("of a muxed account", word(6) + word(2) + bytes(40) + word(1) + word(1), True),
                            ("of an unknown address", word(6) + word(5) + bytes(32) + word(1) + word(1), False), ("4096 bytes", word(6) + owner + word(13) + part(bytes(4096 - 52)) + word(1), True),
                            ("4100 bytes", word(6) + owner + word(13) + part(bytes(4096 - 48)) + word(1), False), ("deep", word(6) + owner + (word(16) + word(1) + word(1)) * 300 + word(1) + word(1), True)):
    for archive in MADE, None:
        p = copy(base)
        p.key = key
        case(f"a key {name}", p.saying(0).bytes(), expected, archive=archive)
for said in range(5):
    case(f"says {said} without a value", copy(base).saying(said).bytes(), said == 0)
    case(f"says {said} with a value", copy(base).saying(said, base.value_said).bytes(), said == 2)
for value in b"", bytes(4), word(3), NEW + bytes(4), base.value_said[:-4], base.value_said + bytes(4), word(23), (word(16) + word(1) + word(1)) * 1501 + word(1):
    case(f"says {value.hex()[:40]}", copy(base).saying(2, value).bytes(), False)
    case(f"says {value.hex()[:40]}, without buckets", copy(base).saying(2, value).bytes(), archive=None)

# Lengths, ends, bytes
for n in [0, 1, 7, 8, 11, 12, *(dice.randrange(len(whole)) for _ in range(12)), len(whole) - 4, len(whole) - 1]:
    case(f"cut at {n}", whole[:n], False)
for tail in b"\0", bytes(4), whole:
    case("bytes behind it", whole + tail, False)
buckets_at = whole.index(hashes[full[0]]) - 32 * full[0] - 4
key_at = whole.index(KEY, buckets_at) - 4
for at in buckets_at, key_at, key_at + 4 + len(KEY), key_at + 8 + len(KEY):
    found, = struct.unpack_from(">I", whole, at)
    for n in {0, 1, 2, 3, 22, 44, found - 4, found + 1, found + 4, 2**31 - 1, 2**31, 2**32 - 1, 2**32 - 4}:
        if n != found and n >= 0:
            case(f"the number at {at} is {n}", whole[:at] + word(n) + whole[at + 4:])
exact = copy(base).signed_again(ours[:3]).bytes()  # no vote too many
for _ in range(60):
    at = dice.randrange(len(exact) - len(whole) + key_at)
    case(f"a byte at {at}", exact[:at] + bytes([exact[at] ^ 1 << dice.randrange(8)]) + exact[at + 1:], False)

# With the right hashes: what is inside is read alike.
for i in range(MUTANTS):
    p = copy(dice.choice(proofs))
    where = dice.choice((MADE, MADE, None))
    kind = i % 5
    try:
        if kind == 0:
            p.key = damaged(p.key)
        elif kind == 1:
            p.saying(2, damaged(p.value_said or NEW))
        elif kind == 2:
            at = dice.randrange(len(p.buckets))
            p.buckets[at] = dice.choice(p.buckets)
        elif kind == 3:
            p.hashed_again(header=header_of(p))
        case(f"mutant {i}", damaged(p.bytes()) if kind == 4 else p.hashed_again().bytes(), archive=where)
    except (struct.error, IndexError):
        pass  # the end of the header cannot be found
for i in range(MUTANTS):
    live = [(dice.randrange(22), [dice.choice((entry(KEY, OLD), entry(KEY, NEW), entry(KEY, NEW, INIT), gone(KEY), entry(OTHER, OLD)))]) for _ in range(dice.randrange(4))]
    hot = [(dice.randrange(22), [dice.choice((entry(KEY, OLD), entry(KEY, NEW), gone(KEY)))]) for _ in range(dice.randrange(3))]
    said = dice.randrange(3)
    case(f"a state {i}", state(live, hot, said, dice.choice((OLD, NEW)) if said == 2 else None))

# --- verdicts


def hexed(data):
    return data if data is None else data.hex()


def by_indexer(lines):
    said = {line[0]: line for line in lines}
    entry_line, found = said["entry"], said.get("found")
    state_ = None if entry_line[1] == "not" else entry_line[1].rstrip(",")
    bucket = found[found.index("list,") + 1 if "list," in found else found.index("archive,") + 1].rstrip(";") if found and found[2] == "level" else None
    return [said["proof"][2], int(said["ledger"][1]), said["ledger"][-1], int(said["signed"][8].rstrip(",")), int(said["signed"][1]), said["owner"][2], int(said["buckets"][1]),
            state_, int(entry_line[-1]) if state_ in ("live", "archived") else None, bucket]


def by_python(i):
    _, text, network, validators, archive, _ = cases[i]
    try:
        p = tidemark.verify_entry_proof(text, network=network, validators=validators, buckets=archive)
    except tidemark.ProofError as error:
        return error.code
    return [p.key_hash, p.ledger, p.ledger_hash, str(p.closed_at), p.signed_ledger, p.signers, p.contract, hexed(p.key), p.durability, len(p.buckets), p.said,
            hexed(p.said_value), p.state, hexed(p.value), p.last_modified, p.bucket]


def brief(said):
    """What the indexer prints of a package's verdict."""
    if isinstance(said, str):
        return said
    return [said[0], said[1], said[2], said[4], len(said[5]), said[8], said[9], said[12], said[14], said[15]]


questions = [{"answer": text, "network": network, "validators": validators, "archive": archive} for _, text, network, validators, archive, _ in cases]
by_node = ask_node("_entries.mjs", questions)
some = slice(None, None, None if LONG else 4)
assert ask_node("_entries_web.mjs", questions[some]) == by_node[some], "other verdicts without Node.js"
judge(cases, by_python, by_node, by_indexer, brief)
