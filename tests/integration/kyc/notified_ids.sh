#!/usr/bin/env bash
# Compares the ids of notifications (`webhook-id`) between databases of one origin: the same fact has the same id however it
# was found again, and two facts never share one. The databases are transactions that are rolled back.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../_pg.sh"
. "$here/../_api.sh"
pg_start
api_index 16
pg_writable
HOOK=$(printf 'ab%.0s' {1..16})
sql "INSERT INTO kyc.integrator VALUES ('shop', 'Shop', '{}', NULL, 10, 'active');
  INSERT INTO kyc.hook (id, deployment, integrator, url, events) SELECT '$HOOK', id, 'shop', 'https://shop.example/', '{kyc.session.updated,price.stale,price.fresh}' FROM chain.deployment;
  INSERT INTO kyc.session (id, deployment, address, provider, integrator, mode, ref, expires_at)
    SELECT v, id, 'GPERSON', 'p', 'shop', CASE v WHEN 'dated' THEN 'redirect' ELSE 'iframe' END, 'r', now() + interval '1 day' FROM chain.deployment, unnest(ARRAY['dated', 'undated']) AS v" >/dev/null

told() { # STATEMENTS: what a database that does this tells, a line each: id, type, state
    psql -XAtqv ON_ERROR_STOP=1 "$TIDEMARK_DATABASE_URL" <<END | grep .
BEGIN;
$1
SELECT e.id, e.kind, e.payload::json -> 'data' ->> 'state' FROM kyc.hook_delivery AS d JOIN kyc.hook_event AS e ON e.id = d.event ORDER BY d.id;
ROLLBACK;
END
}
decided() { # SESSION STATE TIME|NULL [REASON]: the next decision of its provider
    local reason=NULL
    [ -z "${4:-}" ] || reason="'$4'"
    [ "$3" = NULL ] && set -- "$1" "$2" decision_at || set -- "$1" "$2" "'$3'"
    echo "UPDATE kyc.session SET state = '$2', decision_at = $3, reason = $reason, decision_rev = decision_rev + 1 WHERE id = '$1';"
}
price() { # stale|fresh TIME
    echo "SELECT kyc.hook_saw(id, 'asset', 'GOLD', 'price.$1', '${2:-}', 'price.$1', '{}', false) FROM chain.deployment;"
}
ids() { cut -d'|' -f1 <<<"$1"; }
distinct() { [ "$(ids "$1" | sort -u | wc -l)" = "$2" ] || fail "$3: $1"; }
has() { grep -qF "$(ids "$2")" <<<"$(ids "$1")" || fail "$3: $2, before: $1"; }

# Approved, revoked, approved again, ended: four facts. A database that missed some of them gives the others their ids.
one=2026-01-01T00:00:00.001Z two=2026-01-02T00:00:00Z three=2026-01-03T00:00:00Z
all=$(told "$(decided dated pending NULL; decided dated approved $one; decided dated revoked $two; decided dated approved $three; decided dated expired NULL attestation_ended)")
distinct "$all" 5 "a session"
has "$all" "$(told "$(decided dated approved $one)")" "the first approval alone"
has "$all" "$(told "$(decided dated approved $three)")" "the second approval alone"
has "$all" "$(told "$(decided dated approved $three; decided dated expired NULL attestation_ended)" | tail -1)" "the end"
[ "$(told "$(decided dated approved $two)" | cut -d'|' -f1)" != "$(told "$(decided dated approved $one)" | cut -d'|' -f1)" ] || fail "two approvals share an id"
# A provider without times: changes are numbered.
all=$(told "$(decided undated approved NULL; decided undated revoked NULL; decided undated approved NULL)")
distinct "$all" 3 "a session without times"
has "$all" "$(told "$(decided undated approved NULL; decided undated revoked NULL)" | tail -1)" "a revocation without a time"
# Two stale prices and their ends. A database that saw the second alone knows it by its price, and its end by that.
all=$(told "$(price fresh; price stale 100; price fresh; price stale 900; price fresh)")
distinct "$all" 4 "prices"
later=$(told "$(price fresh; price stale 900; price fresh)")
[ "$(ids "$later")" = "$(ids "$all" | tail -2)" ] || fail "the second staleness: $later, before: $all"
# A staleness that another one followed unseen: the end is the other one's.
[ "$(told "$(price stale 100; price stale 900; price fresh)" | cut -d'|' -f1)" = "$(ids "$all" | tail -1)" ] || fail "the end of an unseen staleness"

# Since which change a person has the standing: later ones that leave it as it is do not count.
sql "INSERT INTO history.compliance_registry_compliance_rec (deployment, key_hash, ledger, tx, seq, closed_at, contract, removed, address, provider, reason, status,
    jurisdiction, expires_at, updated_at) SELECT d.id, '\x01', v.ledger, 1, 1, now(), 'C', v.removed, 'G', 'P', 'r', v.status, v.country, v.ends, v.ledger FROM chain.deployment AS d,
    (VALUES (10, false, 2, 756, 99), (12, false, 2, 756, 99), (15, false, 2, 276, 99), (20, false, 3, 276, 99), (21, false, 3, 276, 50), (30, true, NULL, NULL, NULL),
     (40, false, 2, 756, 99)) AS v (ledger, removed, status, country, ends);
  INSERT INTO history.compliance_registry_frozen (deployment, key_hash, ledger, tx, seq, closed_at, contract, removed, address, value)
    SELECT d.id, '\x02', v.ledger, 1, 1, now(), 'C', v.removed, 'G', true FROM chain.deployment AS d, (VALUES (14, false), (16, false), (18, true)) AS v (ledger, removed);
  INSERT INTO history.compliance_registry_blocked_jurisdiction (deployment, key_hash, ledger, tx, seq, closed_at, contract, removed, code, value)
    SELECT d.id, '\x03', v.ledger, 1, 1, now(), 'C', v.removed, 756, true FROM chain.deployment AS d, (VALUES (42, false), (44, true)) AS v (ledger, removed)" >/dev/null
since() { # LEDGER REASON WANT
    local found
    found=$(sql "SELECT kyc.hook_since(id, $1, '\x01', '\x02', '\x03', '$2') FROM chain.deployment")
    [ "$found" = "${3:+$3.1.1}" ] || fail "at $1, $2: since '$found', wanted $3"
}
since 9 no_record ''
for at in 10 11 12 13; do since $at compliant 10; done
for at in 14 15 16 17; do since $at frozen 14; done
since 18 compliant 18
for at in 20 21 29; do since $at suspended 20; done
since 30 no_record 30
since 41 compliant 40
since 43 jurisdiction 42
since 45 compliant 44
since 45 lapsed 40
echo "ok: the same fact has the same id"
