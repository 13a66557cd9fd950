#!/usr/bin/env python3
"""Compares an index with stellar-rpc's answers about the same ledgers, value for value.

usage: _compare.py RPC_URL DEPLOYMENT FROM TO HISTORY [KIND=N]…

The database is that of TIDEMARK_DATABASE_URL. RPC decodes XDR to JSON itself (`xdrFormat`), so no decoder is shared.
transactions  each that concerns the deployment: place, source, outcome, fee
calls         each operation on its contracts: arguments, answer, outcome, counts of events and changes
events        each event of its contracts in such an operation: id, topics, data
entries       each entry of its contracts that a transaction ever changed, as of the ledger of RPC's answer: value, time to live
headers       each ledger of the history archive in the folder HISTORY: hash, close time, protocol
An archived entry has no time to live: RPC says 0, the index null. RPC calls an expired one archived before it is evicted; the index then has its last ledger. The index says null for the instance of a Stellar asset's contract, always.
Fails if anything differs, or if fewer than N of a KIND were compared.
"""
import base64
import gzip
import hashlib
import json
import os
import pathlib
import re
import struct
import subprocess
import sys
import time
import urllib.request

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "integration"))
from _stored import stored

TX_CODES = {"tx_fee_bump_inner_success": 1, "tx_success": 0, "tx_failed": -1, "tx_fee_bump_inner_failed": -13,
            "tx_soroban_invalid": -17, "tx_bad_seq": -5, "tx_insufficient_balance": -7}
HOST_CODES = {"success": 0, "malformed": -1, "trapped": -2, "resource_limit_exceeded": -3, "entry_archived": -4,
              "insufficient_refundable_fee": -5}
WIDE = {"u64", "i64", "u128", "i128", "u256", "i256", "timepoint", "duration"}


def rpc(url, method, params, patience=20):
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
    request = urllib.request.Request(url, body, {"Content-Type": "application/json"})
    answer = json.load(urllib.request.urlopen(request, timeout=60))
    if patience and "could not query captive core" in str(answer.get("error")):
        time.sleep(0.3)  # passing trouble of the server, under load
        return rpc(url, method, params, patience - 1)
    if "error" in answer:
        sys.exit(f"{method}: {answer['error']}")
    return answer["result"]


# --- values -----------------------------------------------------------------------------------

def value(v):
    """RPC's JSON of an ScVal in the form of _stored.py: integers over 32 bits as text, maps as objects."""
    if isinstance(v, str):
        return {"void": None, "ledger_key_contract_instance": "LedgerKeyContractInstance"}[v]
    (kind, v), = v.items()
    if kind in WIDE:
        return str(v)
    if kind == "vec":
        return [value(x) for x in v]
    if kind == "map":
        return {key_text(value(e["key"])): value(e["val"]) for e in v}
    if kind == "contract_instance":
        return instance(v)
    if kind in ("string", "symbol"):
        return text(v)
    if kind == "ledger_key_nonce":
        return {"nonce": str(v["nonce"])}
    return v


def text(v):
    """RPC escapes what is not printable ASCII (SEP-51)."""
    return re.sub(rb"\\(x..|.)", lambda m: bytes.fromhex(m[1][1:].decode()) if m[1][:1] == b"x" else {b"n": b"\n", b"t": b"\t", b"r": b"\r", b"0": b"\0"}.get(m[1], m[1]),
                  v.encode()).decode()


def key_text(key):
    return key if isinstance(key, str) else json.dumps(key, separators=(",", ":"), ensure_ascii=False)


def instance(v):
    executable = v["executable"]
    storage = {key_text(value(e["key"])): value(e["val"]) for e in v["storage"] or []}
    if executable == "stellar_asset":
        return {"executable": "contractExecutableStellarAsset", "storage": storage}
    if "wasm" in executable:
        return {"executable": "contractExecutableWasm", "wasm": executable["wasm"], "storage": storage}
    reference = executable["external_ref"]
    return {"executable": "contractExecutableExternalRef", "owner": reference["executable_owner"], "tag": reference["tag"], "storage": storage}


def opaque(data, fixed=False):
    return (b"" if fixed else struct.pack(">I", len(data))) + data + bytes(-len(data) % 4)


