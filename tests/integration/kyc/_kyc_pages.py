"""usage: _kyc_pages.py URL KEY TOKENS — pages of KYC, asked as browsers and their attackers ask. KEY is the integrator's;
TOKENS is written: what must be in no log."""
import http.client
import json
import re
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

from _promise import Watch

URL, KEY, TOKENS = sys.argv[1:]
ORIGINS = [URL, "https://app.example", "https://app.example:8443"]
PEOPLE = ["GBDLYCYHTMQBRAII3V4D4CEIFPVE2XW7ROFJNFQCXFLYABJ5M6NSN3Y6", "GCEZBGVDNLGWHN22VIQIJSTCT6CSHQFUCFKAH5RVBI6AKM3X2F6OTVAE"]
tokens = set()
watch = Watch()


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


opener = urllib.request.build_opener(NoRedirect)


def ask(target, body=None, kind="application/x-www-form-urlencoded", method=None, **headers):
    """(status, headers, text)"""
    answer = ask_once(target, body, kind, method, headers)
    watch.heard(method or ("GET" if body is None else "POST"), target, *answer)
    return answer


def ask_once(target, body, kind, method, headers):
    url = target if target.startswith("http") else URL + target
    request = urllib.request.Request(url, data=body.encode() if body is not None else None, method=method,
                                     headers={**({"Content-Type": kind} if body is not None else {}), **headers})
    try:
        with opener.open(request, timeout=20) as answer:
            return answer.status, answer.headers, answer.read().decode()
    except urllib.error.HTTPError as answer:
        return answer.code, answer.headers, answer.read().decode()


def check(what, got, want):
    if got != want:
        sys.exit(f"{what}: {got!r}, wanted {want!r}")


def ancestors(headers):
    return re.search(r"frame-ancestors ([^;]*)", headers["Content-Security-Policy"]).group(1)


def shut(what, headers):
    check(f"{what} may be framed", (ancestors(headers), headers["X-Frame-Options"]), ("'none'", "DENY"))


def told(text):
    """What is written into a page."""
    found = re.search(r'<meta name="kyc" content="([^"]*)">', text).group(1)
    for name, character in (("quot", '"'), ("lt", "<"), ("gt", ">"), ("amp", "&")):
        found = found.replace(f"&{name};", character)
    return json.loads(found)


def session(address, mode="redirect", key=KEY):
    status, _, text = ask("/api/sdk/kyc/session", json.dumps({"address": address, "providerKey": "sandbox", "mode": mode}),
                          "application/json", **({"X-API-Key": key} if key else {}))
    if status not in (200, 201):
        sys.exit(f"session: {status} {text}")
    answer = json.loads(text)
    tokens.update(re.findall(r"[0-9a-f]{32}\.[A-Za-z0-9_-]{43}", text))
    return answer


def state(said):
    return json.loads(ask(f"/api/sdk/kyc/session/{said['sessionId']}")[2])


def until(what, condition):
    for _ in range(200):
        if condition():
            return
        time.sleep(0.05)
    sys.exit(f"not within 10 s: {what}")


def beginning():
    status, headers, text = ask("/kyc")
    check("/kyc", (status, told(text)), (200, {"open": True}))
    shut("/kyc", headers)
    policy = headers["Content-Security-Policy"]
    check("its policy", ("default-src 'none'" in policy, "unsafe" in policy, "*" in policy), (True, False, False))
    check("kept by nobody", headers["Cache-Control"], "no-store")
    check("for no other origin", headers["Access-Control-Allow-Origin"], None)
    check("with an address", ask("/kyc?address=" + PEOPLE[0])[0], 200)
    for query in ("address=nobody", "address=M" + PEOPLE[0][1:] + "AAAAAAAAAAAAA", "x=1", "embed=2", "s=", "utm_source=a&address=" + PEOPLE[0]):
        status, headers, text = ask("/kyc?" + query)  # people follow links: a page tells them
        check(query, (status, told(text), headers["Cache-Control"]), (400, {"gone": True}, "no-store"))
        shut(query, headers)
    check("another method", ask("/kyc", "x=1", method="PUT")[0], 405)
    check("without a body", ask("/kyc", method="HEAD")[2], "")


def links(said):
    """Each token is good for one purpose, whole."""
    start, back = (said[name].rsplit("/", 1)[1] for name in ("startUrl", "callbackUrl"))
    embed = said["embedUrl"].split("s=")[1]
    wrong = [f"/kyc/start/{back}", f"/kyc/start/{embed}", f"/kyc/return/{start}", f"/kyc/return/{embed}", f"/kyc?s={start}",
             f"/kyc?embed=1&s={back}", f"/kyc?s={embed[:-1]}", f"/kyc/start/{start[:-1]}", f"/kyc/return/{'0' * 32}{back[32:]}",
             "/kyc/return/x", "/kyc/start/%3Cscript%3E", "/kyc?s=%22%3E"]
    for target in wrong:
        status, headers, text = ask(target)
        check(target, (status, told(text)), (404, {"gone": True}))
        shut(target, headers)


