"""usage: _tls_handshakes.py PORT limits | PORT stop PID   run by tls_handshakes.sh

limits: with api_connections_per_ip 64 and one thread. Each step has addresses of its own. What it judges by figures of
the server are counters, which no pause of the machine lowers.
"""
import os
import re
import select
import signal
import socket
import ssl
import sys
import time

PORT = int(sys.argv[1])
OF_ONE, PENDING, FAILURES = 16, 256, 64  # a quarter of 64; SERVER_HANDSHAKES; api_connections_per_ip
TLS_S = 5  # SERVER_TLS_MS
CONTEXT = ssl.create_default_context()
CONTEXT.check_hostname, CONTEXT.verify_mode = False, ssl.CERT_NONE


def connect(address="127.0.0.1"):
    return socket.create_connection(("127.0.0.1", PORT), timeout=60, source_address=(address, 0))


def ask(path, connection):
    with CONTEXT.wrap_socket(connection, server_hostname="localhost") as s:
        s.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
        got = b""
        while part := s.recv(65536):
            got += part
        if not got.startswith(b"HTTP/1.1 200"):
            sys.exit(f"FAIL: {path}: {got[:200]}")
        return got


def figures():
    got = ask("/metrics", connect()).decode()
    return {name: int(value) for name, value in re.findall(r"^tidemark_api_(refused_total|handshakes|handshakes_failed_total) (\d+)$", got, re.M)}


def wait_for(name, least):
    """The figure, when it is at least so much."""
    until = time.monotonic() + 60
    while (found := figures())[name] < least:
        if time.monotonic() > until:
            sys.exit(f"FAIL: {name} is {found[name]}, not {least}")
    return found


def ended(s):
    """Waits until the server closes the connection."""
    try:
        while s.recv(65536):
            pass
    except ConnectionResetError:
        pass


def one_address():
    before = figures()
    held = [connect("127.0.1.1") for _ in range(2 * OF_ONE)]
    after = wait_for("refused_total", before["refused_total"] + OF_ONE)
    if after["handshakes"] > OF_ONE + 1:  # the one that asks is none any more
        sys.exit(f"FAIL: {after['handshakes']} handshakes of one address are pending")
    for s in held:
        ended(s)
    wait_for("handshakes_failed_total", before["handshakes_failed_total"] + OF_ONE)
    print(f"ok one address: {OF_ONE} handshakes are pending, others are closed; those fail when their time is up, and count")


def all_addresses(attempt):
    """A few addresses hold all that may be pending. Whether an older handshake of another address could be ended then; None: its time was up."""
    early, start, before = connect(f"127.0.2.{attempt}"), time.monotonic(), figures()
    held = [connect(f"127.0.{3 + attempt}.{1 + i // (OF_ONE - 2)}") for i in range(PENDING + 40)]
    found = wait_for("handshakes_failed_total", before["handshakes_failed_total"] + 40)
    try:
        ask("/healthz", early)
        served = True
    except OSError:
        served = False
    late = time.monotonic() - start > TLS_S - 0.5
    if found["handshakes"] > PENDING:
        sys.exit(f"FAIL: {found['handshakes']} handshakes are pending")
    for s in held:
        s.close()
    return None if late else served


def failures():
    """Few at once, so that never too many are pending. Meanwhile the limit allows one more each second."""
    before, failed, refused = figures(), 0, 0
    while not refused:
        for _ in range(OF_ONE // 2):
            connect("127.0.20.1").close()
        made, failed_before = failed + OF_ONE // 2, failed
        while failed + refused < made:
            now = figures()
            failed, refused = (now[name] - before[name] for name in ("handshakes_failed_total", "refused_total"))
        if failed > 8 * FAILURES or failed < failed_before:
            sys.exit(f"FAIL: {failed} handshakes of one address failed, and none was refused")
    if failed < FAILURES:
        sys.exit(f"FAIL: refused after {failed} failed handshakes")
    ask("/healthz", connect("127.0.20.2"))
    print(f"ok after {FAILURES} failed handshakes further connections of their address are closed, none of another")


def limits():
    one_address()
    for attempt in range(1, 9):
        if (served := all_addresses(attempt)) is not None:
            break
    if not served:
        sys.exit("FAIL: " + ("the machine stood still each time" if served is None else "handshakes of some addresses ended another's"))
    print(f"ok {PENDING} handshakes are pending in all; the oldest of the address with most is cut, and no other")
    failures()


def stop():
    """Connections that have not said their first line yet; SIGTERM ends the process before their time is up."""
    greeting, start = ssl.MemoryBIO(), time.monotonic()
    try:
        CONTEXT.wrap_bio(ssl.MemoryBIO(), greeting, server_hostname="localhost").do_handshake()
    except ssl.SSLWantReadError:
        pass
    hello = greeting.read()
    held = [connect() for _ in range(20)]
    for i, s in enumerate(held):
        s.sendall(hello[:len(hello) * (i % 3) // 2])
    answered = [s for i, s in enumerate(held) if i % 3 == 2]
    while answered:  # the server accepted them
        answered = answered[len(select.select(answered, [], [])[0]):]
    os.kill(int(sys.argv[3]), signal.SIGTERM)
    for s in held:
        ended(s)
    took = time.monotonic() - start
    if took > TLS_S - 0.5:
        sys.exit(f"FAIL: the stop waited {took:.1f} s for handshakes")
    print(f"ok the stop waited {took:.1f} s for handshakes")


limits() if sys.argv[2] == "limits" else stop()
