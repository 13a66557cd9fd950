"""usage: _proxies.py NAME PORT   hostile clients and an innocent one, through the proxy at PORT.

The ordinary client asks continuously, on kept and on new connections, and must get 200 each time. The hostile
clients send, on their own connections, input that once cost other clients their answers. Each of their well-formed
requests must get a status of the API.
"""
import concurrent.futures
import http.client
import random
import re
import socket
import struct
import sys
import threading
import time

from _steady import steady

NAME, PORT = sys.argv[1], int(sys.argv[2])
ADDRESS = "GA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVSGZ"
STATUS = "/api/sdk/kyc/status"
ROUNDS, AT_ONCE = 12, 4  # of each kind
FAILURES = 8  # kinds; then it ends
KIB = 1 << 10


class Innocent(threading.Thread):
    """Asks for look-ups until it is told to stop."""

    def __init__(self, keeps):
        super().__init__(daemon=True)
        self.keeps, self.asked, self.failed, self.over, self.connection = keeps, 0, [], False, None

    def ask(self):
        if not self.connection:
            self.connection = http.client.HTTPConnection("127.0.0.1", PORT, timeout=20)
        if self.asked % 3:
            self.connection.request("GET", f"{STATUS}/{ADDRESS}" if self.asked % 3 == 1 else "/api/prices")
        else:
            self.connection.request("POST", STATUS, f'{{"addresses":["{ADDRESS}"]}}', {"Content-Type": "application/json"})
        answer = self.connection.getresponse()
        answer.read()
        if not self.keeps or answer.will_close:
            self.connection.close()
            self.connection = None
        return answer.status

    def run(self):
        while not self.over:  # until the attacks end
            self.asked += 1
            try:
                status = self.ask()
                if status != 200:
                    self.failed.append(str(status))
            except (OSError, http.client.HTTPException) as why:
                self.failed.append(type(why).__name__)
                self.connection = None
            time.sleep(0.005)


# --- what the hostile ones send, by name ----------------------------------------------------------------


def get(target, lines=""):
    return f"GET {target} HTTP/1.1\r\nHost: x\r\n{lines}\r\n".encode()


def post(size, target=STATUS, lines="", kind="application/json"):
    return f"POST {target} HTTP/1.1\r\nHost: x\r\nContent-Type: {kind}\r\nContent-Length: {size}\r\n{lines}\r\n".encode() + b"x" * size