def address(text):
    raw = base64.b32decode(text + "=" * (-len(text) % 8))
    return (struct.pack(">II", 0, 0) if text[0] == "G" else struct.pack(">I", 1)) + raw[1:33]


def scval(v):
    """XDR of an ScVal that is a key of storage, from RPC's JSON."""
    if isinstance(v, str):
        return struct.pack(">I", {"void": 1, "ledger_key_contract_instance": 20}[v])
    (kind, v), = v.items()
    if kind == "bool":
        return struct.pack(">II", 0, v)
    if kind in ("u32", "i32", "u64", "i64"):
        number = {"u32": (3, ">I"), "i32": (4, ">i"), "u64": (5, ">Q"), "i64": (6, ">q")}[kind]
        return struct.pack(">I", number[0]) + struct.pack(number[1], int(v))
    if kind in ("u128", "i128"):
        return struct.pack(">I", 9 if kind == "u128" else 10) + int(v).to_bytes(16, "big", signed=kind == "i128")
    if kind in ("bytes", "string", "symbol", "executable_tag"):
        data = bytes.fromhex(v) if kind == "bytes" else text(v).encode()
        return struct.pack(">I", {"bytes": 13, "string": 14, "symbol": 15, "executable_tag": 22}[kind]) + opaque(data)
    if kind == "vec":
        return struct.pack(">III", 16, 1, len(v)) + b"".join(map(scval, v))
    if kind == "address":
        return struct.pack(">I", 18) + address(v)
    raise ValueError(f"a key of the kind {kind}")


def ledger_key(contract, key, durability):
    return struct.pack(">I", 6) + address(contract) + scval(key) + struct.pack(">I", durability == "persistent")


# --- what RPC says ----------------------------------------------------------------------------

def transactions(url, first, last):
    page = {"startLedger": first, "pagination": {"limit": 100}, "xdrFormat": "json"}
    while True:
        answer = rpc(url, "getTransactions", page)
        for tx in answer["transactions"]:
            if tx["ledger"] <= last:
                yield tx
        if not answer["transactions"] or answer["transactions"][-1]["ledger"] > last:
            return
        page = {"pagination": {"limit": 100, "cursor": answer["cursor"]}, "xdrFormat": "json"}


def outcome(result):
    """(name of the transaction's code, results of its operations)"""
    result = result["result"]
    name = result if isinstance(result, str) else next(iter(result))
    results = [] if isinstance(result, str) else result[name]
    if name.startswith("tx_fee_bump_inner"):
        return name, outcome(results["result"])[1]
    return name, results


def inner(envelope):
    """Returns (source of the operations, operations); those of the inner transaction if the envelope is a fee bump."""
    if "tx_fee_bump" in envelope:
        return inner(envelope["tx_fee_bump"]["tx"]["inner_tx"])
    tx = next(iter(envelope.values()))["tx"]
    return tx["source_account"], tx["operations"]


def payers(tx):
    """Who pays the sequence number and the fee of a transaction, and the hash within a fee bump."""
    source, envelope = inner(tx["envelopeJson"])[0], tx["envelopeJson"]
    if "tx_fee_bump" not in envelope:
        return dict(txSource=source, feeSource=source)
    within = next(iter(tx["resultJson"]["result"].values()))["transaction_hash"]
    return dict(txSource=source, feeSource=envelope["tx_fee_bump"]["tx"]["fee_source"], innerHash=within)


def host_code(results, op):
    """(code of the operation's result, whether it succeeded); none if the transaction failed before it"""
    if op >= len(results) or "op_inner" not in results[op]:
        return None
    answer = results[op]["op_inner"]["invoke_host_function"]
    return HOST_CODES[answer if isinstance(answer, str) else next(iter(answer))]


def changes_of(tx):
    """(section, operation, change) of everything that a transaction changed"""
    meta = next(iter(tx["resultMetaJson"].values()))
    for op, operation in enumerate(meta["operations"]):
        for change in operation["changes"]:
            yield op, change


def entry_of(change):
    kind, body = next(iter(change.items()))
    data = body if kind == "removed" else body["data"]
    return kind, *next(iter(data.items()))


