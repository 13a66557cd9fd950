"""usage: webhooks.py COUNT     measures the CPU time of a webhook's delivery on the stack of tools/with-stack --kyc

Changes COUNT / 10 sessions ten times and receives the notifications. Prints the microseconds of CPU that the API and PostgreSQL spent on each delivery, and the deliveries a second."""
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
    """Accepts every notification and counts it in GOT."""

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
    """Returns the seconds of CPU of a process."""
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICK


def api_pid():
    """Returns the process that has the stack's cache among its arguments."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                if f"{os.environ['TIDEMARK_STACK']}/cache".encode() in file.read().split(b"\0"):
                    return int(pid)
        except OSError:
            continue
    sys.exit("no process of the API: run this program inside tools/with-stack --kyc")


def spent():
    """Returns the seconds of CPU of the API, and of its connections to PostgreSQL as tidemark_kyc."""
    backends = sql("SELECT pid FROM pg_stat_activity WHERE usename = 'tidemark_kyc'").split()
    return cpu_s(api_pid()), sum(cpu_s(pid) for pid in backends)


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
threading.Thread(target=server.serve_forever, daemon=True).start()
ask("POST", "/api/sdk/webhooks", {"url": f"http://127.0.0.1:{server.server_address[1]}/", "events": ["kyc.session.updated"]})
SESSIONS = COUNT // 10
sql("INSERT INTO kyc.session (id, deployment, address, provider, integrator, mode, ref, expires_at) SELECT md5('bench' || i), (SELECT max(id) FROM"
    f" chain.deployment), 'BENCH' || i, 'sandbox', 'harbour', 'redirect', 'bench' || i, now() + interval '1 day' FROM generate_series(1, {SESSIONS}) AS i")
idle = spent()  # CPU time without notifications, a second: subtracted below
time.sleep(3)
rest = [(b - a) / 3 for a, b in zip(idle, spent())]
before, began = spent(), time.monotonic()
for turn in range(10):
    sql(f"UPDATE kyc.session SET state = '{('pending', 'action_required')[turn % 2]}' WHERE address LIKE 'BENCH%'")
for _ in range(10 * SESSIONS):
    if not GOT.acquire(timeout=60):
        sys.exit("no notification within a minute")
took = time.monotonic() - began
api, database = ((b - a - r * took) / (10 * SESSIONS) * 1e6 for a, b, r in zip(before, spent(), rest))
print(f"{api:.0f} {database:.0f} {10 * SESSIONS / took:.0f}")
