#!/usr/bin/env python3
"""Counts the special cases of sources.sh's traffic in a stream of core's meta.

usage: _seen.py META PASSPHRASE TXCOUNT [KIND=N]…
       _seen.py META archived          keys of persistent entries that were evicted, base64, the oldest first

parallel     transaction sets with a stage of several clusters
full         ledgers with TXCOUNT Soroban transactions, which is their limit
evicted      persistent entries of contracts that the network moved to the archive
restored     such entries that came back
upgrade      Soroban transactions within ten ledgers before and after the upgrade 27 → 28; the fewer of both
failed       calls and other Soroban operations that failed on the ledger
bumped       fee bumps of Soroban transactions
extended     transactions that extended times to live; code_restored: restored code
uploaded     code that came onto the network
code         contracts that got other code: system events
Fails if fewer than N of a KIND were seen. The counts are those of `tidemark-indexer dump`.
"""
import base64
import json
import os
import subprocess
import sys

CONTRACT_DATA, PERSISTENT = (6).to_bytes(4, "big"), (1).to_bytes(4, "big")
FEE_BUMP, EXTEND_TTL = 5, 25
KINDS = ("parallel", "full", "evicted", "restored", "upgrade", "failed", "bumped", "extended", "code_restored", "uploaded", "code")


class Seen:
    def __init__(self, limit):
        self.limit, self.archived, self.count = limit, [], dict.fromkeys(KINDS, 0)
        self.soroban, self.upgraded, self.protocol = {}, None, None

    def take(self, line):
        {"ledger": self.ledger, "tx": self.tx, "event": self.event}[line["kind"]](line)

    def tx(self, tx):
        soroban = tx["sorobanData"] is not None
        self.count["failed"] += soroban and not tx["successful"]
        self.count["bumped"] += soroban and tx["envelopeType"] == FEE_BUMP
        self.count["extended"] += tx["successful"] and EXTEND_TTL in (tx["opTypes"] or ())

    def event(self, event):
        self.count["code"] += event["type"] == "system"

    def ledger(self, ledger):
        phases = [p for p in ledger["txSetPhases"] or [] if p["v"] == 1]
        txs = sum(p["txs"] for p in phases)
        self.count["parallel"] += any(n > 1 for p in phases for n in p["clusters"])
        self.count["full"] += txs == self.limit
        self.archived += [k for k in ledger["evictedKeys"] or [] if lasting(base64.b64decode(k))]
        self.count["evicted"] = len(self.archived)
        for kind, change in (("restored", "RESTORED/CONTRACT_DATA"), ("code_restored", "RESTORED/CONTRACT_CODE"), ("uploaded", "CREATED/CONTRACT_CODE")):
            self.count[kind] += sum(section.get(change, 0) for section in ledger["changeCounts"].values())
        # An upgrade takes effect after the transactions of its ledger.
        if self.protocol == 27 and ledger["protocolVersion"] == 28:
            self.upgraded = ledger["sequence"]
        self.protocol = ledger["protocolVersion"]
        self.soroban[ledger["sequence"]] = txs

    def end(self):
        if self.upgraded:
            at = self.upgraded
            self.count["upgrade"] = min(sum(self.soroban.get(n, 0) for n in span) for span in (range(at - 9, at + 1), range(at + 1, at + 11)))
        return self.count


def lasting(key):
    return key[:4] == CONTRACT_DATA and key[-4:] == PERSISTENT


def main():
    meta, passphrase, *least = sys.argv[1:]
    archived = passphrase == "archived"
    seen = Seen(0 if archived else int(least.pop(0)))
    kinds = ["--kinds", "ledger"] if archived else ["--kinds", "ledger,tx,event", "--passphrase", passphrase]
    dump = subprocess.Popen([os.environ["TIDE_BIN"] + "/tidemark-indexer", "dump", *kinds, meta], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    for line in dump.stdout:
        seen.take(json.loads(line))
    dump.wait()  # its code is of no use: the stream may end within a ledger
    if archived:
        print("\n".join(seen.archived))
        return
    count = seen.end()
    print(", ".join(f"{kind} {n}" for kind, n in count.items()))
    few = [f"{kind}: {count[kind]} seen, at least {n} expected" for kind, n in (x.rsplit("=", 1) for x in least) if count[kind] < int(n)]
    sys.exit("\n".join(few) or 0)


main()
