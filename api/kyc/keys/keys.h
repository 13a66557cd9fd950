/* The integrators and API keys that are valid now: a copy of the database's rows in memory, which a
 * thread keeps up to date.
 *
 * Fresh    the thread compares the revision twice a second
 * Away     without the database the copy stays valid for TIDE_KYC_KEYS_TRUST_MS. After that no key
 *          is accepted, because it may have been revoked
 * Threads  any thread may call. A look-up holds a mutex; no call to the database does */
#ifndef API_KYC_KEYS_KEYS_H
#define API_KYC_KEYS_KEYS_H

#include "api/kyc/keys/directory.h"
#include "tidemark/clock.h"

#define TIDE_KYC_KEYS_TRUST_MS 600000

struct tide_kyc_keys; /* opaque */

/* Borrows conninfo; NULL: libpq's environment. Does not connect. */
tide_status tide_kyc_keys_open(struct tide_kyc_keys **out, const char *conninfo,
                               const struct tide_clock *clock, struct tide_err *err) TIDE_MUST_USE;
/* Reads the copy once if the database answers, so that the first request finds it. Then starts the
 * thread. TIDE_E_IO: no thread could be created. */
tide_status tide_kyc_keys_start(struct tide_kyc_keys *keys, struct tide_err *err) TIDE_MUST_USE;
void tide_kyc_keys_close(struct tide_kyc_keys *keys); /* NULL is allowed */

/* Replaces the copy, as read at at_ms of the clock, and takes ownership of directory. */
void tide_kyc_keys_take(struct tide_kyc_keys *keys, struct tide_kyc_directory *directory,
                        int64_t at_ms);

enum tide_kyc_key_verdict {
    TIDE_KYC_KEY_GOOD,
    TIDE_KYC_KEY_UNKNOWN, /* unknown, not yet valid, or ended */
    TIDE_KYC_KEY_NETWORK, /* not allowed from the client's address */
    TIDE_KYC_KEY_AWAY,    /* cannot be checked: no copy, or too old */
};

/* Rights of an accepted key. */
struct tide_kyc_key_use {
    uint8_t hash[TIDE_HASH_BYTES];
    char integrator[TIDE_KYC_WORD_BYTES];
    uint32_t scopes, rate, burst;
};

/* Checks a key. from is the client's address behind trusted proxies; NULL for a request whose key
 * was checked before: the networks of the key are then ignored. Fills *out if the verdict is
 * GOOD. */
enum tide_kyc_key_verdict tide_kyc_keys_check(struct tide_kyc_keys *keys,
                                              struct tide_kyc_key_use *out, tide_slice key,
                                              const struct tide_peer *from);
/* Copies the integrator with that id. Returns false if there is none. */
bool tide_kyc_keys_integrator(struct tide_kyc_keys *keys, struct tide_kyc_integrator *out,
                              tide_slice id);
/* True if an integrator has registered exactly that origin. */
bool tide_kyc_keys_origin(struct tide_kyc_keys *keys, tide_slice origin);

struct tide_kyc_keys_figures {
    uint32_t integrators, keys;
    int64_t age_ms; /* age of the last successful check; -1: no copy yet */
};
struct tide_kyc_keys_figures tide_kyc_keys_figures(struct tide_kyc_keys *keys);

#endif
