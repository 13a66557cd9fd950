/* Limits connections, and the bytes of their bodies and answers in memory: both in total,
 * connections for each address, bytes for each client. A table of fixed size.
 * Threads  any; all functions take one lock. */
#ifndef API_HTTP_SERVER_CONN_LIMIT_H
#define API_HTTP_SERVER_CONN_LIMIT_H

#include "api/http/peer.h"

struct tide_conn_limit;

/* most: connections in total. of_one: connections of one address; 0: no such limit. bytes: of
 * bodies and answers in total, a quarter of which is for bodies, so that requests that never end
 * leave room for answers. One client may hold a quarter of either. Fails with TIDE_E_MEMORY. */
tide_status tide_conn_limit_open(struct tide_conn_limit **out, uint32_t most, uint32_t of_one,
                                 size_t bytes, struct tide_err *err) TIDE_MUST_USE;
void tide_conn_limit_close(struct tide_conn_limit *limit);
/* Counts a connection. Returns false if there is no room. alone: a proxy's address, to which the
 * limit of one address does not apply. */
bool tide_conn_limit_enter(struct tide_conn_limit *limit, const struct tide_peer *peer, bool alone);
/* Uncounts a connection. Its bytes must have been dropped before. */
void tide_conn_limit_leave(struct tide_conn_limit *limit, const struct tide_peer *peer);
enum tide_conn_limit_bytes { TIDE_CONN_LIMIT_BODY, TIDE_CONN_LIMIT_ANSWER };
/* Counts bytes of a client, which may be behind a proxy. A connection that has entered holds bytes
 * of one client at a time. Returns false at a limit. */
bool tide_conn_limit_hold(struct tide_conn_limit *limit, const struct tide_peer *client,
                          enum tide_conn_limit_bytes what, size_t bytes);
void tide_conn_limit_drop(struct tide_conn_limit *limit, const struct tide_peer *client,
                          enum tide_conn_limit_bytes what, size_t bytes);
/* Returns how often a caller found the lock held. */
uint64_t tide_conn_limit_waits(const struct tide_conn_limit *limit);

#endif
