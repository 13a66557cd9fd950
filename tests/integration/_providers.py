#!/usr/bin/env python3
"""The providers' side of KYC, for tests: Sumsub, Persona, Veriff and Didit in one HTTP server of
this machine. It checks our requests strictly (what is wrong with one is answered 401 or 400 and
kept in violations), hands out decisions, signs and sends webhooks, and misbehaves when told to.

As a module:   mock = Providers(); mock.start(); … mock.stop()
               kyc_file(mock.url, "http://127.0.0.1:8080") is a KYC file that goes with it
As a program:  _providers.py serve [--port N] [--ready FILE]         prints its URL, serves until killed
               _providers.py kyc-file MOCK_URL PUBLIC_URL [TYPE…]    prints a KYC file (write it with mode 0600)
               _providers.py sandbox-hook URL SECRET ID REF [EVENT]  sends a webhook of the sandbox provider

Control, while it serves: POST URL/control/NAME with a JSON object, answers JSON. In the module the
same are methods: mock.decide(provider="didit", …).

  config   {"webhook": "http://127.0.0.1:8080/api/kyc/webhook/{provider}"}   where webhooks go;
           {"provider": P, "level": …, "apiKey": …, "apiSecret": …, "secrets": [current, former…]}
  state    {} -> {"people": {id: {…}}, "calls": {"P create": n, …}, "violations": [text…],
           "sent": [{"provider", "id", "code", "ms"}…]}
  decide   {"provider": P, "id": ID | "ref": REF, "status": S, "country": C, "validUntil": "2030-01-31",
            "level": L, "environment": E, "send": true}
           S: created, pending, approved, declined, resubmit, review, expired, or any other text,
           which is then the provider's own word (an unknown one, for instance). C: as the provider
           writes it; null: none. E (didit): the environment in the answer ("sandbox" unless said); null: none. What is not
            said stays. send: a webhook follows at once, with the
           members of webhook below. -> {"id", "sent": […]}
  webhook  {"provider": P, "id": ID | "ref": REF, "fault": F, "times": N, "parallel": N, "delayMs": N,
            "event": TYPE, "hold": true, "body": TEXT, "url": URL}
           -> {"sent": [{"code", "ms", "body"}…]}, or with hold {"request": {…}} unsent, for replay.
           times: one after another, the same bytes; parallel: at once. body: instead of ours, signed.
           F: wrong_signature, no_signature, short_signature, upper_signature (still right),
              two_headers, bit_flip, reserialised, legacy (obsolete schemes), algorithm
              (sumsub: names another), former_secret, unknown_secret, old_timestamp, future_timestamp,
              two_sets (persona, didit: as below), missing_reference, other_environment (sumsub,
              didit), unknown_person (a reference like ours), stranger (a person of another application at
              the same account, with the reference "stranger": any value, by default an email address), truncated (body shorter than said), large (70 000 bytes), huge (more than 1 MiB),
              camel, snake (persona: the case of its keys),
              chunked, content_type, not_json (signed), ping, other_client (veriff: its X-AUTH-CLIENT),
              other_header_time (didit: X-Timestamp is not the body's)
           two_sets: Persona's header with the current and the former secret; for the others the
           former secret alone.
  replay   {"request": R, "times": N, "delayMs": N}   a held request, byte for byte
  fault    {"provider": P, "call": "create" | "link" | "decision", "do": D, "times": N, "after": S}
           the next N calls of that kind (default 1): D one of status:CODE (429 and 503 with
           Retry-After S), hang (S seconds), drop (nothing done, no answer), drop_after (done, no
           answer), truncated, huge, not_json, content_type, redirect, empty, other_person (decision
           of another person), foreign_page (create: a page at another host), odd_id (create)
  forget   {"provider": P, "id": ID, "marked": true}   the provider deletes a person: decisions answer 404; marked: Sumsub and
           Persona answer, and say so
  network  {"passphrase": P, "ledger": N, "entries": {KEY: XDR}, "broken": true}   what URL/rpc says as a Stellar RPC server: of which
           network and ledger it is, and entries (base64); broken: it answers 500. second: entries
           that URL/rpc/second says instead; null: the same. What is not said stays
  clear    {}   people, calls, violations, faults and what was sent are forgotten; the network stays

A page of a person, GET URL/PROVIDER/page/ID, has buttons for a browser: approve, decline, resubmit,
expire; each decides, sends the webhook and goes back to the callback that we gave."""
import base64
import hashlib
import hmac
import json
import secrets as chance
import socket
import sys
import threading
import time
import urllib.parse
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from _steady import steady

REAL = ["sumsub", "persona", "veriff", "didit"]
SANDBOX_SECRET = "sandbox-webhook-secret"
FORMER_UNTIL = "2099-01-01T00:00:00Z"

# Credentials of no real account. The first secret is the current one.
ACCOUNTS = {
    "sumsub": {"apiKey": "sbx:mock-token", "apiSecret": "sumsub-app-secret", "level": "id-and-liveness",
               "secrets": ["sumsub-webhook-secret", "sumsub-former-secret"]},
    "persona": {"apiKey": "persona_sandbox_mock", "level": "itmpl_Mock1", "version": "2023-01-05", "inflection": "camel",
                "secrets": ["wbhsec_persona-current", "wbhsec_persona-former"]},
    "veriff": {"apiKey": "veriff-mock-key", "apiSecret": "veriff-shared-secret",
               "secrets": ["veriff-shared-secret", "veriff-former-secret"]},
    "didit": {"apiKey": "didit-mock-key", "level": "11111111-2222-3333-4444-555555555555",
              "secrets": ["didit-webhook-secret", "didit-former-secret"]},
}
ALPHA = {"sumsub": 3, "persona": 2, "veriff": 2, "didit": 3}
CALLS = {"create", "link", "decision"}

