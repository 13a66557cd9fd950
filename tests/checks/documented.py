#!/usr/bin/env python3
"""Checks that openapi.json has each name of tests/integration/_documented.json as a required one."""
import json
import os
import pathlib
import sys

ROOT = pathlib.Path(os.environ.get("TIDE_SOURCE_DIR", "."))
DOCUMENTED = json.loads((ROOT / "tests/integration/_documented.json").read_text())


def resolved(doc, schema):
    """The schema that a reference, a choice with null, or the parts of an allOf lead to."""
    for choice in schema.get("anyOf", ()):
        if choice.get("type") != "null":
            return resolved(doc, choice)
    if "$ref" in schema:
        return resolved(doc, doc["components"]["schemas"][schema["$ref"].rsplit("/", 1)[1]])
    parts = [resolved(doc, part) for part in schema.get("allOf", ())]
    found = {"properties": {}, "required": [], **{k: v for k, v in schema.items() if k not in ("properties", "required")}}
    for part in (*parts, schema):
        found["properties"] |= part.get("properties", {})
        found["required"] += part.get("required", [])
        found = {**part, **found}
    return found


def body_of(doc, carrier):
    return resolved(doc, carrier["content"]["application/json"]["schema"])


def missing(schema, names):
    return [name for name in names if name not in schema["properties"] or name not in schema["required"]]


def faults_of(doc):
    """Yields a line for each documented route or field that the document doc lacks."""
    for entry in DOCUMENTED["answers"]:
        method, path = entry["route"].split()
        operation = doc["paths"].get(path, {}).get(method.lower())
        if not operation:
            yield f"{entry['route']}: no such route"
            continue
        answer = body_of(doc, operation["responses"]["200"])
        parts = {"fields": lambda: answer, "items": lambda: resolved(doc, answer["properties"]["items"]["items"]),
                 "request": lambda: body_of(doc, operation["requestBody"])}
        for part in parts.keys() & entry.keys():
            yield from (f"{entry['route']}: {part} without {name}" for name in missing(parts[part](), entry[part]))
        if "contract" in entry:
            by_role = resolved(doc, answer["properties"]["contracts"])["properties"]
            for role in DOCUMENTED["entrypoints"]:
                contract = resolved(doc, by_role[role]) if role in by_role else {"properties": {}, "required": []}
                yield from (f"{entry['route']}: {role} without {name}" for name in missing(contract, entry["contract"]))


def main():
    text = (pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(os.environ["TIDE_BUILD"]) / "api/openapi.json").read_text()
    faults = list(faults_of(json.loads(text)))
    if len(sys.argv) == 1 and not any(faults_of(json.loads(text.replace('"needsKyc"', '"kycNeeded"')))):
        faults.append("a renamed field goes unnoticed")
    print(*faults, sep="\n")
    if faults:
        sys.exit(1)
    print("openapi.json has the documented names")


main()
