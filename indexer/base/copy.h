/* Writes rows in PostgreSQL's binary COPY format into a buffer: the number of columns, then for
 * each column its length and its bytes, big-endian. NULL is a length of -1. The caller must write
 * the columns in the table's order: the functions check nothing. */
#ifndef INDEXER_BASE_COPY_H
#define INDEXER_BASE_COPY_H

#include "tidemark/buf.h"
#include "tidemark/i128.h"

/* Seconds from the unix epoch to PostgreSQL's, 2000-01-01. */
#define TIDE_PG_EPOCH INT64_C(946684800)

TIDE_INLINE void tide_copy_row(struct tide_buf *buf, uint16_t columns)
{
    tide_buf_be16(buf, columns);
}

TIDE_INLINE void tide_copy_null(struct tide_buf *buf)
{
    tide_buf_be32(buf, UINT32_MAX);
}

TIDE_INLINE void tide_copy_bool(struct tide_buf *buf, bool v)
{
    tide_buf_be32(buf, 1);
    tide_buf_u8(buf, v);
}

TIDE_INLINE void tide_copy_int2(struct tide_buf *buf, int16_t v)
{
    tide_buf_be32(buf, 2);
    tide_buf_be16(buf, (uint16_t)v);
}

TIDE_INLINE void tide_copy_int4(struct tide_buf *buf, int32_t v)
{
    tide_buf_be64(buf, (uint64_t)4 << 32 | (uint32_t)v);
}

TIDE_INLINE void tide_copy_int8(struct tide_buf *buf, int64_t v)
{
    tide_buf_be32(buf, 8);
    tide_buf_be64(buf, (uint64_t)v);
}

/* Writes a timestamptz: microseconds since 2000. unix_ms must be within year 9999. */
TIDE_INLINE void tide_copy_time(struct tide_buf *buf, int64_t unix_ms)
{
    tide_copy_int8(buf, (unix_ms - TIDE_PG_EPOCH * 1000) * 1000);
}

/* Writes a text, bytea or json: all three consist of their bytes. text and json must be UTF-8
 * without NUL. */
TIDE_INLINE void tide_copy_bytes(struct tide_buf *buf, const void *bytes, size_t len)
{
    assert(len < UINT32_MAX); /* this length stands for NULL */
    tide_buf_be32(buf, (uint32_t)len);
    tide_buf_put(buf, bytes, len);
}

void tide_copy_i128(struct tide_buf *buf, tide_i128 v); /* numeric */
void tide_copy_u64(struct tide_buf *buf, uint64_t v);   /* numeric */

/* One-dimensional arrays: call begin, then write each element like a column of the row, then call
 * end. */
enum tide_copy_oid {
    TIDE_OID_BOOL = 16,
    TIDE_OID_INT8 = 20,
    TIDE_OID_INT4 = 23,
    TIDE_OID_TEXT = 25,
    TIDE_OID_NUMERIC = 1700
};
struct tide_copy_array {
    size_t at; /* offset of the array's length word */
};
struct tide_copy_array tide_copy_array_begin(struct tide_buf *buf, enum tide_copy_oid element,
                                             uint32_t count);
void tide_copy_array_end(struct tide_buf *buf, struct tide_copy_array array);

/* Begin and end a value that is written in place. open returns the offset of the length word; pass
 * it to close. */
size_t tide_copy_open(struct tide_buf *buf);
void tide_copy_close(struct tide_buf *buf, size_t at);

#endif
