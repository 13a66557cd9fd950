/* Makes all rollups of a deployment anew from the attached rows. */
#include "indexer/write/rows/rollup_build.h"
#include "tidemark/log.h"

static tide_status empty_all(struct write_session *s, struct tide_err *err)
{
    write_sql(s, "%s", "");
    for (size_t i = 0; i < tide_rollup_table_count; i++)
        write_sql_more(s, "DELETE FROM rollup.\"%s\" WHERE deployment = %u;", tide_rollup_tables[i],
                       s->plan->deployment);
    return write_run_sql(s, "DELETE", err);
}

static tide_status fold_all(struct write_session *s, const struct write_rollups *r,
                            struct tide_err *err)
{
    struct tide_pg_rows rows;
    write_sql(s,
              "SELECT from_ledger, end_ledger FROM chain.partition WHERE deployment = %u AND"
              " attached ORDER BY 1",
              s->plan->deployment);
    tide_status status = write_query_sql(s, &rows, err);
    for (uint32_t i = 0; status == TIDE_OK && r->any && i < rows.count; i++) {
        uint32_t from = (uint32_t)tide_pg_u64(&rows, i, 0),
                 end = (uint32_t)tide_pg_u64(&rows, i, 1);
        status = write_rollup_partition(s, r, from, (struct tide_range){ from, end - 1 }, err);
    }
    tide_pg_rows_release(&rows);
    return status;
}

/* Checks that no partition was dropped: a detached one still has its tables, the rows of a dropped
 * one cannot be folded again. */
static tide_status check_whole(struct write_session *s, struct tide_err *err)
{
    struct tide_pg_rows rows;
    write_sql(s,
              "SELECT min(from_ledger), max(end_ledger) - 1 FROM chain.archive WHERE deployment ="
              " %u AND EXISTS (SELECT FROM unnest(tables) AS t WHERE to_regclass(t) IS NULL)",
              s->plan->deployment);
    tide_status status = write_query_sql(s, &rows, err);
    if (status == TIDE_OK && !tide_pg_is_null(&rows, 0, 0))
        status = tide_fail(err, TIDE_E_MISSING,
                           "rollups must be made anew, but tables of ledgers %s to %s are archived:"
                           " restore them, start again, then drop them",
                           tide_pg_text(&rows, 0, 0), tide_pg_text(&rows, 0, 1));
    tide_pg_rows_release(&rows);
    return status;
}

tide_status write_rollup_anew(struct write_session *s, const struct write_rollups *r,
                              struct tide_err *err)
{
    tide_status status = r->any ? check_whole(s, err) : TIDE_OK;
    if (status == TIDE_OK)
        status = empty_all(s, err);
    return status == TIDE_OK ? fold_all(s, r, err) : status;
}

static tide_status build_all(struct write_main *m, const struct write_rollups *r,
                             struct tide_err *err)
{
    struct write_session *s = &m->session;
    tide_status status = write_begin_long(m, err);
    if (status == TIDE_OK)
        status = write_rollup_anew(s, r, err);
    if (status != TIDE_OK)
        return status;
    write_sql(s,
              "INSERT INTO rollup.built (deployment, version) VALUES (%u, %d) ON CONFLICT"
              " (deployment) DO UPDATE SET version = excluded.version, built_at ="
              " clock_timestamp()",
              s->plan->deployment, TIDE_ROLLUP_VERSION);
    status = write_run_sql(s, "INSERT", err);
    return status == TIDE_OK ? write_commit(s, err) : status;
}

static tide_status build_anew(struct write_main *m, const void *arg, struct tide_err *err)
{
    tide_status status = build_all(m, arg, err);
    write_end_long(m);
    return status;
}

/* Reads the version of the rollups; 0: they are not built. */
static tide_status read_version(struct write_main *m, const void *arg, struct tide_err *err)
{
    struct write_session *s = &m->session;
    uint64_t *version = *(uint64_t *const *)arg;
    struct tide_pg_rows rows;
    write_sql(s, "SELECT version FROM rollup.built WHERE deployment = %u", s->plan->deployment);
    tide_status status = write_query_sql(s, &rows, err);
    *version = status == TIDE_OK && rows.count ? tide_pg_u64(&rows, 0, 0) : 0;
    tide_pg_rows_release(&rows);
    return status;
}

tide_status write_rollup_settle(struct write_main *m, const struct write_rollups *r,
                                struct tide_err *err)
{
    struct write_session *s = &m->session;
    uint64_t version = TIDE_ROLLUP_VERSION;
    uint64_t *const read = &version;
    tide_status status = r->any ? write_retry(m, read_version, &read, false, err) : TIDE_OK;
    if (status != TIDE_OK || version == TIDE_ROLLUP_VERSION)
        return status;
    if (version > TIDE_ROLLUP_VERSION)
        return tide_fail(err, TIDE_E_SCHEMA,
                         "rollups of version %" PRIu64 " are newer than this build's %d", version,
                         TIDE_ROLLUP_VERSION);
    if (m->cursor.ledger)
        tide_log(TIDE_INFO, "rollup.build", "deployment=%u version=%d cursor=%u",
                 s->plan->deployment, TIDE_ROLLUP_VERSION, m->cursor.ledger);
    return write_retry(m, build_anew, r, false, err);
}
