"""How a column of PostgreSQL becomes a column of the lake, exactly.

A numeric is DECIMAL(38, scale). A value that does not fit is null there, and its exact text is in the
column `<name>_text`, which is null otherwise. Nothing is a floating-point number.
"""
import re
from dataclasses import dataclass

from pyiceberg.types import (BooleanType, DateType, DecimalType, IcebergType, IntegerType, ListType, LongType,
                             StringType, TimestamptzType)

DIGITS = 38

# The lake leaves out columns that may contain a person's jurisdiction: its own, and the answers and bytes of calls.
PRIVATE = re.compile(r"jurisdiction|_xdr$|^xdr$|^answer$")

# Columns that order rows within a ledger, and their names in the lake: views and events' own tables have the same there.
ORDERS = {"tx": "tx_order", "op": "op_order", "event": "event_order"}

PLAIN: dict[str, tuple[str, IcebergType]] = {
    "smallint": ("{}::integer", IntegerType()),
    "integer": ("{}", IntegerType()),
    "bigint": ("{}", LongType()),
    "boolean": ("{}", BooleanType()),
    "date": ("{}", DateType()),
    "text": ("{}", StringType()),
    "json": ("{}::text", StringType()),
    "jsonb": ("{}::text", StringType()),
    "timestamp with time zone": ("CASE WHEN isfinite({0}) THEN {0} END", TimestamptzType()),
}


@dataclass(frozen=True)
class Column:
    """A column of the lake: its name, the SQL expression that selects it, its Iceberg type."""
    name: str
    sql: str
    type: IcebergType


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def is_private(name: str) -> bool:
    return bool(PRIVATE.search(name))


def numeric(name: str, precision: int, scale: int) -> list[Column]:
    own, kind = quoted(name), DecimalType(DIGITS, scale)
    if precision <= DIGITS:
        return [Column(name, f"round({own}, {scale})::text", kind)]
    fits = f"abs({own}) < '1e{DIGITS - scale}'::numeric AND {own} = round({own}, {scale})"
    return [Column(name, f"CASE WHEN {fits} THEN round({own}, {scale})::text END", kind),
            Column(f"{name}_text", f"CASE WHEN NOT ({fits}) THEN {own}::text END", StringType())]


def columns_of(schema: str, relation: str, name: str, declared: str) -> list[Column]:
    """The lake's columns for one of the database. declared: its type as PostgreSQL's format_type writes it."""
    if declared == "text[]":
        return [Column(name, quoted(name), ListType(1, StringType(), element_required=False))]
    if declared in PLAIN:
        sql, kind = PLAIN[declared]
        return [Column(ORDERS.get(name, name), sql.format(quoted(name)), kind)]
    found = re.fullmatch(r"numeric\((\d+),(\d+)\)", declared)
    if not found:
        raise TypeError(f"{schema}.{relation}.{name} has the type {declared}, which the lake does not know: add it to tools/lake/columns.py")
    return numeric(name, int(found[1]), int(found[2]))
