/* From a reply to the library's response. */
#ifndef API_HTTP_SERVER_ANSWER_H
#define API_HTTP_SERVER_ANSWER_H

#include "api/http/server/conn_limit.h"

struct server_conn;
struct MHD_Response;

/* Completes the reply and queues it. Returns false if the library rejects it or there is no
 * memory. */
bool server_answer(struct server_conn *conn);
/* Counts bytes that the connection is about to keep in memory. Returns false at a limit. */
bool server_hold(struct server_conn *conn, enum tide_conn_limit_bytes what, size_t bytes);
/* Returns all bytes that the request counted. */
void server_hold_end(struct server_conn *conn);
/* Adds (server_origin.c) the CORS headers, which decide which pages may read the answer. */
void server_origin_add(struct MHD_Response *response, const struct server_conn *conn);

/* Bodies of streams (server_stream.c) */

/* Returns a response that reads from reply->stream, or NULL without memory. */
struct MHD_Response *server_stream_response(struct server_conn *conn);
/* Closes the reply's stream, if it has one. */
void server_stream_end(struct server_conn *conn);

#endif
