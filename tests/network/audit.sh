#!/usr/bin/env bash
# Audits the whole state against the history archive of a real network, at every checkpoint: contracts are made, called and
# upgraded, entries expire, are evicted and restored, and the network upgrades from protocol 27 to 28. Then rows are altered,
# removed and added, and each is found. TIDE_NETWORK_CALLS is the number of calls of the recorded chain (120).
# label: all
set -euo pipefail
. "$(dirname "$0")/_network.sh"
calls=${TIDE_NETWORK_CALLS:-120}
pg_start
export PG_BIN

audit() { "$TIDE_BIN/tidemark-indexer" audit --archive "$one_dir/history" "$@" >"$PG_DIR/audit" 2>&1; }
clean() { audit "$@" || fail "audit $*: $(cat "$PG_DIR/audit")"; }
# finds PATTERN [option]…: the audit ends with 68 and says so
finds() {
    local pattern=$1 code=0
    shift
    audit "$@" || code=$?
    [ "$code" = 68 ] && grep -q "$pattern" "$PG_DIR/audit" || fail "the audit does not find '$pattern' ($code): $(cat "$PG_DIR/audit")"
}

network_live one "$calls"
network_restore one
last=$(network_ledger one)
last=$(((last / 8 + 2) * 8 - 1))
network_reach one $((last + 10))
network_published one "$last"
network_indexed rpc "$last"
network_into rpc one a

say "every checkpoint up to ledger $last"
from=$(sql "SELECT min(from_ledger) FROM chain.coverage")
count=0 most=0 at=0 # the checkpoint with the most archived entries, and their number
for ((n = (from / 8 + 1) * 8 - 1; n <= last; n += 8)); do
    clean --checkpoint "$n"
    count=$((count + 1))
    now=$(sed -n 's/^entries .* live and \([0-9]*\) archived.*/\1/p' "$PG_DIR/audit")
    [ "$now" -le "$most" ] || most=$now at=$n
done
[ "$most" -gt 0 ] || fail "no entry was archived at any checkpoint"
sed 's/^/       /' "$PG_DIR/audit"
say "$count checkpoints agree; the most archived entries, $most, are of ledger $at"

say "planted differences are found"
pg_writable
plant() { # UPDATE, of one row
    local changed
    changed=$("$PG_BIN/psql" -XAtv ON_ERROR_STOP=1 -c "$1")
    [ "$changed" = "UPDATE 1" ] || fail "$changed: $1"
}
# Each deployment has this instance; on a slow machine the code ends before the calls that make pools. The audit ignores rows of
# ledgers after its checkpoint.
newest="(ledger, tx, seq) = (SELECT ledger, tx, seq FROM history.synthetic_engine_instance WHERE ledger <= $last ORDER BY ledger DESC, tx DESC, seq DESC LIMIT 1)"
plant "UPDATE history.synthetic_engine_instance SET paused = NOT paused WHERE $newest"
finds '^different .*history.synthetic_engine_instance' --checkpoint "$last"
plant "UPDATE history.synthetic_engine_instance SET paused = NOT paused WHERE $newest"
clean --checkpoint "$last"
# The audit does not compare the instance of a Stellar asset and its allowances.
life="(key_hash, ledger, tx, seq) = (SELECT key_hash, ledger, tx, seq FROM history.ttl WHERE ledger <= $last AND live_until IS NOT NULL AND contract NOT IN (SELECT contract FROM history.stellar_asset_instance) ORDER BY ledger DESC, tx DESC, seq DESC LIMIT 1)"
sql 'CALL public.lives_alone()'
plant "UPDATE history.ttl SET live_until = live_until + 1 WHERE $life"
finds '^ttl .*lives until ledger' --checkpoint "$last"
plant "UPDATE history.ttl SET live_until = live_until - 1 WHERE $life"
# Entries are restored and evicted until the end: as of that checkpoint, one is archived for certain.
gone="(key_hash, ledger, tx, seq) = (SELECT key_hash, ledger, tx, seq FROM (SELECT DISTINCT ON (key_hash) * FROM history.ttl WHERE ledger <= $at ORDER BY key_hash, ledger DESC, tx DESC, seq DESC) AS t WHERE evicted AND key_hash NOT IN (SELECT key_hash FROM history.stellar_asset_instance) LIMIT 1)"
plant "UPDATE history.ttl SET evicted = false, live_until = 1000000 WHERE $gone"
finds '^archived .*archived by the network, live in the tables' --checkpoint "$at"
plant "UPDATE history.ttl SET evicted = true, live_until = NULL WHERE (ledger, live_until) IN (SELECT ledger, 1000000 FROM history.ttl)"
clean --checkpoint "$at"
plant "UPDATE history.synthetic_engine_instance SET removed = true WHERE $newest"
finds '^missing .*wrote it, the tables do not have it' --checkpoint "$last"
plant "UPDATE history.synthetic_engine_instance SET removed = false, key_hash = sha256(key_hash) WHERE $newest"
finds '^extra .*history.synthetic_engine_instance' --checkpoint "$last"
echo "ok audit"
