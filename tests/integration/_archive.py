"""History archives of simulated chains, and archives that lie.

    ledgers = read_ledgers(stream)                   # of `tidemark-sim write --stream FILE`
    write_archive(folder, ledgers, votes)            # votes(ledger): the envelopes of its SCPHistoryEntry
"""
import gzip
import hashlib
import os
import struct

CHECKPOINT = 64


def words(*numbers):
    return b"".join(struct.pack(">I", n) for n in numbers)


def opaque(data):
    return words(len(data)) + data + bytes(-len(data) % 4)


def sha(data):
    return hashlib.sha256(data).digest()


class Ledger:
    """One ledger of a stream of LedgerCloseMeta 2."""

    def __init__(self, meta):
        at = 8
        self.hash, self.previous = meta[at:at + 32], meta[at + 36:at + 68]
        value = at + 68
        at = value + 40
        count, = struct.unpack_from(">I", meta, at)
        at += 4
        for _ in range(count):
            length, = struct.unpack_from(">I", meta, at)
            at += 4 + length + -length % 4
        arm, = struct.unpack_from(">I", meta, at)
        at += 4
        if arm == 1:  # signed by its proposer
            length, = struct.unpack_from(">I", meta, at + 36)
            at += 36 + 4 + length + -length % 4
        self.value = meta[value:at]
        self.sequence, = struct.unpack_from(">I", meta, at + 64)
        end = at + 64 + 4 + 8 + 8 + 4 + 8 + 12 + 128
        assert meta[end:end + 8] == bytes(8), "no extensions"
        self.header = meta[8:end + 8]
        self.tx_set = self.find_set(meta, end + 8)

    def find_set(self, meta, begin):
        """The set's bytes: as many as have the hash that the header names."""
        wanted, h = self.value[:32], hashlib.sha256(meta[begin:begin + 40])
        for end in range(begin + 40, len(meta), 4):
            if h.digest() == wanted:
                return meta[begin:end]
            h.update(meta[end:end + 4])
        raise ValueError(f"ledger {self.sequence}: no transaction set")

    def renamed(self, previous):
        """The same ledger behind another one: its value and set."""
        other = object.__new__(Ledger)
        other.__dict__.update(self.__dict__)
        other.tx_set = self.tx_set[:4] + previous + self.tx_set[36:]
        other.value = sha(other.tx_set) + self.value[32:]
        return other

    @property
    def empty_value(self):
        """A value of protocol 28 that names no set: STELLAR_VALUE_EMPTY_TX_SET."""
        return bytes(32) + self.value[32:40] + words(0, 2) + sha(b"proposed") + self.previous + words(28, 0) + bytes(32) + opaque(bytes(64))


def read_ledgers(path):
    with open(path, "rb") as stream:
        while mark := stream.read(4):
            yield Ledger(stream.read(struct.unpack(">I", mark)[0] & 0x7fffffff))


def statement(key, slot, value):
    return words(0) + key + struct.pack(">Q", slot) + words(2, 1) + opaque(value) + words(1) + bytes(32)


def envelope(network, account, slot, value):
    said = statement(account.public, slot, value)
    return said + opaque(account.sign(sha(network.encode()) + words(1) + said))


def old_form(ledger):
    """A TransactionHistoryEntry with the bytes of the set in the place of one from before protocol 20."""
    return words(ledger.sequence) + ledger.tx_set[:32] + words(1) + ledger.tx_set[32:] + words(0)


def new_form(ledger):
    return words(ledger.sequence) + bytes(32) + words(0, 1) + ledger.tx_set


def put_file(folder, kind, checkpoint, data):
    name = f"{checkpoint:08x}"
    path = os.path.join(folder, kind, name[:2], name[2:4], name[4:6], f"{kind}-{name}.xdr.gz")
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with gzip.open(path, "wb", compresslevel=6) as file:
        file.write(data)
    return path


def record(data):
    return words(0x80000000 | len(data)) + data


def write_archive(folder, ledgers, votes, set_of=new_form):
    """Writes the complete checkpoints. votes(ledger) lists envelopes; set_of(ledger) is a TransactionHistoryEntry."""
    for checkpoint in range(CHECKPOINT - 1, ledgers[-1].sequence + 1, CHECKPOINT):
        of = [l for l in ledgers if checkpoint - CHECKPOINT < l.sequence <= checkpoint]
        if not of:
            continue
        scp = b""
        for ledger in of:
            given = votes(ledger)
            if given:
                scp += record(words(0, 0, ledger.sequence, len(given)) + b"".join(given))
        put_file(folder, "scp", checkpoint, scp)
        put_file(folder, "transactions", checkpoint, b"".join(record(set_of(l)) for l in of if len(l.tx_set) > 60))
        put_file(folder, "ledger", checkpoint, b"".join(record(l.header) for l in of))


def by_validators(network, *signers):
    """Votes of all signers for the last two ledgers of each checkpoint; fewer keep tests short."""
    return lambda l: [envelope(network, s, l.sequence, l.value) for s in signers] if l.sequence % CHECKPOINT >= CHECKPOINT - 2 else []
