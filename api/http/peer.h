/* Who a request comes from, as far as limits care: an IPv4 address, or the /64 of an IPv6 one, or
 * the holder of an API key. */
#ifndef API_HTTP_PEER_H
#define API_HTTP_PEER_H

#include "tidemark/slice.h"
#include "tidemark/status.h"

#include <sys/socket.h>

#define TIDE_PEER_PROXIES_MAX 32u
#define TIDE_PEER_TEXT        48u

/* IPv4 lies there as ::ffff:a.b.c.d; of IPv6 the last eight bytes are zero in a limit's key. */
struct tide_peer {
    uint8_t ip[16];
};

struct tide_peer_net {
    uint8_t ip[16];
    uint32_t bits; /* of 128 */
};

/* Proxies whose X-Forwarded-For is believed. */
struct tide_peer_proxies {
    struct tide_peer_net nets[TIDE_PEER_PROXIES_MAX];
    uint32_t count;
};

/* "10.0.0.0/8, ::1, 192.0.2.7"; "" is none. TIDE_E_CONFIG names what is wrong. */
tide_status tide_peer_proxies_parse(struct tide_peer_proxies *out, const char *text,
                                    struct tide_err *err) TIDE_MUST_USE;
bool tide_peer_is_proxy(const struct tide_peer_proxies *proxies, const struct tide_peer *peer);

/* Of a connected socket; false for a family that has no address (then all zero). */
bool tide_peer_of_socket(struct tide_peer *out, const struct sockaddr *address);
/* The client behind proxies: of the list "a, b, c" the rightmost that is no proxy of ours, or the
 * leftmost when all are. peer itself when it is no proxy, or when that hop cannot be read. */
struct tide_peer tide_peer_behind(const struct tide_peer_proxies *proxies,
                                  const struct tide_peer *peer, tide_slice forwarded_for);
/* The same without the host part of an IPv6 address. */
struct tide_peer tide_peer_key(const struct tide_peer *peer);
/* NUL-terminated text; returns out. */
const char *tide_peer_text(char out[TIDE_PEER_TEXT], const struct tide_peer *peer);

#endif
