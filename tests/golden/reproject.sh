#!/usr/bin/env bash
# Makes rows raw, as if the catalogue did not know their kinds. Tests read them as before, and `reproject` must
# decode them into the rows of an ordinary index: equal digests of all tables. Then a deleted, a doubled and an
# altered row must each change the digest of their table, and of event.log if that shows it.
# label: sanitize
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
for shared in "${TIDE_SHARED:-}" "$TIDE_SOURCE_DIR/../shared" "$TIDE_SOURCE_DIR/../../shared"; do
    dir=$shared/fixtures/protocol/b
    [ -n "$shared" ] && [ -d "$dir" ] && break
    dir=
done
[ -n "$dir" ] || { echo "skipped: no shared/fixtures/protocol (set TIDE_SHARED)"; exit 77; }
command -v zstd >/dev/null || { echo "no zstd"; exit 1; }
. "$here/../integration/_pg.sh"
pg_start
export PG_BIN
pg_writable
bin=$TIDE_BIN/tidemark-indexer
digest() { "$bin" digest; }

"$bin" run --lake "$dir/lake" --deployment "$dir/deployment.json" --stop-at-end 2>"$PG_DIR/run.log" ||
    { cat "$PG_DIR/run.log" >&2; fail "run"; }
for kind in events state; do zstd -dqc "$dir/$kind.jsonl.zst" >"$PG_DIR/$kind.jsonl"; done
digest >"$PG_DIR/before"

python3 "$here/_unproject.py" "$PG_DIR/events.jsonl" "$PG_DIR/state.jsonl" >"$PG_DIR/raw.sql"
"$PG_BIN/psql" -Xqv ON_ERROR_STOP=1 -f "$PG_DIR/raw.sql"
raw=$(sql "SELECT (SELECT count(*) FROM event.raw) || ' ' || (SELECT count(*) FROM history.raw)")
echo "raw: $raw"
[ "$raw" = "370 30" ] || fail "the rows to be decoded again are $raw"
sql "CREATE TABLE public.were_raw AS SELECT * FROM history.raw"
digest >"$PG_DIR/unknown"
! cmp -s "$PG_DIR/before" "$PG_DIR/unknown" || fail "raw rows do not show in the digest"
for kind in events state; do
    "$here/../integration/_stored.py" $kind >"$PG_DIR/got"
    "$here/_compare.py" $kind "$PG_DIR/got" "$PG_DIR/$kind.jsonl" || fail "$kind of raw rows"
done
middle=$(sql "SELECT max(ledger) FROM chain.ledger")
"$here/../integration/_stored.py" state --ledger "$middle" | sed 's/^{"as_of": [0-9]*, /{/' >"$PG_DIR/got"
"$here/_compare.py" state "$PG_DIR/got" "$PG_DIR/state.jsonl" || fail "the state of raw rows as of a ledger"

sql "DELETE FROM rollup.built" # sums as they would be if these rows had come raw
again() { "$bin" run --lake "$dir/lake" --deployment "$dir/deployment.json" --stop-at-end 2>"$PG_DIR/run.log" || fail "run again"; }
again
digest | grep rollup >"$PG_DIR/rollups"
! grep rollup "$PG_DIR/before" | cmp -s - "$PG_DIR/rollups" || fail "raw events do not show in the rollups"

"$bin" reproject
again # makes the sums anew
digest >"$PG_DIR/after"
diff "$PG_DIR/before" "$PG_DIR/after" || fail "reproject did not make what the index makes"
left=$(sql "SELECT raw_events + raw_states + (SELECT count(*) FROM state.raw) FROM chain.cursor")
[ "$left" = 0 ] || fail "counts after reproject: $left"

changed() { # what was done, the tables that must differ
    digest >"$PG_DIR/now"
    local differ
    differ=$({ diff "$PG_DIR/before" "$PG_DIR/now" || true; } | sed -n 's/^> \([^ ]*\) .*/\1/p' | tr '\n' ' ')
    [ "$differ" = "$2 total " ] || fail "$1: these digests differ: $differ"
    echo "$1: $differ"
}
as_before() {
    digest >"$PG_DIR/now"
    cmp -s "$PG_DIR/before" "$PG_DIR/now" || fail "the digest does not come back"
}
swap="event.liquidity_pool_swap"
one="(SELECT min(ledger * 1000000::bigint + tx) FROM $swap)"
sql "UPDATE $swap SET amount_out = amount_out + 1 WHERE ledger * 1000000::bigint + tx = $one"
changed "an altered row" $swap
sql "UPDATE $swap SET amount_out = amount_out - 1 WHERE ledger * 1000000::bigint + tx = $one"
as_before
stored=event_rows.log of="kind = chain.kind_key('${swap#event.}') AND"
sql "ALTER TABLE $stored DROP CONSTRAINT log_pkey"
sql "INSERT INTO $stored SELECT * FROM $stored WHERE $of ledger * 1000000::bigint + tx = $one"
changed "a doubled row" "event.log $swap"
sql "DELETE FROM $stored WHERE (tableoid, ctid) = (SELECT tableoid, max(ctid) FROM $stored WHERE $of ledger * 1000000::bigint + tx = $one GROUP BY tableoid)"
as_before
sql "DELETE FROM $swap WHERE ledger * 1000000::bigint + tx = $one"
changed "a deleted row" "event.log $swap"

# A key has a version that can be decoded and a newer one that cannot. The state table keeps the older one, as if it
# had never been raw.
key=$(sql "SELECT encode(r.key_hash, 'hex') FROM were_raw AS r JOIN state.synthetic_engine_vault AS s USING (key_hash) ORDER BY 1 LIMIT 1")
late="$middle, 1048575, 1, r.closed_at, r.contract"
bad="1, 'test', r.key_xdr, '\x00000001'::bytea FROM were_raw AS r WHERE r.key_hash = '\x$key'"
sql "INSERT INTO history.raw SELECT r.deployment, r.key_hash, $late, false, $bad; INSERT INTO state.raw SELECT r.deployment, r.key_hash, $late, $bad"
digest >"$PG_DIR/planted"
sql "INSERT INTO history.raw SELECT * FROM were_raw WHERE key_hash = '\x$key';
    UPDATE chain.ledger AS l SET raw_states = raw_states + 1 FROM were_raw AS r WHERE r.key_hash = '\x$key' AND l.ledger = r.ledger;
    UPDATE chain.cursor SET raw_states = raw_states + 1;
    DELETE FROM history.synthetic_engine_vault AS h USING were_raw AS r WHERE r.key_hash = '\x$key' AND h.key_hash = r.key_hash
        AND (h.ledger, h.tx, h.seq) = (r.ledger, r.tx, r.seq);
    DELETE FROM state.synthetic_engine_vault WHERE key_hash = '\x$key'"
digest >"$PG_DIR/now"
! cmp -s "$PG_DIR/planted" "$PG_DIR/now" || fail "nothing is raw again"
"$bin" reproject
digest >"$PG_DIR/now"
diff "$PG_DIR/planted" "$PG_DIR/now" >&2 || fail "reproject leaves out what a newer raw version follows"
