"""usage: _client.py PORT PID KEYS --seed N | --seeds FROM COUNT | --seconds S   (tests/hostile/client starts the server)

A seed is a batch: some connections at once, each a sequence of requests that its own generator makes. What is well formed
must be answered in order; the rest may be refused or cut. After each batch a new connection to each worker is answered
within a second; after some, when the connections are gone, the process must be idle and as large as before.
"""
import collections
import http.client
import json
import os
import pathlib
import random
import re
import resource
import select
import socket
import struct
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "integration"))
from _steady import steady  # noqa: E402

from _http import Failure, check, random_or_fixed, take_answer  # noqa: E402

PORT, PID = int(sys.argv[1]), int(sys.argv[2])
KEYS = dict(line.split() for line in open(sys.argv[3], encoding="ascii"))  # good, narrow, …: an integrator's
ROOT = pathlib.Path(__file__).resolve().parents[2]
ADDRESS = "GA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVSGZ"
HEAD_MAX, LINES_MAX, TARGET_MAX, PAIRS_MAX = 6144, 48, 2048, 64  # api/http/README.md, "What the server refuses"
GROWTH_KIB = 32 << 10  # of resident memory over the process as it was when warm
VALUES = ["", "0", "1", "-1", "200", "201", "1030", "1087", "4294967295", "18446744073709551616", "XLM", "XLMUSDC", ADDRESS, "C" + "A" * 55,
          "M" + "A" * 68, "a" * 64, "0" * 64, "true", "desc", "%00", "%ff", "%", "%2e%2e", "..", "a" * 300, "null", "%5cu0000", "AAAA", "*"]
BODIES = [b"", b"{}", b"[]", b"null", b'{"addresses":[]}', b'{"addresses":[null]}', b'{"addresses":["%s"]}' % ADDRESS.encode(), b'{"addresses":["\\u0000"]}',
          b'{"addresses":[{"a":1}]}', b'{"a":1,"a":2}', b"\xff\xfe", b"\0", b"[" * 2000, b'{"addresses":[' + b",".join([b'"%s"' % ADDRESS.encode()] * 200) + b"]}"]


EVENTS = ["kyc.session.updated", "compliance.updated", "price.stale", "price.fresh", "market.listed", "proposal.queued", "proposal.executed"]
ODD = [None, True, False, 0, 1, -1, 2592001, 10 ** 30, 1.5, "", "x", "\0", "\ud800", "{", '","', ADDRESS, [], [None], {}, {"a": 1}, "a" * 5000]
URLS = ["https://a.example/hooks", "https://a.example:8443/?a=b", "https://a.example:22/", "http://a.example/", "https://127.0.0.1/", "https://[::1]/", "https://localhost/",
        "https://user@a.example/", "https://a.example\\@10.0.0.1/", "https://" + "a" * 1100, "https://a.example/\n", "ftp://a.example/", "https://2130706433/"]


def hook_body(r, path):
    """A body for that route: mostly of its own form, else of one of the routes of webhooks: good, or with members that are odd, absent, foreign or repeated."""
    addresses = [r.choice([ADDRESS, "C" + "A" * 55, "M" + "A" * 68, ADDRESS[:-1], ""]) for _ in range(r.choice([0, 1, 2, 200, 201]))]
    forms = {"/webhooks": {"url": r.choice([*URLS[:2] * 6, *URLS]), "events": r.sample(EVENTS, r.randint(0, 7))}, "Id}": {"enabled": r.choice([True, False])}, "": {"url": r.choice(URLS)},
             "/secret": {"overlapSeconds": r.choice([0, 60, 2592000, 2592001]), "secretRevision": r.choice([0, 1, 1, 2, 3, 999999, 1000000])},
             "/addresses": {"add": addresses}, "remove": {"remove": addresses, "add": []}}
    own = next((form for end, form in forms.items() if end and path.endswith(end)), {})
    body = dict(own if r.random() < 0.7 else r.choice(list(forms.values())))
    for _ in range(r.choice([0, 0, 0, 1, 2])):
        body[r.choice([*body, "events", "url", "x", "add", "secretRevision"])] = r.choice([*ODD, EVENTS * 2, EVENTS + ["x"]])
    text = json.dumps(body)
    if r.random() < 0.1:
        text = r.choice([text[:-1], text + text, text.replace("{", '{"url":"https://a.example/",', 1), "[" + text + "]", text.replace('"', "'")])
    return text.encode(errors="replace")