# Our words -> theirs. Anything else is taken as their own word.
SUMSUB = {"created": ("init", None), "pending": ("pending", None), "review": ("onHold", None),
          "awaitingService": ("awaitingService", {"reviewAnswer": "GREEN"}), "awaitingUser": ("awaitingUser", None),
          "approved": ("completed", {"reviewAnswer": "GREEN"}),
          "declined": ("completed", {"reviewAnswer": "RED", "rejectLabels": ["FORGERY"], "reviewRejectType": "FINAL"}),
          "resubmit": ("completed", {"reviewAnswer": "RED", "rejectLabels": ["BLURRY"], "reviewRejectType": "RETRY"}),
          "expired": ("init", None)}
PERSONA = {"created": "created", "pending": "pending", "review": "needs_review", "approved": "approved",
           "declined": "declined", "resubmit": "failed", "expired": "expired"}
VERIFF = {"approved": 9001, "declined": 9102, "resubmission_requested": 9103, "expired": 9104, "abandoned": 9121,
          "review": 9200, "started": 7001, "submitted": 7002}
VERIFF_WORDS = {"created": None, "pending": None, "resubmit": "resubmission_requested"}
DIDIT = {"created": "Not Started", "pending": "In Progress", "review": "In Review", "approved": "Approved",
         "declined": "Declined", "resubmit": "Resubmitted", "expired": "Expired"}


INTENT_KEY = "44" * 32  # of the KYC file and the attester


def intent_mac(network, *fields):
    """What KYC signs of a row of kyc.outbox: deployment, subject, session, rev, action, jurisdiction, expires_at, meta (bytes)."""
    *rest, meta = fields
    said = b"".join(str(f).encode() + b"\0" for f in [*rest, "\\x" + meta.hex()])
    digest = hashlib.sha256(b"tidemark-intent-1" + hashlib.sha256(network.encode()).digest() + said).digest()
    return hmac.new(bytes.fromhex(INTENT_KEY), digest, hashlib.sha256).digest()


def kyc_file(mock_url, public_url, types=("sandbox", *REAL), **more):
    """A KYC file whose providers are the mock's; more: members of the file's top."""
    host = urllib.parse.urlsplit(mock_url).hostname
    providers = []
    for kind in types:
        if kind == "sandbox":
            providers.append({"key": "sandbox", "type": "sandbox", "name": "Sandbox",
                              "webhookSecrets": [{"secret": SANDBOX_SECRET}]})
            continue
        a = ACCOUNTS[kind]
        p = {"key": kind, "type": kind, "name": kind.capitalize(), "baseUrl": f"{mock_url}/{kind}",
             "apiKey": a["apiKey"], "environment": "sandbox", "hosts": [host], "timeoutMs": 2000,
             "webhookSecrets": [{"secret": a["secrets"][0], "notAfter": None},
                                {"secret": a["secrets"][1], "notAfter": FORMER_UNTIL}]}
        if "apiSecret" in a:
            p["apiSecret"] = a["apiSecret"]
        if "level" in a:
            p["level"] = a["level"]
        if "version" in a:
            p["apiVersion"] = a["version"]
        providers.append(p)
    return {"publicUrl": public_url, "challengeSeed": "SAAQEAYEAUDAOCAJBIFQYDIOB4IBCEQTCQKRMFYYDENBWHA5DYPSBF5K",
            "referenceKey": "11" * 32, "metadataKey": "22" * 32, "tokenKey": "33" * 32, "intentKey": INTENT_KEY, "revocationsPerHour": 1000000,
            "providers": providers, **more}


def reference(seed):
    """A text in the form of our references."""
    return base64.b32encode(hashlib.sha256(seed.encode()).digest())[:32].decode()


# Persons of other applications at the same account, as their webhooks name them.
STRANGERS = ["user@example.com", "cus_NffrFeUfNV2Hib", "6f1c2a1e-9d0b-4a53-8f4e-2f7a1c9b0d11", "41207", "user:41207/eu", "Jos\u00e9", "{\"id\": 7}", "x" * 400, 41207,
             reference("a")[:31], reference("a") + "A", reference("a").lower()]


def hmac_hex(secret, message, algorithm="sha256"):
    return hmac.new(secret.encode(), message, algorithm).hexdigest()


def now_text(t=None):
    return datetime.fromtimestamp(time.time() if t is None else t, timezone.utc).isoformat(timespec="milliseconds")


def sandbox_hook(url, secret, ident, ref, event="decided", timestamp=None, signature=None):
    """A webhook of our own sandbox provider; the answer's code."""
    t = int(time.time()) if timestamp is None else timestamp
    body = json.dumps({"event": event, "id": ident, "ref": ref, "timestamp": t}).encode()
    sign = signature or hmac_hex(secret, str(t).encode() + b"." + body)
    return send({"url": url, "headers": [["Content-Type", "application/json"], ["X-Sandbox-Signature", sign]],
                 "body": body.decode("latin-1")})["code"]


class Wrong(Exception):
    """What is wrong with a request of ours."""

    def __init__(self, code, why):
        super().__init__(why)
        self.code, self.why = code, why


def want(condition, code, why):
    if not condition:
        raise Wrong(code, why)


# --- what each provider's API is ---------------------------------------------------------------


