"""A ledger that follows another one and was never closed. Everything in it hashes; only its network does not have it."""
import base64
import hashlib
import struct
import threading

HASH = 32


def header_at(lcm):
    """Where the hash of the header begins, after the version and its extension."""
    version, extension = struct.unpack_from(">II", lcm)
    return 4 if version == 0 else 8 + (12 if extension else 0)


def value_end(lcm, at):
    """The end of a StellarValue: set hash, close time, upgrades, and for some arms a signature."""
    at += HASH + 8
    upgrades, at = struct.unpack_from(">I", lcm, at)[0], at + 4
    for _ in range(upgrades):
        at += 4 + -(-struct.unpack_from(">I", lcm, at)[0] // 4) * 4
    arm, at = struct.unpack_from(">I", lcm, at)[0], at + 4
    if arm:
        at += 4 + HASH
        at += 4 + -(-struct.unpack_from(">I", lcm, at)[0] // 4) * 4
    return at


def header_end(lcm, at):
    at = value_end(lcm, at + 4 + HASH) + 2 * HASH
    at += 4 + 8 + 8 + 4 + 8 + 4 + 4 + 4 + 4 * HASH
    return at + 4 + (8 if struct.unpack_from(">I", lcm, at)[0] else 0)


def follow(entry, late=5):
    """The getLedgers entry of a ledger without transactions that follows this one and closes so many seconds later."""
    lcm = base64.b64decode(entry["metadataXdr"])
    start, version = header_at(lcm), struct.unpack_from(">I", lcm)[0]
    header = bytearray(lcm[start + HASH:header_end(lcm, start + HASH)])
    value, results = 4 + HASH, value_end(header, 4 + HASH)
    close_time = struct.unpack_from(">Q", header, value + HASH)[0] + late
    set_ = struct.pack(">I", 1) + lcm[start:start + HASH] + struct.pack(">IIIII", 2, 0, 0, 0, 0)  # two phases without components
    header[4:value] = lcm[start:start + HASH]
    header[value:value + HASH] = hashlib.sha256(set_).digest()
    struct.pack_into(">Q", header, value + HASH, close_time)
    header[results:results + HASH] = hashlib.sha256(bytes(4)).digest()
    struct.pack_into(">I", header, results + 2 * HASH, entry["sequence"] + 1)
    head = hashlib.sha256(header).digest() + header + bytes(4)
    # no results, upgrades or votes; size of the state; no evicted keys
    meta = struct.pack(">II", version, 0) + head + set_ + bytes(3 * 4 + 8 + 4)
    return {**entry, "sequence": entry["sequence"] + 1, "hash": head[:HASH].hex(), "ledgerCloseTime": str(close_time),
            "headerXdr": base64.b64encode(head).decode(), "metadataXdr": base64.b64encode(meta).decode()}


class Early:
    """A server that gives forged ledgers before its network closes them, and stands by them."""

    def __init__(self, ask, most=1):
        self.ask, self.most, self.forged, self.lock = ask, most, {}, threading.Lock()  # ask(method, params): an honest server's result

    def page(self, start, limit):
        return self.ask("getLedgers", {"startLedger": start, "pagination": {"limit": limit}})

    def extend(self, latest):
        """Forges what is missing of the `most` ledgers behind the network's newest one; the number of the last one."""
        newest = max(self.forged, default=latest)
        while newest < latest + self.most:
            self.forged[newest + 1] = follow(self.forged.get(newest) or self.page(newest, 1)["ledgers"][0])
            newest += 1
        return newest

    def answer(self, method, params):
        """The result of getLatestLedger or getLedgers."""
        with self.lock:
            latest = self.ask("getLatestLedger", {})
            newest = self.extend(latest["sequence"])
            if method == "getLatestLedger":
                return {**latest, "sequence": newest, "id": self.forged[newest]["hash"]}
            start, limit, first = params["startLedger"], params["pagination"]["limit"], min(self.forged)
            page = self.page(start if start < first else first - 1, limit)
            ledgers = [entry for entry in page["ledgers"] if start <= entry["sequence"] < first]
            ledgers += [self.forged[n] for n in range(max(start, first), newest + 1)]
            return {**page, "ledgers": ledgers[:limit], "latestLedger": newest}
