/* Sends a batch's rows by COPY, table by table: for batches with many rows. */
#ifndef INDEXER_WRITE_ROWS_COPY_H
#define INDEXER_WRITE_ROWS_COPY_H

#include "indexer/write/rows/keys.h"

/* Sends the rows of every table but state, in the running transaction, into the tables of the
 * batch's partition. The batch lies within one partition. */
tide_status write_copy_rows(struct write_session *s, struct write_keys *keys,
                            const struct tide_batch *batch, struct tide_err *err) TIDE_MUST_USE;

#endif
