#!/usr/bin/env python3
"""Content codings, ETags and 304s of a running tidemark-api; run by encoding.sh.

usage: _encoding.py PORT codings|tags|stale LAST    LAST: the newest ledger
"""
import gzip
import http.client
import json
import re
import socket
import subprocess
import sys
import threading
import time

PORT, WHAT, LAST = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
QUERY = "/api/events?limit=200"
LOOKUPS = json.dumps({"addresses": ["GA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVSGZ"] * 1000})
BATCH = "/api/sdk/kyc/status"
JSON = {"Content-Type": "application/json"}


def check(condition, what):
    if not condition:
        sys.exit(f"FAIL: {what}")


def ask(path, accept=None, headers=None, method="GET", body=None):
    """status, headers, body as it came."""
    sent = {**(headers or {}), **({"Accept-Encoding": accept} if accept is not None else {})}
    connection = http.client.HTTPConnection("127.0.0.1", PORT, timeout=60)
    connection.putrequest(method, path, skip_accept_encoding=True)
    for name, value in sent.items():
        connection.putheader(name, value)
    if body is not None:
        connection.putheader("Content-Length", str(len(body)))
    connection.endheaders(body.encode() if body is not None else None)
    response = connection.getresponse()
    data = response.read()
    connection.close()
    return response.status, response.headers, data


def plain(headers, data):
    coding = headers.get("Content-Encoding", "identity")
    if coding == "gzip":
        return gzip.decompress(data)
    if coding == "zstd":
        return subprocess.run(["zstd", "-dc"], input=data, stdout=subprocess.PIPE, check=True).stdout
    check(coding == "identity", f"a coding {coding}")
    return data


def content(data):
    """What a body says, but the ledger at which it is true."""
    return re.sub(rb'^\{"ledger":"[0-9]+","closedAt":"[^"]+"', b"{", data)


# Accept-Encoding headers, with the codings that a query and the batch of look-ups get.
WANTED = {
    None: "identity", "": "identity", "identity": "identity", "gzip": "gzip", "GZip": "gzip", "zstd": "zstd", "gzip, deflate, br, zstd": "zstd",
    "zstd;q=0.2, gzip;q=0.8": "gzip", "*": "zstd", "gzip;q=0, *": "zstd", "*;q=0": "identity", "br": "identity", "gzip;q=9": "identity", "gzip;q=": "identity",
    ";;;,,,": "identity", "identity;q=0": "identity", "gzip;q=0.000": "identity", "\tgzip ; q=1.0": "gzip", "," * 4000: "identity", "gzip," * 900: "gzip",
    "a;b=c," * 700 + "zstd": "zstd", "%00gzip": "identity", "gzip\xff": "identity", "../gzip": "identity", "gzip;q=0.5;q=0": "identity", "deflate, compress": "identity",
}


def one_coding(path, method, body, accept, want, whole):
    headers = JSON if body else {}
    status, head, data = ask(path, accept, headers, method, body)
    name = f"{path} {str(accept)[:40]!r}"
    check(status == 200, f"{name}: {status} {data[:200]}")
    check(head.get("Content-Encoding", "identity") == want, f"{name}: {head.get('Content-Encoding')}, {want} wanted")
    check(content(plain(head, data)) == content(whole), f"{name}: other bytes")
    check(head["Vary"] == "Accept-Encoding", f"{name}: Vary {head['Vary']}")
    check(int(head["Content-Length"]) == len(data), f"{name}: Content-Length {head['Content-Length']} of {len(data)}")
    check(want == "identity" or len(data) * 3 < len(whole), f"{name}: {len(data)} of {len(whole)}")


