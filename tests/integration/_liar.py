"""A Stellar RPC server that lies: a proxy before an honest server that alters the answers.

    with Liar("http://127.0.0.1:8000", {"getTransaction": forge_success}) as liar: ... liar.url

A lie is a function called with (liar, params, ask) that returns the result to send; ask() returns the honest
server's result. The function may store in the liar what it has seen: sent envelopes by hash, earlier answers.
"""
import base64
import copy
import hashlib
import http.client
import http.server
import json
import random
import socketserver
import struct
import threading
import urllib.parse


class Liar:
    def __init__(self, upstream, lies=None, network=""):
        self.upstream = urllib.parse.urlparse(upstream)
        self.network_id = hashlib.sha256(network.encode()).digest()
        self.lies, self.lock = dict(lies or {}), threading.Lock()
        self.envelopes, self.held, self.old, self.told = {}, [], {}, 0

    def __enter__(self):
        liar = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                body = json.dumps(liar.answer(request)).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
            daemon_threads = True
            block_on_close = False

            def handle_error(self, *_):  # a client that was killed
                pass

        self.server = Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()

    def ask(self, method, params):
        """The honest server's result; raises Refusal with its error."""
        connection = http.client.HTTPConnection(self.upstream.hostname, self.upstream.port, timeout=10)
        try:
            body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
            connection.request("POST", "/", body, {"Content-Type": "application/json"})
            answer = json.loads(connection.getresponse().read())
        finally:
            connection.close()
        if "error" in answer:
            raise Refusal(answer["error"])
        return answer["result"]

    def answer(self, request):
        method, params = request["method"], request.get("params") or {}
        if method == "sendTransaction":
            envelope = base64.b64decode(params["transaction"])
            with self.lock:
                self.envelopes[envelope_hash(envelope, self.network_id)] = params["transaction"]
        lie = self.lies.get(method)
        answer = {"jsonrpc": "2.0", "id": request["id"]}
        try:
            if lie:
                self.told += 1
                return answer | {"result": lie(self, params, lambda: self.ask(method, params))}
            return answer | {"result": self.ask(method, params)}
        except Refusal as refusal:
            return answer | {"error": refusal.args[0]}
        except (OSError, ValueError, http.client.HTTPException) as error:
            return answer | {"error": {"code": -32603, "message": str(error)}}

    def release(self):
        """Sends what was held back."""
        with self.lock:
            held, self.held = self.held, []
        for envelope in held:
            try:
                self.ask("sendTransaction", {"transaction": envelope})
            except (Refusal, OSError):
                pass
        return len(held)


class Refusal(Exception):
    pass


def envelope_hash(envelope, network_id):
    """Of an envelope with one signature of 64 bytes; a fee bump goes by the hash of what it wraps."""
    kind = struct.unpack(">I", envelope[:4])[0]
    body = envelope[4:-(4 + 4 + 4 + 64)]
    if kind == 5:
        body = body[36 + 8:-4]  # fee source, fee; extension
        body = body[4:-(4 + 4 + 4 + 64)]
    return hashlib.sha256(network_id + struct.pack(">I", 2) + body).hexdigest()


# --- lies: each from the attack that it was in --------------------------------------------------------

def swallow(liar, params, ask):
    """Says that it has the transaction, and keeps it."""
    with liar.lock:
        liar.held.append(params["transaction"])
    latest = liar.ask("getLatestLedger", {})
    return {"status": "PENDING", "hash": "00" * 32, "latestLedger": latest["sequence"], "latestLedgerCloseTime": "0"}


def symbol(text):
    raw = text.encode()
    return struct.pack(">II", 15, len(raw)) + raw + b"\0" * (-len(raw) % 4)


