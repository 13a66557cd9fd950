#!/usr/bin/env python3
"""usage: _sql_paging.py STREAM   A14: lists are paged while the stream's ledgers are written, one by one.

As of a ledger: the pages are those of a full dump made when all was quiet. Now: no item twice, and every item that was
there all the time is shown once.
"""
import json
import os
import random
import struct
import subprocess
import sys
import threading
import time

sys.dont_write_bytecode = True
from _sql import Driver, questions, routes, samples, sql

# In the order of something that changes, by risk: who moves while the list is paged may be missed, or seen again, unless
# it is paged as of a ledger.
RANKED = ("vaults",)
HEAD = 0.6  # of the ledgers are there before the first page is asked for


def frames(path):
    data, at = open(path, "rb").read(), 0
    while at < len(data):
        size = 4 + (struct.unpack_from(">I", data, at)[0] & 0x7FFFFFFF)
        yield data[at:at + size]
        at += size


class Writer(threading.Thread):
    """The indexer, and who feeds it."""

    def __init__(self, path):
        super().__init__(daemon=True)
        self.all = list(frames(path))
        self.log = open(os.environ["PG_DIR"] + "/run.log", "w")
        self.program = subprocess.Popen([os.environ["TIDE_BIN"] + "/tidemark-indexer", "run", "--stream", "-", "--proof", "none"],
                                        stdin=subprocess.PIPE, stderr=self.log)
        self.quick = int(len(self.all) * HEAD)
        self.pause = 0.05
        self.feed(self.all[:self.quick])

    def feed(self, ledgers):
        self.program.stdin.write(b"".join(ledgers))
        self.program.stdin.flush()

    def run(self):
        for ledger in self.all[self.quick:]:
            self.feed([ledger])
            time.sleep(self.pause)
        self.program.stdin.close()

    def finish(self):
        self.pause = 0
        self.join()
        assert self.program.wait(120) == 0, "the indexer failed"


def newest():
    return int(sql("SELECT coalesce(max(ledger), 0) FROM chain.cursor"))


def name_of(route, item):
    """What makes an item this one: its id, else the first things it says (the key comes first); of a history all of it."""
    if route.name.endswith("history"):
        return json.dumps(item)
    if "id" in item:
        return item["id"]
    values = [str(v) for v in item.values()]
    return tuple(values[:2])


def main():
    writer = Writer(sys.argv[1])
    while newest() < 1920 + writer.quick - 1:
        time.sleep(0.1)
    sql("ANALYZE")
    d, rng = Driver(1), random.Random(7)
    of = [r for r in routes() if r.is_list]
    asked = [(route, target) for route, _, target in questions(of, samples(of))]
    rng.shuffle(asked)
    writer.start()
    seen, moved = [], 0
    for route, target in asked:
        limit = rng.choice([1, 2, 3, 5, 11])
        n = newest()
        items, first = d.pages(target, limit, most=200)
        join = "&" if "?" in target else "?"
        at = f"{target}{join}ledger={n}" if "ledger" in route.query else None
        past = d.pages(at, limit, most=200)[0] if at else None
        moved += newest() > n
        seen.append((route, target, limit, items, first, at, past))
    late = newest()
    writer.finish()
    shown = 0
    for route, target, limit, items, first, at, past in seen:
        names = [name_of(route, i) for i in items]
        assert len(set(names)) == len(names) or route.name in RANKED, f"{target}: an item twice: {[n for n in names if names.count(n) > 1][:3]}"
        shown += len(items)
        if at is None:
            continue
        dump, _ = d.pages(at, 200)
        whole = dump[:len(past)] if len(past) >= 200 else dump
        assert past == whole, f"{at}: paged while written {len(past)} items, dumped {len(whole)}"
        then = {name_of(route, i) for i in d.pages(f"{target}{'&' if '?' in target else '?'}ledger={first}", 200)[0]}
        now = {name_of(route, i) for i in d.pages(target, 200)[0]}
        # Of a list that was cut at 200 items what comes before the last one must be there.
        if len(items) < 200 and route.name not in RANKED:
            missing = (then & now) - set(names)
            assert not missing, f"{target} (limit {limit}): {len(missing)} items were skipped: {list(missing)[:3]}"
    assert moved > len(asked) // 8, f"only {moved} of {len(asked)} were paged while something came: this test proves little"
    print(f"ok A14 {len(asked)} questions, {shown} items, {moved} of them while ledgers came ({late - 1920 - writer.quick + 1} by then)")
    d.close()


main()
