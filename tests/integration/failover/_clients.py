#!/usr/bin/env python3
"""Clients of API nodes while servers fail. Each answer is recorded for _judge.py. usage: _clients.py NODE…

For each node: look-ups, SQL queries and /readyz, one client each, and a stream that comes back with its last id.
They end when each stream has the ledger in $PG_DIR/clients.end."""
import http.client
import json
import os
import pathlib
import re
import socket
import sys
import threading
import time

PG_DIR = pathlib.Path(os.environ["PG_DIR"])
PEOPLE = os.environ["PEOPLE"].split()
LOOKUPS = ["/api/prices", *(f"/api/sdk/kyc/status/{who}" for who in PEOPLE)]
QUERIES = ["/api/events?limit=20", "/api/ledgers?limit=5", "/api/pools/XLMUSDC", "/api/pools/XLMUSDC/swaps?limit=10"]
PAUSE_S = 0.03
out, lock, over = open(PG_DIR / "clients", "w"), threading.Lock(), threading.Event()


def note(**what):
    with lock:
        out.write(json.dumps(what) + "\n")


def port_of(node):
    return int((PG_DIR / f"{node}.port").read_text())


def ask(node, path, kept):
    """One answer; status 0: no connection, or it was cut."""
    begun = time.time()
    try:
        if kept.get("connection") is None:
            kept["connection"] = http.client.HTTPConnection("127.0.0.1", port_of(node), timeout=30)
        kept["connection"].request("GET", path)
        answer = kept["connection"].getresponse()
        return begun, answer.status, answer.headers, answer.read()
    except (OSError, http.client.HTTPException, ValueError):
        kept["connection"] = None
        return begun, 0, {}, b""


def client(node, kind, paths):
    kept, i = {}, 0
    while not over.is_set():
        path = paths[i % len(paths)]
        i += 1
        begun, status, headers, body = ask(node, path, kept)
        note(node=node, kind=kind, path=path, at=begun, took=time.time() - begun, status=status, ledger=headers.get("Ledger-Sequence"),
             closed=headers.get("Ledger-Closed-At"), age=headers.get("Data-Age-Ms"), retry=headers.get("Retry-After"),
             body=json.loads(body) if body else None)
        time.sleep(PAUSE_S)


class Stream:
    """Ledgers and events; the id is what an EventSource would send to go on."""

    def __init__(self, node):
        self.node, self.id, self.whole = node, None, 0

    def connect(self):
        self.text = self.lines = b""
        self.open = False
        self.socket = socket.create_connection(("127.0.0.1", port_of(self.node)), 5)
        again = f"Last-Event-ID: {self.id}\r\n" if self.id else ""
        self.socket.sendall(f"GET /api/stream?topics=ledger,event HTTP/1.1\r\nHost: localhost\r\n{again}\r\n".encode())
        self.socket.settimeout(0.5)

    def read(self):
        data = self.socket.recv(65536)
        if not data:
            raise OSError("over")
        self.text += data
        if not self.open:
            if b"\r\n\r\n" not in self.text:
                return
            head, self.text = self.text.split(b"\r\n\r\n", 1)
            note(node=self.node, kind="stream", at=time.time(), status=int(head.split()[1]), after=self.id)
            if head.split()[1] != b"200":
                raise OSError("refused")
            self.open = True
        while b"\r\n" in self.text:  # chunks
            size, rest = self.text.split(b"\r\n", 1)
            if len(rest) < int(size, 16) + 2:
                break
            self.lines += rest[:int(size, 16)]
            self.text = rest[int(size, 16) + 2:]
        *blocks, self.lines = self.lines.split(b"\n\n")
        for block in blocks:
            self.take(dict(re.findall(r"^(\w+): ?(.*)$", block.decode(), re.M)))

    def take(self, fields):
        self.id = fields.get("id", self.id)
        if "data" in fields:
            data = json.loads(fields["data"])
            note(node=self.node, kind="message", at=time.time(), id=fields.get("id"), event=fields["event"], data=data)
            if fields["event"] == "ledger":
                self.whole = int(data["ledger"])

    def run(self):
        while not over.is_set():  # until main ends
            try:
                self.connect()
                while not over.is_set():
                    try:
                        self.read()
                    except TimeoutError:
                        pass
            except (OSError, ValueError):
                time.sleep(0.1)


def main():
    nodes = sys.argv[1:]
    streams = [Stream(node) for node in nodes]
    threads = [threading.Thread(target=stream.run) for stream in streams]
    for node in nodes:
        for kind, paths in ("lookup", LOOKUPS), ("query", QUERIES), ("ready", ["/readyz"]):
            threads.append(threading.Thread(target=client, args=(node, kind, paths)))
    for thread in threads:
        thread.start()
    late = time.monotonic() + 60
    while not all(stream.whole for stream in streams):
        if time.monotonic() > late:
            sys.exit("a stream tells no ledger")
        time.sleep(0.05)
    (PG_DIR / "clients.begun").touch()
    end, last = PG_DIR / "clients.end", None
    while not end.exists() or not end.read_text().strip():
        time.sleep(0.1)
    last, until = int(end.read_text()), time.monotonic() + 60
    while any(stream.whole < last for stream in streams) and time.monotonic() < until:
        time.sleep(0.1)
    over.set()
    for thread in threads:
        thread.join()
    out.close()
    if any(stream.whole < last for stream in streams):
        sys.exit(f"streams end at {[(s.node, s.whole) for s in streams]}, wanted {last}")


main()
