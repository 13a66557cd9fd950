"""Runs `verify --archive` against archives of a simulated chain: honest ones, and ones that lie."""
import gzip
import itertools
import json
import os
import shutil
import subprocess
import sys

from _archive import envelope, new_form, old_form, put_file, read_ledgers, words, write_archive
from _ed25519 import Account

FOLDER = sys.argv[1]
INDEXER = os.path.join(os.environ["TIDE_BIN"], "tidemark-indexer")
ledgers = list(read_ledgers(os.path.join(FOLDER, "stream")))
before = {l.sequence: l for l in ledgers}
with open(os.path.join(FOLDER, "deployment.json")) as file:
    deployment = json.load(file)
network = deployment["network"]
validators = [Account(bytes([n]) * 32) for n in range(3)]
stranger = Account(b"s" * 32)
checkpoints = [l.sequence for l in ledgers if l.sequence % 64 == 63]
assert len(checkpoints) == 3
newest = checkpoints[-1]
numbers = itertools.count()
named = {"threshold": 2, "validators": [v.address for v in validators]}


def file_with(quorum):
    path = os.path.join(FOLDER, f"deployment.{next(numbers)}.json")
    with open(path, "w") as out:
        json.dump({**deployment, "validators": quorum}, out)
    return path


usual = file_with(named)


def is_late(ledger):
    """The last two ledgers of a checkpoint have votes; that keeps the test short."""
    return ledger.sequence % 64 >= 62


def by(*signers, on=network, value=lambda l: l.value, slot=lambda l: l.sequence, only=is_late):
    return lambda l: [envelope(on, s, slot(l), value(l)) for s in signers] if only(l) else []


def archive(votes, set_of=new_form, of=ledgers):
    folder = os.path.join(FOLDER, f"archive.{next(numbers)}")
    write_archive(folder, of, votes, set_of)
    return folder


def verify(about, code, text, *archives, deployed=usual):
    part = ["--to", str(ledgers[-1].sequence)]  # a part of the index: without the sums over time, which take longer
    done = subprocess.run([INDEXER, "verify", *part, "--deployment", deployed, "--archive", ",".join(archives)],
                          capture_output=True, text=True)
    said = done.stdout + done.stderr
    if done.returncode != code or text not in said:
        sys.exit(f"{about}: exit {done.returncode}, wanted {code} and {text!r}:\n{said}")
    print(f"ok      {about}")


good = archive(by(*validators))
missing, all_three = "is the first without proof", f"3 of 3 checkpoints, ledger {newest - 1} by"
verify("all sign", 0, f"{all_three} 3 of 3 validators", good)
verify("one validator is silent", 0, f"{all_three} 2 of 3 validators", archive(by(*validators[:2])))
verify("too few sign", 67, f"ledger {ledgers[0].sequence} {missing}", archive(by(validators[0])))
verify("too few sign the newest checkpoint", 67, f"ledger {checkpoints[1]} {missing}",
       archive(by(*validators, only=lambda l: is_late(l) and l.sequence <= checkpoints[1])))
verify("a later checkpoint proves an earlier one", 0, "2 of 3 checkpoints",
       archive(by(*validators, only=lambda l: is_late(l) and l.sequence > checkpoints[0])))
verify("votes in two archives add up", 0, all_three, archive(by(validators[0])), archive(by(validators[2])))
verify("no archive has the files", 67, missing, os.path.join(FOLDER, "lake"))
verify("the last ledger of a checkpoint has no votes", 0, f"ledger {newest - 2} by",
       archive(by(*validators, only=lambda l: l.sequence % 64 == 62)))

# votes that do not count
verify("unknown keys", 67, missing, archive(by(validators[0], stranger)))
verify("another network", 67, missing, archive(by(*validators, on="another network")))
verify("repeated votes", 67, missing, archive(by(validators[0], validators[0], validators[0])))


