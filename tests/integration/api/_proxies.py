"""usage: _proxies.py NAME PORT CERTIFICATE [long]   clients of the proxy at PORT, over TLS.

At first what each proxy must do. With long also hostile clients and an innocent one: the ordinary client asks
continuously, on kept and on new connections, and must get 200 each time. The hostile clients send, on their own
connections, input that once cost other clients their answers. Each of their well-formed requests must get a status of
the API.
"""
import concurrent.futures
import http.client
import random
import re
import select
import socket
import ssl
import struct
import subprocess
import sys
import threading
import time

from _steady import steady

NAME, PORT, CERTIFICATE, LONG = sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4:] == ["long"]
HOST = "api.example.org"
CONTEXT = ssl.create_default_context(cafile=CERTIFICATE)
CUT = (ConnectionError, ssl.SSLEOFError)  # it takes no more; what it said before can be read
ADDRESS = "GA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVSGZ"
STATUS = "/api/sdk/kyc/status"
ROUNDS, AT_ONCE = 12, 4  # of each kind
FAILURES = 8  # kinds; then it ends
KIB = 1 << 10
SILENT, SOON_S, STREAM_S = 150, 5, 20
NET = {"caddy": "127.1.1", "nginx": "127.1.2", "haproxy": "127.1.3"}[NAME]  # clients of this proxy that count by themselves


def connect(source=None):
    s = socket.create_connection(("127.0.0.1", PORT), timeout=20, source_address=source and (source, 0))
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return CONTEXT.wrap_socket(s, server_hostname=HOST)


class Connection(http.client.HTTPConnection):
    def __init__(self, source=None):
        super().__init__(HOST, PORT, timeout=20)
        self.source = source

    def connect(self):
        self.sock = connect(self.source)


def ask(path, body=None, headers=None, source=None):
    """(status, headers) of one request on a connection of its own."""
    connection = Connection(source)
    try:
        connection.request("POST" if body else "GET", path, body, {"Content-Type": "application/json", **(headers or {})} if body else headers or {})
    except CUT:
        pass
    answer = connection.getresponse()
    answer.read()
    connection.close()
    return answer.status, answer.headers


def fail(what):
    print(f"FAIL {NAME}: {what}", flush=True)
    sys.exit(1)


# --- what each proxy must do --------------------------------------------------------------------------------


def hello():
    """The first message of a TLS client."""
    outgoing = ssl.MemoryBIO()
    try:
        CONTEXT.wrap_bio(ssl.MemoryBIO(), outgoing, server_hostname=HOST).do_handshake()
    except ssl.SSLWantReadError:
        pass
    return outgoing.read()


