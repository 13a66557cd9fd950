#!/usr/bin/env bash
# Lists whose items hold long texts: each page is an answer, and all pages together have every item. An answer that is larger
# than a body may be is 503 too_large, never 500.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../_pg.sh"
. "$here/../_api.sh"
[ -x "$TIDE_BIN/tidemark-sim" ] || { echo "skipped: no tidemark-sim"; exit 77; }
pg_start
api_index 128
pg_writable

# Rows like the newest one, with other numbers and these members.
plant() { # table, key column, count, members
    local folder
    for folder in history state; do
        sql "INSERT INTO $folder.$1 SELECT (jsonb_populate_record(NULL::$folder.$1, to_jsonb(f) || jsonb_build_object('$2', 1000 + i,
                'key_hash', '\\x' || encode(sha256(('$1' || i)::bytea), 'hex')) || $4)).*
            FROM (SELECT * FROM $folder.$1 AS f ORDER BY f.ledger DESC LIMIT 1) AS f, generate_series(1, $3) AS i" >/dev/null
    done
}
plant partner_registry_partner key_id 40 "jsonb_build_object('name', '\\x' || repeat('01', 58000), 'deployed_assets', '[]'::jsonb)"
plant dao_governance_proposal key_id 40 "jsonb_build_object('title', '\\x' || repeat('c3a9', 29000))"
plant dao_governance_multi_sig_wallet wallet_id 120 "jsonb_build_object('signers', to_jsonb(array_fill(f.contract, ARRAY[1400])))"
sql "INSERT INTO event.raw SELECT t.deployment, t.ledger, t.tx, 0, 1000 + i, t.closed_at, l.contract, 1, 'planted ' || repeat('x', 4000), '\\x00'
    FROM (SELECT * FROM chain.tx ORDER BY ledger DESC, tx DESC LIMIT 1) AS t, (SELECT contract FROM event.log ORDER BY ledger, tx, op, event LIMIT 1) AS l, generate_series(1, 2500) AS i" >/dev/null
API_READY=/healthz api_start
HASH=$(sql "SELECT encode(hash, 'hex') FROM chain.tx ORDER BY ledger DESC, tx DESC LIMIT 1") LEDGER=$(sql "SELECT ledger FROM chain.cursor") \
    COUNTS=$(sql "SELECT (SELECT count(*) FROM state.partner_registry_partner), (SELECT count(*) FROM state.dao_governance_proposal), (SELECT count(*) FROM state.dao_governance_multi_sig_wallet)") \
    python3 - "$API_URL" <<'PY'
import json, os, sys, time, urllib.error, urllib.request

def ask(target):
    """A statement that took longer than two seconds is asked again: the machine has other work."""
    end = time.monotonic() + 120
    while True:
        try:
            with urllib.request.urlopen(sys.argv[1] + target, timeout=60) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as e:
            body = json.loads(e.read())
            if body["code"] != "query_too_long" or time.monotonic() > end:
                return e.code, body

def pages(path, key, at):
    items, cursor, lengths = [], "", []
    while cursor is not None:
        status, body = ask(f"{path}?limit=200{at}{cursor}")
        assert status == 200, (path, at, status, body)
        items, lengths = items + body["items"], lengths + [len(body["items"])]
        cursor = body["next"] and "&cursor=" + body["next"]
    assert len({i[key] for i in items}) == len(items), f"{path}: an item twice"
    return items, lengths

counts = list(map(int, os.environ["COUNTS"].split("|")))
for at in ("", "&ledger=" + os.environ["LEDGER"]):
    for count, (path, key, text) in zip(counts, (("/api/partners", "partnerId", "name"), ("/api/dao/proposals", "proposalId", "title"), ("/api/multisig/wallets", "walletId", None))):
        items, lengths = pages(path, key, at)
        assert len(items) == count, (path, at, len(items), count)
        longest = max(items, key=lambda i: len(i[text]) if text else len(i["signers"]))
        status, one = ask(f"{path}/{longest[key]}?{at[1:]}")
        one = one if text is None else one.get("proposal", one)
        assert status == 200, (path, status, one)
        if text:
            assert len(longest[text]) == 256 and one[text].startswith(longest[text]) and len(one[text]) in (58000, 29000), (path, len(longest[text]), len(one[text]))
        else:
            assert len(lengths) > 1 and len(longest["signers"]) == 1400, (lengths, "no page ended early")
        print(f"ok {path}{at and ' as of a ledger'}: {count} items, in pages of {lengths}")
status, body = ask("/api/transactions/" + os.environ["HASH"])
assert (status, body.get("code")) == (503, "too_large"), (status, str(body)[:200])
print("ok a transaction of 2500 long events is 503 too_large")
PY
api_stop || fail "the API's exit code"
