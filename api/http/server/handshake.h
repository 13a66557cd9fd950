/* TLS connections before their first request line. libmicrohttpd does not tell when a handshake
 * ends, so a connection counts as in its handshake until that line. */
#ifndef API_HTTP_SERVER_HANDSHAKE_H
#define API_HTTP_SERVER_HANDSHAKE_H

#include "api/http/peer.h"

struct server_conn;
struct server_worker;

/* The connection's part: its place in the worker's list while pending. */
struct server_handshake {
    struct server_conn *newer, *older;
    bool pending;
};

/* The worker's list. */
struct server_handshakes {
    struct server_conn *newest, *oldest;
    uint32_t count;
};

/* Returns false if the address has too many pending handshakes, or had too many that failed. The
 * connection must then be closed before the library spends memory and time on TLS. */
bool server_handshake_admitted(struct server_worker *worker, const struct tide_peer *peer);
/* Begins the handshake of a connection that is counted in conn_limit. If the worker has more than
 * SERVER_HANDSHAKES, cuts the oldest of the address that has most. Without TLS does nothing. */
void server_handshake_begin(struct server_conn *conn);
/* Ends it, if it is pending. done: the first request line has come. */
void server_handshake_end(struct server_conn *conn, bool done);

#endif
