"""What verify_events.sh checks.   usage: _verify_events.py URL DEPLOYMENT"""
import base64
import os
import pathlib
import struct
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _liar import Liar  # noqa: E402

URL, DEPLOYMENT = sys.argv[1:3]
TX, OP = 1 << 12, 1
PAGE = 1000


def check(good, text):
    if not good:
        sys.exit(f"FAIL: {text}")


def sql(text):
    done = subprocess.run([f"{os.environ['PG_BIN']}/psql", "-XAtq", "-v", "ON_ERROR_STOP=1", "-h", os.environ["PG_DIR"], "-p", "5432", "-U", "postgres", "-c", text],
                          capture_output=True, text=True)
    check(done.returncode == 0, done.stderr)
    return done.stdout.strip()


def verify(url):
    """Exit code and output; events alone are looked at, the rows of a moved event differ from the source's too."""
    done = subprocess.run([f"{os.environ['TIDE_BIN']}/tidemark-indexer", "verify", "--deployment", DEPLOYMENT, "--rpc", url, "--retry-ms-max", "20"],
                          capture_output=True, text=True, timeout=100)
    return done.returncode, done.stdout + done.stderr


def listed_wrong(said):
    return [line for line in said.splitlines() if line.startswith("WRONG") and "getEvents" in line]


def place(event):
    toid, index = event["id"].split("-")
    return int(toid) >> 32, int(toid) >> 12 & (1 << 20) - 1, int(toid) & 4095, int(index)


def xdr(event):
    """The ContractEvent of an event that getEvents lists."""
    contract = base64.b32decode(event["contractId"])[1:33]
    topics = [base64.b64decode(topic) for topic in event["topic"]]
    return (struct.pack(">II", 0, 1) + contract + struct.pack(">III", 1, 0, len(topics)) + b"".join(topics) + base64.b64decode(event["value"])).hex()


def make_raw(ask):
    """Moves an event of the protocol to event.raw, as an older build stored it that did not know its kind."""
    names = sql("SELECT DISTINCT contract FROM event.liquidity_pool_swap").split()
    first = int(sql("SELECT min(ledger) FROM event.log"))
    events = ask("getEvents", {"startLedger": first, "filters": [{"contractIds": names[:5]}], "pagination": {"limit": PAGE}})["events"]
    for event in events:
        at = " AND ".join(f"{name} = {value}" for name, value in zip(("ledger", "tx", "op", "event"), place(event)))
        if sql(f"SELECT 1 FROM event.log WHERE {at} AND contract = '{event['contractId']}'"):
            sql(f"INSERT INTO event.raw SELECT deployment, ledger, tx, op, event, closed_at, contract, 1, 'test', '\\x{xdr(event)}' FROM event.log WHERE {at}; DELETE FROM event.log WHERE {at}")
            return at, place(event)
    check(False, "no event to move")


def raw_rows(ask):
    at, where = make_raw(ask)
    _, said = verify(URL)
    check(not listed_wrong(said) and "(1 raw)" in said, f"a raw row that is right: {said}")
    row = sql(f"SELECT xdr FROM event.raw WHERE {at}")
    sql(f"UPDATE event.raw SET xdr = set_byte(xdr, length(xdr) - 1, get_byte(xdr, length(xdr) - 1) # 1) WHERE {at}")
    code, said = verify(URL)
    check(code == 68 and any(f"event.raw: ledger {where[0]}," in line for line in listed_wrong(said)), f"an altered raw row: exit {code}: {said}")
    sql(f"UPDATE event.raw SET xdr = '{row}' WHERE {at}; CREATE TABLE public.raw AS SELECT * FROM event.raw WHERE {at}; DELETE FROM event.raw WHERE {at}")
    code, said = verify(URL)
    check(code == 68 and any(f"ledger {where[0]}:" in line for line in listed_wrong(said)), f"a missing raw row: exit {code}: {said}")
    sql("INSERT INTO event.raw SELECT * FROM public.raw")
    print("ok rows that are stored raw are compared: altered and missing ones are found")


def start_of(liar, params):
    liar.turn = getattr(liar, "turn", 0) + 1
    return params.get("startLedger") or int(params["pagination"]["cursor"].split("-")[0]) >> 32


def creep(liar, params, ask):
    """No events, and a cursor that goes on by one place for ever."""
    return {"events": [], "cursor": f"{(start_of(liar, params) << 32) + TX + OP:019d}-{liar.turn:010d}", "latestLedger": 0}


def swing(liar, params, ask):
    """No events, and a cursor that goes back and forth."""
    return {"events": [], "cursor": f"{(start_of(liar, params) << 32) + TX + OP:019d}-{liar.turn % 2:010d}", "latestLedger": 0}


def pour(liar, params, ask):
    """Full pages of events that no ledger has, for ever."""
    ledger, event = start_of(liar, params), dict(template)
    first = liar.turn * PAGE
    ids = [f"{(ledger << 32) + TX + OP:019d}-{i:010d}" for i in range(first, first + PAGE)]
    return {"events": [event | {"id": i, "ledger": ledger} for i in ids], "cursor": ids[-1], "latestLedger": 0}


def endless_lists(ask):
    for lie, wanted, pattern in ((creep, 65, "the cursor does not go on"), (swing, 65, "the cursor does not go on"), (pour, 68, "lists more than")):
        with Liar(URL, {"getEvents": lie}) as liar:
            try:
                code, said = verify(liar.url)
            except subprocess.TimeoutExpired:
                check(False, f"{lie.__name__}: verify does not end; {liar.told} requests")
            check(code == wanted and pattern in said, f"{lie.__name__}: exit {code}, wanted {wanted} and \"{pattern}\": {said[-600:]}")
    print("ok lists without end are left")


with Liar(URL) as honest:
    template = honest.ask("getEvents", {"startLedger": int(sql("SELECT min(ledger) FROM event.log")), "filters": [], "pagination": {"limit": 1}})["events"][0]
    raw_rows(honest.ask)
    endless_lists(honest.ask)
