"""usage: _hostile.py URL PID   sends requests that no client should send (hostile.sh)."""
import collections
import gzip
import http.client
import json
import os
import random
import re
import socket
import sys
import time
import urllib.parse

SEED = int(os.environ.get("TIDE_HOSTILE_SEED", "1"))
REQUESTS = int(os.environ.get("TIDE_HOSTILE_REQUESTS", "5000" if os.environ.get("TIDE_LONG") else "2000"))
ACCOUNT = "GAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAWHF"
SECRET = "SECRETSEED" + "A" * 46  # as long as a seed is
TEXTS = ["", "0", "-1", "1", "00", "1e9", "0x1", "NaN", "null", "true", "2147483647", "2147483648", "4294967295", "4294967296",
         "9223372036854775807", "9223372036854775808", "18446744073709551615", "18446744073709551616", "9" * 400, "1.0", "+1", " 1", "1 ",
         "'", "''", "' OR 1=1 --", "\"", "$1", "$$", "\\", "%s%n%x", "{}", "{symbol}", "../..", "..", ".", "/", "//", "a/b", "?", "#", "&", "=", ";",
         "<script>alert(1)</script>", "\x00", "\x01", "\r\nX-Injected: 1", "\n", "\x7f", "\u202e", "\ufeff", "é" * 40, "😀" * 20, "\ud800", "a" * 33, "A" * 64,
         "0" * 64, "g" * 64, ACCOUNT, ACCOUNT[:-1] + "G", ACCOUNT.lower(), "M" + "A" * 68, "C" + "A" * 55, SECRET, "XLM", "XLMUSDC", "x" * 1000, "x" * 2100,
         "a_to_b", "A_TO_B", "|", "a_to_b|b_to_a", ",", ",,", "ledger,event", "ledger," * 40]
RAW = [b"%", b"%0", b"%zz", b"%00", b"%2e%2e", b"%2f", b"%252f", b"%c0%af", b"%ff", b"%ed%a0%80", b"%f5%80%80%80", b"%u0041", b"+", b"%0d%0aX-Injected:1", b"\xff", b"\xc3"]
METHODS = ["GET"] * 12 + ["POST"] * 6 + ["HEAD", "OPTIONS", "PUT", "DELETE", "PATCH", "TRACE", "CONNECT", "get", "G", "", "X" * 300, "GET\x00"]

LENGTHS = [b"-1", b"+5", b"0x5", b"99999999", b"18446744073709551616", b"5 5", b"", b"1e3"]
CHUNKS = [b"zz\r\nxx\r\n0\r\n\r\n", b"f" * 16 + b"\r\n", b"-1\r\n\r\n", b"5\r\nab", b"5;x=" + b"y" * 9000 + b"\r\nabcde\r\n0\r\n\r\n"]
CODINGS = [b"gzip", b"chunked, chunked", b"identity", b" chunked", b"xchunked"]


