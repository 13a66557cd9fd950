/* The cache's record of itself: its age, and which contracts the DAO names otherwise than the
 * deployment file. Pure but for the boot id. */
#ifndef TIDEMARK_CACHE_META_H
#define TIDEMARK_CACHE_META_H

#include "tidemark/hot_record.h"

#define TIDE_CACHE_AGE_MAX (UINT64_C(1) << 52) /* milliseconds; exact in JSON and metrics */

/* The later of the wall clock and the newest close time, unix seconds: what "now" is. */
uint64_t tide_cache_now(const struct tide_hot_meta *meta, int64_t wall_ms);
/* How old the cache's knowledge is, milliseconds: since the indexer was last heard of (age.h), as
 * the feeder found it, and the time since then. host_ms is tide_clock's now_ms. A cache that was
 * fed before this host started is as old as can be: TIDE_CACHE_AGE_MAX. */
uint64_t tide_cache_age_ms(const struct tide_hot_meta *meta, int64_t host_ms);
/* How long ago its newest ledger closed, by the latest of three clocks: the database's, the wall
 * clock when the cache was fed, the wall clock now. */
uint64_t tide_cache_closed_age_ms(const struct tide_hot_meta *meta, int64_t wall_ms,
                                  int64_t host_ms);
/* Milliseconds since the feeder last reached the database; TIDE_CACHE_AGE_MAX as above. */
uint64_t tide_cache_fed_age_ms(const struct tide_hot_meta *meta, int64_t host_ms);

/* Bit (1 << role) of each contract that the DAO's storage names otherwise than the deployment file.
 * It is reported and decides nothing. Not known where PROJECT_GOVERNANCE is not kept. */
uint32_t tide_cache_misnamed(const struct tide_hot_meta *meta);

#endif