def routes():
    """(method, path, names of the query, most bytes of a body, cost) of each line of route.def."""
    text = (ROOT / "api/routes/route.def").read_text()
    found = []
    for method, path, cost, size, query in re.findall(r'TIDE_ROUTE\(\w+,\s*(\w+),\s*"([^"]+)",\s*\w+,\s*(\d+),\s*(\d+),\s*"[^"]*",\s*"([^"]*)"', text):
        found.append((method, path, query.replace("!", "").split(), int(size), int(cost)))
    for path, cost, query in re.findall(r'TIDE_QUERY\(\w+,\s*"([^"]+)",\s*(\d+),\s*"[^"]*",\s*"([^"]*)"', text):
        found.append(("GET", path, query.replace("!", "").split(), 0, int(cost)))
    assert len(found) > 60, len(found)
    return found


ROUTES = routes()
SCOPED = [route for route in ROUTES if re.fullmatch(r"/api/sdk/(snapshot(/changes)?|kyc/session(/\{sessionId\})?)", route[1])]
assert len(SCOPED) == 4, SCOPED
WEBHOOKS = "/api/sdk/webhooks"
ON_HOOKS = [route for route in ROUTES if route[1].startswith(WEBHOOKS)]
assert len(ON_HOOKS) == 11, ON_HOOKS
NO_KEYS = ["cut", "long", "other", "empty", "huge", "repeated"]  # made of the good one, or of nothing
HOOKS = []  # ids of webhooks of the good key's integrator; a client may delete them
OF_FORM = (400, 408, 411, 413, 414, 415, 417, 431, 501, 503, 505)  # said before a key is looked at, or of a body


# --- the process under test ------------------------------------------------------------------------


def rss_kib():
    return int(re.search(r"VmRSS:\s+(\d+)", open(f"/proc/{PID}/status").read()).group(1))


def cpu_s():
    fields = open(f"/proc/{PID}/stat").read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def connect(timeout=10):
    s = socket.create_connection(("127.0.0.1", PORT), timeout=timeout)
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return s


def ask(path, lines=""):
    with connect() as s:
        s.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\n{lines}Connection: close\r\n\r\n".encode())
        got = b""
        while part := s.recv(65536):
            got += part
        return got


def gauge(name):
    found = re.search(rb"^%s(?:\{[^}]*\})? (\d+)" % name.encode(), ask("/metrics"), re.M)
    return int(found.group(1)) if found else 0


def answered():
    """New connections, so many that each worker has one, are answered within a second."""
    check(os.path.exists(f"/proc/{PID}"), "the process is gone")
    for _ in range(6):
        start, best = steady(), 9.0
        for _ in range(3):  # this client is as slow as the machine: the best of three
            start = steady()
            try:
                got = ask("/healthz")
            except OSError as why:
                got = str(why).encode()
            best = min(best, steady() - start)
            if best < 1:
                break
        check(got.startswith(b"HTTP/1.1 200"), f"/healthz: {got[:200]}")
        check(best < 1, f"a new connection waited {best:.1f} s")


def settled():
    """Waits until the connections are gone, as they must be after the longest deadline: twice the idle time, which KYC wants to be 15 s."""
    start = steady()
    while steady() - start < 40:
        if gauge("tidemark_api_connections") <= 1 and gauge("tidemark_api_waiting") == 0 and gauge("tidemark_api_streaming") == 0:
            return
        time.sleep(0.1)
    raise Failure(f"{gauge('tidemark_api_connections')} connections, {gauge('tidemark_api_waiting')} waiting, {gauge('tidemark_api_streaming')} streams are left")


def idle_cpu():
    """Share of a core that the process uses without requests; the least of three measurements, because other work disturbs."""
    least = 1.0
    for _ in range(3):
        before, start = cpu_s(), time.monotonic()
        time.sleep(0.7)
        least = min(least, (cpu_s() - before) / (time.monotonic() - start))
        if least < 0.05:
            break
    return least


# --- what a client sends ---------------------------------------------------------------------------


