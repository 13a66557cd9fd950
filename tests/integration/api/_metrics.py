#!/usr/bin/env python3
"""usage: _metrics.py URL   asks everything a little, scrapes before and after, and reads the text as strictly as
Prometheus' own parser and `promtool check metrics` do."""
import collections
import http.client
import json
import math
import re
import sys
import time
import urllib.parse

URL = urllib.parse.urlsplit(sys.argv[1])
STARTED = float(sys.argv[2])  # epoch second, before the indexer was
NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
LABEL = r'[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\["\\n])*"'
SAMPLE = re.compile(rf"({NAME})(?:\{{({LABEL}(?:,{LABEL})*)?\}})? (\S+)")
SERIES_MAX = 4000


def get(path, method="GET", headers={}):
    connection = http.client.HTTPConnection(URL.hostname, URL.port, timeout=20)
    connection.request(method, path, headers=headers)
    answer = connection.getresponse()
    return answer.status, answer.headers, answer.read().decode()


KEY = {"Authorization": "Bearer metrics-key-of-tests"}


def number(text):
    return {"+Inf": math.inf, "-Inf": -math.inf}.get(text) if text in ("+Inf", "-Inf") else float(text)


def parse(text):
    """{family: (type, help, {labels: value by full name})}; exits on whatever is not the format."""
    assert text.endswith("\n"), "no end of line at the end"
    families, current = {}, None
    for i, line in enumerate(text[:-1].split("\n"), 1):
        where = f"line {i}: {line}"
        if line.startswith("# HELP "):
            name, help_text = line[7:].split(" ", 1)
            assert re.fullmatch(NAME, name) and name not in families and help_text.strip(), where
            current, families[name] = name, [None, help_text, {}]
        elif line.startswith("# TYPE "):
            name, kind = line[7:].split(" ")
            assert name == current and families[name][0] is None and not families[name][2], where
            assert kind in ("counter", "gauge", "histogram"), where
            families[name][0] = kind
        else:
            sample = SAMPLE.fullmatch(line)
            assert sample, where
            name, labels, value = sample.groups()
            kind, _, values = families[current]
            suffixes = ("_bucket", "_sum", "_count") if kind == "histogram" else ("",)
            assert kind and name in [current + s for s in suffixes], where
            pairs = re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', labels or "")
            assert len(dict(pairs)) == len(pairs), where
            key = (name, tuple(sorted(pairs)))
            assert key not in values, "twice: " + where
            values[key] = number(value)
            assert not math.isnan(values[key]), where
    return families


def check(families):
    series = 0
    for name, (kind, help_text, values) in families.items():
        assert name.startswith("tidemark_") and name == name.lower() and "__" not in name, name
        assert help_text[0].isupper() or help_text[0].isdigit() or help_text[-1] == ".", (name, help_text)
        assert (kind == "counter") == name.endswith("_total"), f"{name} is a {kind}"
        assert kind != "histogram" or name.endswith(("_seconds", "_bytes")), name
        assert not re.search(r"_(ms|us|ns|millis\w*|kb|mb|kib|mib|count|sum|bucket|counter|gauge)(_total)?$", name), f"{name}: no base unit"
        series += len(values)
        for (sample, labels), value in values.items():
            assert value >= 0, (sample, labels, value)
            assert all(re.fullmatch(r"[A-Za-z0-9_.+-]{1,64}", v) for _, v in labels), labels
        if kind == "histogram":
            check_histogram(name, values)
    assert series < SERIES_MAX, f"{series} series"
    return series


def check_histogram(name, values):
    groups = collections.defaultdict(list)
    for (sample, labels), value in values.items():
        rest = tuple(p for p in labels if p[0] != "le")
        if sample == name + "_bucket":
            groups[rest].append((number(dict(labels)["le"]), value))
    for rest, buckets in groups.items():
        bounds, counts = zip(*buckets)
        assert list(bounds) == sorted(set(bounds)) and bounds[-1] == math.inf, (name, rest)
        assert list(counts) == sorted(counts), (name, rest)
        assert values[(name + "_count", rest)] == counts[-1], (name, rest)
        assert (name + "_sum", rest) in values, (name, rest)


def value_of(families, name, **labels):
    return families[name][2].get((name, tuple(sorted(labels.items()))))


def scrape():
    status, headers, body = get("/metrics", headers=KEY)
    assert status == 200 and headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8", headers
    return parse(body)


def until(condition, what):
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end, what
        time.sleep(0.1)


until(lambda: "tidemark_attester_state" in scrape(), "the attester's figures never came")
for key in ({}, {"Authorization": "Bearer metrics-key-of-testz"}, {"Authorization": KEY["Authorization"] + "x"}, {"Authorization": "Bearer "},
            {"X-API-Key": "metrics-key-of-tests"}):
    status, _, public = get("/metrics", headers=key)
    assert status == 200 and "tidemark_api_requests_total" in public and not re.search(r"tidemark_(kyc|attester)_", public), f"{key}: private figures"
