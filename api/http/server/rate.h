/* Token buckets, one per client and class, in a table of fixed size: strangers cannot grow it. When
 * a client is new and its place is full, the one with the fullest bucket is forgotten:
 * it loses the least.
 *
 * A bucket holds at most its quota and fills evenly, the whole quota in a window. A request takes
 * the cost of its route; one that costs more than is there is refused and takes nothing.
 * Threads  any; none waits. */
#ifndef API_HTTP_SERVER_RATE_H
#define API_HTTP_SERVER_RATE_H

#include "api/http/peer.h"

#define TIDE_RATE_WINDOW_S 60u
#define TIDE_RATE_CLIENTS  65536u /* the table's places, 1 MiB */

enum tide_rate_class { TIDE_RATE_LOOKUP, TIDE_RATE_QUERY, TIDE_RATE_CLASS_COUNT };

struct tide_rate;

/* quota: tokens per window of each class; 0: unlimited. seed: secret, so that no client can choose
 * with whom it shares a slot. */
tide_status tide_rate_open(struct tide_rate **out, const uint32_t quota[TIDE_RATE_CLASS_COUNT],
                           uint64_t seed, struct tide_err *err) TIDE_MUST_USE;
void tide_rate_close(struct tide_rate *rate);

/* A client: an address, or a key's digest with a factor of its own. */
struct tide_rate_client {
    struct tide_peer peer;
    uint32_t factor;      /* of the quota, at least 1 */
    bool keyed;           /* peer holds 16 bytes of a key's hash */
    uint32_t rate, burst; /* of a key: one bucket for both classes, of burst tokens, filled by rate
                             a second; 0: the quota of the class times factor */
};

struct tide_rate_answer {
    uint32_t quota;     /* 0: unlimited, nothing below counts          */
    uint32_t window_s;  /* in which an empty bucket becomes full       */
    uint32_t remaining; /* whole tokens                                */
    uint32_t reset_s;   /* until the bucket is full; refused: until the request could be served */
    bool refused;
};

struct tide_rate_answer tide_rate_take(struct tide_rate *rate, const struct tide_rate_client *who,
                                       enum tide_rate_class class, uint32_t cost, int64_t now_ms);

#endif