class Request:
    """raw: the bytes. sure: well formed, so it must be answered. last: nothing after it must be. head: no body comes. key: what is
    sent as its X-API-Key. scoped: the route wants a scope that the narrow key has not; None: perhaps. counted: its route is not free."""

    def __init__(self, raw, sure, last, head, key, scoped, counted, on_hooks):
        self.raw, self.sure, self.last, self.head = raw, sure, last, head
        self.key, self.scoped, self.counted, self.on_hooks = key, scoped, counted, on_hooks

    def judge(self, status):
        """A key that is not good never opens anything, and a good one is never refused."""
        if self.key is None or not self.counted or status in (*OF_FORM, 429) or (status == 204 and self.raw.startswith(b"OPTIONS ")):
            return
        foreign = ("narrow", "slow") if self.on_hooks else ("narrow",)  # keys that have not the scope
        want = {"good": None, "slow": None, "narrow": None, "elsewhere": 403, "repeated": 400}.get(self.key, 401)
        want = 403 if self.scoped and self.key in foreign else want
        maybe = self.key in foreign and self.scoped is None and status == 403
        check(status == want if want else maybe or status not in (401, 403), f"{status} with the key '{self.key}' to {self.raw[:120]}")


class Generator:
    def __init__(self, rng):
        self.r = rng

    def chance(self, p):
        return self.r.random() < p

    def path(self, pattern):
        if pattern.startswith(WEBHOOKS) and self.chance(0.7):
            pattern = pattern.replace("{webhookId}", self.r.choice([*HOOKS * 3, "0" * 32])).replace("{deliveryId}", str(self.r.randrange(1, 12)))
        return re.sub(r"\{\w+\}", lambda _: self.r.choice(["XLMUSDC", "XLM", ADDRESS, "1030", self.r.choice(VALUES)]), pattern)

    def target(self, route):
        r, path = self.r, self.path(route[1])
        names = [name for name in route[2] if name != "*" and self.chance(0.4)]
        if self.chance(0.1):
            names += r.choices(["limit", "x", "cursor", "ledger"], k=r.choice([1, 2, 20, 60]))
        query = "&".join(f"{name}={r.choice(VALUES)}" for name in names)
        target = path + ("?" + query if query else "")
        if self.chance(0.03):
            target = r.choice(["*", "http://x/", "//", "/../x", "/" + "a" * r.choice([2046, 2047, 2048, 2049, 6000]), "", "/\x01", "/ x"])
        return target

    def lines(self, room):
        """More header lines, up to the limits or a little beyond."""
        r = self.r
        if self.chance(0.7):
            return ""
        if self.chance(0.2):
            ranges = ["application/jwt", "application/json", "*/*", "application/*", ";q=1", "", "application/jwt;q=0.0001", "a/b;c;q=1;d"]
            return "".join(f"Accept: {', '.join(r.choices(ranges, k=r.choice([1, 2, 40])))}\r\n" for _ in range(r.choice([1, 1, 20])))
        if self.chance(0.2):
            return f"Cookie: {';'.join(['a=b'] * r.choice([1, 30, 64]))}\r\n"
        if self.chance(0.3):
            return "".join(f"X{i}: {i}\r\n" for i in range(r.choice([1, 20, 40, 44, 45, 46, 47, 60])))
        size = r.choice([10, 1000, room - 20, room - 6, room - 5, room - 4, room, room + 300])
        return f"X: {'x' * max(0, size)}\r\n"

    def body(self, most):
        r = self.r
        if self.chance(0.5):
            return r.choice(BODIES)
        size = r.choice([0, 1, most - 1, most, most + 1, most // 2, 255, 256, 257, 8192, 16384, 16385, 131072, 131073])
        return b"x" * max(0, size)

    def chunks(self, body):
        r, out, at = self.r, b"", 0
        while at < len(body):
            n = r.choice([1, 7, 400, 4096, 70000])
            part = body[at:at + n]
            out += b"%x%s\r\n%s\r\n" % (len(part), b";a=b" if self.chance(0.05) else b"", part)
            at += n
        return out + b"0\r\n" + (b"X-Trailer: y\r\n" if self.chance(0.1) else b"") + b"\r\n"

    def key_lines(self, name=None):
        """A key, whole or not, and its header lines."""
        r, name = self.r, name or self.r.choice([*KEYS, *NO_KEYS])
        good = KEYS["good"]
        text = {"cut": good[:r.randrange(1, len(good))], "long": good + r.choice(["x", "=", ",", " x"]), "other": good[:16] + good[16:][::-1], "empty": "",
                "huge": "x" * r.choice([256, 257, 2000]), "repeated": good}.get(name) if name not in KEYS else KEYS[name]
        again = r.choice([good, KEYS["revoked"], "x", ""])
        return name, f"{r.choice(['X-API-Key', 'x-api-key', 'X-Api-Key'])}: {text}\r\n" + (f"X-API-Key: {again}\r\n" if name == "repeated" else "")

    def request(self):
        r = self.r
        key, key_lines = self.key_lines() if self.chance(0.3) else (None, "")
        if key is None and self.chance(0.15):
            key, key_lines = self.key_lines("good")
            route = r.choice(ON_HOOKS)
        else:
            route = r.choice(SCOPED if key and self.chance(0.5) else ROUTES)
        method = route[0] if self.chance(0.85) else r.choice(["GET", "POST", "HEAD", "OPTIONS", "PUT", "DELETE", "TRACE", "CONNECT", "get", "X" * 200])
        if method == "GET" and self.chance(0.1):
            method = "HEAD"
        target = self.target(route)
        stream = route[1] == "/api/stream"
        version = "HTTP/1.1" if self.chance(0.96) else r.choice(["HTTP/1.0", "HTTP/1.2", "HTTP/2.0", "HTTP", ""])
        head = f"{method} {target} {version}\r\nHost: x\r\n"
        sure = version == "HTTP/1.1" and re.fullmatch(r"/[!-~]*", target) is not None and len(target) <= TARGET_MAX
        last = stream or method == "CONNECT"
        body, framing = b"", key_lines
        if key == "repeated":
            sure, last = False, True
        if route[3] or self.chance(0.08):
            body = hook_body(r, route[1]) if route in ON_HOOKS and self.chance(0.8) else self.body(route[3])
            kind = r.choice(["application/json"] * 6 + ["text/plain", "application/x-www-form-urlencoded"])
            framing += f"Content-Type: {kind}\r\n"
            how = r.random()
            if how < 0.6:
                framing += f"Content-Length: {len(body)}\r\n"
                last |= len(body) > 256 << 10
            elif how < 0.85:
                framing += "Transfer-Encoding: chunked\r\n"
                sure &= len(body) <= route[3] or not route[3]
                body = self.chunks(body)
                last = True
            else:  # framing that is wrong in one way or another
                sure, last = False, True
                framing += r.choice([f"Content-Length: {len(body) + r.choice([1, 100, 10 ** 9])}\r\n", f"Content-Length: {len(body) // 2}\r\n", "Content-Length: -1\r\n",
                                     f"Content-Length: {len(body)}\r\nTransfer-Encoding: chunked\r\n", "Transfer-Encoding: gzip\r\n",
                                     "Content-Length: 5\r\nContent-Length: 6\r\n", f"Content-Length: {'9' * r.choice([9, 19, 20, 400])}\r\n", "Transfer-Encoding: chunked\r\n"])
        if self.chance(0.05):
            framing += "Expect: 100-continue\r\n"
            last = True
        if self.chance(0.05):
            framing += "Connection: close\r\n"
            last = True
        more = self.lines(HEAD_MAX - len(head) - len(framing) - 2)
        head += framing + more
        if self.chance(0.04):
            sure, last = False, True
            line = r.choice(["Host: y\r\n", "X y\r\n", " folded\r\n", "X : y\r\n", "X: \x01\r\n", "\r", "X: a\0b\r\n", ": x\r\n", "Expect: x\r\n"])
            key = None if line == " folded\r\n" else key  # 0.9.75 loses the line that is folded: there is no key then
            head += line
        head += "\r\n"
        sure &= target.count("&") + more.count("a=b") < PAIRS_MAX
        if len(head) > HEAD_MAX + 60 or more.count("\r\n") > 60:
            sure = False  # far above the limits the library may close without a word
        last |= len(head) > HEAD_MAX - 60 or head.count("\r\n") > LINES_MAX - 1 or not sure
        scoped = (route[1].startswith("/api/sdk/snapshot") and target.startswith(route[1]) and method in ("GET", "HEAD")) or (None if route in SCOPED else False)
        if route in ON_HOOKS:
            scoped = True if target.startswith(WEBHOOKS) and method == route[0] else None
        return Request(head.encode("latin-1") + body, sure, last, method == "HEAD", key, scoped, route[4] > 0, route in ON_HOOKS)

    def plan(self):
        """The requests of one connection, up to the first after which nothing must be answered."""
        requests = []
        for _ in range(self.r.choice([1, 1, 2, 3, 5, 10, 40])):
            requests.append(self.request())
            if requests[-1].last and self.chance(0.8):
                break
        return requests


# --- one connection ----------------------------------------------------------------------------------


SURE_S = 1.2  # what took longer to be sent, since the one before it, may have met a deadline of tests/hostile/client
STOOD_S = 0.4  # a machine that stood still for longer may have let one pass


class Client(threading.Thread):
    def __init__(self, rng):
        super().__init__(daemon=True)
        self.r = random.Random(rng.random())
        self.sent = self.got = 0
        self.why = None

    def run(self):
        try:
            self.talk()
        except Failure as why:
            self.why = str(why)
        except OSError:
            pass  # cut in the middle

    def put(self, s, raw):
        """In one piece, or in some, or drop by drop. False when the server has closed."""
        r, at = self.r, 0
        size = r.choice([1 << 20] * 6 + [1400, 100, 1]) if len(raw) < 3000 else 1 << 20
        pauses = 10 if size < 1000 else 0
        while at < len(raw):  # until all is sent, or the socket's timeout
            try:
                at += s.send(raw[at:at + size])
            except socket.timeout:
                return False
            except OSError:
                return False
            if pauses and r.random() < 0.1:
                pauses -= 1
                time.sleep(0.01)
        return True

    def talk(self):
        r = self.r
        how = self.how = r.choices(["all", "one", "half", "gone", "reset", "deaf", "slow"], [40, 25, 10, 8, 7, 5, 5])[0]
        plan = self.plan = Generator(r).plan()
        s = connect(6)
        self.began, self.ran_for = time.monotonic(), steady()
        since = self.began
        if how in ("deaf", "slow"):
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        wanted = []
        for request in plan:
            self.sent += 1
            raw = request.raw
            if how in ("gone", "reset") and request is plan[-1] and r.random() < 0.6:
                raw = raw[:r.randrange(len(raw) + 1)]
            wanted.append(request)
            taken = self.put(s, raw)
            request.sure &= time.monotonic() - since < SURE_S
            since = time.monotonic()
            if not taken or how == "one" and not self.read(s, wanted, True):
                break
            since = time.monotonic()
        if how == "reset":
            s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        elif how == "half":
            s.shutdown(socket.SHUT_WR)
        elif how == "deaf":
            time.sleep(r.choice([0.2, 3.0]))
        elif how == "slow":
            time.sleep(0.3)
        if how in ("all", "one", "half"):
            self.read(s, wanted, False)
        s.close()

    def stood(self):
        """Whether the machine stood still, so that the server's deadlines may have passed before it read what had come."""
        return time.monotonic() - self.began - (steady() - self.ran_for) > STOOD_S

    def read(self, s, wanted, part):
        """Takes the answers to what is wanted, in order; false when the connection has ended. The first that need not be
        answered, and what follows it, may end in any way."""
        raw, closed = b"", False
        s.settimeout(6)
        while wanted:
            found = take_answer(raw, wanted[0].head)
            if found:
                status, chunked, raw = found.status, found.chunked, found.rest
                self.got += 1
                check(status < 500 or status in (501, 503, 505), f"{status} to {wanted[0].raw[:300]}")
                request = wanted.pop(0)
                request.judge(status)
                if request.last or chunked:
                    return False
                continue
            if closed:
                break
            ready = select.select([s], [], [], 8)[0]
            check(ready or not wanted[0].sure or self.stood(), f"no answer in 8 s to {wanted[0].raw[:300]}")
            data = s.recv(65536) if ready else b""
            raw += data
            closed = not data
        # "Expect: 100-continue" needs a body (RFC 9110, 10.1.1). Without one, the library is asked for the answer in its first
        # call, after which it takes a half-closed client for gone (api/http/server/guard.c, server_guard_once_more).
        lost = self.how == "half" and wanted and b"Expect: 100-continue" in wanted[0].raw
        if wanted and wanted[0].sure and not raw and not lost and not self.stood():
            raise Failure(f"{self.how}: closed without an answer to request {self.plan.index(wanted[0]) + 1} of {len(self.plan)}: {wanted[0].raw[:400]} "
                          f"({len(wanted[0].raw)} bytes)")
        return not closed


# --- seeds ---------------------------------------------------------------------------------------------


def batch(seed):
    rng = random.Random(seed)
    clients = [Client(rng) for _ in range(rng.choice([4, 12, 30]))]
    abandoned = []
    for _ in range(rng.choice([0, 0, 5, 100])):
        s = connect()
        if rng.random() < 0.7:
            s.sendall(rng.choice([b"G", b"GET / HTTP/1.1\r\n", b"GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n" * 3, b"\r\n", b"GET /api/stream?topics=ledger HTTP/1.1\r\nHost: x\r\n\r\n"]))
        abandoned.append(s)
    for client in clients:
        client.start()
    answered()
    for client in clients:
        client.join(60)
        check(not client.is_alive(), "a client did not end")
        check(not client.why, client.why)
    answered()
    for s in abandoned:
        s.close()
    return sum(c.sent for c in clients), sum(c.got for c in clients)


def on_hooks(connection, method, path, body=b""):
    """A well-formed request of the webhooks' owner."""
    connection.request(method, path, body or None, {"X-API-Key": KEYS["good"], **({"Content-Type": "application/json"} if body else {})})
    answer = connection.getresponse()
    raw = answer.read()
    connection.close()  # the next request opens another: the server ends a connection that was idle while the machine stood still
    return answer.status, json.loads(raw)


def attack_hooks(seed):
    """Bodies of the routes of webhooks, on connections that are in order: none fails, and what may be registered keeps its limits."""
    rng = random.Random(seed)
    generator, statuses = Generator(rng), []
    connection = http.client.HTTPConnection("127.0.0.1", PORT, timeout=20)
    for _ in range(40):
        listed = on_hooks(connection, "GET", WEBHOOKS)[1]["items"]
        check(len(listed) <= 8 and all(one["addresses"] <= 10000 for one in listed), f"seed {seed}: {listed}")
        HOOKS[:] = [one["webhookId"] for one in listed]
        method, path, _, most, _ = rng.choice([route for route in ON_HOOKS if route[0] != "DELETE" or len(HOOKS) > 6])
        body = hook_body(rng, path)[:most] if most else b""
        target = generator.path(path)
        if not re.fullmatch("/[!-~]*", target):
            continue
        status, answer = on_hooks(connection, method, target, body)
        statuses.append(status)
        check(status in (200, 201, 202, 400, 404, 409, 422, 429), f"seed {seed}: {status} to {method} {target} {body[:300]}: {answer}")
    connection.close()
    return statuses


def keys_on_routes():
    """Each key, and each that is none, where a key matters most: exactly the documented status."""
    generator, asked, start = Generator(random.Random(1)), 0, steady()
    while b" 200 " not in (got := ask("/api/sdk/snapshot"))[:13]:  # the first one is made when it is asked for
        check(steady() - start < 20, f"no snapshot: {got[:1000]}")
        time.sleep(0.05)
    for path, known in (("/api/sdk/snapshot", 200), ("/api/sdk/snapshot/changes?after=0", 410), ("/api/prices", 200), ("/nowhere", 404)):
        snapshot = "snapshot" in path
        for name in [*KEYS, *NO_KEYS * 4]:
            got = int(ask(path, generator.key_lines(name)[1])[9:12])
            want = {"good": known, "slow": known, "narrow": 403 if snapshot else known, "elsewhere": 403, "repeated": 400}.get(name, 401)
            check(got == want, f"{path} with the key '{name}': {got}, not {want}")
            asked += 1
    return asked


def quiet(warm):
    settled()
    cpu = idle_cpu()
    check(cpu < 0.25, f"an idle process uses {cpu:.0%} of a core")
    size = rss_kib()
    check(warm is None or sanitized() or size - warm < GROWTH_KIB, f"resident memory: {warm} KiB when warm, {size} KiB now")
    return size


def sanitized():
    """Sanitizers keep what is freed."""
    return re.search(r"lib[atu]san|libclang_rt", open(f"/proc/{PID}/maps").read()) is not None


def main():
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 4096), hard))
    count = sent = got = 0
    statuses = collections.Counter()
    warm, seed, keyed = None, None, 0
    try:
        keyed = keys_on_routes()
        for seed in random_or_fixed(sys.argv[4:]):
            statuses.update(attack_hooks(seed))
            more = batch(seed)
            count, sent, got = count + 1, sent + more[0], got + more[1]
            if count == 8:
                warm = quiet(None)
            elif count % 40 == 0:
                quiet(warm)
        size = quiet(warm)
        check(count < 8 or {200, 201, 202, 400, 409} <= set(statuses), f"the routes of webhooks were not reached: {statuses}")
    except (Failure, OSError, AssertionError) as why:
        print(f"FAIL: seed {seed}: {why}", flush=True)
        print(f"{count} seeds, {sent} requests, {got} answers before it", flush=True)
        sys.exit(1)
    print(f"ok {keyed} requests with keys, {statuses.total()} to webhooks; {count} seeds, {sent} requests, {got} answers; {size} KiB resident" + (f", {warm} when warm" if warm else ""), flush=True)


main()
