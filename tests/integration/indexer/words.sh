#!/usr/bin/env bash
# Tests the dictionary of stored words: unusual words, rolled back words, more words than the writer keeps in memory,
# and two loaders that add the same words in opposite orders. A condition of a view on an indexed column of words uses
# that index.
. "$(dirname "$0")/../_pg.sh"
[ -x "$TIDE_BIN/words_driver" ] || { echo "no words_driver"; exit 1; }
[ -x "$TIDE_BIN/tidemark-sim" ] || { echo "no tidemark-sim"; exit 1; }
pg_start -c deadlock_timeout=100ms
"$TIDE_BIN/words_driver" >"$PG_DIR/out" 2>&1 || fail "$(cat "$PG_DIR/out")"
[ "$(sql "SELECT count(*) = count(DISTINCT word) AND count(*) > 80000 FROM chain.word")" = t ] || fail "words twice, or too few"
! grep -q "deadlock" "$PG_DIR/log" || fail "a deadlock"

"$TIDE_BIN/tidemark-sim" write --lake "$PG_DIR/sim/lake" --ledgers 256 --quiet
"$TIDE_BIN/tidemark-indexer" run --lake "$PG_DIR/sim/lake" --deployment "$PG_DIR/sim/deployment.json" --stop-at-end 2>"$PG_DIR/run.log" ||
    fail "run: $(tail -2 "$PG_DIR/run.log")"
sql "ANALYZE"

# Queries the view of each partition that is not small for a word, once for each index that begins with a key.
asked=0
while IFS='|' read -r view column; do
    case $column in addresses_*) where="${column}_key = chain.word_key('x')" ;; *) where="$column = 'x'" ;; esac
    plan=$(sql "EXPLAIN SELECT * FROM $view WHERE deployment = 1 AND $where")
    grep -qE "Index Cond: .*$column = " <<<"$plan" || fail "$view by $column does not use an index: $plan"
    asked=$((asked + 1))
done < <(sql "SELECT DISTINCT regexp_replace(n.nspname, '_rows\$', '') || '.' || p.relname, a.attname FROM pg_index i
    JOIN pg_class c ON c.oid = i.indrelid AND c.relkind = 'r' AND c.reltuples > 1000
    JOIN pg_inherits h ON h.inhrelid = c.oid JOIN pg_class p ON p.oid = h.inhparent
    JOIN pg_namespace n ON n.oid = c.relnamespace AND n.nspname ~ '_rows\$'
    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = i.indkey[0]
    JOIN pg_attribute v ON v.attrelid = format('%I.%I', regexp_replace(n.nspname, '_rows\$', ''), p.relname)::regclass
      AND v.attname = a.attname || '_key'")
[ "$asked" -ge 6 ] || fail "only $asked indexes of words"
echo "ok: $asked indexes of words are used"
