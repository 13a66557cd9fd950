"""Files of the lake, in a local folder or on S3, through pyiceberg's FileIO.

A local file is on the disk before a table names it: `settle` flushes what was written since. Whether a folder's
entry or a hint reaches the disk before a power failure does not matter: without it the table is one commit older.
"""
import json
import os
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pyarrow.fs as fs
from pyiceberg.io import OutputFile
from pyiceberg.io.pyarrow import PyArrowFileIO
from pyiceberg.typedef import EMPTY_DICT, Properties


class LakeFiles(PyArrowFileIO):
    def __init__(self, properties: Properties = EMPTY_DICT) -> None:
        super().__init__(properties)
        self.written: list[str] = []

    def new_output(self, location: str) -> OutputFile:
        self.written.append(location)
        return super().new_output(location)

    def settle(self) -> None:
        local = [location for location in self.written if is_local(location) and os.path.exists(location)]
        with ThreadPoolExecutor(8) as pool:  # together they cost little more than one
            list(pool.map(flush, local))
        self.written.clear()

    def exists(self, location: str) -> bool:
        return self.new_input(location).exists()

    def read(self, location: str) -> bytes:
        with self.new_input(location).open() as stream:
            return stream.read()

    def replace(self, location: str, content: bytes) -> None:
        """Readers see the old content or the new one. Not flushed."""
        if not is_local(location):
            with super().new_output(location).create(overwrite=True) as stream:
                stream.write(content)
            return
        write_local(location + ".new", content)
        os.replace(location + ".new", location)

    def create(self, location: str, content: bytes) -> None:
        """Fails with FileExistsError if the file exists. On S3 two writers at the same instant could both succeed; the lock
        in the database (`Database.lock`) excludes a second writer."""
        if not is_local(location):
            with super().new_output(location).create(overwrite=False) as stream:
                stream.write(content)
            return
        write_local(location + ".new", content)
        flush(location + ".new")
        os.link(location + ".new", location)
        os.unlink(location + ".new")

    def unfinished(self, location: str) -> list[str]:
        """What a killed process left of `replace` and `create`. On S3 an object appears whole."""
        return [name for name in self.below(location) if name.endswith(".new")] if is_local(location) else []

    def below(self, location: str) -> list[str]:
        """Locations of all files below a folder; none if it does not exist."""
        scheme, netloc, path = self.parse_location(location, self.properties)
        selector = fs.FileSelector(path, allow_not_found=True, recursive=True)
        prefix = "" if is_local(location) else f"{scheme}://"
        return sorted(prefix + info.path for info in self.fs_by_scheme(scheme, netloc).get_file_info(selector) if info.is_file)


def is_local(location: str) -> bool:
    return "://" not in location


def resolved(location: str) -> str:
    """A folder as the lake's tables name it: an absolute path, or a URL without a slash at its end."""
    return os.path.abspath(location) if is_local(location) else location.rstrip("/")


def write_local(path: str, content: bytes) -> None:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as stream:
        stream.write(content)


def flush(path: str) -> None:
    number = os.open(path, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)


def as_json(value: Any) -> bytes:
    return (json.dumps(value, indent=1) + "\n").encode()
