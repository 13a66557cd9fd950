#!/usr/bin/env bash
# A market counts the same vaults now and as of a ledger, also if one has an owner that is neither an account nor a
# contract: the present does not count that one.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../_pg.sh"
. "$here/../_api.sh"
[ -x "$TIDE_BIN/tidemark-api" ] || { echo "no tidemark-api"; exit 1; }
command -v python3 >/dev/null || { echo "no python3"; exit 1; }
pg_start
pg_writable
api_index 256
for table in history state; do
    sql "INSERT INTO $table.synthetic_engine_vault SELECT (jsonb_populate_record(NULL::$table.synthetic_engine_vault, to_jsonb(v) ||
            jsonb_build_object('key_owner', 'MA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJUAAAAAAAAAAAACJUQ', 'key_hash', '\\x' || encode(sha256('odd'), 'hex')))).*
        FROM (SELECT * FROM history.synthetic_engine_vault WHERE NOT removed AND debt > 0 ORDER BY ledger DESC, tx DESC, seq DESC LIMIT 1) AS v"
done
[ "$(sql "SELECT count(*) FROM state.synthetic_engine_vault WHERE key_owner LIKE 'M%'")" = 1 ] || fail "no vault was planted"
ledger=$(sql "SELECT ledger FROM chain.cursor") market=$(sql "SELECT synth FROM state.synthetic_engine_vault WHERE key_owner LIKE 'M%'")
api_start
counts() { # QUERY
    curl -fsS "$API_URL/api/markets/$market$1" | python3 -c '
import json, sys
market = json.load(sys.stdin)
print({name: market[name] for name in ("vaultCount", "indebtedVaultCount")}, [(one["token"], one["amount"], one["vaultCount"]) for one in market["collaterals"]])'
}
now=$(counts '') then=$(counts "?ledger=$ledger")
[ "$now" = "$then" ] || fail "$market now: $now; as of its ledger: $then"
api_stop || fail "exit code $?"
echo "ok $market: $now, now and as of ledger $ledger"
