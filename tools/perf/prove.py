#!/usr/bin/env python3
"""usage: prove.py PACE_MS STREAM PROGRAM…   feeds a framed stream to the program's standard input, a ledger every PACE_MS milliseconds

Prints the seconds of CPU that the program took, its end included."""
import resource
import struct
import subprocess
import sys
import time


def frames(path):
    with open(path, "rb") as file:
        while mark := file.read(4):
            yield mark + file.read(struct.unpack(">I", mark)[0] & 0x7FFFFFFF)


def main():
    pace, stream, command = int(sys.argv[1]) / 1000, sys.argv[2], sys.argv[3:]
    program = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    due = time.monotonic()
    try:
        for ledger in frames(stream):
            time.sleep(max(0.0, due - time.monotonic()))
            program.stdin.write(ledger)
            program.stdin.flush()
            due += pace
        program.stdin.close()
    except BrokenPipeError:
        pass  # the program ended, and said why
    code = program.wait()
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"{used.ru_utime + used.ru_stime:.2f}")
    sys.exit(code)


main()
