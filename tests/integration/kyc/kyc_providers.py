#!/usr/bin/env python3
"""Tests the adapters with mock providers: their requests, their reading of answers, and the webhooks that they
accept. The mock checks each request as strictly as the provider would."""
import json
import os
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import _providers  # noqa: E402
from _steady import steady  # noqa: E402

BIN = os.environ["TIDE_BIN"]
REAL = _providers.REAL
TIMEOUT_MS = 500
# Verdicts that have a time, as tests/unit/api/kyc/test_kyc_decision.c walks them.
DATED = {"sumsub": {"approved", "declined", "resubmit"}, "persona": {"approved", "declined"},
         "veriff": {"approved", "declined", "resubmit", "review"}, "didit": set()}
NUMERIC = {"sumsub": ("CHE", 756), "persona": ("CH", 756), "veriff": ("DE", 276), "didit": ("DEU", 276)}
checks = 0


def expect(got, wanted, about):
    global checks
    checks += 1
    if got != wanted:
        sys.exit(f"FAIL: {about}: got {got!r}, wanted {wanted!r}")


class Driver:
    def __init__(self, path):
        self.process = subprocess.Popen([f"{BIN}/kyc_driver", path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __call__(self, do, provider, **more):
        self.process.stdin.write(json.dumps({"do": do, "provider": provider, **more}) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if "PLANTED" in line or "secret\":\"" in line:
            sys.exit(f"FAIL: {do} of {provider} says too much: {line}")
        return json.loads(line)

    def close(self):
        self.process.stdin.close()
        expect(self.process.wait(10), 0, "the driver's end")


def create(ask, name, ref="ref-1", session="s-1"):
    return ask("create", name, ref=_providers.reference(ref), session=session, **{"return": "http://127.0.0.1:8080/kyc/return/t"})


def pages(mock, ask, name):
    made = create(ask, name)
    expect(made["status"], "OK", f"{name} create: {made}")
    expect(made["url"].startswith(f"{mock.url}/{name}/page/"), True, made["url"])
    expect(made["id"] in mock.people, True, f"{name}: the id is the provider's")
    expect(mock.people[made["id"]].ref, _providers.reference("ref-1"), f"{name}: our reference")
    expect(mock.people[made["id"]].callback, "http://127.0.0.1:8080/kyc/return/t", f"{name}: where people come back to")
    expect(0 < made["expires"] - time.time() <= 7 * 86400, True, f"{name}: it expires")
    again = create(ask, name)
    expect(again["status"], "OK", f"{name} create again")
    if name != "veriff":  # which makes a session each time
        expect(again["id"], made["id"], f"{name}: the same order again is the same person")
    return made["id"]


def decisions(mock, ask, name, ident):
    code, numeric = NUMERIC[name]
    first = {"sumsub": "created", "persona": "created", "veriff": "pending", "didit": "created"}[name]
    expect(ask("fetch", name, id=ident)["state"], first, f"{name}: nothing decided")
    for said, state in (("review", "review"), ("declined", "declined"), ("resubmit", "action_required"),
                        ("approved", "approved"), ("pending", "pending")):
        before = int(time.time()) * 1000  # some providers give whole seconds
        mock.decide(name, id=ident, status=said, country=code, validUntil="2031-02-03")
        d = ask("fetch", name, id=ident)
        after = time.time() * 1000 + 100  # the mock's changes are a millisecond apart at least
        expect((d["state"], d["reason"]), (state, ""), f"{name}: {said}")
        expect(d["decidedMs"] > 0, said in DATED[name], f"{name}: {said}: has a time")
        expect(d["jurisdiction"], numeric if said == "approved" else 0, f"{name}: {said}: jurisdiction")
        if said == "approved":
            expect(d["validUntil"], 1927929600, f"{name}: the document's last day is over")
            if name != "didit":
                expect(before <= d["decidedMs"] <= after, True, f"{name}: when it was decided: {before} {d['decidedMs']} {after}")
    if name == "sumsub":
        for said, state in (("awaitingService", "pending"), ("awaitingUser", "action_required")):
            mock.decide(name, id=ident, status=said, country=code)
            d = ask("fetch", name, id=ident)
            expect((d["state"], d["reason"], d["jurisdiction"]), (state, "", 0), f"{name}: {said}")
    else:
        mock.decide(name, id=ident, status="expired")
        expect(ask("fetch", name, id=ident)["state"], "expired", f"{name}: expired")
    mock.decide(name, id=ident, status="Something New", country=code)
    d = ask("fetch", name, id=ident)
    expect((d["state"], d["reason"]), ("review", "status_unknown"), f"{name}: an unknown word")


def doubts(mock, ask, name, ident):
    """Approved, and yet no attestation may follow."""
    for country in ("RKS", "XXA", "D", "GBN", "UNO", "xx", "756", 756, {"code": "CHE"}, ["CHE"], False):
        mock.decide(name, id=ident, status="approved", country=country)
        d = ask("fetch", name, id=ident)
        expect((d["state"], d["reason"], d["jurisdiction"]), ("review", "country_unknown", 0), f"{name}: {country}")
    mock.decide(name, id=ident, status="approved", country=None)
    d = ask("fetch", name, id=ident)
    expect((d["state"], d["reason"], d["jurisdiction"]), ("review", "no_country", 0), f"{name}: no country")
    if name != "veriff":
        mock.decide(name, id=ident, country=NUMERIC[name][0], level="another-level")
        d = ask("fetch", name, id=ident)
        expect((d["state"], d["reason"], d["jurisdiction"]), ("review", "level", 0), f"{name}: another level")
        mock.decide(name, id=ident, level=_providers.ACCOUNTS[name]["level"])
    mock.decide(name, id=ident, country=NUMERIC[name][0])
    for end, wanted in ((None, ("approved", "", 0)), ("31.12.2040", ("review", "end_unknown", 0)), ("2031-02-29", ("review", "end_unknown", 0)),
                        (1927929600, ("review", "end_unknown", 0)), (["2031-02-03"], ("review", "end_unknown", 0))):
        mock.decide(name, id=ident, validUntil=end)
        d = ask("fetch", name, id=ident)
        expect((d["state"], d["reason"], d["validUntil"]), wanted, f"{name}: a document that ends {end!r}")
    mock.decide(name, id=ident, validUntil=None)


def bad_answers(mock, ask, name, ident):
    for call, do in (("create", lambda fault: create(ask, name, "ref-" + fault, "s-" + fault)),
                     ("decision", lambda _: ask("fetch", name, id=ident))):
        for fault, wanted in (("status:500", "E_IO"), ("status:503", "E_IO"), ("status:429", "E_IO"), ("status:401", "E_CONFIG"),
                              ("status:403", "E_CONFIG"), ("status:400", "E_DECODE"), ("drop", "E_IO"), ("drop_after", "E_IO"),
                              ("truncated", "E_IO"), ("huge", "E_DECODE"), ("not_json", "E_DECODE"), ("empty", "E_DECODE"),
                              ("content_type", "E_DECODE"), ("redirect", "E_DECODE"), ("hang", "E_IO")):
            mock.faults.clear()
            # The client asks once more if a kept connection is dead, so such a fault must happen twice.
            mock.fault(name, call, fault, after=2, times=2 if fault.startswith("drop") else 1)
            begun = steady()
            expect(do(fault)["status"], wanted, f"{name} {call}: {fault}")
            expect(steady() - begun < 5, True, f"{name} {call}: {fault}: in time")
    mock.faults.clear()
    mock.fault(name, "create", "odd_id")
    expect(create(ask, name, "ref-3", "s-3")["status"], "E_DECODE", f"{name}: an id that leads elsewhere")
    page = "create" if name in ("veriff", "didit") else "link"
    mock.fault(name, page, "foreign_page")
    expect(create(ask, name, "ref-4", "s-4")["status"], "E_DECODE", f"{name}: a page at another host")
    mock.fault(name, "decision", "other_person")
    expect(ask("fetch", name, id=ident)["status"], "E_DECODE", f"{name}: a decision about another person")
    expect(create(ask, name, "ref-drop_after", "s-drop_after")["status"], "OK", f"{name}: well again")
    found = [p for p in mock.people.values() if p.provider == name and p.ref == _providers.reference("ref-drop_after")]
    if name != "veriff":
        expect(len(found), 1, f"{name}: one person, however often the answer was lost")
    expect(ask("fetch", name, id=ident)["status"], "OK", f"{name}: well again")


def deleted(mock, ask, name, ident):
    mock.forget(name, ident)
    expect(ask("fetch", name, id=ident)["status"], "E_MISSING", f"{name}: deleted there")


# fault -> verdict; providers where it is another, or does not exist
WEBHOOKS = [
    (None, "genuine", {}), ("large", "genuine", {}), ("camel", "genuine", {}), ("snake", "genuine", {}), ("upper_signature", "genuine", {}), ("former_secret", "genuine", {}), ("two_sets", "genuine", {}),
    ("wrong_signature", "forged", {}), ("no_signature", "forged", {}), ("short_signature", "forged", {}),
    ("two_headers", "forged", {}), ("bit_flip", "forged", {}), ("reserialised", "forged", {}), ("legacy", "forged", {}),
    ("unknown_secret", "forged", {}), ("algorithm", "forged", {"persona": None, "veriff": None, "didit": None}),
    ("old_timestamp", "forged", {"sumsub": None, "veriff": None}), ("future_timestamp", "forged", {"sumsub": None, "veriff": None}),
    ("other_client", "forged", {"sumsub": None, "persona": None, "didit": None}),
    ("other_header_time", "forged", {"sumsub": None, "persona": None, "veriff": None}),
    ("not_json", "malformed", {"didit": "malformed"}), ("missing_reference", "irrelevant", {}),
    ("other_environment", "irrelevant", {"persona": None, "veriff": None}),
    ("ping", "irrelevant", {"sumsub": "genuine", "veriff": "genuine"}), ("unknown_person", "genuine", {}),
]


def webhooks(mock, ask, name):
    ident = create(ask, name, "ref-5", "s-5")["id"]
    mock.decide(name, id=ident, status="approved", country=NUMERIC[name][0])
    for fault, wanted, others in WEBHOOKS:
        wanted = others.get(name, wanted)
        if wanted is None or (fault == "ping" and name == "veriff"):
            continue
        r = mock.webhook(name, id=ident, fault=fault, hold=True, url="http://127.0.0.1:9/")["request"]
        e = ask("verify", name, headers=r["headers"], body=r["body"])
        expect(e["verdict"], wanted, f"{name} webhook {fault}: {e}")
        if wanted == "genuine" and fault != "unknown_person":
            expect((e["id"], e["ref"]), (ident, _providers.reference("ref-5")), f"{name} webhook {fault}: who")
            expect(e["secret"], 1 if fault in ("former_secret",) or (fault == "two_sets") else 0, f"{name} {fault}: secret")
            expect(len(e["key"]) > 8, True, f"{name}: a key")
        elif wanted == "forged":
            expect((e["id"], e["ref"], e["key"] == "" or fault in ("old_timestamp", "future_timestamp", "other_header_time")),
                   ("", "", True), f"{name} webhook {fault}: nothing of it is believed")
            expect(e["why"] != "", True, f"{name} webhook {fault}: a word for the audit")
    strangers(mock, ask, name, ident)
    replays(mock, ask, name, ident)


def strangers(mock, ask, name, ident):
    """Genuine webhooks about people of other applications at the same account."""
    for ref in _providers.STRANGERS:
        for body in (None, "odd id"):
            r = mock.webhook(name, id=ident, fault="stranger", stranger=ref, hold=True, url="http://127.0.0.1:9/")["request"]
            if body:  # with an id that we could not take
                said = json.loads(r["body"])
                r = mock.webhook(name, id=ident, body=with_id(said, "../../etc"), hold=True, url="http://127.0.0.1:9/")["request"]
            e = ask("verify", name, headers=r["headers"], body=r["body"])
            expect((e["verdict"], e["why"], e["id"], e["ref"]), ("irrelevant", "other_person", "", ""), f"{name}: a webhook about {ref!r} {body}")
    r = mock.webhook(name, id=ident, hold=True, url="http://127.0.0.1:9/")["request"]
    r = mock.webhook(name, id=ident, body=with_id(json.loads(r["body"]), "../../etc"), hold=True, url="http://127.0.0.1:9/")["request"]
    e = ask("verify", name, headers=r["headers"], body=r["body"])
    expect((e["verdict"], e["why"]), ("malformed", "id"), f"{name}: our reference and an id that cannot be one")


def with_id(body, ident):
    """The webhook's text with another id of its person."""
    about = body.get("verification") or body
    if "data" in body:
        body["data"]["attributes"]["payload"]["data"]["id"] = ident
    else:
        about["applicantId" if "applicantId" in about else "session_id" if "session_id" in about else "id"] = ident
    return json.dumps(body)


def environments(mock, folder):
    """An answer of the other environment is no verdict, whatever it says. Persona's and Veriff's answers name none."""
    ask = Driver(write_file(mock, folder, "live", live=True))
    for name, said in (("didit", "sandbox"), ("didit", "staging"), ("didit", 7)):
        ident = create(ask, name, "ref-6", "s-6")["id"]
        for status in ("approved", "declined", "expired", "pending"):
            mock.decide(name, id=ident, status=status, country=NUMERIC[name][0], environment=said)
            d = ask("fetch", name, id=ident)
            expect((d["state"], d["reason"], d["jurisdiction"]), ("review", "environment", 0), f"live {name}: {status} of {said}")
        for right in ("live", "production", None):
            mock.decide(name, id=ident, status="approved", environment=right)
            d = ask("fetch", name, id=ident)
            expect((d["state"], d["jurisdiction"]), ("approved", NUMERIC[name][1]), f"live {name}: approved of {right}")
    for name, fault in (("sumsub", "other_environment"), ("didit", None)):  # the mock's Sumsub names that of its token
        ident = create(ask, name, "ref-7", "s-7")["id"]
        r = mock.webhook(name, id=ident, fault=fault, hold=True, url="http://127.0.0.1:9/")["request"]
        e = ask("verify", name, headers=r["headers"], body=r["body"])
        expect((e["verdict"], e["why"]), ("irrelevant", "environment"), f"live {name}: a webhook of the sandbox")
    ask.close()


def replays(mock, ask, name, ident):
    """Where the time is signed a late copy is refused; where it is not, it has the key that it had."""
    r = mock.webhook(name, id=ident, hold=True, url="http://127.0.0.1:9/")["request"]
    first = ask("verify", name, headers=r["headers"], body=r["body"])
    second = ask("verify", name, headers=r["headers"], body=r["body"])
    expect(second["key"], first["key"], f"{name}: the same again")
    late = ask("verify", name, headers=r["headers"], body=r["body"], now=int(time.time()) + 2592000)
    expect(late["verdict"], "forged" if name in ("persona", "didit") else "genuine", f"{name}: a month later")
    expect(late["key"] if name in ("sumsub", "veriff") else first["key"], first["key"], f"{name}: the same a month later")
    gone = {"headers": r["headers"], "body": r["body"], "now": 4102444800 + 86400}
    r = mock.webhook(name, id=ident, fault="former_secret", hold=True, url="http://127.0.0.1:9/")["request"]
    if name in ("sumsub", "veriff"):
        expect(ask("verify", name, headers=r["headers"], body=r["body"], now=gone["now"])["verdict"], "forged",
               f"{name}: a secret past its end")


def write_file(mock, folder, name, live=False):
    path = f"{folder}/{name}.json"
    with open(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), "w", encoding="utf-8") as file:
        settings = _providers.kyc_file(mock.url, "http://127.0.0.1:8080")
        for provider in settings["providers"]:
            provider["timeoutMs"] = TIMEOUT_MS
            if live and provider["type"] in ("sumsub", "didit"):
                provider.update(environment="live", apiKey="mock-" + provider["type"])
                mock.config(provider=provider["type"], apiKey=provider["apiKey"])
        json.dump(settings, file)
    return path


def main():
    if not os.access(f"{BIN}/kyc_driver", os.X_OK):
        print("kyc_driver was not built")
        return 1
    mock = _providers.Providers().start()
    with tempfile.TemporaryDirectory() as folder:
        ask = Driver(write_file(mock, folder, "kyc"))
        for name in REAL:
            ident = pages(mock, ask, name)
            decisions(mock, ask, name, ident)
            doubts(mock, ask, name, ident)
            bad_answers(mock, ask, name, ident)
            webhooks(mock, ask, name)
            deleted(mock, ask, name, ident)
        ask.close()
        environments(mock, folder)
    expect(mock.violations, [], "requests that a provider would refuse")
    mock.stop()
    print(f"{checks} checks, {sum(mock.calls.values())} calls")
    return 0


sys.exit(main())
