#include "indexer/write/rows/row_array.h"
#include "indexer/base/copy.h"
#include "tidemark/xdr.h"

enum { ARRAY_ROWS_MAX = INT32_MAX };
static_assert(TIDE_ROW_NO_COLUMN > TIDE_COLUMNS_MAX, "no column has the number of none");

/* Splits the next tuple into its fields, each with its length word. Returns false if the tuple is
 * cut short. */
static bool split_tuple(tide_slice *fields, uint16_t columns, tide_slice *tuples)
{
    const uint8_t *at = tuples->ptr, *end = tuples->ptr + tuples->len;
    if (end - at < 2 || (uint16_t)(at[0] << 8 | at[1]) != columns)
        return false;
    at += 2;
    for (uint16_t i = 0; i < columns; i++) {
        if (end - at < 4)
            return false;
        uint32_t len = tide_be32(at);
        size_t bytes = len == UINT32_MAX ? 0 : len;
        if ((size_t)(end - at - 4) < bytes)
            return false;
        fields[i] = tide_slice_of(at, 4 + bytes);
        at += 4 + bytes;
    }
    *tuples = tide_slice_of(at, (size_t)(end - at));
    return true;
}

static void put_row(struct tide_buf *out, const struct tide_row_shape *shape,
                    const tide_slice *fields)
{
    size_t row = tide_copy_open(out);
    tide_buf_be32(out, shape->count);
    for (uint16_t i = 0; i < shape->count; i++) {
        assert(shape->attribute[i].column < shape->columns ||
               shape->attribute[i].column == TIDE_ROW_NO_COLUMN);
        tide_buf_be32(out, shape->attribute[i].oid);
        if (shape->attribute[i].column == TIDE_ROW_NO_COLUMN)
            tide_copy_null(out);
        else
            tide_buf_slice(out, fields[shape->attribute[i].column]);
    }
    tide_copy_close(out, row);
}

bool tide_row_array(struct tide_buf *out, const struct tide_row_shape *shape, tide_slice tuples,
                    uint64_t rows)
{
    tide_slice fields[TIDE_COLUMNS_MAX];
    assert(shape->columns <= TIDE_COLUMNS_MAX);
    assert(shape->count <= TIDE_COLUMNS_MAX);
    if (rows == 0 || rows > ARRAY_ROWS_MAX)
        return false;
    tide_buf_be32(out, 1); /* number of dimensions */
    tide_buf_be32(out, 0); /* no element is null */
    tide_buf_be32(out, shape->oid);
    tide_buf_be32(out, (uint32_t)rows);
    tide_buf_be32(out, 1); /* lower bound */
    for (uint64_t i = 0; i < rows; i++) {
        if (!split_tuple(fields, shape->columns, &tuples))
            return false;
        put_row(out, shape, fields);
    }
    return tuples.len == 0 && !out->failed;
}
