/* SHA-256 (OpenSSL). Hashing cannot fail for inputs that are in memory. */
#ifndef TIDEMARK_HASH_H
#define TIDEMARK_HASH_H

#include "tidemark/slice.h"

void tide_sha256(uint8_t out[TIDE_HASH_BYTES], tide_slice in);

/* Streaming. The body is opaque; aligned for the library's context. */
struct tide_sha256 {
    _Alignas(16) uint8_t body[128];
};
void tide_sha256_init(struct tide_sha256 *h);
void tide_sha256_update(struct tide_sha256 *h, tide_slice in);
void tide_sha256_final(struct tide_sha256 *h, uint8_t out[TIDE_HASH_BYTES]);

/* True when signature (64 bytes) over message is of key (32 bytes): plain Ed25519. */
bool tide_ed25519_holds(const uint8_t *key, tide_slice signature, tide_slice message);

/* networkId = SHA-256 of the passphrase. */
void tide_network_id(uint8_t out[TIDE_HASH_BYTES], tide_slice passphrase);

#endif
