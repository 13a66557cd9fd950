#!/usr/bin/env python3
"""Prints the CPU seconds of tests, the dearest first: `tools/test cost` calls it.

usage: test_cpu.py PRESET [ctest option]…

The tests run one after the other. What they start counts until it has ended, servers too: this process adopts what its children leave behind.
"""
import ctypes
import os
import re
import resource
import subprocess
import sys
import time

PR_SET_CHILD_SUBREAPER = 36
WAIT_S = 60  # for processes that a test leaves behind


def reap():
    end = time.monotonic() + WAIT_S
    try:
        while os.waitpid(-1, os.WNOHANG)[0] or time.monotonic() < end:
            time.sleep(0.02)
    except ChildProcessError:
        pass


def used():
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return children.ru_utime + children.ru_stime


def ctest(preset, *options):
    return subprocess.run(["ctest", "--preset", preset, *options], stdout=subprocess.PIPE, text=True, check=False)


def main():
    if len(sys.argv) < 2 or sys.argv[1] == "--help":
        sys.exit(__doc__)
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    preset, options = sys.argv[1], sys.argv[2:]
    names = re.findall(r"^ *Test +#\d+: (\S+)", ctest(preset, "-N", *options).stdout, re.M)
    ctest(preset, "-R", r"^setup\.")  # what several tests need is made once, and is no test's own cost
    reap()
    costs = []
    for name in names:
        before, began = used(), time.monotonic()
        done = ctest(preset, "-FA", "clients", "-R", f"^{re.escape(name)}$")
        wall = time.monotonic() - began
        reap()
        costs.append((used() - before, wall, name, "" if done.returncode == 0 else "  failed"))
        print(f"{len(costs)} of {len(names)}: {name}", end="\r" if len(costs) < len(names) else "\n", file=sys.stderr, flush=True)
    for cpu, wall, name, failed in sorted(costs, reverse=True):
        print(f"{cpu:7.1f} s CPU {wall:7.1f} s  {name}{failed}")
    print(f"{sum(cost[0] for cost in costs):7.1f} s CPU of {len(costs)} tests")


main()
