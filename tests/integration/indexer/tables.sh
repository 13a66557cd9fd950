#!/usr/bin/env bash
# Compares the migrated database with the catalogue's tables, column by column: names, order, types, nullability,
# comments, keys, indexes, partitioning. For views with words the stored table behind them is compared. Neither side
# may have anything that the other lacks.
. "$(dirname "$0")/../_pg.sh"
pg_start
indexer=$TIDE_BIN/tidemark-indexer
"$indexer" migrate >/dev/null

# A column that several views share is null in rows of the others.
"$indexer" tables | awk -F '\t' '{ $6 = ""; if ($2 != "" && /^((chain.(tx|call)|(history|state).ttl)\t|event)/ && !/^event.raw/) $4 = "" } 1' OFS='\t' | LC_ALL=C sort >"$PG_DIR/wanted"
"$PG_BIN/psql" -XAtq -F "$(printf '\t')" -v ON_ERROR_STOP=1 >"$PG_DIR/found" <<'SQL'
WITH tables AS ( -- what is stored of a view with words is the table of SCHEMA_rows that it reads; lifetimes are in many tables
    SELECT c.oid, n.nspname || '.' || c.relname AS name, s.oid AS stored,
      CASE WHEN c.relkind = 'v' AND n.nspname = 'state' THEN 'v' ELSE s.relkind END AS relkind,
      count(*) OVER (PARTITION BY s.oid) > 1 AS shared
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
      JOIN pg_class s ON s.oid = CASE WHEN c.relkind = 'v' AND c.relname = 'ttl' THEN 'history_rows.ttl'::regclass WHEN c.relkind = 'v' THEN (
        SELECT DISTINCT d.refobjid FROM pg_rewrite r JOIN pg_depend d ON d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid
          JOIN pg_class x ON x.oid = d.refobjid JOIN pg_namespace m ON m.oid = x.relnamespace
        WHERE r.ev_class = c.oid AND m.nspname = n.nspname || '_rows') ELSE c.oid END
    WHERE c.relkind IN ('r', 'p', 'v') AND NOT c.relispartition
      AND (n.nspname IN ('event', 'state', 'history')
           OR n.nspname = 'chain' AND c.relname IN ('ledger', 'tx', 'call', 'contract_seen', 'kept_for', 'preimage')))
SELECT name, a.attname, format_type(a.atttypid, a.atttypmod),
       CASE WHEN shared THEN '' WHEN s.attname IS NULL OR s.attnotnull THEN 'not null' ELSE 'null' END,
       col_description(t.oid, a.attnum), ''
FROM tables t JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum > 0 AND NOT a.attisdropped
    LEFT JOIN pg_attribute s ON s.attrelid = t.stored AND s.attname = a.attname
WHERE t.oid = t.stored OR a.attname !~ '_key$'
UNION ALL
SELECT name, '', CASE relkind WHEN 'p' THEN 'partitioned' WHEN 'v' THEN 'view' ELSE 'plain' END,
       (SELECT string_agg(a.attname, ', ' ORDER BY k.n)
        FROM pg_constraint p, unnest(p.conkey) WITH ORDINALITY k(attnum, n), pg_attribute a
        WHERE t.relkind <> 'v' AND p.conrelid = t.stored AND p.contype = 'p' AND a.attrelid = t.stored AND a.attnum = k.attnum),
       obj_description(t.oid), ''
FROM tables t;
SQL
LC_ALL=C sort -o "$PG_DIR/found" "$PG_DIR/found"
diff "$PG_DIR/wanted" "$PG_DIR/found" >"$PG_DIR/diff" || { head -20 "$PG_DIR/diff" >&2; fail "tables differ"; }
[ "$(wc -l <"$PG_DIR/wanted")" -gt 1500 ] || fail "only $(wc -l <"$PG_DIR/wanted") lines compared"

# Binary COPY relies on the order of columns, so the comparison is unsorted, table by table.
order() { awk -F '\t' '$2 != "" { t[$1] = t[$1] " " $2 } END { for (k in t) print k t[k] }' | LC_ALL=C sort; }
"$indexer" tables | order >"$PG_DIR/wanted"
sql "SELECT n.nspname || '.' || c.relname || E'\t' || a.attname FROM pg_class c
     JOIN pg_namespace n ON n.oid = c.relnamespace
     JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
     WHERE c.relkind IN ('r', 'p', 'v') AND NOT c.relispartition AND NOT (c.relkind = 'v' AND a.attname ~ '_key$')
       AND (n.nspname IN ('event', 'state', 'history')
            OR n.nspname = 'chain' AND c.relname IN ('ledger', 'tx', 'call', 'contract_seen', 'kept_for', 'preimage'))
     ORDER BY c.oid, a.attnum" | order >"$PG_DIR/found"
diff "$PG_DIR/wanted" "$PG_DIR/found" >&2 || fail "column order differs"

# asof shows each entry of history with the same columns. Only lifetimes are in no row of their own there.
views() { sql "SELECT c.relname, a.attname, format_type(a.atttypid, a.atttypmod) FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0
    WHERE c.relnamespace = '$1'::regnamespace AND c.relname <> 'ttl' ORDER BY 1, a.attnum"; }
diff <(views history) <(views asof) >&2 || fail "asof differs from history"

# Every index of the catalogue must exist. Migrations alone add the indexes by which lists are paged.
"$indexer" tables --sql | sed -E 's/ WITH \((fillfactor = 100|autosummarize = on)\)//' | sed -nE 's/^CREATE INDEX ON ([a-z_]+)\."([a-z_]+)" (USING [a-z]+ )?(\(.*\)( WHERE .*)?);$/\1.\2 \3\4/p' |
    sed -E 's/^([^ ]+) \(/\1 USING btree (/' | LC_ALL=C sort >"$PG_DIR/wanted"
sql "SELECT regexp_replace(pg_get_indexdef(i.indexrelid), '^CREATE INDEX [^ ]+ ON (ONLY )?', '')
     FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid
     WHERE NOT i.indisprimary AND c.relkind IN ('r', 'p') AND NOT c.relispartition" | sed -E "s/\(\(- ([a-z_]+)\)\)/(-\1)/; s/ WITH \((fillfactor='100'|autosummarize='on')\)//; s/ WHERE \(\((.*)\)\)$/ WHERE \1/; s/ WHERE \(([^()]*)\)$/ WHERE \1/; s/\) AND \(/ AND /g; s/\(([0-9]+)\)::numeric/\1/g" | LC_ALL=C sort >"$PG_DIR/found"
[ "$(wc -l <"$PG_DIR/wanted")" = "$("$indexer" tables --sql | grep -c '^CREATE INDEX')" ] || fail "a CREATE INDEX that is not understood"
LC_ALL=C comm -23 "$PG_DIR/wanted" "$PG_DIR/found" >"$PG_DIR/missing"
[ ! -s "$PG_DIR/missing" ] || fail "no such index: $(cat "$PG_DIR/missing")"
echo ok
