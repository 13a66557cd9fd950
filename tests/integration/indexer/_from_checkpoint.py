#!/usr/bin/env python3
"""Compares the answers of an index that began with a checkpoint's state with those of one that knows the whole past.

usage: _from_checkpoint.py FULL_PORT FULL_DATABASE BEGUN_PORT BEGUN_DATABASE

Every route is asked now and as of ledgers behind the checkpoint. Answers about the state are equal; entries that were written before
name the checkpoint's ledger. Lists of the past begin behind it, and sums that need what was before are null, or refused.

If the past of the begun index was filled since, all answers are equal, as of ledgers before the checkpoint too.
"""
import json
import os
import pathlib
import subprocess
import sys
import types

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "hostile"))
from _chain_ask import NEEDS, TOGETHER, VALUES, Asker, Routes, choices, fill, query  # noqa: E402

IGNORED = {"requestId", "next", "evaluatedAt", "pollAfterMs", "dataAgeMs", "created"}
# Sums over a past that is not known: null, by route; "" stands for all routes.
NULL = {"users", "swaps", "volumeQuote", "volumeQuoteScaled", "feesQuote", "feesQuoteScaled", "liquidations"}
LATELY = {"swaps24h", "volumeQuote24h", "volumeQuote24hScaled", "feesQuote24h", "feesQuote24hScaled", "volume24h", "volume24hScaled", "fees24h",
          "fees24hScaled", "change24h", "change24hScaled", "change24hBps", "providerReturnBps"}
CHANGES = "/api/markets/{symbol}/changes"  # what was when a span began, and what changed since
# The last version of an entry: its ledger and time.
VERSION = {"changedLedger", "changedAt"}
REFUSED = {"/api/partners/{partnerId}/revenue", "/api/partners/{partnerId}/revenue/epochs"}
# Which votes prove a transaction depends on which checkpoints were proven when the prover came by: proofs.sh checks the proofs themselves.
VOTES = {"signedLedger", "bytes", "data"}
PROOF = "/api/proof/{hash}"
ONCE = {"/api/events/{id}", "/api/transactions/{hash}", PROOF, "/api/ledgers/{sequence}"}
# What the two indexes say of themselves.
OWN = {"/api/coverage"}
TIMES = ("startsAt", "closedAt", "at", "day", "changedAt")
PAGES = 60
LONG = bool(os.environ.get("TIDE_LONG"))  # tools/test all


def rows(database, text):
    made = subprocess.run(["psql", "-XAtq", "-v", "ON_ERROR_STOP=1", "-d", database, "-c", f"SELECT to_json(r) FROM ({text}) AS r"], check=True,
                          capture_output=True, text=True).stdout
    return [json.loads(line) for line in made.splitlines()]


def index(name, port):
    return types.SimpleNamespace(name=name, port=port)