def frames(said):
    _, headers, text = ask(said["embedUrl"])
    check("embedded", (ancestors(headers).split(), headers["X-Frame-Options"]), (ORIGINS, None))
    check("its parents", (told(text)["parents"], told(text)["embed"]), (ORIGINS, True))
    # Headers by which a request describes its origin change nothing.
    for name, value in (("Origin", "https://evil.example"), ("Referer", "https://evil.example/"), ("Host", "evil.example")):
        headers = ask(said["embedUrl"], **{name: value})[1]
        check(f"embedded, {name}", ancestors(headers).split(), ORIGINS)
    shut("not embedded", ask(said["embedUrl"].replace("embed=1&", ""))[1])
    _, headers, _ = ask(said["callbackUrl"])
    check("the way back", (ancestors(headers).split(), headers["X-Frame-Options"]), (["'self'", *ORIGINS], None))
    alone = session(PEOPLE[1], key=None)
    _, headers, text = ask(alone["embedUrl"])
    shut("of no integrator", headers)
    check("of no integrator", told(text)["parents"], [])
    check("of no integrator, back", ancestors(ask(alone["callbackUrl"])[1]), "'self'")


def forged(said):
    before = state(said)
    for query in ("?status=approved&decision=approved", "?compliant=true&verified=1&sessionId=x", "?" + "a=1&" * 60, "?status=a&status=b"):
        status, headers, text = ask(said["callbackUrl"] + query)
        check("back with a verdict", (status, told(text)["session"]["state"]), (200, "created"))
        if "approved" in re.sub(r'<meta name="kyc-text"[^>]*>', "", text):
            sys.exit("the page repeats what its address says")
    check("K13", state(said), before)


def sandbox(said):
    status, headers, _ = ask(said["startUrl"])
    hosted = headers["Location"]
    check("to the provider", (status, hosted), (303, said["directLink"]))
    status, headers, text = ask(hosted)
    check("its page", (status, "SANDBOX" in text, ancestors(headers).split()), (200, True, ["'self'", *ORIGINS]))
    check("no script there", "<script" in text, False)
    for body in ("", "decision=", "decision=maybe", "decision=approved%00", "decision=approvedapproved", "xdecision=approved", "decision"):
        check(f"decides {body!r}", ask(hosted, body)[0], 400)
    check("too large", ask(hosted, "decision=approved&x=" + "y" * 2000)[0], 413)
    check("of another type", ask(hosted, "decision=approved", "text/plain")[0], 415)
    for unknown in ("/kyc/sandbox/nobody", "/kyc/sandbox/sbx_" + "0" * 32, "/kyc/sandbox/%27%3B--"):
        check(unknown, (ask(unknown)[0], ask(unknown, "decision=approved")[0]), (404, 404))
    check("nothing happened", state(said)["state"], "created")
    return hosted


def decide(said, hosted, decision, country, wanted):
    status, headers, _ = ask(hosted, f"decision={decision}&country={country}")
    check("sent back", (status, headers["Location"]), (303, said["callbackUrl"]))
    until(f"{decision} {country} is {wanted}", lambda: state(said)["state"] == wanted)


def main():
    beginning()
    said = session(PEOPLE[0])
    links(said)
    frames(said)
    forged(said)
    hosted = sandbox(said)
    decide(said, hosted, "resubmit", "CHE", "action_required")
    decide(said, hosted, "approved", "XXA", "pending")  # no country: needs review
    check("nothing to attest", state(said)["attestation"]["state"], "none")
    decide(said, hosted, "approved", "CHE", "approved")
    check("to be attested", state(said)["attestation"]["state"], "queued")
    status, headers, _ = ask(said["startUrl"])
    check("over: back", (status, headers["Location"]), (303, said["callbackUrl"].removeprefix(URL)))
    other = session(PEOPLE[0], "iframe")
    decide(other, other["directLink"], "declined", "CHE", "declined")
    last = session(PEOPLE[0], "direct")
    decide(last, last["directLink"], "expired", "CHE", "expired")
    watch.settle()
    open(TOKENS, "w").write("\n".join(sorted(tokens)) + "\n")
    print(f"{len(tokens)} tokens, each good for its purpose alone; frames, forged ways back, the sandbox's decisions")


main()
