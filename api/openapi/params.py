"""Parameters of routes, as param.def lists them."""
import json
from dataclasses import dataclass

from def_file import macros
from schemas import reference
from texts import fail

PARAM_DEF = "api/http/param.def"
# The uses of a parameter, and its component for each: NAME stands for the parameter.
USES = {"path": "path.NAME", "query": "NAME", "required": "NAME.required"}

# Dates and times of RFC 3339 that the API takes, whatever their zone: days of the calendar of 1971 to 2105, and of 1970 unless the zone
# is east of Greenwich, where the year begins before 1970. A date alone has the zone UTC.
MONTHS = "((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-8]))"
YEARS = "(197[1-9]|19[89][0-9]|20[0-9]{2}|210[0-5])"
LEAP_YEARS = "(19(7[26]|8[048]|9[26])|20([02468][048]|[13579][26])|2104)"
CLOCK = "[Tt]([01][0-9]|2[0-3]):[0-5][0-9]:([0-5][0-9]|60)([.][0-9]{1,9})?"
OFFSET = "([01][0-9]|2[0-3]):[0-5][0-9]"
DATE_TIME = f"({YEARS}-{MONTHS}|{LEAP_YEARS}-02-29)({CLOCK}([Zz]|[-+]{OFFSET}))?|1970-{MONTHS}({CLOCK}([Zz]|-{OFFSET}))?"
SECONDS = "[0-3]?[0-9]{1,9}|4[01][0-9]{8}|42[0-8][0-9]{7}|429[0-3][0-9]{6}"

# Each value that matches is accepted, except that an address also has a checksum, a cursor is one that the server made, and a key is the
# XDR of a LedgerKey. The bounds of a TEXT are bytes, so its characters are ASCII here.
PATTERNS = {
    "AMOUNT": "^(0|[1-9][0-9]{0,37})$",
    "EVENT": "^[0-8][0-9]{18}-[01][0-9]{9}$",
    "ADDRESS": "^[GC][A-D][A-Z2-7]{54}$",  # the second character holds the last bits of the address's kind, which are 0
    "SYMBOL": "^[A-Za-z0-9_]{1,32}$",
    "HASH": "^[0-9a-fA-F]{64}$",
    "TEXT": "^[ -~]*$",
    "TIME": f"^({SECONDS}|{DATE_TIME})$",
    "CURSOR": "^[A-Za-z0-9_-]*$",
    "KEY": "^[A-Za-z0-9_-]*$",
}
TYPES = {"U64": "integer", "BOOL": "boolean"}
# These say what no pattern can: that an address has a checksum, and that a key is XDR.
ADDRESS = {"format": "stellar-address", "pattern": PATTERNS["ADDRESS"]}
KEY = {"pattern": PATTERNS["KEY"], "format": "stellar-ledger-key"}


@dataclass
class Param:
    name: str
    type: str
    min: int
    max: int
    default: str
    words: str
    help: str
    example: str

    def value(self, text):
        return json.loads(text) if self.type in TYPES else text

    def bounds(self):
        if self.type == "U64":
            return {"minimum": self.min, "maximum": self.max}
        return {"minLength": self.min, "maxLength": self.max}

    def form(self, kinds):
        """What a value looks like; "%" in the pattern of a TEXT stands for the kinds of events."""
        if self.type == "TEXT" and self.words:
            return {"pattern": self.words.replace("%", "|".join(kinds))}
        other = {"CHOICE": {"enum": self.words.split("|")}, "KIND": {"enum": kinds}, "ADDRESS": ADDRESS, "KEY": KEY,
                 "TOKEN": {"anyOf": [ADDRESS, {**self.bounds(), "pattern": PATTERNS["TEXT"]}]}}
        return other.get(self.type) or ({"pattern": PATTERNS[self.type]} if self.type in PATTERNS else {})

    def schema(self, kinds):
        bounds = self.bounds() if self.type in ("U64", "TEXT", "CURSOR", "KEY") else {}
        default = {"default": self.value(self.default)} if self.default else {}
        return {"type": TYPES.get(self.type, "string"), **bounds, **self.form(kinds), **default}

    def component(self, use, kinds):
        if not self.help:
            fail(PARAM_DEF, f"the parameter {self.name} has no help")
        out = {"name": self.name, "in": "path" if use == "path" else "query", "required": use != "query", "description": self.help,
               "schema": self.schema(kinds)}
        return {**out, "example": self.value(self.example)} if self.example and use != "query" else out


class Params:
    def __init__(self):
        lines = [arguments for _, arguments in macros(PARAM_DEF)]
        self.all = {name: Param(name, kind, int(least.rstrip("u")), int(most.rstrip("u")), *texts) for name, kind, least, most, *texts in lines}
        self.used = set()

    def refer(self, name, use, at):
        if name not in self.all:
            fail(at, f"param.def has no {name}")
        self.used.add((name, use))
        return reference("parameters", USES[use].replace("NAME", name))

    def components(self, kinds):
        """A component for each use of each parameter."""
        for name in sorted(self.all.keys() - {name for name, _ in self.used}):
            fail(PARAM_DEF, f"no route takes the parameter {name}")
        return {component.replace("NAME", name): param.component(use, kinds)
                for name, param in self.all.items() for use, component in USES.items() if (name, use) in self.used}
