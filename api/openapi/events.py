"""Schemas of events, from the catalogue: what chain.event_fields writes."""
from event_fields import CATALOGUE, camel
from texts import Reader, fail

TYPES = {"BOOL": "boolean", "SYM": "string{0,32}/^[A-Za-z0-9_]*$/", "ADDR": "Address", "TEXT": "string", "ANY": "json", "MUXED": "json",
         "TYPE": '"u64|string|bytes|void"'}


def number_type(column):
    """The type of a whole number, by the end of the name that answers give it, or else by the contract's type."""
    for ending in ("Bps", "Millionths", "Ledger"):
        if column.name.endswith(ending):
            return ending
    if column.type == "U32":
        return "U64" if column.name.endswith("Id") else "Count"
    return column.type


def type_of(column):
    if column.unit:
        # A token's decimals may not be known.
        return "Amount" + "?" * column.optional + ("+" if column.unit == "PRICE" else "+?")
    if column.type in ("U32", "U64", "I128"):
        kind = number_type(column)
    else:
        kind = TYPES.get(column.type) or fail(CATALOGUE, f"api/openapi/events.py has no notation for the type {column.type} of {column.name}")
    return kind + "?" * (column.optional and kind != "json")


def schema_name(kind, end):
    return camel("_" + kind.name) + end


def schema_texts(kind):
    yield f"schema: {schema_name(kind, 'Fields')}  object  What `{kind.name}` says"
    for column in kind.columns.values():
        if not column.hidden:
            yield f"  {column.name}  {type_of(column)}  {column.doc}"
    yield f"schema: {schema_name(kind, 'Event')}  object  {kind.doc}"
    yield f'  kind  "{kind.name}"  contract and name'
    yield "  ...EventPlace"
    yield f"  fields  {schema_name(kind, 'Fields')}?  what the event says; null: its kind is not indexed"


def read_events(texts, all_kinds):
    """Adds two schemas of each kind, and those that list all of them."""
    names = ["|".join(schema_name(kind, end) for kind in all_kinds) for end in ("Fields", "Event")]
    lines = [line for kind in all_kinds for line in schema_texts(kind)]
    lines.append('schema: EventKind  "' + "|".join(kind.name for kind in all_kinds) + '"  contract and name of an event')
    lines.append(f"schema: EventFields  any({names[0]})  what an event of one kind says. A field has the name that answers give it elsewhere "
                 "(`market`, `pool`, `partnerId`), or else the contract's own word")
    lines.append(f"schema: Event  {names[1]}  an event of the protocol; `kind` says which")
    Reader(texts, CATALOGUE).read("\n".join(lines))
