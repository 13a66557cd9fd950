"""A receiver of webhooks, and what drives a stack of tools/with-stack --kyc: for the tests of webhooks."""
import http.server
import json
import os
import ssl
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from _promise import Contract  # noqa: E402
from _steady import steady  # noqa: E402

CONTRACT = Contract("http://localhost")

URL, KEY, RPC = (os.environ.get(name, "") for name in ("TIDEMARK_API_URL", "TIDEMARK_KYC_KEY", "TIDEMARK_RPC_URL"))
GOT, ARRIVED = [], threading.Condition()


def fail(what):
    sys.exit(f"FAIL: {what}")


def check(condition, what):
    if not condition:
        fail(what)


class Receiver(http.server.BaseHTTPRequestHandler):
    """Keeps what comes; misbehaves as its path says."""
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        with ARRIVED:
            count = sum(one["path"] == self.path for one in GOT)
            GOT.append({"path": self.path, "headers": {k.lower(): v for k, v in self.headers.items()}, "body": body.decode(), "at": time.time(), "steady": steady()})
            ARRIVED.notify_all()
        if self.path in ("/slow", "/late"):
            time.sleep(20 if self.path == "/slow" else 3.5)
        status = {"/redirect": 302, "/gone": 410, "/broken": 500 if count == 0 else 204}.get(self.path, 200)
        self.send_response(status)
        if status == 302:
            self.send_header("Location", f"http://{self.headers['Host']}/elsewhere")
        content = b"x" * 10_000_000 if self.path == "/huge" else b""
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        try:
            self.wfile.write(content)
        except OSError:
            pass

    def log_message(self, *_):
        pass


class _Server(http.server.ThreadingHTTPServer):
    def handle_error(self, request, client_address):  # a client that does not trust the certificate hangs up
        pass


def receive(certificate=None):
    """Starts a receiver on this machine, with TLS if a file with a certificate and its key is given; its port."""
    server = _Server(("127.0.0.1", 0), Receiver)
    if certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_address[1]


def ask(method, path, body=None, key=KEY, url=URL, idempotency=None):
    headers = {**({"X-API-Key": key} if key else {}), **({"Idempotency-Key": idempotency} if idempotency else {})}
    data = json.dumps(body).encode() if body is not None else None
    if data is not None:
        headers["Content-Type"] = "application/json"
    try:
        with urllib.request.urlopen(urllib.request.Request(url + path, data, headers, method=method), timeout=20) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


def sql(statement):
    run = subprocess.run(["psql", "-XAtqv", "ON_ERROR_STOP=1", os.environ["TIDEMARK_DATABASE_URL"], "-c", statement], capture_output=True, text=True, check=False)
    check(run.returncode == 0, f"{statement}: {run.stderr}")
    return run.stdout.strip()


def sim(*words):
    run = subprocess.run(["tidemark-sim", *words, "--rpc", RPC], capture_output=True, text=True, check=False)
    check(run.returncode == 0, f"{words}: {run.stderr}")


def until(find, what, seconds=180):
    end = steady() + seconds
    while not (found := find()):
        check(steady() < end, f"{what}: not within {seconds} s; {len(GOT)} came")
        with ARRIVED:
            ARRIVED.wait(0.1)
    return found


def came(path, **data):
    found = []
    for one in list(GOT):
        content = json.loads(one["body"])
        if not one.get("promised"):
            faults = CONTRACT.notification_faults(content)
            check(not faults, f"the contract does not promise {one['body']}: {faults}")
            one["promised"] = True
        if one["path"] == path and all(content["data"].get(k, content.get(k)) == v for k, v in data.items()):
            found.append({**one, "type": content["type"], "data": content["data"]})
    return found


def register(to, *events, url=URL):
    status, made = ask("POST", "/api/sdk/webhooks", {"url": to, "events": list(events)}, url=url)
    check(status == 201 and made["secret"].startswith("whsec_"), f"register: {status} {made}")
    return made


def name_of(name):
    return subprocess.run(["tidemark-sim", "keys", "--name", name], capture_output=True, text=True, check=True).stdout.split()[1]
