"""Runs `run --archive` over a simulated chain, against archives that are honest, late, or of another chain."""
import itertools
import json
import os
import signal
import subprocess
import sys
import time

from _archive import by_validators, read_ledgers, write_archive
from _ed25519 import Account

FOLDER = sys.argv[1]
INDEXER = os.path.join(os.environ["TIDE_BIN"], "tidemark-indexer")
DATABASE = os.environ["TIDEMARK_DATABASE_URL"]
WAIT_S = 60
ledgers = list(read_ledgers(os.path.join(FOLDER, "stream")))
with open(os.path.join(FOLDER, "deployment.json")) as file:
    deployment = json.load(file)
validators = [Account(bytes([n]) * 32) for n in range(3)]
checkpoints = [l.sequence for l in ledgers if l.sequence % 64 == 63]
assert len(checkpoints) == 4
newest = checkpoints[-1]
numbers = itertools.count()
named = {"threshold": 2, "validators": [v.address for v in validators]}
fork = [l.renamed(b"\x55" * 32) if l.sequence == newest else l for l in ledgers]


def file_with(**members):
    path = os.path.join(FOLDER, f"deployment.{next(numbers)}.json")
    with open(path, "w") as out:
        json.dump({**deployment, **members}, out)
    return path


usual = file_with(validators=named)


def archive(*signers, of=ledgers, to=newest, folder=None):
    """Writes the checkpoints up to `to`; also into a folder that is there."""
    folder = folder or os.path.join(FOLDER, f"archive.{next(numbers)}")
    write_archive(folder, [l for l in of if l.sequence <= to], by_validators(deployment["network"], *signers))
    return folder


def sql(statement):
    done = subprocess.run([os.path.join(os.environ["PG_BIN"], "psql"), "-XAtqv", "ON_ERROR_STOP=1", "-c", statement, DATABASE],
                          capture_output=True, text=True, check=True)
    return done.stdout.strip()


def fresh():
    """Makes the database one without an index."""
    tables = sql("SELECT string_agg(c.oid::regclass::text, ', ') FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace"
                 " WHERE n.nspname = 'chain' AND c.relkind = 'r' AND c.relname IN ('fork', 'checkpoint', 'prover')")
    sql(f"TRUNCATE {tables}")


def arguments(command, *more, deployed=usual):
    return [INDEXER, command, "--deployment", deployed, *more]


def index(about, code, text, *more, deployed=usual):
    """Indexes what the lake has, and ends."""
    done = subprocess.run(arguments("run", "--lake", os.path.join(FOLDER, "lake"), "--stop-at-end", *more, deployed=deployed),
                          capture_output=True, text=True, timeout=600)
    if done.returncode != code or text not in done.stderr:
        sys.exit(f"{about}: exit {done.returncode}, wanted {code} and {text!r}:\n{done.stderr}")
    print(f"ok      {about}")
    return done.stderr


def command(about, code, text, *words, deployed=usual):
    done = subprocess.run(arguments(*words, deployed=deployed), capture_output=True, text=True)
    if done.returncode != code or text not in done.stdout + done.stderr:
        sys.exit(f"{about}: exit {done.returncode}, wanted {code} and {text!r}:\n{done.stdout}{done.stderr}")
    print(f"ok      {about}")
    return done.stdout


class Following:
    """A `run` that follows, and its log."""

    def __init__(self, places, *more, deployed=usual):
        self.path = os.path.join(FOLDER, f"log.{next(numbers)}")
        with open(self.path, "w") as log:
            self.process = subprocess.Popen(
                arguments("run", "--lake", os.path.join(FOLDER, "lake"), "--archive", places, "--poll-ms", "20", 
                          "--retry-ms-max", "100", *more, deployed=deployed), stderr=log)

    def log(self):
        with open(self.path) as file:
            return file.read()

    def wait(self, about, reached):
        end = time.monotonic() + WAIT_S
        while not reached():
            if self.process.poll() is not None or time.monotonic() > end:
                sys.exit(f"{about}: not reached, exit {self.process.poll()}:\n{self.log()}")
            time.sleep(0.02)
        print(f"ok      {about}")

    def end(self, about, code, signals=None):
        if signals:
            self.process.send_signal(signals)
        if self.process.wait(WAIT_S) != code:
            sys.exit(f"{about}: exit {self.process.returncode}, wanted {code}:\n{self.log()}")
        print(f"ok      {about}")


def expect(about, found, wanted):
    if found != wanted:
        sys.exit(f"{about}: {found!r}, wanted {wanted!r}")
    print(f"ok      {about}")


good = archive(*validators)
rows = "SELECT ledger, encode(hash, 'hex'), array_to_string(signed_by, ' ') FROM chain.checkpoint ORDER BY 1"
proven = "SELECT max(ledger) FROM chain.checkpoint"

# what is given
index("archives without validators", 78, "`validators` is missing", "--archive", good, deployed=os.path.join(FOLDER, "deployment.json"))
index("a place that is none", 78, "archive", "--archive", "ftp://example.org/a")

