"""Starts several tidemark-api at once, in each of which a thread of libmicrohttpd stalls in another way. Run by
server_stall.sh.

usage: _server_stall.py BIN DIR
"""
import http.client
import os
import pathlib
import signal
import socket
import subprocess
import sys
import threading
import time

from _steady import steady

BIN, DIR = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
STALLED = 80  # the exit code
LONGEST = 60
failures = []


class Api:
    def __init__(self, name, kind, *options):
        self.name, self.trigger, self.log = name, DIR / f"{name}.trigger", DIR / f"{name}.log"
        port = DIR / f"{name}.port"
        env = {**os.environ, "LD_PRELOAD": str(BIN / "libstall.so"), "TIDE_STALL": kind, "TIDE_STALL_FILE": str(self.trigger),
               "TIDEMARK_COMPLIANCE_AGE_S": "0", "TIDEMARK_STALE_AFTER_MS": "86400000", "TIDEMARK_CLOCK_SKEW_S": "3153600000"}
        self.process = subprocess.Popen([BIN / "tidemark-api", "--api-listen", "127.0.0.1:0", "--api-port-file", port, "--api-cache", DIR / "cache",
                                         "--api-threads", "2", *options], env=env, stderr=self.log.open("w"))
        self.until(lambda: port.exists() and port.read_text().endswith("\n"), "no port")
        self.port = int(port.read_text())

    def check(self, condition, what):
        if not condition:
            raise AssertionError(f"{self.name}: {what}\n{self.log.read_text()[-1500:]}")

    def until(self, true, what):
        end = steady() + LONGEST
        while not true():
            self.check(steady() < end, what)
            time.sleep(0.05)

    def said(self, *words):
        return any(all(word in line for word in words) for line in self.log.read_text().splitlines())

    def ask(self, path="/healthz"):
        """Status and body, None if the connection is one of the lost thread's."""
        c = http.client.HTTPConnection("127.0.0.1", self.port, timeout=0.5)
        try:
            c.request("GET", path)
            answer = c.getresponse()
            return answer.status, answer.read()
        except OSError:
            return None
        except http.client.HTTPException:
            return None
        finally:
            c.close()

    def lose(self):
        """Connections that both threads have, each within a request; then one thread is taken."""
        held = [socket.create_connection(("127.0.0.1", self.port), timeout=LONGEST) for _ in range(16)]
        for s in held:
            s.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
            self.check(s.recv(65536).startswith(b"HTTP/1.1 200"), "not alive at first")
            s.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n")
        self.trigger.touch()
        return held

    def ends(self, code):
        try:
            got = self.process.wait(LONGEST)
        except subprocess.TimeoutExpired:
            self.check(False, "it does not end")
        self.check(got == code, f"exit code {got}, {code} wanted")


def lost(name, kind):
    """Found, cut, unhealthy, ended."""
    api = Api(name, kind, "--api-drain-ms", "8000", "--api-idle-ms", "180000")
    held = api.lose()
    api.until(lambda: api.said("server.stalled"), "not found")
    api.until(lambda: (api.ask() or (0,))[0] == 503, "/healthz does not say it")
    ready = api.ask("/readyz")
    api.check(ready is None or (ready[0] == 503 and b'"stalled"' in ready[1]), f"/readyz: {ready}")
    api.check(api.said("server.stalled", "action=stop"), "not logged by the watch")
    # The main thread logs it when it next looks at what the watch found, and /healthz can say 503 before.
    api.until(lambda: api.said("api.stalled", "thread=server"), "not logged by the main thread")
    api.ends(STALLED)
    for s in held:
        s.close()


def freed(name, kind):
    """Its connections are cut, and that helps: the program goes on."""
    api = Api(name, kind, "--api-drain-ms", "0", "--api-idle-ms", "180000")
    held = api.lose()
    api.until(lambda: api.said("server.stalled", "action=cut"), "not found")
    api.until(lambda: all(api.ask() for _ in range(20)), "a thread is lost")
    api.check(not api.said("action=stop"), "it is to stop")
    api.process.send_signal(signal.SIGTERM)
    api.ends(0)
    for s in held:
        s.close()


def stopped(name, kind):
    """SIGTERM does not wait for the thread."""
    api = Api(name, kind, "--api-drain-ms", "0", "--api-idle-ms", "180000")
    held = api.lose()
    time.sleep(0.5)
    start = steady()
    api.process.send_signal(signal.SIGTERM)
    api.ends(STALLED)
    api.check(steady() - start < 25, f"the stop took {steady() - start:.1f} s")
    for s in held:
        s.close()


def kept(name, kind):
    """The thread turns and serves no connection: connections that were cut stay, until the program ends."""
    api = Api(name, kind, "--api-drain-ms", "0", "--api-idle-ms", "3000")
    held = api.lose()
    api.until(lambda: api.said("server.stalled", "action=stop", "kept="), "not found")
    api.ends(STALLED)
    for s in held:
        s.close()


def paused(name, kind):
    """A machine that stood still is no reason."""
    api = Api(name, kind, "--api-drain-ms", "0")
    api.ask()
    api.process.send_signal(signal.SIGSTOP)
    time.sleep(12)
    api.process.send_signal(signal.SIGCONT)
    api.until(lambda: api.ask(), "no answer")
    time.sleep(2)
    api.check(not api.said("server.stalled"), "stalled after a pause")
    api.process.send_signal(signal.SIGTERM)
    api.ends(0)


def run(what, name, kind):
    try:
        what(name, kind)
        print("ok", name, flush=True)
    except (AssertionError, OSError) as e:
        failures.append(name)
        print("FAIL:", e, flush=True)


threads = [threading.Thread(target=run, args=args) for args in (
    (lost, "a call that spins", "spin"), (lost, "a call that sleeps", "sleep"), (lost, "turns without an effect", "turn"),
    (freed, "freed by the cut", "free"), (stopped, "stopped while a call spins", "spin"), (kept, "connections that stay", "keep"),
    (paused, "a pause", "none"))]
for t in threads:
    t.start()
for t in threads:
    t.join()
sys.exit(bool(failures))
