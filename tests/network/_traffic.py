"""Traffic on a private network: a token of the real code and the asset contract of lumens, transferred in circles.

    traffic = Traffic(network, wasm); traffic.prepare(); traffic.begin(); … traffic.end()

What is needed to invoke is simulated once, by an RPC server. Then transactions go to validators alone, so traffic
goes on whichever RPC server is away.
"""
import base64
import hashlib
import json
import struct
import threading
import time

from _ed25519 import Account, strkey
from _validators import until

TX, CONTRACT_ID = 2, 8  # envelope types that are hashed
ACCOUNTS = 6
SIMULATIONS = 40  # a real server sometimes says that a setting is not in its snapshot


def var(data):
    return struct.pack(">I", len(data)) + data + b"\0" * (-len(data) % 4)


def address(who):  # an Account, or the 32 bytes of a contract
    return struct.pack(">II", 0, 0) + who.public if isinstance(who, Account) else struct.pack(">I", 1) + who


def of_address(who):
    return struct.pack(">I", 18) + address(who)


def of_i128(n):
    return struct.pack(">IqQ", 10, n >> 64, n & (1 << 64) - 1)


def of_u32(n):
    return struct.pack(">II", 3, n)


def of_string(text):
    return struct.pack(">I", 14) + var(text.encode())


def raw_of(account):
    return struct.pack(">I", 0) + account.public


def create_account(who, stroops):
    return struct.pack(">II", 0, 0) + raw_of(who) + struct.pack(">q", stroops)


def payment(to, stroops):
    return struct.pack(">II", 0, 1) + raw_of(to) + struct.pack(">Iq", 0, stroops)


def host(function, auth=()):
    return struct.pack(">II", 0, 24) + function + struct.pack(">I", len(auth)) + b"".join(auth)


def invoke(contract, name, *args):
    return struct.pack(">I", 0) + address(contract) + var(name.encode()) + struct.pack(">I", len(args)) + b"".join(args)


def upload(wasm):
    return struct.pack(">I", 2) + var(wasm)


