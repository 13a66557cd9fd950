#!/usr/bin/env python3
"""Checks the generated OpenAPI document: every reference resolves, schemas are JSON Schemas, examples fit them,
/metrics counts each status by its number, and events have the fields that the database writes. Also how .def files
are read, and the messages for files that contradict each other."""
import copy
import json
import os
import pathlib
import re
import sys
import tempfile

ROOT = pathlib.Path(os.environ.get("TIDE_SOURCE_DIR", "."))
BUILD = pathlib.Path(os.environ["TIDE_BUILD"])
QUERIES = ROOT / "api/sql/queries"
METRICS = "api/http/server/metrics.c"
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT.resolve() / "api/openapi"))
from openapi import document
from def_file import macros
from texts import Mistake

faults = []


def fault(where, what):
    faults.append(f"{where}: {what}")


# --- the document -----------------------------------------------------------------------------------------------------


def walk(node, where=""):
    yield where, node
    items = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, child in items:
        yield from walk(child, f"{where}/{key}")


def check_references(doc):
    for where, node in walk(doc):
        if isinstance(node, dict) and isinstance(node.get("$ref"), str):
            group, name = node["$ref"].removeprefix("#/components/").split("/")
            if name not in doc["components"][group]:
                fault(where, f"{node['$ref']} leads nowhere")


def check_counted(doc):
    """Each status that is told of is counted by its number in /metrics, not among the others."""
    listed = re.search(r"codes\[TIDE_METRIC_STATUS_COUNT\] = \{(.*?)\}", (ROOT / METRICS).read_text(), re.S).group(1)
    counted = set(re.findall(r"\d{3}", listed))
    told = {status for item in doc["paths"].values() for operation in item.values() for status in operation["responses"]}
    for status in sorted(told - counted - {"default"}):
        fault(METRICS, f"does not list {status}")


def check_event_fields(doc):
    """Fields of events have the names and the order in which chain.event_fields writes them; what it writes as a text is no number."""
    schemas, said = doc["components"]["schemas"], {}
    for event in (schemas[one["$ref"].rsplit("/", 1)[1]]["properties"] for one in schemas["Event"]["oneOf"]):
        fields = schemas[kind_of(event["fields"])].get("properties", {})
        said[event["kind"]["const"]] = [(name, kind_of(field) not in ("Count", "boolean", "string", "Address", "")) for name, field in fields.items()]
    tables = (BUILD / "migrations/0002_tables.sql").read_text()
    written = {kind: [(name, bool(text)) for text, name in re.findall(r'(::text)? AS "(\w+)"', case)]
               for kind, case in re.findall(r"^ +WHEN '(\w+)' THEN\n(.*?);\n", tables, re.M | re.S)}
    for kind in said.keys() | written.keys():
        if said.get(kind) != written.get(kind):
            fault(kind, f"has {said.get(kind)}, the database writes {written.get(kind)}")


def media_of(operation):
    for answer in operation["responses"].values():
        yield from answer.get("content", {}).values()
    yield from operation.get("requestBody", {}).get("content", {}).values()


def check_examples(doc):
    try:
        import jsonschema
    except ImportError:
        return print("examples are not checked: no python3-jsonschema")
    count = 0
    strict = copy.deepcopy(doc["components"])  # an example has no member that the schema does not know
    for _, node in walk(strict):
        if isinstance(node, dict) and isinstance(node.get("properties"), dict) and "type" in node:
            node.setdefault("additionalProperties", False)
    for path, item in {**doc["paths"], **doc["webhooks"]}.items():
        for method, operation in item.items():
            for media in media_of(operation):
                schema = {**media["schema"], "components": strict}
                jsonschema.Draft202012Validator.check_schema(schema)
                for name, example in media.get("examples", {}).items():
                    count += 1
                    for error in jsonschema.Draft202012Validator(schema).iter_errors(example["value"]):
                        fault(f"{method} {path} {name}", f"{error.json_path}: {error.message[:200]}")
    print(f"{count} examples fit their schemas")


# --- the conventions of api/README.md ---------------------------------------------------------------------------------

# A field, or "Schema.field": why the rule does not hold for it.
EXCEPTIONS = {
    "validUntil": "a standing's end, beside the record's own expiresAt",
    "KycStatus.evaluatedAt": "never cached",
    "KycStatuses.evaluatedAt": "never cached",
    "StreamCompliance.evaluatedAt": "never cached",
    "twapWindow": "seconds, a setting of 64 bits",
    "feeAccumulatorA": "a factor: fees for one share, times 10^12",
    "feeAccumulatorB": "a factor: fees for one share, times 10^12",
    "p": "a factor: the product of losses, from 10^12",
    "totalShares": "shares of a pool, which have no decimals",
    "shares": "shares of a pool, which have no decimals",
    "timestamp": "a name of the Standard Webhooks specification",
    "executeAfter": "unix seconds, as the contract has them",
    "ComplianceRegistryTravelFields.sequence": "number of a record, in the contract's own word",
    "sumCollateral": "a factor: gain to a unit of deposit, times 10^12",
}
# Raw units, beside which their Scaled stands.
MONEY = {"Amount", "PoolPrice"}
# Whole numbers that count nothing.
NUMBERS = {"code", "decimals", "event", "index", "op", "pollAfterMs", "protocol", "resultCode", "status", "tx"}
# Numbers of 64 bits that name something, beside …Id and …Ids.
IDS = {"epoch", "nextEpoch", "index", "scale"}
NO_SYMBOL = "a token's address without its symbol"
RENAMED = {"partner": "partnerId", "sequence": "ledger", "poolId": "pool", "synthAsset": "market", "evaluatedAt": "an age: it belongs into a header", "heardOfAt": "an age: Data-Age-Ms"}


