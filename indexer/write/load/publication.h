/* Publications of logical replication. They forbid loading a partition before it is attached to its
 * parent. */
#ifndef INDEXER_WRITE_LOAD_PUBLICATION_H
#define INDEXER_WRITE_LOAD_PUBLICATION_H

#include "indexer/write/load/range.h"
#include "indexer/write/session/session.h"

struct load_publications {
    bool any;        /* some publication has a partitioned table */
    char names[204]; /* names as an SQL list, for messages; may be cut */
};

/* Reads which publications have partitioned tables. */
tide_status load_publication_find(struct write_session *s, struct load_publications *out,
                                  struct tide_err *err) TIDE_MUST_USE;
/* Call in the transaction that attaches a loaded partition. TIDE_E_DB_FATAL if subscribers would
 * miss its rows. Creating a publication that names a table waits for the table's lock, so none can
 * come in between. A publication of all tables or of a schema takes no lock: if it is created at
 * the moment of COMMIT, it is not noticed. */
tide_status load_publication_check(struct write_session *s, const struct load_range *range,
                                   struct tide_err *err) TIDE_MUST_USE;

#endif