class Told:
    """What RPC tells about the transactions of a deployment."""

    def __init__(self, url, first, last, deployment):
        self.ours, self.named = ours_of(deployment)
        self.txs, self.calls, self.keys, self.places, self.closed = {}, [], {}, {}, {}
        for tx in transactions(url, first, last):
            if self.concerns(tx):
                self.take(tx, self.ours)

    def concerns(self, tx):
        """A Stellar asset's contract is the whole network's: its calls count if an address of the deployment file takes part."""
        text = json.dumps([tx["envelopeJson"], [c for _, c in changes_of(tx)]])
        return any(name in text for name in self.named)

    def take(self, tx, ours):
        place = tx["ledger"], tx["applicationOrder"]
        self.closed[tx["ledger"]] = int(tx["createdAt"])
        source, operations = inner(tx["envelopeJson"])
        code, results = outcome(tx["resultJson"])
        meta = next(iter(tx["resultMetaJson"].values()))
        concerns = False
        changed = [0] * len(operations)
        for op, change in changes_of(tx):
            kind, what, data = entry_of(change)
            changed[op] += kind not in ("state", "restored") and what != "ttl"
            if what == "contract_data" and data["contract"] in ours:
                self.keys[ledger_key(data["contract"], data["key"], data["durability"]) if nonce(data["key"]) is None else None] = data
                concerns = True
        for op, operation in enumerate(operations):
            self.places[(*place, op)] = "invoke_host_function" in operation["body"]
            call = self.call(tx, meta, operation, op, operation["source_account"] or source, results, changed[op], ours)
            if call:
                self.calls.append(call)
                concerns = True
            events = meta["operations"][op]["events"] if op < len(meta["operations"]) else []
            concerns = concerns or self.places[(*place, op)] and any(e["contract_id"] in ours for e in events)
        self.txs[place] = dict(ledger=place[0], tx=place[1], hash=tx["txHash"], source=source, ok=tx["status"] == "SUCCESS",
                               result_code=TX_CODES[code], fee_charged=int(tx["resultJson"]["fee_charged"]), concerns=concerns)

    def call(self, tx, meta, operation, op, source, results, changed, ours):
        if "invoke_host_function" not in operation["body"]:
            return None
        function, body = next(iter(operation["body"]["invoke_host_function"]["host_function"].items()))
        code = host_code(results, op)
        ok = tx["status"] == "SUCCESS"
        ret = (meta.get("soroban_meta") or {}).get("return_value") if ok else None
        if function == "invoke_contract":
            contract, fn, args = body["contract_address"], body["function_name"], [value(a) for a in body["args"]]
        elif function.startswith("create_contract") and ok:
            contract, fn, args, ret = value(ret), None, [value(a) for a in body.get("constructor_args", [])], None
        else:
            return None
        if contract not in ours:
            return None
        events = meta["operations"][op]["events"] if ok else []
        row = dict(ledger=tx["ledger"], closeTime=int(tx["createdAt"]), tx=tx["applicationOrder"], op=op, hash=tx["txHash"], source=source, contract=contract,
                   fn=fn, args=args, ok=ok, events=len(events), changed=changed, result_code=code, **payers(tx))
        return dict(row, ret=value(ret) if ret is not None else None) if ok else row


def ours_of(deployment):
    """(all contracts of the file, addresses of the file that are no Stellar asset's contract)"""
    contracts, assets = deployment["contracts"], {deployment["contracts"][n] for n in ("usdc", "xlm")}
    return set(contracts.values()), (set(contracts.values()) | set(deployment["accounts"].values())) - assets


def nonce(key):
    return key.get("ledger_key_nonce") if isinstance(key, dict) else None


def events(url, first, last, contracts, told):
    """(events of calls, number of the others: fees, classic operations)"""
    filters = [{"contractIds": contracts[i:i + 5]} for i in range(0, len(contracts), 5)]
    page = {"startLedger": first, "endLedger": last + 1, "filters": filters, "pagination": {"limit": 1000}, "xdrFormat": "json"}
    kept, others = [], 0
    while True:
        answer = rpc(url, "getEvents", page)
        for e in answer["events"]:
            toid, index = map(int, e["id"].split("-"))
            place = toid >> 32, toid >> 12 & 0xFFFFF, toid & 0xFFF
            if not told.places.get(place):
                others += 1
                continue
            kept.append(dict(ledger=place[0], closeTime=told.closed[place[0]], tx=place[1], op=place[2], event=index, hash=e["txHash"], type=e["type"], contract=e["contractId"],
                             topics=[value(t) for t in e["topicJson"]], data=value(e["valueJson"])))
        if len(answer["events"]) < 1000:
            return kept, others
        page = {"filters": filters, "pagination": {"limit": 1000, "cursor": answer["cursor"]}, "xdrFormat": "json"}