def codings():
    for path, method, body in ((QUERY, "GET", None), ("/openapi.json", "GET", None), (BATCH, "POST", LOOKUPS), (f"{BATCH}?ledger={LAST}", "POST", LOOKUPS)):
        whole = ask(path, None, JSON if body else {}, method, body)[2]
        check(len(whole) > 20000, f"{path}: {len(whole)} bytes prove little")
        if body:  # what the clock moves is not compared
            whole = re.sub(rb'"evaluatedAt":"[^"]+",', b"", whole)
        for accept, want in WANTED.items():
            if not body:
                one_coding(path, method, body, accept, want, whole)
                continue
            status, head, data = ask(path, accept, JSON, method, body)
            got = re.sub(rb'"evaluatedAt":"[^"]+",', b"", plain(head, data))
            check((status, head.get("Content-Encoding", "identity")) == (200, want) and content(got) == content(whole), f"{path} {str(accept)[:40]!r}: {status} {head}")
    twice = socket.create_connection(("127.0.0.1", PORT), timeout=30)
    twice.sendall(f"GET {QUERY} HTTP/1.1\r\nHost: x\r\nAccept-Encoding: gzip\r\nAccept-Encoding: zstd;q=0\r\nConnection: close\r\n\r\n".encode())
    check(b"content-encoding" not in read_all(twice).lower().partition(b"\r\n\r\n")[0], "two lines: which is meant?")
    head = ask(QUERY, "gzip", method="HEAD")
    check(head[0] == 200 and head[2] == b"" and head[1]["Content-Encoding"] == "gzip", f"HEAD: {head[1]}")
    never()
    half_closed()
    together()
    print("ok the same bytes in each coding, for", len(WANTED), "lines of Accept-Encoding")


def read_all(s):
    got = b""
    while part := s.recv(65536):
        got += part
    return got


def never():
    """Small answers, problems, and what may hold a secret go as they are."""
    for path, status in (("/api/oracle", 200), ("/api/prices/XLM", 200), ("/api/events/nothing", 400), ("/nowhere", 404), ("/api/sdk/kyc/providers", 404),
                         ("/api/sdk/kyc/session/00000000000000000000000000000000", 404), ("/kyc", 404), ("/readyz", 200), ("/metrics", 200)):
        got, head, data = ask(path, "gzip, zstd")
        check(got in (status, 400, 503), f"{path}: {got}")
        check("Content-Encoding" not in head, f"{path}: {head['Content-Encoding']}")


def half_closed():
    """A client that has sent all it will gets its large answer, compressed elsewhere or not."""
    for accept in ("identity", "gzip"):
        s = socket.create_connection(("127.0.0.1", PORT), timeout=30)
        s.sendall(f"POST {BATCH} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nAccept-Encoding: {accept}\r\nConnection: close\r\n"
                  f"Content-Length: {len(LOOKUPS)}\r\n\r\n{LOOKUPS}".encode())
        s.shutdown(socket.SHUT_WR)
        head, _, data = read_all(s).partition(b"\r\n\r\n")
        check(head.startswith(b"HTTP/1.1 200"), f"half closed, {accept}: {head[:200]}")
        items = json.loads(gzip.decompress(data) if accept == "gzip" else data)["items"]
        check(len(items) == 1000, f"half closed, {accept}: {len(items)}")
        s.close()


def together():
    """Many large answers at once: each is whole, compressed or not. A look-up meanwhile waits for none of them."""
    said, slow = [], []
    over = threading.Event()

    def batch():
        for _ in range(6):
            status, head, data = ask(BATCH, "gzip", JSON, "POST", LOOKUPS)
            said.append((status, head.get("Content-Encoding"), len(json.loads(plain(head, data))["items"])))

    def look_up():
        while not over.is_set():
            begun = time.monotonic()
            check(ask("/api/prices/XLM", "gzip")[0] == 200, "a look-up beside large answers")
            slow.append(time.monotonic() - begun)

    threads = [threading.Thread(target=batch) for _ in range(8)]
    beside = threading.Thread(target=look_up)
    for t in (*threads, beside):
        t.start()
    for t in threads:
        t.join()
    over.set()
    beside.join()
    check(len(said) == 48 and all(s[0] == 200 and s[1] in (None, "gzip") and s[2] == 1000 for s in said), said[:3])
    check(any(s[1] for s in said), "none of many is compressed")
    print(f"ok {len(said)} large answers at once, {sum(bool(s[1]) for s in said)} compressed; {len(slow)} look-ups beside them, the slowest {max(slow) * 1000:.0f} ms")


# --- tags ---------------------------------------------------------------------------------------------

LISTS = ["/api/partners", "/api/earnings/epochs", "/api/multisig/wallets", "/api/oracle", "/api/oracle/feeds", "/api/prices", "/api/markets", "/api/pools",
         "/api/sdk/contracts", "/api/sdk/assets", "/api/stability-pool", "/api/dao/proposals", "/api/compliance", "/api/ledgers?limit=3"]