class Person:
    def __init__(self, provider, ident, ref, **more):
        self.provider, self.id, self.ref = provider, ident, ref
        self.status, self.country, self.valid_until = "created", None, None
        self.level, self.callback = more.get("level"), more.get("callback")
        self.born = self.changed = time.time()
        self.attempt, self.deleted, self.environment = 1, False, "sandbox"

    def view(self):
        return dict(vars(self))


class Dialect:
    """One provider: routes(method, path) is what of us it answers; hook(person) what it sends."""

    def __init__(self, mock, name):
        self.mock, self.name, self.account = mock, name, dict(ACCOUNTS[name])

    def new_person(self, ident, ref, **more):
        person = Person(self.name, ident, ref, **more)
        self.mock.people[ident] = person
        return person

    def of_ref(self, ref):
        return [p for p in self.mock.people.values() if p.provider == self.name and p.ref == ref]

    def person(self, ident):
        p = self.mock.people.get(ident)
        want(p is not None and p.provider == self.name, 404, f"{self.name}: no person is {ident!r}")
        return p

    def page(self, ident):
        return f"{self.mock.url}/{self.name}/page/{ident}"

    @staticmethod
    def json_body(request):
        want(request.headers.get("Content-Type", "").split(";")[0] == "application/json", 400, "not application/json")
        try:
            return json.loads(request.body)
        except ValueError:
            raise Wrong(400, "the body is not JSON") from None


def one_of(headers, name):
    values = headers.get_all(name) or []
    want(len(values) == 1, 401, f"{name}: {len(values)} of it")
    return values[0]


class Sumsub(Dialect):
    def check(self, r):
        want(one_of(r.headers, "X-App-Token") == self.account["apiKey"], 401, "sumsub: X-App-Token")
        ts = one_of(r.headers, "X-App-Access-Ts")
        want(ts.isdigit() and abs(int(ts) - time.time()) <= 60, 401, "sumsub: X-App-Access-Ts is not now")
        message = ts.encode() + r.method.encode() + r.path.encode() + r.body
        want(one_of(r.headers, "X-App-Access-Sig") == hmac_hex(self.account["apiSecret"], message), 401,
             "sumsub: X-App-Access-Sig")

    def call_of(self, r):
        path = r.path[len("/sumsub"):]
        if r.method == "POST" and path.startswith("/resources/applicants?levelName="):
            return "create", self.create
        if r.method == "POST" and path == "/resources/sdkIntegrations/levels/-/websdkLink":
            return "link", self.link
        if r.method == "GET" and path.startswith("/resources/applicants/") and path.endswith("/one"):
            return "decision", self.decision
        raise Wrong(404, f"sumsub: no such call: {r.method} {path}")

    def create(self, r):
        level = urllib.parse.parse_qs(urllib.parse.urlsplit(r.path).query).get("levelName", [""])[0]
        want(level == self.account["level"], 400, "sumsub: levelName")
        ref = self.json_body(r).get("externalUserId")
        want(isinstance(ref, str) and 0 < len(ref) <= 512, 400, "sumsub: externalUserId")
        known = self.of_ref(ref)
        if known:
            return 409, {"code": 409, "description": f"Applicant with external user id '{ref}' already exists: {known[0].id}"}
        person = self.new_person(chance.token_hex(12), ref, level=level)
        return 201, {"id": person.id, "externalUserId": ref, "review": {"reviewStatus": "init", "levelName": level}}

    def link(self, r):
        body = self.json_body(r)
        want(body.get("levelName") == self.account["level"], 400, "sumsub: levelName")
        want(isinstance(body.get("ttlInSecs"), int) and body["ttlInSecs"] > 0, 400, "sumsub: ttlInSecs")
        known = self.of_ref(body.get("userId"))
        person = known[0] if known else self.new_person(chance.token_hex(12), body.get("userId"), level=body["levelName"])
        person.callback = body.get("redirect", {}).get("successUrl")
        return 200, {"url": self.page(person.id)}

    def decision(self, r):
        key = urllib.parse.unquote(r.path[len("/sumsub/resources/applicants/"):-len("/one")])
        if key.startswith("-;externalUserId="):
            known = self.of_ref(key[len("-;externalUserId="):])
            want(known, 404, "sumsub: no such applicant")
            person = known[0]
        else:
            person = self.person(key)
        status, result = SUMSUB.get(person.status, (person.status, None))
        review = {"reviewId": "r1", "attemptCnt": person.attempt, "levelName": person.level, "reviewStatus": status,
                  "createDate": datetime.fromtimestamp(person.born, timezone.utc).strftime("%Y-%m-%d %H:%M:%S+0000")}
        if result:
            review["reviewResult"] = result
            review["reviewDate"] = datetime.fromtimestamp(person.changed, timezone.utc).strftime("%Y-%m-%d %H:%M:%S+0000")
        info = {"firstName": "PLANTED-FIRST", "lastName": "PLANTED-LAST", "dob": "1970-01-01"}
        if person.country is not None:
            doc = {"idDocType": "PASSPORT", "country": person.country, "number": "PLANTED-NUMBER"}
            if person.valid_until:
                doc["validUntil"] = person.valid_until
            info.update(country=person.country, idDocs=[doc])
        if person.deleted:
            return 200, {"id": person.id, "externalUserId": person.ref, "deleted": True, "review": review}
        return 200, {"id": person.id, "createdAt": "2026-01-01 00:00:00", "inspectionId": "i" + person.id,
                     "externalUserId": person.ref, "info": info, "review": review, "type": "individual"}

    def hook(self, person, event, quirks):
        status, result = SUMSUB.get(person.status, (person.status, None))
        kind = event or {"completed": "applicantReviewed", "init": "applicantCreated",
                         "onHold": "applicantOnHold"}.get(status, "applicantPending")
        sandbox = self.account["apiKey"].startswith("sbx:")
        body = {"applicantId": person.id, "inspectionId": "i" + person.id, "correlationId": chance.token_hex(8),
                "externalUserId": person.ref, "levelName": person.level, "type": kind, "reviewStatus": status,
                "sandboxMode": sandbox != ("other_environment" in quirks),
                "createdAtMs": datetime.fromtimestamp(time.time(), timezone.utc).strftime("%Y-%m-%d %H:%M:%S.%f")[:-3]}
        if result:
            body["reviewResult"] = dict(result, moderationComment="PLANTED-COMMENT")
        if "missing_reference" in quirks:
            del body["externalUserId"]
            del body["applicantId"]
        return body

    def sign(self, body, secret, t, quirks):
        if "algorithm" in quirks:
            return [["X-Payload-Digest", hmac_hex(secret, body, "sha1")], ["X-Payload-Digest-Alg", "HMAC_SHA1_HEX"]]
        if "legacy" in quirks:
            return [["X-Payload-Digest", hashlib.sha256(body + secret.encode()).hexdigest()],
                    ["X-Payload-Digest-Alg", "HMAC_SHA256_HEX"]]
        return [["X-Payload-Digest", hmac_hex(secret, body)], ["X-Payload-Digest-Alg", "HMAC_SHA256_HEX"]]


