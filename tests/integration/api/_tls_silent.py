"""usage: _tls_silent.py PORT PID   run by tls_silent.sh"""
import os
import select
import socket
import ssl
import sys

PORT, PID = int(sys.argv[1]), sys.argv[2]
CONTEXT = ssl.create_default_context()
CONTEXT.check_hostname, CONTEXT.verify_mode = False, ssl.CERT_NONE


def cpu_s():
    with open(f"/proc/{PID}/stat", encoding="ascii") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def connect():
    return socket.create_connection(("127.0.0.1", PORT), timeout=120)


def greeting():
    """The first message of a TLS client."""
    outgoing = ssl.MemoryBIO()
    try:
        CONTEXT.wrap_bio(ssl.MemoryBIO(), outgoing, server_hostname="localhost").do_handshake()
    except ssl.SSLWantReadError:
        pass
    return outgoing.read()


stream = CONTEXT.wrap_socket(connect(), server_hostname="localhost")
stream.sendall(b"GET /api/stream?topics=ledger HTTP/1.1\r\nHost: localhost\r\n\r\n")
first = stream.recv(65536)
if not first.startswith(b"HTTP/1.1 200"):
    sys.exit(f"FAIL: no stream: {first[:200]}")
for name, said in (("nothing", b""), ("half a greeting", greeting()[:100]), ("a greeting", greeting())):
    before, silent = cpu_s(), connect()
    silent.sendall(said)
    try:
        while silent.recv(65536):
            pass  # the server's part of the handshake, then the end
    except ConnectionResetError:
        pass
    used = cpu_s() - before
    # A loop that spins takes all of the five seconds, unless the machine stands still: then less of them.
    if used > 1:
        sys.exit(f"FAIL: a connection that says {name} cost {used:.2f} s of CPU")
    print(f"ok {name}: {used:.2f} s of CPU until it was closed")
while select.select([stream], [], [], 0)[0]:
    if not stream.recv(65536):
        sys.exit("FAIL: another client's stream was cut")
print("ok the stream lives")
