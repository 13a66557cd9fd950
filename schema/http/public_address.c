#include "tidemark/public_address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

struct block {
    uint8_t bytes[16];
    uint8_t bits;
};

/* clang-format off */
static const struct block v4_blocks[] = {
    { { 0 }, 8 },             { { 10 }, 8 },            { { 100, 64 }, 10 },
    { { 127 }, 8 },           { { 169, 254 }, 16 },     { { 172, 16 }, 12 },
    { { 192, 0, 0 }, 24 },    { { 192, 0, 2 }, 24 },    { { 192, 31, 196 }, 24 },
    { { 192, 52, 193 }, 24 }, { { 192, 88, 99 }, 24 },  { { 192, 168 }, 16 },
    { { 192, 175, 48 }, 24 }, { { 198, 18 }, 15 },      { { 198, 51, 100 }, 24 },
    { { 203, 0, 113 }, 24 },  { { 224 }, 3 }, /* multicast, reserved, broadcast */
};

/* Special-purpose blocks within 2000::/3, the only range of global addresses. */
static const struct block v6_blocks[] = {
    { { 0x20, 0x01, 0x00 }, 23 },             /* protocols, Teredo, benchmarks, ORCHID */
    { { 0x20, 0x01, 0x0d, 0xb8 }, 32 },       /* documentation */
    { { 0x20, 0x02 }, 16 },                   /* 6to4 */
    { { 0x26, 0x20, 0x00, 0x4f, 0x80 }, 48 }, /* AS112 */
    { { 0x3f, 0xff, 0x00 }, 20 },             /* documentation */
};
/* clang-format on */

static bool is_in(const uint8_t *address, const struct block *block)
{
    uint8_t whole = block->bits / 8, rest = block->bits % 8;
    assert(block->bits > 0 && block->bits <= 8 * sizeof block->bytes);
    uint8_t mask = (uint8_t)(0xff << (8 - rest));
    return memcmp(address, block->bytes, whole) == 0 &&
           (rest == 0 || ((address[whole] ^ block->bytes[whole]) & mask) == 0);
}

static bool is_in_any(const uint8_t *address, const struct block *blocks, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (is_in(address, &blocks[i]))
            return true;
    return false;
}

static bool is_public_v4(const uint8_t *address)
{
    return !is_in_any(address, v4_blocks, TIDE_COUNT(v4_blocks));
}

/* Everything outside 2000::/3 is refused: ::1, mapped and translated IPv4, fc00::/7, fe80::/10. */
static bool is_public_v6(const uint8_t *address)
{
    static const struct block given_out = { { 0x20 }, 3 };
    return is_in(address, &given_out) && !is_in_any(address, v6_blocks, TIDE_COUNT(v6_blocks));
}

bool tide_public_address(const struct sockaddr *address)
{
    if (address->sa_family == AF_INET) {
        struct sockaddr_in v4;
        memcpy(&v4, address, sizeof v4);
        return is_public_v4((const uint8_t *)&v4.sin_addr);
    }
    if (address->sa_family == AF_INET6) {
        struct sockaddr_in6 v6;
        memcpy(&v6, address, sizeof v6);
        return is_public_v6((const uint8_t *)&v6.sin6_addr);
    }
    return false;
}
