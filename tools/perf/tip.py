#!/usr/bin/env python3
"""usage: tip.py RPC API ADDRESS SECONDS REQUESTS [NAME=PID[,PID]…]…   measures how long after a Stellar RPC serves a ledger a look-up answers from it

One thread polls each server on its own connection. The RPC is asked for its newest ledger (by getHealth, whose answer is small however full the ledger is), the API for an address's compliance.
REQUESTS is the URL where the server counts getLedgers and getLatestLedger: tidemark-sim's /stats, or the metrics of stellar-rpc. A NAME is a process whose CPU time is counted, with its children, including those that
ended; for the process named indexer also the memory. Prints one line of JSON. Times are milliseconds, CPU is that of one ledger; `used` is that of indexer, api and postgres together. A ledger that no look-up answered from counts with the time until the end.
"""
import http.client
import json
import os
import re
import sys
import threading
import time
import urllib.parse
import urllib.request

OWN = "indexer", "api", "postgres"
EVERY, STAGE_S, REST_S = 0.004, 60, 2  # seconds between polls, at most to get ready, and for the last ledgers to arrive
TICK, PAGE = os.sysconf("SC_CLK_TCK"), os.sysconf("SC_PAGE_SIZE")


class Watcher(threading.Thread):
    """Polls one server: records when it showed each ledger first, and how long each answer took."""

    def __init__(self, url, ask):
        super().__init__(daemon=True)
        url = urllib.parse.urlsplit(url)
        self.connection, self.ask, self.seen, self.newest, self.failed, self.took = http.client.HTTPConnection(url.hostname, url.port, timeout=30), ask, {}, 0, None, []

    def run(self):
        try:
            while True:
                began = time.monotonic()
                ledger, now = self.ask(self.connection), time.monotonic()
                self.took.append(now - began)
                for number in range(self.newest + 1 if self.newest else ledger, ledger + 1):
                    self.seen[number] = now
                self.newest = max(self.newest, ledger)
                time.sleep(EVERY)
        except Exception as why:  # the main thread reports it at the end
            self.failed = why


def latest(connection):
    """Returns the newest ledger that the RPC serves."""
    connection.request("POST", "/", '{"jsonrpc":"2.0","id":1,"method":"getHealth"}', {"Content-Type": "application/json"})
    return json.loads(connection.getresponse().read())["result"]["latestLedger"]


def look_up(address):
    """Returns a function that looks the address up and returns the ledger of the answer."""
    def ask(connection):
        connection.request("GET", f"/api/sdk/kyc/status/{address}")
        response = connection.getresponse()
        response.read()
        assert response.status == 200, response.status
        return int(response.headers["Ledger-Sequence"])
    return ask


def requests(url):
    """Returns how many requests for ledgers the server has counted."""
    text = urllib.request.urlopen(url, timeout=30).read().decode()
    found = re.findall(r'"get(?:Latest)?Ledgers?":(\d+)|^\w*json_rpc_request_duration_seconds_count\{[^}]*endpoint="get(?:Latest)?Ledgers?"[^}]*\} (\S+)', text, re.M)
    return sum(float(a or b) for a, b in found)


def fields(pid):
    """Returns the fields of /proc/PID/stat that follow the command's name; [11] to [14] are CPU times in ticks, [21] is memory in pages."""
    with open(f"/proc/{pid}/stat") as file:
        return file.read().rpartition(") ")[2].split()


def cpu(pid):
    """Returns the seconds of CPU of a process and its children."""
    ticks = sum(map(int, fields(pid)[11:15]))
    with open(f"/proc/{pid}/task/{pid}/children") as file:
        children = file.read().split()
    for child in children:
        try:
            ticks += sum(map(int, fields(child)[11:13]))
        except OSError:  # the child has just ended: its parent counts it
            pass
    return ticks / TICK


def machine():
    """Returns the seconds of CPU of all cores, without idle time and waiting for disks."""
    with open("/proc/stat") as file:
        values = list(map(int, file.readline().split()[1:9]))
    return (sum(values) - values[3] - values[4]) / TICK


def memory_mib(pid):
    return int(fields(pid)[21]) * PAGE / 2**20 if pid else 0


def quantile(values, q):
    values = sorted(values)
    return values[min(int(len(values) * q), len(values) - 1)]


