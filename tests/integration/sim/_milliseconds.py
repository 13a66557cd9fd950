"""Answers over a chain whose ledgers close within seconds.

    _milliseconds.py API_URL HEADERS     HEADERS: lines of ledger and close time in milliseconds
"""

import datetime
import json
import sys
import urllib.error
import urllib.request

URL, HEADERS = sys.argv[1:]
CLOSED = {int(a): int(b) for a, b in (line.split() for line in open(HEADERS))}


def text_of(ms):
    at = datetime.datetime.fromtimestamp(ms // 1000, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S")
    return at + (f".{ms % 1000:03d}Z" if ms % 1000 else "Z")


def get(path):
    try:
        with urllib.request.urlopen(URL + path) as response:
            return json.load(response), response.headers
    except urllib.error.HTTPError as e:
        sys.exit(f"{path}: {e.code} {e.read().decode()}")


def check(what, got, wanted):
    if got != wanted:
        sys.exit(f"{what}: {got}, expected {wanted}")


newest = max(CLOSED)
seen = set()
for path in ("/api/markets", "/api/compliance", "/api/oracle", "/api/ledgers", "/api/stats", "/api/prices", f"/api/markets?ledger={newest - 1}", f"/api/stats?ledger={newest - 2}"):
    answer, headers = get(path)
    wanted = text_of(CLOSED[int(answer["ledger"])])
    seen.add(wanted)
    check(f"closedAt of {path}", (answer["closedAt"], headers["Ledger-Closed-At"]), (wanted, wanted))
    if "?" not in path:
        check(f"the ledger of {path}", int(answer["ledger"]), newest)
assert any("." in one for one in seen), seen

for path, name in (("/api/ledgers?limit=200", "ledger"), ("/api/events?limit=200", "ledger")):
    items = get(path)[0]["items"]
    assert len(items) > 100, path
    for item in items:
        check(f"an item of {path}", item["closedAt"], text_of(CLOSED[int(item[name])]))

# Half of the ledgers share a second with the next one, and a time between the two parts them.
first = next(n for n in CLOSED if n > newest - 100 and CLOSED.get(n + 1, 0) // 1000 == CLOSED[n] // 1000)
for begin, wanted in ((CLOSED[first], first), (CLOSED[first] + 1, first + 1)):
    items = get(f"/api/ledgers?from={text_of(begin)}&to={text_of(CLOSED[first + 1] + 1)}&order=asc")[0]["items"]
    check(f"ledgers from {text_of(begin)}", [int(i["ledger"]) for i in items], list(range(wanted, first + 2)))

with urllib.request.urlopen(URL + f"/api/stream?topics=ledger&after=1:{newest - 3}", timeout=20) as stream:
    for line in stream:
        if line.startswith(b"data: ") and b"closedAt" in line:
            body = json.loads(line[6:])
            check("closedAt of the stream", body["closedAt"], text_of(CLOSED[int(body["ledger"])]))
            break
print(f"ok      milliseconds: {len(seen)} close times")