class Persona(Dialect):
    def check(self, r):
        want(one_of(r.headers, "Authorization") == "Bearer " + self.account["apiKey"], 401, "persona: Authorization")
        want(one_of(r.headers, "Persona-Version") == self.account["version"], 400, "persona: Persona-Version")
        if r.method == "POST":
            want(0 < len(one_of(r.headers, "Idempotency-Key")) <= 128, 400, "persona: Idempotency-Key")
        said = r.headers.get("Key-Inflection", self.account["inflection"])
        want(said in INFLECTIONS, 400, "persona: Key-Inflection")
        self.inflection = said

    def call_of(self, r):
        path = r.path[len("/persona/api/v1"):] if r.path.startswith("/persona/api/v1/") else ""
        parts = path.strip("/").split("/")
        if r.method == "POST" and parts == ["inquiries"]:
            return "create", self.create
        if r.method == "POST" and len(parts) == 3 and parts[2] == "generate-one-time-link":
            return "link", lambda r: self.link(r, parts[1])
        if r.method == "GET" and len(parts) == 2 and parts[0] == "inquiries":
            return "decision", lambda r: self.decision(r, parts[1])
        raise Wrong(404, f"persona: no such call: {r.method} {r.path}")

    def create(self, r):
        body = self.json_body(r)
        a = body.get("data", {}).get("attributes", {})
        want(a.get("inquiry-template-id") == self.account["level"], 400, "persona: inquiry-template-id")
        want(isinstance(a.get("reference-id"), str) and a["reference-id"], 400, "persona: reference-id")
        key = r.headers["Idempotency-Key"]
        before = self.mock.idempotent.get(key)
        if before:
            want(before[0] == r.body, 400, "persona: Idempotency-Key was used with another body")
            return 201, self.answer(self.inquiry(self.person(before[1])))
        person = self.new_person("inq_" + chance.token_urlsafe(16).replace("-", "x"), a["reference-id"],
                                 level=a["inquiry-template-id"], callback=a.get("redirect-uri"))
        self.mock.idempotent[key] = (r.body, person.id)
        return 201, self.answer(self.inquiry(person))

    def link(self, r, ident):
        person = self.person(ident)
        answer = self.inquiry(person)
        answer["meta"] = {"one-time-link": self.page(ident), "one-time-link-short": self.page(ident)}
        return 200, self.answer(answer)

    def answer(self, content):
        return inflected(content, self.inflection)

    def decision(self, r, ident):
        return 200, self.answer(self.inquiry(self.person(ident)))

    def inquiry(self, person):
        fields = {"name-first": {"type": "string", "value": "PLANTED-FIRST"}}
        if person.country is not None:
            fields["address-country-code"] = {"type": "string", "value": person.country}
            fields["selected-country-code"] = {"type": "string", "value": "ZW"}
            fields["expiration-date"] = {"type": "date", "value": person.valid_until}
        status = PERSONA.get(person.status, person.status)
        a = {"status": status, "reference-id": person.ref, "created-at": now_text(person.born), "fields": fields,
             "updated-at": now_text(person.changed),
             "decisioned-at": now_text(person.changed) if status in ("approved", "declined") else None}
        if person.deleted:
            a.update({"fields": {}, "reference-id": None, "redacted-at": now_text()})
        return {"data": {"type": "inquiry", "id": person.id, "attributes": a,
                         "relationships": {"inquiry-template": {"data": {"type": "inquiry-template", "id": person.level}}}}}

    def hook(self, person, event, quirks):
        status = PERSONA.get(person.status, person.status)
        name = event or {"needs_review": "inquiry.marked-for-review"}.get(status, "inquiry." + status)
        payload = self.inquiry(person)
        payload["data"]["attributes"].pop("fields")
        if "missing_reference" in quirks:
            payload["data"]["attributes"]["reference-id"] = None
            payload["data"]["id"] = None
        body = {"data": {"type": "event", "id": "evt_" + chance.token_hex(12),
                         "attributes": {"name": name, "created-at": now_text(), "payload": payload}}}
        return inflected(body, next((how for how in INFLECTIONS if how in quirks), "kebab"))

    def sign(self, body, secret, t, quirks):
        if "two_sets" in quirks:
            former = self.account["secrets"][1]
            return [["Persona-Signature", f"{self.set_of(body, former, t)} {self.set_of(body, secret, t)}"]]
        if "legacy" in quirks:
            return [["Persona-Signature", f"t={t},v1={hmac_hex(secret, body)}"]]
        return [["Persona-Signature", self.set_of(body, secret, t)]]

    @staticmethod
    def set_of(body, secret, t):
        return f"t={t},v1={hmac_hex(secret, str(t).encode() + b'.' + body)}"


