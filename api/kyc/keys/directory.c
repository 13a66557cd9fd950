/* Looks up integrators, keys and origins in a copy. */
#include "api/kyc/keys/directory.h"

#include <stdlib.h>

static const struct {
    const char *word;
    uint32_t scope;
} scopes[] = {
    { "kyc", TIDE_KYC_SCOPE_KYC },
    { "snapshot", TIDE_KYC_SCOPE_SNAPSHOT },
    { "webhooks", TIDE_KYC_SCOPE_WEBHOOKS },
    { "receipts", TIDE_KYC_SCOPE_RECEIPTS },
};

static_assert((TIDE_KYC_SCOPE_KYC ^ TIDE_KYC_SCOPE_SNAPSHOT ^ TIDE_KYC_SCOPE_WEBHOOKS ^
               TIDE_KYC_SCOPE_RECEIPTS) == (1 << TIDE_COUNT(scopes)) - 1,
              "a bit of its own for each scope");

struct tide_kyc_directory *tide_kyc_directory_new(void)
{
    return calloc(1, sizeof(struct tide_kyc_directory));
}

uint32_t tide_kyc_scope_of(tide_slice word)
{
    for (size_t i = 0; i < TIDE_COUNT(scopes); i++)
        if (tide_slice_eq_str(word, scopes[i].word))
            return scopes[i].scope;
    return 0;
}

static int by_hash(const void *a, const void *b)
{
    const struct tide_kyc_key *one = a, *other = b;
    return memcmp(one->hash, other->hash, sizeof one->hash);
}

void tide_kyc_directory_sort(struct tide_kyc_directory *directory)
{
    assert(directory->key_count <= TIDE_COUNT(directory->keys));
    qsort(directory->keys, directory->key_count, sizeof directory->keys[0], by_hash);
}

const struct tide_kyc_integrator *
tide_kyc_directory_integrator(const struct tide_kyc_directory *directory, tide_slice id)
{
    assert(directory->integrator_count <= TIDE_COUNT(directory->integrators));
    for (uint32_t i = 0; i < directory->integrator_count; i++)
        if (tide_slice_eq_str(id, directory->integrators[i].id))
            return &directory->integrators[i];
    return NULL;
}

/* Finds the key by binary search. The keys are hashes, so the time of the search reveals nothing
 * about a key. */
struct tide_kyc_key *tide_kyc_directory_key(struct tide_kyc_directory *directory,
                                            const uint8_t hash[TIDE_HASH_BYTES])
{
    uint32_t low = 0, high = directory->key_count;
    assert(high <= TIDE_COUNT(directory->keys));
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int order = memcmp(directory->keys[middle].hash, hash, TIDE_HASH_BYTES);
        if (order == 0)
            return &directory->keys[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

bool tide_kyc_directory_origin(const struct tide_kyc_directory *directory, tide_slice origin)
{
    assert(directory->integrator_count <= TIDE_COUNT(directory->integrators));
    for (uint32_t i = 0; i < directory->integrator_count; i++)
        for (uint32_t k = 0; k < directory->integrators[i].origin_count; k++)
            if (tide_slice_eq_str(origin, directory->integrators[i].origins[k]))
                return true;
    return false;
}
