/* The keys of receipts: api_receipt_keys, a comma list of PEM files. The first key of the first
 * file signs and must be private (PKCS #8, Ed25519). All keys of all files are published at
 * /.well-known/jwks.json; for the others the public half suffices.
 *
 * Rejected  A file that others may read, a key of another kind, a duplicate key, more than
 *           TIDE_RECEIPT_KEYS_MAX keys, the file of attester_key. While the registry names the
 *           signing key as a verifier, nothing is signed (tide_receipt_keys_watch).
 * Withdrawn A key in chain.withdrawn_key is neither published nor signs, whatever the files
 *           contain. The cache holds these keys. Without a cache, or if the database was last
 *           reached more than stale_after_ms ago, no key is published and nothing is signed.
 * Emptied   An empty file holds no key. If it is the first file, nothing is signed.
 * Names     A name without a slash is a systemd credential: $CREDENTIALS_DIRECTORY/tidemark_NAME.
 * Rotation  tide_receipt_keys_reload reads the files again. If one is wrong, nothing changes.
 * Threads   Any. A set of keys lives until the last thread that uses it has released it. */
#ifndef API_ROUTES_RECEIPT_KEYS_H
#define API_ROUTES_RECEIPT_KEYS_H

#include "tidemark/config.h"
#include "tidemark/hot.h"
#include "tidemark/jws.h"

#include <stdatomic.h>

#define TIDE_RECEIPT_KEYS_MAX 16u

struct tide_receipt_keys; /* opaque */

/* Reads the files. Without api_receipt_keys there is no key, and jwks.json is empty. Fails with
 * TIDE_E_CONFIG and names the wrong file, or if api_receipt_issuer is not set. */
tide_status tide_receipt_keys_open(struct tide_receipt_keys **out, const struct tide_config *config,
                                   struct tide_err *err) TIDE_MUST_USE;
void tide_receipt_keys_close(struct tide_receipt_keys *keys); /* NULL is allowed */

/* Returns whether receipts are signed now. Takes no lock. The keys may change right after it:
 * tide_receipt_set_signer decides. */
bool tide_receipt_keys_may_sign(const struct tide_receipt_keys *keys);
/* Appends the document of jwks.json. Returns false, and appends nothing, if it is not known
 * which keys were withdrawn. host_ms: tide_clock's now_ms, here and below. */
bool tide_receipt_keys_put_jwks(struct tide_receipt_keys *keys, int64_t host_ms,
                                struct tide_buf *out) TIDE_MUST_USE;
/* Returns how many keys of the files are withdrawn. */
uint32_t tide_receipt_keys_withdrawn(struct tide_receipt_keys *keys);

/* Checks in the cache which keys were withdrawn, and whether the signing key belongs to a
 * verifier of the registry: such a key could put attestations on the chain. Called at the start,
 * then once a second, by the thread that reloads. */
void tide_receipt_keys_watch(struct tide_receipt_keys *keys, struct tide_hot_reader *reader,
                             int64_t host_ms);
/* Reads the files again, and checks the cache before a new key is used. On failure the old keys
 * stay. */
tide_status tide_receipt_keys_reload(struct tide_receipt_keys *keys, struct tide_hot_reader *reader,
                                     int64_t host_ms, struct tide_err *err) TIDE_MUST_USE;

/* A set of keys, as read at one time. Constant, except may_sign and users. */
struct tide_receipt_set {
    struct tide_sign *signer; /* NULL: nothing is signed */
    atomic_bool may_sign;     /* as last watched: the signer exists and may be used */
    struct tide_buf header;   /* the header of signed receipts, base64url */
    bool emptied;             /* the first file is empty: it must not be replaced by the next key */
    uint32_t count;
    uint8_t keys[TIDE_RECEIPT_KEYS_MAX][TIDE_HASH_BYTES];
    uint32_t users; /* guarded by the mutex of tide_receipt_keys */
};
/* Returns the current set, which stays valid until tide_receipt_keys_release. */
struct tide_receipt_set *tide_receipt_keys_use(struct tide_receipt_keys *keys);
void tide_receipt_keys_release(struct tide_receipt_keys *keys, struct tide_receipt_set *set);
/* Returns the key with which a user of the set may sign now, or NULL. It lives as long as the
 * set is used. */
const struct tide_sign *tide_receipt_set_signer(const struct tide_receipt_set *set);
/* Returns whether the private key of `public` signs now. */
bool tide_receipt_keys_is_signer(struct tide_receipt_keys *keys,
                                 const uint8_t public[TIDE_HASH_BYTES]);

#endif