INFLECTIONS = {"kebab": lambda name: name, "snake": lambda name: name.replace("-", "_"),
               "camel": lambda name: name.split("-")[0] + "".join(part.capitalize() for part in name.split("-")[1:])}


def inflected(value, how):
    """The same JSON with the keys in another case, as Persona writes them."""
    if isinstance(value, dict):
        return {INFLECTIONS[how](name): inflected(one, how) for name, one in value.items()}
    return [inflected(one, how) for one in value] if isinstance(value, list) else value


class Veriff(Dialect):
    def check(self, r):
        want(one_of(r.headers, "X-AUTH-CLIENT") == self.account["apiKey"], 401, "veriff: X-AUTH-CLIENT")
        signed = r.body if r.method == "POST" else r.path.split("/")[-2].encode()
        want(one_of(r.headers, "X-HMAC-SIGNATURE").lower() == hmac_hex(self.account["apiSecret"], signed), 401,
             "veriff: X-HMAC-SIGNATURE")

    def call_of(self, r):
        parts = r.path.split("/")[2:]
        if r.method == "POST" and parts == ["v1", "sessions"]:
            return "create", self.create
        if r.method == "GET" and len(parts) == 4 and parts[:2] == ["v1", "sessions"] and parts[3] == "decision":
            return "decision", lambda r: self.decision(r, parts[2])
        raise Wrong(404, f"veriff: no such call: {r.method} {r.path}")

    def create(self, r):
        v = self.json_body(r).get("verification")
        want(isinstance(v, dict), 400, "veriff: verification")
        want(isinstance(v.get("vendorData"), str) and len(v["vendorData"]) <= 1000, 400, "veriff: vendorData")
        h = chance.token_hex(16)
        ident = f"{h[:8]}-{h[8:12]}-4{h[13:16]}-a{h[17:20]}-{h[20:]}"
        person = self.new_person(ident, v["vendorData"], callback=v.get("callback"))
        return 201, {"status": "success", "verification": {"id": ident, "url": self.page(ident), "vendorData": person.ref,
                                                           "host": self.mock.url, "status": "created",
                                                           "sessionToken": "PLANTED-TOKEN"}}

    def verification(self, person):
        status = VERIFF_WORDS.get(person.status, person.status)
        if status is None:
            return None
        v = {"id": person.id, "attemptId": f"{person.id[:8]}-attempt-{person.attempt}", "vendorData": person.ref, "status": status,
             "endUserId": None, "code": VERIFF.get(status, 9999), "decisionTime": now_text(person.changed),
             "acceptanceTime": now_text(person.born), "reason": None, "reasonCode": None,
             "person": {"firstName": "PLANTED-FIRST", "lastName": "PLANTED-LAST", "nationality": "ZW"}}
        v["document"] = {"type": "PASSPORT", "country": person.country, "number": "PLANTED-NUMBER",
                         "validUntil": person.valid_until}
        return v

    def decision(self, r, ident):
        return 200, {"status": "success", "verification": self.verification(self.person(ident)),
                     "technicalData": {"ip": "203.0.113.99"}}

    def hook(self, person, event, quirks):
        v = self.verification(person)
        if v is None or event in ("started", "submitted"):
            action = event or "started"
            return {"id": person.id, "attemptId": f"{person.id[:8]}-attempt-{person.attempt}", "feature": "selfid",
                    "code": VERIFF[action], "action": action,
                    "vendorData": None if "missing_reference" in quirks else person.ref}
        if "missing_reference" in quirks:
            v["vendorData"] = v["id"] = None
        return {"status": "success", "verification": v, "technicalData": {"ip": "203.0.113.99"}}

    def sign(self, body, secret, t, quirks):
        client = ["X-AUTH-CLIENT", "another-client" if "other_client" in quirks else self.account["apiKey"]]
        if "legacy" in quirks:
            return [client, ["X-SIGNATURE", hashlib.sha256(body + secret.encode()).hexdigest()]]
        return [client, ["X-HMAC-SIGNATURE", hmac_hex(secret, body)]]


