#!/usr/bin/env python3
"""Prints what an index of one deployment has as the ledger had it: JSON lines with the values of the ledger, rebuilt from
typed columns and the catalogue. Tests compare them with recordings and with the simulator's model.

usage: _stored.py events|calls|state [--ledger N]     --ledger: the state as of that ledger
"""
import json
import os
import subprocess
import sys

DRIVER = os.environ["TIDE_BIN"] + "/values_driver"
ROLES = """SELECT DISTINCT ON (address COLLATE "C") json_build_object('address', address, 'role', role, 'name', name) FROM (
    SELECT c ->> 'address' AS address, c ->> 'role' AS role, c ->> 'name' AS name, 0 AS later
    FROM chain.deployment AS d, jsonb_array_elements(d.contracts) AS c
    UNION ALL SELECT contract, role, name, 1 FROM chain.contract_seen WHERE what IN ('discovered', 'asset')) AS x
    ORDER BY address COLLATE "C", later, role"""
CALLS = """SELECT row_to_json(x) FROM (SELECT t.ledger, chain.unix(t.closed_at) AS "closeTime", t.tx, encode(t.hash, 'hex') AS hash, t.source,
    t.contract, t.fn, t.args, t.ok, t.ret, t.events, t.changed, translate(encode(t.args_xdr, 'base64'), E'\\n', '') AS "argsXdr",
    translate(encode(t.ret_xdr, 'base64'), E'\\n', '') AS "retXdr", x.source AS "txSource", x.fee_source AS "feeSource",
    encode(x.inner_hash, 'hex') AS "innerHash", t.source_muxed_id::text AS "sourceMuxedId", x.source_muxed_id::text AS "txSourceMuxedId",
    x.fee_source_muxed_id::text AS "feeSourceMuxedId"
    FROM chain.call AS t LEFT JOIN chain.tx AS x USING (deployment, ledger, tx) ORDER BY t.ledger, t.tx, t.op) AS x"""
KEPT_NULL = {"fn", "args", "ret"}


def rows(statement):
    """The JSON values that the statement gives, in its order."""
    found = subprocess.run([os.environ["PG_BIN"] + "/psql", "-XAtqv", "ON_ERROR_STOP=1", "-d", os.environ["TIDEMARK_DATABASE_URL"]],
                           input=statement, stdout=subprocess.PIPE, check=True, text=True)
    return [json.loads(line) for line in found.stdout.split("\n") if line]


def read_xdr(what, texts):
    """The driver's JSON of each text of bytea."""
    if not texts:
        return []
    done = subprocess.run([DRIVER, what], input="".join(t[2:] + "\n" for t in texts), stdout=subprocess.PIPE, check=True, text=True)
    return [json.loads(line) for line in done.stdout.split("\n") if line]


KINDS = json.loads(subprocess.run([DRIVER, "kinds"], stdout=subprocess.PIPE, check=True).stdout)
EVENTS = {kind["table"]: kind for kind in KINDS if kind["class"] == "event"}
ENTRIES = {kind["table"]: kind for kind in KINDS if kind["class"] != "event"}


def string(raw):
    """As answers write a string: what JSON in PostgreSQL cannot hold has its bytes."""
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        return {"hex": raw.hex()}
    return {"hex": raw.hex()} if "\0" in text else text


def value(field, got):
    if field["type"] in ("U64", "I128"):
        return str(got)
    if field["type"] in ("BYTES", "B32"):
        return got[2:]
    if field["type"] == "STR":
        return string(bytes.fromhex(got[2:]))
    if field["type"] == "ENUM_SYM":
        return [got]
    if field["type"] == "VEC_U64":
        return [str(one) for one in got]
    return got


def shown(kind, row, *places):
    """The fields in one of the places that have a value, with it."""
    return [(f, value(f, row[f["column"]])) for f in kind["fields"] if f["place"] in places and row[f["column"]] is not None]


def whole(kind, row, *places):
    """The map that the fields came from."""
    made = {}
    for field, got in shown(kind, row, *places):
        to = made.setdefault(field["outer"], {}) if field["outer"] else made
        to[json.dumps([field["name"]]) if field["vec_key"] else field["name"]] = got
    return made


def parts(kind, row, these):
    """Name and value of the parts that were there: optional ones may be void, which the type beside them tells."""
    for at, name in these:
        field, beside = kind["fields"][at], kind["fields"][at + 1] if at + 1 < len(kind["fields"]) else {}
        got = row[field["column"]]
        if row[(beside if beside.get("place") == "TYPE" else field)["column"]] is not None:
            yield name, None if got is None else value(field, got)


def content(kind, row):
    form = kind["forms"][row.get("form", 0) if len(kind["forms"]) > 1 else 0]
    data = list(parts(kind, row, form["data"]))
    if form["shape"] == "VALUE":
        data = data[0][1] if data else None
    else:
        data = dict(data) if form["shape"] == "MAP" else [got for _, got in data]
    return {"type": "system" if kind["system"] else "contract", "topics": [kind["name"]] + [got for _, got in parts(kind, row, form["topics"])], "data": data}


