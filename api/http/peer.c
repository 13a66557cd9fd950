/* Addresses of clients and proxies. */
#include "api/http/peer.h"
#include "api/http/header.h"
#include "tidemark/text.h"

#include <arpa/inet.h>
#include <netinet/in.h>

static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
static_assert(sizeof mapped + sizeof(struct in_addr) == sizeof(struct in6_addr), "::ffff:a.b.c.d");
static_assert(sizeof(((struct tide_peer *)0)->ip) == sizeof(struct in6_addr), "holds any address");
static_assert(TIDE_PEER_TEXT >= INET6_ADDRSTRLEN, "inet_ntop never lacks room");

/* Reads an address; *v4 tells whether it is IPv4. */
static bool read_ip(tide_slice text, uint8_t ip[16], bool *v4)
{
    char copy[TIDE_PEER_TEXT];
    if (text.len >= sizeof copy || text.len == 0)
        return false;
    memcpy(copy, text.ptr, text.len);
    copy[text.len] = 0;
    struct in_addr in;
    *v4 = inet_pton(AF_INET, copy, &in) == 1;
    if (*v4) {
        memcpy(ip, mapped, 12);
        memcpy(ip + 12, &in, 4);
        return true;
    }
    return inet_pton(AF_INET6, copy, ip) == 1;
}

/* Reads an address with an optional prefix. Without one it is a network of one address. */
static bool read_net(tide_slice text, struct tide_peer_net *net)
{
    bool v4;
    uint64_t bits = 128;
    const uint8_t *slash = memchr(text.ptr, '/', text.len);
    tide_slice ip = { text.ptr, slash ? (size_t)(slash - text.ptr) : text.len };
    if (!read_ip(ip, net->ip, &v4))
        return false;
    if (slash) {
        tide_slice tail = { slash + 1, text.len - ip.len - 1 };
        if (tide_parse_u64(&bits, tail, v4 ? 32 : 128) != TIDE_OK)
            return false;
        bits += v4 ? 96 : 0;
    }
    assert(bits <= 128);
    net->bits = (uint32_t)bits;
    return true;
}

/* An empty element, as in "a,,b", is an error: it may be a typing mistake. */
tide_status tide_peer_proxies_parse(struct tide_peer_proxies *out, const char *text,
                                    struct tide_err *err)
{
    tide_slice rest = tide_header_trim(tide_slice_str(text));
    out->count = 0;
    while (rest.len) {
        tide_slice one = tide_header_cut(&rest, ',');
        if (out->count == TIDE_PEER_PROXIES_MAX)
            return tide_fail(err, TIDE_E_CONFIG, "api_proxies: more than %u",
                             TIDE_PEER_PROXIES_MAX);
        if (one.len == 0 || !read_net(one, &out->nets[out->count++]))
            return tide_fail(err, TIDE_E_CONFIG, "api_proxies: %.*s is no address or network",
                             TIDE_SLICE_FMT(one));
    }
    return TIDE_OK;
}

/* Returns whether the first net->bits bits of the address are those of the network. */
static bool net_contains(const struct tide_peer_net *net, const uint8_t ip[16])
{
    uint32_t whole = net->bits / 8, rest = net->bits % 8;
    assert(net->bits <= 128); /* else the rest would be read behind the address */
    if (memcmp(net->ip, ip, whole) != 0)
        return false;
    return rest == 0 || ((net->ip[whole] ^ ip[whole]) >> (8 - rest)) == 0;
}

bool tide_peer_is_proxy(const struct tide_peer_proxies *proxies, const struct tide_peer *peer)
{
    assert(proxies->count <= TIDE_PEER_PROXIES_MAX);
    for (uint32_t i = 0; i < proxies->count; i++)
        if (net_contains(&proxies->nets[i], peer->ip))
            return true;
    return false;
}

bool tide_peer_of_socket(struct tide_peer *out, const struct sockaddr *address)
{
    *out = (struct tide_peer){ { 0 } };
    if (address && address->sa_family == AF_INET) {
        struct sockaddr_in in;
        memcpy(&in, address, sizeof in);
        memcpy(out->ip, mapped, 12);
        memcpy(out->ip + 12, &in.sin_addr, 4);
        return true;
    }
    if (address && address->sa_family == AF_INET6) {
        struct sockaddr_in6 in6;
        memcpy(&in6, address, sizeof in6);
        memcpy(out->ip, &in6.sin6_addr, 16);
        return true;
    }
    return false;
}

/* A client can send its own X-Forwarded-For, so the list is read from the right, and only while
 * the hop before was a trusted proxy. */
struct tide_peer tide_peer_behind(const struct tide_peer_proxies *proxies,
                                  const struct tide_peer *peer, tide_slice forwarded_for)
{
    struct tide_peer now = *peer;
    while (forwarded_for.len && tide_peer_is_proxy(proxies, &now)) {
        const uint8_t *comma = memrchr(forwarded_for.ptr, ',', forwarded_for.len);
        size_t start = comma ? (size_t)(comma - forwarded_for.ptr) + 1 : 0;
        tide_slice hop =
            tide_header_trim((tide_slice){ forwarded_for.ptr + start, forwarded_for.len - start });
        bool v4;
        struct tide_peer next;
        if (!read_ip(hop, next.ip, &v4))
            break;
        now = next;
        assert(start <= forwarded_for.len); /* the list becomes shorter */
        forwarded_for.len = start ? start - 1 : 0;
    }
    return now;
}

/* One customer usually has a whole /64, so limits count it as one client. */
struct tide_peer tide_peer_key(const struct tide_peer *peer)
{
    struct tide_peer key = *peer;
    if (memcmp(key.ip, mapped, 12) != 0)
        memset(key.ip + 8, 0, 8);
    return key;
}

const char *tide_peer_text(char out[TIDE_PEER_TEXT], const struct tide_peer *peer)
{
    bool v4 = memcmp(peer->ip, mapped, 12) == 0;
    const char *text =
        inet_ntop(v4 ? AF_INET : AF_INET6, v4 ? peer->ip + 12 : peer->ip, out, TIDE_PEER_TEXT);
    return text ? text : "?";
}