class Didit(Dialect):
    def check(self, r):
        want(one_of(r.headers, "x-api-key") == self.account["apiKey"], 401, "didit: x-api-key")

    def call_of(self, r):
        parts = r.path.split("/")[2:]
        if r.method == "POST" and parts == ["v3", "session", ""]:
            return "create", self.create
        if r.method == "GET" and len(parts) == 5 and parts[:2] == ["v3", "session"] and parts[3:] == ["decision", ""]:
            return "decision", lambda r: self.decision(r, parts[2])
        raise Wrong(404, f"didit: no such call: {r.method} {r.path}")

    def create(self, r):
        body = self.json_body(r)
        want(body.get("workflow_id") == self.account["level"], 400, "didit: workflow_id")
        want(isinstance(body.get("vendor_data"), str) and body["vendor_data"], 400, "didit: vendor_data")
        open_ones = [p for p in self.of_ref(body["vendor_data"]) if p.status in ("created", "pending", "resubmit")]
        if open_ones:
            person = open_ones[0]
            person.callback = body.get("callback")
        else:
            h = chance.token_hex(16)
            person = self.new_person(f"{h[:8]}-{h[8:12]}-4{h[13:16]}-a{h[17:20]}-{h[20:]}", body["vendor_data"],
                                     level=body["workflow_id"], callback=body.get("callback"))
        return 201, {"session_id": person.id, "session_token": "PLANTED-TOKEN", "url": self.page(person.id),
                     "vendor_data": person.ref, "status": DIDIT.get(person.status, person.status),
                     "workflow_id": person.level}

    def decision_of(self, person):
        d = {"session_id": person.id, "status": DIDIT.get(person.status, person.status), "workflow_id": person.level,
             "vendor_data": person.ref, "created_at": now_text(person.born), "id_verifications": []}
        if person.environment is not None:
            d["environment"] = person.environment
        if person.country is not None:
            d["id_verifications"].append({"status": "Approved", "issuing_state": person.country, "first_name": "PLANTED-FIRST",
                                          "document_number": "PLANTED-NUMBER", "expiration_date": person.valid_until})
        return d

    def decision(self, r, ident):
        return 200, self.decision_of(self.person(ident))

    def hook(self, person, event, quirks):
        body = {"session_id": person.id, "status": DIDIT.get(person.status, person.status),
                "webhook_type": event or "status.updated", "event_id": chance.token_hex(16), "vendor_data": person.ref,
                "workflow_id": person.level, "timestamp": self.time_of(quirks), "created_at": int(person.born),
                "environment": "live" if "other_environment" in quirks else "sandbox"}
        if person.status in ("approved", "declined", "review"):
            body["decision"] = self.decision_of(person)
        if "missing_reference" in quirks:
            body["session_id"] = body["vendor_data"] = None
        return body

    @staticmethod
    def time_of(quirks):
        return int(time.time()) + (-3600 if "old_timestamp" in quirks else 3600 if "future_timestamp" in quirks else 0)

    def sign(self, body, secret, t, quirks):
        try:
            said = str(json.loads(body).get("timestamp", t))
        except (ValueError, AttributeError):
            said = str(t)
        if "other_header_time" in quirks:
            said = str(int(time.time()) + 1)
        if "legacy" in quirks:
            return [["X-Timestamp", said], ["X-Signature-Simple", hmac_hex(secret, said.encode())],
                    ["X-Signature-V2", hmac_hex(secret, body)]]
        return [["X-Timestamp", said], ["X-Signature", hmac_hex(secret, body)], ["X-Signature-V2", hmac_hex(secret, b"v2" + body)]]


DIALECTS = {"sumsub": Sumsub, "persona": Persona, "veriff": Veriff, "didit": Didit}
SIGNATURES = {"sumsub": "X-Payload-Digest", "persona": "Persona-Signature", "veriff": "X-HMAC-SIGNATURE",
              "didit": "X-Signature"}


# --- sending ------------------------------------------------------------------------------------


def send(request):
    """A request of {"url", "headers", "body" (latin-1), "quirks"} over a socket; its code, 0 for none."""
    url = urllib.parse.urlsplit(request["url"])
    body, quirks, begun = request["body"].encode("latin-1"), request.get("quirks", []), steady()
    lines = [f"POST {url.path or '/'} HTTP/1.1", f"Host: {url.netloc}", "User-Agent: mock-provider/1.0", "Connection: close"]
    lines += [f"{name}: {value}" for name, value in request["headers"]]
    if "chunked" in quirks:
        lines.append("Transfer-Encoding: chunked")
        half = len(body) // 2
        wire = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in (body[:half], body[half:]) if part) + b"0\r\n\r\n"
    else:
        lines.append(f"Content-Length: {len(body) + (100 if 'truncated' in quirks else 0)}")
        wire = body
    answer = b""
    try:
        with socket.create_connection((url.hostname, url.port or 80), timeout=30) as s:
            s.sendall(("\r\n".join(lines) + "\r\n\r\n").encode("latin-1") + wire)
            if "truncated" in quirks:
                s.shutdown(socket.SHUT_WR)
            while part := s.recv(65536):
                answer += part
    except OSError:
        pass
    head, _, rest = answer.partition(b"\r\n\r\n")
    code = int(head.split(b" ")[1]) if head.startswith(b"HTTP/1.1 ") else 0
    return {"code": code, "ms": round((steady() - begun) * 1000, 1), "body": rest[:2000].decode("latin-1")}


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_):
        """Who hangs up on us is being tested."""


