#!/usr/bin/env python3
"""usage: _tip.py PSQL STREAM PROGRAM...   feeds a framed stream to the program's standard input and
watches its ledgers appear. Exits 1 when one is late."""
import atexit
import re
import statistics
import struct
import subprocess
import sys
import time

from _steady import steady

PAUSES = [0.4, 0.02, 1.1, 0.06, 0.7, 0.0, 2.5, 0.3, 0.05, 0.9]  # seconds before each ledger alone
LATE = 15.0  # below --poll-ms: without the notice of a new ledger it would come later

def frames(path):
    data = open(path, "rb").read()
    at = 0
    while at < len(data):
        size = 4 + (struct.unpack_from(">I", data, at)[0] & 0x7FFFFFFF)
        yield data[at:at + size]
        at += size

def visible(psql):
    sql = "SELECT coalesce(max(ledger), 0) FROM chain.ledger"
    done = subprocess.run([psql, "-XAtqc", sql], capture_output=True, text=True, check=False)
    return int(done.stdout or 0) if done.returncode == 0 else 0

def await_ledger(psql, wanted, patience):
    began = steady()
    while visible(psql) < wanted:
        if steady() - began > patience:
            sys.exit(f"ledger {wanted} is not there after {patience} s")
    return steady() - began

def main():
    psql, stream, command = sys.argv[1], list(frames(sys.argv[2])), sys.argv[3:]

    program = subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE)
    first = 1024

    def feed(data):
        program.stdin.write(data)
        program.stdin.flush()

    atexit.register(program.kill)
    feed(b"".join(stream[:3]))
    await_ledger(psql, first + 2, 60)
    at, took = 3, []
    for pause in PAUSES:
        time.sleep(pause)
        feed(stream[at])
        took.append(await_ledger(psql, first + at, LATE))
        at += 1
    feed(b"".join(stream[at:]))
    await_ledger(psql, first + len(stream) - 1, 60)
    lines = program.communicate()[1].decode()
    if program.returncode != 0:
        sys.exit(f"exit {program.returncode}: {lines[-500:]}")
    batches = [(int(a), int(b)) for a, b in re.findall(r"batch.committed from=(\d+) to=(\d+)", lines)]
    alone = [b for b in batches if first + 3 <= b[0] < first + 3 + len(PAUSES)]
    if any(a != b for a, b in alone) or len(alone) != len(PAUSES):
        sys.exit(f"not each by itself: {alone}")
    burst = [b for b in batches if b[0] >= first + at]
    if len(burst) >= len(stream) - at:
        sys.exit(f"a backlog of {len(stream) - at} ledgers took {len(burst)} transactions")
    print(f"median {statistics.median(took) * 1000:.0f} ms, most {max(took) * 1000:.0f} ms;"
          f" a backlog of {len(stream) - at} in {len(burst)} transactions")

main()
