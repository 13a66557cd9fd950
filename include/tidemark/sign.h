/* Ed25519 (RFC 8032, libsodium): key pairs, signatures, their verification.
 *
 * Secrets  a seed is read when a key is opened, kept with it and wiped when it is closed; no
 *          message of this file says any of it. The work of signing does not depend on it.
 * Threads  an open key may be used by any, at the same time. */
#ifndef TIDEMARK_SIGN_H
#define TIDEMARK_SIGN_H

#include "tidemark/slice.h"
#include "tidemark/status.h"

#define TIDE_SEED_BYTES      32u
#define TIDE_SIGNATURE_BYTES 64u

struct tide_sign; /* opaque: one key pair */

/* The key pair of a seed; the caller wipes its own copy (tide_sign_wipe). TIDE_E_MEMORY. */
tide_status tide_sign_open(struct tide_sign **out,
                           const uint8_t seed[TIDE_SEED_BYTES]) TIDE_MUST_USE;
void tide_sign_close(struct tide_sign *key); /* NULL is fine */

/* The next key of a text in PEM: PRIVATE KEY (PKCS #8, not encrypted), or PUBLIC KEY. *pem becomes
 * what follows it. *out is the pair, NULL for a public key; the caller wipes the text.
 * TIDE_E_EOF: there is none. TIDE_E_CONFIG: another kind of key, or none at all. */
tide_status tide_sign_pem(struct tide_sign **out, uint8_t public[TIDE_HASH_BYTES],
                          tide_slice *pem) TIDE_MUST_USE;

/* The public key, 32 bytes, as long as the key is open. */
const uint8_t *tide_sign_public(const struct tide_sign *key);

/* Signs the message as it is: for a transaction that is its hash. */
void tide_sign(const struct tide_sign *key, uint8_t out[TIDE_SIGNATURE_BYTES], tide_slice message);

/* True when signature (64 bytes) over message is of key (32 bytes), as stellar-core judges it:
 * no key of small order, no second form of a signature. */
bool tide_ed25519_holds(const uint8_t *key, tide_slice signature, tide_slice message);

/* Overwrites bytes that were secret; never left out by the compiler. */
void tide_sign_wipe(void *bytes, size_t len);

#endif
