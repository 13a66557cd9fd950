"""The notation of types as JSON Schema, and examples of answers."""
import json
import re
from itertools import takewhile

from texts import Named, fail

# Amount?+ is the base Amount, nullable, with a scaled companion; of Amount+? only the companion is nullable.
TYPE = re.compile(r"""(?P<base>"[^"]*"|[^{/\[?+"]+)
    ({(?P<min>\d+),(?P<max>\d+)})? (/(?P<pattern>.+)/)? (?P<list>\[(<=(?P<most>\d+))?\])? (?P<null>\?)? (?P<amount>\+(?P<unknown>\?)?)?""", re.X)
FORMATS = {"date": "string", "date-time": "string"}
PRIMITIVES = ("string", "integer", "boolean", "null")
# The ledger of all examples.
ENVELOPE = {"ledger": "1535", "closedAt": "2026-01-31T07:24:04Z"}


def parse(text, at):
    return TYPE.fullmatch(text) or fail(at, f"no type: {text!r}")


def or_null(name, nullable):
    return [name, "null"] if nullable else name


def reference(group, name):
    return {"$ref": f"#/components/{group}/{name}"}


def words(text, nullable):
    """The words of "a|b" as an enum; a single one that is not nullable as a constant."""
    found = text.strip('"').split("|")
    if len(found) == 1 and not nullable:
        return {"type": "string", "const": found[0]}
    return {"type": or_null("string", nullable), "enum": found + [None] * bool(nullable)}


def primitive(type_, nullable, at):
    name = FORMATS.get(type_["base"], type_["base"])
    if name not in PRIMITIVES:
        fail(at, f"there is no type {type_['base']}")
    out = {"type": or_null(name, nullable)}
    if type_["base"] in FORMATS:
        out["format"] = type_["base"]
    least, most = ("minLength", "maxLength") if name == "string" else ("minimum", "maximum")
    if type_["min"] and (name != "string" or int(type_["min"])):
        out[least] = int(type_["min"])
    if type_["max"]:
        out[most] = int(type_["max"])
    if type_["pattern"]:
        out["pattern"] = type_["pattern"]
    return out


class Schemas:
    """Writes types, and remembers which schemas they named."""

    def __init__(self, texts):
        self.texts = texts
        self.used, self.included = set(), set()

    def refer(self, name, at):
        self.used.add(self.texts.schema(name, at).name)
        return reference("schemas", name)

    def named(self, base, nullable, at):
        """References to schemas: Pool, Pool?, Standing|BadAddress, any(PoolFields|VaultFields)."""
        overlap = re.fullmatch(r"any\((.+)\)", base)
        found = [self.refer(name, at) for name in (overlap[1] if overlap else base).split("|")]
        if len(found) == 1 and not nullable:
            return found[0]
        return {"oneOf" if len(found) > 1 and not overlap else "anyOf": found + [{"type": "null"}] * bool(nullable)}

    def members(self, fields):
        """The fields of an object with those inside each, by name; a later one replaces that of an included schema."""
        found, column = {}, fields[0].depth if fields else 0
        while fields:
            field = fields[0]
            if field.depth > column:
                fail(field.at, "fields of one object begin in one column")
            inner = list(takewhile(lambda one: one.depth > field.depth, fields[1:]))
            fields = fields[1 + len(inner):]
            if field.name.startswith("..."):
                included = self.texts.schema(field.name[3:], field.at)
                self.included.add(included.name)
                found.update(self.members(included.fields))
            else:
                found[field.name] = (field, inner)
        return found

    def property(self, field, inner):
        """The schemas of a field, and of the scaled companion of an amount."""
        type_ = parse(field.type, field.at)
        of = self.texts.schemas.get(type_["base"])
        if not field.text and not (type_["list"] and type_["base"][0].isupper()) and not (of and of.text):
            fail(field.at, f"the field {field.name} has no text")
        yield field.name, self.inner(type_, inner, field.text, field.at)
        if type_["amount"]:
            scaled = "Scaled" + "?" * bool(type_["null"] or type_["unknown"])
            text = f"`{field.name}` with its decimals applied" + "; null where they are not known" * bool(type_["unknown"])
            yield f"{field.name}Scaled", self.type(scaled, field.at, text)

    def object(self, base, nullable, fields):
        """object, object* (other members allowed) or object! (none allowed)."""
        out = {"type": or_null("object", nullable)}
        if fields:
            members = self.members(fields).values()
            properties = [(field, dict(self.property(field, inner))) for field, inner in members]
            out["required"] = [name for field, found in properties if not field.optional for name in found]
            out["properties"] = {name: schema for _, found in properties for name, schema in found.items()}
        if base != "object":
            out["additionalProperties"] = base == "object*"
        return out

    def base(self, type_, nullable, fields, at):
        base = type_["base"]
        if base in ("object", "object*", "object!"):
            return self.object(base, nullable, fields)
        if fields:
            fail(at, "only an object has fields of its own")
        if base == "json":
            return {}  # any value
        if base.startswith('"'):
            return words(base, nullable)
        if base[0].isupper() or base.startswith("any("):
            return self.named(base, nullable, at)
        return primitive(type_, nullable, at)

    def inner(self, type_, fields, text, at):
        if type_["list"]:
            out = {"type": or_null("array", type_["null"]), "items": self.base(type_, False, fields, at)}
            if type_["most"]:
                out["maxItems"] = int(type_["most"])
        else:
            out = self.base(type_, type_["null"], fields, at)
        return {**out, "description": text} if text else out

    def type(self, text, at, description=""):
        return self.inner(parse(text, at), [], description, at)

    def schema(self, schema, envelope, pages):
        """A schema with the fields that the kind of its route adds."""
        depth = schema.fields[0].depth if schema.fields else 2

        def added(name, kind, text=""):
            return Named(name, kind, text, schema.at, depth)

        before = [added("ledger", "Ledger", "the answer is true at its close"), added("closedAt", "Time", "when that ledger closed")]
        behind = [added("items", f"{schema.items}[]")] * bool(schema.items) + [added("next", "Next")] * pages
        return self.inner(parse(schema.type, schema.at), before * envelope + schema.fields + behind, schema.text, schema.at)

    # --- examples

    def own_example(self, schema):
        """The schema's own example over those of the schemas that it includes; None: there is none."""
        column = schema.fields[0].depth if schema.fields else 0
        included = [self.texts.schema(field.name[3:], field.at) for field in schema.fields if field.name.startswith("...") and field.depth <= column]
        parts = [part for part in map(self.own_example, included) if part]
        if schema.example:
            try:
                parts.append(json.loads(schema.example))
            except ValueError as fault:
                fail(schema.at, f"the example of {schema.name}: {fault}")
        return {name: value for part in parts for name, value in part.items()} if parts else None

    def example(self, schema, envelope, pages):
        """The example of an answer, or None."""
        own, of = self.own_example(schema), self.texts.schemas.get(schema.items)
        item = self.own_example(of) if of else None
        if (item if schema.items else own) is None:
            return None
        value = {**(ENVELOPE if envelope else {}), **(own or {})}
        if schema.items:
            value["items"] = [item]
        return {**value, "next": None} if pages else value