class Traffic:
    def __init__(self, network, wasm, seed="traffic"):
        self.network, self.wasm, self.seed = network, wasm, seed
        self.accounts = [self.key(f"account {i}") for i in range(ACCOUNTS)]
        self.root, self.sequences = network.root, {}
        self.sent = self.refused = 0
        self.thread, self.ending, self.templates = None, threading.Event(), []
        self.first = 2  # ledger, the one before all of it
        self.lumens = self.contract_id(struct.pack(">II", 1, 0))
        self.token = self.contract_id(self.preimage())

    def key(self, name):
        return Account(hashlib.sha256(f"{self.seed}/{name}".encode()).digest())

    def preimage(self):
        return struct.pack(">I", 0) + address(self.root) + hashlib.sha256(f"{self.seed}/token".encode()).digest()

    def contract_id(self, preimage):
        return hashlib.sha256(struct.pack(">I", CONTRACT_ID) + self.network.id + preimage).digest()

    def deployment(self):
        """The deployment file's content for what prepare() deploys."""
        contracts = {"xlm": self.lumens, "token_sGOLD": self.token}
        return {"network": self.network.passphrase, "first_ledger": self.first,
                "contracts": {name: strkey(2 << 3, contract) for name, contract in contracts.items()},
                "accounts": {f"account{i}": account.address for i, account in enumerate(self.accounts)}}

    # --- transactions ---------------------------------------------------------------------------
    def transaction(self, source, sequence, fee, operations, soroban=b""):
        body = struct.pack(">I", 0) + source.public + struct.pack(">IqIII", fee, sequence, 0, 0, len(operations))
        return body + b"".join(operations) + (struct.pack(">I", 1) + soroban if soroban else struct.pack(">I", 0))

    def envelope(self, source, body, sign=True):
        digest = hashlib.sha256(self.network.id + struct.pack(">I", TX) + body).digest()
        signatures = struct.pack(">I", 1) + source.public[-4:] + var(source.sign(digest)) if sign else struct.pack(">I", 0)
        return struct.pack(">I", TX) + body + signatures

    def call(self, method, **params):
        """What the first RPC server that answers says."""
        for server in self.network.servers:
            try:
                answer = server.call(method, **params) if server.running else None
            except RuntimeError:  # a server that is not ready yet refuses
                answer = None
            if answer is not None:
                return answer
        return None

    def sequence(self, account):
        """The number of its last transaction, from the ledger."""
        key = base64.b64encode(struct.pack(">I", 0) + raw_of(account)).decode()
        answer = self.call("getLedgerEntries", keys=[key])
        if not answer or not answer["entries"]:
            return None
        data = base64.b64decode(answer["entries"][0]["xdr"])
        return struct.unpack(">q", data[4 + 36 + 8:4 + 36 + 16])[0]

    def simulate(self, source, function):
        """Auth entries, transaction data and fee of an invocation."""
        body = self.transaction(source, 1, 100, [host(function)])
        draft = base64.b64encode(self.envelope(source, body, sign=False)).decode()
        for _ in range(SIMULATIONS):
            answer = self.call("simulateTransaction", transaction=draft)
            if answer and "error" not in answer:
                break
            if answer and "HostError" in answer["error"]:
                raise RuntimeError(answer["error"][:400])
            time.sleep(0.3)
        else:
            raise RuntimeError(f"no simulation: {answer}")
        auth = [base64.b64decode(text) for text in (answer.get("results") or [{}])[0].get("auth") or []]
        fee = int(answer["minResourceFee"]) * 2 + 1_000_000
        data = base64.b64decode(answer["transactionData"])[:-8] + struct.pack(">q", fee)
        return auth, data, fee + 1000

    def submit(self, envelope):
        """To each validator that runs: those beside one that is behind take it too."""
        said = [v.submit(envelope) for v in self.network.validators if v.running]
        return "PENDING" if "PENDING" in said or "DUPLICATE" in said else next((s for s in said if s), None)

    def send(self, source, operations, soroban=b"", fee=10_000):
        """Sends one and waits until it is in a ledger."""
        numbers = until(lambda: [n for n in [self.sequence(source)] if n is not None], f"account {source.address}")
        body = self.transaction(source, numbers[0] + 1, fee, operations, soroban)
        envelope = self.envelope(source, body)
        until(lambda: self.submit(envelope) == "PENDING", "a validator that takes a transaction")
        digest = hashlib.sha256(self.network.id + struct.pack(">I", TX) + body).hexdigest()

        def final():
            answer = self.call("getTransaction", hash=digest) or {}
            return answer if answer.get("status") in ("SUCCESS", "FAILED") else None
        answer = until(final, f"transaction {digest}")
        if answer["status"] != "SUCCESS":
            raise RuntimeError(f"transaction {digest} failed: {json.dumps(answer)[:400]}")

    def invoke(self, source, function):
        auth, data, fee = self.simulate(source, function)
        self.send(source, [host(function, auth)], data, fee)

    # --- the world ------------------------------------------------------------------------------
    def prepare(self):
        """Makes accounts and contracts, and simulates each transfer once."""
        self.first = self.network.ledger
        self.send(self.root, [create_account(a, 10_000 * 10**7) for a in self.accounts])
        with open(self.wasm, "rb") as file:
            code = file.read()
        self.invoke(self.root, struct.pack(">III", 1, 1, 0) + struct.pack(">I", 1))  # the contract of the native asset
        self.invoke(self.root, upload(code))
        self.invoke(self.root, struct.pack(">I", 1) + self.preimage() + struct.pack(">I", 0) + hashlib.sha256(code).digest())
        self.invoke(self.root, invoke(self.token, "initialize", of_address(self.root), of_address(self.root),
                                      of_string("Synthetic Gold"), of_string("sGOLD"), of_u32(7)))
        for i, account in enumerate(self.accounts):
            if self.contract_of(i) == self.token:
                self.invoke(self.root, invoke(self.token, "mint", of_address(account), of_i128(10**12)))
        for i, account in enumerate(self.accounts):
            to = self.accounts[(i + 1) % ACCOUNTS]
            function = invoke(self.contract_of(i), "transfer", of_address(account), of_address(to), of_i128(1000 + i))
            auth, data, fee = self.simulate(account, function)
            self.templates.append(([host(function, auth)], data, fee))

    def contract_of(self, i):
        return self.lumens if i % 3 == 2 else self.token

    def begin(self):
        self.ending.clear()
        self.thread = threading.Thread(target=self.turn, daemon=True)
        self.thread.start()

    def end(self):
        self.ending.set()
        self.thread.join()

    def turn(self):
        """Each account sends once a ledger, mostly an invocation, now and then a payment."""
        turn = 0
        while not self.ending.wait(0.8):
            for i, account in enumerate(self.accounts):
                if self.ending.is_set():
                    return
                try:
                    self.send_next(i, account, turn)
                except RuntimeError:
                    self.sequences.pop(i, None)
            turn += 1

    def send_next(self, i, account, turn):
        number = self.sequences.get(i) or self.sequence(account)
        if number is None:
            return
        operations, data, fee = self.templates[i]
        if (turn + i) % 5 == 0:
            operations, data, fee = [payment(self.accounts[(i + 3) % ACCOUNTS], 10 + i)], b"", 10_000
        said = self.submit(self.envelope(account, self.transaction(account, number + 1, fee, operations, data)))
        if said == "PENDING":
            self.sequences[i] = number + 1
            self.sent += 1
        elif said != "TRY_AGAIN_LATER":
            self.sequences.pop(i, None)
            self.refused += 1
