#!/usr/bin/env python3
# label: sanitize
"""Runs `dump` on the protocol's recorded chains: every event's topics and data as JSON, every call's hash and
outcome, and each key's last contract-data value equal the host's own storage."""
import base64, glob, json, os, subprocess, sys
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from _shared import Report, decode, fixtures

def rows(path):
    text = subprocess.run(["zstd", "-dc", path], stdout=subprocess.PIPE, check=True).stdout
    return [json.loads(line) for line in text.decode("utf-8", "replace").splitlines()]

def values(texts):
    """Base64 ScVals as JSON, by the decoder's --scval."""
    lines, code, text = decode([], "--scval", stdin=("\n".join(texts) + "\n").encode())
    assert code == 0, text
    return lines

def compare_events(report, chain, events, expected):
    ours = {(e["ledger"], e["tx"], e["op"], e["index"]): e for e in events if e["level"] == "op"}
    report.same("op events", chain, len(ours), len(expected))
    for want in expected:
        where = f"{chain} {want['ledger']} {want['tx']} {want['event']}"
        got = ours.get((want["ledger"], want["tx"], want["op"], want["event"]))
        if not got:
            report.true("event", where, False, "missing")
            continue
        report.same("event topics", where, got["topicsJson"], want["topics"])
        report.same("event data", where, got["dataJson"], want["data"])
        report.same("event identity", where, [got["contractId"], got["txHash"], got["type"]],
                    [want["contract"], want["hash"], want["type"]])
        raw = base64.b64decode(want["xdr"])
        report.true("event bytes", where, base64.b64decode(got["data"]) == raw[len(raw) - len(base64.b64decode(got["data"])):])

def compare_calls(report, chain, txs, expected):
    ours = {(t["ledger"], t["index"]): t for t in txs}
    report.same("calls", chain, len(ours), len(expected))
    for want in expected:
        where = f"{chain} {want['ledger']} {want['tx']}"
        got = ours[want["ledger"], want["tx"]]
        report.same("call", where, [got["hash"], got["successful"], got["source"]],
                    [want["hash"], want["ok"], want["source"]])
        if want["ok"]:
            report.same("call proof", where, got.get("proof"), "verified")

def compare_state(report, chain, data, expected):
    last = {}
    for d in data:
        last[d["contract"], d["key"]] = d
    live = {k: d for k, d in last.items() if d["type"] != "REMOVED"}
    found = 0
    for want in expected:
        got = live.get((want["contract"], want["key_xdr"]))
        if not got:
            continue  # the entry's first writing stands before the chain
        found += 1
        where = f"{chain} {want['contract']} {json.dumps(want['key'])}"
        report.same("state bytes", where, got["val"], want["val_xdr"])
        report.same("state value", where, got["valJson"], want["val"])
        report.same("state key", where, got["keyJson"], want["key"])
    report.true("state found", chain, found > len(expected) * 0.9, f"{found} of {len(expected)}")

def compare_values(report, chain, expected):
    """Every key and value of the storage by itself, those from before the chain too."""
    for what in ("key", "val"):
        for row, got in zip(expected, values([r[what + "_xdr"] for r in expected])):
            report.same("storage " + what, f"{chain} {row['contract']}", got, row[what])

root = fixtures()
report = Report()
for chain in ("a", "b"):
    base = f"{root}/protocol/{chain}"
    with open(base + "/deployment.json") as file:
        passphrase = json.load(file)["network"]
    files = sorted(glob.glob(base + "/lake/**/*.xdr.zst*", recursive=True), reverse=True)
    lines, code, text = decode(files, "--values", "--passphrase", passphrase)
    report.same("exit code", chain + " " + text, code, 0)
    by = {kind: [l for l in lines if l["kind"] == kind] for kind in ("ledger", "tx", "event", "contract_data")}
    report.count("ledgers", len(by["ledger"]))
    compare_events(report, chain, by["event"], rows(base + "/events.jsonl.zst"))
    compare_calls(report, chain, by["tx"], rows(base + "/calls.jsonl.zst"))
    for name in ("state", "state-mid"):
        state = rows(f"{base}/{name}.jsonl.zst")
        compare_values(report, chain, state)
        if name == "state":
            compare_state(report, chain, by["contract_data"], state)
report.end()
