#!/usr/bin/env python3
"""Checks that --help shows exactly the settings that a program's sources read.

Sources read a setting as config->poll_ms, config.poll_ms or c->poll_ms.
"""
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(os.environ["TIDE_SOURCE_DIR"])
BIN = pathlib.Path(os.environ["TIDE_BIN"])
# program -> folders and files of its sources, folders left out. The clients of HTTP and of Stellar RPC read settings for those that use them.
PROGRAMS = {
    "tidemark-indexer": (["indexer", "schema/rpc", "schema/http"], []),
    "tidemark-api": (["api"], ["api/attester", "api/console"]),
    "tidemark-attester": (["api/attester", "api/base", "schema/rpc/client.c", "schema/http/http.c"], []),
    "tidemark-console": (["api/console", "api/base"], []),
}

# Of the client's settings, what a program needs that sends its requests itself.
OF_CLIENT = {"tidemark-api": {"rpc_header"}}


def settings():
    text = (ROOT / "include/tidemark/config.def").read_text()
    return re.findall(r"^TIDE_(?:BOOL|U32|ENUM|TEXT|PATH|SECRET)\((\w+)", text, re.M)


def read_by(folders, without, names):
    member = re.compile(r"(?:config(?:->|\.)|\bc->)(%s)\b" % "|".join(names))
    found = set()
    for folder in folders:
        for path in (ROOT / folder).rglob("*.[ch]") if (ROOT / folder).is_dir() else [ROOT / folder]:
            if not any(path.is_relative_to(ROOT / other) for other in without):
                found |= set(member.findall(path.read_text()))
    return found


def shown_by(program):
    def output(*words):
        return subprocess.run([BIN / program, *words, "--help"], check=True, capture_output=True, text=True).stdout

    page = output()
    commands = re.findall(r"^  ([a-z]+)  +[A-Z]", page, re.M)
    pages = [output(c) for c in commands] if commands else [page]
    shown = set()
    for text in pages:
        shown |= set(re.findall(r"^  --([a-z0-9-]+)", text.partition("Settings it reads")[2], re.M))
    return {name.replace("-", "_") for name in shown}


def main():
    names, faults = settings(), []
    for program, (folders, without) in PROGRAMS.items():
        read, shown = read_by(folders, without, names) | OF_CLIENT.get(program, set()), shown_by(program)
        faults += [f"{program} reads {n}, but no command's --help shows it" for n in sorted(read - shown)]
        faults += [f"{program} shows {n}, but does not read it" for n in sorted(shown - read)]
    print("\n".join(faults) or "ok")
    return 1 if faults else 0


sys.exit(main())
