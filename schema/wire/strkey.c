#include "tidemark/strkey.h"
#include "tidemark/xdr.h"

/* CRC-16/XMODEM is linear: the remainders of the sixteen nibbles of eight bytes are looked up
 * independently and added. Row n belongs to the nibble that 15 - n nibbles follow. */
static const uint16_t crc_table[16][16] = {
    { 0x0000, 0x3db4, 0x7b68, 0x46dc, 0xf6d0, 0xcb64, 0x8db8, 0xb00c, 0xfd81, 0xc035, 0x86e9,
      0xbb5d, 0x0b51, 0x36e5, 0x7039, 0x4d8d },
    { 0x0000, 0x47d3, 0x8fa6, 0xc875, 0x0f6d, 0x48be, 0x80cb, 0xc718, 0x1eda, 0x5909, 0x917c,
      0xd6af, 0x11b7, 0x5664, 0x9e11, 0xd9c2 },
    { 0x0000, 0x377b, 0x6ef6, 0x598d, 0xddec, 0xea97, 0xb31a, 0x8461, 0xabf9, 0x9c82, 0xc50f,
      0xf274, 0x7615, 0x416e, 0x18e3, 0x2f98 },
    { 0x0000, 0xb861, 0x60e3, 0xd882, 0xc1c6, 0x79a7, 0xa125, 0x1944, 0x93ad, 0x2bcc, 0xf34e,
      0x4b2f, 0x526b, 0xea0a, 0x3288, 0x8ae9 },
    { 0x0000, 0x1a84, 0x3508, 0x2f8c, 0x6a10, 0x7094, 0x5f18, 0x459c, 0xd420, 0xcea4, 0xe128,
      0xfbac, 0xbe30, 0xa4b4, 0x8b38, 0x91bc },
    { 0x0000, 0x45a0, 0x8b40, 0xcee0, 0x06a1, 0x4301, 0x8de1, 0xc841, 0x0d42, 0x48e2, 0x8602,
      0xc3a2, 0x0be3, 0x4e43, 0x80a3, 0xc503 },
    { 0x0000, 0x045a, 0x08b4, 0x0cee, 0x1168, 0x1532, 0x19dc, 0x1d86, 0x22d0, 0x268a, 0x2a64,
      0x2e3e, 0x33b8, 0x37e2, 0x3b0c, 0x3f56 },
    { 0x0000, 0xaa51, 0x4483, 0xeed2, 0x8906, 0x2357, 0xcd85, 0x67d4, 0x022d, 0xa87c, 0x46ae,
      0xecff, 0x8b2b, 0x217a, 0xcfa8, 0x65f9 },
    { 0x0000, 0x1ba7, 0x374e, 0x2ce9, 0x6e9c, 0x753b, 0x59d2, 0x4275, 0xdd38, 0xc69f, 0xea76,
      0xf1d1, 0xb3a4, 0xa803, 0x84ea, 0x9f4d },
    { 0x0000, 0x76b4, 0xed68, 0x9bdc, 0xcaf1, 0xbc45, 0x2799, 0x512d, 0x85c3, 0xf377, 0x68ab,
      0x1e1f, 0x4f32, 0x3986, 0xa25a, 0xd4ee },
    { 0x0000, 0x4363, 0x86c6, 0xc5a5, 0x1dad, 0x5ece, 0x9b6b, 0xd808, 0x3b5a, 0x7839, 0xbd9c,
      0xfeff, 0x26f7, 0x6594, 0xa031, 0xe352 },
    { 0x0000, 0x3730, 0x6e60, 0x5950, 0xdcc0, 0xebf0, 0xb2a0, 0x8590, 0xa9a1, 0x9e91, 0xc7c1,
      0xf0f1, 0x7561, 0x4251, 0x1b01, 0x2c31 },
    { 0x0000, 0x0373, 0x06e6, 0x0595, 0x0dcc, 0x0ebf, 0x0b2a, 0x0859, 0x1b98, 0x18eb, 0x1d7e,
      0x1e0d, 0x1654, 0x1527, 0x10b2, 0x13c1 },
    { 0x0000, 0x3331, 0x6662, 0x5553, 0xccc4, 0xfff5, 0xaaa6, 0x9997, 0x89a9, 0xba98, 0xefcb,
      0xdcfa, 0x456d, 0x765c, 0x230f, 0x103e },
    { 0x0000, 0x1231, 0x2462, 0x3653, 0x48c4, 0x5af5, 0x6ca6, 0x7e97, 0x9188, 0x83b9, 0xb5ea,
      0xa7db, 0xd94c, 0xcb7d, 0xfd2e, 0xef1f },
    { 0x0000, 0x1021, 0x2042, 0x3063, 0x4084, 0x50a5, 0x60c6, 0x70e7, 0x8108, 0x9129, 0xa14a,
      0xb16b, 0xc18c, 0xd1ad, 0xe1ce, 0xf1ef },
};