def event_of(envelope):
    """The event that the call in the envelope would emit, had it happened."""
    at = envelope.index(b"\0\0\0\x18\0\0\0\0\0\0\0\1") + 12  # invoke, a contract's function, contract address
    contract = envelope[at:at + 32]
    length = struct.unpack(">I", envelope[at + 32:at + 36])[0]
    name = envelope[at + 36:at + 36 + length].decode()
    args = at + 36 + length + (-length % 4) + 4
    verifier = envelope[args:args + 44]
    subject = args + 44
    kind = struct.unpack(">I", envelope[subject + 4:subject + 8])[0]
    person = envelope[subject:subject + (44 if kind == 0 else 40)]
    body = struct.pack(">II", 0, 1) + contract + struct.pack(">II", 1, 0)
    body += struct.pack(">I", 3) + symbol(name) + verifier + person + struct.pack(">II", 0, 1)
    return base64.b64encode(body).decode()


def forge_success(liar, params, ask):
    """Whatever was sent stands in a ledger, with its event."""
    honest, envelope = ask(), liar.envelopes.get(params["hash"])
    if honest["status"] != "NOT_FOUND" or not envelope:
        return honest
    try:
        events = [[event_of(base64.b64decode(envelope))]]
    except (ValueError, struct.error):
        events = [[]]
    return honest | {"status": "SUCCESS", "ledger": honest["latestLedger"], "envelopeXdr": envelope, "applicationOrder": 1,
                     "resultXdr": base64.b64encode(struct.pack(">qii", 100, 0, 0) + b"\0" * 8).decode(),
                     "events": {"contractEventsXdr": events}}


def forge_failure(liar, params, ask):
    honest, envelope = ask(), liar.envelopes.get(params["hash"])
    if not envelope:
        return honest
    return honest | {"status": "FAILED", "ledger": honest["latestLedger"], "envelopeXdr": envelope, "events": {},
                     "resultXdr": base64.b64encode(struct.pack(">qii", 100, -1, 0) + b"\0" * 20).decode()}


def deny(liar, params, ask):
    """No transaction was ever seen."""
    honest = ask()
    return {k: honest[k] for k in ("latestLedger", "latestLedgerCloseTime", "oldestLedger", "oldestLedgerCloseTime")
            if k in honest} | {"status": "NOT_FOUND"}


def shift_time(seconds):
    def lie(liar, params, ask):
        honest = ask()
        for name in "closeTime", "latestLedgerCloseTime":
            if name in honest:
                honest[name] = str(int(honest[name]) + seconds)
        return honest
    return lie


def shift_ledger(by):
    def lie(liar, params, ask):
        honest = ask()
        for name in "sequence", "latestLedger":
            if name in honest:
                honest[name] = max(1, int(honest[name]) + by)
        return honest
    return lie


def hide_entries(kinds):
    """Entries that are there are not: kinds are the names of their keys, and "account"."""
    def lie(liar, params, ask):
        honest = ask()

        def hidden(entry):
            key = base64.b64decode(entry["key"])
            return any(k.encode() in key if k != "account" else key[:4] == b"\0\0\0\0" for k in kinds)
        honest["entries"] = [e for e in honest.get("entries") or [] if not hidden(e)]
        return honest
    return lie


FOREIGN = b"\xf0" * 32  # code or a contract that is not the registry's: in nothing that is signed


def scval_end(raw, at):
    """Behind the ScVal at that place, of the kinds that keys have."""
    kind = struct.unpack(">I", raw[at:at + 4])[0]
    at += 4
    if kind in (13, 14, 15):  # bytes, text, symbol
        size = struct.unpack(">I", raw[at:at + 4])[0]
        return at + 4 + size + (-size % 4)
    if kind == 16:  # a vector
        count = struct.unpack(">I", raw[at + 4:at + 8])[0]
        at += 8
        for _ in range(count):
            at = scval_end(raw, at)
        return at
    if kind == 18:  # an address
        return at + (40 if raw[at:at + 4] == b"\0\0\0\0" else 36)
    return at + {0: 4, 1: 0, 3: 4, 4: 4, 5: 8, 6: 8, 9: 16, 10: 16, 20: 0, 21: 8}[kind]


def key_end(raw, at):
    kind = struct.unpack(">I", raw[at:at + 4])[0]
    if kind == 7:
        return at + 36
    address = 44 if raw[at + 4:at + 8] == b"\0\0\0\0" else 40
    return scval_end(raw, at + (4 if kind == 6 else 0) + address - 4) + 4


