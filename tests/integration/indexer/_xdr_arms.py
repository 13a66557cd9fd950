"""Reads the vectors of tests/xdr with `tidemark-indexer dump`.

    _xdr_arms.py FOLDER     FOLDER has `vectors`
"""

import json
import os
import pathlib
import struct
import subprocess
import sys

MS = 1796083200789  # the close time of every vector that has milliseconds
WORK = pathlib.Path(sys.argv[1])


def records(data):
    at = 0
    while at < len(data):
        fields = []
        for _ in range(3):
            (length,) = struct.unpack_from(">I", data, at)
            fields.append(data[at + 4 : at + 4 + length])
            at += 4 + (length + 3) // 4 * 4
        yield fields[0].decode(), fields[1].decode(), fields[2]


all_of = {}
for root, label, value in records((WORK / "vectors").read_bytes()):
    all_of.setdefault(root, []).append((label, value))


def dump():
    ledgers = all_of["LedgerCloseMeta"]
    stream = WORK / "ledgers"
    stream.write_bytes(b"".join(struct.pack(">I", 1 << 31 | len(v)) + v for _, v in ledgers))
    done = subprocess.run([os.environ["TIDE_BIN"] + "/tidemark-indexer", "dump", "--values", str(stream)], capture_output=True, text=True)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    heads = [line for line in lines if line["kind"] == "ledger"]
    # 66: the hashes of these ledgers are no hashes.
    if done.returncode != 66 or len(heads) != len(ledgers):
        sys.exit(f"dump ended with {done.returncode} after {len(heads)} of {len(ledgers)} ledgers: {done.stderr[-500:]}")
    arms = {head["scpValueExt"]: head.get("closeTimeMs") for head in heads}
    if arms != {0: None, 1: None, 2: None, 3: str(MS), 4: str(MS)}:
        sys.exit(f"dump has other close times: {arms}")
    print(f"ok      dump: {len(heads)} ledgers")


dump()
