"""A compliance gate in front of a swap, with identity checks. Needs TIDEMARK_API_URL and TIDEMARK_KYC_KEY; listens on PORT (8090).

POST /swap    {"address"}          refuses unless the address is compliant now
POST /verify  {"address","mode"}   opens a session for <tidemark-kyc>
"""

import json
import os
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

import httpx
from tidemark_client import Client, TidemarkError

URL = os.environ["TIDEMARK_API_URL"]
api = Client(URL, api_key=os.environ["TIDEMARK_KYC_KEY"], timeout=3)
page = (Path(__file__).parent / "gate.html").read_text().replace("{{HOST}}", "{0.scheme}://{0.netloc}".format(urlsplit(URL)))


def may_trade(address: str) -> tuple[bool, bool, str]:
    """The gate: only a fresh "compliant" lets a swap through. No answer is a no."""
    try:
        answer = api.kyc_status(address=address, max_age_ms=10_000)
    except TidemarkError as error:
        return False, False, str(error)
    return answer.data["compliant"] is True and answer.data["address"] == address, answer.data["needsKyc"], f"{answer.data['reasonCode']} at ledger {answer.ledger}"


def swap(body: dict) -> tuple[int, dict]:
    may, needs_kyc, why = may_trade(body["address"])
    if not may:
        return 403, {"detail": f"Refused: {why}", "needsKyc": needs_kyc}
    return 200, {"detail": f"Swapped: {why}", "needsKyc": False}  # here your app submits its transaction


def verify(body: dict) -> tuple[int, dict]:
    provider = api.kyc_providers().data["providers"][0]["key"]
    wanted = {"address": body["address"], "mode": body["mode"], "providerKey": provider}
    session = api.call("POST", "/api/sdk/kyc/session", body=wanted, header={"Idempotency-Key": str(uuid.uuid4())})
    return 201, session.data  # as the API wrote it


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        if self.path == "/":
            self.answer(200, page.encode(), "text/html; charset=utf-8")
        elif self.path == "/element.js":  # in production: a copy beside your scripts
            self.answer(200, httpx.get(f"{URL}/kyc/element.js").content, "text/javascript")
        else:
            self.answer(404, b"", "text/plain")

    def do_POST(self) -> None:
        handler = {"/swap": swap, "/verify": verify}.get(self.path)
        given = self.headers.get("Content-Length", "")
        size = int(given) if given.isascii() and given.isdigit() and len(given) < 8 else 1 << 20
        is_json = self.headers.get("Content-Type") == "application/json"  # which a page of another origin cannot send unasked
        if handler is None or size > 4096 or not is_json:
            self.answer(404 if handler is None else 413 if size > 4096 else 415, b"", "text/plain")
            return
        try:
            status, body = handler(json.loads(self.rfile.read(size)))
        except TidemarkError as error:
            status, body = 400 if error.status == 400 else 502, {"detail": error.detail, "code": error.code}
        except (ValueError, KeyError, TypeError):
            status, body = 400, {"detail": "Not what was asked for."}
        self.answer(status, json.dumps(body).encode(), "application/json")

    def answer(self, status: int, content: bytes, kind: str) -> None:
        self.send_response(status)
        for name, value in (("Content-Type", kind), ("Content-Length", str(len(content))), ("Cache-Control", "no-store")):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        pass


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "8090"))), Handler)
    print(f"http://127.0.0.1:{server.server_port}/", flush=True)
    server.serve_forever()
