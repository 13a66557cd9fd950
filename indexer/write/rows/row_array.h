/* Encoded rows as one parameter of a statement: an array of a table's row type in PostgreSQL's
 * binary form, made of binary COPY tuples. `INSERT INTO t SELECT * FROM unnest($1::t[])`
 * then takes in any number of rows, columns that are arrays too, without a COPY. */
#ifndef INDEXER_WRITE_ROWS_ROW_ARRAY_H
#define INDEXER_WRITE_ROWS_ROW_ARRAY_H

#include "tidemark/buf.h"
#include "tidemark/table.h"

enum { TIDE_ROW_NO_COLUMN = UINT16_MAX };

/* The row type as the database has it. Attributes stand in its own order, which need not be the
 * tuples'. */
struct tide_row_shape {
    uint32_t oid;     /* of the row type */
    uint16_t columns; /* in each tuple, at most TIDE_COLUMNS_MAX */
    uint16_t count;   /* attributes, at most TIDE_COLUMNS_MAX */
    struct {
        uint32_t oid;    /* of its type */
        uint16_t column; /* of the tuple; TIDE_ROW_NO_COLUMN: NULL */
    } attribute[TIDE_COLUMNS_MAX];
};

/* Appends the array of all tuples. False when they are not whole tuples of so many columns and so
 * many rows (a bug of who encoded them), or out has failed. */
bool tide_row_array(struct tide_buf *out, const struct tide_row_shape *shape, tide_slice tuples,
                    uint64_t rows) TIDE_MUST_USE;

#endif
