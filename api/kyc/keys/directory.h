/* Integrators and their keys, as they were at one time. Filled once, then immutable.
 *
 * Memory   all of it is allocated at once, for as many as there may be: about 2 MiB
 * Threads  any number may read */
#ifndef API_KYC_KEYS_DIRECTORY_H
#define API_KYC_KEYS_DIRECTORY_H

#include "api/http/peer.h"
#include "api/kyc/base/brand.h"
#include "api/kyc/base/settings.h"
#include "tidemark/hash.h"
#include "tidemark/pg.h"

#include <stdatomic.h>

#define TIDE_KYC_INTEGRATORS_MAX 256u
#define TIDE_KYC_KEYS_MAX        1024u
#define TIDE_KYC_ORIGINS_MAX     16u
#define TIDE_KYC_KEY_ID_BYTES    16u /* tk_ and 12 characters, NUL-terminated */

/* Bits of a key's scopes. */
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
    bool branded; /* false: the KYC file's brand counts */
};

struct tide_kyc_key {
    uint8_t hash[TIDE_HASH_BYTES]; /* SHA-256 of the key */
    char id[TIDE_KYC_KEY_ID_BYTES];
    char integrator[TIDE_KYC_WORD_BYTES];
    uint32_t scopes;
    uint32_t rate, burst;              /* requests a second, at once; 0: no rate of its own */
    struct tide_peer_proxies networks; /* none: any */
    int64_t not_before, ends_at;       /* unix seconds; 0: no end */
    atomic_bool used;                  /* since told_day was noted */
    int64_t told_day;                  /* of the thread: its last use is in the database */
};

struct tide_kyc_directory {
    uint32_t integrator_count, key_count;
    struct tide_kyc_integrator integrators[TIDE_KYC_INTEGRATORS_MAX]; /* by id */
    struct tide_kyc_key keys[TIDE_KYC_KEYS_MAX];                      /* by hash */
};

/* Owned by the caller (free). NULL without memory. */
struct tide_kyc_directory *tide_kyc_directory_new(void);
/* Reads all integrators and the keys of active ones that are not revoked and have not ended. */
tide_status tide_kyc_directory_read(struct tide_kyc_directory *out, struct tide_pg *pg,
                                    struct tide_err *err) TIDE_MUST_USE;
/* Brings keys into the order that look-ups need. */
void tide_kyc_directory_sort(struct tide_kyc_directory *directory);

/* NULL when there is none such. */
const struct tide_kyc_integrator *
tide_kyc_directory_integrator(const struct tide_kyc_directory *directory, tide_slice id);
struct tide_kyc_key *tide_kyc_directory_key(struct tide_kyc_directory *directory,
                                            const uint8_t hash[TIDE_HASH_BYTES]);
/* True when some integrator registered exactly that origin; of "" and "null" never. */
bool tide_kyc_directory_origin(const struct tide_kyc_directory *directory, tide_slice origin);
/* The bit of a word of kyc.integrator_key.scopes; 0: unknown. */
uint32_t tide_kyc_scope_of(tide_slice word);
const char *tide_kyc_scope_text(uint32_t scope); /* of one bit */

#endif
