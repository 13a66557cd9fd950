#!/usr/bin/env python3
"""usage: _sql_routes.py   asks SQL routes through bin/sql_driver; the database is there (sql_routes.sh)."""
import json
import os
import subprocess
import sys

DRIVER = os.environ["TIDE_BIN"] + "/sql_driver"


def unique(pairs):
    assert len({name for name, _ in pairs}) == len(pairs), f"a name twice: {[name for name, _ in pairs]}"
    return dict(pairs)


class Driver:
    """A sql_driver that answers one line after the other."""

    def __init__(self, *args, **env):
        self.log = open(os.environ["PG_DIR"] + "/driver.log", "w+")
        self.program = subprocess.Popen([DRIVER, *map(str, args)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=self.log, text=True, env={**os.environ, **env})

    def line(self, text):
        self.program.stdin.write(text + "\n")
        self.program.stdin.flush()
        return self.program.stdout.readline().rstrip("\n")

    def ask(self, target, status=200, method="GET"):
        got, ledger, _, body = self.line(f"{method} {target}").split(" ", 3)
        answer = json.loads(body, object_pairs_hook=unique)
        if int(got) != status:
            sys.exit(f"{target}: {got}, wanted {status}: {body[:400]}")
        if status == 200:
            assert answer["ledger"] == ledger, body[:200]
        else:
            assert answer["status"] == status and answer["code"], body[:200]
        return answer

    def pages(self, target, limit):
        """All items of a list, page after page."""
        items, cursor, join = [], None, "&" if "?" in target else "?"
        while True:
            page = self.ask(f"{target}{join}limit={limit}" + (f"&cursor={cursor}" if cursor else ""))
            assert len(page["items"]) <= limit
            items += page["items"]
            cursor = page["next"]
            if cursor is None:
                return items
            assert len(page["items"]) == limit and len(cursor) <= 128

    def close(self):
        self.program.stdin.close()
        assert self.program.wait(20) == 0


def sql(text):
    done = subprocess.run([os.environ["PG_BIN"] + "/psql", "-XAtqv", "ON_ERROR_STOP=1", "-c", text],
                          capture_output=True, text=True, check=True)
    return done.stdout.strip()


def ledgers(d):
    first, last, count = map(int, sql("SELECT min(ledger), max(ledger), count(*) FROM chain.ledger").split("|"))
    for limit in (1, 7, 200):
        got = [int(i["sequence"]) for i in d.pages("/api/ledgers", limit)]
        assert got == list(range(last, first - 1, -1)), (limit, len(got))
        assert len(got) == count
    page = d.ask("/api/ledgers?limit=3")
    assert page["ledger"] == str(last) and page["items"][0]["hash"] == sql(
        f"SELECT encode(hash, 'hex') FROM chain.ledger WHERE ledger = {last}"), page


    one = d.ask(f"/api/ledgers/{first}")
    assert one["sequence"] == str(first) and one["ledger"] == str(last), one
    for beside in (first - 1, last + 1, 2**31 - 1, 2**31, 2**32 - 1):
        assert d.ask(f"/api/ledgers/{beside}", 404)["code"] == "not_found"
    ranges = d.ask("/api/coverage")["ranges"]
    assert [(r["from"], r["to"]) for r in ranges] == [(str(first), str(last))], ranges


def pools_as_of(n):
    """id, reserves, shares of each pool at the close of n, straight from the history."""
    return sql(f"""SELECT string_agg(concat_ws(' ', pool_id, reserve_a, reserve_b, total_shares, ledger), ',' ORDER BY pool_id)
        FROM (SELECT DISTINCT ON (key_hash) * FROM history.liquidity_pool_pool WHERE ledger <= {n}
              ORDER BY key_hash, ledger DESC, tx DESC, seq DESC) h WHERE NOT removed""")


def positions_as_of(n, pool):
    return sql(f"""SELECT string_agg(concat_ws(' ', provider, shares, ledger), ',' ORDER BY provider)
        FROM (SELECT DISTINCT ON (key_hash) * FROM history.liquidity_pool_lp_pos WHERE ledger <= {n} AND pool_id = '{pool}'
              ORDER BY key_hash, ledger DESC, tx DESC, seq DESC) h WHERE NOT removed""")


def pools(d):
    first, last = map(int, sql("SELECT min(ledger), max(ledger) FROM chain.ledger").split("|"))
    shown = lambda items: ",".join(" ".join(i[k] for k in ("pool", "reserveA", "reserveB", "totalShares", "changedLedger")) for i in items)
    members = lambda items: ",".join(" ".join(i[k] for k in ("provider", "shares", "changedLedger")) for i in items)
    seen = 0
    for n in (None, last, last - 1, (first + last) // 2, first + 40, first):
        at, of = ("", last) if n is None else (f"?ledger={n}", n)
        for limit in (1, 3, 200):
            got = d.pages("/api/pools" + at, limit)
            assert shown(got) == pools_as_of(of), (n, limit, shown(got), pools_as_of(of))
        for pool in got:
            one = d.ask(f"/api/pools/{pool['pool']}{at}")
            assert {k: one[k] for k in pool} == pool, (one, pool)
            for limit in (2, 200):
                inside = d.pages(f"/api/pools/{pool['pool']}/positions{at}", limit)
                assert members(inside) == positions_as_of(of, pool["pool"]), (n, pool["pool"], limit)
            seen += len(inside)
            swaps = d.pages(f"/api/pools/{pool['pool']}/swaps{at}", 200)
            assert len(swaps) == int(sql(f"SELECT count(*) FROM event.liquidity_pool_swap WHERE ledger <= {of} AND pool_id = '{pool['pool']}'"))
            assert swaps == sorted(swaps, key=lambda s: s["id"], reverse=True) and len({s["id"] for s in swaps}) == len(swaps)
    assert seen > 20, "too few positions: this test proves little"
    assert d.ask("/api/pools/NO_SUCH", 404)["code"] == "not_found"
    assert d.ask(f"/api/pools?ledger={last + 1}", 404)["code"] == "ledger_not_reached"
    assert d.ask("/api/pools?ledger=4294967295", 404)["code"] == "ledger_not_reached"
    assert str(first) in d.ask(f"/api/pools?ledger={first - 1}", 404)["detail"]


def main():
    d = Driver(2)
    ledgers(d)
    pools(d)
    d.close()
    print("ok")


if __name__ == "__main__":
    main()
