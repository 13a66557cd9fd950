/* strkey (SEP-23): addresses as text. Base32 without padding of
 * version || payload || CRC-16/XMODEM (little-endian). */
#ifndef TIDEMARK_STRKEY_H
#define TIDEMARK_STRKEY_H

#include "tidemark/slice.h"
#include "tidemark/status.h"

enum tide_strkey {
    TIDE_STRKEY_ACCOUNT = 6 << 3,           /* G, 32 bytes                              */
    TIDE_STRKEY_MUXED = 12 << 3,            /* M, 40 bytes: key, then id big-endian     */
    TIDE_STRKEY_CONTRACT = 2 << 3,          /* C, 32 bytes                              */
    TIDE_STRKEY_MUXED_CONTRACT = 22 << 3,   /* W, 40 bytes: contract, then id big-endian */
    TIDE_STRKEY_LIQUIDITY_POOL = 11 << 3,   /* L, 32 bytes                              */
    TIDE_STRKEY_CLAIMABLE_BALANCE = 1 << 3, /* B, 33 bytes: type 0, then 32             */
    TIDE_STRKEY_SEED = 18 << 3,             /* S, 32 bytes: secret, never logged        */
    TIDE_STRKEY_PRE_AUTH_TX = 19 << 3,      /* T, 32 bytes                              */
    TIDE_STRKEY_HASH_X = 23 << 3,           /* X, 32 bytes                              */
    TIDE_STRKEY_SIGNED_PAYLOAD = 15 << 3,   /* P, 32 + u32 length + payload + padding   */
};

#define TIDE_STRKEY_TEXT_MAX    165u
#define TIDE_STRKEY_PAYLOAD_MAX 100u
#define TIDE_STRKEY_ADDRESS_MAX 69u /* longest text of an SCAddress (M…, W…) */

/* Version and CRC take 3 bytes, a character has 5 bits. */
static_assert(TIDE_STRKEY_TEXT_MAX == ((TIDE_STRKEY_PAYLOAD_MAX + 3) * 8 + 4) / 5, "base32");
static_assert(TIDE_STRKEY_ADDRESS_MAX == ((40 + 3) * 8 + 4) / 5, "base32 of a muxed address");
static_assert(TIDE_STRKEY_SIGNED_PAYLOAD < 1 << 8, "a version is one byte");

/* Writes the text without NUL and returns its length. The payload must have the length of its
 * kind. */
size_t tide_strkey_encode(char *out, enum tide_strkey kind, tide_slice payload);

/* Decodes a strkey strictly: alphabet, length, spare bits, version, payload length and CRC. Sets
 * the kind, the payload (room for TIDE_STRKEY_PAYLOAD_MAX) and its length. TIDE_E_DECODE for any
 * other text. */
tide_status tide_strkey_decode(enum tide_strkey *kind, uint8_t *payload, size_t *payload_len,
                               tide_slice text) TIDE_MUST_USE;

/* Writes an SCAddress in XDR as text. Returns the length, or 0 if it is no SCAddress. out has room
 * for TIDE_STRKEY_ADDRESS_MAX. */
size_t tide_strkey_from_address(char *out, tide_slice address_xdr);

#define TIDE_STRKEY_XDR_MAX 44u /* longest SCAddress (M…, W…) */

/* Encodes G…, C…, M…, W…, B… or L… as SCAddress XDR. Returns the length, or 0 for any other text.
 * out has room for TIDE_STRKEY_XDR_MAX. */
size_t tide_strkey_to_address(uint8_t *out, tide_slice text);

#endif
