"""Reads the texts of the HTTP contract: the heads of query files and the .api files. README.md describes the notation."""
import pathlib
import re
from dataclasses import dataclass, field

FIELD_DEPTH_MAX = 16  # a deeper line continues the text above
KEYWORD = re.compile(r"([a-z]+)([A-Za-z0-9_ ]{0,32}):(.*)", re.S)


class Mistake(Exception):
    """Texts that do not fit together: where, and what is wrong."""


def fail(at, what):
    raise Mistake(f"{at}: {what}")


def columns(text, count):
    """The columns of a line, which two or more spaces separate; those that it lacks are empty."""
    found = re.split(" {2,}", text, maxsplit=count - 1)
    return found + [""] * (count - len(found))


@dataclass
class Named:
    """'  name?  type  text': a field, a header or a parameter. A field '...Pool' stands for the fields of the schema Pool."""

    name: str
    type: str
    text: str
    at: str
    depth: int = 2  # spaces before the name
    optional: bool = False


def named(text, at, depth=2):
    name, kind, text = columns(text, 3)
    return Named(name.removesuffix("?"), kind, text, at, depth, name.endswith("?"))


@dataclass
class Answer:
    status: int
    what: str  # name of a schema, a media type, or "none"
    items: str  # the schema of what a list or a stream has
    text: str


ROUTE_TEXTS = ("tag", "summary", "about", "from", "also", "headers")


@dataclass
class Route:
    id: str
    at: str
    webhook: bool = False  # a notification: the API is the client
    texts: dict = field(default_factory=lambda: dict.fromkeys(ROUTE_TEXTS, ""))
    body: str = ""  # name of a schema, or "object"
    body_media: str = "application/json"
    body_text: str = ""
    answers: list = field(default_factory=list)
    headers: list = field(default_factory=list)  # of requests
    query: Named = None  # a parameter that means something else in other routes


@dataclass
class Schema:
    name: str
    at: str
    type: str = "object"
    text: str = ""
    example: str = ""
    items: str = ""  # schema of a list's items
    fields: list = field(default_factory=list)
    answer_of: str = ""  # id of its route; empty for "schema:"


@dataclass
class Response:
    """An answer common to many routes: '401', 'page.404', 'default'."""

    text: str
    codes: str = ""
    headers: str = ""


@dataclass
class Texts:
    title: str = ""
    text: str = ""
    groups: dict = field(default_factory=dict)
    headers: dict = field(default_factory=dict)
    responses: dict = field(default_factory=dict)
    routes: dict = field(default_factory=dict)
    schemas: dict = field(default_factory=dict)
    queries: dict = field(default_factory=dict)  # name -> "one": answers with one object or 404; "events": reads tables that may be archived

    def schema(self, name, at):
        return self.schemas.get(name) or fail(at, f"there is no schema {name}")


