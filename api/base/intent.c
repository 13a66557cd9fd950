#include "api/base/intent.h"
#include "tidemark/hash.h"

/* A NUL ends each field. PostgreSQL's texts contain none, so different rows give different
 * messages. */
void tide_intent_mac(uint8_t out[TIDE_HASH_BYTES], const uint8_t key[TIDE_HASH_BYTES],
                     const uint8_t network_id[TIDE_HASH_BYTES],
                     const char *const fields[TIDE_INTENT_FIELDS])
{
    struct tide_sha256 h;
    uint8_t digest[TIDE_HASH_BYTES], mac[TIDE_HMAC_BYTES_MAX];
    tide_sha256_init(&h);
    tide_sha256_update(&h, TIDE_SLICE("tidemark-intent-1"));
    tide_sha256_update(&h, tide_slice_of(network_id, TIDE_HASH_BYTES));
    for (size_t i = 0; i < TIDE_INTENT_FIELDS; i++) {
        assert(fields[i]);
        tide_sha256_update(&h, tide_slice_of(fields[i], strlen(fields[i]) + 1));
    }
    tide_sha256_final(&h, digest);
    size_t len = tide_hmac(TIDE_HMAC_SHA256, mac, tide_slice_of(key, TIDE_HASH_BYTES),
                           tide_slice_of(digest, sizeof digest));
    assert(len == TIDE_HASH_BYTES);
    memcpy(out, mac, len);
}

bool tide_intent_genuine(const uint8_t *mac, size_t mac_len, const uint8_t key[TIDE_HASH_BYTES],
                         const uint8_t network_id[TIDE_HASH_BYTES],
                         const char *const fields[TIDE_INTENT_FIELDS])
{
    uint8_t want[TIDE_HASH_BYTES];
    tide_intent_mac(want, key, network_id, fields);
    return mac_len == sizeof want && tide_same_secret(want, mac, sizeof want);
}
