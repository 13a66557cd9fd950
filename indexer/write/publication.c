#include "indexer/write/writer_impl.h"

/* Logical replication sends what is written to a published table. Rows that are loaded into a
 * detached partition were never written to its parent: no subscriber would get them, and none would
 * know. So while a publication has partitioned tables, a partition is attached empty and rows go
 * through its parent. A load that a publication overtook is not attached. */

static const char published_sql[] =
    "SELECT string_agg(quote_ident(p.pubname), ', ' ORDER BY p.pubname) FROM pg_publication AS p"
    " WHERE p.puballtables OR EXISTS (SELECT FROM pg_publication_rel AS r JOIN pg_class AS c"
    " ON c.oid = r.prrelid WHERE r.prpubid = p.oid AND c.relkind = 'p') OR EXISTS (SELECT FROM"
    " pg_publication_namespace AS n JOIN pg_class AS c ON c.relnamespace = n.pnnspid WHERE"
    " n.pnpubid = p.oid AND c.relkind = 'p')";

tide_status publication_find(struct tide_writer *w, struct publications *out, struct tide_err *err)
{
    struct tide_pg_rows rows;
    writer_sql(w, "%s", published_sql);
    tide_status status = writer_query_sql(w, &rows, err);
    *out = (struct publications){ .any = false };
    if (status != TIDE_OK)
        return status;
    out->any = !tide_pg_is_null(&rows, 0, 0);
    snprintf(out->names, sizeof out->names, "%.200s", tide_pg_text(&rows, 0, 0));
    tide_pg_rows_release(&rows);
    return TIDE_OK;
}

static tide_status find_publication(struct tide_writer *w, const void *arg, struct tide_err *err)
{
    struct publications *const *out = arg;
    return publication_find(w, *out, err);
}

tide_status publication_attach_empty(struct tide_writer *w, struct tide_err *err)
{
    struct publications found, *out = &found;
    assert(w->loading.active && !w->loading.first);
    tide_status status = writer_retry(w, find_publication, &out, false, err);
    if (status != TIDE_OK || !found.any)
        return status;
    tide_log(TIDE_INFO, "partition.published", "deployment=%u from=%u publications=%s",
             w->deployment, w->loading.from, found.names);
    return tide_writer_finish(w, err);
}

tide_status publication_check_load(struct tide_writer *w, struct tide_err *err)
{
    struct publications found;
    tide_status status = publication_find(w, &found, err);
    if (status != TIDE_OK || !found.any)
        return status;
    return tide_fail(err, TIDE_E_DB_FATAL,
                     "ledgers %u to %u were loaded before the publication %s was made: its "
                     "subscribers would never get their rows; DROP PUBLICATION, let the indexer "
                     "attach them, then make publication and subscription again",
                     w->loading.first, w->loading.last, found.names);
}
