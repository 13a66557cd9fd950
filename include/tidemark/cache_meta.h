/* Questions about the cache's meta record: its age, and which contracts the DAO names differently
 * from the deployment file. Pure, except for the host's boot id. */
#ifndef TIDEMARK_CACHE_META_H
#define TIDEMARK_CACHE_META_H

#include "tidemark/hot_record.h"

/* milliseconds; exact as a JSON number and in metrics */
#define TIDE_CACHE_AGE_MAX (UINT64_C(1) << 52)
static_assert(TIDE_CACHE_AGE_MAX <= UINT64_C(1) << 53, "a double holds it");

/* Returns the close time of the cache's ledger in unix milliseconds. */
static inline uint64_t tide_cache_closed_ms(const struct tide_hot_meta *meta)
{
    return meta->close_time * 1000 + meta->close_ms;
}
/* Returns the time at which answers are evaluated: the later of the wall clock and the newest close
 * time, unix seconds. */
uint64_t tide_cache_now(const struct tide_hot_meta *meta, int64_t wall_ms);
/* Returns the age of the cache's knowledge in milliseconds: the time since the indexer was last
 * heard of (age.h), as the feeder found it, plus the time since then. host_ms is now_ms of
 * tide_clock. If the cache was last fed before this host started, the age is TIDE_CACHE_AGE_MAX. */
uint64_t tide_cache_age_ms(const struct tide_hot_meta *meta, int64_t host_ms);
/* Returns the milliseconds since the newest ledger closed, by the latest of three clocks: the
 * database's, the wall clock when the cache was fed, and the wall clock now. */
uint64_t tide_cache_closed_age_ms(const struct tide_hot_meta *meta, int64_t wall_ms,
                                  int64_t host_ms);
/* Returns the milliseconds since the feeder last reached the database, or TIDE_CACHE_AGE_MAX if
 * that was before this host started. */
uint64_t tide_cache_fed_age_ms(const struct tide_hot_meta *meta, int64_t host_ms);

/* Returns a bit (1 << role) for each contract that the DAO's storage names differently from the
 * deployment file. It is only reported. */
uint32_t tide_cache_misnamed(const struct tide_hot_meta *meta);

#endif
