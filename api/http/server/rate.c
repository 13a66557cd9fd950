/* A client's state is one number, the time at which its bucket would have been empty. It is
 * replaced by compare-and-exchange, so that no token is given out twice. A known client's bucket
 * is found without the lock; a new client gets its bucket under it, so that two requests of one
 * client never get a full bucket each. */
#include "api/http/server/rate.h"
#include "tidemark/i128.h"

#include <pthread.h>
#include <stdatomic.h>

enum { WAYS = 8, SETS = TIDE_RATE_CLIENTS / WAYS, OWN = 255 };

/* The unit of time is 2^-20 ms, so that one token is at least one unit for any realistic quota. */
#define MS     ((int64_t)1 << 20)
#define WINDOW ((int64_t)TIDE_RATE_WINDOW_S * 1000 * MS)

struct bucket {
    atomic_uint_fast64_t print; /* keyed hash of the client; 0: free */
    /* Time at which the bucket was empty, computed as if it had no capacity limit since */
    atomic_int_fast64_t empty;
};

struct tide_rate {
    uint32_t quota[TIDE_RATE_CLASS_COUNT];
    uint64_t seed;
    pthread_mutex_t placing; /* held while a bucket changes its client */
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
    pthread_mutex_init(&rate->placing, NULL);
    return TIDE_OK;
}

void tide_rate_close(struct tide_rate *rate)
{
    if (!rate)
        return;
    pthread_mutex_destroy(&rate->placing);
    free(rate);
}

static uint64_t mix_bits(uint64_t h)
{
    h = (h ^ (h >> 32)) * 0xd6e8feb86659fd93u;
    h = (h ^ (h >> 32)) * 0xd6e8feb86659fd93u;
    return h ^ (h >> 32);
}

/* Returns a keyed hash of the client and the class, never 0. */
static uint64_t client_print(const struct tide_rate *rate, const uint8_t key[16], uint8_t tag)
{
    uint64_t words[2];
    memcpy(words, key, sizeof words);
    uint64_t print = mix_bits(mix_bits(rate->seed ^ words[0]) ^ words[1] ^ tag);
    return print ? print : 1;
}

/* Returns the client's bucket, or NULL. */
static struct bucket *find_bucket(struct bucket *set, uint64_t print)
{
    for (int i = 0; i < WAYS; i++)
        if (atomic_load_explicit(&set[i].print, memory_order_acquire) == print)
            return &set[i];
    return NULL;
}

/* Returns the bucket to replace: a free one, else the fullest. */
static struct bucket *fullest_bucket(struct bucket *set)
{
    struct bucket *fullest = set;
    int64_t since = INT64_MAX;
    for (int i = 0; i < WAYS; i++) {
        struct bucket *b = &set[i];
        bool free_one = atomic_load_explicit(&b->print, memory_order_relaxed) == 0;
        int64_t empty =
            free_one ? INT64_MIN : atomic_load_explicit(&b->empty, memory_order_relaxed);
        if (empty < since) {
            since = empty;
            fullest = b;
        }
    }
    return fullest;
}

/* Returns the client's bucket; a client without one gets a full one. The forgotten client's
 * requests of this moment may still take their tokens from it. */
static struct bucket *place_bucket(struct tide_rate *rate, struct bucket *set, uint64_t print,
                                   int64_t full)
{
    pthread_mutex_lock(&rate->placing);
    struct bucket *b = find_bucket(set, print);
    if (!b) {
        b = fullest_bucket(set);
        atomic_store_explicit(&b->empty, full, memory_order_relaxed);
        atomic_store_explicit(&b->print, print, memory_order_release);
    }
    pthread_mutex_unlock(&rate->placing);
    return b;
}

static uint32_t seconds_of(int64_t units)
{
    return (uint32_t)((units + 1000 * MS - 1) / (1000 * MS));
}

static int64_t price_in_units(uint64_t cost, uint64_t quota, int64_t window)
{
    if (cost >= quota) /* such a request is served only from a full bucket */
        return window;
    int64_t share = (int64_t)(cost * (uint64_t)window / quota);
    return share ? share : 1;
}

static uint32_t tokens_in(int64_t units, uint64_t quota, int64_t window)
{
    uint64_t tokens = (uint64_t)((tide_raw_u128)(uint64_t)units * quota / (uint64_t)window);
    return (uint32_t)(tokens < UINT32_MAX ? tokens : UINT32_MAX);
}

static uint64_t quota_of(const struct tide_rate *rate, const struct tide_rate_client *who,
                         enum tide_rate_class class)
{
    return who->rate > 0 ? who->burst : (uint64_t)rate->quota[class] * who->factor;
}

static int64_t window_of(const struct tide_rate_client *who)
{
    return who->rate > 0 ? 1000 * MS * who->burst / who->rate : WINDOW;
}

static struct bucket *bucket_of(struct tide_rate *rate, const struct tide_rate_client *who,
                                enum tide_rate_class class, int64_t full)
{
    uint8_t tag = who->rate > 0 ? OWN : (uint8_t)(class * 2u + who->keyed);
    uint64_t print = client_print(rate, who->peer.ip, tag);
    struct bucket *set = rate->buckets[print % SETS];
    struct bucket *b = find_bucket(set, print);
    return TIDE_LIKELY(b) ? b : place_bucket(rate, set, print, full);
}

struct tide_rate_answer tide_rate_take(struct tide_rate *rate, const struct tide_rate_client *who,
                                       enum tide_rate_class class, uint32_t cost, int64_t now_ms)
{
    uint64_t quota = quota_of(rate, who, class);
    int64_t window = window_of(who);
    struct tide_rate_answer answer = { .quota = (uint32_t)(quota < UINT32_MAX ? quota : UINT32_MAX),
                                       .window_s = seconds_of(window) };
    if (quota == 0)
        return answer;
    int64_t now = now_ms * MS, full = now - window, left;
    int64_t price = price_in_units(who->rate > 0 ? 1 : cost, quota, window);
    struct bucket *b = bucket_of(rate, who, class, full);
    int_fast64_t was = atomic_load_explicit(&b->empty, memory_order_relaxed), from;
    do {
        from = was > full ? was : full;
        left = now - from;
        answer.refused = left < price;
    } while (!answer.refused &&
             !atomic_compare_exchange_weak_explicit(&b->empty, &was, from + price,
                                                    memory_order_relaxed, memory_order_relaxed));
    left = answer.refused ? left : left - price;
    answer.remaining = tokens_in(left > 0 ? left : 0, quota, window);
    answer.reset_s = seconds_of(answer.refused ? price - left : window - left);
    return answer;
}
