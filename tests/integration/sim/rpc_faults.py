#!/usr/bin/env python3
"""Tests the faults of the simulated network: each kind has its effect on the named method, as often as requested,
and on nothing else. Many clients at once, while ledgers close, see complete ledgers in order.
(label: threads)"""
import base64
import concurrent.futures
import hashlib
import http.client
import json
import pathlib
import socket
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from _serve import Network, Refused
from _steady import steady

FIRST, COUNT = 1024, 48
ASK = json.dumps({"jsonrpc": "2.0", "id": 7, "method": "getLedgers", "params": {"startLedger": FIRST, "pagination": {"limit": 5}}})
HEALTH = json.dumps({"jsonrpc": "2.0", "id": 7, "method": "getHealth"})
JSON = {"Content-Type": "application/json"}


def page(net, **params):
    return [x["sequence"] for x in net.call("getLedgers", **(params or {"startLedger": FIRST, "pagination": {"limit": 5}}))["ledgers"]]


def raw(net, seconds, body=ASK):
    """What comes over the wire within so many seconds, and whether the server closed."""
    with socket.create_connection(("127.0.0.1", net.port), 5) as s:
        s.sendall(f"POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode())
        end, got = time.monotonic() + seconds, b""
        while (left := end - time.monotonic()) > 0:
            s.settimeout(left)
            try:
                part = s.recv(1 << 16)
            except (TimeoutError, ConnectionResetError) as e:
                return got, not isinstance(e, TimeoutError)
            if not part:
                return got, True
            got += part
        return got, False


def once(net, text):
    """Sets a fault that strikes once, beside what must not be struck."""
    net.mend()
    net.fault(text + "x1")


def struck(net, count=1):
    told = net.faults()
    assert [f["struck"] for f in told] == [count], told


def of_http(net):
    whole = net.post(ASK)[2]
    assert json.loads(whole)["result"]
    once(net, "getLedgers=delay:300")
    begin, ran = time.monotonic(), steady()
    assert net.post(ASK)[2] == whole and 0.3 <= time.monotonic() - begin and steady() - ran < 3
    assert net.post(ASK)[2] == whole
    struck(net)
    once(net, "getLedgers=hang")
    assert raw(net, 0.4) == (b"", False)
    once(net, "getLedgers=silence")
    got, closed = raw(net, 0.6)
    assert got.startswith(b"HTTP/1.1 200") and got.endswith(b"\r\n\r\n") and not closed, got[-50:]
    once(net, "getLedgers=drip")
    got, closed = raw(net, 1.6)
    assert 1 <= len(got.split(b"\r\n\r\n")[1]) <= 2 and not closed, got
    for status in (500, 502, 503, 504):
        once(net, f"getLedgers=status:{status}")
        assert net.post(ASK)[0] == status and net.post(ASK)[0] == 200
    once(net, "getLedgers=429:3")
    status, headers, _ = net.post(ASK)
    assert (status, headers["Retry-After"]) == (429, "3")
    once(net, "getLedgers=truncate:100")
    status, headers, body = net.post(ASK)
    assert status == 200 and body == whole[:100] and headers["Content-Length"] == "100"
    for kind, told, given in (("cut:100", len(whole), 100), ("cut:0", len(whole), 0), ("wrong-length:50", len(whole) + 50, len(whole))):
        once(net, f"getLedgers={kind}")
        got, closed = raw(net, 3)
        head, body = got.split(b"\r\n\r\n", 1)
        assert closed and len(body) == given and f"Content-Length: {told}\r\n".encode() in head + b"\r\n", (kind, len(body), head)
    once(net, "getLedgers=html")
    status, headers, body = net.post(ASK)
    assert status == 200 and b"<html>" in body and headers["Content-Type"] == "text/html"
    once(net, "getLedgers=empty")
    assert net.post(ASK)[0::2] == (200, b"")
    once(net, "getLedgers=oversize:3")
    body = net.post(ASK)[2]
    assert len(body) == len(whole) + (3 << 20) and json.loads(body) == json.loads(whole)
    once(net, "getLedgers=nesting")
    assert net.post(ASK)[2] == b"[" * 100000
    once(net, "getLedgers=nesting:5")
    assert net.post(ASK)[2] == b"[[[[["
    for kind in ("close:before", "close:after"):
        once(net, f"getLedgers={kind}")
        calls = net.stats()["requests"]["getLedgers"]
        assert raw(net, 3) == (b"", True)
        struck(net)
        assert net.stats()["requests"]["getLedgers"] == calls + 1
    net.mend()
    assert net.post(ASK)[2] == whole


def of_rpc(net):
    whole = json.loads(net.post(ASK)[2])

    def answer():
        return json.loads(net.post(ASK)[2])
    once(net, "getLedgers=rpc-error:-32603 out of luck")
    assert answer()["error"] == {"code": -32603, "message": "out of luck"} and "result" in answer()
    once(net, "getLedgers=queue")
    assert answer()["error"] == {"code": -32098, "message": "rpc queue for getLedgers surpassed queue limit of 1000 requests"}
    once(net, "getLedgers=null")
    assert answer() == {"jsonrpc": "2.0", "id": 7, "result": None}
    once(net, "getLedgers=wrong-id")
    wrong = answer()
    assert wrong["id"] != 7 and wrong["result"] == whole["result"]
    once(net, "getLedgers=two")
    text = net.post(ASK)[2].decode()
    first, end = json.JSONDecoder().raw_decode(text)
    assert first == whole and json.loads(text[end:]) == whole
    once(net, "getLedgers=huge")
    assert b'"latestLedger":9999999999999999999999' in net.post(ASK)[2]
    net.mend()
    assert answer() == whole


def of_ledgers(net):
    last, usual = FIRST + COUNT - 1, [FIRST + i for i in range(5)]
    once(net, "getLedgers=reverse")
    assert page(net) == usual[::-1] and page(net) == usual
    once(net, "getLedgers=duplicate")
    assert page(net) == [usual[0], usual[1], *usual[1:]] and page(net) == usual
    once(net, "getLedgers=gap")
    assert page(net) == [usual[0], *usual[2:]] and page(net) == usual
    once(net, f"getLedgers=gap:{FIRST + 7}")
    assert page(net) == usual
    struck(net, 0)  # it waits for its ledger
    assert page(net, startLedger=FIRST + 6, pagination={"limit": 3}) == [FIRST + 6, FIRST + 8]
    struck(net)
    once(net, f"getLedgers=gap:{last}")
    assert page(net, startLedger=last) == []

    def entry(sequence):
        e = net.call("getLedgers", startLedger=sequence, pagination={"limit": 1})["ledgers"][0]
        return base64.b64decode(e["headerXdr"]), base64.b64decode(e["metadataXdr"]), e["hash"]
    good = entry(FIRST + 3)
    once(net, f"getLedgers=hash-break:{FIRST + 3}")
    header, lcm, name = entry(FIRST + 3)
    assert header[:32].hex() == name == hashlib.sha256(header[32:-4]).hexdigest() != good[2]  # a header that holds
    assert header[36:68] != good[0][36:68] and header in lcm and len(lcm) == len(good[1])  # of another parent
    assert lcm.count(header[36:68]) == good[1].count(good[0][36:68])
    struck(net)
    once(net, f"getLedgers=unknown-arm:{FIRST + 3}")
    assert entry(FIRST + 3)[1][:4] == b"\0\0\0\x63" and entry(FIRST + 3)[1] == good[1]
    net.mend()
    net.fault("getHealth=lag:10", "getLedgers=lag:10", "getLatestLedger=lag:10", "getEvents=lag:10")
    assert net.call("getHealth")["latestLedger"] == last - 10 == net.call("getLatestLedger")["sequence"]
    assert page(net, startLedger=last - 12) == [last - 12, last - 11, last - 10]
    assert net.call("getEvents", startLedger=last - 12)["latestLedger"] == last - 10
    net.mend()
    net.fault("*=retention:6")
    assert net.call("getHealth")["oldestLedger"] == last - 5
    for method, what in (("getLedgers", "start ledger"), ("getEvents", "startLedger must be within the ledger range")):
        try:
            net.call(method, startLedger=FIRST)
            raise AssertionError("it knows what it forgot")
        except Refused as e:
            assert e.code == -32600 and what in e.message and str(last - 5) in e.message
    net.mend()
    net.fault("*=reset")
    other = net.call("getHealth")
    assert other["oldestLedger"] == 2 and 2 < other["latestLedger"] < FIRST
    assert net.call("getNetwork")["passphrase"] == "Tidemark Simulated Network ; 2026"
    chain = net.call("getLedgers", startLedger=2)["ledgers"]
    heads = [base64.b64decode(x["headerXdr"]) for x in chain]
    assert all(b[36:68] == a[:32] for a, b in zip(heads, heads[1:]))
    last = net.close(2)
    assert net.call("getHealth")["latestLedger"] == other["latestLedger"] + 2
    net.mend()
    assert net.call("getHealth")["latestLedger"] == last
    once(net, "getNetwork=passphrase")
    assert net.call("getNetwork")["passphrase"] != net.call("getNetwork")["passphrase"] == "Tidemark Simulated Network ; 2026"


def of_events(net):
    def ids():
        return [e["id"] for e in net.call("getEvents", startLedger=FIRST + 8, endLedger=FIRST + 12, pagination={"limit": 9999})["events"]]
    whole = ids()
    once(net, "getEvents=duplicate")
    assert ids() == [whole[0], *whole] and ids() == whole
    net.mend()
    net.fault("getEvents=drop-events:3")
    assert ids() == [e for i, e in enumerate(whole, 1) if i % 3]
    net.mend()
    assert ids() == whole


def told(net):
    """FROM and COUNT, lists, what is refused."""
    net.fault("getHealth=status:503@2x2", "getLedgers=null")
    assert [net.post(HEALTH)[0] for _ in range(5)] == [200, 503, 503, 200, 200]
    assert net.faults() == [{"fault": "getHealth=status:503@2x2", "seen": 5, "struck": 2},
                            {"fault": "getLedgers=null", "seen": 0, "struck": 0}]
    for wrong in ("getHealth", "getHealth=", "=hang", "nope=hang", "getHealth=nope", "getHealth=delay", "getHealth=delay:x",
                  "getHealth=hang:1", "getHealth=gap", "getEvents=reverse", "getHealth=close", "getHealth=close:x",
                  "getHealth=rpc-error:x", "getHealth=rpc-error:-1", "getHealth=status:99", "getHealth=delay:99999999999",
                  "a" * 300 + "=hang"):
        status, _, body = net.http("POST", "/faults", wrong)
        assert status == 400 and body, wrong
    assert len(net.faults()) == 2
    for i in range(62):
        net.fault("getHealth=hang@999")
    assert net.http("POST", "/faults", "getHealth=hang")[0] == 400
    net.mend()
    assert net.faults() == [] and net.post(HEALTH)[0] == 200


def many_at_once(net):
    """Askers while ledgers close: every page starts where the last one ended, whole and chained."""
    stop = threading.Event()

    def follow(_):
        cursor, before = None, None
        while not stop.is_set() or cursor is None:  # until the ledgers are closed
            try:
                got = net.call("getLedgers", **({"pagination": {"cursor": cursor, "limit": 9}} if cursor else {"startLedger": FIRST}))
            except Refused as e:
                assert e.code == -32602 and "must be between" in e.message
                time.sleep(0.002)
                continue
            for x in got["ledgers"]:
                header = base64.b64decode(x["headerXdr"])
                assert before is None or header[36:68] == before, x["sequence"]
                assert header in base64.b64decode(x["metadataXdr"])
                before = header[:32]
            cursor = got["cursor"]
        return int(cursor)

    def events(_):
        seen, cursor = 0, None
        while not stop.is_set():
            got = net.call("getEvents", **({"pagination": {"cursor": cursor}} if cursor else {"startLedger": FIRST}))
            ids = [e["id"] for e in got["events"]]
            assert ids == sorted(set(ids)) and (not ids or cursor is None or ids[0] > cursor)
            seen, cursor = seen + len(ids), got["cursor"]
        return seen
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        followers = [pool.submit(follow, i) for i in range(4)]
        listeners = [pool.submit(events, i) for i in range(2)]
        for _ in range(30):
            last = net.close(1)
        stop.set()
        ends = [f.result(60) for f in followers]
        assert all(last - 9 <= e <= last for e in ends), (ends, last)
        assert all(x.result(60) > 0 for x in listeners)


def ends_while_waited_for(net):
    """Asked to stop while clients hang on it, it stops at once."""
    net.fault("getHealth=hang", "getLedgers=drip", "getEvents=delay:60000")
    waiting = []
    for method in ("getHealth", "getLedgers", "getEvents"):
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": {"startLedger": FIRST} if method != "getHealth" else {}})
        c = http.client.HTTPConnection("127.0.0.1", net.port, timeout=30)
        c.request("POST", "/", body, JSON)
        waiting.append(c)
    time.sleep(0.2)
    begin = steady()
    assert net.stop() == 0 and steady() - begin < 5
    for c in waiting:
        c.close()


with Network("--close-ms", "0", "--ledgers", COUNT, "--fault", "getNetwork=status:503x1") as net:
    ask = {"jsonrpc": "2.0", "id": 1, "method": "getNetwork"}
    assert [net.post(ask)[0] for _ in range(2)] == [503, 200]
    net.mend()
    of_http(net)
    of_rpc(net)
    of_ledgers(net)
    of_events(net)
    told(net)
with Network("--close-ms", "0", "--ledgers", 16) as net:
    many_at_once(net)
    ends_while_waited_for(net)
print("ok")
