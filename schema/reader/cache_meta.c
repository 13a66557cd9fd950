#include "tidemark/cache_meta.h"

uint64_t tide_cache_now(const struct tide_hot_meta *meta, int64_t wall_ms)
{
    int64_t wall = wall_ms / 1000;
    return wall > 0 && (uint64_t)wall > meta->close_time ? (uint64_t)wall : meta->close_time;
}

uint64_t tide_cache_fed_age_ms(const struct tide_hot_meta *meta, int64_t host_ms)
{
    if (TIDE_UNLIKELY(memcmp(meta->boot, tide_boot_id(), sizeof meta->boot) != 0))
        return TIDE_CACHE_AGE_MAX;
    /* fed_ms may be later than host_ms: the feeder can write after the caller read the clock. */
    return host_ms > meta->fed_ms ? (uint64_t)(host_ms - meta->fed_ms) : 0;
}

/* Adds two ages, up to TIDE_CACHE_AGE_MAX. */
static uint64_t aged(uint64_t age_ms, uint64_t since_ms)
{
    return age_ms < TIDE_CACHE_AGE_MAX - since_ms ? age_ms + since_ms : TIDE_CACHE_AGE_MAX;
}

uint64_t tide_cache_age_ms(const struct tide_hot_meta *meta, int64_t host_ms)
{
    return aged(meta->aged_ms, tide_cache_fed_age_ms(meta, host_ms));
}

uint64_t tide_cache_closed_age_ms(const struct tide_hot_meta *meta, int64_t wall_ms,
                                  int64_t host_ms)
{
    uint64_t age = aged(meta->closed_age_ms, tide_cache_fed_age_ms(meta, host_ms));
    int64_t by_wall = wall_ms - (int64_t)tide_cache_closed_ms(meta);
    return by_wall > 0 && (uint64_t)by_wall > age ? (uint64_t)by_wall : age;
}

uint32_t tide_cache_misnamed(const struct tide_hot_meta *meta)
{
    uint32_t misnamed = 0;
    for (int role = 0; role < (int)TIDE_ROLE_synth_token; role++) {
        const struct tide_hot_address *named = &meta->dao_named[role];
        if (named->kind && !tide_hot_address_eq(named, &meta->contracts[role]))
            misnamed |= 1u << role;
    }
    return misnamed;
}