static uint16_t crc_byte(uint16_t crc, uint8_t byte)
{
    uint8_t high = (uint8_t)(crc >> 8 ^ byte);
    return (uint16_t)(crc << 8 ^ crc_table[14][high >> 4] ^ crc_table[15][high & 15]);
}

static uint16_t crc_block(uint16_t crc, const uint8_t *p)
{
    uint64_t block = tide_be64(p) ^ (uint64_t)crc << 48;
    uint16_t sum = 0;
    for (unsigned n = 0; n < 16; n++)
        sum ^= crc_table[n][block >> (60 - 4 * n) & 15];
    return sum;
}

static uint16_t crc16(const uint8_t *p, size_t len)
{
    uint16_t crc = 0;
    for (; len % 8; len--)
        crc = crc_byte(crc, *p++);
    for (; len; len -= 8, p += 8)
        crc = crc_block(crc, p);
    return crc;
}

/* ---- base32, eight characters in one register ---- */

#define LANES 0x0101010101010101u /* a byte times LANES is that byte in each lane */

/* Spreads 40 bits into eight lanes of five bits, the first in the highest lane. */
static uint64_t spread_bits(uint64_t bits)
{
    bits = (bits & 0xfffff00000u) << 12 | (bits & 0xfffffu);
    bits = (bits & 0x000ffc00000ffc00u) << 6 | (bits & 0x000003ff000003ffu);
    return (bits & 0x03e003e003e003e0u) << 3 | (bits & 0x001f001f001f001fu);
}

static uint64_t gather_bits(uint64_t lanes)
{
    lanes = (lanes & 0x1f001f001f001f00u) >> 3 | (lanes & 0x001f001f001f001fu);
    lanes = (lanes & 0x03ff000003ff0000u) >> 6 | (lanes & 0x000003ff000003ffu);
    return (lanes & 0x000fffff00000000u) >> 12 | (lanes & 0xfffffu);
}

/* Writes eight characters: 0..25 are A..Z, 26..31 are 2..7. The digits lie 41 below the place where
 * the letters would continue. */
static void put_group(char *out, uint64_t bits)
{
    uint64_t lanes = spread_bits(bits);
    uint64_t digits = (lanes + LANES * (0x80 - 26)) >> 7 & LANES;
    lanes += LANES * 'A' - digits * ('A' + 26 - '2');
    lanes = __builtin_bswap64(lanes);
    memcpy(out, &lanes, 8);
}

/* Decodes eight characters to 40 bits. Returns false if one is not in the alphabet. */
static bool get_group(const uint8_t *in, uint64_t *bits)
{
    uint64_t c = tide_be64(in);
    const uint64_t high = LANES * 0x80;
    uint64_t low = c & ~high; /* seven bits each, so that no sum below carries into the next lane */
    uint64_t letter = (low + LANES * (0x80 - 'A')) & ~(low + LANES * (0x80 - ('Z' + 1))) & high;
    uint64_t digit = (low + LANES * (0x80 - '2')) & ~(low + LANES * (0x80 - ('7' + 1))) & high;
    *bits = gather_bits(low - (letter >> 7) * 'A' - (digit >> 7) * ('2' - 26));
    return ((letter | digit) & ~c & high) == high;
}

