/* Publications of logical replication, which forbid to load a partition beside its parent. */
#ifndef INDEXER_WRITE_LOAD_PUBLICATION_H
#define INDEXER_WRITE_LOAD_PUBLICATION_H

#include "indexer/write/load/range.h"
#include "indexer/write/session/session.h"

struct load_publications {
    bool any;        /* some publication has a partitioned table */
    char names[204]; /* as SQL, for people; may be cut           */
};

/* Reads which publications have partitioned tables. */
tide_status load_publication_find(struct write_session *s, struct load_publications *out,
                                  struct tide_err *err) TIDE_MUST_USE;
/* In the transaction that attached a loaded partition: TIDE_E_DB_FATAL if subscribers would miss
 * its rows. A publication that names a table waits for its lock, so none comes in between. One of
 * all tables or of a schema locks none: made in the moment of that COMMIT, it is not seen. */
tide_status load_publication_check(struct write_session *s, const struct load_range *range,
                                   struct tide_err *err) TIDE_MUST_USE;

#endif
