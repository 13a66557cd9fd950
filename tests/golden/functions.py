#!/usr/bin/env python3
"""Checks that each function which the recorded chains called or simulated is in the catalogue, under its
contract's role."""
import os, re, subprocess, sys, json
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from _shared import Report, fixtures

ROLES = {"usdc": "stellar_asset", "xlm": "stellar_asset"}

def catalogue():
    root = os.environ.get("TIDE_SOURCE_DIR", os.getcwd()) + "/schema/catalogue/"
    text = "".join(open(root + name).read() for name in os.listdir(root) if name.endswith(".def"))
    return set(re.findall(r"^TIDE_FUNCTION\((\w+), (\w+)\)$", text, re.M))

def main():
    report, known, root = Report(), catalogue(), fixtures() + "/protocol"
    for chain in sorted(os.listdir(root)):
        for name in ("calls", "views"):
            text = subprocess.run(["zstd", "-dqc", f"{root}/{chain}/{name}.jsonl.zst"], stdout=subprocess.PIPE, check=True).stdout
            recorded = {(line["role"], line["fn"]) for line in map(json.loads, text.splitlines()) if line.get("fn")}
            for role, function in sorted(recorded):
                held = (ROLES.get(role, role), function) in known
                report.true("recorded functions", f"{chain}/{name}", held, f"the catalogue has no {role} {function}")
    report.end()

main()