class Resources:
    """SorobanTransactionData in pieces: indices of archived entries, keys that are read, that are written, the rest."""

    def __init__(self, raw):
        at = 4
        self.archived = []
        if raw[:4] == b"\0\0\0\1":
            count = struct.unpack(">I", raw[4:8])[0]
            self.archived = list(struct.unpack(f">{count}I", raw[8:8 + 4 * count]))
            at = 8 + 4 * count
        self.halves = []
        for _ in range(2):
            count, keys = struct.unpack(">I", raw[at:at + 4])[0], []
            at += 4
            for _ in range(count):
                end = key_end(raw, at)
                keys.append(raw[at:end])
                at = end
            self.halves.append(keys)
        self.read, self.write = self.halves
        self.rest = raw[at:]

    def raw(self):
        out = struct.pack(">I", 0)
        if self.archived:
            out = struct.pack(f">II{len(self.archived)}I", 1, len(self.archived), *self.archived)
        for keys in self.read, self.write:
            out += struct.pack(">I", len(keys)) + b"".join(keys)
        return out + self.rest


def code_in(keys):
    return next((i for i, k in enumerate(keys) if k[:4] == b"\0\0\0\7"), None)


def restore_code(r):
    """The registry's code, which is not archived."""
    at = code_in(r.read)
    if at is not None:
        r.write.append(r.read.pop(at))
        r.archived = sorted(r.archived + [len(r.write) - 1])


def restore_foreign_code(r):
    restore_code(r)
    r.write[-1] = r.write[-1][:4] + FOREIGN


def add_foreign_code(r):
    r.write.append(b"\0\0\0\7" + FOREIGN)
    r.archived = sorted(r.archived + [len(r.write) - 1])


def read_foreign_code(r):
    r.read.append(b"\0\0\0\7" + FOREIGN)


def restore_foreign_entry(r):
    instance = next(k for k in r.read + r.write if k[:4] == b"\0\0\0\6")
    r.write.append(instance[:8] + FOREIGN + instance[40:])
    r.archived = sorted(r.archived + [len(r.write) - 1])


def write_code(r):
    """Code that is written without being restored."""
    restore_code(r)
    r.archived = []


def list_all(r):
    r.archived = list(range(len(r.write)))


def list_wrongly(r):
    r.archived = [len(r.write)]


def list_backwards(r):
    r.archived = list(range(len(r.write)))[::-1]


FOOTPRINTS = [restore_code, restore_foreign_code, add_foreign_code, read_foreign_code, restore_foreign_entry, write_code, list_all,
              list_wrongly, list_backwards]


def alter_footprint(*changes):
    """What a simulation says is read, written and restored."""
    def alter(liar, params, ask):
        honest = ask()
        if "transactionData" in honest:
            try:
                resources = Resources(base64.b64decode(honest["transactionData"]))
                for change in changes:
                    change(resources)
                honest["transactionData"] = base64.b64encode(resources.raw()).decode()
            except (KeyError, IndexError, StopIteration, struct.error):
                pass
        return honest
    return alter


def name_foreign_code(liar, params, ask):
    """The registry's instance with another wasm."""
    honest = ask()
    for entry in honest.get("entries") or []:
        raw = base64.b64decode(entry["xdr"])
        at = raw.find(b"\0\0\0\x13\0\0\0\0")  # ContractInstance, wasm
        if at > 0 and base64.b64decode(entry["key"])[40:44] == b"\0\0\0\x14":
            entry["xdr"] = base64.b64encode(raw[:at + 8] + FOREIGN + raw[at + 40:]).decode()
    return honest


def unready(liar, params, ask):
    """Trouble of the server, always."""
    return {"latestLedger": ask()["latestLedger"], "error": "setting ContractComputeV0 is not present in the snapshot\n\nStack backtrace:"}


def refuse_all(liar, params, ask):
    return {"latestLedger": ask()["latestLedger"], "error": "HostError: Error(Contract, #7)"}


