"""Runs the seeds of tests/hostile/providers: one KYC provider lies. Called with DIR PG_BIN and the generator's
arguments.

A lie replaces a member of an answer, at any depth, by a value that is none of its values, or drops it. An absent end of a document is a
value ("no end is stated"), and so is an absent address beside a document's country: those are not dropped. What is left of the answer is then either the provider's word, or no verdict; it is
never another verdict. So this holds after each seed, whatever the order of things:

- an intent to attest that is not parked has the country of an approval which the provider gave, and ends no later than that one did
- an intent to revoke that is not parked follows a verdict other than approved
- sessions at the other providers were decided all the while; the process lives, webhooks get documented answers, the audit is whole
- once the provider tells the truth again, each session stands as it says, or waits for a person
"""
import json
import random
import sys
import time
import traceback
from datetime import datetime, timedelta, timezone

import _providers
from _kyc import REAL, Api, Session, check, sql, until

DAY = 86400
NUMERIC = {"CHE": 756, "CH": 756, "DEU": 276, "DE": 276, "FRA": 250, "FR": 250}
COUNTRIES = {3: ["CHE", "DEU", "FRA"], 2: ["CH", "DE", "FR"]}
DEEP = [[[[[[[[[[[[["deep"]]]]]]]]]]]]]
JUNK = [None, True, False, 0, -1, 7, 2**53, -2**63, 1e300, "", " ", "x" * 3000, "\u202e\u00e4\U0001f600", [], {}, DEEP, {"value": {"value": 1}}, "null",
        "APPROVED ", "approved\n", "31.12.2030", "0000-00-00", "9999-99-99", "2031-02-30", "-1", "1e9", "XXA", "ZZZ", "che", "../..", "'; DROP TABLE kyc.session; --"]
OPTIONAL = ("validUntil", "expiration-date", "expiration_date", "address-country-code")
FAULTS = ["status:500", "status:404x", "status:429", "drop", "truncated", "not_json", "drop_after", "content_type", "empty", "huge", "other_person", "redirect"]
HOOKS = ["wrong_signature", "no_signature", "bit_flip", "reserialised", "legacy", "old_timestamp", "not_json", "ping", "unknown_person", "stranger", "missing_reference",
         "two_headers", "unknown_secret", "other_environment", None, None, None]
CODES = {200, 400, 401, 413, 415, 429}
WORDS = ["approved", "approved", "approved", "declined", "resubmit", "review", "pending"]


class Liar:
    """In place of a dialect's decision: the answer, with one member that is wrong."""

    def __init__(self, dialect, dice):
        self.dialect, self.dice, self.honest, self.on, self.told = dialect, dice, dialect.decision, False, 0
        dialect.decision = self.decision

    def decision(self, *args):
        code, content = self.honest(*args)
        if not self.on or code != 200:
            return code, content
        content = json.loads(json.dumps(content))
        path, value = self.dice.choice(list(self.members(content, ())))
        at = content
        for step in path[:-1]:
            at = at[step]
        optional = any(name in json.dumps([path, value]) for name in OPTIONAL)
        junk = self.dice.choice([j for j in JUNK if not (optional and j in (None, "", [], {}))])
        if not optional and isinstance(at, dict) and self.dice.random() < 0.2:
            del at[path[-1]]
        else:
            at[path[-1]] = junk
        self.told += 1
        return code, content

    def members(self, value, path):
        if path:
            yield path, value
        inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        for key, one in inner:
            yield from self.members(one, path + (key,))

    def stop(self):
        self.dialect.decision = self.honest


class Patient:
    """A session at the hostile provider, and all that the provider ever decided of it."""

    def __init__(self, mock, provider):
        self.session, self.given = Session(mock, provider, next_check="now()"), []

    def decide(self, dice, word):
        until_day = None if dice.random() < 0.5 else (datetime.now(timezone.utc) + timedelta(days=dice.randint(5, 500))).strftime("%Y-%m-%d")
        country = dice.choice(COUNTRIES[_providers.ALPHA[self.session.provider]])
        self.given.append((word, NUMERIC[country], until_day))
        self.session.decide(word, country=country, validUntil=until_day)


def day_end(text):
    return datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=timezone.utc).timestamp() + DAY


