#include "api/rate.h"

#include <pthread.h>

enum { WAYS = 8, LOCKS = 64, SETS = TIDE_RATE_CLIENTS / WAYS };

/* A token in parts, so that a millisecond adds a whole number of them: the quota. */
#define TOKEN ((uint64_t)TIDE_RATE_WINDOW_S * 1000)

struct bucket {
    uint8_t key[16];
    int64_t seen_ms; /* 0: free */
    uint64_t level;  /* parts of a token */
    uint8_t tag;     /* class, and whether the key is an address */
};

struct tide_rate {
    uint32_t quota[TIDE_RATE_CLASS_COUNT];
    uint64_t seed;
    pthread_mutex_t locks[LOCKS];
    struct bucket buckets[SETS][WAYS];
};

tide_status tide_rate_open(struct tide_rate **out, const uint32_t quota[TIDE_RATE_CLASS_COUNT],
                           uint64_t seed, struct tide_err *err)
{
    struct tide_rate *rate = calloc(1, sizeof *rate);
    *out = rate;
    if (!rate)
        return tide_fail(err, TIDE_E_MEMORY, "no memory for the table of rates");
    memcpy(rate->quota, quota, sizeof rate->quota);
    rate->seed = seed;
    for (int i = 0; i < LOCKS; i++)
        pthread_mutex_init(&rate->locks[i], NULL);
    return TIDE_OK;
}

void tide_rate_close(struct tide_rate *rate)
{
    if (!rate)
        return;
    for (int i = 0; i < LOCKS; i++)
        pthread_mutex_destroy(&rate->locks[i]);
    free(rate);
}

static uint64_t mix(uint64_t h)
{
    h = (h ^ (h >> 32)) * 0xd6e8feb86659fd93u;
    h = (h ^ (h >> 32)) * 0xd6e8feb86659fd93u;
    return h ^ (h >> 32);
}

static uint32_t set_of(const struct tide_rate *rate, const uint8_t key[16], uint8_t tag)
{
    uint64_t words[2];
    memcpy(words, key, sizeof words);
    return (uint32_t)(mix(mix(rate->seed ^ words[0]) ^ words[1] ^ tag) % SETS);
}

/* The client's bucket, or the one of its set that was idle the longest, full again. */
static struct bucket *find(struct bucket *set, const uint8_t key[16], uint8_t tag, uint64_t full)
{
    struct bucket *oldest = set;
    for (int i = 0; i < WAYS; i++) {
        struct bucket *b = &set[i];
        if (b->seen_ms && b->tag == tag && memcmp(b->key, key, 16) == 0)
            return b;
        if (b->seen_ms < oldest->seen_ms)
            oldest = b;
    }
    memcpy(oldest->key, key, 16);
    oldest->tag = tag;
    oldest->level = full;
    oldest->seen_ms = 0;
    return oldest;
}

static uint32_t seconds_for(uint64_t parts, uint64_t quota)
{
    return (uint32_t)((parts + quota * 1000 - 1) / (quota * 1000));
}

struct tide_rate_answer tide_rate_take(struct tide_rate *rate, const struct tide_rate_client *who,
                                       enum tide_rate_class class, uint32_t cost, int64_t now_ms)
{
    uint64_t quota = (uint64_t)rate->quota[class] * who->factor;
    struct tide_rate_answer answer = { .quota =
                                           (uint32_t)(quota < UINT32_MAX ? quota : UINT32_MAX) };
    if (quota == 0)
        return answer;
    uint8_t tag = (uint8_t)(class * 2u + who->keyed);
    uint64_t full = quota * TOKEN, price = cost * TOKEN;
    uint32_t at = set_of(rate, who->peer.ip, tag);
    pthread_mutex_t *lock = &rate->locks[at % LOCKS];
    pthread_mutex_lock(lock);
    struct bucket *b = find(rate->buckets[at], who->peer.ip, tag, full);
    int64_t passed = b->seen_ms && now_ms > b->seen_ms ? now_ms - b->seen_ms : 0;
    if (passed > (int64_t)TIDE_RATE_WINDOW_S * 1000)
        passed = (int64_t)TIDE_RATE_WINDOW_S * 1000;
    b->level += (uint64_t)passed * quota;
    b->level = b->level < full ? b->level : full;
    b->seen_ms = now_ms > 0 ? now_ms : 1;
    /* A route that costs more than the whole quota may still be asked, with a full bucket. */
    price = price < full ? price : full;
    answer.refused = b->level < price;
    if (!answer.refused)
        b->level -= price;
    answer.remaining = (uint32_t)(b->level / TOKEN);
    answer.reset_s = seconds_for(answer.refused ? price - b->level : full - b->level, quota);
    pthread_mutex_unlock(lock);
    return answer;
}
