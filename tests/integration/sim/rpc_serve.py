#!/usr/bin/env python3
"""Tests the simulated network over HTTP: transport, methods, limits, pages, error codes and texts, its lake, its
control, continuing a chain written earlier, and serving a recorded one."""
import base64
import hashlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from _serve import SIM, Network, Refused

FIRST, COUNT = 1024, 96
CHAIN = ["--ledgers", str(COUNT), "--seed", "4", "--txs", "6", "--diagnostics"]


def refused(code, text, call, *args, **params):
    try:
        call(*args, **params)
    except Refused as e:
        assert e.code == code and text in e.message, f"expected {code} {text!r}, got {e}"
    else:
        raise AssertionError(f"expected {code} {text!r}, got an answer")


def stream(folder):
    """The same chain as `write` makes it, ledger by ledger."""
    path = folder / "stream"
    subprocess.run([SIM, "write", "--stream", path, "--quiet", *CHAIN], check=True)
    raw, at, ledgers = path.read_bytes(), 0, []
    while at < len(raw):
        size = int.from_bytes(raw[at:at + 4], "big") & 0x7FFFFFFF
        ledgers.append(raw[at + 4:at + 4 + size])
        at += 4 + size
    return ledgers


# ---- transport

def transport(net):
    status, headers, body = net.http("GET", "/")
    assert status == 405 and headers["Allow"] == "POST" and b"SIMULATED" in body and headers["X-Simulated"]
    status, headers, _ = net.http("OPTIONS", "/", headers={"Origin": "http://a"})
    assert status == 204 and headers["Access-Control-Allow-Origin"] == "*"  # a page may ask, but not control
    assert net.http("OPTIONS", "/close", headers={"Origin": "http://a"})[0] == 403
    assert net.http("POST", "/", "{}", {"Content-Type": "text/plain"})[0] == 415
    assert net.http("POST", "/", "{}")[0] == 415
    assert net.post({"jsonrpc": "2.0", "id": 1, "method": "getHealth"},
                    **{"Content-Type": "application/json; charset=utf-8"})[0] == 200
    big = '{"jsonrpc":"2.0","id":1,"method":"getHealth","x":"' + "a" * (512 << 10) + '"}'
    assert net.post(big)[0] == 413
    fits = '{"jsonrpc":"2.0","id":1,"method":"getHealth","x":"' + "a" * 500000 + '"}'
    assert net.post(fits)[0] == 200

    def ask(body):
        return json.loads(net.post(body)[2])
    call = {"jsonrpc": "2.0", "method": "getHealth"}
    for ident in ("text", "\u00e4\"\n", 0, -5, 2**53, None):
        assert ask({**call, "id": ident})["id"] == ident
    assert ask("{")["error"]["code"] == -32700 and ask("{")["id"] is None
    assert ask("")["error"]["code"] == -32700
    assert ask("[]")["error"]["code"] == -32600
    assert ask("1")["error"]["code"] == -32600
    assert ask({"id": 1, "method": "getHealth"})["error"]["code"] == -32600
    assert ask({"jsonrpc": "2.0", "id": 1})["error"]["code"] == -32600
    assert ask({**call, "id": [1]})["error"]["code"] == -32600
    assert ask({**call, "id": 1, "method": "getEverything"})["error"]["code"] == -32601
    assert ask({**call, "id": 1, "params": []})["error"]["code"] == -32602
    assert "result" in ask({**call, "id": 1, "params": {}}) and "result" in ask({**call, "id": 1, "params": None})
    status, _, body = net.post(call)  # no id: no answer is expected
    assert (status, body) == (204, b"")
    assert ask([{**call, "id": 1}])["error"]["code"] == -32600  # no batches


# ---- ledgers

