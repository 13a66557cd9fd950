#!/usr/bin/env python3
"""The parts of stream.sh that speak HTTP. usage: _stream.py PHASE…"""
import collections
import http.client
import json
import os
import pathlib
import random
import re
import selectors
import socket
import subprocess
import sys
import threading
import time
import urllib.parse

from _promise import Contract
from _steady import steady

PG_DIR = pathlib.Path(os.environ["PG_DIR"])
PSQL = os.environ["PG_BIN"] + "/psql"
SIM = os.environ["TIDE_BIN"] + "/tidemark-sim"
START = int(os.environ["FIRST"]) - 1
NODES = ("api", "api2")
Message = collections.namedtuple("Message", "id event data")
CONTRACT, PROMISED = Contract("http://localhost"), collections.Counter()


def sql(statement):
    done = subprocess.run([PSQL, "-XAtqv", "ON_ERROR_STOP=1", "-c", statement], capture_output=True, text=True, check=True)
    return [line.split("|") for line in done.stdout.splitlines()]


def port_of(node):
    return int((PG_DIR / f"{node}.port").read_text())


def newest():
    return int(sql("SELECT ledger FROM chain.cursor")[0][0])


def get(path, node="api"):
    connection = http.client.HTTPConnection("127.0.0.1", port_of(node), timeout=20)
    connection.request("GET", path)
    answer = connection.getresponse()
    status, headers, body = answer.status, answer.headers, answer.read().decode()
    connection.close()
    return status, headers, body


def metric(name, node="api"):
    found = re.search(rf"^tidemark_{re.escape(name)} (\S+)$", get("/metrics", node)[2], re.M)
    return float(found.group(1))


def as_promised(message):
    """Each message fits the contract; of each kind the first ones are checked."""
    what = message.event if message.event != "event" else message.data["kind"]
    PROMISED[what] += 1
    if PROMISED[what] <= 20:
        faults = CONTRACT.message_faults(message.event, message.id, message.data)
        assert not faults, (message, faults)


class Stream:
    """One subscription over one connection. Whole messages go to self.messages; self.id is what an
    EventSource would send to go on."""

    def __init__(self, query, after=None, node="api", receive=None):
        self.messages, self.id, self.over, self.text, self.lines = [], after, False, b"", b""
        self.socket = socket.socket()
        if receive:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive)
            self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, 536)  # keeps the sender's kernel buffer small
        self.socket.settimeout(20)
        self.socket.connect(("127.0.0.1", port_of(node)))
        head = f"GET /api/stream?{urllib.parse.urlencode(query)} HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n"
        if after:
            head += f"Last-Event-ID: {after}\r\n"
        self.socket.sendall(head.encode() + b"\r\n")
        self.status = None

    def read(self, most=65536):
        """Takes at most so many bytes; False when the connection is over."""
        data = self.socket.recv(most)
        self.over |= not data
        self.text += data
        if self.status is None and b"\r\n\r\n" in self.text:
            head, self.text = self.text.split(b"\r\n\r\n", 1)
            self.status = int(head.split()[1])
            self.type = re.search(rb"(?im)^content-type: (.*?)\r?$", head).group(1).decode()
        if self.status == 200:
            self.unchunk()
        return not self.over

    def unchunk(self):
        while b"\r\n" in self.text:
            size, rest = self.text.split(b"\r\n", 1)
            length = int(size, 16)
            if len(rest) < length + 2:
                break
            self.lines += rest[:length]
            self.text = rest[length + 2:]
            if length == 0:
                self.over = True
                break
        *whole, self.lines = self.lines.split(b"\n\n")
        for block in whole:
            self.take(block.decode())

    def take(self, block):
        fields = dict(re.findall(r"^(\w+): ?(.*)$", block, re.M))
        assert "\r" not in block and set(fields) <= {"id", "event", "data", "retry"}, block
        self.id = fields.get("id", self.id)
        if "data" in fields:
            message = Message(fields.get("id"), fields["event"], json.loads(fields["data"]))
            self.messages.append(message)
            as_promised(message)

    def until(self, done, seconds=30):
        """Reads until done; at most so long without a message."""
        told, end = len(self.messages), time.monotonic() + seconds
        self.socket.settimeout(0.2)
        while not done(self) and not self.over:
            if len(self.messages) != told:
                told, end = len(self.messages), time.monotonic() + seconds
            if time.monotonic() > end:
                sys.exit(f"nothing after {seconds} s: {self.id}, {self.messages[-2:]}")
            try:
                self.read()
            except TimeoutError:
                pass
        return self

    def close(self):
        self.socket.close()