before = scrape()
check(before)
assets = json.loads(get("/api/prices")[2])["items"]
for _ in range(20):
    assert get("/api/prices")[0] == 200
assert get("/api/ledgers?limit=2")[0] == 200
assert get("/nothing/of/the/kind\\")[0] in (400, 404) and get('/a"b')[0] in (400, 404)
assert get("/api/markets/NOT_ONE")[0] == 404
assert get("/api/stream?topics=x")[0] == 400
# A request is counted after its answer was sent, by the thread that sent it; another thread may answer the scrape.
made = {"prices": 21, "ledgers": 1, "none": 2, "market": 1, "stream": 1}


def counted():
    global after
    after = scrape()
    of_route = lambda f, route: sum(v for (_, labels), v in f["tidemark_api_requests_total"][2].items() if ("route", route) in labels)
    return all(of_route(after, route) - of_route(before, route) >= n for route, n in made.items())


until(counted, f"not all requests are counted: {made}")
series = check(after)

went_back = [(key, old, after[name][2].get(key)) for name, (kind, _, values) in before.items() if kind == "counter"
             for key, old in values.items() if after[name][2].get(key, -1) < old]
assert not went_back, went_back
count = lambda f, **l: value_of(f, "tidemark_api_requests_total", **l) or 0
assert count(after, route="prices", status="200") - count(before, route="prices", status="200") == 21
assert count(after, route="market", status="404") == 1 and count(after, route="ledgers", status="200") == 1
assert count(after, route="none", status="404") + count(after, route="none", status="400") == 2
assert count(after, route="stream", status="400") == 1
assert value_of(after, "tidemark_pool_jobs_total") >= 1
durations = after["tidemark_api_request_duration_seconds"][2]
assert durations[("tidemark_api_request_duration_seconds_count", (("route", "prices"),))] == 21
latest = json.loads(get("/api/ledgers?limit=1")[2])["items"][0]
for name in ("tidemark_indexed_ledger", "tidemark_cache_ledger", "tidemark_stream_ledger", "tidemark_feeder_ledger"):
    assert value_of(after, name) == int(latest["ledger"]), (name, value_of(after, name))
assert value_of(after, "tidemark_indexer_state", state="stopped") == 1
assert sum(v for v in after["tidemark_indexer_state"][2].values()) == 1
assert value_of(after, "tidemark_indexed_events_total") > 0
# The indexer was heard of after it was started, and it has ended: its age grows with the clock.
ages = [value_of(figures, "tidemark_cache_age_seconds") for figures in (before, after)]
assert ages[0] < ages[1] < time.time() - STARTED, ages
assert value_of(after, "tidemark_feeder_feeding") == 1 and value_of(after, "tidemark_cache_complete") == 1
attester = {"tidemark_attester_attention": 1, "tidemark_attester_ledger": 1234, "tidemark_attester_balance_xlm": 2.5,
            "tidemark_attester_sent_total": 9, "tidemark_attester_confirmed_total": 7, "tidemark_attester_parked_total": 2,
            "tidemark_attester_failures_total": 3, "tidemark_attester_confirmed_timestamp_seconds": 1700000000,
            "tidemark_attester_failed_timestamp_seconds": 0, "tidemark_attester_standing": 4}
for name, expected in attester.items():
    assert value_of(after, name) == expected, (name, value_of(after, name))
assert 3600 <= value_of(after, "tidemark_attester_heartbeat_age_seconds") < 7200
assert [value_of(after, "tidemark_attester_state", state=s) for s in ("working", "waiting", "stopped")] == [0, 1, 0]
assert value_of(after, "tidemark_kyc_outbox", state="parked") == 3
sessions = {state: value_of(after, "tidemark_kyc_sessions", state=state) for state in ("created", "pending", "approved", "declined", "expired", "revoked")}
assert sessions == {"created": 1, "pending": 0, "approved": 5000, "declined": 5000, "expired": 5000, "revoked": 0}, sessions
assert value_of(after, "tidemark_kyc_inbox_failed") == 4 and value_of(after, "tidemark_kyc_inbox_new") == 0
for pool in "sessions", "webhooks", "reads":
    assert value_of(after, "tidemark_kyc_pool_waiting", pool=pool) == 0 and value_of(after, "tidemark_kyc_pool_full_total", pool=pool) == 0
assert value_of(after, "tidemark_kyc_reconciler_age_seconds", provider="sandbox") < 60
print(f"ok {len(after)} families, {series} series: as Prometheus reads them, and true; {len(assets)} feeds")
