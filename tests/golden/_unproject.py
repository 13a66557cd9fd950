#!/usr/bin/env python3
"""Prints SQL that changes an index as if the catalogue did not know some kinds: their rows move to event.raw,
history.raw and state.raw with the XDR of the recording.

usage: _unproject.py events.jsonl state.jsonl

Events: swaps and the oracle's observations. Entries: vaults, markets, instances, as of the end.
"""
import base64
import hashlib
import json
import sys

EVENTS = {("liquidity_pool", "swap"): "liquidity_pool_swap",
          ("synth_token", "transfer"): "synth_token_transfer"}
ENTRIES = {("synthetic_engine", "Vault"): "synthetic_engine_vault",
           ("synthetic_engine", "AssetConfig"): "synthetic_engine_asset_config",
           ("liquidity_pool", "LedgerKeyContractInstance"): "liquidity_pool_instance"}


def hexed(text):
    return "'\\x" + base64.b64decode(text).hex() + "'"


def events(path):
    for line in open(path, encoding="utf-8"):
        e = json.loads(line)
        table = EVENTS.get((e["role"], e["topics"][0]))
        if not table:
            continue
        at = f"ledger = {e['ledger']} AND tx = {e['tx']} AND op = {e['op']} AND event = {e['event']}"
        print(f"INSERT INTO event.raw SELECT deployment, ledger, tx, op, event, closed_at, contract, 1, 'test', {hexed(e['xdr'])} FROM event.{table} WHERE {at};")
        print(f"DELETE FROM event.{table} WHERE {at};")
        print(f"DELETE FROM event.log WHERE {at};")
        print(f"UPDATE chain.ledger SET raw_events = raw_events + 1 WHERE ledger = {e['ledger']};")
        print("UPDATE chain.cursor SET raw_events = raw_events + 1;")


def key_hash(entry):
    """SHA-256 of the LedgerKey: type 6, the contract's address, key, durability."""
    address = base64.b32decode(entry["contract"])[1:33]
    xdr = (6).to_bytes(4, "big") + (1).to_bytes(4, "big") + address
    xdr += base64.b64decode(entry["key_xdr"]) + (1).to_bytes(4, "big")
    return "'\\x" + hashlib.sha256(xdr).hexdigest() + "'"


def entries(path):
    for line in open(path, encoding="utf-8"):
        e = json.loads(line)
        name = e["key"][0] if isinstance(e["key"], list) else e["key"]
        table = ENTRIES.get((e["role"], name)) if isinstance(name, str) else None
        if not table:
            continue
        newest = f"FROM state.{table} AS s WHERE s.key_hash = {key_hash(e)}"
        print(f"INSERT INTO history.raw SELECT deployment, key_hash, ledger, tx, seq, closed_at, contract, false, 1, 'test', {hexed(e['key_xdr'])}, {hexed(e['val_xdr'])} {newest};")
        print(f"INSERT INTO state.raw SELECT deployment, key_hash, ledger, tx, seq, closed_at, contract, 1, 'test', {hexed(e['key_xdr'])}, {hexed(e['val_xdr'])} {newest};")
        print(f"UPDATE chain.ledger AS l SET raw_states = raw_states + 1 {newest} AND s.ledger = l.ledger;")
        same = f"h.key_hash = {key_hash(e)} AND (h.ledger, h.tx, h.seq) = (SELECT s.ledger, s.tx, s.seq {newest})"
        print(f"UPDATE history_rows.raw AS r SET life = h.life FROM history_rows.{table} AS h WHERE {same} AND (r.key_hash, r.ledger, r.tx, r.seq) = (h.key_hash, h.ledger, h.tx, h.seq);")
        print(f"UPDATE history_rows.{table} AS h SET life = 0 WHERE {same};")
        if "instance" not in table:
            print(f"DELETE FROM history.{table} AS h USING state.{table} AS s WHERE s.key_hash = {key_hash(e)} AND h.key_hash = s.key_hash AND h.ledger = s.ledger AND h.tx = s.tx AND h.seq = s.seq;")
            print(f"DELETE FROM state.{table} WHERE key_hash = {key_hash(e)};")
        print("UPDATE chain.cursor SET raw_states = raw_states + 1;")


print("BEGIN;")
events(sys.argv[1])
entries(sys.argv[2])
print("COMMIT;")
