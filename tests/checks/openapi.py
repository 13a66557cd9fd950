#!/usr/bin/env python3
"""schema/openapi.json says what api/routes/route.def and api/http/param.def say: every route, method, parameter, bound and
cost, none missing either way; every reference leads somewhere, everything is described, examples fit their schemas."""
import json
import os
import pathlib
import re
import sys

ROOT = pathlib.Path(os.environ.get("TIDE_SOURCE_DIR", "."))
TEXT = r'"(?:[^"\\]|\\.)*"'
FROM = {"HOT": "the hot cache", "SQL": "PostgreSQL", "LOCAL": "the process itself", "STREAM": "the hub of streams",
        "KYC": "KYC: ", "HOOK": "KYC: "}
KYC_ANSWERS = {"201", "303", "401", "403", "404", "409", "410", "422", "502"}
faults = []


def fault(where, what):
    faults.append(f"{where}: {what}")


def calls(path, *macros):
    """Arguments of each line of a .def file; adjacent texts are one."""
    text = re.sub(r"/\*.*?\*/", "", (ROOT / path).read_text(), flags=re.S)
    text = re.sub(r"^\s*#.*$", "", text, flags=re.M)
    for call in re.finditer(rf'\b({"|".join(macros)})\(((?:{TEXT}|[^()"])*)\)', text):
        parts = re.findall(rf"((?:{TEXT}|[^,\"])+)(?:,|$)", call.group(2))
        yield call.group(1), ["".join(map(json.loads, re.findall(TEXT, p))) if '"' in p else p.strip() for p in parts]


def parameters():
    number = lambda text: int(text.rstrip("uUlL"), 0)
    return {name: (kind, number(low), number(high), default, meaning)
            for _, (name, kind, low, high, default, meaning) in calls("api/http/param.def", "TIDE_PARAM")}


def routes():
    for macro, a in calls("api/routes/route.def", "TIDE_ROUTE", "TIDE_QUERY"):
        if macro == "TIDE_QUERY":
            a = [a[0], "GET", a[1], "SQL", a[2], "0", a[3], a[4], ""]
        yield dict(zip(("id", "method", "path", "kind", "cost", "body", "cache", "query"), a))


def schema_of(param):
    kind, low, high, default, meaning = param
    schema = {"U64": {"type": "integer", "minimum": low, "maximum": high},
              "AMOUNT": {"type": "string", "pattern": "^(0|[1-9][0-9]{0,37})$"},
              "EVENT": {"type": "string", "pattern": "^[0-8][0-9]{18}-[01][0-9]{9}$"},
              "ADDRESS": {"type": "string", "pattern": "^[GC][A-Z2-7]{55}$"},
              "SYMBOL": {"type": "string", "pattern": "^[A-Za-z0-9_]{1,32}$"},
              "HASH": {"type": "string", "pattern": "^[0-9a-fA-F]{64}$"},
              "TEXT": {"type": "string", "minLength": low, "maxLength": high, "pattern": "^[^\\u0000-\\u001f\\u007f]*$"},
              "CHOICE": {"type": "string", "enum": meaning.split("|")},
              "BOOL": {"type": "boolean"},
              "TIME": {"type": "string", "pattern": "^([0-9]{1,10}|[0-9]{4}-.{15,40})$"},
              "KIND": {"type": "string", "pattern": "^[a-z0-9_]{1,64}$"},
              "CURSOR": {"type": "string", "minLength": low, "maxLength": high}}[kind]
    if default:
        schema["default"] = {"U64": int, "BOOL": lambda text: text == "true"}.get(kind, str)(default)
    return schema


def resolve(doc, thing):
    while isinstance(thing, dict) and "$ref" in thing:
        at = doc
        for part in thing["$ref"].removeprefix("#/").split("/"):
            at = at.get(part.replace("~1", "/").replace("~0", "~")) if isinstance(at, dict) else None
        if at is None:
            fault(thing["$ref"], "leads nowhere")
            return {}
        thing = at
    return thing


def check_route(doc, params, route):
    where = f'{route["method"]} {route["path"]}'
    operation = doc["paths"].get(route["path"], {}).get(route["method"].lower())
    if operation is None:
        return fault(where, "is in route.def alone")
    if operation["operationId"] != route["id"]:
        fault(where, f'operationId {operation["operationId"]}, route.def says {route["id"]}')
    wanted = {(name, "path", True) for name in re.findall(r"{(\w+)}", route["path"])}
    wanted |= {(word.rstrip("!"), "query", word.endswith("!")) for word in route["query"].split() if word != "*"}
    said = [resolve(doc, p) for p in operation.get("parameters", [])]
    told = {(p["name"], p["in"], p.get("required", False)) for p in said if p["in"] != "header"}
    if told != wanted or len(said) != len({(p["name"], p["in"]) for p in said}):
        fault(where, f"parameters {sorted(told)}, route.def says {sorted(wanted)}")
    for p in said:
        if p["in"] != "header" and p["name"] in params and p["schema"] != schema_of(params[p["name"]]):
            fault(where, f'{p["name"]} is {p["schema"]}, param.def says {schema_of(params[p["name"]])}')
    if operation.get("x-cost") != int(route["cost"]):
        fault(where, f'x-cost {operation.get("x-cost")}, route.def says {route["cost"]}')
    if not operation.get("x-from", "").startswith(FROM[route["kind"]]):
        fault(where, f'x-from {operation.get("x-from")}, route.def says {route["kind"]}')
    body = eval(route["body"].replace("u", ""), {"__builtins__": {}})  # "64 << 10"
    if operation.get("requestBody", {}).get("x-max-bytes", 0) != body:
        fault(where, f"the body is not one of {body} bytes")
    check_answers(doc, where, operation, route, body)