static uint64_t five_bytes(const uint8_t *p)
{
    return (uint64_t)p[0] << 32 | tide_be32(p + 1);
}

/* Returns the characters written. */
static size_t base32(char *out, const uint8_t *in, size_t len)
{
    size_t at = 0;
    for (; len >= 5; len -= 5, in += 5, at += 8)
        put_group(out + at, five_bytes(in));
    if (len) {
        uint8_t last[5] = { 0 };
        char group[8];
        size_t digits = (len * 8 + 4) / 5;
        memcpy(last, in, len);
        put_group(group, five_bytes(last));
        memcpy(out + at, group, digits);
        at += digits;
    }
    return at;
}

size_t tide_strkey_encode(char *out, enum tide_strkey kind, tide_slice payload)
{
    uint8_t raw[1 + TIDE_STRKEY_PAYLOAD_MAX + 2];
    assert(payload.len >= 32 && payload.len <= TIDE_STRKEY_PAYLOAD_MAX); /* every kind's length */
    raw[0] = (uint8_t)kind;
    memcpy(raw + 1, payload.ptr, payload.len);
    uint16_t crc = crc16(raw, 1 + payload.len);
    raw[1 + payload.len] = (uint8_t)crc;
    raw[2 + payload.len] = (uint8_t)(crc >> 8);
    return base32(out, raw, payload.len + 3);
}

static void put_five(uint8_t *out, uint64_t bits)
{
    out[0] = (uint8_t)(bits >> 32);
    uint32_t low = __builtin_bswap32((uint32_t)bits);
    memcpy(out + 1, &low, 4);
}

/* Decodes text into raw, which has room for the bytes and 4 more. Returns the length, or 0 if text
 * is no canonical base32. */
static size_t base32_decode(uint8_t *raw, tide_slice text)
{
    assert(text.len <= TIDE_STRKEY_TEXT_MAX);
    size_t at = 0;
    uint64_t bits;
    const uint8_t *in = text.ptr;
    size_t left = text.len;
    for (; left >= 8; left -= 8, in += 8, at += 5) {
        if (!get_group(in, &bits))
            return 0;
        put_five(raw + at, bits);
    }
    if (left == 0)
        return at;
    uint8_t group[8];
    memset(group, 'A', sizeof group); /* zero bits */
    memcpy(group, in, left);
    size_t bytes = left * 5 / 8;
    bool whole = left == 2 || left == 4 || left == 5 || left == 7;
    if (!whole || !get_group(group, &bits) || bits << (24 + 8 * bytes))
        return 0;
    put_five(raw + at, bits);
    return at + bytes;
}

static bool payload_fits(uint8_t version, const uint8_t *payload, size_t len)
{
    assert(len <= TIDE_STRKEY_PAYLOAD_MAX);
    switch (version) {
    case TIDE_STRKEY_ACCOUNT:
    case TIDE_STRKEY_CONTRACT:
    case TIDE_STRKEY_LIQUIDITY_POOL:
    case TIDE_STRKEY_SEED:
    case TIDE_STRKEY_PRE_AUTH_TX:
    case TIDE_STRKEY_HASH_X:
        return len == 32;
    case TIDE_STRKEY_MUXED:
    case TIDE_STRKEY_MUXED_CONTRACT:
        return len == 40;
    case TIDE_STRKEY_CLAIMABLE_BALANCE:
        return len == 33 && payload[0] == 0;
    case TIDE_STRKEY_SIGNED_PAYLOAD: {
        if (len < 40 || len > 100)
            return false;
        uint32_t inner = tide_be32(payload + 32);
        size_t padded = ((size_t)inner + 3) & ~(size_t)3;
        if (inner == 0 || inner > 64 || len != 36 + padded)
            return false;
        for (size_t i = 36 + inner; i < len; i++)
            if (payload[i])
                return false;
        return true;
    }
    default:
        return false;
    }
}

