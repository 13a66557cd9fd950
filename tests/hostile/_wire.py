"""usage: _wire.py PORT PID --seed N [CASE] | --seeds FROM COUNT | --seeds N,N,… | --seconds S   (tests/hostile/wire starts the server)

A seed is a batch of connections at once (_wire_make.py). What is sure has an answer. After each batch new connections to each
thread are answered, the connections' sockets are closed, and each thread's CPU time stands still. At the end SIGTERM ends the
process while hostile connections are open. With CASE, only that connection of the batch is made.
"""
import concurrent.futures
import os
import pathlib
import random
import re
import resource
import select
import signal
import socket
import struct
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "integration"))
from _steady import steady  # noqa: E402

from _http import Failure, check, random_or_fixed, take_answer  # noqa: E402
from _wire_make import Maker, constant, known  # noqa: E402

PORT, PID = int(sys.argv[1]), int(sys.argv[2])
SERVER_MS = 2000  # the deadlines that tests/hostile/wire sets: of a head, a request, idleness; an answer has an hour, so that a busy machine cuts none
SURE_S = 1.3  # what took longer to send may have met one of them
STOOD_S = 0.4  # a machine that stood still for longer may have let a deadline pass
STOP_S = constant("api/http/server/server.h", "TIDE_SERVER_STOP_MS") / 1000 + 8
CASES, THREADS = 80, 80
GROWTH_KIB = 32 << 10
PROC = pathlib.Path(f"/proc/{PID}")

# --- a connection --------------------------------------------------------------------------------------


class Line:
    """A connection. got: what came; ended: nothing more comes."""

    def __init__(self):
        self.s = socket.create_connection(("127.0.0.1", PORT), timeout=10)
        self.s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.s.setblocking(False)
        self.poll = select.poll()
        self.got, self.out, self.ended = b"", b"", False

    def receive(self):
        try:
            data = self.s.recv(1 << 16)
        except BlockingIOError:
            return
        except ConnectionError:
            data = b""
        self.ended |= not data
        self.got += data

    def send(self, size):
        try:
            self.out = self.out[self.s.send(self.out[:size]):]
        except BlockingIOError:
            pass
        except ConnectionError:  # it takes no more; what it said before can be read
            self.out = b""

    def turn(self, writing, timeout, size=1 << 20):
        """Waits until the connection can be read, or written where that is wanted, and does both."""
        self.poll.register(self.s, select.POLLIN | (select.POLLOUT if writing else 0))
        found = dict(self.poll.poll(timeout * 1000)).get(self.s.fileno(), 0)
        if found & ~select.POLLOUT:
            self.receive()
        if writing and found & select.POLLOUT:
            self.send(size)

    def put(self, raw, size=0, pause=0.0):
        """In pieces of that size. Reads what comes meanwhile."""
        self.out += raw
        left, start = len(self.out), steady()
        while self.out and not self.ended and steady() - start < 10:
            self.turn(True, 1, size or 1 << 20)
            if pause and len(self.out) < left:
                left = len(self.out)
                time.sleep(pause)

    def end(self):
        """Nothing more is sent; answers can come."""
        try:
            self.s.shutdown(socket.SHUT_WR)
        except OSError:
            self.ended = True

    def close(self, reset=False):
        if reset:
            self.s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.s.close()


def ask(path):
    """One answer on a connection of its own."""
    line = Line()
    try:
        line.put(b"GET %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n" % path)
        start = steady()
        while not line.ended and steady() - start < 10:
            line.turn(False, 0.5)
        return line.got
    finally:
        line.close()


# --- the process ---------------------------------------------------------------------------------------


def sockets():
    """Inodes of its TCP sockets."""
    found = set()
    for fd in PROC.joinpath("fd").iterdir():
        try:
            found |= set(re.findall(r"^socket:\[(\d+)\]", os.readlink(fd)))
        except FileNotFoundError:
            pass
    unix = {row.split()[6] for row in open("/proc/net/unix").readlines()[1:]}
    return found - unix


