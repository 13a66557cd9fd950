/* The client of a request, as limits count it: an IPv4 address, the /64 of an IPv6 address, or
 * the holder of an API key. */
#ifndef API_HTTP_PEER_H
#define API_HTTP_PEER_H

#include "tidemark/slice.h"
#include "tidemark/status.h"

#include <sys/socket.h>

#define TIDE_PEER_PROXIES_MAX 32u
#define TIDE_PEER_TEXT        48u

/* IPv4 is stored as ::ffff:a.b.c.d. In a key for limits, the last eight bytes of an IPv6 address
 * are zero. */
struct tide_peer {
    uint8_t ip[16];
};

struct tide_peer_net {
    uint8_t ip[16];
    uint32_t bits; /* prefix length; an IPv4 prefix counts from 96 */
};

/* Trusted proxies: their X-Forwarded-For is used. */
struct tide_peer_proxies {
    struct tide_peer_net nets[TIDE_PEER_PROXIES_MAX];
    uint32_t count;
};

/* Parses "10.0.0.0/8, ::1, 192.0.2.7"; an empty text is none. Fails with TIDE_E_CONFIG and names
 * the fault. */
tide_status tide_peer_proxies_parse(struct tide_peer_proxies *out, const char *text,
                                    struct tide_err *err) TIDE_MUST_USE;
bool tide_peer_is_proxy(const struct tide_peer_proxies *proxies, const struct tide_peer *peer);

/* Reads the address of a connected socket. Returns false, with all bytes zero, for other
 * families than IPv4 and IPv6. */
bool tide_peer_of_socket(struct tide_peer *out, const struct sockaddr *address);
/* Returns the client behind proxies: in the list "a, b, c" the rightmost address that is not a
 * trusted proxy, or the leftmost if all are. Returns peer itself if it is not a proxy, and stops
 * before a hop that cannot be read. */
struct tide_peer tide_peer_behind(const struct tide_peer_proxies *proxies,
                                  const struct tide_peer *peer, tide_slice forwarded_for);
/* Returns the key for limits: an IPv6 address without its host part. */
struct tide_peer tide_peer_key(const struct tide_peer *peer);
/* Writes the address as text with a NUL. Returns out. */
const char *tide_peer_text(char out[TIDE_PEER_TEXT], const struct tide_peer *peer);

#endif