def silent():
    """Connections that never finish their handshake: without a byte, in a record's head, in the middle of the first message."""
    greeting, held = hello(), []
    for i in range(SILENT):
        s = socket.create_connection(("127.0.0.1", PORT), timeout=20)
        s.sendall(greeting[:(0, 3, len(greeting) // 2)[i % 3]])
        held.append(s)
    return held


def others_are_answered():
    for _ in range(20):
        start = steady()
        status, headers = ask(f"{STATUS}/{ADDRESS}")
        if status != 200 or steady() - start > SOON_S:
            fail(f"beside {SILENT} silent TLS clients: {status} after {steady() - start:.1f} s")
    if not headers["Strict-Transport-Security"]:
        fail("an answer without Strict-Transport-Security")


def closed(held):
    """The proxy ends them: its own limit of time, of 30 s with HAProxy and 10 s with the others."""
    start = steady()
    for s in held:
        s.settimeout(60)
        try:
            while s.recv(1 << 12):
                pass
        except CUT:
            pass
        except TimeoutError:
            fail(f"a silent TLS client is still connected after {steady() - start:.0f} s")


def curl(version, path, source):
    return subprocess.Popen(["curl", "-sN", "--interface", source, f"--http{version}", "--cacert", CERTIFICATE, "--resolve", f"{HOST}:{PORT}:127.0.0.1",
                             "-w", "version=%{http_version}\n", f"https://{HOST}:{PORT}{path}"], stdout=subprocess.PIPE)


def speaks_both_versions():
    for version in ("2", "1.1"):
        said = curl(version, "/healthz", "127.0.0.1").communicate(timeout=30)[0]
        if not said.endswith(b"version=%s\n" % version.encode()):
            fail(f"asked for HTTP/{version}: {said[-100:]}")


def stream_flows(version, source):
    """The first message, and then comments one by one: a proxy that waits until a buffer is full gives none of them."""
    process, got, start = curl(version, "/api/stream", source), b"", steady()
    while got.count(b"\n:") < 3 or b"event: open" not in got:
        if steady() - start > STREAM_S or process.poll() is not None:
            fail(f"HTTP/{version}: a stream gave in {steady() - start:.0f} s: {got[:300]}")
        if select.select([process.stdout], [], [], 0.5)[0]:
            got += process.stdout.read1(1 << 16)
    process.kill()
    process.communicate()


def counts_clients(mine, neighbour):
    """A client's quota of queries is spent whatever it says in X-Forwarded-For. Another client has its own."""
    for i in range(60):
        status, _ = ask("/api/ledgers?limit=1", headers={"X-Forwarded-For": f"203.0.113.{i}"}, source=mine)
        if status == 429:
            break
        if status != 200:
            fail(f"/api/ledgers: {status}")
    else:
        fail("a client with forged addresses has no limit of queries")
    if (status := ask("/api/ledgers?limit=1", source=neighbour)[0]) != 200:
        fail(f"a client whose neighbour spent his quota gets {status}")


def limits_bodies():
    """The API answers what it reads (with its Request-Id), the proxy refuses the rest."""
    for path, size, passes in ((STATUS, 200 * KIB, True), (STATUS, 300 * KIB, False), ("/api/kyc/webhook/didit", 1000 * KIB, True), ("/api/kyc/webhook/didit", 1025 * KIB, False)):
        status, headers = ask(path, b"x" * size)
        if passes != bool(headers["Request-Id"]) or (status == 413) != (path == STATUS or not passes):
            fail(f"{size // KIB} KiB to {path}: {status}, Request-Id {headers['Request-Id']}")


def duties():
    held = silent()
    others_are_answered()
    speaks_both_versions()
    stream_flows("2", f"{NET}.1")
    stream_flows("1.1", f"{NET}.2")
    counts_clients(f"{NET}.3", f"{NET}.4")
    limits_bodies()
    if LONG:
        closed(held)
    for s in held:
        s.close()
    print(f"ok {NAME}: TLS, HTTP/2, streams, addresses, bodies, {SILENT} silent clients", flush=True)


class Innocent(threading.Thread):
    """Asks for look-ups until it is told to stop."""

    def __init__(self, keeps):
        super().__init__(daemon=True)
        self.keeps, self.asked, self.failed, self.over, self.connection = keeps, 0, [], False, None

    def ask(self):
        if not self.connection:
            self.connection = Connection()
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
    return f"GET {target} HTTP/1.1\r\nHost: api.example.org\r\n{lines}\r\n".encode()


def post(size, target=STATUS, lines="", kind="application/json"):
    return f"POST {target} HTTP/1.1\r\nHost: api.example.org\r\nContent-Type: {kind}\r\nContent-Length: {size}\r\n{lines}\r\n".encode() + b"x" * size


def chunks(size, target=STATUS, part=16 * KIB, extension=b""):
    body = (b"%x%s\r\n" % (part, extension) + b"x" * part + b"\r\n") * (size // part)
    return f"POST {target} HTTP/1.1\r\nHost: api.example.org\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n".encode() + body + b"0\r\n\r\n"


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
    "+16": f"POST {STATUS} HTTP/1.1\r\nHost: api.example.org\r\nContent-Length: +16\r\n\r\n".encode() + b"x" * 16,
    "a length and chunks": post(5, lines="Transfer-Encoding: chunked\r\n"),
    "no Host": b"GET /healthz HTTP/1.1\r\n\r\n",
    "bad chunks": f"POST {STATUS} HTTP/1.1\r\nHost: api.example.org\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n".encode(),
    "folded": get("/healthz", "X: a\r\n b\r\n"),
}
if NAME == "caddy":  # a line of chunks has at most 4 KiB there; a longer one gets 411 or 502, as the node or Caddy is first
    BAD["a chunk extension"] = GOOD.pop("a chunk extension")
LENGTHY = ["a head of 7 KiB", f"100 KiB to {STATUS}", f"300 KiB in chunks to {STATUS}", "10240 KiB to /nowhere"]  # slow, and aborted


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
    s = connect()
    try:
        if how == "aborted":
            s.sendall(raw[:random.randrange(1, len(raw))])
            if random.random() < 0.5:
                s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            return how
        try:
            send(s, raw, how)
        except CUT:
            pass
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


def hostile_ones():
    innocents = [Innocent(True), Innocent(False)]
    for one in innocents:
        one.start()
    plan = [(name, raw, "whole") for name, raw in {**GOOD, **BAD}.items()]
    plan += [(name, GOOD[name], how) for how in ("slow", "aborted") for name in LENGTHY]
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
    return good


duties()
sys.exit(0 if not LONG or hostile_ones() else 1)
