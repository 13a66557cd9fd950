#include "indexer/archive/tx_set.h"

#include "tidemark/hash.h"
#include "tidemark/xdr.h"

/* A TransactionHistoryEntry: ledgerSeq, a set as before protocol 20 {previous hash, count,
 * envelopes}, and ext: empty, or the generalized set; then the old set has no envelopes. */
enum { OLD_AT = 4, COUNT_AT = 36, REST_AT = 40, GENERALIZED_AT = 44 };
static_assert(COUNT_AT == OLD_AT + TIDE_HASH_BYTES && REST_AT == COUNT_AT + 4, "fields adjoin");
static_assert(GENERALIZED_AT == REST_AT + 4, "an old set without envelopes, and ext");

static bool has_hash(tide_slice a, tide_slice b, const uint8_t hash[TIDE_HASH_BYTES])
{
    uint8_t made[TIDE_HASH_BYTES];
    struct tide_sha256 h;
    tide_sha256_init(&h);
    tide_sha256_update(&h, a);
    tide_sha256_update(&h, b);
    tide_sha256_final(&h, made);
    return memcmp(made, hash, TIDE_HASH_BYTES) == 0;
}

const uint8_t *tx_set_names(tide_slice set, const uint8_t hash[TIDE_HASH_BYTES])
{
    if (set.len < 4 + TIDE_HASH_BYTES + 4 || tide_be32(set.ptr) != 1)
        return NULL;
    return has_hash(set, (tide_slice){ 0 }, hash) ? set.ptr + 4 : NULL;
}

tide_status tx_set_previous(tide_slice entry, const uint8_t hash[TIDE_HASH_BYTES],
                            const uint8_t **previous)
{
    *previous = NULL;
    if (entry.len < GENERALIZED_AT || entry.len % 4)
        return TIDE_E_DECODE;
    const uint8_t *at = entry.ptr;
    bool generalized = tide_be32(at + COUNT_AT) == 0 && tide_be32(at + REST_AT) == 1;
    if (generalized) {
        tide_slice set = tide_slice_of(at + GENERALIZED_AT, entry.len - GENERALIZED_AT);
        if (set.len < 4 + TIDE_HASH_BYTES + 4 || tide_be32(set.ptr) != 1)
            return TIDE_E_DECODE;
        *previous = tx_set_names(set, hash);
        return TIDE_OK;
    }
    /* The old form is hashed without its count. A generalized set's bytes must not pass as an old
     * one: they begin with its version, 1, and would name another previous hash. */
    if (tide_be32(at + entry.len - 4) != 0 || tide_be32(at + OLD_AT) == 1)
        return TIDE_E_DECODE;
    if (has_hash(tide_slice_of(at + OLD_AT, TIDE_HASH_BYTES),
                 tide_slice_of(at + REST_AT, entry.len - REST_AT - 4), hash))
        *previous = at + OLD_AT;
    return TIDE_OK;
}

bool tx_set_put_empty(struct tide_buf *out, const uint8_t previous[TIDE_HASH_BYTES],
                      const uint8_t hash[TIDE_HASH_BYTES])
{
    /* Version 1, the previous hash, then two phases: both of components (protocols 20 to 22), or
     * the second one parallel, without a base fee and stages (from 23 on). */
    static const uint8_t version[4] = { 0, 0, 0, 1 };
    static const uint8_t phases[2][24] = {
        { 0, 0, 0, 2 },
        { 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1 },
    };
    static const size_t lengths[2] = { 20, 24 };
    static_assert(TIDE_COUNT(lengths) == TIDE_COUNT(phases), "each form has its length");
    uint8_t head[4 + TIDE_HASH_BYTES];
    memcpy(head, version, sizeof version);
    memcpy(head + sizeof version, previous, TIDE_HASH_BYTES);
    for (size_t i = 0; i < TIDE_COUNT(phases); i++) {
        assert(lengths[i] <= sizeof phases[i]);
        if (!has_hash(tide_slice_of(head, sizeof head), tide_slice_of(phases[i], lengths[i]), hash))
            continue;
        tide_buf_put(out, head, sizeof head);
        tide_buf_put(out, phases[i], lengths[i]);
        return true;
    }
    return false;
}

bool tx_set_is_empty(const uint8_t previous[TIDE_HASH_BYTES], const uint8_t hash[TIDE_HASH_BYTES])
{
    enum { ROOM = 4 + TIDE_HASH_BYTES + 24 };
    struct tide_buf set;
    /* Before protocol 20: the hash alone. */
    if (has_hash(tide_slice_of(previous, TIDE_HASH_BYTES), (tide_slice){ 0 }, hash))
        return true;
    tide_buf_init(&set, ROOM);
    bool found = tx_set_put_empty(&set, previous, hash);
    tide_buf_release(&set);
    return found;
}
