#!/usr/bin/env bash
# Runs the sandbox provider's adapter on its table, with the server's database role.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../_pg.sh"
[ -x "$TIDE_BIN/kyc_driver" ] || { echo "kyc_driver was not built"; exit 1; }
pg_start
"$TIDE_BIN/tidemark-indexer" migrate >"$PG_DIR/migrate.log" 2>&1 || fail "$(tail -2 "$PG_DIR/migrate.log")"
(umask 077 && "$here/../_providers.py" kyc-file http://127.0.0.1:9 http://127.0.0.1:8080 sandbox >"$PG_DIR/kyc.json")

ask() { # LINE…: an answer for each
    printf '%s\n' "$@" | "$TIDE_BIN/kyc_driver" "$PG_DIR/kyc.json" "dbname=tidemark user=tidemark_kyc" || fail "kyc_driver"
}
expect() { [ "$1" = "$2" ] || fail "$3: $1, not $2"; }
create='{"do":"create","provider":"sandbox","ref":"REF","session":"s-1","return":"http://127.0.0.1:8080/kyc/return/t","now":1000}'

made=$(ask "$create")
id=$(sed -n 's/.*"id": *"\(sbx_[0-9a-f]\{32\}\)".*/\1/p' <<<"$made")
[ -n "$id" ] || fail "create: $made"
grep -q "http://127.0.0.1:8080/kyc/sandbox/$id" <<<"$made" || fail "create: $made"
grep -q '"expires":87400' <<<"$made" || fail "create: $made"
expect "$(ask "$create" "$create" | sort -u)" "$made" "the same order again"
expect "$(sql "SELECT count(*) FROM kyc.sandbox")" 1 "rows of one order"
ask "${create/s-1/s-2}" | grep "$id" >/dev/null && fail "another session is the same person"

state() { # DECISION COUNTRY: what fetch makes of it
    sql "UPDATE kyc.sandbox SET decision = '$1', country = '$2', decided_at = 'epoch'::timestamptz + interval '7.5 s' WHERE id = '$id'"
    ask "{\"do\":\"fetch\",\"provider\":\"sandbox\",\"id\":\"$id\"}" |
        python3 -c 'import json,sys; d=json.load(sys.stdin); print(d["state"], d["reason"] or "-", d["jurisdiction"], d["decidedMs"])'
}
ask "{\"do\":\"fetch\",\"provider\":\"sandbox\",\"id\":\"$id\"}" | grep '"state":"pending"' >/dev/null || fail "a new one"
expect "$(state approved CHE)" "approved - 756 7500" "approved"
expect "$(state approved GB)" "approved - 826 7500" "approved"
expect "$(state approved RKS)" "review country_unknown 0 7500" "no country"
expect "$(state approved '')" "review no_country 0 7500" "without a country"
expect "$(state declined CHE)" "declined - 0 7500" "declined"
expect "$(state resubmit CHE)" "action_required - 0 7500" "resubmit"
expect "$(state expired CHE)" "expired - 0 7500" "expired"
ask '{"do":"fetch","provider":"sandbox","id":"sbx_0"}' | grep E_MISSING >/dev/null || fail "an unknown id"
sed 's|"publicUrl": "http://127.0.0.1:8080"|"publicUrl": "http://localhost:8080"|; s|"name": "Sandbox",|"name": "Sandbox", "hosts": ["elsewhere.example"],|' \
    "$PG_DIR/kyc.json" >"$PG_DIR/other.json"
chmod 600 "$PG_DIR/other.json"
printf '%s\n' "$create" | "$TIDE_BIN/kyc_driver" "$PG_DIR/other.json" "$TIDEMARK_DATABASE_URL" | grep E_CONFIG >/dev/null || fail "a page elsewhere"
echo "the sandbox decides as its table says"
