/* Partitions in the database: a partition of every partitioned table is one row of chain.partition.
 * The tables of a partition are named NAME_pD_F: D is the deployment, F the first ledger. */
#ifndef INDEXER_WRITE_LOAD_PARTITION_H
#define INDEXER_WRITE_LOAD_PARTITION_H

#include "indexer/write/session/main_session.h"

/* Makes the partition's row and tables in the running transaction, unless they are there. */
tide_status load_partition_make(struct write_session *s, uint32_t from,
                                struct tide_err *err) TIDE_MUST_USE;
/* Drops the partition's tables and its row in the running transaction, and takes its ledgers from
 * the totals of chain.cursor. */
tide_status load_partition_drop(struct write_session *s, uint32_t from,
                                struct tide_err *err) TIDE_MUST_USE;
/* Reads the bounds of the attached partition that holds ledger; *end is 0 if there is none. */
tide_status load_partition_find(struct write_main *m, uint32_t ledger, uint32_t *from,
                                uint32_t *end, struct tide_err *err) TIDE_MUST_USE;

/* The tables of the next partition, made by a thread while this one loads. */
struct load_spare; /* opaque */

/* Starts the thread, which makes the partition that begins at `from`. Returns NULL without memory
 * or thread; the writer's session then makes the tables later. */
struct load_spare *load_spare_begin(struct write_main *m, uint32_t from);
/* Waits for the thread and frees the spare. stop: the thread ends as soon as it can. NULL is
 * allowed. */
void load_spare_end(struct write_main *m, struct load_spare *spare, bool stop);

#endif