def events(roles):
    tables = [*EVENTS, "raw"]
    found = rows(" UNION ALL ".join(f"""SELECT json_build_object('table', '{name}', 'row', row_to_json(t), 'at', chain.unix(t.closed_at),
        'hash', (SELECT encode(x.hash, 'hex') FROM chain.tx AS x WHERE (x.deployment, x.ledger, x.tx) = (t.deployment, t.ledger, t.tx))) FROM event."{name}" AS t""" for name in tables))
    raw = [one for one in found if one["table"] == "raw"]
    for one, made in zip(raw, read_xdr("events", [one["row"]["xdr"] for one in raw])):
        one["made"] = made
    found.sort(key=lambda one: [one["row"][column] for column in ("ledger", "tx", "op", "event")])
    for one in found:
        row = one["row"]
        line = {"ledger": row["ledger"], "closeTime": one["at"], "tx": row["tx"], "op": row["op"], "event": row["event"]}
        if one["hash"]:
            line["hash"] = one["hash"]
        line["contract"] = row["contract"]
        if row["contract"] in roles:
            line["role"] = roles[row["contract"]]["role"]
        yield {**line, **(one.get("made") or content(EVENTS[one["table"]], row))}


def calls(roles):
    for row in rows(CALLS):
        known = roles.get(row["contract"])
        if known:
            row.update(role=known["role"], name=known["name"])
        if not row["ok"]:
            row.pop("ret")
        yield {name: got for name, got in row.items() if got is not None or name in KEPT_NULL}


def entry(kind, row):
    if kind["class"] == "instance":
        wasm = {"wasm": row["wasm"][2:]} if row["wasm"] else {}
        return "LedgerKeyContractInstance", {"executable": row["executable"], **wasm, "storage": whole(kind, row, "SLOT")}
    key = [kind["name"]] + [got for _, got in shown(kind, row, "KEY")]
    if any(field["place"] == "VALUE" for field in kind["fields"]):
        return key, next((got for _, got in shown(kind, row, "VALUE")), None)
    return key, whole(kind, row, "FIELD", "SUB")


def versions(ledger):
    """All versions that may be the newest of their key. A raw one of the same place is whole, and counts."""
    names = [*ENTRIES, "raw"]
    pick = """SELECT json_build_object('table', '{0}', 'row', row_to_json(t), 'gone', {2}) FROM {1}."{0}" AS t WHERE {3}"""
    if ledger:
        newest = 'ledger <= {1} AND NOT EXISTS (SELECT FROM history."{0}" AS n WHERE n.key_hash = t.key_hash AND n.ledger <= {1} AND (n.ledger, n.tx, n.seq) > (t.ledger, t.tx, t.seq))'
        return rows(" UNION ALL ".join(pick.format(n, "history", "removed", newest.format(n, ledger)) for n in names))
    # A removal leaves no row in state, so versions that follow a raw one are looked for in history.
    late = "EXISTS (SELECT FROM state.raw AS r WHERE r.key_hash = t.key_hash AND (t.ledger, t.tx, t.seq) > (r.ledger, r.tx, r.seq))"
    return rows(" UNION ALL ".join([pick.format(n, "state", "false", "true") for n in names] + [pick.format(n, "history", "removed", late) for n in names]))


def state(roles, ledger):
    newest = {}
    for one in versions(ledger):
        row = one["row"]
        one["place"] = (row["ledger"], row["tx"], row["seq"], one["table"] == "raw")
        before = newest.get(row["key_hash"])
        if not before or one["place"] > before["place"]:
            newest[row["key_hash"]] = one
    live = [one for one in newest.values() if not one["gone"]]
    raw = [one for one in live if one["table"] == "raw"]
    for one, key, val in zip(raw, read_xdr("values", [o["row"]["key_xdr"] for o in raw]), read_xdr("values", [o["row"]["value_xdr"] for o in raw])):
        one["made"] = key, val
    lives = dict(rows(f"SELECT DISTINCT ON (key_hash) json_build_array(key_hash, live_until) FROM history.ttl WHERE ledger <= {ledger} ORDER BY key_hash, ledger DESC, tx DESC, seq DESC"
                      if ledger else "SELECT json_build_array(key_hash, live_until) FROM state.ttl"))
    for one in live:
        row, kind = one["row"], ENTRIES.get(one["table"])
        key, val = one.get("made") or entry(kind, row)
        line = {"as_of": ledger} if ledger else {}
        line["contract"] = row["contract"]
        if row["contract"] in roles:
            line["role"] = roles[row["contract"]]["role"]
        lasting = not kind["temporary"] if kind else row["durability"]
        yield {**line, "key": key, "durability": "persistent" if lasting else "temporary", "live_until": lives.get(row["key_hash"]), "val": val}


def stored(kind, ledger=0):
    roles = {row["address"]: row for row in rows(ROLES)}
    return state(roles, ledger) if kind == "state" else {"events": events, "calls": calls}[kind](roles)


def main():
    ledger = int(sys.argv[3]) if sys.argv[2:3] == ["--ledger"] else 0
    for line in stored(sys.argv[1], ledger):
        print(json.dumps(line))


if __name__ == "__main__":
    main()