def chunks(size, target=STATUS, part=16 * KIB, extension=b""):
    body = (b"%x%s\r\n" % (part, extension) + b"x" * part + b"\r\n") * (size // part)
    return f"POST {target} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n".encode() + body + b"0\r\n\r\n"


GOOD = {
    "240 empty pairs": get("/healthz?" + "&".join("a" * 240)),
    "240 pairs": get("/api/prices?" + "&".join(["a=b"] * 240)),
    "240 cookies": get("/healthz", "Cookie: " + "; ".join(["a"] * 240) + "\r\n"),
    "90 lines": get("/healthz", "".join(f"X{i}: y\r\n" for i in range(90))),  # HAProxy takes 101
    "a head of 7 KiB": get("/healthz", f"X: {'x' * 7000}\r\n"),
    "a head of 14 KiB": get("/healthz", "".join(f"X{i}: {'x' * 7000}\r\n" for i in range(2))),
    "a target of 7 KiB": get("/healthz?" + "a" * 7000),
    "a chunk extension": chunks(64, part=64, extension=b";" + b"a" * 6000),
}
for path in (STATUS, "/healthz", "/nowhere"):
    for amount in (100 * KIB, 300 * KIB, 900 * KIB, 10 << 20):
        GOOD[f"{amount // KIB} KiB to {path}"] = post(amount, path)
        GOOD[f"{amount // KIB} KiB in chunks to {path}"] = chunks(amount, path)
GOOD["300 KiB after Expect"] = post(300 * KIB, lines="Expect: 100-continue\r\n")
GOOD["300 KiB of another type"] = post(300 * KIB, kind="text/plain")
BAD = {  # the proxy refuses some
    "a head of 30 KiB": get("/healthz", "".join(f"X{i}: {'x' * 7400}\r\n" for i in range(4))),
    "200 lines": get("/healthz", "".join(f"X{i}: y\r\n" for i in range(200))),
    "two lengths": post(5, lines="Content-Length: 6\r\n"),
    "+16": f"POST {STATUS} HTTP/1.1\r\nHost: x\r\nContent-Length: +16\r\n\r\n".encode() + b"x" * 16,
    "a length and chunks": post(5, lines="Transfer-Encoding: chunked\r\n"),
    "no Host": b"GET /healthz HTTP/1.1\r\n\r\n",
    "bad chunks": f"POST {STATUS} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n".encode(),
    "folded": get("/healthz", "X: a\r\n b\r\n"),
}
LONG = ["a head of 7 KiB", f"100 KiB to {STATUS}", f"300 KiB in chunks to {STATUS}", "10240 KiB to /nowhere"]  # slow, and aborted


def send(s, raw, how):
    if how != "slow":
        s.sendall(raw)
        return
    pause = random.choice([0.05, 0.5])  # the second is slower than the server's patience
    for at in range(0, len(raw), len(raw) // 10 + 1):
        s.sendall(raw[at:at + len(raw) // 10 + 1])
        time.sleep(pause)


def hostile(raw, how):
    """Sends it whole, slow, or only a part of it. Returns the status, or what came instead."""
    s = socket.create_connection(("127.0.0.1", PORT), timeout=20)
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    try:
        if how == "aborted":
            s.sendall(raw[:random.randrange(1, len(raw))])
            if random.random() < 0.5:
                s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            return how
        try:
            send(s, raw, how)
        except ConnectionError:
            pass  # what was said before can be read
        got = b""
        while b"\r\n\r\n" not in got.removeprefix(b"HTTP/1.1 100 Continue\r\n\r\n") and (part := s.recv(1 << 16)):
            got += part
        status = re.match(rb"(?:HTTP/1.1 100 Continue\r\n\r\n)?HTTP/1\.[01] (\d{3})", got)
        return int(status[1]) if status else "no answer"
    except OSError as why:
        return type(why).__name__
    finally:
        s.close()


def recovered(innocents):
    """Waits until the innocent ones are answered, so that one kind's effect is not taken for the next one's."""
    start, good = steady(), 0
    while good < 10 and steady() - start < 30:
        before = sum(len(one.failed) for one in innocents), sum(one.asked for one in innocents)
        time.sleep(0.02)
        after = sum(len(one.failed) for one in innocents), sum(one.asked for one in innocents)
        good = 0 if after[0] > before[0] else good + (after[1] > before[1])


def attack(name, raw, how, innocents):
    """One kind, some at once, while the innocent ones ask. Returns (innocent requests that failed, hostile requests without an answer of ours, hostile requests)."""
    def figures():
        return sum(one.asked for one in innocents), sum(len(one.failed) for one in innocents)

    before, start = figures(), steady()
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        said = list(pool.map(lambda _: hostile(raw, how), range(ROUNDS)))
    while figures()[0] - before[0] < 30 and steady() - start < 20:
        time.sleep(0.01)  # after it, too
    asked, failed = (now - then for now, then in zip(figures(), before))
    # A well-formed request has an answer of the API, so none of the proxy's 502, 503 and 504.
    silent = [one for one in said if not isinstance(one, int) or one in (502, 503, 504)] if how == "whole" and name in GOOD else []
    if failed or silent:
        kinds = sorted({kind for one in innocents for kind in one.failed[-failed:]}) if failed else []
        print(f"  {NAME}, {name}, {how}: {failed} of {asked} innocent requests failed {' '.join(kinds)}; "
              f"{len(silent)} of {len(said)} hostile ones got no answer of ours {' '.join(sorted(set(map(str, said))))}", flush=True)
    return failed, len(silent), len(said)


def main():
    innocents = [Innocent(True), Innocent(False)]
    for one in innocents:
        one.start()
    plan = [(name, raw, "whole") for name, raw in {**GOOD, **BAD}.items()]
    plan += [(name, GOOD[name], how) for how in ("slow", "aborted") for name in LONG]
    figures = []
    while plan and sum(bool(each[0] or each[1]) for each in figures) < FAILURES:
        recovered(innocents)
        figures.append(attack(*plan.pop(0), innocents))
    silent, sent = sum(each[1] for each in figures), sum(each[2] for each in figures)
    for one in innocents:
        one.over = True
    for one in innocents:
        one.join(30)
    asked, failed = sum(one.asked for one in innocents), sum(len(one.failed) for one in innocents)
    good = not failed and not silent and asked > 200
    print(f"{'ok' if good else 'FAIL'} {NAME}: {failed} of {asked} innocent requests failed; {silent} of {sent} hostile ones got no answer of ours", flush=True)
    sys.exit(0 if good else 1)


main()
