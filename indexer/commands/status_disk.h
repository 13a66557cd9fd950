/* Disk use and how long it lasts, as a section of status. */
#ifndef INDEXER_COMMANDS_STATUS_DISK_H
#define INDEXER_COMMANDS_STATUS_DISK_H

#include "tidemark/buf.h"
#include "tidemark/pg.h"

/* Appends a statement with one row, NUL-terminated: what grows (bytes a ledger in the newest two
 * partitions, rollups included; ledgers a day over the last 17280, pauses apart), and, where the
 * server's data directory is on this machine and its path may be read, the free space of its
 * volume and for how many days that is enough; else note says why not. Other tablespaces are not
 * looked at. */
tide_status tide_status_disk_sql(struct tide_pg *pg, struct tide_buf *out,
                                 struct tide_err *err) TIDE_MUST_USE;

#endif
