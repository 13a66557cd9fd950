#!/usr/bin/env python3
"""Prints the recorded questions to the contracts, and compares answers with the recorded ones.

usage: _views.py ask VIEWS              prints a line for views_driver for each recorded question
       _views.py compare VIEWS ANSWERS  counts by function; exits 1 when one differs
"""
import collections
import json
import sys


def plain(arg):
    return str(arg).lower() if isinstance(arg, bool) else str(arg)


def read(path):
    with open(path, encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def same(a, b):
    """Equal as JSON: true is not 1."""
    if type(a) is not type(b):
        return False
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
    if isinstance(a, list):
        return len(a) == len(b) and all(map(same, a, b))
    return a == b


def agree(want, got):
    if want["ok"] != got["ok"]:
        return False
    return same(want["ret"], got["ret"]) if want["ok"] else bool(got.get("why"))


def compare(wanted, answers):
    if len(wanted) != len(answers):
        sys.exit(f"{len(answers)} answers to {len(wanted)} questions")
    asked, equal, whys = collections.Counter(), collections.Counter(), collections.defaultdict(collections.Counter)
    shown = 0
    for want, got in zip(wanted, answers):
        name = f"{want['role']}.{want['fn']}"
        asked[name] += 1
        if agree(want, got):
            equal[name] += 1
            if not want["ok"]:
                whys[name][got["why"]] += 1
        elif shown < 10:
            shown += 1
            print(f"{name} {want['args']} at {want['ledger']}\n  got  {json.dumps(got)}\n"
                  f"  want {json.dumps({k: want[k] for k in ('ok', 'ret') if k in want})}")
    for name in sorted(asked):
        refused = ", ".join(f"{n} {why}" for why, n in sorted(whys[name].items()))
        print(f"{name:48} {equal[name]:5} of {asked[name]:5}{'  refused: ' + refused if refused else ''}")
    print(f"views {sum(equal.values())} of {sum(asked.values())} equal")
    sys.exit(0 if equal == asked and asked else 1)


def main():
    views = read(sys.argv[2])
    if sys.argv[1] == "ask":
        for v in views:
            print("\t".join([str(v["ledger"]), str(v["closeTime"]), v["role"], v["fn"], v["contract"]]
                            + [plain(a) for a in v["args"]]))
    else:
        compare(views, read(sys.argv[3]))


main()