class Reader:
    """Reads one file into texts. A method keyword_x reads what follows "x:", unless that is a text and nothing else."""

    def __init__(self, texts, path, query=""):
        self.texts, self.path, self.query = texts, path, query
        self.at = path
        self.route = None  # the route to which the lines belong
        self.about = None  # the schema that gets fields and the example
        self.tail = None  # (values, name) of the text that an indented line continues
        self.fields = False  # an indented line is a field

    def add_schema(self, name, **more):
        if name in self.texts.schemas:
            fail(self.at, f"the schema {name} is there already")
        self.about = self.texts.schemas[name] = Schema(name, self.at, **more)

    def add_answer_schema(self):
        answer = self.route.answers[-1]
        self.add_schema(answer.what, items=answer.items, answer_of=self.route.id)

    def add_route(self, name, webhook=False):
        if name in self.texts.routes:
            fail(self.at, f"the route {name} has texts already")
        self.route = self.texts.routes[name] = Route(name, self.at, webhook)

    def need_route(self):
        """The route to which the line belongs: in a query file the one with the file's name."""
        if not self.route and not self.query:
            fail(self.at, "a route: line must come first")
        if not self.route:
            self.add_route(self.query)
        return self.route

    def set_text(self, values, name, text):
        if values.get(name):
            fail(self.at, "this keyword is given twice")
        values[name] = text
        self.tail = (values, name)

    def append(self, between, more):
        values, name = self.tail
        values[name] += between * bool(values[name]) + more

    # --- keywords

    def values_of(self, word):
        """What has a text of this name, if the keyword is a text and nothing else."""
        if word == "headers" and not self.route or word == "codes":
            return vars(list(self.texts.responses.values())[-1]) if self.texts.responses else fail(self.at, "a response: line must come first")
        if word == "example":
            return vars(self.about or fail(self.at, "an example: line must follow its schema"))
        if word in ROUTE_TEXTS:
            return self.need_route().texts
        return vars(self.texts) if word == "title" else None

    def keyword_route(self, _, text):
        self.add_route(text)

    def keyword_webhook(self, _, text):
        self.add_route(text, webhook=True)

    def keyword_body(self, _, text):
        """'body: AddressList', 'body: application/x-www-form-urlencoded Form' or 'body: object  text'."""
        route = self.need_route()
        what, text = columns(text, 2)
        if "/" in what:
            route.body_media, _, what = what.partition(" ")
        self.set_text(vars(route), "body", what)
        self.set_text(vars(route), "body_text", text)

    def keyword_answer(self, number, text):
        """'answer: Pools of Pool', 'answer 201: KycSession  a new session' or 'answer: text/event-stream of StreamMessage'."""
        if number and not re.fullmatch("[2-5][0-9][0-9]", number):
            fail(self.at, f"no status: {number}")
        what, text = columns(text, 2)
        what, _, items = what.partition(" of ")
        answer = Answer(int(number or 200), what, items, text)
        self.need_route().answers.append(answer)
        self.tail, self.about, self.fields = (vars(answer), "text"), None, True
        if items and "/" not in what:
            self.add_answer_schema()

    def keyword_schema(self, _, text):
        name, kind, text = columns(text, 3)
        self.add_schema(name, type=kind or "object", text=text)
        self.tail, self.fields = (vars(self.about), "text"), True

    def keyword_header(self, _, text):
        header = named(text, self.at)
        if self.route:
            self.route.headers.append(header)
        else:
            self.texts.headers[header.name] = header
        self.tail = (vars(header), "text")

    def keyword_query(self, _, text):
        query = self.need_route().query = named(text, self.at)
        self.tail = (vars(query), "text")

    def keyword_text(self, _, text):
        """A paragraph of the document's own text."""
        self.tail = (vars(self.texts), "text")
        self.append("\n\n", text)

    def keyword_group(self, _, text):
        name, text = columns(text, 2)
        self.set_text(self.texts.groups, name, text)

    def keyword_response(self, _, text):
        name, text = columns(text, 2)
        response = self.texts.responses[name] = Response(text)
        self.tail = (vars(response), "text")

    def keyword_list(self, _, __):
        """A keyword that api/sql/statement.c reads."""
        if not self.query:
            fail(self.at, "this keyword is only for query files")

    keyword_one = keyword_of = keyword_none = keyword_list

    # --- lines

    def read_keyword(self, word, number, text):
        self.tail, self.fields = None, False
        values = self.values_of(word)
        if values is not None:
            self.set_text(values, word, text)
        elif hasattr(self, f"keyword_{word}"):
            getattr(self, f"keyword_{word}")(number, text)
        else:
            fail(self.at, f'"{word}:" is not a keyword of the notation; see api/openapi/README.md')

    def read_indented(self, text, depth):
        """An indented line is a field where fields are expected, otherwise it continues the text above."""
        if self.fields and depth < FIELD_DEPTH_MAX:
            if not self.about:
                self.add_answer_schema()
            self.about.fields.append(named(text, self.at, depth))
            self.tail = (vars(self.about.fields[-1]), "text")
        elif self.tail:
            self.append(" ", text)
        else:
            fail(self.at, "an indented line without a line above that it continues")

    def read_line(self, line):
        text = line.strip(" ")
        keyword = KEYWORD.fullmatch(line)
        if text and line[0] == " ":
            self.read_indented(text, len(line) - len(line.lstrip(" ")))
        elif keyword and " " not in keyword[2].strip(" "):
            self.read_keyword(keyword[1], keyword[2].strip(" "), keyword[3].strip(" "))
        elif not text or self.query:  # an SQL comment for readers of the statement
            self.tail, self.fields = None, False
        elif line[0] != "#":
            fail(self.at, "a line without keyword")

    def read_statement_line(self, facts, line):
        """Notes whether the statement reads events, itself or in a part."""
        if line.startswith("-- part: "):
            part = self.texts.queries[line[9:]] if line[9:] in self.texts.queries else fail(self.at, f"there is no part {line[9:]}")
            facts |= part & {"events"}
        elif " event." in line or " chain.call " in line:
            facts.add("events")

    def read(self, text):
        """Reads all lines; of a query file its head, and the rest only to see whether it reads events."""
        facts, head = {"one"} if text.startswith("-- one:") else set(), True
        for number, line in enumerate(text.split("\n"), 1):
            self.at = f"{self.path}:{number}"
            head = head and (not self.query or line.startswith("--") and not line.startswith("-- part: "))
            if head:
                self.read_line(line[2:].removeprefix(" ") if self.query else line)
            else:
                self.read_statement_line(facts, line)
        if self.query:
            self.texts.queries[self.query] = facts


def read_file(texts, path):
    """Reads a query file or an .api file. Parts of queries come before the queries."""
    path = pathlib.Path(path)
    Reader(texts, path, path.stem if path.suffix == ".sql" else "").read(path.read_text(encoding="utf-8"))
