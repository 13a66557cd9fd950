#include "indexer/write/writer_impl.h"

/* It may take longer than any statement of a commit. */
static tide_status analyse(struct tide_writer *w, const char *sql, struct tide_err *err)
{
    tide_pg_patience(w->pg, 0);
    tide_status status = tide_pg_run(w->pg, "SET statement_timeout = 0", "SET", err);
    if (status == TIDE_OK)
        status = tide_pg_run(w->pg, sql, "ANALYZE", err);
    tide_pg_patience(w->pg, w->options.silence_ms);
    return status == TIDE_OK ? tide_pg_run(w->pg, "SET statement_timeout = '10min'", "SET", err)
                             : status;
}

/* Autovacuum never analyses the parents. Joins and groups over all partitions are planned by their
 * statistics: of the columns that rows are joined and grouped by, because the server reads a sample
 * of each partition again for it. Once after a load, not for each partition. */
static tide_status analyse_parents(struct tide_writer *w, const void *arg, struct tide_err *err)
{
    struct tide_pg_rows rows;
    struct tide_buf sql;
    (void)arg;
    writer_sql(w, "%s",
               "SELECT format('%s (%s)', p.oid::regclass, (SELECT string_agg(quote_ident("
               "a.attname), ', ') FROM pg_attribute a WHERE a.attrelid = p.oid AND a.attnum > 0 AND"
               " NOT a.attisdropped AND (a.atttypid IN ('int2'::regtype, 'int4'::regtype,"
               " 'timestamptz'::regtype) OR a.attname = 'key_hash'))) FROM pg_class p WHERE"
               " p.relkind = 'p' AND p.relnamespace = ANY ('{chain,event,history,chain_rows,"
               "event_rows,history_rows}'::regnamespace[]) AND EXISTS (SELECT FROM pg_inherits i"
               " JOIN pg_class l ON l.oid = i.inhrelid WHERE i.inhparent = p.oid AND l.reltuples >"
               " 0) ORDER BY p.oid");
    tide_status status = writer_query_sql(w, &rows, err);
    tide_buf_init(&sql, WRITER_SQL_MAX);
    for (uint32_t i = 0; status == TIDE_OK && i < rows.count; i++) {
        tide_buf_str(&sql, i ? ", " : "ANALYZE ");
        tide_buf_slice(&sql, tide_pg_slice(&rows, i, 0));
    }
    tide_buf_u8(&sql, 0);
    if (status == TIDE_OK && sql.failed)
        status = tide_fail(err, TIDE_E_LIMIT, "statistics: statement too long");
    if (status == TIDE_OK && rows.count)
        status = analyse(w, (const char *)sql.ptr, err);
    tide_buf_release(&sql);
    tide_pg_rows_release(&rows);
    return status;
}

tide_status statistics_of_parents(struct tide_writer *w, struct tide_err *err)
{
    tide_status status = writer_retry(w, analyse_parents, NULL, false, err);
    w->unanalysed &= status != TIDE_OK;
    return status;
}