# a filled database, then proofs
index("without an archive nothing is proven", 0, "index.stopped")
expect("no rows", sql(rows), "")
command("no fork", 0, "no fork", "fork")
command("no fork to forget", 67, "no fork", "fork", "--dismiss")
log = index("the newest checkpoint proves a filled database", 0, f"proof.proven ledger={newest - 1} signers=3 of=3", "--archive", good)
ours = next(l.previous for l in ledgers if l.sequence == newest)
expect("its row", sql(rows), f"{newest - 1}|{ours.hex()}|{' '.join(sorted((v.address for v in validators), key=named['validators'].index))}")
signatures = json.loads(command("status as JSON", 0, "", "status", "--json"))["signatures"][0]
expect("has the proof", {k: signatures[k] for k in ("proven", "lag_ledgers", "signers", "trouble")},
       {"proven": newest - 1, "lag_ledgers": 1, "signers": 3, "trouble": None})
command("status", 0, "signatures", "status")
expect("one proof", log.count("proof.proven"), 1)
expect("no delay", log.count("proof.delayed"), 0)
log = index("a proven ledger is not proven again", 0, "index.stopped", "--archive", good)
expect("no proof", log.count("proof.proven"), 0)

# a delay
fresh()
late = archive(*validators, to=checkpoints[0])
for name in "scp", "transactions", "ledger":  # nothing is published yet
    os.rename(os.path.join(late, name), os.path.join(late, f"not-yet-{name}"))
run = Following(f"{late},{os.path.join(FOLDER, 'lake')}")
run.wait("the delay is logged", lambda: "proof.delayed" in run.log())
run.wait("the delay is stored", lambda: sql("SELECT trouble IS NOT NULL FROM chain.prover") == "t")
expect("no proof meanwhile", sql(proven), "")
for name in "scp", "transactions", "ledger":
    os.rename(os.path.join(late, f"not-yet-{name}"), os.path.join(late, name))
run.wait("a late archive proves what it has", lambda: sql(proven) == str(checkpoints[0] - 1))
archive(validators[0], to=checkpoints[1], folder=late)
archive(*validators[:2], of=ledgers, to=newest, folder=late)
run.wait("then the newest", lambda: sql(proven) == str(newest - 1))
run.wait("the end of the delay is logged", lambda: "proof.resumed" in run.log())
run.wait("and stored", lambda: sql("SELECT trouble IS NULL FROM chain.prover") == "t")
expect("each once", (run.log().count("proof.delayed"), run.log().count("proof.resumed")), (1, 1))
expect("two signed", sql(f"SELECT cardinality(signed_by) FROM chain.checkpoint WHERE ledger = {newest - 1}"), "2")
run.end("a stop while it waits", 0, signal.SIGTERM)
fresh()
index("too few signatures are no error", 0, "proof.delayed", "--archive", archive(validators[0]))
expect("and prove nothing", sql(proven), "")
run = Following("http://127.0.0.1:1/")
run.wait("a server that is away is a delay", lambda: "proof.delayed" in run.log())
expect("no lines about each attempt", run.log().count("archive.retry"), 0)
run.end("a stop meanwhile", 0, signal.SIGTERM)

# a fork
fresh()
bad = archive(*validators, of=fork)
text = f"ledger {newest - 1}: a quorum of the named validators signed the hash {'55' * 32}, the index has {ours.hex()}"
run = Following(f"{archive(*validators, to=checkpoints[2])},{bad}")
run.end("a fork stops the indexer", 66)
expect("what it says", (text in run.log(), "proof.forked" in run.log(), "index.frozen" in run.log()), (True, True, True))
expect("what is stored", sql("SELECT ledger, encode(hash, 'hex'), encode(signed_hash, 'hex'), cardinality(signed_by) FROM chain.fork"),
       f"{newest - 1}|{ours.hex()}|{'55' * 32}|3")
expect("the heartbeat's state", sql("SELECT state FROM chain.heartbeat"), "frozen")
expect("status has the fork", [f["ledger"] for f in json.loads(command("status of a fork", 0, "", "status", "--json"))["fork"]], [newest - 1])
index("at the next start, too", 66, f"forked: {text}", "--archive", good)
index("and without an archive", 66, f"forked: {text}")
done = subprocess.run(arguments("backfill", "--from", "1", "--to", "2", "--lake", os.path.join(FOLDER, "lake")), capture_output=True, text=True)
expect("a backfill, too", (done.returncode, "forked: " in done.stderr), (66, True))
said = command("what to do is said", 0, "reset --confirm", "fork")
expect("with the ledger and the hash", all(word in said for word in (str(newest - 1), "55" * 32, ours.hex(), validators[0].address)), True)
command("it can be dismissed", 0, "is forgotten", "fork", "--dismiss")
index("and is found again", 66, text, "--archive", bad)
command("dismissed again", 0, "is forgotten", "fork", "--dismiss")
other = file_with(validators={"threshold": 1, "validators": [Account(b"s" * 32).address]})
index("other validators do not find it", 0, "index.stopped", "--archive", bad, deployed=other)
index("a fork between good archives", 66, text, "--archive", f"{bad},{good}")
command("a new index begins", 0, "epoch 1 of the network begins", "reset", "--confirm")
index("which is proven on its own", 0, f"proof.proven ledger={newest - 1}", "--archive", good)
expect("the old fork stays", sql("SELECT count(*) FROM chain.fork WHERE deployment = 1"), "1")
