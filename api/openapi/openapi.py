#!/usr/bin/env python3
"""openapi.py OUT VERSION FILE…: writes the OpenAPI document that the files describe. Parts of queries precede the queries."""
import json
import pathlib
import re
import sys

sys.path.insert(1, str(pathlib.Path(__file__).resolve().parents[2] / "schema"))  # def_file
from event_fields import kinds
from events import read_events
from operations import HEADERS, KINDS, ROUTE_DEF, STATUSES, read_operations
from params import Params
from schemas import Schemas, reference
from texts import Mistake, Texts, fail, read_file

COMMON_API = "api/openapi/common.api"
# The headers of the Standard Webhooks specification, which each notification has.
WEBHOOK_HEADERS = (
    ("webhook-id", "the same however often it comes, and whatever was restored: keep the ids that you handled", "^evt_[0-9a-f]{32}$"),
    ("webhook-timestamp", "unix seconds of this attempt", "^[0-9]{1,12}$"),
    ("webhook-signature", "HMAC-SHA256 of id, timestamp and body with each secret in use",
     "^v1,[A-Za-z0-9+/]{43}=( v1,[A-Za-z0-9+/]{43}=)*$"),
)
WEBHOOK_ANSWERS = {"2XX": "taken", "410": "disable this webhook", "default": "send it again later"}


