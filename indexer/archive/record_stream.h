/* Cuts a stream of bytes into XDR records: a word whose top bit is set and whose other bits are the
 * length, then as many bytes. All files of a history archive but its JSON are such streams.
 *
 * Memory   one record, if it spans pieces. A record inside one piece is not copied.
 * Threads  one thread at a time uses a stream. */
#ifndef INDEXER_ARCHIVE_RECORD_STREAM_H
#define INDEXER_ARCHIVE_RECORD_STREAM_H

#include "tidemark/buf.h"

/* Called with each record, without its mark. The bytes are valid during the call. A status other
 * than TIDE_OK ends the stream; err must then be filled. */
typedef tide_status (*record_fn)(void *self, tide_slice record, struct tide_err *err);

struct record_stream {
    struct tide_buf part; /* a record of which bytes are missing, with its mark */
    size_t record_max;
    uint64_t offset; /* bytes of complete records so far */
    record_fn record;
    void *self;
};

/* record_max: largest length of a record in bytes, at most 256 MiB. */
void record_stream_init(struct record_stream *stream, size_t record_max, record_fn record,
                        void *self);
void record_stream_release(struct record_stream *stream);
/* Begins another stream. The memory is kept. */
void record_stream_reset(struct record_stream *stream);

/* Takes the next bytes. TIDE_E_DECODE: a mark without its top bit. TIDE_E_LIMIT: a longer record
 * than record_max. TIDE_E_MEMORY. Or what the callback returned. After a failure only reset and
 * release are allowed. */
tide_status record_stream_push(struct record_stream *stream, tide_slice bytes,
                               struct tide_err *err) TIDE_MUST_USE;
/* Ends the stream. TIDE_E_DECODE if a record is incomplete. */
tide_status record_stream_end(const struct record_stream *stream,
                              struct tide_err *err) TIDE_MUST_USE;

#endif