def ledgers(net, chain):
    last = FIRST + COUNT - 1
    health = net.call("getHealth")
    assert health["status"] == "healthy" and health["ledgerRetentionWindow"] == 80
    oldest = health["oldestLedger"]
    assert (oldest, health["latestLedger"]) == (last - 79, last)
    assert type(health["latestLedgerCloseTime"]) is int and type(health["oldestLedgerCloseTime"]) is int
    network = net.call("getNetwork")
    assert "Simulated" in network["passphrase"] and network["protocolVersion"] == 25
    assert network["friendbotUrl"] == f"http://127.0.0.1:{net.port}/friendbot"

    got, cursor, pages = [], None, 0
    while True:
        page = net.call("getLedgers", **({"pagination": {"cursor": cursor, "limit": 7}} if cursor else
                                         {"startLedger": oldest, "pagination": {"limit": 7}}))
        got += page["ledgers"]
        pages += 1
        cursor = page["cursor"]
        assert page["oldestLedger"] == oldest and page["latestLedger"] == last
        assert type(page["latestLedgerCloseTime"]) is int
        if int(cursor) == last:
            break
    assert pages == 12 and [x["sequence"] for x in got] == list(range(oldest, last + 1))
    for entry, lcm in zip(got, chain[oldest - FIRST:], strict=True):
        assert base64.b64decode(entry["metadataXdr"]) == lcm, entry["sequence"]
        header = base64.b64decode(entry["headerXdr"])  # LedgerHeaderHistoryEntry: hash, header, ext
        assert header[:32].hex() == entry["hash"] == hashlib.sha256(header[32:-4]).hexdigest()
        assert header in lcm and type(entry["ledgerCloseTime"]) is str
    assert len(net.call("getLedgers", startLedger=oldest)["ledgers"]) == 50
    latest = net.call("getLatestLedger")
    assert latest["id"] == got[-1]["hash"] and latest["sequence"] == last and latest["protocolVersion"] == 25
    assert latest["closeTime"] == got[-1]["ledgerCloseTime"]
    assert hashlib.sha256(base64.b64decode(latest["headerXdr"])).hexdigest() == latest["id"]  # a bare LedgerHeader
    assert latest["metadataXdr"] == got[-1]["metadataXdr"]

    span = f"must be between the oldest ledger: {oldest} and the latest ledger: {last} for this rpc instance"
    for start in (0, oldest - 1, last + 1):
        refused(-32600, f"start ledger ({start}) {span}", net.call, "getLedgers", startLedger=start)
    refused(-32600, f"start ledger (0) {span}", net.call, "getLedgers")
    refused(-32600, "limit must not exceed 200", net.call, "getLedgers", startLedger=last, pagination={"limit": 201})
    refused(-32600, f"startLedger ({last}) and cursor ({last}) cannot both be set", net.call, "getLedgers",
            startLedger=last, pagination={"cursor": str(last)})
    refused(-32602, "startLedger", net.call, "getLedgers", startLedger=str(last))
    refused(-32602, "startLedger", net.call, "getLedgers", startLedger=-1)
    refused(-32602, "startLedger", net.call, "getLedgers", startLedger=2**32)
    refused(-32602, "pagination", net.call, "getLedgers", startLedger=last, pagination=[])
    refused(-32602, "limit", net.call, "getLedgers", startLedger=last, pagination={"limit": "5"})
    refused(-32602, "xdrFormat", net.call, "getLedgers", startLedger=last, xdrFormat="json")
    refused(-32602, f"cursor ('{last}') {span}", net.call, "getLedgers", pagination={"cursor": str(last)})
    refused(-32602, f"cursor ('{oldest - 2}') {span}", net.call, "getLedgers", pagination={"cursor": str(oldest - 2)})
    refused(-32602, "invalid syntax", net.call, "getLedgers", pagination={"cursor": "x"})
    stats = net.call("getFeeStats")
    assert set(stats) == {"sorobanInclusionFee", "inclusionFee", "latestLedger"}
    assert stats["sorobanInclusionFee"]["ledgerCount"] == 50 and stats["inclusionFee"]["ledgerCount"] == 10
    assert int(stats["sorobanInclusionFee"]["p50"]) >= 50 and type(stats["sorobanInclusionFee"]["p50"]) is str
    return oldest, last


# ---- events and their transactions

def all_events(net, oldest, limit, **rest):
    got, params = [], {"startLedger": oldest, "pagination": {"limit": limit}}
    while True:
        page = net.call("getEvents", **params, **rest)
        got += page["events"]
        if len(page["events"]) < limit:
            return got, page
        assert page["cursor"] == page["events"][-1]["id"]
        params = {"pagination": {"cursor": page["cursor"], "limit": limit}}


