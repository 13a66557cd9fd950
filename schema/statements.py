#!/usr/bin/env python3
"""statements.py OUT HEADER WHAT FILE…: turns files of SQL into C, each statement bound to the contracts of the deployment file.

A bound statement reads from the tables of a role only the rows of the file's contract of that role. From tables of tokens, and from
the lists of events, calls and raw rows, it reads the rows of followed contracts. Statements are written without these conditions;
they are added here, at each table that FROM, JOIN or a comma names, so that no statement lacks one. $1 of each is the deployment.

WHAT is one of
  files      const struct tide_query_file tide_query_files[]: all statements, by name
  PREFIX_    const char PREFIX_NAME[] for each file
  sources    const struct project_forms project_forms[]: each form (a file) for each source of include/tidemark/project_source.def
  rollups    const struct tide_rollup tide_rollups[]: statements in pieces (indexer/rollup/rollup.h)
A line "-- part: NAME" is replaced by the file parts/NAME.sql, which is given like the others."""
import json
import pathlib
import re
import sys

from def_file import ROOT, macros

ROLES = re.findall(r"^    TIDE_ROLE_([a-z_]+),", (ROOT / "include/tidemark/deployment.h").read_text(), re.M)
SINGLE = ROLES[:ROLES.index("synth_token")]  # as tide_role_is_single
TOKENS = ("synth_token", "stellar_asset")
PLACE = re.compile(r"(,[ \n]*|\b(?:FROM|JOIN)[ \n]+)(state|history|asof|event|chain)\.(\w+)\b(?!\()(?:[ \n]*AS +(\w+))?")
FIELDS = ", ".join(f"max(j.address) FILTER (WHERE j.role = '{role}') AS {role}" for role in SINGLE)
BOUND_ROLES = (f"bound_roles AS MATERIALIZED (SELECT {FIELDS} FROM chain.deployment AS d, jsonb_to_recordset(d.contracts)"
               " AS j(role text, address text) WHERE d.id = $1::smallint)")
BOUND_FOLLOWED = (
    "bound_followed AS MATERIALIZED (SELECT f.contracts, ARRAY(SELECT w.id FROM chain.word AS w WHERE w.word = ANY (f.contracts))"
    " AS keys FROM (SELECT ARRAY(SELECT j.address FROM chain.deployment AS d, jsonb_to_recordset(d.contracts) AS j(address text)"
    " WHERE d.id = $1::smallint UNION ALL SELECT s.contract FROM chain.contract_seen AS s WHERE s.deployment = $1::smallint"
    " AND s.what = 'discovered') AS contracts) AS f)")


def role_of(table):
    return next((role for role in ROLES if table.startswith(role + "_")), None)


def condition(schema, table):
    """What the contract of a row must be, as "_key = …" or " = …": state has the words themselves, a view of stored rows compares
    keys, so that an index can answer in its order. None: the table has no contract."""
    keys = schema != "state"
    role = role_of(table) if schema != "chain" else None
    if role in SINGLE:
        return f"_key = (SELECT chain.word_key(r.{role}) FROM bound_roles AS r)" if keys else f" = (SELECT r.{role} FROM bound_roles AS r)"
    if role in TOKENS or table in (("call",) if schema == "chain" else ("log", "raw")):
        kind = "keys FROM bound_followed AS f)::integer[]" if keys else "contracts FROM bound_followed AS f)::text[]"
        return f"{'_key' if keys else ''} = ANY ((SELECT f.{kind})"
    return None


def bind_place(found):
    """The table, joined with a SELECT of one row without columns. The planner drops the join and keeps its condition, so plans and
    names are those of the table alone."""
    before, schema, table, alias = found.groups()
    alias, holds = alias or table, condition(schema, table)
    if not holds:
        return found.group()
    return f"{before}({schema}.{table} AS {alias} JOIN (SELECT) AS {alias}_bound ON {alias}.contract{holds})"


def bind_tables(sql):
    return PLACE.sub(bind_place, sql)


def bind(sql):
    """The statement. A comment before it stays, which PostgreSQL's log then shows."""
    comment, is_with, body = re.fullmatch(r"((?:[ \n]*--[^\n]*\n)*)[ \n]*(WITH )?(.*)", sql, re.S).groups()
    body = bind_tables(body)
    heads = [head for head in (BOUND_ROLES, BOUND_FOLLOWED) if f"FROM {head.split()[0]} AS" in body]
    text = ", ".join(heads) + (", " if is_with else " ") if heads else ""
    return f"{comment}{'WITH ' if heads or is_with else ''}{text}{body}"


def quote(text):
    """The text as C literals, a line each."""
    return "\n    ".join(json.dumps(line, ensure_ascii=False) for line in text.splitlines(keepends=True)) or '""'


def read_files(paths):
    """Yields name and text of each statement, in order of name."""
    paths = [pathlib.Path(path) for path in paths]
    parts = {path.stem: path for path in paths if path.parent.name == "parts"}

    def part(found):
        return re.sub(r"\A(--[^\n]*\n)+", "", parts[found.group(1)].read_text(encoding="utf-8"))

    for path in sorted(set(paths) - set(parts.values()), key=lambda path: path.name):
        yield path.stem, re.sub(r"-- part: (\w+)\n", part, path.read_text(encoding="utf-8"))


# --- the four kinds of tables ------------------------------------------------------------------------------------------------------


