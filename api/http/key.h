/* The interface through which the server asks the program about a request's X-API-Key, if the
 * program has a list of keys. */
#ifndef API_HTTP_KEY_H
#define API_HTTP_KEY_H

#include "api/http/peer.h"

struct tide_route;

struct tide_key_answer {
    /* 0: accepted; otherwise the status of the rejection, with the next three members */
    uint16_t status;
    uint16_t retry_after_s;
    const char *code, *detail;
    bool known;             /* the key is known: its limits are counted by print */
    struct tide_peer print; /* 16 bytes of the key's hash */
    uint32_t rate, burst;   /* requests a second; requests at once; 0: the limits of api_rate_* */
};

/* Check runs on the connection's thread and must not wait. route: NULL if none matched. from:
 * the client behind proxies. *out is zeroed before the call. */
struct tide_key_check {
    void *self;
    void (*check)(void *self, struct tide_key_answer *out, const struct tide_route *route,
                  tide_slice key, const struct tide_peer *from);
};

#endif