def events(net, oldest, last):
    got, tail = all_events(net, oldest, 100)
    ids = [e["id"] for e in got]
    assert ids == sorted(set(ids)) and (got[0]["ledger"], got[-1]["ledger"]) == (oldest, last)
    assert tail["cursor"] == f"{last << 32 | 0xffffffff:019d}-4294967295"
    assert net.call("getEvents", pagination={"cursor": tail["cursor"]})["events"] == []
    assert got == all_events(net, oldest, 10000, filters=[])[0]
    for e in got:
        toid = int(e["id"].split("-")[0])
        assert (e["ledger"], e["operationIndex"], e["transactionIndex"]) == (toid >> 32, toid & 4095, toid >> 12 & 0xFFFFF)
    assert type(tail["latestLedgerCloseTime"]) is str and tail["oldestLedger"] == oldest

    def some(**params):
        return [e["id"] for e in all_events(net, oldest, 500, **params)[0]]

    def those(keep):
        return [e["id"] for e in got if keep(e)]
    named = [e["contractId"] for e in got if e["contractId"]]
    a, b = max(set(named), key=named.count), min(set(named), key=named.count)
    assert some(filters=[{"contractIds": [a, b]}]) == those(lambda e: e["contractId"] in (a, b))
    assert some(filters=[{"type": "contract", "contractIds": [a]}, {"contractIds": [b]}]) == \
        those(lambda e: e["contractId"] == b or e["contractId"] == a and e["type"] == "contract")
    assert some(endLedger=oldest + 3) == those(lambda e: e["ledger"] < oldest + 3)

    where = f"startLedger must be within the ledger range: {oldest} - {last}"
    for params, code, text in (
            ({}, -32602, "startLedger must be positive"),
            ({"startLedger": oldest - 1}, -32600, where),
            ({"startLedger": last + 1}, -32600, where),
            ({"startLedger": last, "pagination": {"cursor": got[0]["id"]}}, -32602, "ledger ranges and cursor cannot both be set"),
            ({"startLedger": last, "pagination": {"limit": 10001}}, -32602, "limit must not exceed 10000"),
            ({"pagination": {"cursor": "x"}}, -32602, "invalid event id x"),
            ({"startLedger": last, "filters": [{}] * 6}, -32602, "maximum 5 filters per request"),
            ({"startLedger": last, "filters": [{"type": "diagnostic"}]}, -32602, "filter 1 invalid: "),
            ({"startLedger": last, "filters": [{}, {"contractIds": [a] * 6}]}, -32602, "filter 2 invalid: maximum 5 contract IDs per filter"),
            ({"startLedger": last, "filters": [{"contractIds": [a, "C1"]}]}, -32602, "filter 1 invalid: contract ID 2 invalid"),
            ({"startLedger": last, "filters": [{"topics": [["*"]]}]}, -32602, "does not filter by topics"),
            ({"startLedger": last, "filters": {}}, -32602, "filters")):
        refused(code, text, net.call, "getEvents", **params)
    return got


def transactions(net, oldest, last, told):
    found = [net.call("getTransaction", hash=h) for h in list(dict.fromkeys(e["txHash"] for e in told))[::2]]
    assert {t["status"] for t in found} == {"SUCCESS", "FAILED"} and any(t["feeBump"] for t in found)
    for t in found:
        mine = [e for e in told if e["txHash"] == t["txHash"]]
        assert {e["ledger"] for e in mine} == {t["ledger"]} and t["envelopeXdr"] and t["resultXdr"] and t["resultMetaXdr"]
        assert type(t["createdAt"]) is str and t["oldestLedger"] == oldest and t["latestLedger"] == last
        stages = len(t["events"].get("transactionEventsXdr", []))
        assert len(mine) == stages + sum(map(len, t["events"].get("contractEventsXdr", [])))
    bump = next(t for t in found if t["feeBump"])
    inner = base64.b64decode(bump["resultXdr"])[12:44].hex()  # feeCharged, code, then the inner pair's hash
    one = net.call("getTransaction", hash=inner)
    assert one["txHash"] == inner and one["envelopeXdr"] == bump["envelopeXdr"] and one["feeBump"] is True
    none = net.call("getTransaction", hash="ab" * 32)
    assert none["status"] == "NOT_FOUND" and none["ledger"] == 0 and none["latestLedger"] == last and "resultXdr" not in none
    refused(-32602, "unexpected hash length (2)", net.call, "getTransaction", hash="ab")
    refused(-32602, "incorrect hash", net.call, "getTransaction", hash="xy" * 32)
    return found


