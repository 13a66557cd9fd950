"""A simulated network for one test, and functions to call it."""
import http.client
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

SIM = pathlib.Path(os.environ["TIDE_BIN"]) / "tidemark-sim"


class Refused(Exception):
    def __init__(self, code, message):
        super().__init__(f"{code} {message}")
        self.code, self.message = code, message


class Network:
    """tidemark-sim serve with these options, in a folder of its own; a context manager."""

    def __init__(self, *options, folder=None):
        self.owned = None if folder else tempfile.TemporaryDirectory(prefix="tide-serve.")
        self.folder = pathlib.Path(folder or self.owned.name)
        self.options = [str(o) for o in options]

    def __enter__(self):
        port = self.folder / "port"
        port.unlink(missing_ok=True)
        self.log = open(self.folder / "serve.log", "ab")
        self.process = subprocess.Popen([SIM, "serve", "--listen", "127.0.0.1:0", "--port-file", port,
                                         *self.options], stdout=self.log, stderr=self.log)
        end = time.monotonic() + 60
        while not port.exists():
            if self.process.poll() is not None or time.monotonic() > end:
                self.process.kill()
                sys.exit("the network did not come up: " + self.said())
            time.sleep(0.02)
        self.port = int(port.read_text())
        return self

    def __exit__(self, *exception):
        code, said = self.stop(), self.said()
        if self.owned:
            self.owned.cleanup()
        if code != 0:
            print(said[-8000:], file=sys.stderr)
        if exception[0] is None and code != 0:
            sys.exit(f"the network ended with {code}")

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
        try:
            return self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            sys.exit("the network does not end when asked to: " + self.said())

    def said(self):
        return (self.folder / "serve.log").read_text(errors="replace")

    def http(self, method, path, body=None, headers=None, timeout=30):
        """(status, headers, body); raises what http.client raises."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            connection.request(method, path, body, headers or {})
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read()
        finally:
            connection.close()

    def post(self, body, timeout=30, **headers):
        if not isinstance(body, (bytes, str)):
            body = json.dumps(body)
        return self.http("POST", "/", body, {"Content-Type": "application/json", **headers}, timeout)

    def call(self, method, **params):
        status, _, body = self.post({"jsonrpc": "2.0", "id": 7, "method": method, "params": params})
        answer = json.loads(body)
        assert status == 200 and answer["jsonrpc"] == "2.0" and answer["id"] == 7, body[:300]
        if "error" in answer:
            raise Refused(answer["error"]["code"], answer["error"]["message"])
        return answer["result"]

    def close(self, count=1):
        status, _, body = self.http("POST", "/close", str(count), timeout=120)
        assert status == 200, body
        return json.loads(body)["latestLedger"]

    def fault(self, *texts):
        status, _, body = self.http("POST", "/faults", "\n".join(texts))
        assert status == 200, body

    def faults(self):
        return json.loads(self.http("GET", "/faults")[2])

    def mend(self):
        self.http("DELETE", "/faults")

    def stats(self):
        return json.loads(self.http("GET", "/stats")[2])
