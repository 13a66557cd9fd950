"""Hooks of schemathesis (schemathesis.sh): what a schema cannot describe.

An address has a checksum: the contract says so by the format `stellar-address`, whose values are made here, and so are those of
`stellar-ledger-key`. A cursor is made by the server, for one question: none is sent. `sort` cannot be given with `state`.
"""
import base64
import binascii
import struct

import schemathesis
from hypothesis import strategies as st


def address(kind, key):
    """A strkey: the kind, 32 bytes, and their CRC-16 in little-endian order."""
    body = bytes([kind << 3]) + key
    return base64.b32encode(body + struct.pack("<H", binascii.crc_hqx(body, 0))).decode()


schemathesis.openapi.format("stellar-address", st.builds(address, st.sampled_from([6, 2]), st.binary(min_size=32, max_size=32)))  # G, C


def ledger_key(contract, number, durability):
    """A LedgerKey of contract data in base64url: a contract, an unsigned number as key, and a durability."""
    key = struct.pack(">II", 6, 1) + contract + struct.pack(">III", 3, number, durability)
    return base64.urlsafe_b64encode(key).decode().rstrip("=")


schemathesis.openapi.format("stellar-ledger-key", st.builds(ledger_key, st.binary(min_size=32, max_size=32), st.integers(0, 2**32 - 1), st.integers(0, 1)))


@schemathesis.hook
def map_query(context, query):
    if not query:
        return query
    left_out = {"cursor", "sort"} if "state" in query else {"cursor"}
    return {name: value for name, value in query.items() if name not in left_out}
