#!/usr/bin/env python3
"""usage: _hot_waits.py URL LOG ADDRESSES INDEXER…   asks hot routes over a few connections for as long as the
indexer (a command) runs, then looks at what the server counted and at what PostgreSQL logged."""
import json
import multiprocessing
import random
import re
import socket
import subprocess
import sys
import time
import urllib.parse
import urllib.request

URL, LOG, ADDRESSES, INDEXER = sys.argv[1], sys.argv[2], sys.argv[3].split(), sys.argv[4:]
CONNECTIONS, SECONDS_MAX = 4, 60


def metrics():
    text = urllib.request.urlopen(URL + "/metrics", timeout=20).read().decode()
    return {m[1]: float(m[2]) for m in re.finditer(r"^(tidemark_\S+) (\S+)$", text, re.M)}


def connect():
    at = urllib.parse.urlsplit(URL)
    return socket.create_connection((at.hostname, at.port), timeout=20)


def ask(s, path):
    s.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
    got = s.recv(65536)
    while b"\r\n\r\n" not in got:
        got += s.recv(65536)
    head, body = got.split(b"\r\n\r\n", 1)
    length = int(re.search(rb"(?i)content-length: (\d+)", head)[1])
    while len(body) < length:
        body += s.recv(65536)
    return int(got[9:12]), body


def hammer(seed, connected, begun, over, counted, said):
    """Each its own process, so that they ask at the same time."""
    rng, s = random.Random(seed), connect()
    pool = json.loads(ask(s, "/api/markets")[1])["items"][0]["pool"]
    others = ["/api/markets", "/api/prices", "/api/sdk/assets", "/api/sdk/contracts"]
    others += [f"/api/pools/{pool}/quote?amountIn=1000000&direction=a_to_b"] if pool else []
    count, bad, ledgers = 0, {}, set()
    connected.wait()
    begun.wait()
    while not over.is_set():
        path = "/api/sdk/kyc/status/" + rng.choice(ADDRESSES) if rng.random() < 0.9 else rng.choice(others)
        status, body = ask(s, path)
        count += 1
        if status != 200:
            bad[path.split("?")[0][:20] + str(status)] = body[:200].decode()
        if count % 9000 == 0:  # the server closes after 10000
            s.close()
            s = connect()
        if status == 200 and count % 50 == 0 and "status/" in path:
            ledgers.add(json.loads(body)["ledger"])
    said.put((count, bad, ledgers))
    said.close()
    counted.wait()  # no client leaves while the counts are read


def statements(text):
    """Who sent how many."""
    counts = {}
    for who in re.findall(r"^@([^@]*)@LOG:  (?:statement|execute)", text, re.M):
        counts[who] = counts.get(who, 0) + 1
    return counts


def main():
    begun, over, counted = (multiprocessing.Event() for _ in range(3))
    connected, said = multiprocessing.Barrier(CONNECTIONS + 1), multiprocessing.Queue()
    workers = [multiprocessing.Process(target=hammer, args=(i, connected, begun, over, counted, said), daemon=True) for i in range(CONNECTIONS)]
    for w in workers:
        w.start()
    connected.wait(60)
    before, start = metrics(), time.time()
    log = open(LOG, encoding="utf-8", errors="replace")
    log.seek(0, 2)
    begun.set()
    indexer = subprocess.Popen(INDEXER)
    beside = 0
    while time.time() - start < SECONDS_MAX and (indexer.poll() is None or time.time() - start < 3):
        time.sleep(0.2)
        beside = time.time() - start if indexer.poll() is None else beside
    over.set()
    told = [said.get(timeout=30) for _ in workers]
    after, took = metrics(), time.time() - start
    counted.set()
    sent = statements(log.read())  # what is sent later is not of the time that the counts describe
    assert indexer.wait(30) == 0, "the indexer failed"
    asked, ledgers = sum(t[0] for t in told), set().union(*(t[2] for t in told))
    assert not any(t[1] for t in told), told
    waits = {k: after[k] - before[k] for k in after if k.startswith("tidemark_lookup_waits_total")}
    assert len(waits) == 6, waits
    print(f"{asked} look-ups in {took:.1f} s over {CONNECTIONS} connections, the indexer ran for {beside:.1f} s of them,"
          f" {len(ledgers)} ledgers seen; statements: {sent}")
    print("waits: " + ", ".join(f"{k.split(chr(34))[1]} {v:.0f}" for k, v in waits.items()))
    assert not any(waits.values()), waits
    assert after["tidemark_cache_grown_total"] == 0 and after["tidemark_cache_generation"] == before["tidemark_cache_generation"]
    assert after["tidemark_cache_ledger"] > before["tidemark_cache_ledger"] and len(ledgers) > 1, "the cache was not fed: this test proves little"
    assert sent.get("tidemark-indexer", 0) > 100 or beside > 1, "nobody indexed: this test proves little"
    # The pool sent nothing; what feeder and stream send grows with ledgers and time, not with who asks.
    assert "tidemark-api" not in sent and after["tidemark_pool_jobs_total"] == before["tidemark_pool_jobs_total"], sent
    steps = after["tidemark_feeder_steps_total"] - before["tidemark_feeder_steps_total"]
    assert sent.get("tidemark-feeder", 0) <= 4 * steps + 4 * took + 10, (sent, steps)
    assert asked > 20 * sum(n for who, n in sent.items() if who in ("tidemark-feeder", "tidemark-stream")) or asked < 20000, sent
    print("ok none waited: neither on a lock, nor on a query, nor on the feeder")


main()
