"""Compares answers with the OpenAPI document of the build: Contract is for tests of the document, Watch is for
other tests, whose answers are checked on the way."""
import collections
import copy
import http.client
import json
import os
import re
import sys
import types
import urllib.parse

try:
    import jsonschema
except ImportError:
    jsonschema = None

SOURCE = os.environ["TIDE_BUILD"] + "/api/openapi.json"
TIMEOUT = 60


def of_kyc(operation):
    return operation["x-from"].startswith("KYC: ")


def closed(node):
    """The same schema, but that an object has no members that it does not name."""
    if isinstance(node, dict):
        if isinstance(node.get("properties"), dict) and node.get("type") == "object":
            node.setdefault("additionalProperties", False)
        for child in node.values():
            closed(child)
    elif isinstance(node, list):
        for child in node:
            closed(child)
    return node


def chosen_by_kind(schemas):
    """Schemas of which `kind` chooses one of many: only that one is compared. To try each of 68 takes 36 ms for an event."""
    for schema in schemas.values():
        names = [one.get("$ref", "").rsplit("/", 1)[-1] for one in schema.get("oneOf", ())]
        kinds = {name: schemas.get(name, {}).get("properties", {}).get("kind", {}).get("const") for name in names}
        if kinds and all(kinds.values()):
            del schema["oneOf"]
            schema.update(type="object", required=["kind"], properties={"kind": {"enum": list(kinds.values())}},
                          byKind={kind: {"$ref": f"#/components/schemas/{name}"} for name, kind in kinds.items()})


def quick_validator():
    """Compares equal values with a referenced schema once, because lists repeat their items and answers their headers. Knows byKind, too: the
    schema of each kind (chosen_by_kind)."""
    original, good = jsonschema.Draft202012Validator.VALIDATORS["$ref"], set()

    def by_kind(validator, kinds, instance, schema):
        kind = instance.get("kind") if isinstance(instance, dict) else None
        if isinstance(kind, str) and kind in kinds:  # else the schema's enum refuses it
            yield from validator.descend(instance, kinds[kind])

    def reference(validator, ref, instance, schema):
        key = ref, json.dumps(instance)
        if key in good:
            return
        faults = list(original(validator, ref, instance, schema) or ())
        if not faults:
            good.add(key)
        yield from faults

    return jsonschema.validators.extend(jsonschema.Draft202012Validator, {"$ref": reference, "byKind": by_kind})