class Meter:
    """CPU time and memory of the named processes, and CPU time of the machine, between two moments."""

    def __init__(self, named):
        self.named, self.began, self.rss, self.loads, self.known = named, time.monotonic(), [], [], {}
        self.before, self.busy = self.read(), machine()

    def read(self):
        """Returns the seconds of CPU by name. A process that has ended, for instance one that unpacked all ledgers, counts with its last value."""
        for pid in (pid for pids in self.named.values() for pid in pids):
            try:
                self.known[pid] = cpu(pid)
            except OSError:
                pass
        return {name: sum(self.known.get(pid, 0) for pid in pids) for name, pids in self.named.items()}

    def sample(self):
        self.read()
        self.rss.append(memory_mib(self.named.get("indexer", [None])[0]))
        self.loads.append(os.getloadavg()[0])

    def result(self):
        seconds = time.monotonic() - self.began
        used = {name: after - self.before[name] for name, after in self.read().items()}
        busy, own = machine() - self.busy, time.process_time()
        return {"seconds": round(seconds, 1), "rss_peak": round(max(self.rss), 1), "load": round(sum(self.loads) / len(self.loads), 1),
                "cores": os.cpu_count(), "busy": round(busy / seconds, 2), "others": round(max(0, busy - own - sum(used.values())) / seconds, 2),
                "used": {**used, "watchers": own}}


def verdict(every, rate, end, p99, each_ms):
    """Returns the interval in ms at which the indexer follows, and a text that says whether it kept up with `every`."""
    kept = rate >= 0.99 and end <= 1
    if kept and p99 < every:
        return every, "held: all but one of a hundred ledgers are answered from before the next closes"
    if kept:
        return p99, "did not hold: all ledgers are stored, but more than one of a hundred is answered from after the next has closed"
    return each_ms, f"did not hold: one ledger takes {each_ms:.0f} ms"


def start(rpc, api):
    """Starts both watchers. Returns when the API has kept up with the RPC for ten seconds, or after STAGE_S: the indexer then has read older ledgers and learnt their pace."""
    rpc.start()
    api.start()
    end, calm = time.monotonic() + STAGE_S, 0
    while time.monotonic() < end and calm < 100 and not rpc.failed and not api.failed:
        time.sleep(0.1)
        calm = calm + 1 if rpc.newest and rpc.newest - api.newest <= 1 else 0


def main():
    rpc_url, api_url, address, seconds, counted = sys.argv[1], sys.argv[2], sys.argv[3], float(sys.argv[4]), sys.argv[5]
    named = {name: list(map(int, pids.split(","))) for name, pids in (text.split("=") for text in sys.argv[6:])}
    rpc, api = Watcher(rpc_url, latest), Watcher(api_url, look_up(address))
    start(rpc, api)
    first, asked, from_api, answers = rpc.newest + 1, requests(counted), api.newest, len(api.took)
    lags, meter, end = [], Meter(named), time.monotonic() + seconds
    while time.monotonic() < end and not rpc.failed and not api.failed:
        lags.append(rpc.newest - api.newest)
        if len(lags) % 25 == 1:
            meter.sample()
        time.sleep(0.02)
    measured, last, asked, stored = meter.result(), rpc.newest, requests(counted) - asked, api.newest - from_api
    time.sleep(REST_S)
    if rpc.failed or api.failed:
        sys.exit(f"{rpc.failed or api.failed}")
    if last <= first or not stored:
        sys.exit("no ledger closed or none was stored within the time: prepare more ledgers")
    now = time.monotonic()
    late = sorted((api.seen.get(n, now) - rpc.seen[n]) * 1000 for n in range(first, last))
    took = api.took[answers:]
    closed, used = last - first + 1, measured.pop("used")
    every, rate, p99 = measured["seconds"] * 1000 / closed, stored / closed, max(quantile(late, 0.99), 0.1)
    cpu_ms = {name: seconds * 1000 / stored for name, seconds in used.items()}
    holds, said = verdict(every, rate, lags[-1], p99, measured["seconds"] * 1000 / stored)
    print(json.dumps({"ledgers": len(late), "p50": round(max(quantile(late, 0.5), 0.1), 1), "p99": round(p99, 1), "most": round(late[-1], 1),
                      "questions": round(asked / stored, 2), "every": round(every), "stored": stored, "rate": round(rate, 3), "holds": round(holds), "verdict": said,
                      "cpu": ", ".join(f"{name} {ms:.0f}" for name, ms in cpu_ms.items()),
                      "used": round(sum(cpu_ms[name] for name in OWN), 2), **{f"used_{name}": round(cpu_ms[name], 2) for name in OWN},
                      "behind": max(lags), "end": lags[-1], "lookups": len(took), "lookup_p50": round(quantile(took, 0.5) * 1000, 2),
                      "lookup_p99": round(quantile(took, 0.99) * 1000, 2), **measured}, separators=(", ", ":")))


main()
