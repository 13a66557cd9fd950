/* Rows in PostgreSQL's binary COPY format, written straight into a buffer: a count of columns,
 * then for each its length and its bytes, big-endian. The caller knows the table's column order;
 * nothing here checks it. A NULL is a length of -1. */
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

/* timestamptz: microseconds since 2000. unix_seconds is within year 9999. */
TIDE_INLINE void tide_copy_time(struct tide_buf *buf, int64_t unix_seconds)
{
    tide_copy_int8(buf, (unix_seconds - TIDE_PG_EPOCH) * 1000000);
}

/* text, bytea and json share a shape: the bytes. text and json are UTF-8 without NUL. */
TIDE_INLINE void tide_copy_bytes(struct tide_buf *buf, const void *bytes, size_t len)
{
    tide_buf_be32(buf, (uint32_t)len);
    tide_buf_put(buf, bytes, len);
}

void tide_copy_i128(struct tide_buf *buf, tide_i128 v); /* numeric */
void tide_copy_u64(struct tide_buf *buf, uint64_t v);   /* numeric */

/* One-dimensional arrays: begin, then each element as a column of the row, then end. */
enum tide_copy_oid {
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

/* For a value written in place: take the length word's offset, write the bytes, then end. */
size_t tide_copy_open(struct tide_buf *buf);
void tide_copy_close(struct tide_buf *buf, size_t at);

#endif