def reads_events(name):
    """Whether a statement of the route reads what may be archived, as api/sql/statement.c sees it."""
    files = [ROOT / f"api/sql/queries/{name}{past}.sql" for past in ("", "_at")]
    texts = [file.read_text() for file in files if file.exists()]
    texts += [(ROOT / f"api/sql/queries/parts/{part}.sql").read_text() for text in texts for part in re.findall(r"^-- part: (\w+)$", text, re.M)]
    return any(word in text for text in texts for word in (" event.", " chain.call "))


def check_answers(doc, where, operation, route, body):
    answers = operation["responses"]
    wanted = {"200", "400", "429", "default"} | ({"413", "415"} if body else set())
    if route["kind"] != "LOCAL":
        wanted.add("503")
    keeps = route["kind"] != "STREAM" and route["method"] == "GET" and "no-store" not in route["cache"]
    if keeps:
        wanted.add("304")
    if "ledger" in route["query"].split():
        wanted.add("404")
    if reads_events(route["id"]) or route["kind"] == "STREAM":
        wanted.add("410")
    kyc = route["kind"] in ("KYC", "HOOK")
    if kyc:
        wanted = wanted - ({"200"} if "303" in answers else set()) | {"404"}
    if not wanted <= set(answers) <= wanted | (KYC_ANSWERS if kyc else {"404", "409", "503"}):
        fault(where, f"answers {sorted(answers)}, wanted {sorted(wanted)}")
    success = resolve(doc, answers.get("200") or answers["303"])
    headers = set(success.get("headers", {}))
    for name in {"Request-Id", "Cache-Control"} | ({"ETag"} if keeps else set()) | (
            {"Ledger-Sequence", "Ledger-Closed-At", "Data-Age-Ms", "Network"} if route["kind"] in ("HOT", "SQL") else set()):
        if name not in headers:
            fault(where, f"does not name the header {name}")
    if not operation.get("summary") or not set(operation.get("tags", [])) & {tag["name"] for tag in doc["tags"]}:
        fault(where, "no summary, or no tag of the list")
    for media in success.get("content", {}).values():
        for example in media.get("examples", {}).values():
            if "imulated" not in example.get("summary", ""):
                fault(where, "an example that does not say that it is simulated")


def check_counted(doc):
    """Each status that is told of is counted by its number in /metrics, not among the others."""
    listed = re.search(r"define TIDE_METRIC_STATUSES\(X\)((?:.*\\\n)*.*)", (ROOT / "api/http/server/metrics.h").read_text()).group(1)
    counted = set(re.findall(r"X\((\d+)\)", listed))
    told = {status for item in doc["paths"].values() for operation in item.values() for status in operation["responses"]}
    for status in sorted(told - counted - {"default"}):
        fault("TIDE_METRIC_STATUSES", f"does not list {status}")


def walk(node, where=""):
    yield where, node
    items = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, child in items:
        yield from walk(child, f"{where}/{key}")


def check_schemas(doc):
    for where, node in walk(doc):
        if not isinstance(node, dict):
            continue
        if isinstance(node.get("$ref"), str):
            resolve(doc, node)
        if node.get("type") != "object" or not isinstance(node.get("properties"), dict):
            continue
        for name in node.get("required", []):
            if name not in node["properties"]:
                fault(where, f"{name} is required and not there")
        for name, p in node["properties"].items():
            if not p.get("description") and not resolve(doc, p).get("description") and not p.get("items", {}).get("$ref"):
                fault(where, f"{name} is not described")
    used = {node["$ref"] for _, node in walk(doc) if isinstance(node, dict) and isinstance(node.get("$ref"), str)}
    for kind, group in doc["components"].items():
        for name in group:
            if f"#/components/{kind}/{name}" not in used:
                fault(f"components/{kind}/{name}", "nobody uses it")


def check_examples(doc):
    try:
        import jsonschema
    except ImportError:
        return print("examples are not checked: no python3-jsonschema")
    for path, item in doc["paths"].items():
        for method, operation in item.items():
            for type_, media in operation["responses"].get("200", {}).get("content", {}).items():
                schema = {**media["schema"], "components": doc["components"]}
                jsonschema.Draft202012Validator.check_schema(schema)
                for name, example in media.get("examples", {}).items():
                    for error in jsonschema.Draft202012Validator(schema).iter_errors(example["value"]):
                        fault(f"{method} {path} {name}", f"{error.json_path}: {error.message[:200]}")


def main():
    doc = json.loads((ROOT / "schema/openapi.json").read_text())
    params, seen = parameters(), set()
    for name, kind, *_ in ((p["name"], p["in"]) for p in doc["components"]["parameters"].values()):
        if kind != "header" and name not in params:
            fault(name, "is no parameter of param.def")
    for key, p in doc["components"]["parameters"].items():
        meaning = params.get(p["name"], ("CHOICE",) * 5)
        if p["in"] != "header" and meaning[0] != "CHOICE" and p["description"] != meaning[4]:
            fault(f"components/parameters/{key}", f'says "{p["description"]}", param.def "{meaning[4]}"')
    for route in routes():
        check_route(doc, params, route)
        seen.add((route["path"], route["method"].lower()))
    for path, item in doc["paths"].items():
        for method in item:
            if (path, method) not in seen:
                fault(f"{method} {path}", "is in openapi.json alone")
    check_counted(doc)
    check_schemas(doc)
    check_examples(doc)
    print(*faults, sep="\n")
    if not seen or faults:
        sys.exit(1)
    print(f"{len(seen)} routes")


main()
