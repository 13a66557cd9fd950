#!/usr/bin/env bash
# Indexes simulated chains from their lakes into PostgreSQL. Every event, call and entry must be as the model says, at
# the end and as of earlier ledgers, and no row may be raw. Both versions of LedgerCloseMeta are tested; entries
# expire, are evicted and are restored. TIDE_LONG has longer chains. TIDE_SEED is the first seed, TIDE_SEEDS the number of seeds.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../integration/_pg.sh"
pg_start
export PG_BIN
bin=$TIDE_BIN/tidemark-indexer
sim=$TIDE_BIN/tidemark-sim

same() { # kind, file, options of _stored.py
    local kind=$1 want=$2
    shift 2
    "$here/../integration/_stored.py" "$kind" "$@" >"$PG_DIR/got" || fail "stored $kind $*"
    "$here/_compare.py" "$kind" "$PG_DIR/got" "$want" || fail "seed $seed lcm $lcm: $kind $* differ"
}

# Computes the state as of a ledger from the model's list of versions.
state_of() {
    python3 - "$1" "$PG_DIR/expect/history.jsonl" <<'END'
import json, sys
as_of, path = int(sys.argv[1]), sys.argv[2]
entries = {}
for line in open(path, encoding="utf-8"):
    version = json.loads(line)
    if version["ledger"] > as_of:
        break
    key = (version["contract"], json.dumps(version["key"]), version["durability"])
    if version.get("removed"):
        entries.pop(key, None)
    elif "val" in version:
        entries[key] = {k: v for k, v in version.items() if k not in ("ledger", "tx")}
    else:
        entries[key]["live_until"] = version["live_until"]
for entry in entries.values():
    print(json.dumps({"as_of": as_of, **entry}))
END
}

ledgers=384 as_of=(1200 1333)
[ -z "${TIDE_LONG:-}" ] || ledgers=640 as_of=(1060 1200 1333 1500)

one_chain() {
    rm -rf "$PG_DIR/lake" "$PG_DIR/expect"
    "$sim" write --lake "$PG_DIR/lake" --deployment "$PG_DIR/deployment.json" \
        --expect "$PG_DIR/expect" --seed "$seed" --ledgers $ledgers --txs 6 --life 200 --lcm "$lcm" "$@" ||
        fail "write"
    PGDATABASE=postgres "$PG_BIN/dropdb" --if-exists tidemark
    PGDATABASE=postgres "$PG_BIN/createdb" tidemark
    "$bin" run --deployment "$PG_DIR/deployment.json" --lake "$PG_DIR/lake" --stop-at-end \
        2>"$PG_DIR/run.log" || { cat "$PG_DIR/run.log" >&2; fail "run"; }
    same events "$PG_DIR/expect/events.jsonl"
    same calls "$PG_DIR/expect/calls.jsonl"
    same state "$PG_DIR/expect/state.jsonl"
    for ledger in "${as_of[@]}"; do
        state_of "$ledger" >"$PG_DIR/want"
        same state "$PG_DIR/want" --ledger "$ledger"
    done
    raw=$(sql "SELECT (SELECT count(*) FROM event.raw) + (SELECT count(*) FROM state.raw) + (SELECT count(*) FROM history.raw)")
    [ "$raw" = 0 ] || fail "seed $seed lcm $lcm: $raw rows are kept raw"
    unverified=$(sql "SELECT calls_unverified FROM chain.cursor")
    [ "$unverified" = 0 ] || fail "seed $seed lcm $lcm: events of $unverified calls are unverified"
    grep -q '"removed":true' "$PG_DIR/expect/history.jsonl" || fail "nothing was removed"
}

for ((seed = ${TIDE_SEED:-1}; seed < ${TIDE_SEED:-1} + ${TIDE_SEEDS:-1}; seed++)); do
    lcm=2
    echo "seed $seed, ledgers of version 2"
    one_chain
    lcm=1
    echo "seed $seed, ledgers of version 1, calls without authorisation for other contracts"
    one_chain --strict-auth
done
