/* Logical replication sends rows that are written to a published table. Rows loaded into a detached
 * partition were never written to its parent, so no subscriber would get them, and no error would
 * show it. While a publication has partitioned tables, a new partition is therefore attached empty
 * and its rows go through the parent. If a publication is created during a load, that load is not
 * attached. */
#include "indexer/write/load/publication.h"

static const char published_sql[] =
    "SELECT string_agg(quote_ident(p.pubname), ', ' ORDER BY p.pubname) FROM pg_publication AS p"
    " WHERE p.puballtables OR EXISTS (SELECT FROM pg_publication_rel AS r JOIN pg_class AS c"
    " ON c.oid = r.prrelid WHERE r.prpubid = p.oid AND c.relkind = 'p') OR EXISTS (SELECT FROM"
    " pg_publication_namespace AS n JOIN pg_class AS c ON c.relnamespace = n.pnnspid WHERE"
    " n.pnpubid = p.oid AND c.relkind = 'p')";

tide_status load_publication_find(struct write_session *s, struct load_publications *out,
                                  struct tide_err *err)
{
    struct tide_pg_rows rows;
    write_sql(s, "%s", published_sql);
    tide_status status = write_query_sql(s, &rows, err);
    *out = (struct load_publications){ .any = false };
    if (status != TIDE_OK)
        return status;
    out->any = !tide_pg_is_null(&rows, 0, 0);
    static_assert(sizeof out->names > 200, "the cut list has its NUL");
    snprintf(out->names, sizeof out->names, "%.200s", tide_pg_text(&rows, 0, 0));
    tide_pg_rows_release(&rows);
    return TIDE_OK;
}

tide_status load_publication_check(struct write_session *s, const struct load_range *range,
                                   struct tide_err *err)
{
    struct load_publications found;
    tide_status status = load_publication_find(s, &found, err);
    if (status != TIDE_OK || !found.any)
        return status;
    return tide_fail(err, TIDE_E_DB_FATAL,
                     "ledgers %u to %u were loaded before the publication %s was made: its "
                     "subscribers would never get their rows; DROP PUBLICATION, let the indexer "
                     "attach them, then make publication and subscription again",
                     range->first, range->last, found.names);
}
