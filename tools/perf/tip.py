#!/usr/bin/env python3
"""usage: tip.py RPC API ADDRESS SECONDS   how long after a Stellar RPC serves a ledger a look-up answers from it

Asks both servers again and again on connections of their own: RPC for its newest ledger, the API for an address's compliance. Prints one line of JSON:
milliseconds, what the server told of its requests (tidemark-sim's /stats), and how many ledgers the look-up was behind at most.
"""
import http.client
import json
import sys
import threading
import time
import urllib.parse

EVERY = 0.004


class Watcher(threading.Thread):
    """Notes when each ledger was seen first."""

    def __init__(self, url, ask):
        super().__init__(daemon=True)
        url = urllib.parse.urlsplit(url)
        self.connection, self.ask, self.seen, self.newest, self.failed = http.client.HTTPConnection(url.hostname, url.port, timeout=30), ask, {}, 0, None

    def run(self):
        try:
            while True:
                ledger, now = self.ask(self.connection), time.monotonic()
                for number in range(self.newest + 1 if self.newest else ledger, ledger + 1):
                    self.seen[number] = now
                self.newest = max(self.newest, ledger)
                time.sleep(EVERY)
        except Exception as why:  # a thread's failure is told at the end
            self.failed = why


def latest(connection):
    connection.request("POST", "/", '{"jsonrpc":"2.0","id":1,"method":"getLatestLedger"}', {"Content-Type": "application/json"})
    return json.loads(connection.getresponse().read())["result"]["sequence"]


def look_up(address):
    def ask(connection):
        connection.request("GET", f"/api/sdk/kyc/status/{address}")
        response = connection.getresponse()
        response.read()
        assert response.status == 200, response.status
        return int(response.headers["Ledger-Sequence"])
    return ask


def stats(url):
    url = urllib.parse.urlsplit(url)
    connection = http.client.HTTPConnection(url.hostname, url.port, timeout=30)
    connection.request("GET", "/stats")
    asked = json.loads(connection.getresponse().read())["requests"]
    return sum(count for method, count in asked.items() if method != "getLatestLedger")


def main():
    rpc_url, api_url, address, seconds = sys.argv[1], sys.argv[2], sys.argv[3], float(sys.argv[4])
    rpc, api = Watcher(rpc_url, latest), Watcher(api_url, look_up(address))
    rpc.start()
    api.start()
    time.sleep(min(20, seconds / 4))  # the pace is learnt meanwhile
    first, before, behind, end = rpc.newest + 1, stats(rpc_url), 0, time.monotonic() + seconds
    while time.monotonic() < end and not rpc.failed and not api.failed:
        behind = max(behind, rpc.newest - api.newest)
        time.sleep(0.02)
    last, asked = rpc.newest, stats(rpc_url) - before
    time.sleep(2)
    if rpc.failed or api.failed:
        sys.exit(f"{rpc.failed or api.failed}")
    late = sorted((api.seen.get(n, float("inf")) - rpc.seen[n]) * 1000 for n in range(first, last))
    if not late:
        sys.exit("no ledger closed")
    print(json.dumps({"ledgers": len(late), "p50": round(max(late[len(late) // 2], 0.1), 1), "p99": round(max(late[len(late) * 99 // 100], 0.1), 1), "most": round(late[-1], 1),
                      "questions": round(asked / len(late), 2), "behind": behind}).replace(": ", ":"))


main()
