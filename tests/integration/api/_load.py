"""Sends requests to tidemark-api continuously over kept connections, and counts failures.

usage: _load.py PORT CONNECTIONS SECONDS     prints "under way" when 100 are answered, SECONDS later
                                             "served N refused N failed N"

failed   a connection was made, a request sent, and no whole answer came, or one of 5xx
refused  no process listened: not counted as failed; the thread tries again
A connection that the server announced to close (Connection: close) is made anew.
"""
import os
import random
import socket
import sys
import threading
import time

PORT, COUNT, SECONDS = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
PATHS = ["/api/sdk/kyc/status/GA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVSGZ", "/api/ledgers?limit=200", "/healthz", "/api/markets"]
end = time.time() + 60  # until it is under way
served, refused, failed = [0] * COUNT, [0] * COUNT, []


def one(stream, s, path):
    """Status, and whether the connection stays."""
    s.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
    line = stream.readline()
    length, stays = 0, True
    while (h := stream.readline()) not in (b"\r\n", b""):
        length = int(h.split()[1]) if h.lower().startswith(b"content-length") else length
        stays = stays and h.lower().strip() != b"connection: close"
    if h == b"" or len(stream.read(length)) != length:
        raise ConnectionError("half an answer" if line else "no answer")
    return int(line.split()[1]), stays


def work(me):
    rng = random.Random(me)
    while time.time() < end:
        try:
            s = socket.create_connection(("127.0.0.1", PORT), timeout=10)
        except OSError:
            refused[me] += 1
            time.sleep(0.01)
            continue
        stream, stays = s.makefile("rb"), True
        try:
            while stays and time.time() < end:
                status, stays = one(stream, s, rng.choice(PATHS))
                served[me] += status == 200
                if status != 200:
                    failed.append(f"status {status}")
        except (OSError, ValueError, IndexError) as e:
            failed.append(repr(e))
        s.close()


threads = [threading.Thread(target=work, args=(i,)) for i in range(COUNT)]
for t in threads:
    t.start()
while sum(served) < 100 and time.time() < end:
    time.sleep(0.01)
print("under way", flush=True)
end = time.time() + SECONDS
for t in threads:
    t.join()
print(f"served {sum(served)} refused {sum(refused)} failed {len(failed)}")
for why in sorted(set(failed))[:10]:
    print(why, failed.count(why), file=sys.stderr)
