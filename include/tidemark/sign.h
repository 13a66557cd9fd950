/* Ed25519 (RFC 8032, libsodium): key pairs, signing and verifying.
 *
 * Secrets  tide_sign_open copies the seed; tide_sign_close wipes the copy. No message of this file
 *          contains a seed. The time that signing takes does not depend on it.
 * Threads  any number of threads may use an open key at the same time. */
#ifndef TIDEMARK_SIGN_H
#define TIDEMARK_SIGN_H

#include "tidemark/slice.h"
#include "tidemark/status.h"

#define TIDE_SEED_BYTES      32u
#define TIDE_SIGNATURE_BYTES 64u
static_assert(TIDE_SEED_BYTES == TIDE_HASH_BYTES, "strkeys of seeds and keys have one length");

struct tide_sign; /* opaque: one key pair */

/* Opens the key pair of a seed. The caller wipes its own copy of the seed (tide_sign_wipe).
 * TIDE_E_MEMORY. */
tide_status tide_sign_open(struct tide_sign **out,
                           const uint8_t seed[TIDE_SEED_BYTES]) TIDE_MUST_USE;
void tide_sign_close(struct tide_sign *key); /* NULL is allowed */

/* Reads the next key of a PEM text: PRIVATE KEY (PKCS #8, not encrypted) or PUBLIC KEY. *pem
 * becomes the text after it. *out is the pair, or NULL for a public key. The caller wipes the text.
 * TIDE_E_EOF: there is no further key. TIDE_E_CONFIG: a key of another kind, or malformed. */
tide_status tide_sign_pem(struct tide_sign **out, uint8_t public[TIDE_HASH_BYTES],
                          tide_slice *pem) TIDE_MUST_USE;

/* Returns the public key, 32 bytes, valid as long as the key is open. */
const uint8_t *tide_sign_public(const struct tide_sign *key);

/* Signs the message itself. To sign a transaction, pass its hash. */
void tide_sign(const struct tide_sign *key, uint8_t out[TIDE_SIGNATURE_BYTES], tide_slice message);

/* Returns whether the signature (64 bytes) of the message is valid for the key (32 bytes), by the
 * rules of stellar-core: keys of small order and non-canonical signatures are rejected. */
bool tide_ed25519_holds(const uint8_t *key, tide_slice signature, tide_slice message);

/* Overwrites secret bytes. The compiler cannot remove this write. */
void tide_sign_wipe(void *bytes, size_t len);

#endif
