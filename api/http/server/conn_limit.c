/* The table of connections by address: open addressing with linear probing. */
#include "api/http/server/conn_limit.h"
#include "tidemark/lock.h"

/* One client, and all bodies, may have a quarter. */
enum { SHARES = 4 };

/* An address with connections, or a client with bytes. Neither: the entry is free. */
struct entry {
    struct tide_peer peer;
    uint32_t count;
    size_t held, bodies; /* bytes of bodies and answers; of bodies only */
};

struct tide_conn_limit {
    pthread_mutex_t mutex;
    atomic_ullong waits;
    uint32_t most, of_one, count;
    size_t bytes, held, bodies; /* the limit; held and bodies of all entries */
    /* entries - 1. A connection needs an entry for its address and one for its client: at least
     * half of the entries are free. */
    uint32_t mask;
    struct entry entries[];
};

tide_status tide_conn_limit_open(struct tide_conn_limit **out, uint32_t most, uint32_t of_one,
                                 size_t bytes, struct tide_err *err)
{
    uint32_t entries = 64;
    while (entries < 4 * most)
        entries *= 2;
    struct tide_conn_limit *limit = calloc(1, sizeof *limit + entries * sizeof limit->entries[0]);
    *out = limit;
    if (!limit)
        return tide_fail(err, TIDE_E_MEMORY, "no memory for the table of connections");
    limit->most = most;
    limit->of_one = of_one;
    limit->bytes = bytes;
    limit->mask = entries - 1;
    pthread_mutex_init(&limit->mutex, NULL);
    return TIDE_OK;
}

void tide_conn_limit_close(struct tide_conn_limit *limit)
{
    if (!limit)
        return;
    pthread_mutex_destroy(&limit->mutex);
    free(limit);
}

/* Returns the index at which the address's probe begins. */
static uint32_t home_index(const struct tide_conn_limit *limit, const struct tide_peer *peer)
{
    uint32_t h = 2166136261u;
    for (size_t i = 0; i < sizeof peer->ip; i++)
        h = (h ^ peer->ip[i]) * 16777619u;
    return (h ^ h >> 15) & limit->mask;
}

static bool is_free(const struct entry *entry)
{
    return entry->count == 0 && entry->held == 0;
}

/* Returns the index of the address's entry, or of the free entry where it belongs. Ends because
 * the table is never full. */
static uint32_t find_entry(const struct tide_conn_limit *limit, const struct tide_peer *peer)
{
    uint32_t at = home_index(limit, peer);
    while (!is_free(&limit->entries[at]) &&
           memcmp(&limit->entries[at].peer, peer, sizeof *peer) != 0)
        at = (at + 1) & limit->mask;
    return at;
}

bool tide_conn_limit_enter(struct tide_conn_limit *limit, const struct tide_peer *peer, bool alone)
{
    tide_lock_counted(&limit->mutex, &limit->waits);
    bool room = limit->count < limit->most;
    if (room) {
        struct entry *entry = &limit->entries[find_entry(limit, peer)];
        room = alone || !limit->of_one || entry->count < limit->of_one;
        if (room) {
            entry->peer = *peer;
            entry->count++;
            limit->count++;
        }
    }
    pthread_mutex_unlock(&limit->mutex);
    return room;
}

/* Frees an entry that has become empty, and moves back those behind it that a probe would no longer
 * find. */
static void free_if_empty(struct tide_conn_limit *limit, uint32_t hole)
{
    if (!is_free(&limit->entries[hole]))
        return;
    for (uint32_t at = (hole + 1) & limit->mask; !is_free(&limit->entries[at]);
         at = (at + 1) & limit->mask) {
        uint32_t wanted = home_index(limit, &limit->entries[at].peer);
        if (((at - wanted) & limit->mask) < ((at - hole) & limit->mask))
            continue;
        limit->entries[hole] = limit->entries[at];
        hole = at;
    }
    limit->entries[hole] = (struct entry){ 0 };
}

void tide_conn_limit_leave(struct tide_conn_limit *limit, const struct tide_peer *peer)
{
    tide_lock_counted(&limit->mutex, &limit->waits);
    uint32_t at = find_entry(limit, peer);
    assert(limit->entries[at].count && limit->count);
    limit->count--;
    limit->entries[at].count--;
    free_if_empty(limit, at);
    pthread_mutex_unlock(&limit->mutex);
}

/* Returns whether `more` bytes fit into the limit beside `all`, and into a client's share beside
 * `own`. */
static bool has_room(size_t limit, size_t all, size_t own, size_t more)
{
    size_t share = limit / SHARES;
    assert(own <= all && all <= limit && own <= share);
    return more <= limit - all && more <= share - own;
}

bool tide_conn_limit_hold(struct tide_conn_limit *limit, const struct tide_peer *client,
                          enum tide_conn_limit_bytes what, size_t bytes)
{
    tide_lock_counted(&limit->mutex, &limit->waits);
    struct entry *entry = &limit->entries[find_entry(limit, client)];
    bool body = what == TIDE_CONN_LIMIT_BODY;
    bool room = has_room(limit->bytes, limit->held, entry->held, bytes) &&
                (!body || has_room(limit->bytes / SHARES, limit->bodies, entry->bodies, bytes));
    size_t more = room ? bytes : 0;
    if (is_free(entry))
        entry->peer = *client;
    limit->held += more;
    entry->held += more;
    limit->bodies += body ? more : 0;
    entry->bodies += body ? more : 0;
    pthread_mutex_unlock(&limit->mutex);
    return room;
}

void tide_conn_limit_drop(struct tide_conn_limit *limit, const struct tide_peer *client,
                          enum tide_conn_limit_bytes what, size_t bytes)
{
    tide_lock_counted(&limit->mutex, &limit->waits);
    uint32_t at = find_entry(limit, client);
    struct entry *entry = &limit->entries[at];
    size_t bodies = what == TIDE_CONN_LIMIT_BODY ? bytes : 0;
    assert(entry->held >= bytes && limit->held >= bytes);
    assert(entry->bodies >= bodies && limit->bodies >= bodies);
    limit->held -= bytes;
    entry->held -= bytes;
    limit->bodies -= bodies;
    entry->bodies -= bodies;
    free_if_empty(limit, at);
    pthread_mutex_unlock(&limit->mutex);
}

uint64_t tide_conn_limit_waits(const struct tide_conn_limit *limit)
{
    return atomic_load_explicit(&limit->waits, memory_order_relaxed);
}
