"""A digest of rows that depends on the rows alone.

Each row is written as text, hashed with SHA-256, and the hashes are summed modulo 2^256. So order, files and
batches do not matter, and a lost, doubled or altered row shows. Digests of disjoint sets of rows add up.
"""
import hashlib
import json

import pyarrow as pa
import pyarrow.compute as pc

MODULUS = 1 << 256


def as_text(column: pa.Array) -> pa.Array:
    if pa.types.is_list(column.type) or pa.types.is_large_list(column.type):
        return pa.array([None if value is None else json.dumps(value) for value in column.to_pylist()], pa.string())
    if pa.types.is_timestamp(column.type):
        column = column.cast(pa.timestamp("us", "UTC")).cast(pa.int64())
    elif pa.types.is_date(column.type):
        column = column.cast(pa.int32())
    return column.cast(pa.string())


def with_length(column: pa.Array) -> pa.Array:
    """`LENGTH:TEXT`, `-` for null: no two rows have the same text once these are joined."""
    text = as_text(column)
    sized = pc.binary_join_element_wise(pc.binary_length(text).cast(pa.string()), text, ":")
    return pc.fill_null(sized, "-")


class Digest:
    def __init__(self) -> None:
        self.rows = 0
        self.sum = 0

    def add(self, batch: pa.RecordBatch) -> None:
        if not batch.num_rows:
            return
        lines = pc.binary_join_element_wise(*[with_length(column) for column in batch.columns], "")
        self.rows += batch.num_rows
        self.sum = (self.sum + sum(int.from_bytes(hashlib.sha256(line.encode()).digest(), "big")
                                   for line in lines.to_pylist())) % MODULUS

    def hex(self) -> str:
        return f"{self.sum:064x}"
