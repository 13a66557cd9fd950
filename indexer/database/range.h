/* A range of ledgers. */
#ifndef INDEXER_DATABASE_RANGE_H
#define INDEXER_DATABASE_RANGE_H

#include <stdint.h>

struct tide_range {
    uint32_t from, to; /* both are part of the range */
};

#endif