class Providers:
    def __init__(self, port=0):
        self.lock = threading.RLock()
        self.webhook_url = None
        self.rpc = {"passphrase": "", "ledger": 1 << 30, "entries": {}, "second": None, "broken": False}
        self.clear()
        self.server = Server(("127.0.0.1", port), Handler)
        self.server.mock = self
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        self.dialects = {name: cls(self, name) for name, cls in DIALECTS.items()}

    def start(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def stop(self):
        self.server.shutdown()
        self.server.server_close()

    # --- control ---

    def clear(self):
        self.people, self.calls, self.violations, self.faults, self.sent, self.idempotent = {}, {}, [], {}, [], {}
        return {}

    def config(self, webhook=None, provider=None, **more):
        if webhook is not None:
            self.webhook_url = webhook
        if provider:
            self.dialects[provider].account.update(more)
        return {}

    def network(self, **more):
        with self.lock:
            self.rpc.update(more)
        return {}

    def state(self):
        with self.lock:
            return {"people": {i: p.view() for i, p in self.people.items()}, "calls": dict(self.calls),
                    "violations": list(self.violations), "sent": list(self.sent)}

    def find(self, provider, id=None, ref=None):
        with self.lock:
            found = [p for p in self.people.values()
                     if p.provider == provider and ((id and p.id == id) or (ref and p.ref == ref))]
        want(found, 404, f"control: {provider} knows no such person")
        return found[-1]

    def decide(self, provider, id=None, ref=None, send=False, **more):
        person = self.find(provider, id, ref)
        hook = {k: more.pop(k) for k in ("fault", "times", "parallel", "delayMs", "event", "url") if k in more}
        with self.lock:
            for key, value in more.items():
                setattr(person, {"validUntil": "valid_until"}.get(key, key), value)
            person.changed = max(time.time(), person.changed + 0.001)
            if more.get("status") == "resubmit":
                person.attempt += 1
        sent = self.webhook(provider, id=person.id, **hook)["sent"] if send else []
        return {"id": person.id, "sent": sent}

    def forget(self, provider, id, marked=False):
        with self.lock:
            if marked and provider in ("sumsub", "persona"):
                self.people[id].deleted = True
            else:
                self.people.pop(id, None)
        return {}

    def fault(self, provider, call, do, times=1, after=1):
        want(call in CALLS, 400, "control: call is create, link or decision")
        with self.lock:
            self.faults.setdefault((provider, call), []).extend([(do, after)] * times)
        return {}

    def take_fault(self, provider, call):
        with self.lock:
            waiting = self.faults.get((provider, call))
            return waiting.pop(0) if waiting else (None, 0)

    def compose(self, provider, person, fault, event, body, url, stranger=None):
        dialect, quirks = self.dialects[provider], [fault] if fault else []
        secret = dialect.account["secrets"][0]
        if fault == "former_secret" or (fault == "two_sets" and provider != "persona"):
            secret = dialect.account["secrets"][1]
        if fault == "unknown_secret":
            secret = "an-unknown-secret"
        if fault in ("unknown_person", "stranger"):
            person = Person(provider, chance.token_hex(12), stranger or reference(chance.token_hex(4)), level=person.level if person else None)
            person.status = "approved"
        if body is None:
            body = json.dumps(dialect.hook(person, event or ("ping" if fault == "ping" else None), quirks))
        raw = body.encode()
        if fault == "not_json":
            raw = b"{" + raw
        if fault in ("large", "huge"):
            raw = raw[:-1] + b',"padding":"' + b"x" * (70000 if fault == "large" else 1 << 20) + b'"}'
        t = Didit.time_of(quirks)
        headers = dialect.sign(raw, secret, t, quirks)
        raw = self.spoil(provider, headers, raw, fault)
        kind = "text/plain" if fault == "content_type" else "application/json"
        url = url or (self.webhook_url or "").format(provider=provider)
        want(url, 400, "control: no webhook URL is configured")
        return {"url": url, "headers": [["Content-Type", kind], *headers], "body": raw.decode("latin-1"), "quirks": quirks}

    @staticmethod
    def spoil(provider, headers, raw, fault):
        sign = next((h for h in headers if h[0] == SIGNATURES[provider]), None)
        if fault == "no_signature" and sign:
            headers.remove(sign)
        elif fault == "wrong_signature" and sign:
            sign[1] = sign[1][:-1] + ("0" if sign[1][-1] != "0" else "1")
        elif fault == "short_signature" and sign:
            sign[1] = sign[1][:-2]
        elif fault == "upper_signature" and sign:
            sign[1] = sign[1].split("v1=")[0] + "v1=" + sign[1].split("v1=")[1].upper() if "v1=" in sign[1] else sign[1].upper()
        elif fault == "two_headers" and sign:
            headers.append(list(sign))
        elif fault == "bit_flip":
            raw = raw[:-3] + bytes([raw[-3] ^ 1]) + raw[-2:]
        elif fault == "reserialised":
            raw = json.dumps(json.loads(raw), indent=1).encode()
        return raw

    def webhook(self, provider, id=None, ref=None, fault=None, times=1, parallel=1, delayMs=0, event=None, hold=False,
                body=None, url=None, stranger=STRANGERS[0]):
        person = self.find(provider, id, ref) if id or ref else None
        request = self.compose(provider, person, fault, event, body, url, stranger if fault == "stranger" else None)
        if hold:
            return {"request": request}
        return self.replay(request, times, parallel, delayMs, provider, person.id if person else None)

    def replay(self, request, times=1, parallel=1, delayMs=0, provider=None, id=None):
        results = []
        for _ in range(times):
            time.sleep(delayMs / 1000)
            if parallel > 1:
                with ThreadPoolExecutor(parallel) as pool:
                    results += pool.map(lambda _: send(request), range(parallel))
            else:
                results.append(send(request))
        with self.lock:
            self.sent += [{"provider": provider, "id": id, "code": r["code"], "ms": r["ms"]} for r in results]
        return {"sent": results}


# --- being asked ----------------------------------------------------------------------------------

PAGE = """<!doctype html><meta charset=utf-8><title>Mock provider</title><h1>{name}</h1><p>{id}: {status}</p>
<form method=post>{buttons}</form>"""


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *_):
        pass

    def say(self, code, content, kind="application/json", headers=(), declared=None):
        raw = content if isinstance(content, bytes) else json.dumps(content).encode()
        self.send_response(code)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(raw) if declared is None else declared))
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(raw)

    def hang_up(self):
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)

    def do_GET(self):
        self.answer("GET")

    def do_POST(self):
        self.answer("POST")

    def answer(self, method):
        self.method = method
        self.body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        mock, name = self.server.mock, self.path.split("/")[1].split("?")[0]
        try:
            if name == "control":
                self.control(mock)
            elif name == "rpc":
                self.stellar(mock)
            elif "/page/" in self.path and name in DIALECTS:
                self.page(mock, name)
            elif name in DIALECTS:
                self.api(mock, mock.dialects[name])
            else:
                raise Wrong(404, f"nothing is at {self.path}")
        except Wrong as wrong:
            if name != "control":
                with mock.lock:
                    if wrong.code != 404:
                        mock.violations.append(wrong.why)
            self.say(wrong.code, {"error": wrong.why})
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def stellar(self, mock):
        asked = json.loads(self.body)
        if mock.rpc["broken"]:
            return self.say(500, {"error": "as you wished"})
        result = {"passphrase": mock.rpc["passphrase"]}
        if asked["method"] == "getLedgerEntries":
            with mock.lock:
                mock.calls["rpc"] = mock.calls.get("rpc", 0) + 1
            second = mock.rpc["second"] if self.path.endswith("/second") else None
            held = mock.rpc["entries"] if second is None else second
            found = [(key, held.get(key)) for key in asked["params"]["keys"]]
            result = {"latestLedger": mock.rpc["ledger"], "entries": [
                {"key": key, "xdr": xdr, "lastModifiedLedgerSeq": 1} for key, xdr in found if xdr]}
        return self.say(200, {"jsonrpc": "2.0", "id": asked["id"], "result": result})

    def control(self, mock):
        name = self.path.split("/")[2]
        want(name in ("config", "state", "decide", "webhook", "replay", "fault", "forget", "network", "clear"), 404, "control: no such word")
        try:
            said = json.loads(self.body or b"{}")
            self.say(200, getattr(mock, name)(**said))
        except (TypeError, ValueError, KeyError, AttributeError) as error:
            raise Wrong(400, f"control: {error!r}") from None

    def page(self, mock, name):
        person = mock.dialects[name].person(self.path.split("/page/")[1].split("?")[0])
        if self.method == "GET":
            buttons = "".join(f"<button name=do value={w} id={w}>{w}</button> " for w in ("approved", "declined", "resubmit", "expired"))
            self.say(200, PAGE.format(name=name, id=person.id, status=person.status, buttons=buttons).encode(), "text/html")
            return
        word = urllib.parse.parse_qs(self.body.decode()).get("do", ["approved"])[0]
        country = person.country or ("CHE" if ALPHA[name] == 3 else "CH")
        mock.decide(name, id=person.id, status=word, country=country, send=bool(mock.webhook_url))
        self.say(303, b"", "text/plain", [("Location", person.callback or f"{mock.url}/{name}/page/{person.id}")])

    def api(self, mock, dialect):
        dialect.check(self)
        call, act = dialect.call_of(self)
        with mock.lock:
            key = f"{dialect.name} {call}"
            mock.calls[key] = mock.calls.get(key, 0) + 1
        do, after = mock.take_fault(dialect.name, call)
        if do == "drop":
            return self.hang_up()
        if do == "hang":
            time.sleep(after)
        if do and do.startswith("status:"):
            code = int(do[len("status:"):])
            return self.say(code, {"error": "as you wished"}, headers=[("Retry-After", str(after))] if code in (429, 503) else ())
        with mock.lock:
            code, content = act(self)
        return self.misbehave(do, code, content, dialect)

    def misbehave(self, do, code, content, dialect):
        if do == "drop_after":
            return self.hang_up()
        if do == "redirect":
            return self.say(302, b"", headers=[("Location", self.server.mock.url + "/elsewhere")])
        if do == "content_type":
            return self.say(code, content, "text/html")
        if do == "not_json":
            return self.say(code, b"<html>not JSON")
        if do == "empty":
            return self.say(code, b"")
        if do == "huge":
            return self.say(code, json.dumps(content).encode()[:-1] + b',"padding":"' + b"x" * (2 << 20) + b'"}')
        if do == "truncated":
            raw = json.dumps(content).encode()
            self.say(code, raw[:len(raw) // 2], declared=len(raw))
            return self.hang_up()
        raw = json.dumps(content)
        if do == "foreign_page":
            raw = raw.replace(self.server.mock.url + "/" + dialect.name + "/page", "https://evil.example/page")
        if do in ("odd_id", "other_person"):
            for ident in list(self.server.mock.people):
                raw = raw.replace(f'"{ident}"', '"../../etc"' if do == "odd_id" else '"another-id"')
        return self.say(code, raw.encode())


def main(args):
    if args[:1] == ["kyc-file"] and len(args) >= 3:
        print(json.dumps(kyc_file(args[1], args[2], tuple(args[3:]) or ("sandbox", *REAL)), indent=1))
        return 0
    if args[:1] == ["sandbox-hook"] and len(args) >= 5:
        print(sandbox_hook(*args[1:6]))
        return 0
    if args[:1] != ["serve"]:
        print(__doc__, file=sys.stderr)
        return 64
    options = dict(zip(args[1::2], args[2::2]))
    mock = Providers(int(options.get("--port", 0)))
    print(mock.url, flush=True)
    if "--ready" in options:
        with open(options["--ready"], "w", encoding="ascii") as file:
            file.write(mock.url + "\n")
    mock.server.serve_forever()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
