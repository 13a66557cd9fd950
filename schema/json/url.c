/* Reads URLs and hosts. */
#include "tidemark/url.h"
#include "tidemark/text.h"

/* True for printable ASCII without the characters that browsers rewrite or forbid in URLs. */
static bool is_plain(tide_slice url)
{
    for (size_t i = 0; i < url.len; i++)
        if (url.ptr[i] <= ' ' || url.ptr[i] >= 0x7f || strchr("\"<>\\^`{|}", url.ptr[i]))
            return false;
    return true;
}

static bool is_host_byte(uint8_t c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.';
}

/* Copies a host in lower case. Returns false unless it is a name or an IPv4 address. */
static bool read_host(char host[TIDE_KYC_HOST_BYTES], tide_slice text)
{
    if (text.len == 0 || text.len >= TIDE_KYC_HOST_BYTES || text.ptr[0] == '.' ||
        text.ptr[0] == '-')
        return false;
    for (size_t i = 0; i < text.len; i++) {
        uint8_t c = text.ptr[i] >= 'A' && text.ptr[i] <= 'Z' ? text.ptr[i] | 0x20 : text.ptr[i];
        if (!is_host_byte(c) || (c == '.' && i && text.ptr[i - 1] == '.'))
            return false;
        host[i] = (char)c;
    }
    host[text.len] = '\0';
    return host[text.len - 1] != '.';
}

/* Reads "host" or "host:port"; *port is 0 without one. Returns false for bad hosts, and unless the
 * port is 1..65535, written as browsers write it, without leading zeros. */
static bool read_authority(char host[TIDE_KYC_HOST_BYTES], uint32_t *port, tide_slice text)
{
    const uint8_t *colon = text.len ? memchr(text.ptr, ':', text.len) : NULL;
    *port = 0;
    if (!colon)
        return read_host(host, text);
    size_t len = (size_t)(colon - text.ptr);
    uint64_t number = 0;
    if (tide_parse_u64(&number, tide_slice_of(colon + 1, text.len - len - 1), 65535) != TIDE_OK ||
        colon[1] == '0')
        return false;
    *port = (uint32_t)number;
    return read_host(host, tide_slice_of(text.ptr, len));
}

/* Everything before the first "/", "?" or "#" must be a plain host and port, so that no "user@" can
 * hide the real host. */
bool tide_kyc_url_read(struct tide_kyc_url *out, tide_slice url)
{
    *out = (struct tide_kyc_url){ 0 };
    out->secure = url.len > 8 && memcmp(url.ptr, "https://", 8) == 0;
    bool plain = url.len > 7 && memcmp(url.ptr, "http://", 7) == 0;
    if ((!out->secure && !plain) || !is_plain(url))
        return false;
    size_t from = out->secure ? 8 : 7, to = from;
    while (to < url.len && !strchr("/?#", url.ptr[to]))
        to++;
    assert(from <= to && to <= url.len);
    out->rest = tide_slice_of(url.ptr + to, url.len - to);
    if (!read_authority(out->host, &out->port, tide_slice_of(url.ptr + from, to - from)))
        return false;
    out->local = strcmp(out->host, "127.0.0.1") == 0 || strcmp(out->host, "localhost") == 0;
    return out->secure || out->local;
}

bool tide_kyc_host_valid(tide_slice host)
{
    char name[TIDE_KYC_HOST_BYTES];
    uint32_t port;
    for (size_t i = 0; i < host.len; i++)
        if (host.ptr[i] >= 'A' && host.ptr[i] <= 'Z')
            return false;
    return host.len < TIDE_KYC_HOST_BYTES && read_authority(name, &port, host);
}

bool tide_kyc_host_is(const struct tide_kyc_url *url, const char *host)
{
    assert(url->host[0]);
    char name[TIDE_KYC_HOST_BYTES];
    uint32_t port;
    if (!read_authority(name, &port, tide_slice_str(host)) || strcmp(name, url->host) != 0)
        return false;
    if (port)
        return port == url->port;
    return url->local || url->port == 0 || url->port == (url->secure ? 443u : 80u);
}