class Comparison:
    def __init__(self, full, begun):
        self.full, self.begun, self.database = Asker(full), Asker(begun), full.name
        found = rows(begun.name, "SELECT ledger, chain.rfc3339(closed_at) AS closed FROM chain.start")
        self.filled = not found
        self.start, self.closed = (0, "") if self.filled else (found[0]["ledger"], found[0]["closed"])
        self.routes = Routes(self.full)
        self.known = {name: [str(row["v"]) for row in rows(full.name, text)][:8 if LONG else 2] for name, text in VALUES.items()}
        self.together = {path: rows(full.name, text)[:6 if LONG else 2] for path, text in TOGETHER.items()}
        self.newest = rows(full.name, "SELECT ledger AS v FROM chain.cursor")[0]["v"]
        self.faults, self.seen, self.compared = {}, set(), 0

    def fault(self, path, text):
        self.faults.setdefault(path, text)

    def differs(self, whole, part, path, at=""):
        """How an answer of the begun index differs where it may not; None: nowhere."""
        name = at.rsplit("/", 1)[-1]
        if not self.filled and name in VERSION and whole != part:
            self.seen.add(name)
            before = int(whole) <= self.start if name.endswith("Ledger") else whole <= self.closed
            return None if before and part in (str(self.start), self.closed) else f"{at}: {part}, not {whole}"
        if not self.filled and part is None and whole is not None and (
                name in LATELY or path == "/api/stats" and name in NULL or path == CHANGES and at.startswith("/items/")):
            self.seen.add(name)
            return None
        if isinstance(whole, dict) and isinstance(part, dict):
            if whole.keys() != part.keys():
                return f"{at}: members {sorted(whole.keys() ^ part.keys())}"
            ignored = IGNORED | VOTES if path == PROOF else IGNORED
            return next((found for key in whole if key not in ignored and (found := self.differs(whole[key], part[key], path, f"{at}/{key}"))), None)
        if isinstance(whole, list) and isinstance(part, list):
            if len(whole) != len(part):
                return f"{at}: {len(part)} items, not {len(whole)}"
            return next((found for i, both in enumerate(zip(whole, part)) if (found := self.differs(*both, path, f"{at}/{i}"))), None)
        return None if whole == part else f"{at}: {str(part)[:200]}, not {str(whole)[:200]}"

    def is_of_past(self, item):
        """Whether an item is not behind the checkpoint: an interval that begins before its close counts."""
        time = next(item[name] for name in TIMES if name in item)
        return time <= (self.closed[:10] if len(time) == 10 else self.closed)

    def cut(self, whole, path):
        """The answer without items of the past, for lists of the past: they take `from`."""
        if self.filled or "from" not in self.routes.all[path] or "items" not in whole:
            return whole
        kept = [item for item in whole["items"] if not self.is_of_past(item)]
        if path == "/api/oracle/rounds":  # the first one of a feed is left out
            first = {item["asset"]: item["id"] for item in kept}
            kept = [item for item in kept if first[item["asset"]] != item["id"]]
        self.seen |= {f"cut {path}"} if len(kept) < len(whole["items"]) and kept else set()
        return {**whole, "items": kept}

    def compare(self, path, target, chosen):
        first, whole = self.full.whole(target, True, PAGES)
        second, part = self.begun.whole(target, True, PAGES)
        self.compared += 1
        if not self.filled and path in REFUSED and first in (200, 404):
            if second != 503 or part["code"] != "incomplete":
                self.fault(path, f"{target}: {second} {str(part)[:200]}")
        elif not self.filled and path in ONCE and second == 404:
            ledger = int(chosen["id"].split("-")[0]) >> 32 if "id" in chosen else int(chosen.get("sequence", 0))
            if "hash" in chosen:
                ledger = rows(self.database, f"SELECT ledger AS v FROM chain.tx WHERE hash = '\\x{chosen['hash']}'")[0]["v"]
            if ledger > self.start and part["code"] != "no_proof":
                self.fault(path, f"{target}: 404 {part['code']}")
        elif self.filled and second == 404 and part["code"] == "no_proof":
            pass  # the prover copies parts of proofs in the background
        elif first != second:
            self.fault(path, f"{target}: {second}, not {first}: {str(part)[:300]}")
        elif first == 200:
            found = self.differs(self.cut(whole, path), part, path)
            if found:
                self.fault(path, f"{target}{found}")

    def route(self, path, ledger):
        if ledger and "ledger" not in self.routes.all[path] or path in OWN:
            return
        for chosen in choices(path, self.known, self.together):
            given = dict(NEEDS.get(path, {}), ledger=ledger)
            if "limit" in self.routes.all[path]:
                given["limit"] = self.routes.schemas[path]["limit"]["maximum"]
            self.compare(path, fill(path, chosen) + query(**given), chosen)

    def refusals(self):
        """A ledger before the checkpoint is refused wherever `ledger` is taken."""
        for path, taken in self.routes.all.items():
            if "ledger" not in taken or "/sdk/" in path and "{" in path:
                continue
            chosen = next(iter(choices(path, self.known, self.together)), None)
            if chosen is None:
                continue
            status, found = self.begun.json(fill(path, chosen) + query(**NEEDS.get(path, {}), ledger=self.start - 1))
            if status != 404 or found["code"] != "ledger_not_indexed":
                self.fault(path, f"ledger {self.start - 1}: {status} {str(found)[:200]}")

    def headers(self):
        for target in ("/api/prices", "/api/pools", "/api/coverage"):
            answer, _ = self.begun.ask(target)
            if answer.getheader("History-From") != str(self.start + 1):
                self.fault(target, f"History-From: {answer.getheader('History-From')}")
            if self.full.ask(target)[0].getheader("History-From"):
                self.fault(target, "History-From of a whole index")
        status, coverage = self.begun.json("/api/coverage")
        if status != 200 or coverage["historyFrom"] != str(self.start + 1) or coverage["ranges"][0]["fromLedger"] != str(self.start):
            self.fault("/api/coverage", str(coverage))


def compare_filled(done):
    first = rows(done.database, "SELECT min(from_ledger) AS v FROM chain.coverage")[0]["v"]
    for path, takes in done.routes.all.items():
        if LONG or "ledger" not in takes:  # digests say that the newest state is equal
            done.route(path, None)
        for ledger in (first + 100, (first + done.newest) // 2, done.newest) if LONG else ((first + done.newest) // 2,):
            done.route(path, ledger)
    answer, _ = done.begun.ask("/api/prices")
    if answer.getheader("History-From"):
        done.fault("/api/prices", "History-From of a filled index")
    if done.begun.json("/api/coverage")[1].get("historyFrom") is not None:
        done.fault("/api/coverage", "historyFrom of a filled index")
    if done.begun.json("/readyz")[1]["historyFrom"] is not None:
        done.fault("/readyz", "historyFrom of a filled index")


def compare_begun(done):
    for path in done.routes.all:
        done.route(path, None)
        for ledger in (done.start + 1, (done.start + done.newest) // 2, done.newest) if LONG else (done.start + 40,):
            done.route(path, ledger)
    done.refusals()
    done.headers()
    if done.begun.json("/readyz")[1]["historyFrom"] != str(done.start + 1) or done.full.json("/readyz")[1]["historyFrom"] is not None:
        done.fault("/readyz", "historyFrom")
    if f"\ntidemark_indexed_history_from_ledger {done.start + 1}\n" not in done.begun.ask("/metrics")[1].decode():
        done.fault("/metrics", "no indexed_history_from_ledger")
    for wanted in ("changedLedger", "volumeQuote", "swaps24h", "swaps", "cut /api/pools/{pool}/swaps", "cut /api/pools/{pool}/candles", "cut /api/stats/daily",
                   "cut /api/vaults/{market}/{owner}/history", "cut /api/compliance/daily"):
        if wanted not in done.seen:
            done.fault(wanted, "never met: the comparison is empty")


def main():
    full, begun = index(sys.argv[2], int(sys.argv[1])), index(sys.argv[4], int(sys.argv[3]))
    done = Comparison(full, begun)
    if done.filled:
        compare_filled(done)
    else:
        compare_begun(done)
    print("\n".join(f"{path}: {text}" for path, text in done.faults.items()))
    print(f"{done.compared} answers of {len(done.routes.all)} routes compared, {len(done.faults)} routes differ")
    sys.exit(bool(done.faults))


main()
