/* Bodies of streams: the library reads from the handler's stream, and sleeps while it has
 * nothing. */
#include "api/http/server/answer.h"
#include "api/http/server/server_impl.h"

#include <microhttpd.h>

/* Reads from the stream when the socket accepts more: all earlier bytes are sent. */
static ssize_t read_stream(void *self, uint64_t at, char *to, size_t max)
{
    (void)at;
    struct server_conn *conn = self;
    const struct tide_stream_out *stream = &conn->reply.stream;
    if (conn->cut)
        return MHD_CONTENT_READER_END_WITH_ERROR;
    server_moved(conn->worker);
    ptrdiff_t got = stream->read(stream->self, to, max);
    assert(got <= (ptrdiff_t)max);
    if (got < 0)
        return MHD_CONTENT_READER_END_OF_STREAM;
    server_set_state(conn, STATE_STREAM);
    if (got == 0) {
        conn->suspended = true;
        conn->deadline_ms = INT64_MAX;
        MHD_suspend_connection(conn->mhd);
    }
    server_add(&conn->worker->totals.bytes, got);
    return got;
}

struct MHD_Response *server_stream_response(struct server_conn *conn)
{
    server_add(&conn->worker->totals.streams, 1);
    server_add(&conn->worker->totals.streaming, 1);
    /* For HEAD and a body without a length, 0.9.75 would send the end of chunks */
    if (conn->head.bodiless) {
        server_stream_end(conn);
        return MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);
    }
    return MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, SERVER_STREAM_BYTES, read_stream,
                                             conn, NULL);
}

void server_stream_end(struct server_conn *conn)
{
    struct tide_stream_out *stream = &conn->reply.stream;
    if (!stream->read)
        return;
    stream->close(stream->self);
    *stream = (struct tide_stream_out){ 0 };
    server_unlist(&conn->wake); /* a wake-up of this stream must not resume the next request */
    server_add(&conn->worker->totals.streaming, -1);
}