def ledger_of(place):
    return int(place.split(":")[1].split("@")[0]) if place else 0


WHOLE = re.compile(r"\d+:(\d+)(:t:\w+)?(@\d+)?$")


def is_at(ledger):
    """All of the ledger was told: by its own position, or a place in a later one."""
    return lambda s: s.id and ledger_of(s.id) >= ledger + (0 if WHOLE.match(s.id) else 1)


def fold(messages, *events):
    return [m for m in messages if m.event in events]


# --- what the stream must have told, of PostgreSQL -------------------------------------------


def wanted_events(after, until, where="true"):
    return [tuple(map(int, row)) for row in sql(
        f"SELECT ledger, tx, op, event FROM event.log WHERE ledger > {after} AND ledger <= {until} AND {where} ORDER BY 1, 2, 3, 4")]


def told_events(messages):
    return [(int(m.data["ledger"]), m.data["tx"], m.data["op"], m.data["event"]) for m in fold(messages, "event")]


def expect(what, got, want):
    if got == want:
        return
    place = next((i for i, (a, b) in enumerate(zip(got, want)) if a != b), min(len(got), len(want)))
    sys.exit(f"{what}: {len(got)} told, {len(want)} are there; first different at {place}: {got[place:place + 3]}, {want[place:place + 3]}")


def check_all(who, messages, until):
    expect(f"{who}: events", told_events(messages), wanted_events(START, until))
    expect(f"{who}: ledgers", [(m.data["ledger"], m.data["hash"]) for m in fold(messages, "ledger")], [
        tuple(row) for row in sql(f"SELECT ledger, encode(hash, 'hex') FROM chain.ledger WHERE ledger BETWEEN {START + 1} AND {until} ORDER BY 1")])
    expect(f"{who}: prices", [(int(m.data["ledger"]), m.data["asset"], m.data["latestPrice"], m.data["twapPrice"]) for m in fold(messages, "price")], [
        (int(l), *rest) for l, *rest in sql("SELECT DISTINCT ON (ledger, asset COLLATE \"C\") ledger, asset, latest_price, twap_price"
            f" FROM history.oracle_feed WHERE ledger BETWEEN {START + 1} AND {until} AND NOT removed"
            " ORDER BY ledger, asset COLLATE \"C\", tx DESC, seq DESC")])
    order = {"event": 0, "price": 1, "compliance": 2, "ledger": 3}
    places = [(int(m.data["ledger"]), order[m.event] if m.id.count(":t:") == 0 else 4) for m in messages if m.event in order and m.id]
    expect(f"{who}: order", places, sorted(places))


def check_people(who, messages, until):
    """Nothing told twice in a row; what was told at a ledger is what the status route says of it."""
    last, asked = {}, 0
    for m in fold(messages, "compliance"):
        if "jurisdiction" in set(m.data):
            sys.exit(f"a jurisdiction: {m.data}")
        told = {k: v for k, v in m.data.items() if k not in ("ledger", "closedAt", "evaluatedAt")}
        if m.id and last.get(told["address"]) == told:
            sys.exit(f"{who}: told twice: {m}")
        last[told["address"]] = told
        if ":c:" in (m.id or "") and m.data["evaluatedAt"] == m.data["closedAt"] and asked < 12:
            answer = json.loads(get(f"/api/sdk/kyc/status/{told['address']}?ledger={m.data['ledger']}")[2])
            differ = {k: (v, answer[k]) for k, v in told.items() if answer[k] != v}
            if differ:
                sys.exit(f"{who}: {m}, the status route {differ}")
            asked += 1

    def touched():
        """Addresses that a later ledger touched: all of them, if it touched a jurisdiction."""
        if sql(f"SELECT 1 FROM history.compliance_registry_blocked_jurisdiction WHERE ledger > {until}"):
            return set(last)
        return {row[0] for row in sql(f"SELECT address FROM history.compliance_registry_compliance_rec WHERE ledger > {until}"
                                      f" UNION ALL SELECT address FROM history.compliance_registry_frozen WHERE ledger > {until}")}

    since = touched()
    for address, told in last.items():
        if address in since:
            continue
        answer = json.loads(get(f"/api/sdk/kyc/status/{address}")[2])
        differ = {k: (v, answer[k]) for k, v in told.items() if answer[k] != v}
        if differ and address not in touched():  # a ledger may have closed since
            sys.exit(f"{who}: at the end {told}, the status route {differ}")
    return len(last), asked


