"""Hooks of schemathesis (schemathesis.sh): values that a pattern allows and no pattern can describe are replaced.

An address has a checksum, a time is a day of the calendar, a cursor and a session's link are signed by the server.
`sort` cannot be given with `state`. The key of a provider is bounded in bytes, a schema counts characters.
"""
import re

import schemathesis

KNOWN = "G" + "A" * 52 + "WHF"  # 32 bytes of zero
ADDRESS = re.compile(r"[GC][A-Z2-7]{55}")
SIGNED = ("cursor", "s", "after")


def described(name, value):
    """The value, or a valid one of its kind."""
    if not isinstance(value, str):
        return value
    if name in ("from", "to") and "-" in value:
        return "2026-01-02T03:04:05Z"
    if name == "providerKey" and len(value.encode()) > 32:
        return "sumsub"
    return ADDRESS.sub(KNOWN, value)


def all_described(values):
    if not values:
        return values
    kept = {name: described(name, value) for name, value in values.items() if name not in SIGNED or not isinstance(value, str)}
    if "state" in kept:
        kept.pop("sort", None)
    return kept


@schemathesis.hook
def map_query(context, query):
    return all_described(query)


@schemathesis.hook
def map_path_parameters(context, path_parameters):
    return {name: described(name, value) for name, value in path_parameters.items()} if path_parameters else path_parameters
