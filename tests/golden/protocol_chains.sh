#!/usr/bin/env bash
# Indexes the recorded chains of the real contracts from their lakes into PostgreSQL. Every event, call and entry must
# equal the recording value for value, also as of a ledger in the middle, and no row may be raw. Rollups must equal a
# computation of this test.
# Large batches, single ledgers, a stream, and 1 and 8 decoder threads (TIDE_LONG: 1, 2, 4 and 8) must give equal digests of all tables.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
for shared in "${TIDE_SHARED:-}" "$TIDE_SOURCE_DIR/../shared" "$TIDE_SOURCE_DIR/../../shared"; do
    chains=$shared/fixtures/protocol
    [ -n "$shared" ] && [ -d "$chains" ] && break
    chains=
done
[ -n "$chains" ] || { echo "skipped: no shared/fixtures/protocol (set TIDE_SHARED)"; exit 77; }
command -v zstd >/dev/null || { echo "no zstd"; exit 1; }
. "$here/../integration/_pg.sh"
pg_start
export PG_BIN
bin=$TIDE_BIN/tidemark-indexer

# Makes an empty database for the next case.
fresh() {
    PGDATABASE=postgres "$PG_BIN/dropdb" --if-exists tidemark
    PGDATABASE=postgres "$PG_BIN/createdb" tidemark
}

index() {
    fresh
    "$bin" run --deployment "$dir/deployment.json" --stop-at-end "$@" 2>"$PG_DIR/run.log" ||
        { cat "$PG_DIR/run.log" >&2; fail "run $*"; }
}

same() { # kind, recording, options of _stored.py
    local kind=$1 recording=$2
    shift 2
    zstd -dqc "$dir/$recording.jsonl.zst" >"$PG_DIR/want"
    "$here/../integration/_stored.py" "$kind" "$@" >"$PG_DIR/got" || fail "stored $kind $*"
    "$here/_compare.py" "$kind" "$PG_DIR/got" "$PG_DIR/want" || fail "chain $chain: $kind $* differ"
}

all_equal() {
    "$here/../integration/indexer/_rollups.py" || fail "chain $chain: rollups"
    same events events
    same calls calls
    same state state
    middle=$(zstd -dqc "$dir/state-mid.jsonl.zst" | sed -n '1s/.*"as_of":\([0-9]*\).*/\1/p')
    same state state-mid --ledger "$middle"
    raw=$(sql "SELECT (SELECT count(*) FROM event.raw) + (SELECT count(*) FROM state.raw) + (SELECT count(*) FROM history.raw)")
    [ "$raw" = 0 ] || fail "chain $chain: $raw rows are kept raw"
}

single=() streamed=()
[ -n "${TIDE_LONG:-}" ] || single=(--decode-threads 1) streamed=(--decode-threads 8)
for chain in a b; do
    dir=$chains/$chain
    echo "chain $chain"
    index --lake "$dir/lake"
    all_equal
    "$bin" digest >"$PG_DIR/large"
    cp "$PG_DIR/large" "$PG_DIR/large.$chain"
    for threads in ${TIDE_LONG:+1 2 4 8}; do
        index --lake "$dir/lake" --decode-threads $threads
        "$bin" digest | diff "$PG_DIR/large" - || fail "chain $chain: decoded by $threads threads differs"
    done
    # Without TIDE_LONG one chain this way and one that way.
    if [ $chain = a ] || [ -n "${TIDE_LONG:-}" ]; then
        index --lake "$dir/lake" --batch-ledgers 1 ${single[@]+"${single[@]}"}
        "$bin" digest | diff "$PG_DIR/large" - || fail "chain $chain: ledger by ledger differs"
    fi
    if [ $chain = b ] || [ -n "${TIDE_LONG:-}" ]; then
        "$TIDE_BIN/lake_stream" "$dir/lake" >"$PG_DIR/stream"
        index --stream "$PG_DIR/stream" --batch-ledgers 37 ${streamed[@]+"${streamed[@]}"}
        "$bin" digest | diff "$PG_DIR/large" - || fail "chain $chain: from a stream differs"
    fi
    tail -n 1 "$PG_DIR/large"
done

echo "both in one database"
fresh
for chain in a b; do
    "$bin" run --lake "$chains/$chain/lake" --deployment "$chains/$chain/deployment.json" --stop-at-end 2>"$PG_DIR/run.log" ||
        { cat "$PG_DIR/run.log" >&2; fail "run of chain $chain beside the other"; }
done
code=0
"$bin" digest >/dev/null 2>"$PG_DIR/err" || code=$?
[ "$code" = 78 ] && grep -q "holds 2 deployments" "$PG_DIR/err" || fail "two deployments: exit $code, $(cat "$PG_DIR/err")"
for chain in a b; do
    "$bin" digest --deployment "$chains/$chain/deployment.json" | diff "$PG_DIR/large.$chain" - || fail "chain $chain has other rows beside the other"
done
code=0
"$bin" digest --deployment "$chains/a/deployment.json" 2>"$PG_DIR/err" >/dev/full || code=$?
[ "$code" = 74 ] && grep -q "cannot write" "$PG_DIR/err" || fail "full disk: exit $code, $(cat "$PG_DIR/err")"
"$here/../integration/queries/_analyst.py" "$TIDE_SOURCE_DIR/migrations/README.md"
