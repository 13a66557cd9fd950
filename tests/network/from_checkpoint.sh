#!/usr/bin/env bash
# An index that begins with a checkpoint of a real network's archive, beside one that followed from the contracts' creation: contracts are
# made, called and upgraded, entries are evicted before the checkpoint and restored behind it, and the network upgrades from protocol 27
# to 28. The state is the same, it is that of the archive, and the rows behind the checkpoint are the network's. A start from the newest
# checkpoint, too. TIDE_NETWORK_CALLS is the number of calls of the recorded chain (120).
# label: all
set -euo pipefail
. "$(dirname "$0")/_network.sh"
pg_start
export PG_BIN
validator=GCTI6HMWRH2QGMFKWVU5M5ZSOTKL7P7JAHZDMJJBKDHGWTEC4CJ7O3DU # of the archive's networks of one validator

# Rows of state, without the columns that say which version one is.
state_of() { # DATABASE
    local table columns
    for table in $(PGDATABASE=$1 sql "SELECT tablename FROM pg_tables WHERE schemaname = 'state' ORDER BY 1"); do
        columns=$(PGDATABASE=$1 sql "SELECT string_agg(quote_ident(column_name), ',') FROM information_schema.columns WHERE table_schema = 'state' AND table_name = '$table'
            AND column_name NOT IN ('ledger', 'tx', 'seq', 'closed_at', 'reason')")
        PGDATABASE=$1 sql "SELECT '$table', count(*), md5(string_agg(r::text, chr(10) ORDER BY r::text)) FROM (SELECT $columns FROM state.\"$table\") AS r"
    done
}
follow() { # DATABASE OPTION…
    local database=$1
    shift
    "$TIDE_BIN/tidemark-indexer" run --database-url "${TIDEMARK_DATABASE_URL%dbname=*}dbname=$database" --deployment "$one_dir/signed.json" --lake "$one_lake" \
        --archive "$one_dir/history" --stop-at-end "$@" 2>"$PG_DIR/$database.log"
}
begins() { # DATABASE CHECKPOINT PATTERN
    PGDATABASE=postgres "$PG_BIN/createdb" "$1"
    follow "$1" --from-checkpoint "$2" || fail "from checkpoint $2: $(tail -n 3 "$PG_DIR/$1.log")"
    grep -qE "start.done $3" "$PG_DIR/$1.log" || fail "from checkpoint $2: $(grep start "$PG_DIR/$1.log")"
    state_of "$1" | diff "$PG_DIR/state" - >"$PG_DIR/diff" || fail "from checkpoint $2: another state: $(cat "$PG_DIR/diff")"
    say "from checkpoint $2: $(sed -n 's/.*start.done //p' "$PG_DIR/$1.log")"
}

network_live one "${TIDE_NETWORK_CALLS:-120}"
checkpoint=$((($(network_ledger one) / 8 + 1) * 8 - 1))
network_reach one "$checkpoint"
network_restore one
signed=$((((checkpoint + 1) | 63) + 10)) # behind the checkpoint with the votes that prove the first one
say "entries are restored; up to ledger $signed"
network_reach one "$signed" 240
kill -TERM "$rpc_pid"
wait "$rpc_pid" || fail "the index over RPC: $(tail -n 3 "$PG_DIR/rpc.log")"
network_into rpc one a
network_wait 60 "the index's ledgers in the lake" network_in_lake one "$(sql "SELECT greatest(ledger, $signed) FROM chain.cursor")"
network_published one $((signed - 10)) # with the votes
network_stop one
python3 - "$one_dir" "$validator" <<'P'
import json, pathlib, sys
folder = pathlib.Path(sys.argv[1])
named = {"threshold": 1, "validators": [sys.argv[2]]}
(folder / "signed.json").write_text(json.dumps({**json.loads((folder / "a/deployment.json").read_text()), "validators": named}))
P
follow rpc || fail "the whole index: $(tail -n 3 "$PG_DIR/rpc.log")"
state_of rpc >"$PG_DIR/state"
[ "$(awk -F'|' '$2 > 0' "$PG_DIR/state" | wc -l)" -gt 25 ] || fail "few tables of state have rows: $(cat "$PG_DIR/state")"

begins begun "$checkpoint" "ledger=$checkpoint proof=signed .*archived=[1-9]"
network_into begun one a
"$TIDE_BIN/tidemark-indexer" verify --from $((checkpoint + 1)) --to "$signed" --lake "$one_lake" >"$PG_DIR/verify" || fail "verify: $(sed -n "/^ok/!p" "$PG_DIR/verify")"
last=$(((signed - 10) / 8 * 8 - 1))
"$TIDE_BIN/tidemark-indexer" audit --archive "$one_dir/history" --checkpoint "$last" >"$PG_DIR/audit" 2>&1 || fail "audit: $(cat "$PG_DIR/audit")"
sed 's/^/       /' "$PG_DIR/audit"
# Keys of chain.word are numbers of a database.
for table in event.log chain.call chain.tx; do
    for database in rpc begun; do
        PGDATABASE=$database sql "SELECT (SELECT jsonb_object_agg(key, value) FROM jsonb_each(to_jsonb(t)) WHERE key !~ '_key$') FROM $table AS t WHERE ledger > $checkpoint ORDER BY ledger, tx, 1" >"$PG_DIR/$database.rows"
    done
    diff "$PG_DIR/rpc.rows" "$PG_DIR/begun.rows" >"$PG_DIR/diff" || fail "$table differs behind the checkpoint: $(head -n 6 "$PG_DIR/diff")"
done
begins newest latest 'ledger=[0-9]+ proof=signed'
echo "ok from_checkpoint"