tide_status tide_strkey_decode(enum tide_strkey *kind, uint8_t *payload, size_t *payload_len,
                               tide_slice text)
{
    uint8_t raw[1 + TIDE_STRKEY_PAYLOAD_MAX + 2 + 8];
    if (text.len < 56 || text.len > TIDE_STRKEY_TEXT_MAX)
        return TIDE_E_DECODE;
    size_t len = base32_decode(raw, text);
    if (len < 35 || len > 1 + TIDE_STRKEY_PAYLOAD_MAX + 2)
        return TIDE_E_DECODE;
    uint16_t crc = crc16(raw, len - 2);
    if (raw[len - 2] != (uint8_t)crc || raw[len - 1] != (uint8_t)(crc >> 8))
        return TIDE_E_DECODE;
    if (!payload_fits(raw[0], raw + 1, len - 3))
        return TIDE_E_DECODE;
    *kind = (enum tide_strkey)raw[0];
    *payload_len = len - 3;
    memcpy(payload, raw + 1, len - 3);
    return TIDE_OK;
}

/* Encodes the body of a muxed address. XDR has the id first, the strkey has the key first. */
static size_t encode_muxed(char *out, enum tide_strkey kind, tide_slice body)
{
    uint8_t swapped[40];
    if (body.len != sizeof swapped)
        return 0;
    memcpy(swapped, body.ptr + 8, 32);
    memcpy(swapped + 32, body.ptr, 8);
    return tide_strkey_encode(out, kind, tide_slice_of(swapped, sizeof swapped));
}

size_t tide_strkey_from_address(char *out, tide_slice address)
{
    if (address.len < 4)
        return 0;
    const uint8_t *body = address.ptr + 4;
    size_t len = address.len - 4;
    switch (tide_be32(address.ptr)) {
    case 0:
        return len == 36 ? tide_strkey_encode(out, TIDE_STRKEY_ACCOUNT, tide_slice_of(body + 4, 32))
                         : 0;
    case 1:
        return len == 32 ? tide_strkey_encode(out, TIDE_STRKEY_CONTRACT, tide_slice_of(body, 32))
                         : 0;
    case 2:
        return encode_muxed(out, TIDE_STRKEY_MUXED, tide_slice_of(body, len));
    case 3: {
        if (len != 36)
            return 0;
        uint8_t balance[33] = { 0 };
        memcpy(balance + 1, body + 4, 32);
        return tide_strkey_encode(out, TIDE_STRKEY_CLAIMABLE_BALANCE, tide_slice_of(balance, 33));
    }
    case 4:
        return len == 32
                   ? tide_strkey_encode(out, TIDE_STRKEY_LIQUIDITY_POOL, tide_slice_of(body, 32))
                   : 0;
    case 5:
        return encode_muxed(out, TIDE_STRKEY_MUXED_CONTRACT, tide_slice_of(body, len));
    default:
        return 0;
    }
}

size_t tide_strkey_to_address(uint8_t *out, tide_slice text)
{
    enum tide_strkey kind;
    uint8_t payload[TIDE_STRKEY_PAYLOAD_MAX];
    size_t len;
    if (tide_strkey_decode(&kind, payload, &len, text) != TIDE_OK)
        return 0;
    memset(out, 0, 8);
    switch ((int)kind) {
    case TIDE_STRKEY_ACCOUNT:
        memcpy(out + 8, payload, 32);
        return 40;
    case TIDE_STRKEY_CONTRACT:
        out[3] = 1;
        memcpy(out + 4, payload, 32);
        return 36;
    case TIDE_STRKEY_MUXED:
    case TIDE_STRKEY_MUXED_CONTRACT:
        out[3] = kind == TIDE_STRKEY_MUXED ? 2 : 5;
        memcpy(out + 4, payload + 32, 8);
        memcpy(out + 12, payload, 32);
        return 44;
    case TIDE_STRKEY_CLAIMABLE_BALANCE:
        out[3] = 3;
        memcpy(out + 8, payload + 1, 32);
        return 40;
    case TIDE_STRKEY_LIQUIDITY_POOL:
        out[3] = 4;
        memcpy(out + 4, payload, 32);
        return 36;
    default:
        return 0;
    }
}
