#!/usr/bin/env python3
"""Runs `lake update` and kills it just before its Nth change to the lake's files: a file created, moved into
place, replaced or removed.

usage: _kill_at.py N update [option]…       N of 0: no kill; prints the number of changes at the end
"""
import os
import pathlib
import signal
import sys

SOURCE = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(SOURCE / "tools/lake"))
fatal, changes = int(sys.argv.pop(1)), 0


def counted(function):
    def change(*args, **options):
        global changes
        changes += 1
        if changes == fatal:
            os.kill(os.getpid(), signal.SIGKILL)
        return function(*args, **options)
    return change


import files  # noqa: E402
import pyiceberg.io.pyarrow as library  # noqa: E402

library.PyArrowFile.create = counted(library.PyArrowFile.create)
library.PyArrowFileIO.delete = counted(library.PyArrowFileIO.delete)
files.write_local = counted(files.write_local)
for name in ("link", "replace", "unlink"):
    setattr(os, name, counted(getattr(os, name)))

try:
    import main
    main.main()
finally:
    print(f"{changes} changes")
