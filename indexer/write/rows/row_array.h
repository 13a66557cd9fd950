/* Turns encoded rows into one parameter of a statement: an array of the table's row type in
 * PostgreSQL's binary form, made of binary COPY tuples. `INSERT INTO t SELECT * FROM
 * unnest($1::t[])` then inserts any number of rows without a COPY, also with columns that are
 * arrays. */
#ifndef INDEXER_WRITE_ROWS_ROW_ARRAY_H
#define INDEXER_WRITE_ROWS_ROW_ARRAY_H

#include "tidemark/buf.h"
#include "tidemark/table.h"

enum { TIDE_ROW_NO_COLUMN = UINT16_MAX };

/* The row type in the database. Its attributes may be in another order than the columns of the
 * tuples. */
struct tide_row_shape {
    uint32_t oid;     /* oid of the row type */
    uint16_t columns; /* columns of each tuple, at most TIDE_COLUMNS_MAX */
    uint16_t count;   /* attributes, at most TIDE_COLUMNS_MAX */
    struct {
        uint32_t oid;    /* oid of the attribute's type */
        uint16_t column; /* column of the tuple; TIDE_ROW_NO_COLUMN: NULL */
    } attribute[TIDE_COLUMNS_MAX];
};

/* Appends the array of all tuples. Returns false if they are not `rows` complete tuples with the
 * shape's number of columns, which is a bug of the encoder, or if out has failed. */
bool tide_row_array(struct tide_buf *out, const struct tide_row_shape *shape, tide_slice tuples,
                    uint64_t rows) TIDE_MUST_USE;

#endif
