"""The cases of attester_promotion.sh. usage: _attester_promotion.py keeps|loses"""
import os
import pathlib
import signal
import sys
import time

from _attester import World, check, until

PG_DIR = pathlib.Path(os.environ["PG_DIR"])


def hosts_of(w, *hosts):
    return f"host={','.join(map(str, hosts))} port=5432 user=postgres dbname={w.db.name}"


def ask_for(what, answer):
    (PG_DIR / f"ask.{what}").touch()
    until((PG_DIR / answer).exists, answer, 60)


def open_at(w, host):
    """The world's own session, at that server."""
    w.db.process.kill()
    w.db.process.wait()
    w.db.url = hosts_of(w, host)
    w.db.open()


def promote(w, host):
    begun = time.monotonic()
    ask_for("promote", "promoted")
    open_at(w, host)
    return begun


def confirmed(w, intents, seconds=60):
    for intent, _, _ in intents:
        until(lambda: w.row(intent)[0] == "confirmed", lambda: f"{intent}: {w.row(intent)} {w.audit(intent)}", seconds)


def once(w, intents):
    for intent, subject, _ in intents:
        check(w.attested(subject) == 1, f"intent {intent} is {w.attested(subject)} times on the chain: {w.row(intent)} {w.audit(intent)}")


def attester(w, *hosts):
    """With the servers in that order, and the attester's own choice among them."""
    url, w.db.url = w.db.url, hosts_of(w, *hosts)
    running = w.attester("--retry-ms-max", "500")
    w.db.url = url
    return running


def keeps():
    """a synchronous standby is promoted: nothing is lost, each decision is on the chain once"""
    w = World("keeps")
    w.tick(200)
    with attester(w, PG_DIR / "second", PG_DIR):
        before = [w.plant() for _ in range(3)]
        confirmed(w, before)
        under_way = [w.plant() for _ in range(5)]
        until(lambda: w.row(under_way[0][0])[0] != "pending", "the attester works")
        begun = promote(w, PG_DIR / "second")
        check(all(w.row(i)[0] == "confirmed" for i, _, _ in before), "a confirmed decision is not")
        confirmed(w, under_way)
        took = time.monotonic() - begun
        after = [w.plant() for _ in range(3)]
        confirmed(w, after)
    once(w, before + under_way + after)
    w.close()
    return f"5 under way were confirmed {took:.1f} s after the loss"


def loses():
    """a standby without the last commits is promoted: what the chain has is not sent again"""
    os.environ["PG_DIR"] = str(PG_DIR / "second")  # the primary is there now
    w = World("loses")
    w.tick(200)
    intents = [w.plant() for _ in range(3)]
    written = w.db.one("SELECT pg_current_wal_lsn()")
    open_at(w, PG_DIR)
    until(lambda: w.db.one(f"SELECT pg_last_wal_replay_lsn() >= '{written}'") == "t", "the standby has the intents")
    open_at(w, PG_DIR / "second")
    ask_for("deafen", "deaf")
    with attester(w, PG_DIR, PG_DIR / "second") as program:
        confirmed(w, intents)
        program.send(signal.SIGSTOP)
        promote(w, PG_DIR)
        lost = sum(w.row(i)[0] != "confirmed" for i, _, _ in intents)
        begun = time.monotonic()
        program.send(signal.SIGCONT)
        confirmed(w, intents)
        took = time.monotonic() - begun
    check(lost, "the standby had all: the case proves nothing")
    once(w, intents)
    w.close()
    return f"{lost} of {len(intents)} were unconfirmed again, and confirmed {took:.1f} s after the attester could, without another call"


case = {"keeps": keeps, "loses": loses}[sys.argv[1]]
print(f"ok {case.__doc__}: {case()}")