def kind_of(schema):
    """The name of a property's schema, else its type, whether or not it may be null."""
    for part in (schema, *schema.get("anyOf", ())):
        if "$ref" in part:
            return part["$ref"].rsplit("/", 1)[1]
    kind = schema.get("type", "")
    kind = next(k for k in kind if k != "null") if isinstance(kind, list) else kind
    return "Time" if schema.get("format") == "date-time" else kind


def objects(name, schema):
    """Each object with properties: what it is called, and they."""
    for field, child in schema.get("properties", {}).items():
        yield from objects(f"{name}.{field}", child)
    if "properties" in schema:
        yield name, schema["properties"]
    yield from objects(name, schema["items"]) if "items" in schema else ()


def broken_rule(field, kind, fields):
    """Returns the convention that a field of that kind breaks, or None."""
    scaled, symbol = field + "Scaled" in fields, field + "Symbol" in fields
    is_token = kind == "Address" and (field.startswith("token") or field.endswith("Token") or field == "usdc")
    rules = [
        (kind in MONEY and not scaled, "money without its Scaled: Amount+, or Factor, Weight, Bps if it is none"),
        (kind == "Scaled" and kind_of(fields.get(field.removesuffix("Scaled"), {})) not in MONEY, "a Scaled without its raw Amount"),
        (field == "at" or field.endswith("Time"), "a time ends in At"),
        (kind == "Time" and not field.endswith("At"), "a time ends in At"),
        (field.endswith("At") and kind != "Time", "only a time ends in At"),
        (field.lower().endswith(("ageseconds", "agems")), "an age belongs into a header"),
        (kind == "U64" and not field.endswith(("Id", "Ids")) and field not in IDS, "a number of 64 bits that names nothing: Count, or add its name to IDS (an event's field has no other type)"),
        (kind == "integer" and field not in NUMBERS, "an integer that is in no list: Count"),
        (kind in ("Count", "integer") and field.endswith(("Id", "Ledger")), "what names something is a string"),
        (is_token and not symbol, NO_SYMBOL),
        (field in RENAMED, f"should be {RENAMED.get(field)}"),
    ]
    return next((what for broken, what in rules if broken), None)


def check_conventions(doc):
    used = set()
    # What an event says: nothing stands beside it but scaled amounts, so no symbols.
    events = {one["$ref"].rsplit("/", 1)[1] for one in doc["components"]["schemas"]["EventFields"]["anyOf"]}
    for schema, body in doc["components"]["schemas"].items():
        for name, fields in objects(schema, body):
            for field, child in fields.items():
                what = broken_rule(field, kind_of(child), fields)
                if schema in events and what == NO_SYMBOL:
                    continue
                excepted = {field, f"{name}.{field}"} & EXCEPTIONS.keys()
                used |= excepted if what else set()
                if what and not excepted:
                    fault(f"{name}.{field}", what)
    for name in sorted(EXCEPTIONS.keys() - used):
        fault(f"exception {name}", "nothing needs it")


# Fields that break a rule, with a part of the message: they show that the rules can fail.
WRONG = {
    "debt": ("Amount", "money"), "openScaled": ("Scaled", "raw Amount"), "at": ("Time", "ends in At"), "closeTime": ("Time", "ends in At"),
    "since": ("Time", "ends in At"), "startsAt": ("string", "only a time"), "twapAgeSeconds": ("Count", "header"), "swaps": ("U64", "Count"),
    "users": ("integer", "Count"), "tokenIn": ("Address", "symbol"), "collateralToken": ("Address", "symbol"), "partner": ("U64", "Count"),
    "walletId": ("Count", "a string"), "expirationLedger": ("Count", "a string"), "poolId": ("Symbol", "should be pool"), "synthAsset": ("Symbol", "should be market"),
}


def check_rules():
    for field, (kind, said) in WRONG.items():
        if said not in (broken_rule(field, kind, {field: {}}) or ""):
            fault(f"rules of {field}", f"let {kind} pass")


# --- the generator ----------------------------------------------------------------------------------------------------

