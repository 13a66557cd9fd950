/* The keys that receipts are signed with: api_receipt_keys, a comma list of PEM files. The first
 * key of the first file signs and is private (PKCS #8, Ed25519). All keys of all files are
 * published at /.well-known/jwks.json; of the others the public half is enough.
 *
 * Refused   a file that others may read, a key of another kind, a key twice, more than
 *           TIDE_RECEIPT_KEYS_MAX, the file of attester_key. While the registry names the signing
 *           key as a verifier, nothing is signed (tide_receipt_keys_watch).
 * Withdrawn a key of chain.withdrawn_key is neither published nor signs, whatever the files hold.
 *           The cache tells which. While no cache is there, or the database was last
 *           reached more than stale_after_ms ago, no key is published and nothing is signed.
 * Emptied   a file of no bytes holds no key. If it is the first one, nothing is signed.
 * Names     one without a slash is a systemd credential: $CREDENTIALS_DIRECTORY/tidemark_NAME.
 * Rotation  tide_receipt_keys_reload reads the files again. What is wrong with them changes
 *           nothing.
 * Threads   any. A set of keys lives until the last thread that uses it has released it. */
#ifndef API_ROUTES_RECEIPT_KEYS_H
#define API_ROUTES_RECEIPT_KEYS_H

#include "schema/reader/jws.h"
#include "schema/store/hot.h"
#include "tidemark/config.h"

#define TIDE_RECEIPT_KEYS_MAX 16u

struct tide_receipt_keys; /* opaque */

/* Without api_receipt_keys there is no key, and jwks.json is empty. TIDE_E_CONFIG says which file
 * is wrong, or that api_receipt_issuer is not set. */
tide_status tide_receipt_keys_open(struct tide_receipt_keys **out, const struct tide_config *config,
                                   struct tide_err *err) TIDE_MUST_USE;
void tide_receipt_keys_close(struct tide_receipt_keys *keys); /* NULL is fine */

/* Whether receipts are signed now. Takes no lock. */
bool tide_receipt_keys_may_sign(const struct tide_receipt_keys *keys);
/* Appends the document of jwks.json. False, and nothing is appended: it is not known which keys
 * were withdrawn. host_ms is tide_clock's now_ms, here and below. */
bool tide_receipt_keys_put_jwks(struct tide_receipt_keys *keys, int64_t host_ms,
                                struct tide_buf *out) TIDE_MUST_USE;
/* How many keys of the files are withdrawn. */
uint32_t tide_receipt_keys_withdrawn(struct tide_receipt_keys *keys);

/* Looks in the cache which keys were withdrawn, and whether the signing key belongs to a verifier
 * of the registry: such a key puts attestations on the chain. At start, then once a second, by the
 * thread that reloads. */
void tide_receipt_keys_watch(struct tide_receipt_keys *keys, struct tide_hot_reader *reader,
                             int64_t host_ms);
/* Reads the files again, and looks in the cache before a key of them counts. */
tide_status tide_receipt_keys_reload(struct tide_receipt_keys *keys, struct tide_hot_reader *reader,
                                     int64_t host_ms, struct tide_err *err) TIDE_MUST_USE;

/* The keys as read at one time. */
struct tide_receipt_set {
    struct tide_sign *signer; /* NULL: none */
    struct tide_buf header;   /* of receipts that it signs: base64url */
    bool emptied;             /* the first file is empty */
    uint32_t count;
    uint8_t keys[TIDE_RECEIPT_KEYS_MAX][TIDE_HASH_BYTES];
    uint32_t users; /* under the mutex of the keys */
};
struct tide_receipt_set *tide_receipt_keys_use(struct tide_receipt_keys *keys);
void tide_receipt_keys_release(struct tide_receipt_keys *keys, struct tide_receipt_set *set);
/* Whether the private key of `public` is the one that signs. */
bool tide_receipt_keys_is_signer(struct tide_receipt_keys *keys,
                                 const uint8_t public[TIDE_HASH_BYTES]);

#endif
