"""The cases of kyc_beside.sh. Arguments: DIR PG_BIN of _kyc.py, then the other deployment's file. Each of two
deployments has an API, with its own accounts at the same providers."""
import sys

import _providers
from _kyc import REAL, Api, Session, check, idle, rows, sql, until

EACH = 4  # sessions a provider


def polled(apis, mocks):
    sessions = {d: [Session(mocks[d], p, deployment=d) for p in REAL for _ in range(EACH)] for d in apis}
    for of_one in sessions.values():
        for s in of_one:
            s.decide("approved")
    sql("UPDATE kyc.session SET next_check = now()")
    for d, of_one in sessions.items():
        for s in of_one:
            s.becomes("approved", ["attest"])
            check(sql(f"SELECT deployment FROM kyc.outbox WHERE session_id = '{s.id}'") == str(d), "an intent of the other's")
    check(rows("session", "state <> 'approved'") == 0 and rows("outbox", "state <> 'queued'") == 0, "not all approved")
    for d, api in apis.items():  # a count that took long is not repeated for up to a minute
        until(lambda: api.metric("kyc_sessions", state="approved"), EACH * len(REAL), f"sessions that deployment {d} counts", 90)
    print(f"ok polled: {2 * EACH * len(REAL)} sessions of two deployments, each asked about at its own accounts")


def told_both(apis, mocks):
    """One account of a provider sends each webhook to both: the API whose session it is acts on it."""
    for provider in REAL:
        s = Session(mocks[1], provider, deployment=1)
        s.decide("approved")
        request = s.tell(hold=True)["request"]
        for d in 2, 1:
            code = _providers.send({**request, "url": f"{apis[d].url}/api/kyc/webhook/{provider}"})["code"]
            check(code == 200, f"{provider}: {code}")
        s.becomes("approved", ["attest"])
        until(lambda: sql(f"SELECT string_agg(deployment || ' ' || state, ', ' ORDER BY deployment) FROM kyc.inbox"
                          f" WHERE provider_id = '{s.person.id}'"), "1 done, 2 ignored", provider)
    idle()
    print("ok told both: a webhook that two deployments hear is each one's own")


def main():
    mocks = {d: _providers.Providers().start() for d in (1, 2)}
    apis = {1: Api(mocks[1], "first"), 2: Api(mocks[2], "second", deployment=sys.argv[3])}
    try:
        for api in apis.values():
            api.start()
        polled(apis, mocks)
        told_both(apis, mocks)
        for d, mock in mocks.items():
            check(not mock.violations, f"the accounts of {d} object: {mock.violations[:3]}")
        for api in apis.values():
            api.stop()
    finally:
        for one in Api.every:
            if one.process and one.process.poll() is None:
                one.process.kill()


main()