def entries(url, keys):
    """Pages of (ledger of the answer, {key: [value, time to live]}) for these keys."""
    keys = [base64.b64encode(k).decode() for k in keys]
    for i in range(0, len(keys), 150):
        answer = rpc(url, "getLedgerEntries", {"keys": keys[i:i + 150], "xdrFormat": "json"})
        found = {}
        for e in answer["entries"] or []:
            data = e["dataJson"]["contract_data"]
            name = data["contract"], json.dumps(value(data["key"])), data["durability"]
            found[name] = [value(data["val"]), e.get("liveUntilLedgerSeq") or None]
        yield answer["latestLedger"], keys[i:i + 150], found


# --- what the index says ----------------------------------------------------------------------

def sql(statement):
    psql = subprocess.run([os.environ["PG_BIN"] + "/psql", "-XAtqv", "ON_ERROR_STOP=1", os.environ["TIDEMARK_DATABASE_URL"], "-c",
                           f"SELECT row_to_json(q) FROM ({statement}) AS q"], stdout=subprocess.PIPE, check=True)
    return [json.loads(line) for line in psql.stdout.splitlines()]


# --- comparisons ------------------------------------------------------------------------------

class Report:
    def __init__(self):
        self.compared, self.wrong = {}, {}

    def same(self, kind, where, got, want):
        self.compared[kind] = self.compared.get(kind, 0) + 1
        if json.dumps(got, sort_keys=True) == json.dumps(want, sort_keys=True):
            return
        self.wrong[kind] = self.wrong.get(kind, 0) + 1
        if self.wrong[kind] <= 4:
            print(f"{kind}: {where}\n  index {json.dumps(got)[:1500]}\n  RPC   {json.dumps(want)[:1500]}")

    def tables(self, kind, got, want):
        for name in sorted(got.keys() | want.keys()):
            self.same(kind, name, got.get(name), want.get(name))

    def end(self, least):
        for kind, n in sorted(self.compared.items()):
            print(f"{kind}: {n} compared, {self.wrong.get(kind, 0)} differ")
        few = [f"{kind}: {self.compared.get(kind, 0)} compared, at least {n} expected" for kind, n in least.items() if self.compared.get(kind, 0) < n]
        print("\n".join(few), end="\n" if few else "")
        sys.exit(1 if self.wrong or few else 0)


def without(row, *names):
    return {k: v for k, v in row.items() if k not in names}


def within(rows, first, last):
    return [r for r in rows if first <= r["ledger"] <= last]


def compare_transactions(report, told, first, last):
    got = {(r["ledger"], r["tx"]): r for r in sql(f"SELECT ledger, tx, encode(hash, 'hex') AS hash, source, ok, result_code, fee_charged FROM chain.tx WHERE ledger BETWEEN {first} AND {last}")}
    # A transaction that changes only times to live of the deployment's entries concerns it too; RPC's transactions do not say whose these are.
    want = {place: without(row, "concerns") for place, row in told.txs.items() if row["concerns"] or place in got}
    report.tables("transactions", got, want)


def compare_calls(report, told, first, last):
    codes = {(r["ledger"], r["tx"], r["op"]): r["result_code"] for r in sql("SELECT ledger, tx, op, result_code FROM chain.call")}
    place = lambda r: (r["ledger"], r["tx"], 0)
    got = {place(r): without(r, "role", "name") for r in within(stored("calls"), first, last)}
    report.tables("calls", {k: dict(v, result_code=codes[k]) for k, v in got.items()}, {place(r): without(r, "op") if r["result_code"] is not None else dict(without(r, "op"), result_code=codes.get(place(r))) for r in told.calls})


