#!/usr/bin/env python3
"""Forges a copy of a history archive, for audit.sh.

usage: _audit_archive.py ARCHIVE CHECKPOINT ATTACK     changes the files of the folder in place
       _audit_archive.py ARCHIVE CHECKPOINT large FILE NAME  adds a packed bucket of that name to the oldest level; prints the header's hash
       _audit_archive.py serve ARCHIVE PORT_FILE KIND  serves the folder over HTTP; buckets come slowly, without end, or cut once.
       Then the rest: "cut" gives it, "cut_whole" the whole file, "cut_elsewhere" other bytes and says so, "cut_lies" other bytes. Prints how often each was asked for

Attacks: byte, level, older, number, twice, unsorted, bomb, entry, code. twice and unsorted have right hashes throughout, up to the header: they print that header's
hash, which the test stores as the index's. entry alters values, code the bytes of each code, with right hashes up to the header too.
"""
import gzip
import hashlib
import http.server
import json
import pathlib
import shutil
import struct
import sys
import time

EMPTY = "0" * 64


def name_of(kind, checkpoint, end):
    h = f"{checkpoint:08x}"
    return f"{kind}/{h[:2]}/{h[2:4]}/{h[4:6]}/{kind}-{h}.{end}"


class Archive:
    def __init__(self, root, checkpoint):
        self.root, self.checkpoint = pathlib.Path(root), checkpoint
        self.state = json.loads(self.path("history", "json").read_text())

    def path(self, kind, end):
        return self.root / name_of(kind, self.checkpoint, end)

    def bucket_path(self, name):
        return self.root / f"bucket/{name[:2]}/{name[2:4]}/{name[4:6]}/bucket-{name}.xdr.gz"

    def bucket(self, name):
        return gzip.decompress(self.bucket_path(name).read_bytes())

    def put_bucket(self, data):
        name = hashlib.sha256(data).hexdigest()
        path = self.bucket_path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(gzip.compress(data, 1))
        return name

    def save(self):
        self.path("history", "json").write_text(json.dumps(self.state))

    def levels(self):
        return self.state["currentBuckets"]

    def largest(self):
        """(level, half) of the largest bucket of the live list."""
        places = [(i, half) for i in range(11) for half in ("curr", "snap") if self.levels()[i][half] != EMPTY]
        return max(places, key=lambda p: len(self.bucket(self.levels()[p[0]][p[1]])))

    def list_hash(self, member):
        levels = (hashlib.sha256(bytes.fromhex(x["curr"] + x["snap"])).digest() for x in self.state[member])
        return hashlib.sha256(b"".join(levels)).digest()

    def seal(self):
        """Writes the lists' hash into the header; returns the header's new hash."""
        self.save()
        hashed = hashlib.sha256(self.list_hash("currentBuckets") + self.list_hash("hotArchiveBuckets")).digest()
        path = self.path("ledger", "xdr.gz")
        out, header_hash = b"", None
        for record in records(gzip.decompress(path.read_bytes())):
            if struct.unpack(">I", record[32 + 148 : 32 + 152])[0] == self.checkpoint:
                header = record[32:-4]
                header = header[:116] + hashed + header[148:]
                header_hash = hashlib.sha256(header).digest()
                record = header_hash + header + record[-4:]
            out += framed(record)
        path.write_bytes(gzip.compress(out, 1))
        return header_hash.hex()


def records(data):
    while data:
        length = struct.unpack(">I", data[:4])[0] & 0x7FFFFFFF
        yield data[4 : 4 + length]
        data = data[4 + length :]


def framed(record):
    return struct.pack(">I", 0x80000000 | len(record)) + record


def swap_records(archive, change):
    level, half = archive.largest()
    parts = list(records(archive.bucket(archive.levels()[level][half])))
    archive.levels()[level][half] = archive.put_bucket(b"".join(map(framed, change(parts))))
    return archive.seal()


def alter_values(parts):
    """Changes each value of contract data that ends with an i128: its last byte."""
    def altered(record):
        data = record[:4] in (bytes(4), b"\0\0\0\2") and record[8:12] == struct.pack(">I", 6)
        return record[:-5] + bytes([record[-5] ^ 1]) + record[-4:] if data and record[-24:-20] == struct.pack(">I", 10) else record
    return [altered(record) for record in parts]


