/* SHA-256, SHA-512 and HMAC (OpenSSL). Hashing cannot fail for inputs that are in memory. */
#ifndef TIDEMARK_HASH_H
#define TIDEMARK_HASH_H

#include "tidemark/slice.h"

void tide_sha256(uint8_t out[TIDE_HASH_BYTES], tide_slice in);

/* A hash that is computed in pieces. body is opaque; its alignment is that of the library's
 * context. */
struct tide_sha256 {
    _Alignas(16) uint8_t body[128];
};
void tide_sha256_init(struct tide_sha256 *h);
void tide_sha256_update(struct tide_sha256 *h, tide_slice in);
void tide_sha256_final(struct tide_sha256 *h, uint8_t out[TIDE_HASH_BYTES]);

/* Computes the SHA-512 of a followed by b. */
void tide_sha512(uint8_t out[64], tide_slice a, tide_slice b);

/* Computes the HMAC (RFC 2104) of message with a key of any length. Returns the bytes written: 20,
 * 32 or 64. */
enum tide_hmac { TIDE_HMAC_SHA1, TIDE_HMAC_SHA256, TIDE_HMAC_SHA512 };
#define TIDE_HMAC_BYTES_MAX 64u
size_t tide_hmac(enum tide_hmac algorithm, uint8_t out[TIDE_HMAC_BYTES_MAX], tide_slice key,
                 tide_slice message);
/* Returns whether len bytes are equal, in a time that does not depend on their values. */
bool tide_same_secret(const void *a, const void *b, size_t len);

/* networkId = SHA-256 of the passphrase. */
void tide_network_id(uint8_t out[TIDE_HASH_BYTES], tide_slice passphrase);

#endif
