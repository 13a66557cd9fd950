/* Pools by token: finds the pool that trades a token for the quote asset. Of several it is the
 * one with most of the quote in it, and among equals the first by name. Read once for an answer.
 *
 * Memory  The list is allocated; the records belong to the reader. */
#ifndef API_ROUTES_PAIRS_H
#define API_ROUTES_PAIRS_H

#include "api/hot/reader.h"

struct tide_pair {
    struct tide_hot_address token;
    const struct tide_hot_pool *pool;
    tide_raw_i128 depth; /* reserve of the quote */
};

struct tide_pairs {
    struct tide_hot_address quote; /* the contract "usdc" of the deployment; kind 0: none */
    struct tide_pair *all;         /* sorted by token, then by falling depth */
    uint32_t count, max;
    bool failed; /* no memory, or more than TIDE_PAIRS_MAX */
};

#define TIDE_PAIRS_MAX 200000u

/* Reads all pools. Returns false without memory or above TIDE_PAIRS_MAX. The caller must release
 * in any case. */
bool tide_pairs_read(struct tide_pairs *pairs, struct tide_reader *reader) TIDE_MUST_USE;
/* Returns the token's pool, or NULL. */
const struct tide_hot_pool *tide_pairs_find(const struct tide_pairs *pairs,
                                            const struct tide_hot_address *token);
void tide_pairs_release(struct tide_pairs *pairs);

#endif
