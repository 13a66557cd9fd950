"""Reads the .def files of the C code: lists of macros with arguments, such as TIDE_ROUTE(status, GET, "/api/x", HOT, 1)."""
import ast
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[1]
# A comment, a directive with its continued lines, a string, a mark, a word.
PIECE = re.compile(r'/\*.*?\*/|//[^\n]*|#(?:\\\n|[^\n])*|"(?:\\.|[^"\\])*"|[(),]|[^\s(),"#]+', re.S)


def macros(path):
    """Yields (macro, arguments) of each use in the file and in the files that it includes. Strings beside each other are one, without
    their quotation marks."""
    macro, arguments, depth = "", [], 0
    for piece in PIECE.findall((ROOT / path).read_text(encoding="utf-8")):
        if piece.startswith("#"):
            included = re.match(r'#\s*include\s+"([^"]+)"', piece)
            yield from macros(included.group(1)) if included else ()
        elif piece.startswith(("/*", "//")):
            continue
        elif depth == 0 and piece != "(":
            macro = piece
        elif depth == 1 and piece == ")":
            depth = 0
            yield macro, arguments
        elif depth == 1 and piece == ",":
            arguments.append("")
        elif depth == 0:
            depth, arguments = 1, [""]
        else:
            depth += (piece == "(") - (piece == ")")
            arguments[-1] += ast.literal_eval(piece) if piece.startswith('"') else piece
