/* Integrators and their API keys at one point in time. Filled once, then constant, except for the
 * marks of a key's use.
 *
 * Memory   one allocation with room for the maximum: about 2 MiB
 * Threads  any number of readers */
#ifndef API_KYC_KEYS_DIRECTORY_H
#define API_KYC_KEYS_DIRECTORY_H

#include "api/http/peer.h"
#include "api/kyc/base/settings.h"
#include "tidemark/brand.h"
#include "tidemark/hash.h"
#include "tidemark/pg.h"

#include <stdatomic.h>

#define TIDE_KYC_INTEGRATORS_MAX 256u
#define TIDE_KYC_KEYS_MAX        1024u
#define TIDE_KYC_ORIGINS_MAX     16u
#define TIDE_KYC_KEY_ID_BYTES    16u /* "tk_" and 12 characters, NUL-terminated */

/* Bits of tide_kyc_key.scopes. */
enum tide_kyc_scope {
    TIDE_KYC_SCOPE_KYC = 1,
    TIDE_KYC_SCOPE_SNAPSHOT = 2,
    TIDE_KYC_SCOPE_WEBHOOKS = 4,
    TIDE_KYC_SCOPE_RECEIPTS = 8,
};

struct tide_kyc_integrator {
    char id[TIDE_KYC_WORD_BYTES];
    char name[TIDE_KYC_TEXT_BYTES];
    char origins[TIDE_KYC_ORIGINS_MAX][TIDE_KYC_TEXT_BYTES]; /* scheme://host[:port] */
    uint32_t origin_count;
    uint32_t sessions_per_hour;
    struct tide_kyc_brand brand;
    bool branded; /* false: the pages use the brand of the KYC file */
};

struct tide_kyc_key {
    uint8_t hash[TIDE_HASH_BYTES]; /* SHA-256 of the key */
    char id[TIDE_KYC_KEY_ID_BYTES];
    char integrator[TIDE_KYC_WORD_BYTES];
    uint32_t scopes;
    /* requests per second; requests at once. 0: the rate of keys without their own */
    uint32_t rate, burst;
    struct tide_peer_proxies networks; /* empty: any network */
    int64_t not_before, ends_at;       /* unix seconds; ends_at 0: no end */
    atomic_bool used;                  /* set by a request; cleared when the use is stored */
    /* only for the thread: day of the last stored use, days since 1970 */
    int64_t noted_day;
};

struct tide_kyc_directory {
    uint32_t integrator_count, key_count;
    struct tide_kyc_integrator integrators[TIDE_KYC_INTEGRATORS_MAX]; /* sorted by id */
    struct tide_kyc_key keys[TIDE_KYC_KEYS_MAX];                      /* sorted by hash */
};

/* Returns an empty directory that the caller frees with free, or NULL without memory. */
struct tide_kyc_directory *tide_kyc_directory_new(void);
/* Reads all integrators, and those keys of active integrators that are neither revoked nor ended.
 * TIDE_E_LIMIT: more rows than the directory holds. */
tide_status tide_kyc_directory_read(struct tide_kyc_directory *out, struct tide_pg *pg,
                                    struct tide_err *err) TIDE_MUST_USE;
/* Sorts the keys by hash, as look-ups need them. */
void tide_kyc_directory_sort(struct tide_kyc_directory *directory);

/* Returns the integrator with that id, or NULL. */
const struct tide_kyc_integrator *
tide_kyc_directory_integrator(const struct tide_kyc_directory *directory, tide_slice id);
/* Returns the key with that SHA-256, or NULL. */
struct tide_kyc_key *tide_kyc_directory_key(struct tide_kyc_directory *directory,
                                            const uint8_t hash[TIDE_HASH_BYTES]);
/* True if an integrator has registered exactly that origin; never for "" and "null". */
bool tide_kyc_directory_origin(const struct tide_kyc_directory *directory, tide_slice origin);
/* Returns the bit of a word of kyc.integrator_key.scopes, or 0 for an unknown word. */
uint32_t tide_kyc_scope_of(tide_slice word);

#endif