def alter_code(parts):
    """Gives each code four bytes more than it has."""
    def altered(record):
        if record[:4] not in (bytes(4), b"\0\0\0\2") or record[8:12] != struct.pack(">I", 7) or record[12:16] != bytes(4):
            return record
        length, = struct.unpack(">I", record[48:52])
        return record[:48] + struct.pack(">I", length + 4) + b"\0asm" + record[52:]
    return [altered(record) for record in parts]


def swap_everywhere(archive, change):
    for level in archive.levels():
        for half in ("curr", "snap"):
            if level[half] != EMPTY:
                level[half] = archive.put_bucket(b"".join(map(framed, change(list(records(archive.bucket(level[half])))))))
    return archive.seal()


def attack(archive, kind):
    level, half = archive.largest()
    name = archive.levels()[level][half]
    if kind == "byte":
        data = bytearray(archive.bucket(name))
        data[len(data) // 2] ^= 1
        archive.bucket_path(name).write_bytes(gzip.compress(bytes(data), 1))
    elif kind == "level":
        levels = archive.levels()
        levels[0], levels[1] = levels[1], levels[0]
        archive.save()
    elif kind == "older":
        older = Archive(archive.root, archive.checkpoint - 64)
        archive.state = {**older.state, "currentLedger": archive.checkpoint}
        archive.save()
    elif kind == "number":
        archive.state["currentLedger"] = 2**31 - 1
        archive.save()
    elif kind == "bomb":
        archive.bucket_path(name).write_bytes(gzip.compress(bytes(1 << 28), 9))
    elif kind == "twice":
        print(swap_records(archive, lambda p: p[:3] + p[2:]))
    elif kind == "unsorted":
        print(swap_records(archive, lambda p: p[:2] + [p[3], p[2]] + p[4:]))
    elif kind == "entry":
        print(swap_everywhere(archive, alter_values))
    elif kind == "code":
        print(swap_everywhere(archive, alter_code))
    else:
        sys.exit(f"no attack {kind}")


class Handler(http.server.BaseHTTPRequestHandler):
    cut = set()

    def log_message(self, *args):
        pass

    def send_rest(self, body, first, kind):
        rest = bytes(b ^ 1 for b in body[first:]) if kind == "cut_lies" else body[first:]
        self.send_response(206)
        self.send_header("Content-Range", f"bytes {first - 1 if kind == 'cut_elsewhere' else first}-{len(body) - 1}/{len(body)}")
        self.send_header("Content-Length", str(len(rest)))
        self.end_headers()
        self.wfile.write(rest)

    def do_GET(self):
        path = self.server.root / self.path.lstrip("/")
        if not path.is_file():
            self.send_error(404)
            return
        body = path.read_bytes()
        kind = self.server.kind if "/bucket-" in self.path else "whole"
        asked = self.headers.get("Range")
        if asked and kind.startswith("cut"):
            print(self.path, asked, flush=True)
            if kind != "cut_whole":
                self.send_rest(body, int(asked.removeprefix("bytes=").removesuffix("-")), kind)
                return
        elif kind.startswith("cut"):
            print(self.path, "whole", flush=True)
        self.send_response(200)
        if kind != "endless":
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if kind.startswith("cut") and self.path not in Handler.cut and len(body) > 200:
            Handler.cut.add(self.path)
            self.wfile.write(body[: len(body) // 2])
            self.close_connection = True
        elif kind == "slow":
            for i in range(len(body)):
                self.wfile.write(body[i : i + 1])
                time.sleep(1)
        elif kind == "endless":
            packer = gzip.GzipFile(fileobj=self.wfile, mode="wb", compresslevel=1)
            packer.write(gzip.decompress(body))
            n = 0
            while True:  # TTL entries one after the other, in order
                packer.write(b"".join(framed(struct.pack(">III", 0, 1, 9) + b"\xff" * 24 + struct.pack(">QII", n + i, 7, 0)) for i in range(10000)))
                n += 10000
        else:
            self.wfile.write(body)


def serve(root, port_file, kind):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.root, server.kind = pathlib.Path(root), kind
    temporary = pathlib.Path(port_file + ".new")
    temporary.write_text(str(server.server_address[1]))
    shutil.move(temporary, port_file)
    server.serve_forever()


def add_bucket(archive, file, name):
    path = archive.bucket_path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    shutil.move(file, path)
    archive.levels()[10]["snap"] = name
    print(archive.seal())


if sys.argv[1] == "serve":
    serve(*sys.argv[2:])
elif sys.argv[3] == "large":
    add_bucket(Archive(sys.argv[1], int(sys.argv[2])), *sys.argv[4:])
else:
    attack(Archive(sys.argv[1], int(sys.argv[2])), sys.argv[3])