def ran():
    """(nanoseconds on a processor, nanoseconds ready for one) of each thread."""
    found = {}
    for task in PROC.joinpath("task").iterdir():
        try:
            found[task.name] = tuple(int(n) for n in task.joinpath("schedstat").read_text().split()[:2])
        except (FileNotFoundError, ProcessLookupError):
            pass
    return found


def busy(windows):
    """Returns two shares of the busiest thread, each the least of some windows: of a processor, and of the time in which it ran or was ready to. On a loaded
    machine only the second shows a thread that spins."""
    cpu_least, ready_least = 1.0, 1.0
    for _ in range(windows):
        before, start = ran(), time.monotonic()
        time.sleep(0.3)
        after, took = ran(), (time.monotonic() - start) * 1e9
        each = [((cpu - before[t][0]) / took, (cpu + wait - sum(before[t])) / took) for t, (cpu, wait) in after.items() if t in before]
        cpu_least, ready_least = min(cpu_least, max(share[0] for share in each)), min(ready_least, max(share[1] for share in each))
        if cpu_least < 0.05 and ready_least < 0.5:
            break
    return cpu_least, ready_least


def rss_kib():
    return int(re.search(r"VmRSS:\s+(\d+)", PROC.joinpath("status").read_text())[1])


def sanitized():
    """Sanitizers keep what is freed."""
    return re.search(r"lib[atu]san|libclang_rt", PROC.joinpath("maps").read_text()) is not None


def idle(when):
    cpu, ready = busy(8)
    check(cpu < 0.1 and ready < 0.9, f"{when}: a thread uses {cpu:.0%} of a processor and wants {ready:.0%} of the time")


def answered():
    """New connections, so many that each thread has one (two threads: but for one time in 30 000), are answered."""
    check(PROC.exists(), "the process is gone")
    for _ in range(16):
        start, got = steady(), ask(b"/healthz")
        check(got.startswith(b"HTTP/1.1 200"), f"/healthz: {got[:200]} after {steady() - start:.1f} s")


def freed(before):
    start = steady()
    while left := sockets() - before:
        if steady() - start > 2 * SERVER_MS / 1000 + 8:
            states = [row.split() for row in open("/proc/net/tcp").readlines()[1:]]
            states = ["CLOSE_WAIT" if row[3] == "08" else f"state {row[3]}" for row in states if row[9] in left] or ["no connection"]
            raise Failure(f"{len(left)} sockets are left ({', '.join(states)}); a thread's share of a processor, and of the time: %.2f, %.2f" % busy(3))
        time.sleep(0.05)


def stopped():
    """SIGTERM, in time. The shell that started it asks for its status."""
    os.kill(PID, signal.SIGTERM)
    start = steady()
    while steady() - start < STOP_S:
        try:
            if PROC.joinpath("stat").read_text().rsplit(")", 1)[1].split()[0] == "Z":
                return True
        except (FileNotFoundError, ProcessLookupError):
            return True
        time.sleep(0.05)
    return False


# --- a case --------------------------------------------------------------------------------------------


def read_answers(line, case, sure):
    """Takes the answers, in order. The first of a request that is not sure ends it, however it ends."""
    count, start = 0, steady()
    for request in case.requests:
        while not (found := take_answer(line.got, request.head)) and not line.ended:
            check(steady() - start < 4 * SERVER_MS / 1000 + 4, f"neither an answer nor an end, to request {count + 1}; {line.got[:200]}")
            line.turn(False, 0.5)
        if not found:
            check(not (sure and request.sure), f"closed without an answer to request {count + 1}; {len(line.got)} bytes came: {line.got[:300]}")
            return count
        count += 1
        line.got = found.rest
        check(not sure or not request.sure or (found.status != 408 and found.status < 500) or found.status in (501, 503, 505), f"{found.status} to request {count}")
        unread = request.head and not (sure and request.sure)  # of a head that the library did not read to its end the server does not know the method: HEAD gets a body too
        check(not found.closes or not found.ours or not found.rest or unread, f"bytes behind the last answer ({found.status}): {found.rest[:300]}")
        if found.closes or found.chunked or not request.sure:
            return count
    check(not line.got, f"more answers than requests: {line.got[:300]}")
    return count


