"""Runs recorded calls in the simulator's model (replay_driver) and compares every outcome, answer, event, entry and
read function:  _replay.py DEPLOYMENT CALLS EVENTS VIEWS STATE…  Prints differences and tallies; exit 1 for any."""
import base64, json, os, re, struct, subprocess, sys
from collections import Counter

def lines(path):
    with open(path) as file:
        return [dict(json.loads(line), at=f"{os.path.basename(path)}:{n}") for n, line in enumerate(file, 1)]

def padded(data):
    return struct.pack(">I", len(data)) + data + bytes(-len(data) % 4)

def address(text):
    key = base64.b32decode(text)[1:-2]
    return struct.pack(">I", 18) + (bytes(8) if text[0] == "G" else struct.pack(">I", 1)) + key

ENCODE = {  # a letter of the model's types: the ScVal of a recorded argument
    "b": lambda v: struct.pack(">II", 0, {True: 1, False: 0}[v]),
    "u": lambda v: struct.pack(">II", 3, v),
    "U": lambda v: struct.pack(">IQ", 5, int(v)),
    "i": lambda v: struct.pack(">I", 10) + int(v).to_bytes(16, "big", signed=True),
    "x": lambda v: struct.pack(">I", 13) + padded(bytes.fromhex(v)),
    "h": lambda v: struct.pack(">I", 13) + padded(bytes.fromhex(v)),
    "s": lambda v: struct.pack(">I", 14) + padded(v.encode()),
    "y": lambda v: struct.pack(">I", 15) + padded(v.encode()),
    "a": address,
}

def encode(types, args):
    """The arguments as base64. Those that do not fit become more voids than any function takes: the model refuses."""
    types = re.findall("V?.", types or "")
    try:
        parts = [struct.pack(">III", 16, 1, len(v)) + b"".join(ENCODE[t[1]](item) for item in v) if t[0] == "V" else ENCODE[t](v)
                 for t, v in zip(types, args, strict=True)]
    except (TypeError, ValueError, KeyError, AttributeError, struct.error):
        parts = [struct.pack(">I", 1)] * 32
    return base64.b64encode(b"".join(parts)).decode()

class Model:
    def __init__(self, deployment):
        self.process = subprocess.Popen([os.environ["TIDE_BIN"] + "/replay_driver", deployment], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        self.roles = {address: name for name, address in json.load(open(deployment))["contracts"].items()}
        self.types = {(t["role"], t["fn"]): t["types"] for t in self.ask("types")}
    def ask(self, command):
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        return [json.loads(line) for line in iter(self.process.stdout.readline, ".\n") if line or sys.exit("the model ended")]
    def run(self, kind, line):
        role = re.sub("^token_.*", "synth_token", re.sub("^(usdc|xlm)$", "stellar_asset", self.roles[line["contract"]]))
        args = encode(self.types.get((role, line["fn"])), line.get("args", []))
        source = line.get("source", line["contract"])
        return self.ask(f"{kind} {line['ledger']} {line['closeTime']} {source} {line['contract']} {line['fn'] or '-'} {args}")[0]

class Tally:
    def __init__(self):
        self.all, self.equal = Counter(), Counter()
    def add(self, what, same):
        self.all[what] += 1
        self.equal[what] += same
    def same(self, line, what, want, got):
        if want != got:
            print(f"{line['at']}: {what}: recorded {json.dumps(want)[:600]}, model {json.dumps(got)[:600]}")
        return want == got

def same_outcome(tally, line, got):
    if line["ok"] != got["ok"]:
        return tally.same(line, line["fn"], line.get("reason", "accepted"), got["reason"] or "accepted")
    return not line["ok"] or tally.same(line, "answer", line["ret"], got["ret"])

def unescaped(reason):
    """The recording has the bytes that are not ASCII as \\xNN."""
    return re.sub(rb"\\x([0-9a-f]{2})", lambda m: bytes.fromhex(m[1].decode()), reason.encode()).decode(errors="replace")

def replay_call(model, tally, line, events):
    got = model.run("call", line)
    same = [same_outcome(tally, line, got),
            tally.same(line, "number of events", line["events"], len(got["events"])),
            tally.same(line, "entries changed", line["changed"], got["changed"])]
    for i in range(max(len(events), len(got["events"]))):
        at = events[i] if i < len(events) else line
        same.append(tally.same(at, "event", at.get("xdr"), dict(enumerate(got["events"])).get(i)))
        tally.add("events", same[-1])
    if not got["ok"] and not line["ok"]:
        tally.add("reasons", tally.same(line, "refused for another reason", unescaped(line["reason"]), got["reason"]))
    tally.add("accepted" if got["ok"] else "refused", True)
    tally.add("calls", all(same))

def compare_state(model, tally, recorded):
    entries, nonces = {}, Counter()
    for e in model.ask("state"):
        if "nonces" in e:
            nonces[e["contract"]] = e["nonces"]
        else:
            entries[e["contract"], e["key_xdr"], e["durability"]] = (e["val_xdr"], e["live_until"])
    for line in recorded:
        if isinstance(line["key"], dict) and "nonce" in line["key"]:  # keys of nonces are random: they are counted
            nonces[line["contract"]] -= 1
            tally.add("entries", tally.same(line, "nonces left", True, nonces[line["contract"]] >= 0))
        else:
            got = entries.pop((line["contract"], line["key_xdr"], line["durability"]), None)
            tally.add("entries", tally.same(line, "entry", (line["val_xdr"], line["live_until"]), got))
    tally.same({"at": "state"}, "entries that are not recorded", [], list(entries)[:9]) or tally.add("entries", False)
    tally.same({"at": "state"}, "nonces that are not recorded", 0, sum(nonces.values())) or tally.add("entries", False)

def main(deployment, calls, events, views, *states):
    model, tally, by_call, end = Model(deployment), Tally(), {}, {"ledger": float("inf"), "tx": 0}
    for event in lines(events):
        by_call.setdefault((event["ledger"], event["tx"]), []).append(event)
    views, states = lines(views), [lines(state) for state in states]
    for call in lines(calls) + [end]:
        for state in [s for s in states if s[0].get("as_of", end["ledger"]) < call["ledger"]]:
            compare_state(model, tally, state)
            states.remove(state)
        while views and views[0]["ledger"] < call["ledger"]:
            view = views.pop(0)
            tally.add("views", same_outcome(tally, view, model.run("view", view)))
        if call is not end:
            replay_call(model, tally, call, by_call.pop((call["ledger"], call["tx"]), []))
    for state in states:  # those of the end
        compare_state(model, tally, state)
    for event in sum(by_call.values(), []):
        tally.add("events", tally.same(event, "event", event["xdr"], None))
    n, ok = tally.all, tally.equal
    print(f"calls   {ok['calls']} of {n['calls']} equal ({n['accepted']} accepted, {n['refused']} refused; "
          f"{ok['reasons']} of {n['reasons']} reasons word for word)")
    for what in ("events", "entries", "views"):
        print(f"{what:7} {ok[what]} of {n[what]} equal")
    return any(ok[what] != n[what] for what in n if what != "reasons")

if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