def make_dear(fee):
    def lie(liar, params, ask):
        honest = ask()
        if "minResourceFee" in honest:
            honest["minResourceFee"] = str(fee)
        for name in "sorobanInclusionFee", "inclusionFee":
            if name in honest:
                honest[name] = {k: str(fee) for k in honest[name]}
        return honest
    return lie


def stale(liar, params, ask):
    """What it said when it was first asked this."""
    key = json.dumps(params, sort_keys=True)
    if key not in liar.old:
        liar.old[key] = ask()
    old, latest = copy.deepcopy(liar.old[key]), liar.ask("getLatestLedger", {})
    if "latestLedger" in old:
        old["latestLedger"] = latest["sequence"]
    return old


def say_status(status):
    def lie(liar, params, ask):
        return ask() | {"status": status}
    return lie


def mutate(seed, chance=0.5):
    """Any field, at any step: a number is another one, a text is cut, flipped or exchanged, a member is gone."""
    rng = random.Random(seed)

    def walk(value, path=()):
        if isinstance(value, dict):
            for k in value:
                yield from walk(value[k], path + (k,))
        elif isinstance(value, list):
            for i, v in enumerate(value):
                yield from walk(v, path + (i,))
        else:
            yield path

    def other(value):
        kind = rng.randrange(9)
        if kind == 0:
            return None
        if kind == 1:
            return rng.choice([[], {}, True, "", -1, 0, 2 ** 31, 2 ** 32, 2 ** 53, "-1", str(2 ** 63), str(2 ** 64)])
        if isinstance(value, bool) or value is None:
            return not value
        if isinstance(value, int):
            return value + rng.choice([-9000, -3, -1, 1, 3, 60, 9000])
        if str(value).lstrip("-").isdigit():
            return str(int(value) + rng.choice([-315360000, -9000, -60, -1, 1, 60, 9000, 315360000]))
        try:
            raw = bytearray(base64.b64decode(value, validate=True))
            if raw and kind < 6:
                raw[rng.randrange(len(raw))] ^= 1 << rng.randrange(8)
                return base64.b64encode(raw).decode()
        except ValueError:
            pass
        return rng.choice([value[:len(value) // 2], value[::-1], "SUCCESS", "FAILED", "NOT_FOUND", "PENDING", "ERROR",
                           "DUPLICATE", "TRY_AGAIN_LATER"])

    def lie(liar, params, ask):
        honest = ask()
        if rng.random() >= chance:
            return honest
        for _ in range(rng.randint(1, 3)):
            paths = list(walk(honest))
            if not paths:
                break
            *path, last = rng.choice(paths)
            at = honest
            for step in path:
                at = at[step]
            if rng.random() < 0.15 and isinstance(at, dict):
                del at[last]
            else:
                at[last] = other(at[last])
        return honest
    return lie


LIES = {
    "getLatestLedger": [shift_time(315360000), shift_time(-315360000), shift_time(7200), shift_ledger(9000), shift_ledger(-9000)],
    "getTransaction": [forge_success, forge_failure, deny, shift_time(315360000), shift_time(3000), shift_time(-3000),
                       shift_ledger(9000), shift_ledger(100)],
    "sendTransaction": [swallow, say_status("PENDING"), say_status("ERROR"), say_status("TRY_AGAIN_LATER")],
    "getLedgerEntries": [hide_entries(["account"]), hide_entries(["Kyc"]), hide_entries(["ComplianceRec"]), hide_entries(["Frozen"]),
                         hide_entries(["Kyc", "ComplianceRec"]), hide_entries(["Verifier"]), stale, name_foreign_code,
                         shift_ledger(9000)],
    "simulateTransaction": [*(alter_footprint(f) for f in FOOTPRINTS), unready, refuse_all, make_dear(4000000000), make_dear(9000000), make_dear(1), stale],
    "getFeeStats": [make_dear(4000000000), make_dear(0)],
}


def random_lies(rng):
    """What a server lies about, at every step or at some."""
    lies = {}
    for method, known in LIES.items():
        kind = rng.random()
        if kind < 0.45:
            lies[method] = rng.choice(known)
        elif kind < 0.65:
            lies[method] = mutate(rng.random(), rng.choice([0.2, 0.5, 1]))
    return lies
