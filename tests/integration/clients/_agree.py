"""Checks that both packages give the same verdict on receipts, key sets and notifications. The script makes valid
ones and mutants, and signs most mutants with the right key.

    _agree.py NODE_FOLDER [SEED]     NODE_FOLDER: where _agree.mjs finds the TypeScript package
"""

import base64
import hashlib
import hmac
import json
import random
import subprocess
import sys

import httpx
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

import tidemark_client as tidemark

NOW = 1790000000
FOLDER, SEED = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1
dice = random.Random(SEED)
key, other = Ed25519PrivateKey.generate(), Ed25519PrivateKey.generate()


def part(value):
    return base64.urlsafe_b64encode(value).rstrip(b"=").decode()


def raw(value):
    return value if isinstance(value, bytes) else json.dumps(value).encode()


JWKS = {"keys": [
    {"kty": "OKP", "crv": "Ed25519", "kid": "short", "x": "AAAA"}, {"kty": "OKP", "crv": "Ed25519", "kid": "bad", "x": "%"}, {"kty": "oct", "crv": "Ed25519", "kid": "oct", "k": "AAAA"},
    {"kty": "OKP", "crv": "X25519", "kid": "curve", "x": part(key.public_key().public_bytes_raw())}, {"kty": "OKP", "crv": "Ed25519", "kid": "low", "x": part(bytes(32))},
    {"kty": "OKP", "crv": "Ed25519", "x": part(key.public_key().public_bytes_raw())}, {"kty": "OKP", "crv": "Ed25519", "kid": "k1", "x": part(key.public_key().public_bytes_raw())},
]}
HEADER = {"alg": "EdDSA", "kid": "k1", "typ": "tidemark-receipt+jwt"}
CLAIMS = {"iss": "https://api", "iat": NOW, "exp": NOW + 60, "network": "N", "deployment": "D", "question": {"route": "kyc_status", "path": "/", "query": {}}, "answer": {"address": "G", "compliant": True}}


def make(claims=CLAIMS, header=HEADER, signer=key):
    text = f"{part(raw(header))}.{part(raw(claims))}"
    return f"{text}.{part(signer.sign(text.encode()))}"


def without(value, name):
    return {key: one for key, one in value.items() if key != name}


def replaced(name, text):
    """The claims with this JSON in the place of a member."""
    return json.dumps({**CLAIMS, name: "@@"}).replace('"@@"', text).encode()


VALUES = ["null", "true", "false", "0", "-1", "1.5", '"x"', "[]", "{}", "1e400", "-1e400", "NaN", "Infinity", "1e9", "1790000060.0", "1.79000006e9", "1790000060.5", "9007199254740992", "9007199254740991",
          "1" * 5000, "0.1e-400", "-0", "-0.0", "01", "+1", '"\\ud800"', '"\\u0000"', '"1790000060"', "[" * 200 + "]" * 200, "[" * 63 + "]" * 63, "[" * 64 + "]" * 64, "[" * 20000 + "]" * 20000, '{"__proto__":{"compliant":true}}', '"\t"', "//"]


