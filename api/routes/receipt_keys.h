/* The keys that receipts are signed with: api_receipt_keys, a comma list of PEM files. The first
 * key of the first file signs and is private (PKCS #8, Ed25519). All keys of all files are
 * published at /.well-known/jwks.json; of the others the public half is enough.
 *
 * Refused   a file that others may read, a key of another kind, a key twice, more than
 *           TIDE_RECEIPT_KEYS_MAX, the file of attester_key. While the registry names the signing
 *           key as a verifier, nothing is signed (tide_receipt_keys_watch).
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
tide_status tide_receipt_keys_reload(struct tide_receipt_keys *keys,
                                     struct tide_err *err) TIDE_MUST_USE;
void tide_receipt_keys_close(struct tide_receipt_keys *keys); /* NULL is fine */

/* Whether receipts are signed now. Takes no lock. */
bool tide_receipt_keys_may_sign(const struct tide_receipt_keys *keys);
/* Looks, at the newest ledger, whether the signing key belongs to a verifier of the registry: such
 * a key puts attestations on the chain. Once a second, of one thread. */
void tide_receipt_keys_watch(struct tide_receipt_keys *keys, struct tide_hot_reader *reader);

/* The keys as read at one time. */
struct tide_receipt_set {
    struct tide_sign *signer; /* NULL: none */
    struct tide_buf header;   /* of receipts that it signs: base64url */
    struct tide_buf jwks;     /* the document */
    uint32_t count;
    uint8_t keys[TIDE_RECEIPT_KEYS_MAX][TIDE_HASH_BYTES];
    uint32_t users; /* under the mutex of the keys */
};
struct tide_receipt_set *tide_receipt_keys_use(struct tide_receipt_keys *keys);
void tide_receipt_keys_release(struct tide_receipt_keys *keys, struct tide_receipt_set *set);

#endif
