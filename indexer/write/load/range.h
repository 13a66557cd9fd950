/* The ledgers of a partition that is being loaded. The rows of `first` to `last` are committed, but
 * invisible. The functions are pure. */
#ifndef INDEXER_WRITE_LOAD_RANGE_H
#define INDEXER_WRITE_LOAD_RANGE_H

#include "indexer/decode/batch.h"

struct load_range {
    bool active;
    uint32_t from, end;   /* bounds of the partition; end is exclusive */
    uint32_t first, last; /* loaded ledgers; 0: none yet */
    uint8_t previous_hash[TIDE_HASH_BYTES];
    uint8_t hash[TIDE_HASH_BYTES];
    uint64_t closed_ms;
};

/* Returns an active range without ledgers. */
struct load_range load_range_of(uint32_t from, uint32_t end);
/* Returns whether the batch lies in the partition and continues what is loaded. */
bool load_range_takes(const struct load_range *range, const struct tide_batch *batch);
/* Notes a batch that was loaded. The range must take it. */
void load_range_add(struct load_range *range, const struct tide_batch *batch);
/* Returns whether the last ledger of the partition is loaded. */
bool load_range_is_full(const struct load_range *range);
/* Returns whether all ledgers of the partition are loaded. */
bool load_range_is_whole(const struct load_range *range);
/* Returns whether two thirds of the ledgers are loaded, so that the next partition's tables should
 * be made: early enough for hundreds of tables, and seldom in vain at the end of a job. */
bool load_range_wants_spare(const struct load_range *range);

#endif