# (file, what is replaced in it, by what, what the writer says)
BROKEN = [
    ("api/sql/queries/chain/ledgers.sql", r"(?s)\A.*?(?=SELECT)", "-- list: deployment\n", "route ledgers has no texts: write them into the head"),
    ("api/sql/queries/chain/ledgers.sql", r"-- summary:.*\n", "", "ledgers.sql:2: route ledgers needs tag:, summary:, about: and answer:"),
    ("api/kyc/notify/hook_route.api", r"body: PriceStale\n", "", "a notification needs tag:, summary: and the schema of its body:"),
    ("api/sql/queries/chain/ledgers.sql", r"-- tag: .*", "-- tag: Nothing", 'common.api has no group "Nothing"'),
    ("api/sql/queries/chain/ledgers.sql", r"-- answer: .*", "-- answer: Ledgers of Nothing", "there is no schema Nothing"),
    ("api/sql/queries/tokens/token.sql", r"(-- none.*\n)", r"\1-- summary: a statement that answers no route\n", "token.sql:3: route.def has no route token"),
    ("api/sql/queries/pools/pools.sql", r"-- about:", "-- abuot:", 'pools.sql:4: "abuot:" is not a keyword'),
    ("api/sql/queries/pools/pools.sql", r"-- part: pool_item", "-- part: nothing", "there is no part nothing"),
    ("api/sql/queries/parts/pool_item.sql", r"(--   paused +boolean).*", r"\1", "the field paused has no text"),
    ("api/sql/queries/parts/pool_item.sql", r"(--   paused +)boolean", r"\1bool", "there is no type bool"),
    ("api/sql/queries/parts/pool_item.sql", r"(--   paused +)boolean", r"\1string{1", "no type: 'string{1'"),
    ("api/sql/queries/parts/pool_item.sql", r'-- example: {"pool"', "-- example: {pool", "the example of Pool"),
    ("api/routes/markets.api", r"\Z", "\nschema: Forgotten\n  a  string  that nothing refers to\n", "nothing uses the schema Forgotten"),
    ("api/routes/markets.api", r"\Z", "\nschema: Pool\n  a  string  there is one already\n", "the schema Pool is there already"),
    ("api/routes/markets.api", r"\Z", "\nroute: nothing\ntag: Markets\n", "route.def has no route nothing"),
    ("api/routes/stream.api", r"also: .*", "also: 409 418", "there is no response 418, which stream gives"),
    ("api/openapi/common.api", r"\nheader: ETag.*", "", "there is no header: line for ETag"),
]


def sources():
    return [*sorted(QUERIES.glob("parts/*.sql")), *sorted(f for f in QUERIES.glob("*/*.sql") if f.parent.name != "parts"), *sorted(ROOT.glob("api/**/*.api"))]


def check_broken(version, file, pattern, by, message, folder):
    text = (ROOT / file).read_text()
    changed = re.sub(pattern, by, text, count=1)
    if changed == text:
        return fault(file, f"{pattern} is not in it")
    copy = folder / pathlib.Path(file).name
    copy.write_text(changed)
    try:
        document(version, [copy if path == ROOT / file else path for path in sources()])
        fault(file, f"without {pattern}: nothing is wrong, wanted {message!r}")
    except Mistake as mistake:
        if message not in str(mistake):
            fault(file, f"without {pattern}: {mistake}, wanted {message!r}")


def check_writer(text, version):
    if document(version, sources()) != text:
        fault("openapi.py", "writes something else than the build did")
    with tempfile.TemporaryDirectory() as folder:
        for case in BROKEN:
            check_broken(version, *case, pathlib.Path(folder))
    print(f"{len(BROKEN)} mistakes in the files stop the build")


# A .def file, and what it says.
LINES = r'''/* X(comment, 1) */
#ifndef X
#define X(a) \
    Q(a)
#endif
X(one, "a, (b) \"c\"" // "d"
       " and /* e */ f", sum(1, (2)))
Y()
#include "INCLUDED"
#undef X
'''
READ = [("X", ["one", 'a, (b) "c" and /* e */ f', "sum(1,(2))"]), ("Y", [""]), ("Z", ["included"])]


def check_macros():
    with tempfile.TemporaryDirectory() as folder:
        first, second = pathlib.Path(folder) / "first.def", pathlib.Path(folder) / "second.def"
        first.write_text(LINES.replace("INCLUDED", str(second)))
        second.write_text("Z(included)\n")
        if list(macros(first)) != READ:
            fault("def_file.py", f"reads {list(macros(first))}")


def main():
    text = (BUILD / "api/openapi.json").read_text()
    doc = json.loads(text)
    check_references(doc)
    check_counted(doc)
    check_conventions(doc)
    check_rules()
    check_examples(doc)
    check_event_fields(doc)
    check_macros()
    check_writer(text, doc["info"]["version"])
    print(*faults, sep="\n")
    if faults:
        sys.exit(1)
    print(f"{len(doc['paths'])} paths")


main()