class Generator:
    def __init__(self, doc, cursors):
        self.random = random.Random(SEED)
        self.doc, self.cursors = doc, cursors
        self.operations = [(path, method.upper(), o) for path, item in doc["paths"].items() for method, o in item.items()]

    def chance(self, p):
        return self.random.random() < p

    def resolve(self, thing):
        if "$ref" in thing:
            at = self.doc
            for part in thing["$ref"].removeprefix("#/").split("/"):
                at = at[part]
            return at
        return thing

    def text(self):
        r = self.random
        if self.chance(0.6):
            return r.choice(TEXTS)
        return "".join(chr(r.choice((r.randrange(128), r.randrange(0x250), r.randrange(0xd800)))) for _ in range(r.randrange(60)))

    def escaped(self, text):
        """Bytes that stand for a text in a target, mostly escaped as they must be."""
        r, raw = self.random, text.encode("utf-8", "surrogatepass")
        if self.chance(0.08):
            return r.choice(RAW) + urllib.parse.quote_from_bytes(raw[:20], safe="").encode()
        if self.chance(0.05):
            return b"".join(b"%%%02x" % b for b in raw[:600])
        return urllib.parse.quote_from_bytes(raw, safe="" if self.chance(0.9) else "/?#&=%").encode()

    def cursor(self):
        r, cursor = self.random, self.random.choice(self.cursors or ["AAAA"])
        if self.chance(0.3):
            return cursor
        at = r.randrange(len(cursor))
        return r.choice([cursor[:at], cursor[:at] + r.choice("ABCabc019-_=") + cursor[at + 1:], cursor * r.randrange(1, 6), cursor[::-1]])

    def value(self, p):
        schema = p["schema"]
        if p["name"] in ("cursor", "after") and self.chance(0.7):
            return self.cursor()
        if self.chance(0.75):
            if "enum" in schema:
                return self.random.choice(schema["enum"])
            if schema.get("type") == "integer":
                return str(self.random.choice([schema["minimum"], schema["maximum"], 1, 50, 2047, self.random.randrange(schema["maximum"] + 1)]))
            if schema.get("pattern", "").startswith("^[GC]"):
                return ACCOUNT
            if "example" in p:
                return str(p["example"])
        return self.text()

    def target(self, path, operation):
        r = self.random
        params = [self.resolve(p) for p in operation.get("parameters", [])]
        by_name = {p["name"]: p for p in params}
        out = b"".join(self.escaped(self.value(by_name[part[1:-1]])) if part.startswith("{") else part.encode()
                       for part in re.split(r"({\w+})", path) if part)
        if self.chance(0.06):
            at = r.randrange(len(out) + 1)
            out = out[:at] + r.choice(RAW + [b"/", b"//", b"/./", b"/../", b";x", b"\\"]) + out[at:]
        names = [p["name"] for p in params if p["in"] == "query" and (p["required"] or self.chance(0.4))]
        if self.chance(0.1) and names:
            names.append(r.choice(names))
        pairs = [self.escaped(name) + b"=" + self.escaped(self.value(by_name[name])) for name in names]
        if self.chance(0.1):
            pairs.append(self.escaped(self.text()) + r.choice([b"", b"=", b"=="]) + self.escaped(self.text()))
        if self.chance(0.01):
            pairs += [b"limit=%d" % n for n in range(300)]
        return out + (b"?" + b"&".join(pairs) if pairs or self.chance(0.05) else b"")

    def json(self, depth=0):
        r = self.random
        kind = r.randrange(7 if depth < 5 else 4)
        if kind < 2:
            return self.text().encode("utf-8", "surrogatepass").decode("utf-8", "replace")
        if kind == 2:
            return r.choice([None, True, False, 0, -1, 1e308, 2**70, 0.1])
        if kind == 3:
            return ACCOUNT
        if kind == 4:
            return [self.json(depth + 1) for _ in range(r.randrange(6))]
        return {r.choice(["addresses", "x", "", "é"]): self.json(depth + 1) for _ in range(r.randrange(3))}

    def body(self):
        r = self.random
        kind = r.randrange(10)
        if kind == 0:
            return bytes(r.randrange(256) for _ in range(r.randrange(300)))
        if kind == 1:
            return r.choice([b"[" * 100000, b'{"addresses":' * 5000, b'"' + b"\\" * 9999, b'{"addresses":[' + b"1," * 50000, b" " * 140000, b""])
        if kind == 2:
            return json.dumps({"addresses": [ACCOUNT] * r.choice([0, 1, 999, 1000, 1001, 2000])}).encode()
        if kind == 3:
            return r.choice([b'{"addresses":["\\ud800"]}', b'{"addresses":["\\u0000"]}', b'{"addresses":["\xff"]}', b'{"addresses":[],"addresses":[]}',
                             b'\xef\xbb\xbf{"addresses":[]}', b'{"addresses":[]}x', b"{'addresses':[]}", b'{"addresses":[1e999]}', b'{"addresses":[-]}'])
        text = json.dumps({"addresses": [self.json() if self.chance(0.5) else ACCOUNT for _ in range(r.randrange(12))]} if kind < 8 else self.json()).encode()
        if self.chance(0.2) and text:
            at = r.randrange(len(text))
            text = text[:at] + bytes([r.randrange(256)]) + text[at + 1:]
        return text

    def headers(self):
        r, out = self.random, []
        if not self.chance(0.03):
            out.append(b"Host: " + (b"127.0.0.1" if self.chance(0.95) else self.text().encode("utf-8", "surrogatepass").replace(b"\r", b"").replace(b"\n", b"")))
        names = [b"Accept", b"If-None-Match", b"Range", b"Expect", b"X-Request-Id", b"X-Forwarded-For", b"X-API-Key", b"Last-Event-ID", b"Origin", b"Connection",
                 b"Upgrade", b"Content-Encoding", b"Content-Type", b"TE", b"Cookie", b"X" * 200, b"Accept-Encoding", b"Authorization"]
        odd = self.chance(0.1)
        for _ in range(r.choice([0, 0, 1, 1, 2, 5, 60])):
            value = r.choice([self.text().encode("utf-8", "surrogatepass"), b"*", b"close", b"keep-alive", b"100-continue", b"bytes=0-1", b'"x", W/"y"', b"1" * 300, b"gzip", b"gzip;q=0.5, *;q=0",
                              SECRET.encode(), bytes(r.randrange(256) for _ in range(20))])
            if not odd:
                value = value.replace(b"\r", b"").replace(b"\n", b"")
            out.append(r.choice(names) + (r.choice([b": ", b" : ", b"", b" "]) if odd else b": ") + value)
        if self.chance(0.01):
            out.append(b"X-Big: " + b"b" * r.choice([4000, 20000, 70000]))
        return out

    def framing(self, body):
        """Headers that say how long the body is, the body as it is sent, and whether it is whole."""
        kind = self.random.randrange(14)
        length = b"Content-Length: %d" % len(body)
        chunked = b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body) if body else b"0\r\n\r\n"
        if kind == 0:
            return [b"Transfer-Encoding: chunked"], chunked, True
        if kind == 1:
            return [length, b"Transfer-Encoding: chunked"], chunked, True
        if kind == 2:
            return [length, length], body, True
        if kind == 3:
            return [length, b"Content-Length: 0"], body, True
        if kind == 4:
            return [b"Content-Length: " + self.random.choice(LENGTHS)], body, False
        if kind == 5:
            return [b"Transfer-Encoding: chunked"], self.random.choice(CHUNKS), False
        if kind == 6:
            return [b"Transfer-Encoding: " + self.random.choice(CODINGS)], chunked, True
        if kind == 7:
            return [length], body[:len(body) // 2], not body
        return [length], body, True

    def request(self):
        """(bytes, its method, whether an answer must come: not when it waits for more)"""
        path, method, operation = self.random.choice(self.operations)
        if operation["operationId"] == "stream" and self.chance(0.7):
            path, method, operation = self.random.choice(self.operations)
        if self.chance(0.2):
            method = self.random.choice(METHODS)
        line = method.encode() + b" " + self.target(path, operation) + b" "
        line += b"HTTP/1.1" if self.chance(0.97) else self.random.choice([b"HTTP/1.0", b"HTTP/0.9", b"HTTP/2.0", b"HTTP/1.11", b"http/1.1", b"", b"X"])
        headers, body, whole = self.headers(), b"", True
        if method == "POST" or self.chance(0.05):
            body = self.body()
            more, body, whole = self.framing(body)
            headers += more
            if self.chance(0.9):
                headers.append(b"Content-Type: application/json")
        end = b"\r\n" if self.chance(0.98) else b"\n"
        return line + end + b"".join(h + end for h in headers) + end + body, method, whole and end == b"\r\n"


class Client:
    def __init__(self, host, port):
        self.address = (host, port)
        self.seen, self.faults = collections.Counter(), []
        self.excuses = []  # codes of a 503 that the contract names
        self.private = ()  # beginnings of paths of KYC

    def fault(self, request, text):
        self.faults.append(f"{text}\n    {request[:600]!r}")
        if len(self.faults) >= 10:
            sys.exit("\n".join(self.faults))

    def ask(self, request, method, whole):
        try:
            with socket.create_connection(self.address, timeout=20 if whole else 0.1) as s:
                try:
                    s.sendall(request)
                except (BrokenPipeError, ConnectionResetError):
                    pass  # it had read enough: an answer may stand there all the same
                self.read(s, request, method)
        except ConnectionResetError:
            self.seen["cut"] += 1
        except TimeoutError:
            if whole:
                self.fault(request, "no answer and no end in 20 s")
            self.seen["left waiting"] += 1

    def read(self, s, request, method):
        response = http.client.HTTPResponse(s, method="HEAD" if method == "HEAD" else "GET")
        try:
            response.begin()
            if response.status == 100:
                response = http.client.HTTPResponse(s, method=method)
                response.begin()
        except (http.client.BadStatusLine, http.client.RemoteDisconnected):
            self.seen["closed"] += 1
            return
        if response.headers.get_content_type() == "text/event-stream":
            self.seen["stream"] += 1
            return
        body = response.read()
        if body and response.headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
            self.seen["compressed"] += 1
        self.seen[response.status] += 1
        self.check(request, method, response, body)

    def check(self, request, method, response, body):
        other = not re.match(rb"[^ ]* [^ ]* HTTP/1\.[01]\r?\n", request)
        # libmicrohttpd's own word, newer than 1.0.1, of a coding that it does not know
        coding = "Request-Id" not in response.headers and re.search(rb"\nTransfer-Encoding: (?!chunked\r?\n)", request)
        if response.status >= 500 and response.status != 503 and not (response.status == 505 and other) and not (response.status == 501 and coding):
            self.fault(request, f"{response.status}: {body[:300]!r}")
        if "X-Injected" in response.headers or b"SECRETSEED" in body:
            self.fault(request, f"what was sent comes back: {response.headers} {body[:300]!r}")
        private = request.partition(b" ")[2].startswith(self.private)  # read by registered origins alone
        if (response.headers.get("Access-Control-Allow-Origin") != "*" and not private) or not response.headers.get("Request-Id"):
            # libmicrohttpd's own words of what is no HTTP; of a bad Content-Length it says the head twice
            if not body.startswith((b"<html>", b"HTTP/1.1 4")) and method != "HEAD":
                self.fault(request, f"{response.status} without the headers of every answer: {dict(response.headers)} {body[:99]!r}")
            self.seen["of the library"] += 1
            return
        framed = request.partition(b" ")[2].startswith(b"/kyc")  # a page of KYC may stand in an integrator's frame
        wanted = {"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "X-Frame-Options": "DENY"}
        for name, value in wanted.items():
            if response.headers.get(name) != value and not (framed and name == "X-Frame-Options"):
                self.fault(request, f"{response.status} with {name} {response.headers.get(name)}")
        if response.status >= 400 and method != "HEAD" and request[:4] != b"HEAD":
            problem = json.loads(body)
            if problem["status"] != response.status:
                self.fault(request, f"another status within: {body[:300]!r}")
            if response.status == 503:
                self.seen["503 " + problem["code"]] += 1
                if problem["code"] not in self.excuses:
                    self.fault(request, f"a 503 that is not the contract's: {body[:300]!r}")


def rss(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        return int(re.search(r"VmRSS:\s+(\d+)", file.read()).group(1))


def descriptors(pid):
    return len(os.listdir(f"/proc/{pid}/fd"))


def cursors(client, doc):
    """Cursors of real pages, to be bent."""
    out, connection = [], http.client.HTTPConnection(*client.address, timeout=20)
    for path, item in doc["paths"].items():
        if "{" not in path and any(p.get("$ref", "").endswith("/cursor") for p in item.get("get", {}).get("parameters", [])):
            connection.request("GET", path + "?limit=1")
            answer = json.loads(connection.getresponse().read())
            out += [answer["next"]] if answer.get("next") else []
    return out


def main():
    url, pid = urllib.parse.urlsplit(sys.argv[1]), int(sys.argv[2])
    client = Client(url.hostname, url.port)
    connection = http.client.HTTPConnection(*client.address, timeout=20)
    connection.request("GET", "/openapi.json")
    doc = json.loads(connection.getresponse().read())
    client.excuses = doc["components"]["responses"]["503"]["x-codes"]
    client.private = tuple(path.partition("{")[0].encode() for path, item in doc["paths"].items()
                           for o in item.values() if o["x-from"].startswith("KYC: "))
    real = cursors(client, doc)
    generator = Generator(doc, real)
    before, files, started = rss(pid), descriptors(pid), time.monotonic()
    for n in range(REQUESTS):
        client.ask(*generator.request())
        if n % 500 == 499:
            os.kill(pid, 0)
    spent = time.monotonic() - started
    connection.close()
    connection.request("GET", "/healthz")
    response = connection.getresponse()
    assert response.status == 200 and response.read(), "it does not answer any more"
    until = time.monotonic() + 30
    while descriptors(pid) > files + 8 and time.monotonic() < until:
        time.sleep(0.2)
    if descriptors(pid) > files + 8:
        client.faults.append(f"{descriptors(pid)} descriptors, {files} before")
    print(f"{REQUESTS} requests of seed {SEED} in {spent:.1f} s, {len(real)} real cursors; memory {before} -> {rss(pid)} KiB")
    print(dict(sorted(client.seen.items(), key=str)))
    if client.seen[200] < REQUESTS // 20 or client.seen[400] < REQUESTS // 10:
        client.faults.append("hardly any success or refusal: this proves little")
    for fault in client.faults:
        print(fault)
    sys.exit(bool(client.faults))


main()
