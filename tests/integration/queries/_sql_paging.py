#!/usr/bin/env python3
"""usage: _sql_paging.py STREAM   A14: lists are paged while the stream's ledgers come, one by one, between the pages.

As of a ledger: the pages are those of a full dump made when all was quiet. Now: no item twice, and every item that was
there all the time is shown once.
"""
import json
import os
import random
import struct
import subprocess
import sys
import time

sys.dont_write_bytecode = True
from _sql import Driver, questions, routes, samples, sql

# In the order of something that changes, by risk: who moves while the list is paged may be missed, or seen again, unless
# it is paged as of a ledger.
RANKED = ("vaults",)
HEAD = 0.55  # of the ledgers are there before the first page is asked for
LONG = bool(os.environ.get("TIDE_LONG"))  # tools/test all
MOST = 200 if LONG else 30  # items of a list that are paged
LIMITS = [1, 2, 3, 5, 11] if LONG else [2, 5, 11]  # items of a page


def frames(path):
    data, at = open(path, "rb").read(), 0
    while at < len(data):
        size = 4 + (struct.unpack_from(">I", data, at)[0] & 0x7FFFFFFF)
        yield data[at:at + size]
        at += size


class Writer:
    """The indexer, and who feeds it."""

    def __init__(self, path):
        self.all = list(frames(path))
        self.log = open(os.environ["PG_DIR"] + "/run.log", "w")
        self.program = subprocess.Popen([os.environ["TIDE_BIN"] + "/tidemark-indexer", "run", "--stream", "-", "--proof", "none"],
                                        stdin=subprocess.PIPE, stderr=self.log)
        self.fed = 0
        self.feed(int(len(self.all) * HEAD))

    def feed(self, count):
        """So many more ledgers, and waits until they are in the tables."""
        self.program.stdin.write(b"".join(self.all[self.fed:self.fed + count]))
        self.program.stdin.flush()
        self.fed = min(self.fed + count, len(self.all))
        end = time.monotonic() + 120
        while newest() < 1920 + self.fed - 1:
            assert time.monotonic() < end, f"the index stands at {newest()}"
            assert self.program.poll() is None, "the indexer ended"
            time.sleep(0.01)

    def finish(self):
        self.feed(len(self.all))
        self.program.stdin.close()
        assert self.program.wait(120) == 0, "the indexer failed"


class Between:
    """Ledgers come between the pages of a list: one each time, at most so many."""

    def __init__(self, writer, most):
        self.writer, self.left, self.came = writer, most, 0

    def __call__(self):
        if self.left and self.writer.fed < len(self.writer.all):
            self.writer.feed(1)
            self.left -= 1
            self.came += 1


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


def few(asked, rng):
    return asked[:1] + rng.sample(asked[1:], min(1, len(asked) - 1))


def main():
    writer = Writer(sys.argv[1])
    begun = writer.fed
    sql("ANALYZE")
    d, rng = Driver(1), random.Random(7)
    of = [r for r in routes() if r.is_list]
    asked = [(route, target) for route, _, target in questions(of, samples(of))]
    if not LONG:  # each list without a filter and with one
        asked = [one for route in of for one in few([a for a in asked if a[0] is route], rng)]
    rng.shuffle(asked)
    seen, moved = [], 0
    for route, target in asked:
        limit = rng.choice(LIMITS)
        between = Between(writer, 2)
        n = newest()
        items, first = d.pages(target, limit, MOST, between)
        join = "&" if "?" in target else "?"
        at = f"{target}{join}ledger={n}" if "ledger" in route.query else None
        past = d.pages(at, limit, MOST, between)[0] if at else None
        moved += between.came > 0
        seen.append((route, target, limit, items, first, at, past))
    came = writer.fed - begun
    writer.finish()
    shown = 0
    for route, target, limit, items, first, at, past in seen:
        names = [name_of(route, i) for i in items]
        assert len(set(names)) == len(names) or route.name in RANKED, f"{target}: an item twice: {[n for n in names if names.count(n) > 1][:3]}"
        shown += len(items)
        if at is None:
            continue
        dump, _ = d.pages(at, 200)
        whole = dump[:len(past)] if len(past) >= MOST else dump
        assert past == whole, f"{at}: paged while written {len(past)} items, dumped {len(whole)}"
        then = {name_of(route, i) for i in d.pages(f"{target}{'&' if '?' in target else '?'}ledger={first}", 200)[0]}
        now = {name_of(route, i) for i in d.pages(target, 200)[0]}
        # A list that was cut says nothing of what is behind its last item.
        if len(items) < MOST and route.name not in RANKED:
            missing = (then & now) - set(names)
            assert not missing, f"{target} (limit {limit}): {len(missing)} items were skipped: {list(missing)[:3]}"
    assert moved > len(asked) // 8, f"only {moved} of {len(asked)} were paged while something came: this test proves little"
    print(f"ok A14 {len(asked)} questions, {shown} items, {moved} of them while ledgers came ({came} in all)")
    d.close()


main()