def receipts():
    token = make()
    head, body, tail = token.split(".")
    yield token, "G"
    yield token, "H"
    for name in HEADER:
        yield make(header=without(HEADER, name)), "G"
        for value in (None, 1, "", "none", "HS256", "eddsa", "Ed25519", "JWT", ["EdDSA"], {"a": 1}, "short", "bad", "oct", "curve", "low", "k2", "__proto__"):
            yield make(header={**HEADER, name: value}), "G"
    for more in ({"crit": []}, {"b64": False}, {"jwk": JWKS["keys"][-1]}, {"__proto__": {}}, {"crit": None}):
        yield make(header={**HEADER, **more}), "G"
    for name in CLAIMS:
        yield make(without(CLAIMS, name)), "G"
        for text in VALUES:
            yield make(replaced(name, text)), "G"
    for query in ({"ledger": "1"}, {"maxAgeMs": "1"}, {"__proto__": "1"}, None, [], ["ledger"], "ledger"):
        yield make({**CLAIMS, "question": {"route": "kyc_status", "query": query}}), "G"
    for answer in ({"address": "G"}, {"address": "G", "compliant": 1}, {"address": "G", "compliant": "true"}, {"address": ["G"], "compliant": True}, {"__proto__": {"compliant": True}, "address": "G"}, None, 7, []):
        yield make({**CLAIMS, "answer": answer}), "G"
    plain = json.dumps(CLAIMS)
    for text in (plain[:-1] + ',"exp":1}', plain[:-1] + ',"iss":"x"}', '{"iss":"x",' + plain[1:], "\ufeff" + plain, plain + " ", plain + "x", " " + plain, "", "[]", "7", "null", plain.replace('"D"', '"\t"'), plain.replace('"D"', "'D'")):
        yield make(text.encode()), "G"
    for data in (plain.encode("utf-16"), plain.encode("utf-16-le"), plain.encode("utf-32"), plain.encode().replace(b'"D"', b'"\xff"'), plain.encode().replace(b'"D"', b'"\xed\xa0\x80"'), b"\x1f\x8b"):
        yield make(data), "G"
        yield make(header=data), "G"
    for signer in (other,):
        yield make(signer=signer), "G"
    last = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    for more in range(1, 16):  # 64 bytes are 86 characters: the last has 4 bits that say nothing
        yield token[:-1] + last[last.index(token[-1]) // 16 * 16 + (last.index(token[-1]) + more) % 16], "G"
    for space in (" ", "\n", "\r\n", "\t", "\x0b", "\x0c", "\x1c", "\x85", "\xa0", "\ufeff", "\u2028", "\0", "=", "==", ".", "\ud800"):
        yield from ((token + space, "G"), (space + token, "G"), (f"{head}.{body}{space}.{tail}", "G"))
    for text in ("", ".", "..", "...", f"{head}..{tail}", f".{body}.{tail}", f"{head}.{body}.", f"{head}.{body}", "a.b.c", "é.é.é", "A" * (1 << 20), "." * 100000, " " * (1 << 20) + token, f"{token}{'A' * (1 << 20)}", f"{head}.{body}.{tail}A", f"{head}.{body}.{tail[:-2]}"):
        yield text, "G"
    for _ in range(400):  # a character more, less or other
        at, one = dice.randrange(len(token)), dice.choice(last + "+/=.\0 é")
        yield token[:at] + dice.choice([one, "", one + token[at]]) + token[at + 1:], "G"


def key_sets():
    """Key sets as a server may answer them: the good key, changed or beside others. Texts, for what no JSON library writes."""
    x = part(key.public_key().public_bytes_raw())
    good, more = {"kty": "OKP", "crv": "Ed25519", "kid": "k1", "x": x}, {"kty": "OKP", "crv": "Ed25519", "kid": "k2", "x": part(other.public_key().public_bytes_raw())}
    sets = [[good], [], [more], [more, good], [good, more], [None], [good, None], [None, good], [good, []], [good, 7], [good, "k"], [good, {}], [{}] * 63 + [good], [{}] * 64 + [good], [good] * 2,
            [good, {**good, "x": "AAAA"}], [{**good, "x": "AAAA"}, good], [good, {**more, "kid": "k1"}], [{**more, "kid": "k1"}, good], [good, {"kty": "oct", "kid": "k1", "k": "AAAA"}], [{"kty": "EC", "kid": "k1"}, good],
            [good, {**more, "kid": None}], [good, {**more, "kid": 1}, {**more, "kid": 1}], [without(good, "kid"), more], [good, without(more, "kid"), without(more, "kid")]]
    for bad in (x + "=", x + "==", x + "A", x[:-1], x[:-1] + chr(ord(x[-1]) + 1), x.replace("-", "+").replace("_", "/"), " " + x, x + "\n", "", x + x, "A" * 43, "é" * 43, "A" * 42 + "B", None, 7, [x], {"x": x}, True):
        sets.append([{**good, "x": bad}])
    for name, values in (("kty", ("okp", "EC", None, ["OKP"], 7)), ("crv", ("ed25519", "X25519", "Ed448", "P-256", None, ["Ed25519"])), ("kid", ("", "k1 ", "K1", None, 1, ["k1"], "__proto__")),
                         ("use", ("sig", "enc", "", "SIG", None, 1, ["sig"])), ("alg", ("EdDSA", "Ed25519", "HS256", "none", "eddsa", "", None, ["EdDSA"])),
                         ("key_ops", (["verify"], ["sign"], [], ["sign", "verify"], ["verify", "verify"], ["verify", 1], ["Verify"], "verify", None, {"verify": 1}, [["verify"]])),
                         ("d", ("AAAA", "", None, x)), ("x5c", (["AAAA"], None)), ("unknown", (1, None, {"a": [1]})), ("__proto__", ({"kty": "EC"}, None)), ("constructor", (1,)), ("toString", (None,)), ("get", (1,))):
        sets.extend([{**good, name: value}] for value in values)
        sets.append([without(good, name)])
    for _ in range(300):
        chosen = [dict(one) for one in dice.choices([good, more, {"kty": "RSA", "kid": "r", "n": "AQAB"}, {}], k=dice.randrange(1, 5))]
        one = dice.choice(chosen)
        for _ in range(dice.randrange(1, 3)):
            one[dice.choice(["kty", "crv", "kid", "x", "use", "alg", "key_ops", "d", "y"])] = dice.choice([None, "", "OKP", "Ed25519", "k1", "k2", x, x + "=", "sig", "EdDSA", ["verify"], [], 1, True, {}])
        sets.append(chosen)
    yield from (json.dumps({"keys": one}) for one in sets)
    plain = json.dumps({"keys": [good]})
    yield from (json.dumps(one) for one in (None, [], [good], 7, "x", {}, {"keys": None}, {"keys": {}}, {"keys": {"0": good, "length": 1}}, {"keys": "x"}, {"Keys": [good]}, {"keys": [good], "more": 1}, {"keys": [[good]]}))
    yield from ("", "{", plain + "x", plain + " ", "\ufeff" + plain, plain[:-1] + ',"keys":[]}', '{"keys":[],' + plain[1:], plain[:-1] + ',"n":NaN}', plain[:-1] + ',"n":Infinity}', plain[:-1] + ',"n":1e400}', plain[:-1] + ',"n":-0}',
                plain[:-1] + ',"n":' + "1" * 5000 + "}", plain[:-1] + ',"n":"\t"}', plain[:-1] + ',"n":' + "[" * 20000 + "]" * 20000 + "}", plain[:-1] + ',"n":' + "[" * 200 + "]" * 200 + "}", plain.replace('"k1"', '"k1","kid":"k9"'), plain.replace('"k1"', '"\\u006b1"'),
                plain.replace('"k1"', '"\\ud800"'), plain.replace('"kid"', '"\\u006bid"'), plain.replace("'", '"'), plain.replace('"', "'"), plain[:-2] + ",]}", "//" + plain)


SECRET = "whsec_" + base64.b64encode(bytes(range(24))).decode()


def webhook(body, change=None, secrets=SECRET, now=NOW, names=("webhook-id", "webhook-timestamp", "webhook-signature"), id_="m", sent=str(NOW), secret=SECRET):
    mac = base64.b64encode(hmac.new(base64.b64decode(secret[6:]), f"{id_}.{sent}.".encode() + body, hashlib.sha256).digest()).decode()
    signature = change(mac) if change else f"v1,{mac}"
    return {"body": base64.b64encode(body).decode(), "headers": dict(zip(names, (id_, sent, signature))), "secrets": secrets, "now": now}


def webhooks():
    body = b'{"type":"t","data":{}}'
    yield webhook(body)
    yield webhook(body, names=("Webhook-Id", "WEBHOOK-TIMESTAMP", "Webhook-Signature"))
    for text in ("", "null", "[]", "7", '{"type":1,"data":{}}', '{"type":"t"}', '{"type":"t","data":[]}', '{"type":"t","data":null}', '{"type":"t","data":{"a":NaN}}', '{"type":"t","data":{},"type":"u"}', '{"__proto__":1,"type":"t","data":{}}', "\ufeff" + body.decode(), "{"):
        yield webhook(text.encode())
    yield webhook(b'{"type":"t","data":{"a":' + b"1" * 5000 + b"}}")
    for data in (b"\xff", b'{"type":"\xff","data":{}}', body.decode().encode("utf-16"), b'{"type":"\xed\xa0\x80","data":{}}', body + b"\0", body + b"\n"):
        yield webhook(data)
    changes = [lambda mac: "", lambda mac: mac, lambda mac: f"v2,{mac}", lambda mac: f"v1a,{mac}", lambda mac: f"V1,{mac}", lambda mac: f"v1, {mac}", lambda mac: f"v1,{mac} v1,{mac}", lambda mac: f"v1,{mac}\t",
               lambda mac: f"v1,{mac.rstrip('=')}", lambda mac: f"v1,{mac}=", lambda mac: f"v1,{mac.replace('+', '-').replace('/', '_').rstrip('=')}", lambda mac: "v1,AAAA " * 15 + f"v1,{mac}", lambda mac: "v1,AAAA " * 16 + f"v1,{mac}",
               lambda mac: f"v1,{mac},x", lambda mac: f"  v1,{mac}", lambda mac: f"v1,é v1,{mac}", lambda mac: "v1,"]
    yield from (webhook(body, one) for one in changes)
    yield from (webhook(body, lambda mac, more=more: f"v1,{mac[:-2]}{chr(ord(mac[-2]) + more)}=") for more in range(1, 4))
    for now in (NOW + 300, NOW + 301, NOW - 300, NOW - 301):
        yield webhook(body, now=now)
    for sent in ("", "x", "-1", f"{NOW}.0", f" {NOW}", f"+{NOW}", f"0{NOW}", f"{NOW:016}", "１７９００００000", "1e9"):
        yield webhook(body, sent=sent)
    yield from (webhook(body, id_=one) for one in ("", "é", "m.1", "\0"))
    long = SECRET[6:]
    for secrets in ([], ["whsec_" + "A" * 32, SECRET], [SECRET, "%"], ["%", SECRET], "", "whsec_", long, SECRET + "=", SECRET + "A", SECRET[:-1], "whsec_AAAA", "whsec_whsec_" + long, " " + SECRET, "whsec_" + "A" * 21 + "B==", "whsec_" + "A" * 22, "whsec_" + "-" * 24, "whsec_" + "\n" + long):
        yield webhook(body, secrets=secrets)


def judged(work):
    try:
        return work()
    except (tidemark.ReceiptError, tidemark.WebhookError, tidemark.TidemarkError) as error:
        return error.code
    except Exception as error:  # noqa: BLE001: that is what is looked for
        return f"CRASH {error!r}"


def by_keys(text):
    """A good receipt by the keys of such an answer."""
    with httpx.Client(transport=httpx.MockTransport(lambda _: httpx.Response(200, content=text.encode()))) as http:
        keys = tidemark.Client("http://keys", http=http).jwks()
    return "yes" if tidemark.verify_receipt(make(), keys, **expected, now=NOW) else "no"


tokens, notes = [{"token": token, "address": address} for token, address in receipts()], list(webhooks())
expected = {"issuer": "https://api", "network": "N"}
mine = [judged(lambda: "yes" if tidemark.says_compliant(tidemark.verify_receipt(one["token"], JWKS, **expected, now=NOW), one["address"]) else "no") for one in tokens]
mine += [judged(lambda: tidemark.verify_webhook(base64.b64decode(one["body"]), one["headers"], one["secrets"], now=one["now"]) and "yes") for one in notes]
sets = list(key_sets())
mine += [judged(lambda: by_keys(text)) for text in sets]
asked = json.dumps({"receipts": tokens, "webhooks": notes, "keys": {"sets": sets, "token": make()}, "expected": {**expected, "jwks": JWKS, "now": NOW * 1000}})
theirs = json.loads(subprocess.run(["node", f"{FOLDER}/_agree.mjs"], input=asked, capture_output=True, text=True, check=True).stdout)
assert len(mine) == len(theirs) > 900, (len(mine), len(theirs))
different = [(python, node, json.dumps(one)[:300]) for python, node, one in zip(mine, theirs, tokens + notes + sets) if python != node or python.startswith("CRASH")]
for python, node, one in different[:20]:
    print(f"python: {python}, node: {node}: {one}")
assert not different, f"{len(different)} of {len(mine)} are judged differently"
counts = {code: mine.count(code) for code in sorted(set(mine))}
assert counts["yes"] > 30 and counts["no"] > 10 and all(counts.get(code) for code in ("malformed", "wrong_type", "unknown_key", "bad_signature", "other_issuer", "other_network", "expired", "future", "bad_timestamp", "bad_secret", "missing_header", "bad_keys")), counts
print(f"judged alike: {len(tokens)} receipts, {len(notes)} notifications, {len(sets)} key sets: {counts}")
