"""Reads the vectors of tests/xdr with both packages: each arm of the coming XDR that a proof can hold.

    _arms.py VECTORS NODE_FOLDER     VECTORS is unpacked; NODE_FOLDER has _arms.mjs and the TypeScript package
"""

import json
import pathlib
import struct
import subprocess
import sys

from tidemark_client import proof

MS = 1796083200789  # the close time of every vector that has milliseconds


def records(data):
    at = 0
    while at < len(data):
        fields = []
        for _ in range(3):
            (length,) = struct.unpack_from(">I", data, at)
            fields.append(data[at + 4 : at + 4 + length])
            at += 4 + (length + 3) // 4 * 4
        yield fields[0].decode(), fields[1].decode(), fields[2]


READERS = {
    "StellarValue": proof._stellar_value,
    "LedgerHeader": lambda x: proof._header(x.take(len(x.data))),
    "TransactionResultPair": proof._result,
    "SCVal": lambda x: x.value(),
    "SCAddress": lambda x: x.address(),
    "ContractEvent": lambda x: proof._event(x, 0),
}
counts, values, times = {}, [], set()
for root, label, value in records(pathlib.Path(sys.argv[1]).read_bytes()):
    if root not in READERS:
        continue
    x = proof._Xdr(value)
    try:
        read = READERS[root](x)
        x.end()
    except proof.ProofError as e:
        sys.exit(f"the Python package refuses {root} {label}: {e}")
    counts[root] = counts.get(root, 0) + 1
    if root == "LedgerHeader":
        times.add(read.close_ms)
    if root in ("SCVal", "SCAddress"):
        values.append(json.dumps([root, label, value.hex()]))
if set(counts) != set(READERS) or times != {MS, MS // 1000 * 1000}:
    sys.exit(f"the Python package: {counts}, close times {times}")
node = subprocess.run(["node", "_arms.mjs"], cwd=sys.argv[2], input="\n".join(values), capture_output=True, text=True)
if node.returncode:
    sys.exit(f"the TypeScript package: {node.stdout}{node.stderr}")
print(f"ok      both packages read {sum(counts.values())} and {len(values)} values of the coming XDR")
