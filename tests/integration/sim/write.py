#!/usr/bin/env python3
"""Tests tidemark-sim write: the end of a chain, its number of addresses, the load of its ledgers, and that memory
holds the state only."""
import collections, json, os, re, subprocess, sys, tempfile

SIM = os.environ["TIDE_BIN"] + "/tidemark-sim"


def write(*options):
    """The summary as numbers, and the peak of resident memory in KiB."""
    run = subprocess.Popen([SIM, "write", "--stream", "/dev/null", "--seed", "5", *options], stderr=subprocess.PIPE, text=True)
    said = run.stderr.read()
    _, status, used = os.wait4(run.pid, 0)
    run.returncode = os.waitstatus_to_exitcode(status)
    return run.returncode, {k: int(v) for k, v in re.findall(r"(\w+)=(\d+)", said)}, used.ru_maxrss


def check(that, *told):
    if not that:
        sys.exit(f"failed: {told}")


def ends():
    """With both --ledgers and --events the chain ends with what comes first."""
    _, few, _ = write("--events", "3000", "--ledgers", "1000", "--txs", "20")
    check(3000 <= few["events"] < 3300 and few["ledgers"] < 200, few)
    _, short, _ = write("--events", "1000000", "--ledgers", "100", "--txs", "20")
    check(short["ledgers"] == 100 and short["events"] < 5000, short)
    _, none, _ = write("--ledgers", "100", "--txs", "20")
    check(none == short, none, short)


def addresses():
    code, _, _ = write("--txs", "60", "--addresses", "155")
    check(code == 64, code)
    with tempfile.TemporaryDirectory() as to:
        _, told, _ = write("--addresses", "2000", "--ledgers", "1500", "--txs", "20", "--expect", to)
        with open(to + "/calls.jsonl", encoding="utf-8") as calls:
            sources = {found[1] for found in (re.search(r'"source": ?"(G\w+)"', line) for line in calls) if found}
    check(len(sources) > 1900, len(sources))
    check(told["refused"] * 2 > told["txs"], told)
    _, usual, _ = write("--ledgers", "1500", "--txs", "20")
    check(usual["refused"] * 3 < usual["txs"], usual)


def full():
    """Behind the deployment each ledger has as many calls as --txs says, and closes a step after the last."""
    with tempfile.TemporaryDirectory() as to:
        write("--full", "--txs", "20", "--ledgers", "120", "--close-step", "1", "--expect", to)
        with open(to + "/calls.jsonl", encoding="utf-8") as file:
            calls = [json.loads(line) for line in file]
    counts = collections.Counter(call["ledger"] for call in calls)
    last = max(counts)
    check(all(counts[ledger] == 20 for ledger in range(last - 80, last + 1)), counts)
    times = {call["ledger"]: call["closeTime"] for call in calls}
    check(all(times[ledger] - times[ledger - 1] == 1 for ledger in range(last - 80, last + 1)), times)


def memory():
    """A ledger leaves what its calls added to the state, nothing of itself: its bytes are 40 KiB. The address sanitizer keeps what was freed, unless told."""
    os.environ["ASAN_OPTIONS"] = "quarantine_size_mb=0"
    common = ("--addresses", "1000", "--txs", "20")
    _, _, early = write(*common, "--ledgers", "1500")
    _, _, late = write(*common, "--ledgers", "4500")
    check(late - early < 4 * 3000, early, late)


for case in (ends, addresses, full, memory):
    case()