# --- phases -------------------------------------------------------------------------------------


def addresses():
    rows = sql("SELECT address FROM history.compliance_registry_compliance_rec WHERE address IS NOT NULL GROUP BY 1 ORDER BY count(*) DESC, 1 LIMIT 12")
    return [row[0] for row in rows]


def come_and_go(who, rng, query, messages, stop, counts):
    """Reads, cuts the connection somewhere, goes on from the last id on another node, for ever."""
    place = f"1:{START}"
    while True:
        try:
            stream = Stream(query, place, rng.choice(NODES))
            budget, end = rng.randrange(1, 60000), time.monotonic() + rng.random() * 1.5
            stream.socket.settimeout(0.3)
            while budget > 0 and time.monotonic() < end and not stream.over:
                before = len(stream.text) + len(stream.lines)
                try:
                    if not stream.read(min(budget, rng.randrange(1, 4000))):
                        break
                except TimeoutError:
                    continue
                budget -= max(1, len(stream.text) + len(stream.lines) - before)
            if stream.status not in (None, 200, 503):
                sys.exit(f"{who}: {stream.status} {stream.text}")
            messages += [m for m in stream.messages]
            counts["connections"] += 1
            counts["dropped"] += len(fold(stream.messages, "dropped"))
            counts["stale"] += len(fold(stream.messages, "stale"))
            place = stream.id
            stream.close()
        except OSError:
            time.sleep(0.05)  # the node is away
        if stop["at"] and ledger_of(place) >= stop["at"] and is_at(stop["at"])(type("", (), {"id": place})):
            return


def exact(seconds):
    rng, stop, counts = random.Random(5), {"at": 0}, collections.Counter()
    query = {"topics": "ledger,event,price,compliance", "addresses": ",".join(addresses())}
    threads, told, failed = [], [[] for _ in range(3)], []

    def guarded(*args):
        try:
            come_and_go(*args)
        except SystemExit as e:
            failed.append(e.code)

    for i, messages in enumerate(told):
        threads.append(threading.Thread(target=guarded, args=(f"reader {i}", random.Random(i), query, messages, stop, counts)))
        threads[-1].start()
    (PG_DIR / "reading").touch()
    end = time.monotonic() + seconds
    while time.monotonic() < end or not (PG_DIR / "disturbed").exists():
        if failed or time.monotonic() > end + 120:
            break
        time.sleep(0.1)
    stop["at"] = newest()
    for thread in threads:
        thread.join(120)
    if failed or any(t.is_alive() for t in threads):
        os.write(2, f"{failed or 'a reader does not come to the end'}\n".encode())
        os._exit(1)
    people = asked = 0
    for i, messages in enumerate(told):
        mine = [m for m in messages if m.event in ("ledger", "event", "price", "compliance") and int(m.data["ledger"]) <= stop["at"]]
        check_all(f"reader {i}", mine, stop["at"])
        people, asked = check_people(f"reader {i}", messages, stop["at"])
    print(f"ok A15 resuming is exact: {counts['connections']} connections cut at random over two nodes, ledgers {START + 1} to {stop['at']},"
          f" {sum(map(len, told))} messages, standings of {people} people ({asked} asked of the status route too), told stale {counts['stale']} times")


