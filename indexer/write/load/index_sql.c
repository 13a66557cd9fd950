/* SQL that lists missing indexes, CHECKs and statistics. */
#include "indexer/write/load/index_sql.h"

/* Appends the query for a table's CHECK on closed_at: all rows of a whole partition closed between
 * its first and its last ledger, also those that discovery adds later. Queries for a span of time
 * then skip its tables. The constraint costs one scan, so small tables get none. A partition with
 * missing ledgers gets none either, because they may be added. */
static void sql_bounds(struct write_session *s, const struct load_range *range)
{
    write_sql_more(s, "%s", "SELECT ");
    if (!write_plan_has_contracts(s->plan) || !load_range_is_whole(range)) {
        write_sql_more(s, "%s", "NULL::text");
        return;
    }
    assert(TIDE_TABLE_LEDGER < s->plan->table_count);
    write_sql_more(s, "%s",
                   "format(' DROP CONSTRAINT IF EXISTS closed, ADD CONSTRAINT closed CHECK ("
                   "closed_at BETWEEN %L AND %L);', to_char(min(closed_at) AT TIME ZONE 'UTC', f),"
                   " to_char(max(closed_at) AT TIME ZONE 'UTC', f)) FROM ");
    write_sql_leaf(s, &s->plan->tables[TIDE_TABLE_LEDGER], range->from);
    write_sql_more(s, "%s", ", (VALUES ('YYYY-MM-DD HH24:MI:SS.US+00')) f(f) GROUP BY f");
}

/* Each row is a statement for an index of the parents that a table of this partition lacks. The
 * statement checks again under the table's lock: a session of a killed writer may still have been
 * running. */
void load_sql_missing_indexes(struct write_session *s, const struct load_range *range)
{
    write_sql(s,
              "SELECT format('DO $do$ BEGIN IF NOT EXISTS (SELECT FROM pg_index o WHERE o.indrelid"
              " = %%s AND o.indisvalid AND o.indisprimary = %%L AND substring(pg_get_indexdef("
              "o.indexrelid) FROM '' USING .*'') = %%L) THEN EXECUTE %%L; END IF; END $do$',"
              " leaf.oid, i.indisprimary, d.def, make.statement), leaf.oid,"
              " pg_relation_size(leaf.oid), leaf.oid::regclass, CASE WHEN pg_relation_size("
              "leaf.oid) >= 1 << 20 AND EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid ="
              " leaf.oid AND a.attname = 'closed_at') THEN 'ALTER TABLE ' || leaf.oid::regclass"
              " || span.bounds END FROM pg_class parent JOIN pg_namespace s ON s.oid = "
              "parent.relnamespace"
              " JOIN pg_index i ON i.indrelid = parent.oid"
              " JOIN pg_class leaf ON leaf.relnamespace = s.oid AND leaf.relname ="
              " parent.relname || '_p%u_%u', (",
              s->plan->deployment, range->from);
    sql_bounds(s, range);
    write_sql_more(
        s, "%s",
        ") span(bounds), LATERAL (SELECT substring(pg_get_indexdef(i.indexrelid) FROM ' USING "
        ".*')) d(def),"
        " LATERAL (SELECT format(CASE WHEN i.indisprimary THEN 'ALTER TABLE %s ADD %s' ELSE"
        " 'CREATE ' || CASE WHEN i.indisunique THEN 'UNIQUE ' ELSE '' END ||"
        " 'INDEX ON %s%s' END, leaf.oid::regclass, CASE WHEN i.indisprimary THEN"
        " (SELECT pg_get_constraintdef(k.oid) || coalesce(' WITH (' || array_to_string(("
        "SELECT c.reloptions FROM pg_class c WHERE c.oid = i.indexrelid), ', ') || ')', '')"
        " FROM pg_constraint k WHERE k.conindid ="
        " i.indexrelid AND k.contype = 'p') ELSE d.def END)) make(statement)"
        " WHERE parent.relkind = 'p' AND s.nspname IN ('chain', 'chain_rows', 'event',"
        " 'event_rows', 'history', 'history_rows')"
        " AND NOT EXISTS (SELECT 1 FROM pg_index o WHERE o.indrelid = leaf.oid AND"
        " o.indisvalid AND o.indisprimary = i.indisprimary AND"
        " substring(pg_get_indexdef(o.indexrelid) FROM ' USING .*') = d.def)"
        " ORDER BY 3 DESC, 2, NOT i.indisprimary, i.indexrelid");
}

/* Autovacuum never analyses parent tables, but PostgreSQL plans joins and groups over all
 * partitions by their statistics. The list has only the columns used in joins and groups, because
 * the server reads a sample of each partition again and renews the partition's own statistics. It
 * leaves out tables below 1 MiB. Run it once after a load, not for each partition. */
void load_sql_parents(struct write_session *s)
{
    write_sql(s, "%s",
              "SELECT NULL, p.oid, s.bytes, format('%s (%s)', p.oid::regclass, (SELECT string_agg("
              "quote_ident(a.attname), ', ') FROM pg_attribute a WHERE a.attrelid = p.oid AND"
              " a.attnum > 0 AND NOT a.attisdropped AND (a.atttypid IN ('int2'::regtype,"
              " 'int4'::regtype, 'timestamptz'::regtype) OR a.attname = 'key_hash'))) FROM"
              " pg_class p, LATERAL (SELECT sum(l.relpages::bigint) * 8192 FROM pg_inherits i"
              " JOIN pg_class l ON l.oid = i.inhrelid WHERE i.inhparent = p.oid) s(bytes) WHERE"
              " p.relkind = 'p' AND p.relnamespace = ANY ('{chain,event,history,chain_rows,"
              "event_rows,history_rows}'::regnamespace[]) AND s.bytes >= 1 << 20"
              " ORDER BY s.bytes DESC, p.oid");
}
