#!/usr/bin/env python3
# label: sanitize
"""Runs `dump --scval` on the ScVal vectors, with their SEP-51 JSON converted into Tidemark's; also data-lake
objects, framed streams, and input that holds no ledgers."""
import base64, glob, json, os, subprocess, sys, tempfile
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from _shared import BIN, Report, decode, fixtures

AS_IS = {"bool", "u32", "i32", "u64", "i64", "timepoint", "duration", "u128", "i128", "u256", "i256",
         "bytes", "symbol", "address"}

def unescape(text):
    """SEP-51 writes bytes that are not printable ASCII as \\xNN."""
    return text.encode("latin-1").decode("unicode_escape").encode("latin-1").decode("utf-8", "replace")

def ours(v):
    if v == "void":
        return None
    if v == "ledger_key_contract_instance":
        return "LedgerKeyContractInstance"
    (kind, body), = v.items()
    if kind in AS_IS:
        return body
    if kind == "string":
        return unescape(body)
    if kind == "vec":
        return [ours(x) for x in body]
    if kind == "map":
        named = all(set(e["key"]) <= {"symbol", "string"} for e in body if isinstance(e["key"], dict)) \
            and all(isinstance(e["key"], dict) for e in body)
        pairs = [[ours(e["key"]), ours(e["val"])] for e in body]
        return dict(pairs) if named else pairs
    if kind == "error":
        (type_, code), = body.items()
        assert type_ == "contract"
        return {"error": {"type": 0, "code": code}}
    raise AssertionError(kind)

def scvals(report, root):
    vectors = [json.loads(line) for line in open(root + "/vectors/scval.jsonl")]
    pairs = [(v["base64"], v["sep51"], v["desc"]) for v in vectors]
    for event in json.load(open(root + "/vectors/contract-events.json")):
        pairs += zip(event["topics"], event["sep51"]["topics"], [event["desc"]] * 9)
        pairs.append((event["data"], event["sep51"]["data"], event["desc"]))
    lines, code, text = decode([], "--scval", stdin="\n".join(p[0] for p in pairs).encode())
    report.same("exit code", "scval " + text, code, 0)
    for (_, sep51, desc), got in zip(pairs, lines):
        report.same("scval", desc, got, ours(sep51))
    for bad in ("AAAAFw==", "AAAAAQ", "AAAAAA==", "AAAAAQAAAAA="):
        report.same("bad scval", bad, decode([], "--scval", stdin=bad.encode())[1], 65)

def hashes(path):
    lines, code, text = decode([path], "--kinds", "ledger")
    return [(l["sequence"], l["hash"]) for l in lines], code, text

def lakes(report, root):
    known = {}
    for path in glob.glob(root + "/lcm/*/*.expected.json"):
        for ledger in json.load(open(path))["ledgers"]:
            known.setdefault(ledger["sequence"], set()).add(ledger["hash"])
    for path in sorted(glob.glob(root + "/datalake/*/**/*.xdr.zst*", recursive=True)):
        got, code, text = hashes(path)
        name = os.path.basename(path)
        report.same("lake object", name + " " + text, code, 66 if name.startswith("load-test") else 0)
        if "core-batch8" in path:
            first = 2 if name.startswith("FFFFFFFF") else 8
            report.same("lake ledgers", name, [s for s, _ in got], list(range(first, first + (6 if first == 2 else 8))))
        else:
            for sequence, hash_ in got:
                report.true("lake ledgers", name, hash_ in known.get(sequence, ()), f"{sequence} {hash_}")

def broken(report, root):
    """What is cut, lengthened, mislabelled or no ledger at all ends with 65 or 66 and says where."""
    source = sorted(glob.glob(root + "/datalake/core-batch8/**/*.zst", recursive=True))[0]
    packed = open(source, "rb").read()
    raw = subprocess.run(["zstd", "-dc", source], stdout=subprocess.PIPE, check=True).stdout
    first, last = raw[:4], raw[4:8]
    cases = {
        "cut zstd": (packed[:-5], 65), "cut batch": (raw[:-1], 65), "behind": (raw + b"\0\0\0\0", 65),
        "empty": (b"", 65), "text": (b"not a ledger at all", 65), "zstd of nothing": (packed[:3], 65),
        "other first": (bytes([first[0], first[1], first[2], first[3] - 1]) + raw[4:], 66),
        "other last": (first + bytes([last[0], last[1], last[2], last[3] + 1]) + raw[8:], 66),
        "arm": (raw[:12] + b"\0\0\0\x09" + raw[16:], 65),
        "two frames": (packed[:0] + subprocess.run(["zstd", "-c"], input=raw[:999], stdout=subprocess.PIPE).stdout
                       + subprocess.run(["zstd", "-c"], input=raw[999:], stdout=subprocess.PIPE).stdout, 0),
    }
    with tempfile.TemporaryDirectory() as folder:
        for name, (data, want) in cases.items():
            path = folder + "/x"
            open(path, "wb").write(data)
            got, code, text = hashes(path)
            report.same("broken file", f"{name}: {text}", code, want)
            report.true("broken file is explained", name, code == 0 or path in text, text)
            report.true("broken data has its place", name, code != 65 or "from byte " in text, text)
    report.same("missing file", "missing", decode(["/no/such/file"])[1], 74)
    done = subprocess.run([BIN, "dump", "--kinds", "ledger", "-"], input=raw, stdout=subprocess.PIPE)
    report.same("standard input", "-", [done.returncode, len(done.stdout.splitlines())], [0, 8])

def every_arm(report, root):
    """220 ledgers that hold every arm and mean nothing: each is printed, none of the hashes hold."""
    lines, code, _ = decode([root + "/synthetic/lcm-all-arms.xdr"], "--values", "--passphrase", "x")
    ledgers = [l for l in lines if l["kind"] == "ledger"]
    frames = json.load(open(root + "/synthetic/lcm-all-arms.json"))["frames"]
    report.same("every arm", "exit", code, 66)
    report.same("every arm", "versions", [l["lcmVersion"] for l in ledgers], [f["lcmVersion"] for f in frames])
    report.same("every arm", "hashes", sorted({l["verification"]["headerHash"] for l in ledgers}), [False])

root = fixtures()
report = Report()
scvals(report, root)
lakes(report, root)
broken(report, root)
every_arm(report, root)
report.end()
