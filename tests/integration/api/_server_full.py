#!/usr/bin/env python3
"""usage: _server_full.py PORT PID CONNECTIONS   fills the server and asks what must hold then (A1)."""
import re
import socket
import sys
import time

from _steady import steady

PORT, PID, MOST = int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
STATUS = "/api/sdk/kyc/status/GA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVSGZ"
PER_IP = 2000  # of one loopback address: each has its own ports
CONN_KIB = 40  # what one may take: its buffers and what is kept of it


def rss_kib():
    return int(re.search(r"VmRSS:\s+(\d+)", open(f"/proc/{PID}/status").read())[1])


def connect(i):
    s = socket.create_connection(("127.0.0.1", PORT), timeout=60, source_address=(f"127.0.0.{2 + i // PER_IP}", 0))
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return s


def ask(s, path):
    s.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())


def answer(s):
    got = b""
    while b"\r\n\r\n" not in got:
        part = s.recv(65536)
        assert part, "closed"
        got += part
    head, body = got.split(b"\r\n\r\n", 1)
    length = int(re.search(rb"(?i)content-length: (\d+)", head)[1])
    while len(body) < length:
        body += s.recv(65536)
    return int(got[9:12]), body


def told(s):
    """All that a connection is told until it is closed."""
    got = b""
    try:
        while part := s.recv(4096):
            got += part
    except ConnectionResetError:
        pass
    return got


def main():
    before, start = rss_kib(), time.time()
    socks = [connect(i) for i in range(MOST)]
    opened = time.time() - start
    for s in socks[::7]:  # a seventh is active, and only half of a request came from another
        ask(s, STATUS)
    for s in socks[1::7]:
        s.sendall(b"GET /healthz HT")
    for s in socks[::7]:
        assert answer(s)[0] == 200
    full = rss_kib()
    refused = 0
    for i in range(100):
        start = steady()
        got = told(connect(MOST + i))
        assert steady() - start < 5, "not at once"
        assert got.startswith(b"HTTP/1.1 503") or got == b"", got[:100]
        refused += got.startswith(b"HTTP/1.1 503")
    assert refused >= 90, f"{refused} of 100 were told why"
    slowest = 0
    for s in socks[2::7 * max(1, MOST // 1400)]:  # idle ones
        start = time.time()
        ask(s, "/healthz")
        status, body = answer(s)
        slowest = max(slowest, time.time() - start)
        assert status == 200, body
    for s in socks[1::7]:
        s.sendall(b"TP/1.1\r\nHost: x\r\n\r\n")
    for s in socks[1::7]:
        assert answer(s)[0] == 200
    for s in socks[: MOST // 2]:
        s.close()
    for _ in range(100):
        s = connect(1)
        ask(s, "/healthz")
        try:
            if answer(s)[0] == 200:
                break
        except (AssertionError, OSError):
            pass
        time.sleep(0.1)
    else:
        raise AssertionError("half of them went, and no new connection is accepted")
    for s in socks[MOST // 2:]:
        s.close()
    assert full - before < 64 * 1024 + CONN_KIB * MOST, (before, full)
    print(f"ok A1 {MOST} connections opened in {opened:.1f} s: 100 more told 503 ({refused} with its words), /healthz on those that are in"
          f" answered within {1000 * slowest:.0f} ms; {before // 1024} MiB, full {full // 1024} MiB")


main()