def play(case, held):
    """Returns (sure requests, answers). held takes the connection if it stays open."""
    start = time.monotonic()
    line = Line()
    try:
        line.put(case.bytes(), case.size, case.pause)
        took = time.monotonic() - start
        if case.end in ("wait", "half"):
            if case.end == "half":
                line.end()
            # "Expect" and half-closed: tests/hostile/_client.py.
            sure = took < SURE_S and case.cut is None and not (case.end == "half" and case.kind == "expect")
            return sum(request.sure for request in case.requests) * sure, read_answers(line, case, sure)
        time.sleep(case.delay)
        if case.end == "stay":
            held.append(line)
            return 0, 0
        line.close(case.end == "reset")
        return 0, 0
    finally:
        if line not in held:
            line.close()


def batch(seed, only=None):
    """Plays the cases of a seed; returns (connections, sure requests, answers)."""
    rng = random.Random(seed)
    maker = Maker(rng)
    cases = [maker.case() for _ in range(CASES)]
    if seed % 4 == 0:
        cases = cases[:10] + maker.cuts()
    if seed == 0:
        cases = known()
    numbered = [(i, case) for i, case in enumerate(cases) if only is None or i == only]
    before, held, figures, wrong = sockets(), [], [], []

    def one(i, case):
        start, ran_for = time.monotonic(), steady()
        try:
            figures.append(play(case, held))
        except Failure as why:
            stood = time.monotonic() - start - (steady() - ran_for)
            if stood > STOOD_S:  # the server's deadlines pass while the machine stands still: nothing is known of the case
                print(f"case {i} of seed {seed} is not judged: the machine stood still for {stood:.1f} s", flush=True)
                return
            wrong.append(f"case {i}: {why}\n    {case}")

    with concurrent.futures.ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(lambda numbered: one(*numbered), numbered))
    try:
        if held:
            idle(f"{len(held)} connections are open")
        answered()
        for line in held:
            line.close()
        freed(before)
        idle("nothing is asked")
    except Failure as why:
        wrong.insert(0, str(why))
        wrong += [] if wrong[1:] else [f"case {i}: {case}" for i, case in numbered]
    check(not wrong, "\n  ".join(wrong[:CASES + 1]))
    return len(numbered), sum(f[0] for f in figures), sum(f[1] for f in figures)


def leave_open(seed):
    """Connections in odd states, for the stop."""
    maker, lines = Maker(random.Random(seed)), []
    for _ in range(20):
        case = maker.case()
        line = Line()
        line.put(case.bytes()[:maker.r.choice([case.cut, None, maker.r.randrange(400)])])
        lines.append(line)
    return lines


def main():
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 4096), hard))
    options = sys.argv[3:]
    only = int(options.pop()) if options[0] == "--seed" and len(options) == 3 else None
    seed, warm, count, figures, code = None, None, 0, [0, 0, 0], 0
    answered()
    try:
        for seed in random_or_fixed(options):
            figures = [a + b for a, b in zip(figures, batch(seed, only))]
            count += 1
            if count == 5:
                warm = rss_kib()
        check(warm is None or sanitized() or rss_kib() - warm < GROWTH_KIB, f"resident memory: {warm} KiB when warm, {rss_kib()} KiB now")
        held = leave_open(seed or 0)
    except (Failure, OSError) as why:
        print(f"FAIL: seed {seed}: {why}", flush=True)
        code = 1
    if not stopped():
        print(f"FAIL: seed {seed}: SIGTERM did not end it within {STOP_S:.0f} s; a thread's share of a processor, and of the time: %.2f, %.2f" % busy(3), flush=True)
        code = 1
    print(f"{count} seeds, {figures[0]} connections, {figures[1]} sure requests, {figures[2]} answers", flush=True)
    sys.exit(code)


main()