def judge(p, seed):
    """The invariants of one session."""
    s, words = p.session, [g[0] for g in p.given]
    for row in filter(None, sql(f"""SELECT action, state, jurisdiction, expires_at, extract(epoch FROM created_at)::bigint FROM kyc.outbox
            WHERE session_id = '{s.id}' ORDER BY decision_rev""").split("\n")):
        action, state, country, ends, made = row.split("|")
        if state == "parked":
            continue
        if action == "revoke":
            check(any(w != "approved" for w in words), f"{s.provider}: revoked, and it only ever approved: {p.given}")
            continue
        fits = [g for g in p.given if g[0] == "approved" and g[1] == int(country) and (g[2] is None or int(ends) <= day_end(g[2]))]
        check(fits and int(ends) <= int(made) + 365 * DAY + 60, f"{s.provider}: attested {row}, decided were {p.given}")


def settled(p):
    """As the provider says, or with a person."""
    s, (word, _, _) = p.session, p.given[-1]
    state, reason = sql(f"SELECT state, coalesce(reason, '') FROM kyc.session WHERE id = '{s.id}'").split("|")
    if word == "approved":
        return state == "approved" and reason in ("", "undated_approval", "repeated_approval")
    return state in ("declined", "revoked") or (state == "approved" and reason == "many_revocations")


def run(api, mock, seed):
    dice = random.Random(seed)
    hostile = dice.choice(REAL)
    liar = Liar(mock.dialects[hostile], dice)
    patients = [Patient(mock, hostile) for _ in range(3)]
    others = [Session(mock, p, next_check="now()") for p in REAL if p != hostile]
    held, faults = [], 0
    try:
        for step in range(dice.randint(6, 12)):
            p, roll = dice.choice(patients), dice.random()
            liar.on = dice.random() < 0.6
            if roll < 0.4:
                p.decide(dice, dice.choice(WORDS))
            if roll < 0.1 and faults < 2:
                mock.fault(hostile, "decision", dice.choice(FAULTS).rstrip("x"), after=1)
                faults += 1
            hook = dice.choice([h for h in HOOKS if (hostile, h) != ("veriff", "ping")])  # which has none
            if dice.random() < 0.7:
                request = p.session.tell(hold=True, fault=hook)["request"]
                held.append(request)
                told = mock.replay(dice.choice(held), times=dice.randint(1, 3), provider=hostile)["sent"]
                check({t["code"] for t in told} <= CODES, f"a webhook was answered {told}")
            else:
                sql(f"UPDATE kyc.session SET next_check = now() WHERE id = '{p.session.id}'")
            if step == 2:
                for s in others:
                    s.decide("approved", send=True)
            time.sleep(dice.random() * 0.3)
        for s in others:  # while the lies go on
            s.becomes("approved", ["attest"], 30)
        liar.on = False
        mock.faults.clear()
        time.sleep(1.1)  # decisions are seconds apart
        for p in patients:
            p.decide(dice, dice.choice(["approved", "approved", "declined"]))
            p.session.tell()
        for p in patients:
            def now(p=p):
                sql(f"UPDATE kyc.session SET next_check = now() WHERE id = '{p.session.id}' AND next_check > now() + interval '2 s'")
                return settled(p)
            try:
                until(now, True, f"{hostile}: {p.session.id} after {p.given[-1]}", 90)
            except SystemExit as late:
                row = sql(f"SELECT state, reason, decision_at, last_error, attempts, next_check - now() FROM kyc.session WHERE id = '{p.session.id}'")
                raise SystemExit(f"{late}; it is {row}; decided were {p.given}") from None
        for p in patients:
            judge(p, seed)
        check(sql("SELECT kyc.audit_broken() IS NULL") == "t", "the audit is broken")
        check(api.process.poll() is None, "tidemark-api ended")
        sql("UPDATE kyc.inbox SET state = 'done' WHERE state = 'new'")  # webhooks about no person of the next seed
    finally:
        liar.stop()
    return liar.told


def main():
    kind, first, *more = sys.argv[3:]
    if kind not in ("--seed", "--seeds", "--seconds"):
        sys.exit(64)
    mock = _providers.Providers().start()
    api = Api(mock)
    api.start(reconcile_s=5, settings=_providers.kyc_file(mock.url, "http://127.0.0.1:1", open=True))
    end = time.monotonic() + int(first) if kind == "--seconds" else None
    seeds = [int(first) + i for i in range(int(more[0]) if more else 1)] if end is None else None
    done = lies = 0
    try:
        while seeds if end is None else time.monotonic() < end:
            seed = seeds.pop(0) if end is None else random.randrange(1 << 32)
            try:
                lies += run(api, mock, seed)
            except BaseException as error:
                if not isinstance(error, SystemExit):
                    traceback.print_exc()
                print(f"seed {seed}: {error}", flush=True)
                raise SystemExit(1) from None
            done += 1
        api.stop()
    finally:
        if api.process and api.process.poll() is None:
            api.process.kill()
    print(f"{done} seeds, {lies} answers that were lies, {len(mock.sent)} webhooks")


main()
