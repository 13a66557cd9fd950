#!/usr/bin/env bash
# The migrated database and the catalogue's tables, column by column: names, order, types, nullness,
# comments, keys, indexes, partitioning. Neither may have what the other lacks.
. "$(dirname "$0")/../_pg.sh"
pg_start
indexer=$TIDE_BIN/tidemark-indexer
"$indexer" migrate >/dev/null

"$indexer" tables | LC_ALL=C sort >"$PG_DIR/wanted"
"$PG_BIN/psql" -XAtq -F "$(printf '\t')" -v ON_ERROR_STOP=1 >"$PG_DIR/found" <<'SQL'
WITH tables AS (
    SELECT c.oid, n.nspname || '.' || c.relname AS name, c.relkind, c.relname, n.nspname
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition
      AND (n.nspname IN ('event', 'state', 'history')
           OR n.nspname = 'chain' AND c.relname IN ('ledger', 'tx', 'call', 'contract_seen')))
SELECT name, a.attname, format_type(a.atttypid, a.atttypmod),
       CASE WHEN a.attnotnull THEN 'not null' ELSE 'null' END, col_description(t.oid, a.attnum)
FROM tables t JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum > 0 AND NOT a.attisdropped
UNION ALL
SELECT name, '', CASE relkind WHEN 'p' THEN 'partitioned' ELSE 'plain' END,
       (SELECT string_agg(a.attname, ', ' ORDER BY k.n)
        FROM pg_constraint p, unnest(p.conkey) WITH ORDINALITY k(attnum, n), pg_attribute a
        WHERE p.conrelid = t.oid AND p.contype = 'p' AND a.attrelid = t.oid AND a.attnum = k.attnum),
       obj_description(t.oid)
FROM tables t;
SQL
LC_ALL=C sort -o "$PG_DIR/found" "$PG_DIR/found"
diff "$PG_DIR/wanted" "$PG_DIR/found" >"$PG_DIR/diff" || { head -20 "$PG_DIR/diff" >&2; fail "tables differ"; }
[ "$(wc -l <"$PG_DIR/wanted")" -gt 1500 ] || fail "only $(wc -l <"$PG_DIR/wanted") lines compared"

# Column order is what binary COPY relies on, so it is compared unsorted, table by table.
order() { awk -F '\t' '$2 != "" { t[$1] = t[$1] " " $2 } END { for (k in t) print k t[k] }' | LC_ALL=C sort; }
"$indexer" tables | order >"$PG_DIR/wanted"
sql "SELECT n.nspname || '.' || c.relname || E'\t' || a.attname FROM pg_class c
     JOIN pg_namespace n ON n.oid = c.relnamespace
     JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
     WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition
       AND (n.nspname IN ('event', 'state', 'history')
            OR n.nspname = 'chain' AND c.relname IN ('ledger', 'tx', 'call', 'contract_seen'))
     ORDER BY c.oid, a.attnum" | order >"$PG_DIR/found"
diff "$PG_DIR/wanted" "$PG_DIR/found" >&2 || fail "column order differs"

# Indexes: each that the catalogue names is there. What lists page over comes from migrations alone.
"$indexer" tables --sql | sed -nE 's/^CREATE INDEX ON ([a-z]+)\."([a-z_]+)" (USING [a-z]+ )?(\(.*\));$/\1.\2 \3\4/p' |
    sed -E 's/^([^ ]+) \(/\1 USING btree (/' | LC_ALL=C sort >"$PG_DIR/wanted"
sql "SELECT regexp_replace(pg_get_indexdef(i.indexrelid), '^CREATE INDEX [^ ]+ ON (ONLY )?', '')
     FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid
     WHERE NOT i.indisprimary AND c.relkind IN ('r', 'p') AND NOT c.relispartition" | sed -E 's/\(\(- ([a-z_]+)\)\)/(-\1)/' | LC_ALL=C sort >"$PG_DIR/found"
[ "$(wc -l <"$PG_DIR/wanted")" = "$("$indexer" tables --sql | grep -c '^CREATE INDEX')" ] || fail "a CREATE INDEX that is not understood"
LC_ALL=C comm -23 "$PG_DIR/wanted" "$PG_DIR/found" >"$PG_DIR/missing"
[ ! -s "$PG_DIR/missing" ] || fail "no such index: $(cat "$PG_DIR/missing")"
echo ok
