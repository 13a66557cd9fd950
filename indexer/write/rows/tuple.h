/* Places in a COPY row of history, with words or keys: all columns in front of the contract have a
 * value of fixed length. */
#ifndef INDEXER_WRITE_ROWS_TUPLE_H
#define INDEXER_WRITE_ROWS_TUPLE_H

#include "tidemark/buf.h"
#include "tidemark/xdr.h"

enum {
    TUPLE_KEY = 2 + 4 + 2 + 4,
    TUPLE_LEDGER = TUPLE_KEY + TIDE_HASH_BYTES + 4,
    TUPLE_TX = TUPLE_LEDGER + 4 + 4,
    TUPLE_SEQ = TUPLE_TX + 4 + 4,
    TUPLE_CONTRACT = TUPLE_SEQ + 4 + 4 + 8 + 4
};

/* Returns the column at `*column`, with its length, and moves behind it. */
TIDE_INLINE tide_slice tuple_take(const uint8_t **column)
{
    uint32_t len = tide_be32(*column);
    tide_slice whole = tide_slice_of(*column, 4 + (size_t)(len == UINT32_MAX ? 0 : len));
    *column += whole.len;
    return whole;
}

TIDE_INLINE const uint8_t *tuple_next(const uint8_t *row)
{
    uint32_t columns = (uint32_t)(row[0] << 8 | row[1]);
    for (row += 2; columns > 0; columns--)
        (void)tuple_take(&row);
    return row;
}

#endif