def compare_events(report, url, told, first, last):
    want, others = events(url, first, last, sorted(told.ours), told)
    place = lambda r: (r["ledger"], r["tx"], r["op"], r["event"])
    report.tables("events", {place(r): without(r, "role") for r in within(stored("events"), first, last) if r["contract"] in told.ours}, {place(r): r for r in want})
    print(f"events that RPC alone has: {others} (fees, classic operations)")


def compare_entries(report, url, told, last_of_index):
    archived = lives = 0
    for ledger, keys, found in entries(url, [k for k in told.keys if k]):
        wait_for(last_of_index, ledger)
        names = {name_of(told.keys[base64.b64decode(k)]) for k in keys}
        got = {(r["contract"], json.dumps(r["key"]), r["durability"]): r for r in stored("state", ledger)}
        for name in names:
            row, want = got.get(name), found.get(name)
            if row and not want and name[2] == "temporary" and (row["live_until"] or 0) < ledger:
                row = None  # expired, though not yet evicted
            if row and want and is_asset(want[0]):
                want[1] = None  # transfers between strangers restore and extend it: the index does not tell
                lives += 1
            elif row:
                archived += row["live_until"] is None
            expired = row and (row["live_until"] or 0) < ledger  # archived for RPC, evicted or not
            report.same("entries", name, [row["val"], None if expired else row["live_until"]] if row else None, want)
    report.compared["archived entries"] = archived
    print(f"times to live that RPC alone has: {lives} (instances of Stellar assets)")


def is_asset(val):
    """Whether the value is the instance of a Stellar asset's contract."""
    return isinstance(val, dict) and val.get("executable") == "contractExecutableStellarAsset"


def name_of(data):
    return data["contract"], json.dumps(value(data["key"])), data["durability"]


def wait_for(reached, ledger):
    for _ in range(600):
        if reached() >= ledger:
            return
        time.sleep(0.2)
    sys.exit(f"the index does not reach ledger {ledger}")


def header(payload):
    """(sequence, hash, close time, protocol) of a LedgerHeaderHistoryEntry"""
    at = 32 + 4 + 32 + 32
    closed = int.from_bytes(payload[at:at + 8], "big")
    upgrades, at = int.from_bytes(payload[at + 8:at + 12], "big"), at + 12
    for _ in range(upgrades):
        at += 4 + (int.from_bytes(payload[at:at + 4], "big") + 3) // 4 * 4
    arm, at = int.from_bytes(payload[at:at + 4], "big"), at + 4
    if arm:  # the signature of the node that proposed the value
        at += 36 + 4 + (int.from_bytes(payload[at + 36:at + 40], "big") + 3) // 4 * 4
    sequence = int.from_bytes(payload[at + 64:at + 68], "big")
    assert hashlib.sha256(payload[32:-4]).digest() == payload[:32], sequence
    return sequence, payload[:32].hex(), closed, int.from_bytes(payload[32:36], "big")


def compare_headers(report, folder, first, last):
    got = {r["ledger"]: [r["hash"], r["closed"], r["protocol"]] for r in sql(
        f"SELECT ledger, encode(hash, 'hex') AS hash, extract(epoch FROM closed_at)::bigint AS closed, protocol FROM chain.ledger WHERE ledger BETWEEN {first} AND {last}")}
    for path in sorted(pathlib.Path(folder).glob("ledger/**/*.xdr.gz")):
        data, at = gzip.decompress(path.read_bytes()), 0
        while at < len(data):
            size = int.from_bytes(data[at:at + 4], "big") & 0x7FFFFFFF
            sequence, *want = header(data[at + 4:at + 4 + size])
            at += 4 + size
            if first <= sequence <= last:
                report.same("headers", sequence, got.get(sequence), want)


def main():
    url, deployment, first, last, history, *least = sys.argv[1:]
    first, last = int(first), int(last)
    report = Report()
    told = Told(url, first, last, json.loads(pathlib.Path(deployment).read_text()))
    compare_transactions(report, told, first, last)
    compare_calls(report, told, first, last)
    compare_events(report, url, told, first, last)
    compare_entries(report, url, told, lambda: sql("SELECT max(ledger) AS n FROM chain.cursor")[0]["n"])
    compare_headers(report, history, first, last)
    report.end({kind: int(n) for kind, n in (x.rsplit("=", 1) for x in least)})


main()