def filters():
    until = newest()
    busiest = lambda column, where="true": sql(f"SELECT {column} FROM event.log WHERE {where} GROUP BY 1 ORDER BY count(*) DESC LIMIT 1")[0][0]
    pool, contract = busiest("subject", "kind LIKE 'liquidity_pool_%'"), busiest("contract")
    party = sql("SELECT a FROM event.log, unnest(addresses) AS a GROUP BY 1 ORDER BY count(*) DESC LIMIT 1")[0][0]
    table = [({"kinds": "liquidity_pool_swap,oracle_twap"}, "kind IN ('liquidity_pool_swap', 'oracle_twap')"),
             ({"pool": pool}, f"subject = '{pool}' AND kind LIKE 'liquidity_pool_%'"),
             ({"contract": contract}, f"contract = '{contract}'"),
             ({"address": party}, f"'{party}' = ANY(addresses)"),
             ({"contract": contract, "address": party}, f"contract = '{contract}' AND '{party}' = ANY(addresses)"),
             ({}, "true")]
    for query, where in table:
        stream = Stream({"topics": "event", **query}, f"1:{START}").until(is_at(until))
        told, want = [p for p in told_events(stream.messages) if p[0] <= until], wanted_events(START, until, where)
        assert want
        expect(str(query), told, want)
        stream.close()
    for m in Stream({"topics": "event", "kinds": "compliance_registry_attest", "after": f"1:{START}"}).until(is_at(until)).messages:
        assert m.event != "event" or not [n for n in m.data["fields"] if "urisdiction" in n], m
    for m in Stream({"topics": "event", "kinds": "liquidity_pool_swap", "after": f"1:{START}"}).until(is_at(until)).messages[:40]:
        if m.event == "event":
            got = m.data["fields"]
            row = sql("SELECT trader, pool_id, a_to_b, amount_in, amount_out, chain.event_id(ledger, tx, op, event), chain.rfc3339(closed_at) FROM event.liquidity_pool_swap"
                      f" WHERE ledger = {m.data['ledger']} AND tx = {m.data['tx']} AND op = {m.data['op']} AND event = {m.data['event']}")[0]
            expect("a swap", [got["trader"], got["pool"], "t" if got["aToB"] else "f", got["amountIn"], got["amountOut"], m.data["id"], m.data["closedAt"]], row)
    print(f"ok {len(table)} filters tell what PostgreSQL has, and fields as it has them")


def sim(*words):
    env = dict(os.environ, TIDEMARK_RPC_URL=os.environ["SIM_URL"])
    done = subprocess.run([SIM, *words], env=env, capture_output=True, text=True, timeout=60)
    if done.returncode:
        sys.exit(f"{words}: {done.stdout}{done.stderr}")
    return done.stdout


def lapse():
    """An attestation that ends by time."""
    sim("tx", "fund", "--as", "zoe", "--seed", os.environ["SEED"])
    who = sim("keys", "--seed", os.environ["SEED"], "--name", "zoe").split()[1]
    stream = Stream({"topics": "compliance", "addresses": who}).until(lambda s: fold(s.messages, "compliance"))
    assert fold(stream.messages, "compliance")[0].data["reasonCode"] == "no_record", stream.messages
    sim("tx", "attest", "--as", "sumsub", "--subject", "zoe", "--expires-in", "15", "--seed", os.environ["SEED"])
    stream.until(lambda s: len(fold(s.messages, "compliance")) > 1)
    attested = fold(stream.messages, "compliance")[1].data
    assert attested["compliant"] and attested["validUntil"], attested
    began, ran = time.time(), steady()
    stream.until(lambda s: len(fold(s.messages, "compliance")) > 2, 60)
    late, last = time.time(), fold(stream.messages, "compliance")[2]
    stood = late - began - (steady() - ran)
    ended = time.mktime(time.strptime(attested["validUntil"], "%Y-%m-%dT%H:%M:%SZ")) - time.timezone + 1
    assert not last.data["compliant"] and last.data["reasonCode"] == "lapsed", last
    if not -0.5 < late - ended < 5 + stood:
        sys.exit(f"told {late - ended:.3f} s after it lapsed")
    again = Stream({"topics": "compliance", "addresses": who}, last.id).until(lambda s: s.id != last.id)
    assert not fold(again.messages, "compliance"), again.messages
    by = "by time alone" if ":t:" in last.id else "with a ledger"
    print(f"ok a lapse is told {by}, {late - ended:.2f} s after the second it happens in, and not again")