# ---- what is written, and how it is told to go on

def control(net, last):
    assert net.http("GET", "/stats", headers={"Origin": "http://a"})[0] == 403
    assert net.http("POST", "/close", "1", {"Origin": "http://a"})[0] == 403
    assert net.http("GET", "/close")[0] == 405 and net.http("POST", "/close", "x")[0] == 400
    assert net.http("GET", "/nothing")[0] == 404
    before = net.stats()["requests"]["getHealth"]
    assert net.close(3) == last + 3 and net.call("getHealth")["latestLedger"] == last + 3
    assert net.stats()["requests"]["getHealth"] == before + 1 and net.stats()["closed"] == 3
    assert net.call("getHealth")["oldestLedger"] == last + 3 - 79  # the window moved
    times = [int(x["ledgerCloseTime"]) for x in net.call("getLedgers", startLedger=last)["ledgers"]]
    assert [b - a for a, b in zip(times, times[1:])] == [5, 5, 5]
    assert net.http("POST", "/hold", "2")[0] == 200 and net.http("DELETE", "/hold")[0] == 200
    return last + 3


def options():
    """Calls of clients restore entries as protocol 23 and later do it, which earlier ledgers cannot show."""
    done = subprocess.run([SIM, "serve", "--lcm", "1"], capture_output=True, text=True, check=False)
    assert done.returncode == 64 and "--lcm=1: a network with clients has protocol 23 or later" in done.stderr, done


def entries(net):
    refused(-32602, "key count (201) exceeds maximum supported (200)", net.call, "getLedgerEntries", keys=["AAAA"] * 201)
    refused(-32602, "cannot unmarshal key value AAAA at index 0", net.call, "getLedgerEntries", keys=["AAAA"])
    ttl = base64.b64encode(bytes([0, 0, 0, 9]) + bytes(32)).decode()
    refused(-32602, "ledger ttl entries cannot be queried directly", net.call, "getLedgerEntries", keys=[ttl])
    missing = base64.b64encode(bytes(8) + bytes([7] * 32)).decode()
    assert net.call("getLedgerEntries", keys=[missing])["entries"] == []
    refused(-32602, "invalid_xdr", net.call, "sendTransaction", transaction="AAAA")
    refused(-32602, "xdrFormat", net.call, "sendTransaction", transaction="AAAA", xdrFormat="json")
    assert net.call("simulateTransaction", transaction="AAAA")["error"] == "Could not unmarshal transaction"


def same_shape(net, txs):
    """Names and types of fields as in real answers; older servers quoted numbers and knew fewer."""
    shared = pathlib.Path(os.environ.get("TIDE_SHARED") or pathlib.Path(os.environ["TIDE_SOURCE_DIR"]) / "../shared")
    folder = shared / "fixtures/rpc/openrpc-examples"
    if not folder.is_dir():
        print("no recorded answers here: shapes not compared")
        return
    oldest = net.call("getHealth")["oldestLedger"]

    def shape(value):
        if isinstance(value, dict):
            return {k: shape(v) for k, v in value.items() if k not in ("diagnosticEventsXdr", "events")}
        return type(value).__name__ if not isinstance(value, list) else [shape(value[0])] if value else []

    def example(file, name):
        return shape(json.loads((folder / file).read_text())[name]["value"])
    good = next(t for t in txs if t["status"] == "SUCCESS")
    bad = next(t for t in txs if t["status"] == "FAILED")
    none = shape(net.call("getTransaction", hash="00" * 32))
    assert shape(net.call("getTransaction", hash=good["txHash"])) == example("Transactions.json", "SuccessTransactionResult")
    assert shape(net.call("getTransaction", hash=bad["txHash"])) == example("Transactions.json", "FailedTransactionResult")
    old = example("Transactions.json", "NotFoundTransactionResult")
    assert {k: none[k] for k in old} == old
    assert shape(net.call("getEvents", startLedger=oldest)) == example("Events.json", "AnyTwoEvents")
    assert shape(net.call("getLedgers", startLedger=oldest)) == example("Ledgers.json", "GetLedgersResult")


