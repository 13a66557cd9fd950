#!/usr/bin/env python3
"""usage: _documented.py URL    compares the answers of a running API with _documented.json"""
import json
import pathlib
import sys
import urllib.request

URL = sys.argv[1]
DOCUMENTED = json.loads((pathlib.Path(__file__).parent.parent / "_documented.json").read_text())
UNKNOWN = "GAAQEAYEAUDAOCAJBIFQYDIOB4IBCEQTCQKRMFYYDENBWHA5DYPSABOV"
faults = []


def ask(path, body=None):
    request = urllib.request.Request(URL + path, data=body and json.dumps(body).encode(), headers={"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.load(answer)


def need(where, holder, names):
    faults.extend(f"{where}: no {name}" for name in names if name not in holder)


def check_items(route, entry, answer):
    if not answer["items"]:
        faults.append(f"{route}: the chain has none")
    for item in answer["items"]:
        need(route, item, entry["items"])


def check_contracts(route, entry, answer):
    for role, functions in DOCUMENTED["entrypoints"].items():
        contract = answer["contracts"].get(role, {})
        need(f"{route} {role}", contract, entry["contract"])
        need(f"{route} {role}", contract.get("entrypoints", ()), functions)


def check_status(route, entry, answer):
    need(route, answer, entry["fields"])
    if any(answer.get(k) != v for k, v in entry["unknown"].items()):
        faults.append(f"{route}: an unknown address is {answer}")


def check_session(route, entry, answer):
    need(route, answer, entry["fields"])
    if entry["embedUrl"] not in answer["embedUrl"]:
        faults.append(f"{route}: embedUrl {answer['embedUrl']}")


CHECKS = {"items": check_items, "contract": check_contracts, "unknown": check_status, "request": check_session}
VALUES = {"address": UNKNOWN, "providerKey": "sandbox", "mode": "iframe"}


def main():
    for entry in DOCUMENTED["answers"]:
        path = entry["route"].split()[1].replace("{address}", UNKNOWN)
        body = {name: VALUES[name] for name in entry["request"]} if "request" in entry else None
        answer = ask(path, body)
        CHECKS[next(part for part in CHECKS if part in entry)](entry["route"], entry, answer)
    print(*faults, sep="\n")
    if faults:
        sys.exit(1)
    print(f"{len(DOCUMENTED['answers'])} routes answer under the documented names")


main()
