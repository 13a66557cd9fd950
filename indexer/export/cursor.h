/* Reads the rows of a SELECT a piece at a time, so that many can be read side by side on one
 * connection and in one snapshot. Each cursor keeps one piece in memory. */
#ifndef INDEXER_EXPORT_CURSOR_H
#define INDEXER_EXPORT_CURSOR_H

#include "tidemark/buf.h"
#include "tidemark/pg.h"

#define TIDE_CURSOR_ROWS 256u

struct tide_export_cursor {
    struct tide_pg *pg;
    uint32_t id; /* part of the cursor's name; different for each open cursor of a connection */
    struct tide_pg_rows rows;
    uint32_t at; /* index of the current row in rows */
    bool live;   /* there is a current row */
};

/* Declares the cursor and moves to the first row. The caller's transaction must outlive the cursor.
 * sql is one statement without parameters. TIDE_E_LIMIT if it did not fit its buffer. */
tide_status tide_export_cursor_open(struct tide_export_cursor *cursor, struct tide_pg *pg,
                                    uint32_t id, const struct tide_buf *sql,
                                    struct tide_err *err) TIDE_MUST_USE;
/* Moves to the next row. live is false behind the last one. Texts of the row before are no longer
 * valid. */
tide_status tide_export_cursor_next(struct tide_export_cursor *cursor,
                                    struct tide_err *err) TIDE_MUST_USE;
void tide_export_cursor_close(struct tide_export_cursor *cursor);

static inline tide_slice tide_cursor_text(const struct tide_export_cursor *cursor, uint32_t column)
{
    return tide_pg_slice(&cursor->rows, cursor->at, column);
}

static inline bool tide_cursor_null(const struct tide_export_cursor *cursor, uint32_t column)
{
    return tide_pg_is_null(&cursor->rows, cursor->at, column);
}

static inline uint64_t tide_cursor_u64(const struct tide_export_cursor *cursor, uint32_t column)
{
    return tide_pg_u64(&cursor->rows, cursor->at, column);
}

#endif
