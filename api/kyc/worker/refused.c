/* Counters of webhooks by provider, fate and reason. */
#include "api/kyc/worker/refused.h"

#include <pthread.h>
#include <stdlib.h>

struct counter {
    enum tide_kyc_fate fate;
    const char *why;
    uint64_t count, reported;
    int64_t reported_ms;
    bool was_reported;
};

struct counter_set {
    struct counter counters[TIDE_KYC_REFUSED_WORDS];
    uint32_t count;
    int64_t full_ms; /* monotonic: when the bucket of forgeries will be full again */
};

struct tide_kyc_refused {
    pthread_mutex_t mutex;
    struct counter_set providers[TIDE_KYC_PROVIDERS_MAX];
};

const char *tide_kyc_fate_text(enum tide_kyc_fate fate)
{
    static const char *const texts[TIDE_KYC_FATE_COUNT] = { "kept",       "repeated", "not_ours",
                                                            "unreadable", "forged",   "unkept" };
    assert(fate < TIDE_KYC_FATE_COUNT && texts[fate]);
    return texts[fate];
}

struct tide_kyc_refused *tide_kyc_refused_open(void)
{
    struct tide_kyc_refused *refused = calloc(1, sizeof *refused);
    if (refused)
        pthread_mutex_init(&refused->mutex, NULL);
    return refused;
}

void tide_kyc_refused_close(struct tide_kyc_refused *refused)
{
    if (!refused)
        return;
    pthread_mutex_destroy(&refused->mutex);
    free(refused);
}

static bool counts_for(const struct counter *counter, enum tide_kyc_fate fate, const char *why)
{
    if (counter->fate != fate || !counter->why != !why)
        return false;
    return !why || strcmp(counter->why, why) == 0;
}

/* Returns the counter for a fate and reason, and makes it if needed. The last slot counts all
 * further reasons as "other". */
static struct counter *counter_of(struct counter_set *set, enum tide_kyc_fate fate, const char *why)
{
    assert(set->count <= TIDE_COUNT(set->counters) && fate < TIDE_KYC_FATE_COUNT);
    for (uint32_t i = 0; i < set->count; i++)
        if (counts_for(&set->counters[i], fate, why))
            return &set->counters[i];
    if (set->count == TIDE_KYC_REFUSED_WORDS)
        return &set->counters[set->count - 1];
    struct counter *made = &set->counters[set->count++];
    *made = (struct counter){ .fate = fate, .why = why };
    if (set->count == TIDE_KYC_REFUSED_WORDS)
        made->why = "other";
    return made;
}

void tide_kyc_count(struct tide_kyc_refused *refused, uint32_t provider, enum tide_kyc_fate fate,
                    const char *why)
{
    assert(provider < TIDE_KYC_PROVIDERS_MAX);
    pthread_mutex_lock(&refused->mutex);
    counter_of(&refused->providers[provider], fate, why)->count++;
    pthread_mutex_unlock(&refused->mutex);
}

/* Stores the bucket as the time at which it is full again. A token comes back every STEP_MS. */
bool tide_kyc_take_forgery_token(struct tide_kyc_refused *refused, uint32_t provider,
                                 int64_t now_ms)
{
    assert(provider < TIDE_KYC_PROVIDERS_MAX);
    enum { WINDOW_MS = 60000, STEP_MS = WINDOW_MS / TIDE_KYC_FORGERIES_MINUTE };
    static_assert(STEP_MS * TIDE_KYC_FORGERIES_MINUTE == WINDOW_MS, "the whole window");
    pthread_mutex_lock(&refused->mutex);
    int64_t *full_ms = &refused->providers[provider].full_ms;
    int64_t owed = *full_ms > now_ms ? *full_ms : now_ms;
    bool has = owed + STEP_MS - now_ms <= WINDOW_MS;
    if (has)
        *full_ms = owed + STEP_MS;
    pthread_mutex_unlock(&refused->mutex);
    return has;
}

uint32_t tide_kyc_counted(struct tide_kyc_refused *refused, uint32_t provider,
                          struct tide_kyc_count_line out[TIDE_KYC_REFUSED_WORDS])
{
    assert(provider < TIDE_KYC_PROVIDERS_MAX);
    pthread_mutex_lock(&refused->mutex);
    const struct counter_set *set = &refused->providers[provider];
    uint32_t count = set->count;
    for (uint32_t i = 0; i < count; i++)
        out[i] = (struct tide_kyc_count_line){ .fate = set->counters[i].fate,
                                               .why = set->counters[i].why,
                                               .count = set->counters[i].count };
    pthread_mutex_unlock(&refused->mutex);
    return count;
}

bool tide_kyc_next_report(struct tide_kyc_refused *refused, uint32_t provider, int64_t now_ms,
                          int64_t every_ms, struct tide_kyc_count_line *out)
{
    assert(provider < TIDE_KYC_PROVIDERS_MAX);
    bool found = false;
    pthread_mutex_lock(&refused->mutex);
    struct counter_set *set = &refused->providers[provider];
    for (uint32_t i = 0; i < set->count && !found; i++) {
        struct counter *counter = &set->counters[i];
        bool early = counter->was_reported && now_ms - counter->reported_ms < every_ms;
        bool matters = counter->why && counter->fate != TIDE_KYC_NOT_OURS;
        if (!matters || counter->count == counter->reported || early)
            continue;
        *out = (struct tide_kyc_count_line){ .fate = counter->fate,
                                             .why = counter->why,
                                             .count = counter->count - counter->reported };
        counter->reported = counter->count;
        counter->reported_ms = now_ms;
        counter->was_reported = found = true;
    }
    pthread_mutex_unlock(&refused->mutex);
    return found;
}

void tide_kyc_undo_report(struct tide_kyc_refused *refused, uint32_t provider,
                          const struct tide_kyc_count_line *line)
{
    assert(provider < TIDE_KYC_PROVIDERS_MAX);
    pthread_mutex_lock(&refused->mutex);
    struct counter *counter = counter_of(&refused->providers[provider], line->fate, line->why);
    counter->reported -= line->count <= counter->reported ? line->count : counter->reported;
    counter->was_reported = false;
    pthread_mutex_unlock(&refused->mutex);
}
