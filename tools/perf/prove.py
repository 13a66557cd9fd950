#!/usr/bin/env python3
"""usage: prove.py PACE_MS STREAM PSQL CONNINFO PROGRAM…   feeds a framed stream to the program's standard input, a ledger every PACE_MS milliseconds

Prints the seconds of CPU of the program, and of its sessions in PostgreSQL, up to some seconds behind the last ledger. The kernel's own
account of each thread and session is read: other processes of the server do not count."""
import glob
import struct
import subprocess
import sys
import time

SESSIONS = "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE 'tidemark-%'"
END_SECONDS = 5  # in which the last checkpoint is proven
EACH = 8  # ledgers between two looks: a thread or session that ends in between loses what it did since the last look


def frames(path):
    with open(path, "rb") as file:
        while mark := file.read(4):
            yield mark + file.read(struct.unpack(">I", mark)[0] & 0x7FFFFFFF)


def look(seen, paths):
    for path in paths:
        try:
            with open(path) as file:
                seen[path] = int(file.read().split()[0])
        except OSError:
            pass  # it has ended


class Account:
    def __init__(self, program, psql, conninfo):
        self.program, self.ask = program, [psql, "-XAtq", conninfo, "-c", SESSIONS]
        self.threads, self.sessions = {}, {}

    def look(self):
        look(self.threads, glob.glob(f"/proc/{self.program.pid}/task/*/schedstat"))
        pids = subprocess.run(self.ask, check=True, capture_output=True, text=True).stdout.split()
        look(self.sessions, [f"/proc/{pid}/schedstat" for pid in pids])


def main():
    pace, stream, psql, conninfo, command = int(sys.argv[1]) / 1000, sys.argv[2], sys.argv[3], sys.argv[4], sys.argv[5:]
    program = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    account = Account(program, psql, conninfo)
    due = time.monotonic()
    try:
        for number, ledger in enumerate(frames(stream)):
            time.sleep(max(0.0, due - time.monotonic()))
            program.stdin.write(ledger)
            program.stdin.flush()
            due += pace
            if number % EACH == 0:
                account.look()
        time.sleep(END_SECONDS)
        account.look()
        program.stdin.close()
    except BrokenPipeError:
        pass  # the program ended, and said why
    code = program.wait()
    print(f"{sum(account.threads.values()) / 1e9:.3f} {sum(account.sessions.values()) / 1e9:.3f}")
    sys.exit(code)


main()
