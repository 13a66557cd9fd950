#include "tidemark/strkey.h"
#include "tidemark/xdr.h"

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/* CRC-16/XMODEM, one table step a byte. */
static uint16_t crc16(const uint8_t *p, size_t len)
{
    /* The 16-entry table of the polynomial 0x1021, a nibble at a time: small. */
    static const uint16_t table[16] = { 0x0000, 0x1021, 0x2042, 0x3063, 0x4084, 0x50a5,
                                        0x60c6, 0x70e7, 0x8108, 0x9129, 0xa14a, 0xb16b,
                                        0xc18c, 0xd1ad, 0xe1ce, 0xf1ef };
    uint16_t crc = 0;
    for (size_t i = 0; i < len; i++) {
        crc = (uint16_t)(crc << 4 ^ table[(crc >> 12 ^ p[i] >> 4) & 15]);
        crc = (uint16_t)(crc << 4 ^ table[(crc >> 12 ^ p[i]) & 15]);
    }
    return crc;
}

static size_t base32(char *out, const uint8_t *in, size_t len)
{
    size_t at = 0;
    for (; len >= 5; len -= 5, in += 5) {
        uint64_t v = (uint64_t)in[0] << 32 | (uint64_t)tide_be32(in + 1);
        for (int shift = 35; shift >= 0; shift -= 5)
            out[at++] = alphabet[v >> shift & 31];
    }
    if (len) {
        uint64_t v = 0;
        for (size_t i = 0; i < 5; i++)
            v = v << 8 | (i < len ? in[i] : 0);
        size_t digits = (len * 8 + 4) / 5;
        for (size_t i = 0; i < digits; i++)
            out[at++] = alphabet[v >> (35 - 5 * i) & 31];
    }
    return at;
}

size_t tide_strkey_encode(char *out, enum tide_strkey kind, tide_slice payload)
{
    uint8_t raw[1 + TIDE_STRKEY_PAYLOAD_MAX + 2];
    assert(payload.len <= TIDE_STRKEY_PAYLOAD_MAX);
    raw[0] = (uint8_t)kind;
    memcpy(raw + 1, payload.ptr, payload.len);
    uint16_t crc = crc16(raw, 1 + payload.len);
    raw[1 + payload.len] = (uint8_t)crc;
    raw[2 + payload.len] = (uint8_t)(crc >> 8);
    return base32(out, raw, payload.len + 3);
}

static int base32_value(uint8_t c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    return c >= '2' && c <= '7' ? c - '2' + 26 : -1;
}

/* Bytes of text into raw (room for them all); 0 when the text is not canonical base32. */
static size_t base32_decode(uint8_t *raw, tide_slice text)
{
    uint32_t bits = 0;
    int held = 0;
    size_t at = 0;
    for (size_t i = 0; i < text.len; i++) {
        int digit = base32_value(text.ptr[i]);
        if (digit < 0)
            return 0;
        bits = (bits << 5 | (uint32_t)digit) & 0xfff;
        held += 5;
        if (held >= 8) {
            held -= 8;
            raw[at++] = (uint8_t)(bits >> held);
        }
    }
    bool spare = (bits & ((1u << held) - 1)) != 0;
    return spare || held >= 5 ? 0 : at;
}

static bool payload_fits(uint8_t version, const uint8_t *payload, size_t len)
{
    switch (version) {
    case TIDE_STRKEY_ACCOUNT:
    case TIDE_STRKEY_CONTRACT:
    case TIDE_STRKEY_LIQUIDITY_POOL:
    case TIDE_STRKEY_SEED:
    case TIDE_STRKEY_PRE_AUTH_TX:
    case TIDE_STRKEY_HASH_X:
        return len == 32;
    case TIDE_STRKEY_MUXED:
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
    case 2: {
        if (len != 40)
            return 0;
        uint8_t swapped[40]; /* the wire has the id first, the text the key */
        memcpy(swapped, body + 8, 32);
        memcpy(swapped + 32, body, 8);
        return tide_strkey_encode(out, TIDE_STRKEY_MUXED, tide_slice_of(swapped, 40));
    }
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
        out[3] = 2;
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
