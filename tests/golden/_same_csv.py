#!/usr/bin/env python3
"""usage: _same_csv.py FILE.csv FILE.jsonl     compares rows and columns; another CSV reader than the product's reads the file."""
import csv
import json
import sys


def value(text):
    try:
        return json.loads(text)
    except ValueError:
        return text


with open(sys.argv[1], newline="", encoding="utf-8") as f:
    got = list(csv.DictReader(f, strict=True))
with open(sys.argv[2], encoding="utf-8") as f:
    want = [json.loads(line) for line in f]
if len(got) != len(want) or not want:
    sys.exit(f"{len(got)} records, {len(want)} lines")
for g, w in zip(got, want):
    for name, text in g.items():
        expected = w.get(name)
        if text == "" and expected in (None, ""):
            continue
        if text[:1] == "'" and text[1:2] in ("=", "+", "-", "@", "\t", "\r") and text[1:] == expected:
            continue  # a text that a spreadsheet would take for a formula
        if text != expected and value(text) != expected:
            sys.exit(f"{name}: {text!r} is not {expected!r}")
    if w.keys() - g.keys():
        sys.exit(f"columns missing: {w.keys() - g.keys()}")
print(f"csv: {len(got)} records")
