/* Rows on their way into one temporary table of the server, sent in pieces by COPY BINARY.
 *
 * Memory   a piece and the row that fills it.
 * Threads  those of the session that owns the table. */
#ifndef INDEXER_DATABASE_TEMP_ROWS_H
#define INDEXER_DATABASE_TEMP_ROWS_H

#include "tidemark/buf.h"
#include "tidemark/pg.h"

enum { TEMP_ROW_BYTES_MAX = 16 << 20 }; /* most bytes of one row */

struct temp_rows {
    const char *table;    /* borrowed */
    struct tide_buf copy; /* COPY BINARY tuples; the caller appends rows */
    uint64_t count;
};

void temp_rows_init(struct temp_rows *rows, const char *table);
void temp_rows_release(struct temp_rows *rows);
/* Call after each row that was appended: sends the rows if there are many. TIDE_E_MEMORY if the
 * buffer failed. */
tide_status temp_rows_added(struct temp_rows *rows, struct tide_pg *pg,
                            struct tide_err *err) TIDE_MUST_USE;
/* Sends what was appended, in a transaction of its own. */
tide_status temp_rows_flush(struct temp_rows *rows, struct tide_pg *pg,
                            struct tide_err *err) TIDE_MUST_USE;
/* Forgets the rows that were not sent yet. */
void temp_rows_drop(struct temp_rows *rows);

#endif