def slow():
    until = newest()
    dropped = metric('stream_dropped_total{reason="slow"}')
    lazy = Stream({"topics": "event"}, f"1:{START}", receive=2048)
    busy = Stream({"topics": "ledger,event"}, f"1:{START}")
    busy.until(is_at(until))
    end = time.monotonic() + 30
    while metric('stream_dropped_total{reason="slow"}') == dropped:
        if time.monotonic() > end:
            sys.exit("who does not read is not dropped")
        time.sleep(0.1)
    later = newest()
    busy.until(lambda s: is_at(later)(s) and WHOLE.match(s.id))
    expect("beside a slow one", told_events(busy.messages), [e for e in wanted_events(START, 2**31 - 1) if e[0] <= ledger_of(busy.id)])
    lazy.until(lambda s: s.over)
    assert lazy.messages[-1].event == "dropped" and lazy.messages[-1].data["reason"] == "slow", lazy.messages[-1:]
    told = told_events(lazy.messages)
    expect("before it was dropped", told, wanted_events(START, 2**31 - 1)[:len(told)])
    assert len(told) < len(wanted_events(START, until))
    rest = Stream({"topics": "event"}, lazy.id).until(is_at(until))
    expect("after it came back", told + [e for e in told_events(rest.messages) if e[0] <= until],
           [e for e in wanted_events(START, 2**31 - 1) if e[0] <= until or e in told])
    print(f"ok A15 a slow reader is dropped with its reason after {len(told)} messages and goes on; another one is not disturbed")


def many_readers(count):
    """Many at once: all hear the same, each ledger is read once for all, memory is flat."""
    streams, poll = [], selectors.DefaultSelector()
    end = time.monotonic() + 60
    while metric("stream_subscribers"):
        assert time.monotonic() < end, "subscribers that left are still counted"
        time.sleep(0.2)  # who left is noticed when there is something to tell him
    empty, pages = metric("api_private_bytes"), metric('stream_pages_total{of="new"}')
    for _ in range(count):
        # so many readers that this one could not follow them hear of ledgers only
        streams.append(Stream({"topics": "ledger,event" if count <= 1000 else "ledger"}))
    for s in streams:
        s.until(lambda s: s.status)
    ended = [(s.status, s.text, s.messages) for s in streams if s.over or s.status != 200]
    assert not ended, ended[:3]
    refused = Stream({"topics": "ledger"}).until(lambda s: s.status)
    assert refused.status == 429, refused.status
    for s in streams:
        s.until(lambda s: s.id)
    began, first = newest(), time.monotonic()
    for s in streams:
        s.socket.setblocking(False)
        poll.register(s.socket, selectors.EVENT_READ, s)
    target, most = began + 5, 0
    while not all(is_at(target)(s) for s in streams):
        for key, _ in poll.select(1):
            try:
                if not key.data.read(1 << 20):
                    sys.exit(f"one of many readers was closed: {key.data.status} {key.data.text} {key.data.messages[-1:]}")
            except BlockingIOError:
                pass
        most = max(most, metric("api_private_bytes"))
        if time.monotonic() > first + 120:
            sys.exit(f"not everybody is at {target}")
    for s in streams:
        from_ledger = ledger_of(next(m for m in s.messages if m.id).id)
        told = [int(m.data["ledger"]) for m in fold(s.messages, "ledger")]
        expect("ledgers of one of many readers", [l for l in told if l <= target], list(range(told[0], target + 1)))
        if count <= 1000:
            told = [e for e in told_events(s.messages) if from_ledger < e[0] <= target]
            expect("one of many readers", told, EXPECTED_BY_START.setdefault(from_ledger, wanted_events(from_ledger, target)))
    read = metric('stream_pages_total{of="new"}') - pages
    ledgers = newest() - began + 60
    if read > ledgers:
        sys.exit(f"{read} pages were read for {ledgers} ledgers")
    for s in streams:
        s.close()
    print(f"ok {count} subscribers hear all of 5 ledgers, {read:.0f} pages read for all of them;"
          f" the node's memory {empty / 2**20:.1f} MiB before, {most / 2**20:.1f} MiB at most; one more gets 429")


EXPECTED_BY_START = {}


def answers():
    """What the API answers now: prices of all feeds, and the standings of 32 addresses."""
    prices, cursor = [], ""
    while cursor is not None:
        status, _, body = get("/api/prices?maxAgeMs=86400000" + (f"&cursor={cursor}" if cursor else ""))
        assert status == 200, body
        page = json.loads(body)
        prices += [(item["asset"], item["latestPrice"], item["twapPrice"]) for item in page["items"]]
        cursor = page["next"]
    people = [row[0] for row in sql("SELECT word FROM chain.word WHERE word ~ '^G[A-Z2-7]{55}$' ORDER BY word LIMIT 32")]
    assert len(people) == 32 and len(prices) > 1000, (len(people), len(prices))
    return prices, {who: json.loads(get(f"/api/sdk/kyc/status/{who}")[2]) for who in people}


