#!/usr/bin/env python3
"""Kills `lake update` before each change to the lake's files, and at random moments.

usage: _kills.py FOLDER STRIDE RANDOM [--parquet]     every STRIDE-th change; so many random kills; the database is in $TIDEMARK_DATABASE_URL

After a kill, a reader of each table finds the rows up to the end of a range, all of them and once. Then a run
resumes, and the tables are those of a run that was not killed: the same digests, the
same number of rows, no file left over.
"""
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[2] / "tools/lake"))

from digest import MODULUS, Digest  # noqa: E402
from pyiceberg.table import StaticTable  # noqa: E402

TABLES = ["analyst.swaps", "analyst.pools", "event.oracle_twap"]
OPTIONS = ["--range", "16", "--quiet", "--tables", *TABLES]


def wait_for_sessions() -> None:
    """A killed process's session ends after the process, and while it lasts the lake has a writer."""
    end = time.monotonic() + 60
    while subprocess.run(["psql", "-XAtqc", "SELECT count(*) FROM pg_stat_activity WHERE usename = 'lake'"],
                         check=True, capture_output=True, text=True).stdout.strip() != "0":
        assert time.monotonic() < end, "the session of a process that was killed does not end"
        time.sleep(0.1)


def update(folder: pathlib.Path, kill_at: int) -> tuple[int, str]:
    wait_for_sessions()
    done = subprocess.run([sys.executable, HERE / "_kill_at.py", str(kill_at), "update", "--lake", folder, *OPTIONS], capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def rows_of(table: StaticTable) -> Digest:
    digest = Digest()
    for batch in table.scan().to_arrow_batch_reader():
        digest.add(batch)
    return digest


def as_read(folder: pathlib.Path, name: str) -> tuple[str | None, int, str]:
    """(last ledger, rows, digest) of a table as its hint shows it; as if empty without one."""
    path = folder / name.replace(".", "/")
    if not (path / "metadata/version-hint.text").exists():
        return None, 0, Digest().hex()
    table = StaticTable.from_metadata(str(path))
    digest = rows_of(table)
    return table.properties.get("tidemark.through.1"), digest.rows, digest.hex()


def prefixes(folder: pathlib.Path, name: str) -> set[tuple[str | None, int, str]]:
    """What a reader may find: nothing, or the rows up to the end of a snapshot."""
    found, rows, total = {(None, 0, Digest().hex())}, 0, 0
    for snapshot in StaticTable.from_metadata(str(folder / name.replace(".", "/"))).snapshots():
        said = snapshot.summary.additional_properties
        rows, total = rows + int(said["tidemark.rows"]), (total + int(said["tidemark.digest"], 16)) % MODULUS
        found.add((said.get("tidemark.last-ledger"), rows, f"{total:064x}"))
    return found


def left_over(folder: pathlib.Path, name: str) -> set[str]:
    """Data files and markers that the table does not name."""
    path = folder / name.replace(".", "/")
    named = {task.file.file_path for task in StaticTable.from_metadata(str(path)).scan().plan_files()}
    return {str(f) for f in path.rglob("*") if f.suffix in (".parquet", ".new") or f.name == "writing.json"} - named


class Kills:
    def __init__(self, base: pathlib.Path) -> None:
        self.whole, self.folder = base / "whole", base / "killed"
        code, said = update(self.whole, 0)
        assert code == 0, said
        self.changes = int(said.split()[-2])
        self.allowed = {name: prefixes(self.whole, name) for name in TABLES}
        self.want = {name: as_read(self.whole, name) for name in TABLES}
        assert all(rows for _, rows, _ in self.want.values()) and len(self.allowed["analyst.swaps"]) >= 3, "not enough rows or ranges"

    def read(self, when: str) -> None:
        for name in TABLES:
            found = as_read(self.folder, name)
            assert found in self.allowed[name], f"{when}: {name} is {found}, which no run leaves"

    def resume(self, when: str) -> None:
        code, said = update(self.folder, 0)
        assert code == 0, f"{when}: {said}"
        for name in TABLES:
            assert as_read(self.folder, name) == self.want[name], f"{when}, resumed: {name} is {as_read(self.folder, name)}, not {self.want[name]}"
            assert not left_over(self.folder, name), f"{when}, resumed: {left_over(self.folder, name)}"
        shutil.rmtree(self.folder)

    def before_each(self, stride: int) -> None:
        for number in range(1, self.changes + 1, stride):
            code, said = update(self.folder, number)
            assert code == -signal.SIGKILL, f"change {number}: not killed: {said}"
            self.read(f"killed before change {number}")
            self.resume(f"killed before change {number}")
        print(f"{len(range(1, self.changes + 1, stride))} kills, before every {stride}. of {self.changes} changes: each table whole, resumed to the same digests")

    def at_random(self, count: int) -> None:
        chance, killed = random.Random(7), 0
        while killed < count:
            wait_for_sessions()
            run = subprocess.Popen([sys.executable, HERE / "_kill_at.py", "0", "update", "--lake", self.folder, *OPTIONS], stdout=subprocess.DEVNULL)
            try:
                # Imports take most of a run: the kill falls behind them as often as before.
                run.wait(timeout=chance.uniform(0.3, 4))
                self.resume("ended by itself")
                continue
            except subprocess.TimeoutExpired:
                run.kill()
                run.wait()
            killed += 1
            self.read(f"random kill {killed}")
        self.resume(f"after {count} random kills")
        print(f"{count} random kills: the same")


def main() -> None:
    kills = Kills(pathlib.Path(sys.argv[1]))
    kills.before_each(int(sys.argv[2]))
    kills.at_random(int(sys.argv[3]))


main()
