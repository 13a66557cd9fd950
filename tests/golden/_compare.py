#!/usr/bin/env python3
"""Compares exports with the chain's recording, value for value.

usage: _compare.py events|calls|state GOT EXPECTED

events  same lines, same order; the recording's xdr is left out
calls   same lines, same order; the recording's reason is left out (only diagnostic events have it), and
        who pays if the recording does not tell
state   the same entries in any order; nonce entries and the recording's xdr are left out. The index
        does not tell how long the instance of a Stellar asset's contract lives: null is expected
Prints the first differences and exits 1 when there are any.
"""
import json
import sys

LEFT_OUT = {"events": {"xdr"}, "calls": {"reason"}, "state": {"key_xdr", "val_xdr"}}


PAYERS = ("txSource", "feeSource", "innerHash", "feeSourceMuxedId")


def is_nonce(entry):
    return isinstance(entry["key"], dict) and "nonce" in entry["key"]


def read(path, kind):
    rows = []
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            if kind == "state" and is_nonce(row):
                continue
            rows.append({k: v for k, v in row.items() if k not in LEFT_OUT[kind]})
    return rows


def expected(rows):
    """The recording, without how long instances of Stellar assets live."""
    for row in rows:
        val = row.get("val")
        if isinstance(val, dict) and val.get("executable") == "contractExecutableStellarAsset":
            row["live_until"] = None
    return rows


def by_key(rows):
    table = {}
    for row in rows:
        key = (row["contract"], json.dumps(row["key"]), row["durability"])
        if key in table:
            sys.exit(f"state: {key} twice")
        table[key] = row
    return table


def same(a, b):
    """Equal as JSON: true is not 1."""
    if type(a) is not type(b):
        return False
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
    if isinstance(a, list):
        return len(a) == len(b) and all(map(same, a, b))
    return a == b


def pairs(kind, got, want):
    if kind != "state":
        for i in range(max(len(got), len(want))):
            yield f"line {i + 1}", (got[i] if i < len(got) else None), (
                want[i] if i < len(want) else None)
        return
    got, want = by_key(got), by_key(want)
    for key in sorted(got.keys() | want.keys()):
        yield " ".join(key), got.get(key), want.get(key)


def main():
    kind, got_path, want_path = sys.argv[1:4]
    got, want = read(got_path, kind), expected(read(want_path, kind))
    if kind == "calls" and not any("txSource" in row for row in want):
        got = [{k: v for k, v in row.items() if k not in PAYERS} for row in got]
    wrong = 0
    for name, a, b in pairs(kind, got, want):
        if a is not None and b is not None and same(a, b):
            continue
        wrong += 1
        if wrong <= 5:
            print(f"{kind}: {name}\n  got  {json.dumps(a)}\n  want {json.dumps(b)}")
    print(f"{kind}: {len(got)} of {len(want)}, {wrong} differ")
    if not want:
        sys.exit(f"{kind}: nothing to compare with")
    sys.exit(1 if wrong else 0)


main()
