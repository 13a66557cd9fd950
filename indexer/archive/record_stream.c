#include "indexer/archive/record_stream.h"
#include "tidemark/xdr.h"

enum { MARK_BYTES = 4, LAST_FRAGMENT_BIT = 31, RECORD_CEILING = 256 << 20 };
static_assert(RECORD_CEILING < 1u << LAST_FRAGMENT_BIT, "a mark can say every length");

void record_stream_init(struct record_stream *stream, size_t record_max, record_fn record,
                        void *self)
{
    assert(record && record_max > 0 && record_max <= RECORD_CEILING);
    *stream = (struct record_stream){ .record_max = record_max, .record = record, .self = self };
    tide_buf_init(&stream->part, record_max + MARK_BYTES);
}

void record_stream_release(struct record_stream *stream)
{
    tide_buf_release(&stream->part);
}

void record_stream_reset(struct record_stream *stream)
{
    tide_buf_reset(&stream->part);
    stream->offset = 0;
}

/* Reads the mark at the front of bytes; *len is the record's length. */
static tide_status read_mark(const struct record_stream *stream, tide_slice bytes, size_t *len,
                             struct tide_err *err)
{
    assert(bytes.len >= MARK_BYTES);
    uint32_t mark = tide_be32(bytes.ptr);
    if (!(mark >> LAST_FRAGMENT_BIT))
        return tide_fail(err, TIDE_E_DECODE,
                         "byte %" PRIu64 ": %08" PRIx32 " is not the mark of a record",
                         stream->offset, mark);
    *len = mark & ~(1u << LAST_FRAGMENT_BIT);
    if (*len > stream->record_max)
        return tide_fail(err, TIDE_E_LIMIT, "byte %" PRIu64 ": a record of %zu bytes, above %zu",
                         stream->offset, *len, stream->record_max);
    return TIDE_OK;
}

/* Hands out the complete records at the front of *bytes, which moves behind them. */
static tide_status cut_records(struct record_stream *stream, tide_slice *bytes,
                               struct tide_err *err)
{
    while (bytes->len >= MARK_BYTES) {
        size_t len = 0;
        tide_status status = read_mark(stream, *bytes, &len, err);
        if (status)
            return status;
        if (bytes->len - MARK_BYTES < len)
            return TIDE_OK;
        status = stream->record(stream->self, tide_slice_of(bytes->ptr + MARK_BYTES, len), err);
        if (status)
            return status;
        bytes->ptr += MARK_BYTES + len;
        bytes->len -= MARK_BYTES + len;
        stream->offset += MARK_BYTES + len;
    }
    return TIDE_OK;
}

/* Moves bytes to the incomplete record until it has `want` bytes. Returns false without memory. */
static bool fill_part(struct record_stream *stream, size_t want, tide_slice *bytes)
{
    size_t more = want > stream->part.len ? want - stream->part.len : 0;
    more = more < bytes->len ? more : bytes->len;
    tide_buf_put(&stream->part, bytes->ptr, more);
    bytes->ptr += more;
    bytes->len -= more;
    return !stream->part.failed;
}

/* Completes the record that earlier pieces began, and hands it out. */
static tide_status finish_part(struct record_stream *stream, tide_slice *bytes,
                               struct tide_err *err)
{
    size_t len = 0;
    if (!fill_part(stream, MARK_BYTES, bytes))
        return tide_fail(err, TIDE_E_MEMORY, "out of memory");
    if (stream->part.len < MARK_BYTES)
        return TIDE_OK;
    tide_status status = read_mark(stream, tide_buf_view(&stream->part), &len, err);
    if (status)
        return status;
    if (!fill_part(stream, MARK_BYTES + len, bytes))
        return tide_fail(err, TIDE_E_MEMORY, "out of memory");
    if (stream->part.len < MARK_BYTES + len)
        return TIDE_OK;
    tide_slice whole = tide_buf_view(&stream->part);
    status = cut_records(stream, &whole, err);
    assert(status != TIDE_OK || whole.len == 0); /* the part was one record exactly */
    tide_buf_reset(&stream->part);
    return status;
}

tide_status record_stream_push(struct record_stream *stream, tide_slice bytes, struct tide_err *err)
{
    tide_status status = TIDE_OK;
    if (stream->part.len)
        status = finish_part(stream, &bytes, err);
    if (!status && !stream->part.len)
        status = cut_records(stream, &bytes, err);
    if (status || bytes.len == 0)
        return status;
    assert(stream->part.len == 0); /* an incomplete record takes all bytes there are */
    tide_buf_slice(&stream->part, bytes);
    return stream->part.failed ? tide_fail(err, TIDE_E_MEMORY, "out of memory") : TIDE_OK;
}

tide_status record_stream_end(const struct record_stream *stream, struct tide_err *err)
{
    if (stream->part.len == 0)
        return TIDE_OK;
    return tide_fail(err, TIDE_E_DECODE, "byte %" PRIu64 ": the record is cut short",
                     stream->offset);
}
