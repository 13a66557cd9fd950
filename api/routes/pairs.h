/* Which pool trades a token for the quote asset: the one with most of the quote in it, among equals
 * the first by name. Read once for a whole answer.
 *
 * Memory  malloc; records are the reader's. */
#ifndef API_ROUTES_PAIRS_H
#define API_ROUTES_PAIRS_H

#include "api/hot/reader.h"

struct tide_pair {
    struct tide_hot_address token;
    const struct tide_hot_pool *pool;
    tide_raw_i128 depth;
};

struct tide_pairs {
    struct tide_hot_address quote; /* usdc, as the deployment names it; kind 0: there is none */
    struct tide_pair *all;         /* by token, the deepest first */
    uint32_t count, max;
    bool failed; /* no memory, or more than TIDE_PAIRS_MAX */
};

#define TIDE_PAIRS_MAX 200000u

/* False when failed; released in any case. */
bool tide_pairs_read(struct tide_pairs *pairs, struct tide_reader *reader) TIDE_MUST_USE;
/* NULL: none. */
const struct tide_hot_pool *tide_pairs_find(const struct tide_pairs *pairs,
                                            const struct tide_hot_address *token);
void tide_pairs_release(struct tide_pairs *pairs);

#endif
