"""The Python package on a fake server: limits, failures, cut streams, signatures. Argument: the folder of the examples."""

import asyncio
import base64
import hashlib
import hmac
import json
import os
import sys
import threading
import time
import tracemalloc
import zlib
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs

import httpx
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

import tidemark_client as tidemark
from tidemark_client import AsyncClient, Client, ReceiptError, TidemarkError, WebhookError

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from _steady import steady  # noqa: E402

LEDGER = {"Ledger-Sequence": "77", "Ledger-Closed-At": "2026-01-31T07:24:04Z", "Proven-Through": "70", "Data-Age-Ms": "12", "Network": "Test", "Request-Id": "r1"}


class Fake:
    """Each request takes the next step of its path; the last is repeated. A step is (status, body, headers), or None: the connection is cut."""

    def __init__(self, script):
        taken, self.requests = {}, []
        requests = self.requests

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                path = self.path.split("?")[0]
                size = int(self.headers.get("Content-Length") or 0)
                requests.append((self.path, dict(self.headers), self.rfile.read(size), time.monotonic()))
                step = script[path][min(taken.get(path, 0), len(script[path]) - 1)]
                taken[path] = taken.get(path, 0) + 1
                self.close_connection = True
                if step is None:
                    return
                status, body, headers = step
                self.send_response(status)
                for name, value in {"Content-Type": "application/json", "Connection": "close", **headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                try:
                    self.put(body)
                except OSError:
                    pass  # the client had enough

            def put(self, body):
                if callable(body):
                    for piece in body():
                        self.wfile.write(piece)
                    return
                if isinstance(body, bytes):
                    self.wfile.write(body)
                    return
                for byte in (body if isinstance(body, str) else json.dumps(body)).encode():
                    self.wfile.write(bytes([byte]))

            do_POST = do_GET

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


def ok(body):
    return 200, body, LEDGER


def no(status, code, **headers):
    return status, {"code": code, "detail": code}, {name.replace("_", "-"): value for name, value in headers.items()}


def refused(kind, code, work):
    try:
        work()
    except kind as error:
        assert error.code == code, f"{error.code}, not {code}"
        return error
    raise AssertionError(f"{code}: not refused")


def both(script, work, timeout=10.0):
    """Runs `work(call, server)` with a client that waits, and with one of an event loop."""
    with Fake(script()) as server, Client(server.url, api_key="secret", timeout=timeout) as client:
        work(lambda name, **given: getattr(client, name)(**given), server)

    async def waiting():
        async with AsyncClient(server.url, api_key="secret", timeout=timeout) as client:
            def call(name, **given):
                return asyncio.run_coroutine_threadsafe(getattr(client, name)(**given), loop).result()
            loop = asyncio.get_running_loop()
            await loop.run_in_executor(None, work, call, server)

    with Fake(script()) as server:
        asyncio.run(waiting())


def answers():
    def script():
        return {"/api/prices/XLM": [ok({"ledger": "77", "latestPrice": str(2**127 - 1), "latestPriceScaled": "1.50", "latestAt": "2026-01-31T07:23:39Z", "twapPrice": None, "later": "12"})]}

    def work(call, server):
        answer = call("price", asset="XLM", max_age_ms=5000)
        assert answer.data["latestPrice"] == 2**127 - 1 and answer.data["latestPriceScaled"] == Decimal("1.50")
        assert (answer.data["ledger"], answer.data["twapPrice"], answer.data["later"], answer.ledger, answer.proven_through, answer.age_ms) == (77, None, "12", 77, 70, 12)
        assert answer.data["latestAt"].isoformat() == "2026-01-31T07:23:39+00:00"
        path, headers, _, _ = server.requests[0]
        assert path == "/api/prices/XLM?maxAgeMs=5000" and headers["X-API-Key"] == "secret"  # its rate counts for each route

    both(script, work)


def retries():
    def script():
        return {
            "/api/pools": [no(429, "rate", Retry_After="0"), no(503, "busy", Retry_After="0"), ok({"items": [], "next": None})],
            "/api/prices/A": [no(503, "stale")], "/api/prices/C": [no(503, "busy", Retry_After="60")],
            "/api/prices/L": [(200, {}, {**LEDGER, "RateLimit": '"hot";r=0;t=1'}), ok({})],
            "/api/sdk/kyc/session": [None, None, ok({"sessionId": "s"})],
            "/api/sdk/webhooks": [None, None, ok({"webhookId": "w"})], "/api/sdk/webhooks/w/secret": [None, ok({"secret": "s"})],
        }

    def work(call, server):
        call("pools")
        assert len(server.requests) == 3
        refused(TidemarkError, "stale", lambda: call("price", asset="A"))
        began = steady()
        assert refused(TidemarkError, "busy", lambda: call("price", asset="C")).retry_after == 60
        assert steady() - began < 5
        body = {"address": "G", "mode": "iframe", "providerKey": "sandbox"}
        count = len(server.requests)
        refused(TidemarkError, "network", lambda: call("kyc_session", body=body))
        assert len(server.requests) == count + 1, "a session was opened twice"
        call("kyc_session", body=body, idempotency_key="k")
        assert server.requests[-1][1]["X-API-Key"] == "secret" and json.loads(server.requests[-1][2]) == body
        body, count = {"url": "https://a.example/", "events": ["price.stale"]}, len(server.requests)
        refused(TidemarkError, "network", lambda: call("webhook_create", body=body))
        assert len(server.requests) == count + 1, "a webhook was registered twice"
        call("webhook_create", body=body, idempotency_key="k")
        body = {"overlapSeconds": 60, "secretRevision": 1}
        assert call("webhook_secret", webhook_id="w", body=body).data["secret"] == "s", "another secret is asked for again: it names what it replaces"
        assert len(server.requests) == count + 5 and json.loads(server.requests[-1][2]) == json.loads(server.requests[-2][2]) == body
        call("price", asset="L")
        call("price", asset="L")
        assert server.requests[-1][3] - server.requests[-2][3] >= 0.95, "did not wait for the limit"

    both(script, work)


EVENTS = [
    (200, 'event: open\nid: 1-0\ndata: {}\n\nevent: price\r\nid: 2-1\r\ndata: {"a":"ü",\r\ndata: "b\u2028":1}\r\n\r\n: comment\nid: 2-9\n\nevent: price\nid: 3-1\ndata: {"half', {"Content-Type": "text/event-stream"}),
    no(503, "busy", Retry_After="0"),
    (200, 'event: price\nid: 3-1\ndata: {"a":2}\n\nevent: dropped\nid: 9-9\ndata: {"reason":"slow"}\n\n', {"Content-Type": "text/event-stream"}),
    (200, 'event: dropped\ndata: {"reason":"gap"}\n\n', {"Content-Type": "text/event-stream"}),
]
WANTED = [("open", "1-0", {}), ("price", "2-1", {"a": "ü", "b\u2028": 1}), ("price", "3-1", {"a": 2})]


def streams():
    def judge(seen, server):
        assert seen == WANTED, seen
        assert [headers.get("Last-Event-ID") for _, headers, _, _ in server.requests] == [None, "2-9", "2-9", "3-1"]
        assert "assets=A%2CB" in server.requests[0][0]

    seen = []
    with Fake({"/api/stream": EVENTS}) as server, Client(server.url) as client:
        refused(TidemarkError, "gap", lambda: seen.extend((one.type, one.id, one.data) for one in client.stream(["price"], assets=["A", "B"])))
        judge(seen, server)

    async def waiting():
        async with AsyncClient(server.url) as client:
            async for one in client.stream(["price"], assets=["A", "B"]):
                seen.append((one.type, one.id, one.data))

    seen.clear()
    with Fake({"/api/stream": EVENTS}) as server:
        refused(TidemarkError, "gap", lambda: asyncio.run(waiting()))
        judge(seen, server)


def errors():
    faults = [{"in": "query", "parameter": "limit", "detail": "must be a number."}, {"in": "query", "parameter": "", "detail": "is unknown."}, {"pointer": "/addresses/3", "detail": "is no address."}]

    def work(call, server):
        error = refused(TidemarkError, "invalid_parameters", lambda: call("pools"))
        assert str(error) == "invalid_parameters: See errors. parameter limit: must be a number. is unknown. body /addresses/3: is no address.", error
        assert error.detail == "See errors."

    both(lambda: {"/api/pools": [(400, {"code": "invalid_parameters", "detail": "See errors.", "errors": faults}, {})]}, work)
    for given, word in ((None, "is no URL"), ("api.example", "'api.example'"), ("http://u:hunter2@x", "password"), ("u:hunter2@x", "base_url"), ("ftp://x", "'ftp://x'"), ("http://x/?a=1", "query")):
        try:
            Client(given)
        except ValueError as error:
            assert "https://api.example" in str(error) and word in str(error) and "hunter2" not in str(error), error
        else:
            raise AssertionError(f"{given} is taken")


def arguments():
    """No answer says why, no such route says where, and what means nothing is refused by name."""
    with Fake({"/api/pools": [(404, {"code": "no_route", "detail": "none"}, {})], "/base/api/pools": [(404, "<html>", {})]}) as server:
        with Client(server.url) as client, Client(f"{server.url}/base") as other:
            assert f"none ({server.url}/api/pools)" in str(refused(TidemarkError, "no_route", lambda: client.pools(limit=2)))
            assert f"HTTP 404. ({server.url}/base/api/pools)" in str(refused(TidemarkError, "http_404", other.pools))
            count = len(server.requests)
            wrong = [
                (ValueError, "asset is missing", lambda: client.price(asset=None)), (ValueError, "topics is missing", lambda: client.stream([])),
                (ValueError, "retries", lambda: Client("http://x", retries="3")), (ValueError, "timeout", lambda: Client("http://x", timeout=-1)),
                (ValueError, "api_key", lambda: Client("http://x", api_key="")), (TypeError, "network", lambda: tidemark.ComplianceMirror(client, None)),
                (TypeError, "secrets is missing", lambda: tidemark.verify_webhook("{}", {}, None)),
            ]
            for kind, word, work in wrong:
                try:
                    work()
                except kind as error:
                    assert word in str(error), error
                else:
                    raise AssertionError(f"{word}: taken")
            assert len(server.requests) == count
    with Client("http://127.0.0.1:1", retries=0) as client:
        assert "no answer of 127.0.0.1:1: [Errno 111] Connection refused" in str(refused(TidemarkError, "network", client.pools))
    with Fake({"/api/stream": [(200, "<html>", {"Content-Type": "text/html"})]}) as server, Client(server.url) as client:
        refused(TidemarkError, "not_json", lambda: next(client.stream("price")))
        assert server.requests[0][0] == "/api/stream?topics=price", server.requests


def proxies():
    """The proxy of the environment is named in what it may have caused, without its password."""
    page = (502, "<html>", {"Content-Type": "text/html"})
    with Fake({"http://api.example/api/pools": [page], "/api/pools": [page]}) as server:
        proxy = f"http://u:hunter2@127.0.0.1:{server.server.server_port}"
        shown = proxy.replace("u:hunter2@", "")
        os.environ.update({"http_proxy": proxy, "no_proxy": "127.0.0.2"})
        try:
            with Client("http://api.example", retries=0) as client:
                text = str(refused(TidemarkError, "http_502", client.pools))
                assert shown in text and "NO_PROXY=api.example" in text and "hunter2" not in text, text
                assert len(server.requests) == 1
            with Client("http://127.0.0.2:1", retries=0) as client:
                assert "proxy" not in str(refused(TidemarkError, "network", client.pools))
            with Client("http://api.example", retries=0, http=httpx.Client(trust_env=False, transport=httpx.MockTransport(lambda _: httpx.Response(502)))) as client:
                assert "proxy" not in str(refused(TidemarkError, "http_502", client.pools))
            os.environ["http_proxy"] = "http://127.0.0.1:1"
            with Client("http://api.example", retries=0) as client:
                assert "http://127.0.0.1:1" in str(refused(TidemarkError, "network", client.pools))
        finally:
            del os.environ["http_proxy"], os.environ["no_proxy"]


def exact():
    """Messages and notifications have exact numbers; a type that is not known comes as it is."""
    big = 2**127 - 1
    swap = {"ledger": "7", "closedAt": "2026-01-31T07:24:04Z", "kind": "liquidity_pool_swap", "subject": "12",
            "fields": {"pool": "12", "amountIn": str(big), "amountInScaled": "1.0", "partnerId": "3", "aToB": True}}
    text = (f"event: event\nid: 1:7\ndata: {json.dumps(swap)}\n\nevent: price\nid: 1:8\ndata: {{\"ledger\":\"8\",\"latestPrice\":\"{big}\",\"twapPrice\":null}}\n\n"
            'event: later\ndata: {"ledger":"9"}\n\nevent: dropped\ndata: {"reason":"gap"}\n\n')
    seen = []
    with Fake({"/api/stream": [(200, text, {"Content-Type": "text/event-stream"})]}) as server, Client(server.url) as client:
        refused(TidemarkError, "gap", lambda: seen.extend(client.stream(["event", "price"])))
    event, priced, later = seen
    assert isinstance(event, tidemark.StreamMessage) and event.data["closedAt"].year == 2026
    fields = event.data["fields"]
    assert (event.data["ledger"], fields["amountIn"], fields["amountInScaled"], fields["partnerId"], fields["pool"]) == (7, big, Decimal("1.0"), 3, "12"), event
    assert (priced.data["ledger"], priced.data["latestPrice"], priced.data["twapPrice"]) == (8, big, None), priced
    assert (later.type, later.data) == ("later", {"ledger": "9"}), later
    secret = "whsec_" + base64.b64encode(bytes(32)).decode()

    def notified(content):
        body = json.dumps(content).encode()
        signature = base64.b64encode(hmac.new(bytes(32), b"e.1000." + body, hashlib.sha256).digest()).decode()
        return tidemark.verify_webhook(body, {"webhook-id": "e", "webhook-timestamp": "1000", "webhook-signature": f"v1,{signature}"}, secret, now=1000)

    assert notified({"type": "price.stale", "data": {"asset": "5", "ledger": "9"}}).data == {"asset": "5", "ledger": 9}
    assert notified({"type": "later", "data": {"ledger": "9"}}).data == {"ledger": "9"}


def lists():
    pages = [ok({"items": [{"id": "1"}, {"id": "2"}], "next": "c=1/+"}), ok({"items": [], "next": "d"}), ok({"items": [{"id": "3"}], "next": None})]
    with Fake({"/api/pools/P/swaps": pages}) as server, Client(server.url) as client:
        assert [one["id"] for one in tidemark.items(client.pool_swaps, pool="P", limit=2)] == ["1", "2", "3"]
        assert "cursor=c%3D1%2F%2B" in server.requests[1][0]

    async def waiting():
        async with AsyncClient(server.url) as client:
            return [one["id"] async for one in tidemark.async_items(client.pool_swaps, pool="P")]

    with Fake({"/api/pools/P/swaps": pages}) as server:
        assert asyncio.run(waiting()) == ["1", "2", "3"]


def times():
    """A date is sent alone, a time in UTC, and a time without a zone not at all."""
    east = timezone(timedelta(hours=2))
    sent = [
        (date(2026, 11, 1), "2026-11-01"), (datetime(2026, 11, 1, tzinfo=east), "2026-10-31T22:00:00Z"),
        (datetime(2026, 11, 1, 7, 8, 9, 250000, tzinfo=timezone.utc), "2026-11-01T07:08:09.250000Z"), (1793491200, "1793491200"), ("2026-11-01", "2026-11-01"),
    ]
    with Fake({"/api/events": [ok({"items": [], "next": None})]}) as server, Client(server.url) as client:
        for given, text in sent:
            client.events(from_=given, to=given)
            query = parse_qs(server.requests[-1][0].partition("?")[2])
            assert query == {"from": [text], "to": [text]}, query
        count = len(server.requests)
        try:
            client.events(from_=datetime(2026, 11, 1))
        except ValueError as error:
            assert "from has no time zone" in str(error), error
        else:
            raise AssertionError("a time without a zone: taken")
        assert len(server.requests) == count


def endless(piece, pause=0.0):
    def body():
        while True:  # until the client leaves
            yield piece
            time.sleep(pause)
    return body


def bomb(layers):
    data = bytes(64 << 20)
    for _ in range(layers):
        packer = zlib.compressobj(9, zlib.DEFLATED, 31)
        data = packer.compress(data) + packer.flush()
    return data


def hostile():
    """A server that answers too much, too slowly, in other forms, or with a redirection."""
    thief = Fake({"/api/sdk/kyc/session": [ok({})], "/api/stream": [ok({})]})

    def script():
        return {
            "/api/sdk/kyc/session": [(307, "", {"Location": thief.url + "/api/sdk/kyc/session"}), (302, "", {"Location": thief.url + "/api/sdk/kyc/session"})],
            "/api/prices/A": [(200, bomb(1), {"Content-Encoding": "gzip"})], "/api/prices/A2": [(200, bomb(2), {"Content-Encoding": "gzip, gzip"})],
            "/api/prices/B": [(200, endless(b" " * 65536), {})], "/api/prices/D": [(200, endless(b" ", 0.05), {})],
            "/api/prices/E": [(200, text.encode(), {"Content-Type": "application/json; charset=zlib"}) for text in ("null", "7", '"x"', "[]", "", "<html>", "[" * 100000, '{"a":' * 100000)],
            "/api/prices/F": [ok({"latestAt": text}) for text in ("2026-01-31T07:24:04", "20260131T072404Z", "2026-01-31", "2026-02-31T00:00:00Z", "99999-01-31T07:24:04Z")],
            "/api/prices/G": [(400, {"code": "network", "detail": 7, "errors": [None, 1, {"detail": "x"}]}, {})],
            "/api/prices/H": [(200, {}, {"Ledger-Closed-At": "yesterday", "RateLimit": '"hot";r=0;t=999999999'}), ok({})],
            "/.well-known/jwks.json": [ok({"keys": None}), ok({"keys": [None]})],
        }

    def work(call, server):
        body = {"address": "G", "mode": "iframe", "providerKey": "sandbox"}
        for _ in range(2):
            refused(TidemarkError, "redirected", lambda: call("kyc_session", body=body, idempotency_key="k"))
        assert not thief.requests, "the key went to another origin"
        tracemalloc.start()
        for asset, code in (("A", "too_large"), ("A2", "not_json"), ("B", "too_large")):
            refused(TidemarkError, code, lambda: call("price", asset=asset))
        assert tracemalloc.get_traced_memory()[1] < 160 << 20, tracemalloc.get_traced_memory()
        tracemalloc.stop()
        for _ in range(8):
            refused(TidemarkError, "not_json", lambda: call("price", asset="E"))
        for _ in range(5):
            assert isinstance(call("price", asset="F").data["latestAt"], str), "a time without a zone became one"
        count = len(server.requests)
        assert len(refused(TidemarkError, "network", lambda: call("price", asset="G")).errors) == 1
        assert len(server.requests) == count + 1
        for _ in range(2):
            refused(TidemarkError, "bad_keys", lambda: call("jwks"))
        assert call("price", asset="H").closed_at is None
        began = steady()
        refused(TidemarkError, "timeout", lambda: call("price", asset="H"))
        assert steady() - began < 1, "waited for what cannot be"

    def drip(call, server):
        began = steady()
        refused(TidemarkError, "timeout", lambda: call("price", asset="D"))
        assert steady() - began < 5, "a body that drips held the call"

    both(script, work)
    both(script, drip, timeout=2.0)  # this time has to pass, so it is short
    thief.__exit__()
    assert "secret" not in repr(Client("http://x", api_key="secret")._settings)


EVENT = {"Content-Type": "text/event-stream"}
BAD_STREAMS = [
    (200, endless(b"data: " + b"x" * 1000), EVENT), (200, endless(b"data: " + b"x" * 1000 + b"\n"), EVENT), (200, "<html>", {"Content-Type": "text/html"}), ok({}), (200, bomb(1), {**EVENT, "Content-Encoding": "gzip"}),
    (200, "id: \u00fc\ndata: {}\n\n", EVENT), (200, "id: a\x01b\ndata: {}\n\n", EVENT), (200, f"id: {'1' * 300}\n\n", EVENT), (200, b"event: dropped\ndata: " + b"[" * 100000 + b"\n\n", EVENT),
    *((200, f"event: dropped\ndata: {text}\n\n", EVENT) for text in ("null", "7", "[]", "{")),
]


def hostile_streams():
    async def waiting(url):
        async with AsyncClient(url) as client:
            async for _ in client.stream(["ledger"]):
                pass

    for step in BAD_STREAMS:
        with Fake({"/api/stream": [step, (409, {"code": "went_on"}, {})]}) as server, Client(server.url) as client:
            refused(TidemarkError, "not_json", lambda: [None for _ in client.stream(["ledger"])])
        with Fake({"/api/stream": [step, (409, {"code": "went_on"}, {})]}) as server:
            refused(TidemarkError, "not_json", lambda: asyncio.run(waiting(server.url)))
    for bad in ({"items": []}, {"items": [{}], "next": "a"}, {"items": None, "next": None}, {"next": None}, {"items": [], "next": 7}):
        with Fake({"/api/pools": [ok(bad)]}) as server, Client(server.url) as client:
            refused(TidemarkError, "not_json", lambda: list(tidemark.items(client.pools)))
    for bad in ("ftp://x", "http://x/?a=1", "http://x/#a", "http://u:p@x", "x"):
        try:
            Client(bad)
        except ValueError:
            continue
        raise AssertionError(bad)


def amounts():
    assert tidemark.to_decimal(-(2**127), 7) == Decimal("-17014118346046923173168730371588.4105728")
    for raw in (0, 1, -5, 2**127 - 1, 10**60):
        assert tidemark.to_raw(tidemark.to_decimal(raw, 7), 7) == raw
    for bad in ("", "1e5", "1.", ".5", "+1", "1.00000001", "NaN"):
        try:
            tidemark.to_raw(bad, 7)
        except ValueError:
            continue
        raise AssertionError(bad)


def webhooks():
    secret, body, now = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", b'{"type":"t","data":{}}', 1614265330
    key = base64.b64decode(secret[6:])
    headers = {"Webhook-Id": "m", "webhook-timestamp": str(now)}
    headers["webhook-signature"] = "v1,AAAA v1," + base64.b64encode(hmac.new(key, f"m.{now}.".encode() + body, hashlib.sha256).digest()).decode()
    assert tidemark.verify_webhook(body, headers, ["whsec_" + "A" * 32, secret], now=now).type == "t"
    for code, given, more in (("bad_signature", body + b" ", {}), ("bad_timestamp", body, {"now": now + 301}), ("bad_signature", body, {"secrets": "whsec_" + "A" * 32}), ("bad_secret", body, {"secrets": "%"})):
        refused(WebhookError, code, lambda: tidemark.verify_webhook(given, headers, **{"secrets": secret, "now": now, **more}))
    unsigned = {key: value for key, value in headers.items() if key != "webhook-signature"}
    assert "no header webhook-signature" in str(refused(WebhookError, "missing_header", lambda: tidemark.verify_webhook(body, unsigned, secret, now=now)))


def receipts():
    key = Ed25519PrivateKey.generate()

    def part(value):
        return base64.urlsafe_b64encode(value if isinstance(value, bytes) else json.dumps(value).encode()).rstrip(b"=").decode()

    def make(claims, signer=key, **header):
        text = f"{part({'alg': 'EdDSA', 'kid': 'k1', 'typ': 'tidemark-receipt+jwt', **header})}.{part(claims)}"
        return f"{text}.{part(signer.sign(text.encode()))}"

    now = 1790000000
    jwks = {"keys": [{"kty": "OKP", "crv": "Ed25519", "kid": "k1", "x": part(key.public_key().public_bytes_raw())}]}
    claims = {"iss": "https://api", "iat": now, "exp": now + 60, "network": "N", "deployment": "D", "question": {"route": "kyc_status", "query": {}}, "answer": {"address": "G", "compliant": True}}
    expected = {"issuer": "https://api", "network": "N", "deployment": "D", "now": now}
    said = tidemark.verify_receipt(make(claims), jwks, **expected)
    assert tidemark.says_compliant(said, "G") and not tidemark.says_compliant(said, "H")
    token = make(claims)
    cases = [
        ("bad_signature", make(claims, Ed25519PrivateKey.generate()), {}), ("wrong_type", make(claims, alg="none"), {}), ("wrong_type", make(claims, typ="JWT"), {}),
        ("wrong_type", make(claims, crit=["x"]), {}), ("unknown_key", make(claims, kid="k2"), {}), ("other_network", token, {"network": "M"}), ("other_issuer", token, {"issuer": "x"}),
        ("other_deployment", token, {"deployment": "x"}), ("expired", token, {"now": now + 60}), ("future", token, {"now": now - 61}), ("malformed", "a.b", {}), ("malformed", "a.b.c", {}),
    ]
    for code, given, more in cases:
        refused(ReceiptError, code, lambda: tidemark.verify_receipt(given, jwks, **{**expected, **more}))
    assert "it says 'https://api', expected is 'B'" in str(refused(ReceiptError, "other_issuer", lambda: tidemark.verify_receipt(token, jwks, **{**expected, "issuer": "B"})))
    tidemark.verify_receipt(token, jwks, **{**expected, "now": now + 10**9}, evidence=True)


for case in (answers, retries, streams, errors, arguments, proxies, exact, lists, times, hostile, hostile_streams, amounts, webhooks, receipts):
    case()
    print("ok", case.__name__)
