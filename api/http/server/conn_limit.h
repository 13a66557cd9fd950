/* How many connections there are, and how many bytes of their bodies and answers are held, in all
 * and of each address: a table of fixed size.
 * Threads  any; entering and leaving hold one lock. */
#ifndef API_HTTP_SERVER_CONN_LIMIT_H
#define API_HTTP_SERVER_CONN_LIMIT_H

#include "api/http/peer.h"

struct tide_conn_limit;

/* of_one 0: no limit but that of all. bytes: of bodies and answers, all together, of which a
 * quarter for bodies: requests that never end leave room for answers. One address may have a
 * quarter of either, unless its connections came in alone. */
tide_status tide_conn_limit_open(struct tide_conn_limit **out, uint32_t most, uint32_t of_one,
                                 size_t bytes, struct tide_err *err) TIDE_MUST_USE;
void tide_conn_limit_close(struct tide_conn_limit *limit);
/* False: no room, nothing was counted. alone: of_one does not apply (a proxy). */
bool tide_conn_limit_enter(struct tide_conn_limit *limit, const struct tide_peer *peer, bool alone);
void tide_conn_limit_leave(struct tide_conn_limit *limit, const struct tide_peer *peer);
enum tide_conn_limit_bytes { TIDE_CONN_LIMIT_BODY, TIDE_CONN_LIMIT_ANSWER };
/* Bytes of a body or an answer, of an address that has entered. False: over a limit, and nothing
 * was counted. */
bool tide_conn_limit_hold(struct tide_conn_limit *limit, const struct tide_peer *peer,
                          enum tide_conn_limit_bytes what, size_t bytes);
void tide_conn_limit_drop(struct tide_conn_limit *limit, const struct tide_peer *peer,
                          enum tide_conn_limit_bytes what, size_t bytes);
/* How often one of these found the lock held. */
uint64_t tide_conn_limit_waits(const struct tide_conn_limit *limit);

#endif
