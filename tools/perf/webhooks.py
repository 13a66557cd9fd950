"""CPU of a webhook's delivery on the stack of tools/with-stack --kyc: notifications of sessions, in lanes of ten, to one receiver here.

usage: webhooks.py COUNT      prints: microseconds of the API and of PostgreSQL for each, and deliveries a second"""
import http.server
import json
import os
import subprocess
import sys
import threading
import time
import urllib.request

COUNT = int(sys.argv[1])
TICK = os.sysconf("SC_CLK_TCK")
GOT = threading.Semaphore(0)


class Receiver(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(204)
        self.end_headers()
        GOT.release()

    def log_message(self, *_):
        pass


def sql(statement):
    return subprocess.run(["psql", "-XAtqv", "ON_ERROR_STOP=1", os.environ["TIDEMARK_DATABASE_URL"], "-c", statement], capture_output=True, text=True,
                          check=True).stdout.strip()


def ask(method, path, body):
    request = urllib.request.Request(os.environ["TIDEMARK_API_URL"] + path, json.dumps(body).encode(), method=method,
                                     headers={"X-API-Key": os.environ["TIDEMARK_KYC_KEY"], "Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=20) as answer:
        return json.load(answer)


def cpu_s(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICK


def api_pid():
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                if f"{os.environ['TIDEMARK_STACK']}/cache".encode() in file.read().split(b"\0"):
                    return int(pid)
        except OSError:
            continue
    sys.exit("the API is not there")


def spent():
    """CPU so far: the API's, and that of its connections to PostgreSQL as tidemark_kyc."""
    backends = sql("SELECT pid FROM pg_stat_activity WHERE usename = 'tidemark_kyc'").split()
    return cpu_s(api_pid()), sum(cpu_s(pid) for pid in backends)


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
threading.Thread(target=server.serve_forever, daemon=True).start()
ask("POST", "/api/sdk/webhooks", {"url": f"http://127.0.0.1:{server.server_address[1]}/", "events": ["kyc.session.updated"]})
LANES = COUNT // 10
sql("INSERT INTO kyc.session (id, deployment, address, provider, integrator, mode, ref, expires_at) SELECT md5('bench' || i), (SELECT max(id) FROM"
    f" chain.deployment), 'BENCH' || i, 'sandbox', 'harbour', 'redirect', 'bench' || i, now() + interval '1 day' FROM generate_series(1, {LANES}) AS i")
idle = spent()
time.sleep(3)
rest = [(b - a) / 3 for a, b in zip(idle, spent())]
before, began = spent(), time.monotonic()
for turn in range(10):
    sql(f"UPDATE kyc.session SET state = '{('pending', 'action_required')[turn % 2]}' WHERE address LIKE 'BENCH%'")
for _ in range(10 * LANES):
    if not GOT.acquire(timeout=60):
        sys.exit("a notification did not come")
took = time.monotonic() - began
api, database = ((b - a - r * took) / (10 * LANES) * 1e6 for a, b, r in zip(before, spent(), rest))
print(f"{api:.0f} {database:.0f} {10 * LANES / took:.0f}")
