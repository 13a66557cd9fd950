"""The routes of route.def, and what follows from the kind of a route."""
from dataclasses import dataclass

from def_file import macros

ROUTE_DEF = "api/routes/route.def"
# What answers of a kind are made from ("": the texts say it), and traits. They agree with api/routes/route_table.c.
#   ledger    answers name their ledger           limited  takes tokens of the rate limit
#   public    pages of any origin may read them   absent   404: the object of the route may not exist
#   vary      what an answer is depends on more   busy     503
#             than the target                     archived 410: needs events that may be archived
#   encoded   may be compressed                   page     errors are pages for persons too
KINDS = {
    "HOT": ("the hot cache; with `ledger` PostgreSQL", "ledger public limited busy vary encoded"),
    "SQL": ("PostgreSQL", "ledger public limited busy vary encoded"),
    "LOCAL": ("the process itself", "public limited"),
    "STREAM": ("the stream service", "public limited busy archived"),
    "KYC": ("", "limited absent busy vary"),
    "PAGE": ("", "limited absent busy page"),
    "HOOK": ("", "absent busy"),
}
# Kinds whose keys need a right.
KINDS |= {"SNAPSHOT": KINDS["HOT"], "SESSION": KINDS["KYC"], "WEBHOOK": KINDS["KYC"]}
# The headers of a success, and the common answers, by the trait from which they follow.
HEADERS = (
    ("any", "Request-Id Cache-Control"),
    ("ledger", "Ledger-Sequence Ledger-Closed-At Proven-Through History-From Data-Age-Ms Network"),
    ("etag", "ETag"),
    ("limited", "RateLimit RateLimit-Policy"),
    ("public", "Access-Control-Allow-Origin"),
    ("vary", "Vary"),
    ("encoded", "Content-Encoding"),
)
STATUSES = {304: "etag", 400: "any", 404: "absent", 406: "form", 410: "archived", 413: "body", 415: "body", 429: "any", 503: "busy"}


@dataclass
class Operation:
    id: str
    method: str
    path: str
    kind: str
    cost: int
    body_max: int
    cache_control: str
    query: list  # "name", or "name!" if it must be given
    form: tuple = None  # (media type, cost) of the second form of answers
    traits: set = None


def traits_of(operation, queries):
    """The traits of the kind, of the route itself and of its query."""
    now, past = queries.get(operation.id, set()), queries.get(operation.id + "_at", set())
    own = {
        "any": True,
        "pages": "cursor" in operation.query,
        "etag": operation.method == "GET" and "no-store" not in operation.cache_control,
        "form": operation.form,
        "body": operation.body_max > 0,
        "absent": "ledger" in operation.query or "one" in now,
        "archived": "events" in now | past,
    }
    return {trait for trait, has in own.items() if has}.union(KINDS[operation.kind][1].split())


def read_operations(queries):
    """All routes in the order of route.def."""
    forms, found = {}, []
    for macro, arguments in macros(ROUTE_DEF):
        if macro == "TIDE_FORM":
            param, media, cost = arguments
            forms[param] = (media, int(cost))
            continue
        if macro == "TIDE_QUERY":
            name, path, cost, cache_control, query = arguments
            arguments = name, "GET", path, "SQL", cost, 0, cache_control, query, ""
        name, method, path, kind, cost, body_max, cache_control, query, _ = arguments
        operation = Operation(name, method, path, kind, int(cost), int(body_max), cache_control, query.split())
        operation.form = next((forms[param] for param in operation.query if param in forms), None)
        operation.traits = traits_of(operation, queries)
        found.append(operation)
    return found
