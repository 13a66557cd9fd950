/* Any bytes as a file of a history archive: packed or not, in one piece and in many, the same
 * records come out. */
#include "tests/fuzz/promise.h"

#include "indexer/archive/gunzip.h"
#include "indexer/archive/record_stream.h"

enum { RECORD_MAX = 1 << 16, UNPACKED_MAX = 1 << 20 };

struct result {
    tide_status status;
    uint32_t count, sum;
};

static tide_status note_record(void *self, tide_slice record, struct tide_err *err)
{
    struct result *r = self;
    (void)err;
    PROMISE(record.len <= RECORD_MAX);
    r->count++;
    r->sum = r->sum * 33 + sum_bytes(record);
    return TIDE_OK;
}

static struct result push_all(tide_slice bytes, size_t step)
{
    struct result r = { 0 };
    struct record_stream stream;
    struct tide_err err;
    record_stream_init(&stream, RECORD_MAX, note_record, &r);
    for (size_t at = 0; at < bytes.len && !r.status; at += step) {
        size_t len = bytes.len - at < step ? bytes.len - at : step;
        r.status = record_stream_push(&stream, tide_slice_of(bytes.ptr + at, len), &err);
    }
    if (!r.status)
        r.status = record_stream_end(&stream, &err);
    record_stream_release(&stream);
    return r;
}

/* Unpacks at most UNPACKED_MAX bytes of data, which is given in pieces of `step` bytes. */
static tide_status unpack_all(struct tide_buf *out, tide_slice data, size_t step)
{
    struct gunzip *z = NULL;
    tide_status status = gunzip_open(&z);
    for (size_t at = 0; at < data.len && !status; at += step) {
        tide_slice piece = { data.ptr + at, data.len - at < step ? data.len - at : step };
        for (size_t made = 1; (piece.len || made) && !status;) {
            const char *what = NULL;
            uint8_t *room = tide_buf_room(out, 512);
            if (!room) {
                gunzip_close(z);
                return TIDE_E_LIMIT;
            }
            status = gunzip_read(z, &piece, room, 512, &made, &what);
            PROMISE(!status || what);
            out->len += made;
        }
    }
    if (!status && !gunzip_complete(z))
        status = TIDE_E_DECODE;
    gunzip_close(z);
    return status;
}

static void try_records(tide_slice bytes)
{
    struct result once = push_all(bytes, bytes.len + 1);
    struct result pieces = push_all(bytes, 7);
    PROMISE(once.count == pieces.count && once.sum == pieces.sum && once.status == pieces.status);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    tide_slice whole = tide_slice_of(data, size);
    struct tide_buf once, pieces;
    try_records(whole);
    tide_buf_init(&once, UNPACKED_MAX);
    tide_buf_init(&pieces, UNPACKED_MAX);
    tide_status status = unpack_all(&once, whole, size + 1);
    tide_status again = unpack_all(&pieces, whole, 5);
    PROMISE(again == status || again == TIDE_E_LIMIT || status == TIDE_E_LIMIT);
    if (status == TIDE_OK && again == TIDE_OK) {
        PROMISE(tide_slice_eq(tide_buf_view(&once), tide_buf_view(&pieces)));
        try_records(tide_buf_view(&once));
    }
    tide_buf_release(&once);
    tide_buf_release(&pieces);
    return 0;
}