def moved(ledger):
    """Votes of the ledger before, said to be about this one."""
    if not is_late(ledger):
        return []
    other, length = before[ledger.sequence - 1], 4 + 32
    votes = [envelope(network, v, other.sequence, other.value) for v in validators]
    return [v[:length] + words(0, ledger.sequence) + v[length + 8:] for v in votes]


verify("votes of the ledger before", 67, missing, archive(moved))

# forgeries
fork = [l.renamed(b"\x55" * 32) if l.sequence == newest else l for l in ledgers]
verify("a forged ledger without signatures", 67, missing, archive(by(stranger, stranger), of=fork))
verify("a quorum signs another hash", 66, f"ledger {newest - 1}: a quorum of the named validators signed the hash {'55' * 32}",
       archive(by(*validators), of=fork))
early = [l.renamed(b"\x55" * 32) if l.sequence in (checkpoints[0], newest) else l for l in ledgers]
verify("the first ledger that contradicts is named", 66, f"ledger {checkpoints[0] - 1}: a quorum", archive(by(*validators), of=early))
verify("a set that is not the signed one, beside a good archive", 0, all_three, archive(by(*validators), set_of=lambda l: new_form(before[l.sequence].renamed(b"\x55" * 32))), good)
verify("no right set at all", 67, missing, archive(by(*validators), set_of=lambda l: new_form(before[l.sequence].renamed(b"\x55" * 32))))
verify("a set in another form, whose hash is right", 67, missing, archive(by(*validators), set_of=old_form))
verify("the same beside a good archive", 0, all_three, archive(by(*validators), set_of=old_form), good)
verify("a value of protocol 28 without a set", 0, all_three, archive(by(*validators, value=lambda l: l.empty_value)))
verify("such a value behind another ledger", 66, "a quorum of the named validators signed the hash",
       archive(by(*validators, value=lambda l: l.empty_value.replace(l.previous, b"\x66" * 32))))


def both(on):
    """Right votes about the last ledger of a checkpoint, and others, signed on a network, about the one before that contradict them."""
    other = by(*validators, on=on, value=lambda l: l.empty_value.replace(l.previous, b"\x66" * 32))
    return lambda l: (by(*validators) if l.sequence % 64 == 63 else other)(l)


verify("votes without signatures contradict those of the last ledger", 0, f"{all_three} 3 of 3 validators", archive(both("another network")))
verify("a quorum signs two histories", 66, f"ledger {checkpoints[0] - 2}: a quorum", archive(both(network)))

# files
bomb = archive(by(*validators))
path = put_file(bomb, "scp", newest, b"")
with gzip.open(path, "wb") as out:
    out.write(words(0x80000000 | 32 << 20))  # a record of 32 MiB
    for _ in range(64):
        out.write(bytes(1 << 20))
verify("a bomb", 67, "above 256 times", bomb)
verify("a bomb beside a good archive", 0, all_three, bomb, good)
cut = archive(by(*validators))
path = put_file(cut, "scp", newest, b"")
with open(path, "wb") as out:
    out.write(b"\x1f\x8b")
verify("a cut file", 67, "cut short", cut)
pipe = archive(by(*validators))
path = put_file(pipe, "scp", newest, b"")
os.remove(path)
os.mkfifo(path)
verify("a file that never gives a byte", 67, "not a file", pipe)

# the operator's file
verify("no validators", 78, "`validators` is missing", good, deployed=os.path.join(FOLDER, "deployment.json"))
verify("a key twice", 78, "the key occurs twice", good, deployed=file_with({"threshold": 1, "validators": [validators[0].address] * 2}))
verify("threshold 0", 78, "/validators/threshold", good, deployed=file_with({"threshold": 0, "validators": [validators[0].address]}))
inner = {"threshold": 2, "innerSets": [{"threshold": 2, "validators": [v.address for v in validators[:2]]},
                                       {"threshold": 1, "validators": [validators[2].address]}]}
verify("inner sets", 0, all_three, good, deployed=file_with(inner))
verify("an inner set that lacks a vote", 67, missing, archive(by(*validators[1:])), deployed=file_with(inner))
shutil.rmtree(good)
