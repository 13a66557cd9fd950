"""Visitors of identity checks, for kyc_promotion.sh. usage: _kyc_promotion.py URL KEY DIR

Eight threads. Each visitor opens a session, approves at the sandbox provider, and asks until the session says that the attestation is confirmed. What fails is
asked again, with the same Idempotency-Key. DIR/visitors.acknowledged gets a line for each session that the API said it holds."""
import base64
import binascii
import http.client
import json
import os
import random
import struct
import sys
import threading
import time
import urllib.error
import urllib.parse
import urllib.request

URL, KEY, DIR = sys.argv[1:4]
PATIENCE_S = 90
refused, slowest, done, lock = {}, 0.0, 0, threading.Lock()


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


OPENER = urllib.request.build_opener(NoRedirect)


def address():
    body = bytes([6 << 3]) + random.randbytes(32)
    return base64.b32encode(body + struct.pack("<H", binascii.crc_hqx(body, 0))).decode()


def ask(url, body=None, headers=None):
    """Status, headers, text; the status is 0 if there was no answer."""
    request = urllib.request.Request(url if "://" in url else URL + url, data=body, headers=headers or {})
    try:
        with OPENER.open(request, timeout=20) as answer:
            return answer.status, answer.headers, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.headers, error.read().decode()
    except (OSError, http.client.HTTPException):
        return 0, {}, ""


def insist(what, wanted, *request):
    """Asks until the status is wanted; other answers than 502 and 503 end the test."""
    begun = time.monotonic()
    while True:
        status, headers, text = ask(*request)
        if status in wanted:
            return headers, text
        if status not in (0, 502, 503) or time.monotonic() - begun > PATIENCE_S:
            raise SystemExit(f"{what}: {status} {text[:300]}")
        with lock:
            code = f"{what} {status} {json.loads(text).get('code', '') if text.startswith('{') else ''}".strip()
            refused[code] = refused.get(code, 0) + 1
        time.sleep(0.1)


def visit():
    global done, slowest
    who, begun = address(), time.monotonic()
    body = json.dumps({"address": who, "providerKey": "sandbox", "mode": "redirect"}).encode()
    key = {"X-API-Key": KEY, "Content-Type": "application/json"}
    _, text = insist("session", (200, 201), "/api/sdk/kyc/session", body, {**key, "Idempotency-Key": who})
    session = json.loads(text)
    with lock, open(f"{DIR}/visitors.acknowledged", "a", encoding="ascii") as told:
        told.write(f"{session['sessionId']} {who}\n")
    time.sleep(random.random())  # people read
    headers, _ = insist("start", (302, 303), session["startUrl"])
    insist("decision", (302, 303, 409), headers["Location"], b"decision=approved&country=CHE")
    state = {}
    while state.get("attestation", {}).get("state") != "confirmed":
        _, text = insist("state", (200,), f"/api/sdk/kyc/session/{session['sessionId']}", None, key)
        state = json.loads(text)
        if time.monotonic() - begun > PATIENCE_S or state["state"] in ("declined", "expired"):
            raise SystemExit(f"{session['sessionId']} of {who}: {text}")
        time.sleep(0.2)
    with lock:
        done += 1
        slowest = max(slowest, time.monotonic() - begun)


def visitors():
    try:
        while not os.path.exists(f"{DIR}/visitors.end"):
            visit()
    except BaseException as error:  # a thread's exit code would be lost
        print(error, flush=True)
        os._exit(1)


threads = [threading.Thread(target=visitors) for _ in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(f"   {done} visitors were attested, the slowest after {slowest:.1f} s; asked again: {refused or 'never'}")