def at(path, ledger):
    return f"{path}{'&' if '?' in path else '?'}ledger={ledger}"


def tags():
    same = other = 0
    for path in LISTS:
        before, now = ask(at(path, LAST - 1)), ask(at(path, LAST))
        check(before[0] == now[0] == 200 and before[2] != now[2], f"{path}: {before[0]} {now[0]}")
        alike = content(before[2]) == content(now[2])
        check((before[1]["ETag"] == now[1]["ETag"]) == alike, f"{path}: content is {'the same' if alike else 'another'}, tags {before[1]['ETag']} {now[1]['ETag']}")
        same, other = same + alike, other + (not alike)
        unchanged(path, now[1]["ETag"])
    check(same > 2 and other > 2, f"{same} alike, {other} not: this test proves little")
    first, then = (ask("/api/coverage") for _ in range(2))
    check(first[2] == then[2] and first[1]["ETag"] == then[1]["ETag"], "coverage changes with the clock")
    ages()
    print(f"ok {same} answers of two ledgers share their tag, {other} do not")


def unchanged(path, tag):
    check(re.fullmatch('W/"[0-9a-f]{32}"', tag), f"{path}: {tag}")
    for accept in (None, "gzip", "zstd"):
        status, head, data = ask(at(path, LAST), accept, {"If-None-Match": f'"x", {tag}'})
        check((status, data, head["ETag"]) == (304, b"", tag), f"{path} {accept}: {status} {head['ETag']}")
        check("Content-Encoding" not in head and head["Ledger-Sequence"] == str(LAST), f"{path}: {head}")
        status, head, _ = ask(at(path, LAST), accept)
        check((status, head["ETag"]) == (200, tag), f"{path} {accept}: {head['ETag']}, {tag} in another coding")


AGES = ["Ledger-Sequence", "Ledger-Closed-At", "Data-Age-Ms", "Price-Age-Seconds", "Twap-Age-Seconds"]


def ages():
    """Ages are in the head, of a 304 too; no body has one."""
    status, head, data = ask("/api/prices/XLM")
    latest = json.loads(data)
    check(not any("age" in name.lower() and name != "agreesWithDao" for name in latest), latest)
    for name in AGES:
        check(name in head and name in head["Access-Control-Expose-Headers"], f"no {name}")
    time.sleep(1.1)
    status, later, data = ask("/api/prices/XLM", headers={"If-None-Match": head["ETag"]})
    check(status == 304 and data == b"", f"a price that did not change: {status}")
    for name in AGES[2:]:
        check(int(later[name]) > int(head[name]), f"{name}: {head[name]}, then {later[name]}")
    closed = ask(at("/api/prices/XLM", LAST))[1]
    check(int(closed["Price-Age-Seconds"]) < 10**6 < int(head["Price-Age-Seconds"]), f"as of the ledger {closed['Price-Age-Seconds']}, now {head['Price-Age-Seconds']}")


def stale():
    for path in ("/api/partners", "/api/ledgers?limit=3", "/api/pools"):
        status, head, data = ask(path)
        check(status == 200 and int(head["Data-Age-Ms"]) > 3000, f"{path}: {status}, {head['Data-Age-Ms']} ms")
        check(head["Cache-Control"] == "no-cache", f"{path}: a stale answer may be kept: {head['Cache-Control']}")
        for sent in (head["ETag"], "*"):
            again = ask(path, headers={"If-None-Match": sent})
            check(again[0] == 200 and again[2] == data, f"{path}: {again[0]} of a stale answer")
        if path != "/api/pools":  # as of a ledger nothing is stale
            then = ask(at(path, LAST))
            check(then[1]["Cache-Control"] == "public, max-age=1", f"{path} as of a ledger: {then[1]['Cache-Control']}")
            check(ask(at(path, LAST), headers={"If-None-Match": then[1]["ETag"]})[0] == 304, f"{path} as of a ledger")
    status, head, data = ask("/api/prices", headers={"If-None-Match": "*"})
    check(status == 503 and json.loads(data)["code"] == "stale", f"a look-up: {status}")
    check(head["Cache-Control"] == "no-store", f"a look-up: {head['Cache-Control']}")
    print("ok a stale answer is sent whole, and never kept as fresh")


{"codings": codings, "tags": tags, "stale": stale}[WHAT]()
