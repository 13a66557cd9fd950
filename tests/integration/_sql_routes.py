#!/usr/bin/env python3
"""usage: _sql_routes.py   asks SQL routes through bin/sql_driver; the database is there (sql_routes.sh)."""
import json
import os
import subprocess
import sys

DRIVER = os.environ["TIDE_BIN"] + "/sql_driver"


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
        answer = json.loads(body)
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


def main():
    d = Driver(2)
    ledgers(d)
    d.close()
    print("ok")


main()
