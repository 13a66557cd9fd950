/* What the program says of a request's X-API-Key, when it keeps a list of keys. */
#ifndef API_HTTP_KEY_H
#define API_HTTP_KEY_H

#include "api/http/peer.h"

struct tide_route;

struct tide_key_answer {
    uint16_t status; /* 0: the request goes on; else what refuses it, with the next three */
    uint16_t retry_after_s;
    const char *code, *detail;
    bool known;             /* it has limits of its own, by print */
    struct tide_peer print; /* 16 bytes of the key's hash         */
    uint32_t rate, burst;   /* requests a second, at once; 0: those of api_rate_* */
};

/* Called on the connection's thread: it may not wait. route is NULL where none matched; from is the
 * client behind proxies. *out is zeroed. */
struct tide_key_check {
    void *self;
    void (*check)(void *self, struct tide_key_answer *out, const struct tide_route *route,
                  tide_slice key, const struct tide_peer *from);
};

#endif