class Contract:
    def __init__(self, url):
        self.host = urllib.parse.urlsplit(url).netloc
        with open(SOURCE, encoding="utf-8") as file:
            self.text = file.read()
        self.doc = json.loads(self.text)
        self.strict = closed(copy.deepcopy(self.doc["components"]))
        chosen_by_kind(self.strict["schemas"])
        self.kind_of_validator = quick_validator() if jsonschema else None
        self.validators, self.seen, self.items = {}, collections.Counter(), collections.Counter()
        self.faults, self.told = [], set()
        self.connection = http.client.HTTPConnection(self.host, timeout=TIMEOUT)

    def resolve(self, thing):
        while "$ref" in thing:
            at = self.doc
            for part in thing["$ref"].removeprefix("#/").split("/"):
                at = at[part]
            thing = at
        return thing

    def operations(self):
        for path, item in self.doc["paths"].items():
            for method, operation in item.items():
                yield path, method.upper(), operation

    def operation(self, method, path):
        """Of that path, a literal one before one with parameters; None: it is no route."""
        method = {"HEAD": "GET"}.get(method, method).lower()
        for template, item in sorted(self.doc["paths"].items(), key=lambda entry: entry[0].count("{")):
            if method in item and re.fullmatch(re.sub(r"{\w+}", "[^/]+", template), path):
                return item[method]
        return None

    def send(self, method, target, body=None, headers=None):
        for again in (False, True):
            try:
                self.connection.request(method, target, body=body, headers=headers or {})
                response = self.connection.getresponse()
                return response, response.read()
            except (http.client.RemoteDisconnected, ConnectionResetError, BrokenPipeError):
                self.connection.close()  # an idle connection may have been closed meanwhile
                if again:
                    raise

    def fault(self, what, text, key=None):
        """Each kind of fault once."""
        if (key or (what, text)) not in self.told:
            self.faults.append(f"{what}: {text}")
        self.told.add(key or (what, text))

    def validator(self, schema):
        key = json.dumps(schema)
        if key not in self.validators:
            whole = {**closed(copy.deepcopy(schema)), "components": self.strict}
            self.validators[key] = self.kind_of_validator(whole)
        return self.validators[key]

    def misfits(self, schema, value):
        """What of a message or a notification its schema does not promise."""
        return [f"{error.json_path}: {error.message[:300]}" for error in self.validator(schema).iter_errors(value)] if jsonschema else []

    def message_faults(self, kind, identity, data):
        """Of a message of /api/stream."""
        answer = self.doc["paths"]["/api/stream"]["get"]["responses"]["200"]
        schema = self.alternative(answer["content"]["text/event-stream"]["schema"]["contentSchema"], "type", kind)
        if not schema:
            return [f"{kind} is in no contract"]
        of_data = schema["properties"]["data"]
        if kind == "event":  # of all kinds only that one: to try each takes long
            of_data = self.alternative(of_data, "kind", data["kind"])
        return self.misfits({**schema, "properties": {**schema["properties"], "data": of_data or False}}, {"type": kind, "id": identity, "data": data})

    def alternative(self, schema, field, word):
        """The one of several schemas whose field is that word, or None."""
        schema = self.resolve(schema)
        if "oneOf" not in schema:
            return schema if schema["properties"][field].get("const") == word else None
        return next((found for one in schema["oneOf"] if (found := self.alternative(one, field, word))), None)

    def notification_faults(self, body):
        """Of the body of a notification, which says its type."""
        if body.get("type") not in self.doc["webhooks"]:
            return [f"{body.get('type')} is in no contract"]
        return self.misfits(self.doc["webhooks"][body["type"]]["post"]["requestBody"]["content"]["application/json"]["schema"], body)

    def check_headers(self, what, response, described):
        for name, header in described.items():
            header = self.resolve(header)
            value = response.headers.get(name)
            if value is None:
                if header.get("required"):
                    self.fault(what, f"no header {name}")
                continue
            for error in self.validator(header["schema"]).iter_errors(value):
                self.fault(what, f"header {name}: {error.message}", ("header", name))

    def check(self, operation, what, response, body):
        """An answer against what its route promises; gives the body back as it was read."""
        status = str(response.status)
        name = operation["operationId"] if operation else "-"
        answers = operation["responses"] if operation else self.doc["components"]["responses"]
        if status not in answers and not (response.status >= 400 and "default" in answers):
            self.fault(what, f"status {status} is not in the contract: {body[:200]}")
            return None
        self.seen[name, status] += 1
        promised = self.resolve(answers.get(status) or answers["default"])
        self.check_headers(what, response, promised.get("headers", {}))
        if not (operation and of_kyc(operation)) and response.headers.get("Access-Control-Allow-Origin") != "*":
            self.fault(what, "a page of another origin may not read this", "origin")
        content = promised.get("content", {})
        media = response.headers.get("Content-Type", "").split(";")[0]
        if what.startswith("HEAD") or status == "304":
            if body:
                self.fault(what, "a body where there is none")
            return None
        if not content and not body and not media:
            return None
        if media not in content:
            self.fault(what, f"{media}, wanted {list(content)}")
            return None
        if not media.endswith("json"):
            return body
        answer = json.loads(body)
        for error in self.validator(content[media]["schema"]).iter_errors(answer):
            where = re.sub(r"\[\d+\]", "[]", error.json_path)
            self.fault(what, f"{error.json_path}: {error.message[:300]}", (name, status, where, error.validator))
        if media == "application/problem+json":
            if answer["status"] != response.status or answer["requestId"] != response.headers["Request-Id"]:
                self.fault(what, f"status or id is another: {body[:300]}")
            codes = promised["x-codes"] + self.doc["components"]["responses"]["default"]["x-codes"]
            if answer["code"] not in codes:
                self.fault(what, f'the contract has no code {answer["code"]} for {status}')
            if not answer["type"].endswith(":" + answer["code"]):
                self.fault(what, answer["type"])
        elif "Ledger-Sequence" in response.headers and "ledger" in answer and answer["ledger"] != response.headers["Ledger-Sequence"]:
            self.fault(what, f'ledger {answer["ledger"]}, the header says {response.headers["Ledger-Sequence"]}')
        return answer

    def ask(self, operation, method, target, body=None, headers=None, want=None):
        what = f"{method} {target}"
        wanted = want if isinstance(want, tuple) else (want,)
        for _ in range(5):
            response, data = self.send(method, target, body, headers)
            answer = self.check(operation, what, response, data)
            slow = b'"query_too_long"' in data or method == "HEAD" and response.status == 503
            if not want or response.status in wanted or not slow:
                break  # else the machine stood still
        if want and response.status not in wanted:
            self.fault(what, f"{response.status}, wanted {want}: {data[:300]}")
        return response, answer


class Watch:
    """Without python3-jsonschema it looks at nothing."""

    def __init__(self):
        self.contract = Contract("") if jsonschema else None

    def heard(self, method, target, status, headers, body):
        operation = self.contract and self.contract.operation(method, urllib.parse.urlsplit(target).path)
        if operation:
            self.contract.check(operation, f"{method} {target}", types.SimpleNamespace(status=status, headers=headers), body)

    def settle(self):
        if not self.contract:
            return print("no python3-jsonschema: answers were not held against openapi.json")
        for fault in self.contract.faults:
            print(fault)
        if self.contract.faults or not self.contract.seen:
            sys.exit("answers that openapi.json does not promise")
        print(f"{sum(self.contract.seen.values())} answers as openapi.json promises them: {len(self.contract.seen)} of a route and a status")
