#!/usr/bin/env python3
"""Every route of a running tidemark-api, asked the same before and after an attack.

usage: _trust.py PORT ask FILE [BEFORE]  asks each GET route of api/route.def that reads state (BEFORE: what was asked
                                    then), writes the answers to FILE
       _trust.py same BEFORE AFTER  the answers are equal
Exits 1 when an answer is no 200 or differs, and says which.
"""
import http.client
import json
import os
import re
import sys

sys.dont_write_bytecode = True
from _sql import API, HERE, Route, questions, routes, samples, sql

# What the time of asking changes, not the ledger.
TIMED = {"evaluatedAt", "ageSeconds", "twapAgeSeconds", "pollAfterMs", "instance", "heartbeatAt", "since24h"}
STRANGER = "GAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAWHF"


def hot_routes():
    text = (API / "route.def").read_text()
    found = re.findall(r'^TIDE_ROUTE\((\w+),\s*GET,\s*"([^"]*)",\s*(?:HOT|SQL),\s*\d+,\s*\d+,\s*"[^"]*",\s*"([^"]*)"', text, re.M)
    assert len(found) >= 9, found
    return [Route(*line) for line in found]


def targets(last):
    hot, lists = hot_routes(), routes()
    values = samples(lists)
    values.update(amountIn="10000000", direction="b_to_a", partnerId=values["partnerId"])
    for route in hot:
        route.filters = [name for name in route.filters if name in values]
    people = sql("SELECT address FROM state.compliance_registry_compliance_rec ORDER BY address").split("\n")
    for route, _, target in questions(hot + lists, values):
        yield target
        if "ledger" in route.query:
            yield target + ("&" if "?" in target else "?") + f"ledger={last}"
    for who in people[:40] + [STRANGER]:
        yield f"/api/sdk/kyc/status/{who}"
        yield f"/api/sdk/kyc/status/{who}?ledger={last}"
        yield f"/api/compliance/{who}/history"


def without_time(value):
    if isinstance(value, dict):
        return {k: without_time(v) for k, v in value.items() if k not in TIMED}
    return [without_time(v) for v in value] if isinstance(value, list) else value


def ask(port, file, before=None):
    connection = http.client.HTTPConnection("127.0.0.1", int(port), timeout=60)
    answers = {}
    last = sql("SELECT ledger FROM chain.cursor")
    for target in json.load(open(before)) if before else dict.fromkeys(targets(last)):
        connection.request("GET", target)
        answer = connection.getresponse()
        body = json.loads(answer.read())
        if answer.status != 200:
            sys.exit(f"{target}: {answer.status} {body}")
        answers[target] = without_time(body)
    assert len(answers) > 150, f"only {len(answers)} questions"
    with open(file, "w") as out:
        json.dump(answers, out)
    print(len(answers), "answers")


def same(before, after):
    before, after = json.load(open(before)), json.load(open(after))
    wrong = [t for t in before if before[t] != after.get(t)]
    for target in wrong[:20]:
        print(f"{target}\n  before {json.dumps(before[target])[:600]}\n  after  {json.dumps(after.get(target))[:600]}")
    if wrong or set(before) != set(after):
        sys.exit(f"{len(wrong)} of {len(before)} answers differ")


if sys.argv[1] == "same":
    same(*sys.argv[2:])
else:
    ask(sys.argv[1], *sys.argv[3:])
