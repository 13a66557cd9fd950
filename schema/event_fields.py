#!/usr/bin/env python3
"""event_fields.py OUT: writes the SQL of chain.event_fields, which shows an event's fields as answers write them, into a C text. The
OpenAPI document (api/openapi/) reads kinds of events here too, so both have the same names."""
import pathlib
import re
import sys
from dataclasses import dataclass, field

from def_file import macros
from statements import quote

CATALOGUE = "schema/catalogue/all.def"


def one(which, function):
    return f"(SELECT {which} FROM chain.{function} AS d)"


def pool(which):
    return one(which, "pool_decimals($2, e.contract, e.pool_id, $7)")


# What an amount of event e counts, and the decimals of that as of ledger $7.
UNITS = {
    "ITSELF": one("d.decimals", "decimals_at($2, e.contract, $7)"),  # the token that emitted the event
    "PRICE": "7",  # prices of the oracle
    "TOKEN": one("d.decimals", "decimals_at($2, e.token, $7)"),
    "COLLATERAL_TOKEN": one("d.decimals", "decimals_at($2, e.collateral_token, $7)"),
    "POOL_A": pool("d.a"),  # the pool's first token
    "POOL_B": pool("d.b"),
    "SOLD": pool("CASE WHEN e.a_to_b THEN d.a ELSE d.b END"),
    "BOUGHT": pool("CASE WHEN e.a_to_b THEN d.b ELSE d.a END"),
    "MARKET": one("d.decimals", "market_decimals($2, e.contract, e.synth_asset, $7)"),  # the market's synthetic token
    "VAULT": one("d.decimals", "vault_decimals($2, e.contract_key, e.synth_asset_key, e.owner_key, e.ledger, e.tx, $7)"),  # its collateral
    "QUOTE": one("d.decimals", "quote_decimals($2, $7)"),  # USDC
    "COLLATERAL": one("d.decimals", "collateral_decimals($2, $7)"),  # all tokens that the engine takes as collateral
    "CUT": one("d.decimals", "cut_decimals($2, e.ledger, e.tx, e.op, e.event, $7)"),  # the fee that a partner's cut was taken from
}


@dataclass
class Column:
    name: str  # in answers
    type: str
    doc: str
    optional: bool = False
    unit: str = ""  # of an amount: a key of UNITS
    hidden: bool = False


@dataclass
class Kind:
    name: str
    doc: str
    columns: dict = field(default_factory=dict)


def camel(name):
    return re.sub("_(.)", lambda match: match[1].upper(), name)


def apply_line(kind, macro, arguments):
    name = arguments[0]
    if macro == "TIDE_DATA_TYPED":
        kind.columns[name] = Column(camel(name), "MUXED", arguments[1])
        kind.columns[name + "_type"] = Column(camel(name + "_type"), "TYPE", "u64, string or bytes; void: written without a value", True)
    elif macro in ("TIDE_TOPIC", "TIDE_TOPIC_OPT", "TIDE_DATA", "TIDE_DATA_OPT"):
        _, kind_of, doc = arguments
        kind.columns[name] = Column(camel(name), kind_of, doc, macro.endswith("_OPT"), "ITSELF" if kind_of == "AMOUNT" else "")
    elif macro == "TIDE_HIDDEN":
        kind.columns[name].hidden = True
    elif macro == "TIDE_NAMED":
        kind.columns[name].name = camel(arguments[1])
    elif macro == "TIDE_UNIT":
        assert kind.columns[name].unit and arguments[1] in UNITS, f"{kind.name}: UNIT of {name}"
        kind.columns[name].unit = arguments[1]


def kinds():
    """All kinds of events in the order of the catalogue."""
    found, kind = [], None
    for macro, arguments in macros(CATALOGUE):
        if macro == "TIDE_EVENT":
            role, name, _, doc = arguments
            kind = Kind(f"{role}_{name}", doc)
            found.append(kind)
        elif macro in ("TIDE_ENTRY", "TIDE_INSTANCE"):
            kind = None
        elif kind:
            apply_line(kind, macro, arguments)
    return found


# --- chain.event_fields ------------------------------------------------------------------------------------------------------------


def is_string(column):
    """Whether answers write the number as a string: it may exceed 2^53, or is an id or a ledger."""
    return column.type in ("U64", "I128", "AMOUNT") or column.type == "U32" and column.name.endswith(("Id", "Ledger"))


def field_sql(name, column):
    scaled = f', analyst.scaled(e.{name}, u.{name})::text AS "{column.name}Scaled"' if column.unit else ""
    return f'\n          e.{name}{"::text" if is_string(column) else ""} AS "{column.name}"{scaled}'


def case_sql(kind):
    """u has the decimals of the event's amounts, by column. OFFSET 0: each is looked up once."""
    units = ",".join(f"\n          {UNITS[column.unit]} AS {name}" for name, column in kind.columns.items() if column.unit)
    fields = ",".join(field_sql(name, column) for name, column in kind.columns.items() if not column.hidden)
    return (f"      WHEN '{kind.name}' THEN\n        SELECT row_to_json(x) INTO f FROM event.{kind.name} AS e"
            + (f", LATERAL (SELECT{units} OFFSET 0) AS u" if units else "") + f", LATERAL (SELECT{fields}) AS x\n"
            "          WHERE e.deployment = $2 AND (e.ledger, e.tx, e.op, e.event) = ($3, $4, $5, $6);\n")


FUNCTION = """
-- The columns of the kind's table in their order, as answers write them, each amount followed by its
-- scaled value, by the decimals as of a ledger (at; 2147483647: now). Reads one row by its key with a plan
-- made once per session.
CREATE FUNCTION chain.event_fields(kind text, deployment smallint, ledger integer, tx integer, op integer, event integer, at integer)
  RETURNS json
  LANGUAGE plpgsql STABLE PARALLEL SAFE
  SET plan_cache_mode = force_generic_plan
  SET enable_seqscan = off
AS $$
DECLARE
  f json;
BEGIN
    CASE $1
{cases}      ELSE
        f := NULL;
    END CASE;
    RETURN f;
END $$;
COMMENT ON FUNCTION chain.event_fields(text, smallint, integer, integer, integer, integer, integer) IS \
'the fields of an event of that kind, as answers write them';
"""


def main(out):
    sql = FUNCTION.replace("{cases}", "".join(map(case_sql, kinds())))
    head = '#include "schema/catalogue/catalogue_impl.h"\n\n#pragma GCC diagnostic ignored "-Woverlength-strings"\n\n'
    pathlib.Path(out).write_text(f"{head}const char tide_event_fields_sql[] =\n    {quote(sql)};\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