def write_files(files):
    """Of the comments at a file's head, the program reads only the first two lines."""
    yield "const struct tide_query_file tide_query_files[] = {\n"
    for name, sql in files:
        sql = re.sub(r"\A(-- (?:list|one):[^\n]*\n(?:-- (?:of:|none)[^\n]*\n)?)(?:--[^\n]*\n)*", r"\1", sql)
        yield f'    {{ "{name}", \n    {quote(bind(sql))} }},\n'
    yield f"}};\nconst size_t tide_query_file_count = {len(files)};\n"


def write_texts(files, prefix):
    for name, sql in files:
        yield f"const char {prefix}{name}[] =\n    {quote(bind(sql))};\n"


COLUMNS_MAX = 16  # values of the row that has most: the feeder's cursor row


def values_of(columns):
    """Each value of the column list as text, then NULLs, so that the rows of all sources have the same columns. The first one is named
    "first"."""
    values, depth = [""], 0
    for mark in columns:
        depth += (mark == "(") - (mark == ")")
        if mark == "," and depth == 0:
            values.append("")
        else:
            values[-1] += mark
    assert len(values) <= COLUMNS_MAX, columns
    texts = [f", ({value.strip()})::text{'' if i else ' AS first'}" for i, value in enumerate(values)]
    return "".join(texts) + ", NULL::text" * (COLUMNS_MAX - len(values))


def write_sources(files):
    yield f"const char project_bound[] =\n    {quote(f'WITH {BOUND_ROLES}, {BOUND_FOLLOWED} ')};\n"
    yield "const struct project_forms project_forms[PROJECT_SOURCE_COUNT] = {\n"
    for number, (_, (source, _, schema, table, columns)) in enumerate(macros("include/tidemark/project_source.def")):
        event = schema == "event"
        names = {"id": str(number), "table": table, "columns": columns, "values": values_of(columns),
                 "changes": f"{schema}.{table}", "seq": "event" if event else "seq",
                 "removed": "false" if event else "removed"}
        yield f"    [PROJECT_{source}] = {{\n"
        for form, sql in files:
            head, sql = re.fullmatch(r"((?:--[^\n]*\n)+)(.*)", sql, re.S).groups()
            of = re.search(r"^-- of: (.*)$", head, re.M)
            if of and source not in of.group(1).split() or event and "{changes}" not in sql:
                continue
            sql = re.sub(r"\{(\w+)\}", lambda found: names[found.group(1)], sql).rstrip("\n")
            yield f"        .{form} =\n    {quote(bind_tables(sql) if 'in parts' in head else bind(sql))},\n"
        yield "    },\n"
    yield "};\n"


KEY_OF = ("(SELECT chain.word_key(c.address) FROM chain.deployment AS k, jsonb_to_recordset(k.contracts) AS c(address text, role text)"
          " WHERE k.id = $1::smallint AND c.role = '{}'))")


def rollup_pieces(sql, into):
    """Yields the pieces as C initialisers. Behind a table of a role stands the condition on the file's contract."""
    pieces, at = [], 0

    def put_text(text):
        for i, piece in enumerate(re.split(r"\$([123])", text)):
            if piece:
                pieces.append(f"{{ TIDE_ROLLUP_VALUE, .value = {int(piece) - 1} }}" if i % 2 else
                              f"{{ TIDE_ROLLUP_TEXT, .text =\n    {quote(piece)} }}")

    for found in re.finditer(r"\{([!=]?)(?:(\w+)\.)?(\w+)\}", sql):
        mark, schema, table = found.groups()
        single = mark != "=" and role_of(table) in SINGLE
        assert schema != "state", "its content depends on where the batch ends"
        put_text(sql[at:found.start()] + ("(" if single else ""))
        if mark == "=":
            into.setdefault(table)
            pieces.append(f'{{ TIDE_ROLLUP_INTO, .table = "{table}" }}')
        else:
            pieces.append(f'{{ TIDE_ROLLUP_{"NEEDS" if mark else "BESIDE"}, .schema = "{schema}", .table = "{table}" }}')
        at = found.end()
        if single:
            put_text(f' AS "{table}" JOIN (SELECT) AS "{table}_bound" ON "{table}".contract_key = {KEY_OF.format(role_of(table))}')
    put_text(sql[at:])
    return pieces


def write_rollups(files):
    into, rows = {}, []
    for name, sql in files:
        pieces = rollup_pieces(sql, into)
        yield f"static const struct tide_rollup_piece {name}_pieces[] = {{\n" + "".join(f"    {piece},\n" for piece in pieces) + "};\n"
        rows.append(f'    {{ "{name}", {name}_pieces, {len(pieces)} }},\n')
    assert len(rows) <= 16  # TIDE_ROLLUPS_MAX
    yield f"const struct tide_rollup tide_rollups[] = {{\n{''.join(rows)}}};\nconst size_t tide_rollup_count = {len(rows)};\n"
    names = "".join(f'    "{table}",\n' for table in into)
    yield f"const char *const tide_rollup_tables[] = {{\n{names}}};\nconst size_t tide_rollup_table_count = {len(into)};\n"


def main(out, header, what, *paths):
    files = list(read_files(paths))
    writers = {"files": write_files, "sources": write_sources, "rollups": write_rollups}
    texts = writers[what](files) if what in writers else write_texts(files, what)
    head = f'#include "{header}"\n\n#pragma GCC diagnostic ignored "-Woverlength-strings"\n\n'
    pathlib.Path(out).write_text(head + "".join(texts), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
