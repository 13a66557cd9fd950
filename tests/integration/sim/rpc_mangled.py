#!/usr/bin/env python3
"""Sends requests that are partly valid, at random: each gets an answer of JSON-RPC, the network keeps running and
then answers as before. TIDE_MANGLED is their number (600), TIDE_SEED the seed."""
import base64
import json
import os
import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from _serve import Network

COUNT, SEED = int(os.environ.get("TIDE_MANGLED", 600)), os.environ.get("TIDE_SEED", "1")
METHODS = ["getHealth", "getNetwork", "getLatestLedger", "getLedgers", "getEvents",
           "getTransaction", "getLedgerEntries", "simulateTransaction", "sendTransaction", "getFeeStats", "nothing"]
RIGHT = {"startLedger": 1050, "pagination": {"limit": 3}, "filters": [{"type": "contract", "topics": [["*", "**"]]}],
         "hash": "ab" * 32, "keys": ["AAAAAAAAAAAHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBw=="]}
NAMES = [*RIGHT, "endLedger", "transaction", "authMode", "resourceConfig", "xdrFormat", "useUpgradedAuth"]
NUMBERS = [0, 1, -1, 1024, 1071, 1072, 2**31, 2**32 - 1, 2**32, 2**63 - 1, 2**70, 1.5, 1e300]
TEXTS = ["", "*", "**", "AAAA", "1050", "4552665333760-1", "0004552665333760-0000000001", "base64", "x" * 300, "contract,system",
         "AAAADwAAAANmZWUA", "ab" * 32, "\u0000", "\u00e4"]
INNER = ["cursor", "limit", "type", "contractIds", "topics", "instructionLeeway"]


def value(rng, depth=0):
    kind = rng.randrange(10 if depth < 4 else 6)
    if kind < 2:
        return rng.choice(NUMBERS)
    if kind < 5:
        return rng.choice([*TEXTS, base64.b64encode(rng.randbytes(rng.randrange(90))).decode()])
    if kind < 6:
        return rng.choice([None, True, False])
    if kind < 8:
        return [value(rng, depth + 1) for _ in range(rng.randrange(5))]
    return {rng.choice(INNER): value(rng, depth + 1) for _ in range(rng.randrange(4))}


def envelope(rng, real):
    bytes_ = bytearray(base64.b64decode(rng.choice(real)))
    for _ in range(rng.randrange(4)):
        bytes_[rng.randrange(len(bytes_))] = rng.choice([0, 1, 255, rng.randrange(256)])
    if rng.random() < .2:
        del bytes_[rng.randrange(len(bytes_)):]
    return base64.b64encode(bytes_).decode()


def request(rng, real, ident):
    params = {k: RIGHT[k] if k in RIGHT and rng.random() < .6 else value(rng) for k in rng.sample(NAMES, rng.randrange(5))}
    method = rng.choice(METHODS)
    if rng.random() < .3:
        method = rng.choice(["simulateTransaction", "sendTransaction"])
        params = {"transaction": envelope(rng, real)}
    body = json.dumps({"jsonrpc": "2.0", "id": ident, "method": method,
                       "params": params if rng.random() < .95 else value(rng)}).encode()
    if rng.random() < .05:
        at = rng.randrange(len(body))
        body = body[:at] + rng.randbytes(1) + body[at + 1:]
    return body


rng = random.Random(SEED)
with Network("--close-ms", "0", "--ledgers", 48) as net:
    events = net.call("getEvents", startLedger=1060)
    real = [net.call("getTransaction", hash=e["txHash"])["envelopeXdr"] for e in events["events"][::4]]
    answered = set()
    for i in range(COUNT):
        body = request(rng, real, i)
        status, _, text = net.post(body)
        assert status in (200, 204), (status, body)
        if status == 200:
            answer = json.loads(text)
            code = answer["error"]["code"] if "error" in answer else 0
            assert code in (0, -32700, -32600, -32601, -32602), (body, text[:300])
            answered.add(code)
    assert answered == {0, -32700, -32600, -32601, -32602}, answered
    assert net.call("getEvents", startLedger=1060) == events
    net.close(6)  # what got into the queue goes where it belongs
    assert net.call("getHealth")["latestLedger"] == 1077
print("ok")