def goes_on(folder, last):
    """The same lake again: re-simulated to its end, then live; the bytes are one chain's."""
    options = ["--close-ms", "0", "--lake", folder / "lake", *CHAIN]
    with Network(*options, folder=folder) as net:
        assert net.call("getHealth")["latestLedger"] == last
        before = net.call("getLatestLedger")["id"]
        net.close(1)
        header = base64.b64decode(net.call("getLatestLedger")["headerXdr"])
        assert header[4:36].hex() == before
    code = subprocess.run([SIM, "serve", "--listen", "127.0.0.1:0", "--close-ms", "0", "--lake", folder / "lake",
                           "--ledgers", str(COUNT), "--seed", "5"], capture_output=True, text=True)
    assert code.returncode == 68 and "another chain" in code.stderr, code


def recorded(folder, chain):
    """The ledgers of a file, byte for byte, each when it is closed; behind the last one none. There is no state."""
    with Network("--recorded", folder / "stream", "--ledgers", COUNT - 2, "--close-ms", "0") as net:
        last = FIRST + COUNT - 3
        assert net.call("getHealth")["latestLedger"] == last and net.call("getHealth")["oldestLedger"] == FIRST
        refused(-32600, "", net.call, "getLedgers", startLedger=last + 1, pagination={"limit": 1})
        assert net.close(1) == last + 1
        page = net.call("getLedgers", startLedger=last, pagination={"limit": 5})["ledgers"]
        assert [base64.b64decode(one["metadataXdr"]) for one in page] == chain[-3:-1]
        assert net.close(5) == last + 2 and net.close(1) == last + 2
        for method in ("sendTransaction", "simulateTransaction"):
            refused(-32603, "recorded", net.call, method, transaction="AAAA")
        refused(-32603, "recorded", net.call, "getLedgerEntries", keys=["AAAA"])
        assert net.http("POST", "/hold", "2")[0] == 409
        assert net.http("GET", "/friendbot?addr=GCTI6HMWRH2QGMFKWVU5M5ZSOTKL7P7JAHZDMJJBKDHGWTEC4CJ7O3DU")[0] == 503
    (folder / "cut").write_bytes((folder / "stream").read_bytes()[:-1])
    for args in (["cut"], ["deployment.json"], ["absent"]):
        done = subprocess.run([SIM, "serve", "--listen", "127.0.0.1:0", "--ledgers", "1000", "--recorded", folder / args[0]],
                              capture_output=True, text=True, timeout=60)
        assert done.returncode != 0 and done.stderr, (args, done)


def refuses_the_world():
    for address in ("0.0.0.0:0", "[::]:0", "8.8.8.8:0"):
        done = subprocess.run([SIM, "serve", "--listen", address, "--ledgers", "1"], capture_output=True, text=True)
        assert done.returncode == 64 and "--public" in done.stderr, done
    for wrong in (["--listen", "nobody:0"], ["--listen", "127.0.0.1"], ["--listen", "127.0.0.1:99999"],
                  ["--fault", "getLedgers=nonsense"], ["--fault", "nope=hang"], ["--close-ms", "x"], ["--nothing"]):
        done = subprocess.run([SIM, "serve", "--ledgers", "1", *wrong], capture_output=True, text=True)
        assert done.returncode == 64 and done.stderr, wrong


with tempfile.TemporaryDirectory(prefix="tide-rpc.") as name:
    folder = pathlib.Path(name)
    chain = stream(folder)
    with Network("--close-ms", "0", "--retention", "80", "--lake", folder / "lake", *CHAIN, folder=folder) as net:
        transport(net)
        oldest, last = ledgers(net, chain)
        same_shape(net, transactions(net, oldest, last, events(net, oldest, last)))
        assert len(list((folder / "lake").rglob("*.zst"))) == COUNT
        assert json.loads((folder / "deployment.json").read_text())["first_ledger"] == FIRST
        last = control(net, last)
    assert "simulated=true" in net.said()
    goes_on(folder, last)
    recorded(folder, chain)
    with Network("--close-ms", "0", *CHAIN) as net:  # apart: the population makes way for who is asked about
        entries(net)
    options()
    refuses_the_world()
print("ok")
