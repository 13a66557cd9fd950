"""Generates the input of _wire.py. A case is the bytes of one connection, in pieces, and the way in which the
connection ends.

A request is "sure" if it is complete and well-formed (RFC 9112): the server must answer it with a status, whatever
its size. The server may refuse or cut all others.
"""
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
ADDRESS = "GA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVSGZ"
STATUS = "/api/sdk/kyc/status"
PATHS = ["/healthz", "/metrics", f"{STATUS}/{ADDRESS}", "/api/prices", "/api/ledgers", "/openapi.json", "/nowhere", "/"]


def constant(path, name):
    """A number of the program's: `1 << 14`, `256 << 10`, `16384`, `6144u`."""
    found = re.search(rf"{name}\s*=?\s*(\d+)u?(?:\s*<<\s*(\d+))?", (ROOT / path).read_text())
    assert found, f"no {name} in {path}"
    return int(found[1]) << int(found[2] or 0)


POOL = constant("api/http/server/server_impl.h", "SERVER_POOL_BYTES")
DROP = constant("api/http/server/request.c", "DROP_BYTES")
HEAD = constant("api/http/server/request_check.h", "TIDE_HEAD_BYTES_MAX")
LINES = constant("api/http/server/request_check.h", "TIDE_HEAD_LINES_MAX")
TARGET, PAIRS, BATCH = 2048, 64, 131072  # api/http/README.md, "What the server refuses"; the body of POST /api/sdk/kyc/status
SIZES = sorted({1 << k for k in range(4, 17)} | {POOL, POOL // 2, POOL * 3 // 4, POOL * 2, HEAD, TARGET})
COUNTS = sorted({1 << k for k in range(0, 10)} | {LINES, PAIRS, 240, POOL // 56})  # the last: so many pairs fill the connection's memory
BODIES = sorted({1 << k for k in range(8, 21, 2)} | {BATCH, DROP, POOL})


class Request:
    """raw: its bytes. sure: complete and well formed. head: a HEAD, so its answer has no body."""

    def __init__(self, raw, sure=True, head=False):
        self.raw, self.sure, self.head = raw, sure, head


class Case:
    """A connection. requests: in order. size, pause: bytes of a piece, and seconds between pieces. cut: so many bytes are sent; None: all.
    end: wait (read the answers, then close), half (the same, after the end of what is sent), close, reset (both unread, after delay),
    stay (left open until the processor was looked at)."""

    def __init__(self, kind, requests, size=0, pause=0.0, cut=None, end="wait", delay=0.0):
        self.kind, self.requests, self.size, self.pause, self.cut, self.end, self.delay = kind, requests, size, pause, cut, end, delay

    def bytes(self):
        raw = b"".join(request.raw for request in self.requests)
        return raw if self.cut is None else raw[:self.cut]

    def __str__(self):
        def brief(found):
            return b"<%r x %d>" % (found[1], len(found[0]) // len(found[1]))

        raw = self.bytes()
        shown = re.sub(rb"(?s)(.{1,4}?)\1{11,}", brief, raw[:1 << 16])
        how = f"{self.kind}: {len(self.requests)} requests, {len(raw)} bytes, pieces of {self.size or 'any size'}, {self.pause} s between them, then {self.end}"
        return how + (f" after {self.delay} s" if self.delay else "") + f": {shown[:500]!r}" + (f"…{shown[-100:]!r}" if len(shown) > 600 else "")


def known():
    """Seed 0: those that were found, each in a few ways to end."""
    chunks = b"POST %s HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n" % STATUS.encode()
    found = {"a long chunk extension": chunks + b"5;" + b"a" * 32768, "a long chunk size": chunks + b"0" * 32767 + b"7\r\n", "a long trailer": chunks + b"0\r\nX: " + b"x" * 32768,
             "many lines of a trailer": chunks + b"0\r\n" + b"X: y\r\n" * 8192, "a long line": b"GET /healthz HTTP/1.1\r\nHost: x\r\nX: " + b"x" * 32768}
    cases = [Case(kind, [Request(raw, False)], end=end, delay=delay) for kind, raw in found.items() for end, delay in (("close", 0.3), ("reset", 0.3), ("half", 0), ("stay", 0))]
    whole = {"pairs": b"GET /healthz?" + b"&".join([b"a"] * 240) + b" HTTP/1.1\r\nHost: x\r\n\r\n", "cookies": b"GET /healthz HTTP/1.1\r\nHost: x\r\nCookie: " + b"; ".join([b"a"] * 240) + b"\r\n\r\n",
             "an extension": chunks + b"5;" + b"a" * 32768 + b"\r\nxxxxx\r\n0\r\n\r\n"}
    return cases + [Case(kind, [Request(raw)], end=end) for kind, raw in whole.items() for end in ("wait", "half", "close")]


class Maker:
    def __init__(self, rng):
        self.r = rng

    def chance(self, p):
        return self.r.random() < p

    def near(self, limits):
        """A number at a limit or a little beside it."""
        beside = self.r.choice([0, 0, 1, -1, 2, -2, self.r.randint(-64, 64)])
        return max(0, self.r.choice(limits) + beside)

    def get(self, lines=b"", target=None, method=b"GET", sure=True):
        target = target if target is not None else self.r.choice(PATHS).encode()
        return Request(b"%s %s HTTP/1.1\r\nHost: x\r\n%s\r\n" % (method, target, lines), sure, method == b"HEAD")

    # --- heads ---

    def request_line(self):
        r = self.r
        what = r.choice(["method", "target", "version", "spaces"])
        if what == "method":
            name = r.choice([b"HEAD", b"OPTIONS", b"PUT", b"DELETE", b"PATCH", b"TRACE", b"get", b"!#$%&'*+-.^_`|~", b"M" * self.near(SIZES)])
            return [self.get(method=name, sure=name != b"")]
        if what == "target":
            path = r.choice([b"/" + b"a" * self.near(SIZES), b"/%61" * self.near(SIZES[:8]), b"/" * self.near(SIZES), b"/healthz?" + b"q" * self.near(SIZES), b"/../..", b"/%"])
            odd = r.choice([b"*", b"http://x/healthz", b"//x", b"", b"/\xff", b"/a b", b"/#f", b"/\0", b"x" * self.near(SIZES)])
            return [self.get(target=path, sure=path != b"")] if self.chance(0.7) else [self.get(target=odd, sure=False)]
        if what == "version":
            version = r.choice([b"HTTP/1.0", b"HTTP/1.2", b"HTTP/2.0", b"HTTP/0.9", b"HTTP/1.1 ", b"http/1.1", b"HTTP/1.", b"", b"HTTP/" + b"1" * self.near(SIZES)])
            return [Request(b"GET /healthz %s\r\nHost: x\r\n\r\n" % version, version == b"HTTP/1.0")]
        gap = r.choice([b" " * self.near(SIZES), b"\t", b"\r", b"\x0b"])
        return [Request(r.choice([gap, b"\r\n" * self.near(COUNTS), b"\n"]) + b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n", False),
                ] if self.chance(0.5) else [Request(b"GET%s/healthz%sHTTP/1.1\r\nHost: x\r\n\r\n" % (gap, gap), False)]

    def lines(self):
        """Many header lines, or large ones, or a head of a whole size."""
        r, what = self.r, self.r.choice(["count", "value", "name", "whole", "whole", "blank"])
        if what == "count":
            value = r.choice([b"", b"1", b"x" * 20])
            return [self.get(b"".join(b"X%d:%s\r\n" % (i, value) for i in range(self.near(COUNTS))))]
        if what == "value":
            return [self.get(b"X: " + r.choice([b"x", b"a b ", b"\x80"]) * self.near(SIZES) + b"\r\n")]
        if what == "name":
            return [self.get(b"N" * max(1, self.near(SIZES)) + b": x\r\n")]
        if what == "blank":
            return [self.get(b"X:" + r.choice([b" ", b"\t"]) * self.near(SIZES) + r.choice([b"", b"x"]) + b" " * self.near(SIZES[:6]) + b"\r\n")]
        target, wanted = r.choice(PATHS[:6]).encode(), self.near(SIZES)
        left = wanted - len(self.get(target=target).raw)
        each = r.choice([left, 16, 100, 1000])
        lines = b""
        while left - len(lines) > 8:
            room = min(each, left - len(lines))
            lines += b"X: " + b"x" * max(0, room - 5) + b"\r\n"
        return [self.get(lines, target)]

    def pairs(self):
        pair = self.r.choice([b"a", b"a=", b"=", b"a=b", b"", b"%61=%62", b"a=b=c", b"limit=100"])
        query = self.r.choice([b"&", b"&", b";", b"&&"]).join([pair] * self.near(COUNTS))
        return [self.get(target=self.r.choice(PATHS).encode() + b"?" + query)]

    def cookies(self):
        pair = self.r.choice([b"a", b"a=", b"=", b"a=b", b"", b'a="b"', b"a=" + b"b" * self.near(SIZES[:8])])
        text = self.r.choice([b"; ", b";", b",", b" ;  "]).join([pair] * self.near(COUNTS))
        return [self.get((b"Cookie: %s\r\n" % text[:70000]) * self.r.choice([1, 1, 1, 2, 40]))]

    def folded(self):
        """Forms that a reader may take in two ways: a status or an end, nothing else."""
        r, n, many = self.r, self.near(SIZES), self.near(COUNTS)
        lines = r.choice([b"X: a\r\n" + b" b\r\n" * many, b"X: a\r\n\t" + b"b" * n + b"\r\n", b" x: y\r\n", b"X: a\n", b"X: a\r", b"X : a\r\n", b": a\r\n", b"X\r\n" * many,
                          b"X: a\0" + b"b" * n + b"\r\n", b"Host: y\r\n", b"X: \x01\r\n", b"X: a\r\r\n", b"Connection: " + b"close, " * many + b"\r\n", b"\0" * n])
        if self.chance(0.2):
            return [Request(b"GET /healthz HTTP/1.1\n" + (b"Host: x\n" if self.chance(0.5) else b"") + b"\n", False)]
        return [self.get(lines, sure=False)]

    # --- bodies ---

    def post(self, framing, body, sure=True, target=None):
        target = target or self.r.choice([STATUS, STATUS, STATUS, "/healthz", "/nowhere", "/api/sdk/kyc/session"]).encode()
        kind = self.r.choice([b"application/json"] * 4 + [b"text/plain", b"application/x-www-form-urlencoded", b"multipart/form-data; boundary=x"])
        return Request(b"POST %s HTTP/1.1\r\nHost: x\r\nContent-Type: %s\r\n%s\r\n" % (target, kind, framing) + body, sure)

    def payload(self):
        if self.chance(0.4):
            return self.r.choice([b"", b"{}", b'{"addresses":["%s"]}' % ADDRESS.encode(), b"\0"])
        return self.r.choice([b"x", b" ", b"\r\n"]) * (self.near(BODIES) // 2) if self.chance(0.3) else b"x" * self.near(BODIES)

    def length(self):
        r, body = self.r, self.payload()
        if self.chance(0.6):
            return [self.post(r.choice([b"", b"Connection: close\r\n", b"X: y\r\n"]) + b"Content-Length: %d\r\n" % len(body), body)]
        if self.chance(0.2):  # a body that never comes
            return [self.post(b"Content-Length: %d\r\n" % r.choice([BATCH + 1, DROP + 1, 10 ** 9, 10 ** 12]), b"", False)]
        text = r.choice([b"+%d", b"-%d", b"%d ", b" %d", b"0x%x", b"%d,%d", b"%dx", b"", b"%d\0", b"0" * self.near(SIZES) + b"%d"])
        text = text % tuple([len(body)] * text.count(b"%"))
        return [self.post(b"Content-Length: %s\r\n" % r.choice([text, text, b"9" * self.near(SIZES[:10]), b"18446744073709551615", b"18446744073709551616", b"4294967296"]) +
                          r.choice([b"", b"", b"Content-Length: %d\r\n" % len(body), b"Transfer-Encoding: chunked\r\n"]), body, False)]

    def extension(self):
        """(bytes, well formed): what stands behind a chunk's size."""
        if self.chance(0.5):
            return b"", True
        r, n = self.r, self.near(SIZES)
        good = [b";a", b";a=b", b';a="b"', b";" + b"a" * max(1, n), b";a=" + b"b" * max(1, n), b';a="' + b"b" * n + b'"', b";a=b" * self.near(COUNTS)]
        odd = [b" " * n, b";", b";" * n, b';a="' + b"b" * n, b";\0", b"\t;a", b"x" * n, b";a\n"]
        return (r.choice(good), True) if self.chance(0.7) else (r.choice(odd), False)

    def trailer(self):
        r = self.r
        if self.chance(0.5):
            return b"", True
        if self.chance(0.3):
            return r.choice([b" a\r\n", b"X y\r\n", b": a\r\n", b"X: a\r\n b\r\n", b"X: \0\r\n", b"Content-Length: 5\r\n", b"\n", b"X" * self.near(SIZES)]), False
        return r.choice([b"X: " + b"x" * self.near(SIZES) + b"\r\n", b"N" * max(1, self.near(SIZES)) + b": x\r\n", b"X: y\r\n" * self.near(COUNTS)]), True

    def chunked(self):
        r, body, raw, sure = self.r, self.payload(), b"", True
        at, size = 0, max(1, self.r.choice([1 << 20, self.near(SIZES), self.near(SIZES), 7]))
        while at < len(body) and raw.count(b"\r\n") < 4000:
            part = body[at:at + size]
            extension, good = self.extension() if at == 0 or self.chance(0.01) else (b"", True)
            sure &= good
            digits = b"%x" % len(part) if self.chance(0.9) else b"%0*X" % (r.choice([15, 16, 17, 18, self.near(SIZES)]), len(part))
            raw += digits + extension + b"\r\n" + part + b"\r\n"
            at += len(part)
        extension, good = self.extension()
        trailer, well = self.trailer()
        raw += b"0" + extension + b"\r\n" + trailer + b"\r\n"
        if self.chance(0.25):  # not chunks at all, from some place on
            sure, at = False, r.randrange(len(raw))
            bad = [b"ffffffffffffffff\r\n", b"10000000000000000\r\n", b"-1\r\n", b"+1\r\n", b"0x1\r\n", b"\r\n", b"g\r\n", b"7fffffffffffffff\r\n", b"f" * self.near(SIZES), b"\n", b"1\n", b";" * self.near(SIZES)]
            raw = raw[:at] + r.choice(bad) + raw[at + r.choice([0, 0, 1, 2]):]
        coding = r.choice([b"chunked"] * 8 + [b"Chunked", b"gzip", b"gzip, chunked", b"chunked, chunked", b"identity", b"chunked "])
        return [self.post(b"Transfer-Encoding: %s\r\n" % coding, raw, sure and good and well and coding.lower() == b"chunked")]

    def expect(self):
        body = self.payload()
        what = self.r.choice([b"100-continue"] * 4 + [b"100-Continue", b"x", b"", b"x" * self.near(SIZES), b"100-continue, x"])
        framing = self.r.choice([b"", b"Content-Length: %d\r\n" % len(body), b"Content-Length: %d\r\n" % len(body)])
        return [self.post(b"Expect: %s\r\n" % what + framing, body if framing else b"", what.lower() == b"100-continue" and (bool(framing) or not body))]

    # --- several ---

    def simple(self):
        if self.chance(0.2):
            body = b'{"addresses":["%s"]}' % ADDRESS.encode()
            return self.post(b"Content-Length: %d\r\n" % len(body), body)
        return self.get(self.r.choice([b"", b"", b"X: y\r\n", b"Accept-Encoding: gzip\r\n"]), method=self.r.choice([b"GET"] * 6 + [b"HEAD"]))

    def pipelined(self):
        requests = [self.simple() for _ in range(min(200, self.near(COUNTS)))]
        return requests + (self.r.choice(self.kinds())() if self.chance(0.4) else [])

    def damaged(self):
        """A few bytes of a good request are others, more or fewer."""
        raw = bytearray(self.r.choice([self.lines, self.length, self.chunked, self.cookies, self.request_line])()[0].raw)
        for _ in range(self.r.choice([1, 1, 2, 5])):
            at, end = self.r.randrange(len(raw) + 1), self.r.choice([0, 1, 1, 2, 30])
            raw[at:at + end] = self.r.choice([b"", b"\r", b"\n", b"\r\n", b"\0", b" ", b":", b";", b"\xff", self.r.randbytes(8), b"\r\n\r\n", b"a" * self.near(SIZES)])
        return [Request(bytes(raw), False)]

    def noise(self):
        return [Request(self.r.choice([self.r.randbytes(self.near(SIZES)), b"\r\n" * self.near(COUNTS), b"\x16\x03\x01" + self.r.randbytes(self.near(SIZES)),
                                       b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"\x16\x03\x01\x40\x00" + self.r.randbytes(self.near(SIZES))]), False)]

    def kinds(self):
        return [self.request_line, self.lines, self.lines, self.pairs, self.cookies, self.folded, self.length, self.length, self.chunked, self.chunked, self.chunked,
                self.expect, self.damaged]

    def case(self):
        r = self.r
        make = r.choice([*self.kinds(), *self.kinds(), self.pipelined, self.pipelined, self.noise])
        requests = make()
        total = sum(len(request.raw) for request in requests)
        case = Case(make.__name__, requests)
        case.end = r.choices(["wait", "half", "close", "reset", "stay"], [50, 12, 20, 10, 8])[0]
        if case.end not in ("wait", "half"):
            case.delay = r.choice([0, 0, 0.01, 0.3])
        if total < 3000 and self.chance(0.3):
            case.size = r.choice([1, 7, 100, 1000])
        elif self.chance(0.3):
            case.size = max(r.choice([1000, 1460, 4096, self.near(SIZES[8:])]), total // 20)
        case.pause = r.choice([0, 0, 0.001, 0.02]) if case.size and total / case.size < 30 else 0.0
        if case.end not in ("wait", "half") and self.chance(0.6):
            case.cut = r.randrange(total + 1)
        return case

    def cuts(self):
        """One short request of some kind, ended at each of its bytes (at most 150 of them) in one and the same way."""
        while len(raw := (request := self.r.choice([self.simple(), *self.r.choice(self.kinds())()])).raw) > 20000:
            pass
        end = self.r.choice(["close", "reset", "half", "close"])
        step = max(1, len(raw) // 150)
        return [Case("cuts", [request], cut=cut, end=end) for cut in range(self.r.randrange(step), len(raw) + 1, step)]
