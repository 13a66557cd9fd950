"""Jumps of the database's clock and what they leave behind in KYC's tables: kyc_clocks.sh runs it.

usage: _kyc_clocks.py DIR PG_BIN SHIFT_FILE    SHIFT_FILE: seconds by which PostgreSQL's clock is ahead"""
import base64
import hashlib
import json
import struct
import sys

import _providers
from _ed25519 import Account
from _kyc import Api, approved, check, sql, until

AHEAD_S = 40 * 86400  # notifications are deleted after 30 days
HOOK = "ab" * 16
KEY = "tk_abcdefgh2345." + "a" * 43
ADDRESSES = ["GA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVSGZ", "GA25OGO7D4AFPW4G3P6IC7C6MLR42B54U62WNNWKFEGHRC3XEA5ANBRC"]
SETTINGS = {"open": True, "webhookKey": "55" * 32, "webhookLocal": True, "anonymousPerNetworkHour": 1}


def set_clock(seconds):
    with open(sys.argv[3], "w", encoding="ascii") as file:
        file.write(str(seconds))


def plant_delivery():
    """A notification that waits for an endpoint where nothing listens."""
    sql(f"""INSERT INTO kyc.hook (id, deployment, integrator, url, events) SELECT '{HOOK}', id, 'shop', 'http://127.0.0.1:1/x', '{{market.listed}}' FROM chain.deployment;
        INSERT INTO kyc.hook_event (id, deployment, kind, subject, payload) SELECT 'evt_1', id, 'market.listed', 'market:x', '{{}}' FROM chain.deployment;
        SELECT kyc.hook_enqueue('{HOOK}', id, 'evt_1', 'market:x') FROM chain.deployment""")


def delivery():
    """[state of the endpoint, state of its delivery, attempts]; the last two are missing if the delivery is gone"""
    found = sql(f"SELECT h.state, d.state, d.attempts FROM kyc.hook AS h LEFT JOIN kyc.hook_delivery AS d ON d.hook = h.id WHERE h.id = '{HOOK}'").split("|")
    return found[:2] + [int(found[2] or 0)]


def attempted(times, what):
    until(lambda: delivery()[:2] != ["enabled", "queued"] or delivery()[2] >= times, True, what)
    check(delivery()[:2] == ["enabled", "queued"], f"{what}: {delivery()}")


def open_session(api, address, key=None, provider="didit", mode="redirect", **more):
    body = json.dumps({"address": address, "providerKey": provider, "mode": mode, **more}).encode()
    return api.get("/api/sdk/kyc/session", {"Content-Type": "application/json", **({"X-API-Key": key} if key else {})}, "POST", body)


def signed_challenge(api):
    """(address, challenge that its key signed)"""
    who = Account(hashlib.sha256(b"clocks").digest())
    code, _, text = api.get(f"/api/sdk/kyc/challenge/{who.address}")
    check(code == 200, f"challenge: {code} {text}")
    network = bytes.fromhex(sql("SELECT encode(network_id, 'hex') FROM chain.deployment"))
    raw = base64.b64decode(json.loads(text)["transaction"])  # ends in one signature: the server's
    digest = hashlib.sha256(network + struct.pack(">I", 2) + raw[4:-76]).digest()
    signature = who.public[-4:] + struct.pack(">I", 64) + who.sign(digest)
    return who.address, base64.b64encode(raw[:-76] + struct.pack(">I", 2) + raw[-72:] + signature).decode()


def challenges(mock):
    """A challenge is used once, whatever the database's clock says."""
    api = Api(mock, name="proof")
    api.own = {"TIDEMARK_RPC": f"{mock.url}/rpc"}  # it says that the account has no entry: its key alone signs
    mock.network(passphrase=sql("SELECT passphrase FROM chain.deployment"))
    api.start(settings=_providers.kyc_file(mock.url, "http://127.0.0.1:1", types=("sandbox",)))
    try:
        # The first worker prunes challenges before it counts sessions; later it would go by the clock that is ahead.
        until(lambda: api.metric("kyc_sessions") > 0, True, "sessions are counted")
        address, signed = signed_challenge(api)
        use = lambda mode: open_session(api, address, provider="sandbox", mode=mode, challenge=signed)  # noqa: E731
        check(use("redirect")[0] == 201, "a challenge is used")
        for ahead in 0, 7200, 0, -7200, 0:
            set_clock(ahead)
            code, _, text = use("direct")
            check(code == 401 and '"challenge_used"' in text, f"a challenge is used twice, the database's clock is {ahead} s ahead: {code} {text}")
    finally:
        set_clock(0)
        api.stop()


def main():
    mock = _providers.Providers().start()
    api = Api(mock)
    api.own = {"TIDEMARK_CLOCK_SKEW_S": "120"}
    settings = _providers.kyc_file(mock.url, "http://127.0.0.1:1", **SETTINGS)
    sql("UPDATE chain.cursor SET closed_at = clock_timestamp() + interval '100 s'")
    api.start(settings=settings)
    try:
        sql("SELECT kyc.integrator_put('test', 'shop', 'Shop', '{}', NULL, 10, 'active')")
        sql(f"SELECT kyc.key_add('test', 'tk_abcdefgh2345', 'shop', sha256('{KEY}'), '{{kyc}}', NULL, NULL, '{{}}', NULL, clock_timestamp() + interval '10 days')")
        until(lambda: open_session(api, ADDRESSES[0], KEY)[0], 201, "the key is known")
        told, unseen = approved(mock, "sumsub"), approved(mock, "persona")
        plant_delivery()
        attempted(1, "a notification fails")
        api.stop()
        set_clock(AHEAD_S)
        api.start(settings=settings)
        until(lambda: api.metric("kyc_clocks_differ") > 0, True, "the worker sees a clock that is ahead")
        attempted(delivery()[2] + 1, "a notification fails while the clock is ahead")
        told.decide("declined", send=True)
        unseen.decide("declined")
        sql(f"UPDATE kyc.session SET next_check = clock_timestamp() + interval '1 hour' WHERE id = '{unseen.id}'")  # as a turn that the jump met
        check(open_session(api, ADDRESSES[0])[0] == 201, "a session while the clock is ahead")
        check(sql("SELECT count(*) FROM kyc.inbox WHERE state = 'new' AND next_try > clock_timestamp() - interval '1 day'") == "1", "the webhook is stored")
        check([sql("SELECT kyc.hook_may('changes of shop', 1)") for _ in range(2)] == ["t", "f"], "changes of a day while the clock is ahead")
        before = delivery()[2]
        set_clock(0)
        until(lambda: open_session(api, ADDRESSES[0], KEY)[0], 200, "the key that ends in ten days is good again")
        told.becomes("revoked", ["attest", "revoke"])
        unseen.becomes("revoked", ["attest", "revoke"])
        attempted(before + 1, "the notification is sent again")
        check([sql("SELECT kyc.hook_may('changes of shop', 1)") for _ in range(2)] == ["t", "f"], "changes of this day")
        # Each provider's worker repairs its own sessions, and that of didit may be the last.
        until(lambda: sql("SELECT max(created_at) < clock_timestamp() FROM kyc.session"), "t", "sessions of the future")
        check(open_session(api, ADDRESSES[1])[0] == 429, "the session counts against the limit of an hour")
        sql("UPDATE kyc.session SET created_at = created_at - interval '1 hour'")
        check(open_session(api, ADDRESSES[1])[0] == 201, "an hour later the limit is over")
    finally:
        api.stop()
    challenges(mock)
    print("ok clocks: challenges, keys, webhooks, checks, notifications and limits outlive a clock that was ahead")


main()
