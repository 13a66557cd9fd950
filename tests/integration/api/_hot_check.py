#!/usr/bin/env python3
"""Checks of a cache's file that hang: see hot_check.sh. usage: _hot_check.py TIDEMARK-API"""
import atexit
import fcntl
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request

API = sys.argv[1]
DIR = pathlib.Path(os.environ["PG_DIR"])
CACHE = DIR / "cache"
SOON = 8  # seconds: less than one check takes until it is given up


def fail(text):
    sys.exit(f"FAIL: {text}")


def until(done, what, seconds=60):
    end = time.monotonic() + seconds
    while not (found := done()):
        if time.monotonic() > end:
            fail(f"{what}: not within {seconds} s")
        time.sleep(0.02)
    return found


class Node:
    """An API process on the cache."""

    def __init__(self, name, **env):
        self.port_file, self.log = DIR / f"{name}.port", open(DIR / f"api-{name}.log", "ab")
        self.port_file.unlink(missing_ok=True)
        env = {**os.environ, "TIDEMARK_COMPLIANCE_AGE_S": "0", "TIDEMARK_STALE_AFTER_MS": "86400000", "TIDEMARK_CLOCK_SKEW_S": "3153600000", **env}
        self.process = subprocess.Popen([API, "--api-listen", "127.0.0.1:0", "--api-port-file", self.port_file, "--api-cache", CACHE, "--api-drain-ms", "0"],
                                        env=env, stderr=self.log)
        atexit.register(self.process.kill)  # a test that fails leaves none behind

    def answers(self):
        try:
            port = self.port_file.read_text().strip()
            return urllib.request.urlopen(f"http://127.0.0.1:{port}/api/prices?maxAgeMs=86400000", timeout=5).status == 200
        except OSError:
            return False

    def child(self):
        """The process that checks a file: once it has closed what it inherited, it holds little."""
        found = subprocess.run(["pgrep", "-P", str(self.process.pid)], capture_output=True, text=True).stdout.split()
        return int(found[0]) if found else 0

    def stop(self, sign=signal.SIGTERM):
        began = time.monotonic()
        self.process.send_signal(sign)
        try:
            code = self.process.wait(SOON)
        except subprocess.TimeoutExpired:
            self.process.kill()
            fail(f"the API has not ended {SOON} s after {sign.name}")
        return code, time.monotonic() - began


def descriptors(pid):
    out = []
    for entry in os.scandir(f"/proc/{pid}/fd"):
        try:
            out.append(os.readlink(entry.path))
        except OSError:
            pass  # closed meanwhile
    return out


def lock(generation):
    """Holds the first lock that opening the file takes: a process that opens it waits."""
    held = open(CACHE / generation / "lock.mdb", "r+b")
    fcntl.lockf(held, fcntl.LOCK_EX)
    return held


def is_gone(pid):
    try:
        return "State:\tZ" in pathlib.Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return True


def check_child(node):
    """A child that waits for the lock holds its pipe, the files of the cache, and no more."""
    pid = until(node.child, "a child that checks")
    until(lambda: any("lock.mdb" in name for name in descriptors(pid)), "a child that opens the file")
    held = [name for name in descriptors(pid) if "socket:" in name or "feeder.lock" in name]
    if held:
        fail(f"the child holds {held}")
    return pid


def generation():
    return os.readlink(CACHE / "current")


def at_start():
    held = lock(generation())
    node = Node("start")
    child = check_child(node)
    code, took = node.stop()
    if code != 0:
        fail(f"it ended with {code}")
    until(lambda: is_gone(child), "the child's end")
    node = Node("killed")
    child = check_child(node)
    node.stop(signal.SIGKILL)
    until(lambda: is_gone(child), "the end of the child of a killed API")
    held.close()
    print(f"ok a check that hangs at the start: SIGTERM ended the API in {took:.2f} s, the child holds no socket and dies with it")


def while_it_runs():
    """The test feeds: it holds the feeder's lock, and switches to a generation that cannot be opened."""
    feeder = open(CACHE / "feeder.lock", "a")
    fcntl.flock(feeder, fcntl.LOCK_EX)
    notes = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    notes.bind(str(DIR / "notify"))
    os.chmod(DIR / "notify", 0o666)
    node = Node("run", NOTIFY_SOCKET=str(DIR / "notify"), WATCHDOG_USEC="2000000")
    until(node.answers, "an API on a cache that another process feeds")
    after = "gen-00000099"
    shutil.copytree(CACHE / generation(), CACHE / after)
    held = lock(after)
    os.symlink(after, CACHE / "next")
    os.replace(CACHE / "next", CACHE / "current")
    child = check_child(node)
    notes.settimeout(0.01)
    try:
        while notes.recv(4096):
            pass
    except TimeoutError:
        pass
    notes.settimeout(SOON)
    for _ in range(3):  # the watchdog goes on to be told, every second, while the check hangs
        try:
            while b"WATCHDOG=1" not in notes.recv(4096):
                pass
        except TimeoutError:
            fail("the watchdog heard nothing while a check hangs")
    if is_gone(child):
        fail("the check does not hang: this test proves nothing")
    if not node.answers():
        fail("look-ups wait for the check")
    code, took = node.stop()
    if code != 0:
        fail(f"it ended with {code}")
    until(lambda: is_gone(child), "the child's end")
    held.close()
    print(f"ok a check that hangs under a running API: the watchdog is told, look-ups answer, SIGTERM ended it in {took:.2f} s")


first = Node("first")
until(first.answers, "the first API")
first.stop()
at_start()
while_it_runs()
