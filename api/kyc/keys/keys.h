/* The integrators and keys that count now: the newest copy of the database's, kept by a thread.
 *
 * Fresh    the thread asks twice a second whether something changed
 * Away     without the database the copy counts for TIDE_KYC_KEYS_TRUST_MS; then no key does,
 *          because it may have been revoked
 * Threads  any; a mutex is held for a look-up, never while the database is asked */
#ifndef API_KYC_KEYS_KEYS_H
#define API_KYC_KEYS_KEYS_H

#include "api/kyc/keys/directory.h"
#include "tidemark/clock.h"

#define TIDE_KYC_KEYS_TRUST_MS 600000

struct tide_kyc_keys; /* opaque */

/* conninfo is borrowed; NULL: the environment's. Does not connect. */
tide_status tide_kyc_keys_open(struct tide_kyc_keys **out, const char *conninfo,
                               const struct tide_clock *clock, struct tide_err *err) TIDE_MUST_USE;
/* Reads them, if the database is there, and begins to keep them. */
tide_status tide_kyc_keys_start(struct tide_kyc_keys *keys, struct tide_err *err) TIDE_MUST_USE;
void tide_kyc_keys_close(struct tide_kyc_keys *keys); /* NULL is fine */

/* Makes that copy the one that counts, from now on; takes it over. */
void tide_kyc_keys_take(struct tide_kyc_keys *keys, struct tide_kyc_directory *directory);

enum tide_kyc_key_verdict {
    TIDE_KYC_KEY_GOOD,
    TIDE_KYC_KEY_UNKNOWN, /* of no integrator, or not now                 */
    TIDE_KYC_KEY_NETWORK, /* not from this address                        */
    TIDE_KYC_KEY_AWAY,    /* cannot be known: the copy is missing, or old */
};

/* What a key that was found is good for. */
struct tide_kyc_key_use {
    uint8_t hash[TIDE_HASH_BYTES];
    char integrator[TIDE_KYC_WORD_BYTES];
    uint32_t scopes, rate, burst;
};

/* from: the client behind proxies, the whole address; NULL: of a request that was checked before,
 * networks do not count. *out is filled if GOOD. */
enum tide_kyc_key_verdict tide_kyc_keys_check(struct tide_kyc_keys *keys,
                                              struct tide_kyc_key_use *out, tide_slice key,
                                              const struct tide_peer *from);
/* False when there is none such. */
bool tide_kyc_keys_integrator(struct tide_kyc_keys *keys, struct tide_kyc_integrator *out,
                              tide_slice id);
bool tide_kyc_keys_origin(struct tide_kyc_keys *keys, tide_slice origin);

struct tide_kyc_keys_figures {
    uint32_t integrators, keys;
    int64_t age_ms; /* since the copy was known to be the newest; -1: there is none */
};
struct tide_kyc_keys_figures tide_kyc_keys_figures(struct tide_kyc_keys *keys);

#endif
