/* Rate limits: token buckets, one for each client and class, in a table of fixed size, so that
 * clients cannot make it grow. If a client is new and its set of the table is full, the client
 * with the fullest bucket is forgotten: it loses least.
 *
 * A bucket holds at most its quota, and refills evenly, the whole quota in one window. A request
 * takes the cost of its route. A request that costs more than the bucket holds is rejected and
 * takes nothing.
 * Threads  any. A known client's request waits for no other; a new client's waits while another
 * new client gets its entry. */
#ifndef API_HTTP_SERVER_RATE_H
#define API_HTTP_SERVER_RATE_H

#include "api/http/peer.h"

#define TIDE_RATE_WINDOW_S 60u
#define TIDE_RATE_CLIENTS  65536u /* entries of the table, 1 MiB */

enum tide_rate_class { TIDE_RATE_LOOKUP, TIDE_RATE_QUERY, TIDE_RATE_CLASS_COUNT };

struct tide_rate;

/* quota: tokens per window for each class; 0: unlimited. seed: a secret, so that no client can
 * choose with whom it shares an entry. Fails with TIDE_E_MEMORY. */
tide_status tide_rate_open(struct tide_rate **out, const uint32_t quota[TIDE_RATE_CLASS_COUNT],
                           uint64_t seed, struct tide_err *err) TIDE_MUST_USE;
void tide_rate_close(struct tide_rate *rate);

/* A client: an address, or a key's digest with a factor of its own. */
struct tide_rate_client {
    struct tide_peer peer;
    uint32_t factor; /* multiplies the quota; at least 1 */
    bool keyed;      /* peer holds 16 bytes of a key's hash */
    /* A key's own limit: one bucket for both classes, of burst tokens, refilled by rate a
     * second; 0: the quota of the class times factor */
    uint32_t rate, burst;
};

struct tide_rate_answer {
    uint32_t quota;     /* 0: unlimited, the members below are 0 */
    uint32_t window_s;  /* seconds in which an empty bucket becomes full */
    uint32_t remaining; /* whole tokens                                */
    /* Seconds until the bucket is full; if refused, until the request could be served */
    uint32_t reset_s;
    bool refused;
};

/* Takes cost tokens from the client's bucket, unless it holds fewer (refused). A cost above the
 * quota needs a full bucket. */
struct tide_rate_answer tide_rate_take(struct tide_rate *rate, const struct tide_rate_client *who,
                                       enum tide_rate_class class, uint32_t cost, int64_t now_ms);

#endif
