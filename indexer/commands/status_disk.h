/* Disk use, and for how long the disk lasts: a section of status. */
#ifndef INDEXER_COMMANDS_STATUS_DISK_H
#define INDEXER_COMMANDS_STATUS_DISK_H

#include "tidemark/buf.h"
#include "tidemark/pg.h"

/* Appends a statement with one row, NUL-terminated. The row has the growth: bytes per ledger in the
 * newest two partitions with rollups, and ledgers per day over the last 17280 without outages. If
 * the server's data directory is on this machine and its path may be read, the row has the free
 * space of its volume and the days until it is full; otherwise `note` says why not. Other
 * tablespaces are not considered. */
tide_status tide_status_disk_sql(struct tide_pg *pg, struct tide_buf *out,
                                 struct tide_err *err) TIDE_MUST_USE;

#endif
