#!/usr/bin/env python3
"""usage: _kept_plans.py LEDGERS LOG     judges the rollups in a server's log (log_planner_stats, auto_explain as JSON): LEDGERS ledgers, a batch each"""
import importlib.util
import math
import pathlib
import re
import sys

spec = importlib.util.spec_from_file_location("growth", pathlib.Path(__file__).parents[3] / "tools/perf/growth.py")
growth = importlib.util.module_from_spec(spec)
spec.loader.exec_module(growth)

SEARCH = 14  # blocks of a search in an index, and of the condition on the deployment's contracts


def nodes(node):
    yield node
    for child in node.get("Plans", ()):
        yield from nodes(child)


def scans(plan):
    return (node for node in nodes(plan) if node["Node Type"].endswith("Scan") and "Relation Name" in node)


def main():
    ledgers, path = int(sys.argv[1]), sys.argv[2]
    with open(path, errors="replace") as log:
        text = log.read()
        planned = len(re.findall(r"PLANNER STATISTICS\n.*(?:\n\t.*)*\n.*STATEMENT:  -- ", text))
        functions = set(re.findall(r'CONTEXT:  SQL function "(\w+)" during startup\n.*STATEMENT:  -- ', text))
    ran, names, whole, worst, active = 0, set(), set(), (0, ""), [0, 0]
    for _, plan in growth.plans(path):
        if not plan["Query Text"].startswith("-- "):
            continue
        ran += 1
        names.add(plan["Query Text"].split("\n")[0])
        for node in nodes(plan["Plan"]):
            if node["Node Type"] == "ModifyTable" and node["Relation Name"] == "active":
                active[0] += node["Tuples Inserted"]
                active[1] += node["Conflicting Tuples"]
        for node in scans(plan["Plan"]):
            rows, times = node["Actual Rows"] * node["Actual Loops"], max(node["Actual Loops"], 1)
            blocks = node["Shared Hit Blocks"] + node["Shared Read Blocks"]
            whole |= {node["Relation Name"]} if node["Node Type"] == "Seq Scan" else set()
            said = f"{blocks} blocks for {rows} rows of {node['Relation Name']} in {times} scans"
            worst = max(worst, ((blocks - rows / 4) / times, said))
    most = len(names) * (2 + int(math.log2(ledgers)))
    print(f"{ran} rollups in {ledgers} ledgers, {planned} plans (at most {most}); {worst[1]}")
    if active[1] > active[0] or functions:
        sys.exit(f"{active[1]} rows are added to active in vain beside {active[0]}; planned anew in each statement: {functions or 'nothing'}")
    if whole:
        sys.exit(f"kept plans scan the whole of {', '.join(sorted(whole))}")
    if ran < 6 * ledgers or not len(names) <= planned <= most or worst[0] > SEARCH:
        sys.exit("plans are not kept, or read more than the ledger's rows")


main()
