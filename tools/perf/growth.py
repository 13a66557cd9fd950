#!/usr/bin/env python3
"""usage: growth.py [--times] LOG LOG LOG     compares the plans that auto_explain logged for inputs of N, 2N and 4N

The work of a statement is the rows that its largest execution touched (returned, filtered, joined and dropped), and its temporary
blocks. The last doubling of the input may multiply it by LIMIT. The first doubling is not judged: small inputs may fit in limits
and caches. Prints how each statement grew, the fastest first; exits with 1 if one grew by more than LIMIT.

--times: milliseconds of all statements instead, for tools/bench. One line: the larger ratio of two doublings, the milliseconds of
each log, and the temporary MiB of each log."""
import json
import re
import sys

LIMIT = 2.6
FLOORS = {"rows": 2000, "temporary blocks": 200}  # a statement is judged if it did at least this work, and a quarter of it before the doubling


def plans(path):
    """Yields milliseconds and plan of each statement in a server's log. A line that begins with a tab continues the line before."""
    took, text = None, []
    with open(path, errors="replace") as log:
        for line in log:
            if took is not None and line.startswith("\t"):
                text.append(line)
                continue
            if took is not None:
                yield took, json.loads("".join(text))
            begins = re.search(r"LOG:  duration: ([0-9.]+) ms  plan:$", line.rstrip())
            took, text = (float(begins[1]), []) if begins else (None, [])
    if took is not None:
        yield took, json.loads("".join(text))


def touched(node):
    """Returns the rows that a plan's node and its children returned or removed."""
    rows = node["Actual Rows"] + sum(value for key, value in node.items() if key.startswith("Rows Removed by"))
    return rows * node["Actual Loops"] + sum(touched(child) for child in node.get("Plans", ()))


def temp_blocks(plan):
    return plan["Plan"].get("Temp Read Blocks", 0) + plan["Plan"].get("Temp Written Blocks", 0)


def name_of(plan):
    """Returns the statement's text with its literals replaced, so that executions with other values have the same name."""
    text = " ".join(plan["Query Text"].split())
    return re.sub(r"'C[A-Z0-9]{55}[a-z_ ]*'(, 'C[A-Z0-9]{55}[a-z_ ]*')*", "'C'", re.sub(r"'\\x[0-9a-f]*'|\b[0-9]+\b", "#", text))


def work(path):
    """Returns the largest work of each statement in a log."""
    found = {}
    for _, plan in plans(path):
        figures = found.setdefault(name_of(plan), {"rows": 0, "temporary blocks": 0})
        figures["rows"] = max(figures["rows"], touched(plan["Plan"]))
        figures["temporary blocks"] = max(figures["temporary blocks"], temp_blocks(plan))
    return found


def judge(paths):
    """Prints the growth of each statement. Returns true if one grew too fast, or if fewer than five could be judged."""
    runs, judged = [work(path) for path in paths], []
    for name in set().union(*runs):
        for unit, floor in FLOORS.items():
            figures = [run.get(name, {}).get(unit, 0) for run in runs]
            if figures[-1] >= floor and figures[-2] >= floor / 4:
                judged.append((figures[-1] / figures[-2], unit, figures, name))
    judged.sort(reverse=True)
    for ratio, unit, figures, name in judged:
        print(f"{'TOO FAST' if ratio > LIMIT else 'ok'} x{ratio:.2f} {unit} {figures} {name[:160]}")
    if len(judged) < 5:
        print(f"{len(judged)} statements judged, of {[len(run) for run in runs]}: too few")
    return len(judged) < 5 or judged[0][0] > LIMIT


def times(paths):
    logs = [list(plans(path)) for path in paths]
    took = [sum(ms for ms, _ in log) for log in logs]
    temp = [sum(temp_blocks(plan) for _, plan in log) / 128 for log in logs]
    ratio = max(b / max(a, 1) for a, b in zip(took, took[1:]))
    print(f"{ratio:.3f}", "/".join(f"{ms:.0f}" for ms in took), "/".join(f"{mib:.0f}" for mib in temp))
    return False


if __name__ == "__main__":
    args = sys.argv[1:]
    sys.exit(times(args[1:]) if args[:1] == ["--times"] else judge(args))
