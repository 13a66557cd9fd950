#!/usr/bin/env python3
"""The code that the simulated contracts share lives and ends like on the network: it is evicted, a call restores it with its
other entries, and a client's simulation lists it for that."""
import base64
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from _serve import SIM, Network

HASH = hashlib.sha256(b"").digest()
KEY = (7).to_bytes(4, "big") + HASH  # LedgerKey CONTRACT_CODE
RESTORED = (4).to_bytes(4, "big")    # LedgerEntryChange
LIFE = 60
OPTIONS = ["--seed", "1", "--life", str(LIFE), "--txs", "1"]


def chain(folder):
    """Its entry is created once, and evicted and restored in turn."""
    subprocess.run([SIM, "write", "--stream", folder + "/meta", "--ledgers", "1500", "--quiet", *OPTIONS], check=True)
    dump = subprocess.run([os.environ["TIDE_BIN"] + "/tidemark-indexer", "dump", "--kinds", "ledger", folder + "/meta"], capture_output=True, check=True)
    steps = []
    for ledger in map(json.loads, dump.stdout.splitlines()):
        changes = ledger["changeCounts"].get("op", {})
        steps += ["created"] * changes.get("CREATED/CONTRACT_CODE", 0) + ["restored"] * changes.get("RESTORED/CONTRACT_CODE", 0)
        steps += ["evicted"] * ledger["evictedKeys"].count(base64.b64encode(KEY).decode())
    at = [i for i, step in enumerate(steps) if step == "evicted"]
    assert steps[0] == "created" and steps.count("created") == 1 and len(at) >= 2, steps
    assert all(steps[i + 1] == "restored" for i in at if i + 1 < len(steps)), steps


def lives(network):
    """The last ledger of the code's life, 0: archived."""
    entry, = network.call("getLedgerEntries", keys=[base64.b64encode(KEY).decode()])["entries"]
    assert HASH in base64.b64decode(entry["xdr"])
    return entry["liveUntilLedgerSeq"]


def attest(network):
    """Returns the transaction of a client, which the next ledger has, or None: the life of an entry ends with the present one, or the
    workload has taken the verifier's role for some ledgers."""
    def asked():  # a client asks for its transaction once it is queued
        return network.stats()["requests"]["getTransaction"]
    before = asked()
    command = [SIM, "tx", "attest", "--as", "sumsub", "--subject", "user7", "--seed", "1", "--rpc", f"http://127.0.0.1:{network.port}"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        end = time.monotonic() + 60
        while process.poll() is None and asked() == before:
            assert time.monotonic() < end, "the client asks for nothing"
            time.sleep(0.02)
        network.close(1)
        said = process.communicate(timeout=300)[0]
    if any(text in said for text in ("archived contract data entry", "not an authorised verifier")):
        return None
    found = re.search(r": passed.*tx ([0-9a-f]{64})", said)
    assert found, said
    return network.call("getTransaction", hash=found[1])


def client(folder):
    """Calls of others may restore it first, so a client's turn comes only now and then."""
    listed = restored = 0
    with Network("--close-ms", 0, "--ledgers", 150, "--quiet", "--deployment", folder + "/deployment.json", *OPTIONS, folder=folder) as network:
        for _ in range(4000):
            network.close(1)
            if lives(network):
                continue
            tx = attest(network)
            if not tx:
                continue
            envelope, meta = base64.b64decode(tx["envelopeXdr"]), base64.b64decode(tx["resultMetaXdr"])
            assert envelope.count(KEY) == 1, "the footprint has the code once"
            changed = meta.find(KEY[:4] + bytes(4) + HASH)  # behind the change's kind and a ledger
            listed += 1
            if changed < 0:
                continue
            assert meta[changed - 8:changed - 4] == RESTORED, meta[changed - 8:changed].hex()
            assert lives(network) >= tx["ledger"] + LIFE, lives(network)
            restored += 1
            if restored == 2:
                break
        assert restored == 2, f"{listed} transactions met archived code, {restored} restored it"


with tempfile.TemporaryDirectory(prefix="tide-code.") as to:
    chain(to)
    client(to)