def check_present(who, messages, prices, people):
    expect(f"{who}: prices", [(m.data["asset"], m.data["latestPrice"], m.data["twapPrice"]) for m in fold(messages, "price")], prices)
    told = fold(messages, "compliance")
    expect(f"{who}: addresses", sorted(m.data["address"] for m in told), sorted(people))
    for m in told:
        differ = {k: (v, people[m.data["address"]][k]) for k, v in m.data.items()
                  if k not in ("ledger", "closedAt", "evaluatedAt") and people[m.data["address"]][k] != v}
        assert not differ, f"{who}: {m}, the status route {differ}"
    assert not fold(messages, "dropped", "stale"), f"{who}: {fold(messages, 'dropped', 'stale')}"


def present(kib):
    """Each subscriber is told what the API answers, however small its buffer is and however it reads."""
    prices, people = answers()
    query = {"topics": "ledger,event,price,compliance", "addresses": ",".join(people)}
    check_present("a quick reader", Stream(query).until(lambda s: s.id).messages, prices, people)
    slow = Stream(query, receive=2048)
    while not slow.id:
        if not slow.read(500):
            sys.exit(f"a slow reader was cut off: {slow.messages[-1:]}")
    check_present("a slow reader", slow.messages, prices, people)
    rng, cuts, total = random.Random(kib), 0, len(slow.messages)
    while cuts < 6:  # one that is cut off in the middle was told no position, and is told all again
        part = Stream(query, receive=2048).until(lambda s: len(s.messages) >= rng.randrange(1, total - 40))
        whole = part.id is not None
        part.close()
        again = Stream(query, part.id)
        again.until(lambda s: s.messages if whole else s.id)
        if whole:
            assert fold(again.messages, "open")[0].data["resumed"]
        else:
            check_present("one that came back", again.messages, prices, people)
        again.close()
        cuts += 1
    many, dropped = [Stream(query, receive=2048) for _ in range(12)], 0  # none reads until all are there
    while not all(s.id for s in many):
        for i, s in enumerate(many):
            if s.id or s.read(20000):
                continue
            if not fold(s.messages, "dropped"):  # it may be dropped for memory; then it is told so and comes again
                sys.exit(f"one of many was cut off without a word: {s.messages[-1:]}")
            s.close()
            many[i], dropped = Stream(query), dropped + 1
            if dropped > 240:
                sys.exit("many readers do not come to an end")
    for s in many:
        check_present("one of many", s.messages, prices, people)
    print(f"ok {len(prices)} prices and {len(people)} standings of {kib} KiB: a quick and a slow reader, {cuts} that were cut off, {len(many)} at once"
          f" ({dropped} dropped for memory, and back)")


def refusals():
    old = START - 1
    table = [("topics=zzz", None, 400, "invalid_parameters"), ("topics=event&kinds=nothing", None, 400, "invalid_parameters"),
             ("topics=compliance", None, 400, "invalid_parameters"), ("topics=compliance&addresses=GABC", None, 400, "invalid_parameters"),
             ("addresses=" + ",".join(["C" + "A" * 55] * 33), None, 400, "invalid_parameters"), ("limit=4", None, 400, "invalid_parameters"),
             ("", "nonsense", 400, "bad_event_id"), ("", "1:1024:e:1-2", 400, "bad_event_id"), ("after=1:01", None, 400, "bad_event_id"),
             ("", f"7:{START + 5}", 409, "other_deployment"), ("", f"1:{old}", 409, "event_id_too_old"), ("", "1:9999999", 409, "event_id_ahead")]
    for query, place, status, code in table:
        connection = http.client.HTTPConnection("127.0.0.1", port_of("api"), timeout=20)
        connection.request("GET", "/api/stream?" + query, headers={"Last-Event-ID": place} if place else {})
        answer = connection.getresponse()
        problem = json.loads(answer.read())
        if (answer.status, problem["code"]) != (status, code) or not answer.headers["Content-Type"].startswith("application/problem+json"):
            sys.exit(f"{query} {place}: {answer.status} {problem}")
        connection.close()
    print(f"ok {len(table)} requests that cannot be met are refused, each with its reason")


def main():
    for word in sys.argv[1:]:
        name, _, number = word.partition("=")
        phase = {"exact": exact, "filters": filters, "lapse": lapse, "slow": slow, "many": many_readers, "refusals": refusals, "present": present}[name]
        phase(*([int(number)] if number else []))
        sys.stdout.flush()


main()