class Document:
    def __init__(self, texts, version):
        self.texts, self.version = texts, version
        self.schemas, self.params = Schemas(texts), Params()
        self.kinds = kinds()
        read_events(texts, self.kinds)
        self.operations = {operation.id: operation for operation in read_operations(texts.queries)}
        self.used_groups, self.used_responses = set(), set()

    # --- answers

    def headers(self, names):
        for name in names.split():
            if name not in self.texts.headers:
                fail(COMMON_API, f"there is no header: line for {name}")
        return {name: reference("headers", name) for name in names.split()}

    def success_headers(self, operation, route):
        found = self.headers(" ".join(names for trait, names in HEADERS if trait in operation.traits))
        if operation.form and "ETag" in found:
            found["ETag"] = {"description": "of the JSON answer; a receipt has none", "required": False, "schema": {"type": "string"}}
        return {**found, **self.headers(route.texts["headers"])}

    def route_of(self, schema):
        """(answers name their ledger, answers are pages) of the route whose answer the schema is."""
        operation = self.operations.get(schema.answer_of)
        return [bool(operation) and trait in operation.traits for trait in ("ledger", "pages")]

    def media(self, schema, at, example=True):
        out = {"schema": self.schemas.type(schema.name if schema else "object", at)}
        value = self.schemas.example(schema, *self.route_of(schema)) if schema and example else None
        if value is not None:
            out["examples"] = {"simulated": {"summary": "Simulated data", "value": value}}
        return out

    def text_media(self, media, items=""):
        """A text; of a stream, items is the schema of each message. OpenAPI has a keyword of its own for it from 3.2 on."""
        stream = {"contentMediaType": media, "contentSchema": self.schemas.type(items, ROUTE_DEF)} if items else {}
        return {media: {"schema": {"type": "string", **stream}}}

    def content(self, operation, route, answer):
        if "/" in answer.what:
            out = self.text_media(answer.what, answer.items)
        else:
            out = {"application/json": self.media(self.texts.schema(answer.what, route.at), route.at, answer.status < 400)}
        return {**out, **self.text_media(operation.form[0])} if operation.form and answer.status == 200 else out

    def own_answer(self, operation, route, answer):
        """An answer of the route's texts. Its headers are those of a success, or of the common response with that status."""
        out = {"description": answer.text or "the answer"}
        if answer.what != "none":
            out["content"] = self.content(operation, route, answer)
        error = self.texts.responses.get(str(answer.status))
        return {**out, "headers": self.headers(error.headers) if error else self.success_headers(operation, route)}

    def common_answer(self, operation, status):
        """The common response with that status; pages have responses of their own."""
        page = f"page.{status}"
        name = page if "page" in operation.traits and page in self.texts.responses else status
        if name not in self.texts.responses:
            fail(COMMON_API, f"there is no response {status}, which {operation.id} gives")
        self.used_responses.add(name)
        return reference("responses", name)

    def answers(self, operation, route):
        """All answers in order of status: its own ones, and the common ones that it can give."""
        own = {answer.status: answer for answer in route.answers}
        given = {status for status, trait in STATUSES.items() if trait in operation.traits}
        given |= {int(status) for status in route.texts["also"].split()}
        out = {}
        for status in sorted(given | own.keys()):
            out[str(status)] = self.own_answer(operation, route, own[status]) if status in own else self.common_answer(operation, str(status))
        return {**out, "default": self.common_answer(operation, "default")}

    # --- routes

    def own_param(self, param, place):
        if not param.text:
            fail(param.at, f"the parameter {param.name} has no text")
        return {"name": param.name, "in": place, "required": not param.optional, "description": param.text,
                "schema": self.schemas.type(param.type, param.at)}

    def parameters(self, operation, route):
        at = f"{ROUTE_DEF}: route {operation.id}"
        out = [self.params.refer(name, "path", at) for name in re.findall(r"{(\w+)}", operation.path)]
        for word in operation.query:
            name = word.removesuffix("!")
            if route.query and route.query.name == name:
                out.append(self.own_param(route.query, "query"))
            elif name != "*":
                out.append(self.params.refer(name, "query" if name == word else "required", at))
        return out + [self.own_param(header, "header") for header in route.headers]

    def body(self, operation, route):
        """The request's body. Texts and route.def agree whether there is one."""
        if bool(route.body) != (operation.body_max > 0):
            fail(route.at, f"route.def gives {operation.id} a body of {operation.body_max} bytes, but its texts do not match")
        schema = None if route.body == "object" else self.texts.schema(route.body, route.at)
        text = {"description": route.body_text} if route.body_text else {}
        return {"required": True, **text, "content": {route.body_media: self.media(schema, route.at)}, "x-max-bytes": operation.body_max}

    def tags(self, route):
        tag = route.texts["tag"]
        if tag not in self.texts.groups:
            fail(route.at, f'common.api has no group "{tag}"')
        self.used_groups.add(tag)
        return [tag]

    def route(self, operation):
        route = self.texts.routes.get(operation.id) or fail(
            ROUTE_DEF, f"route {operation.id} has no texts: write them into the head of api/sql/queries/*/{operation.id}.sql,"
            " or into the .api file beside its handler")
        texts = route.texts
        source = texts["from"] or KINDS[operation.kind][0]
        if not (texts["tag"] and texts["summary"] and texts["about"] and route.answers):
            fail(route.at, f"route {operation.id} needs tag:, summary:, about: and answer:")
        if not source:
            fail(route.at, f"route {operation.id} needs from:, what it is answered from")
        out = {"operationId": operation.id, "tags": self.tags(route), "summary": texts["summary"], "description": texts["about"],
               "x-from": source, "x-cost": operation.cost}
        if operation.form:
            out["x-cost-receipt"] = operation.cost + operation.form[1]
        out["parameters"] = self.parameters(operation, route)
        if route.body or operation.body_max:
            out["requestBody"] = self.body(operation, route)
        return {**out, "responses": self.answers(operation, route)}

    def paths(self):
        out = {}
        for path in dict.fromkeys(operation.path for operation in self.operations.values()):
            out[path] = {one.method.lower(): self.route(one) for one in self.operations.values() if one.path == path}
        for route in self.texts.routes.values():
            if route.id not in self.operations and not route.webhook:
                fail(route.at, f"route.def has no route {route.id}")
        return out

    def webhook(self, route):
        texts = route.texts
        schema = self.texts.schemas.get(route.body)
        if not (texts["tag"] and texts["summary"] and schema):
            fail(route.at, "a notification needs tag:, summary: and the schema of its body:")
        parameters = [{"name": name, "in": "header", "required": True, "description": text, "schema": {"type": "string", "pattern": pattern}}
                      for name, text, pattern in WEBHOOK_HEADERS]
        return {"post": {
            "operationId": "on_" + route.id.replace(".", "_"),
            "tags": self.tags(route),
            "summary": texts["summary"],
            "description": texts["about"] or texts["summary"],
            "parameters": parameters,
            "requestBody": {"required": True, "content": {"application/json": self.media(schema, route.at)}},
            "responses": {status: {"description": text} for status, text in WEBHOOK_ANSWERS.items()},
        }}

    # --- components

    def header_components(self):
        return {header.name: {"description": header.text, "required": not header.optional, "schema": self.schemas.type(header.type, header.at)}
                for header in self.texts.headers.values()}

    def response(self, name, response):
        """A common response. 'page.404' is a page, or a problem with the codes of 404."""
        status = name.removeprefix("page.")
        codes = self.texts.responses[status].codes.split() if status in self.texts.responses else fail(COMMON_API, f"there is no response {status}")
        out = {"description": response.text}
        if codes:
            out["x-codes"] = codes
        out["headers"] = self.headers(response.headers)
        if codes:
            page = self.text_media("text/html") if name != status else {}
            out["content"] = {**page, "application/problem+json": self.media(self.texts.schema("Problem", COMMON_API), COMMON_API, False)}
        if name not in self.used_responses:
            fail(COMMON_API, f"no route gives the response {name}")
        return out

    def schema_components(self):
        """The schemas that something names, and those that they name."""
        out, more = {}, True
        while more:
            more = False
            for name, schema in self.texts.schemas.items():
                if name in self.schemas.used and name not in out:
                    out[name], more = self.schemas.schema(schema, *self.route_of(schema)), True
        for name, schema in self.texts.schemas.items():
            if name not in self.schemas.used | self.schemas.included:
                fail(schema.at, f"nothing uses the schema {name}")
        return out

    # --- the document

    def head(self):
        return {
            "openapi": "3.1.0",
            "info": {"title": self.texts.title, "version": self.version, "description": self.texts.text,
                     "contact": {"name": "the operator of this server"}, "license": {"name": "MIT", "identifier": "MIT"}},
            "servers": [{"url": "/", "description": "this one"}],
            "security": [],
            "tags": [{"name": name, "description": text} for name, text in self.texts.groups.items()],
        }

    def text(self):
        """The document: a line for each path, and for each schema. What names components is made before them."""
        paths = self.paths()
        webhooks = {route.id: self.webhook(route) for route in self.texts.routes.values() if route.webhook}
        components = {"parameters": self.params.components([kind.name for kind in self.kinds]), "headers": self.header_components(),
                      "responses": {name: self.response(name, response) for name, response in self.texts.responses.items()}}
        schemas = self.schema_components()
        for name in sorted(self.texts.groups.keys() - self.used_groups):
            fail(COMMON_API, f"no route is of the group {name}")
        return (f'{write(self.head())[:-1]},"paths":{write_lines(paths)},"webhooks":{write(webhooks)}\n,'
                f'"components":{write(components)[:-1]},"schemas":{write_lines(schemas)}}}}}\n')


def write(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def write_lines(members):
    return "{" + ",".join(f"{write(name)}:{write(value)}\n" for name, value in members.items()) + "}"


def document(version, files):
    texts = Texts()
    for file in files:
        read_file(texts, file)
    return Document(texts, version).text()


def main():
    if len(sys.argv) < 4:
        sys.exit("usage: openapi.py OUT VERSION FILE...")
    try:
        text = document(sys.argv[2], sys.argv[3:])
    except Mistake as mistake:
        sys.exit(str(mistake))
    with open(sys.argv[1], "w", encoding="utf-8") as out:
        out.write(text)


if __name__ == "__main__":
    main()
