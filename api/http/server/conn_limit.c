#include "api/http/server/conn_limit.h"
#include "schema/base/lock.h"

enum { SHARES = 4 };

struct place {
    struct tide_peer peer;
    uint32_t count; /* 0: free */
    bool alone;
    size_t held, bodies; /* bytes of bodies and answers; of bodies alone */
};

struct tide_conn_limit {
    pthread_mutex_t mutex;
    atomic_ullong waits;
    uint32_t most, of_one, count;
    size_t bytes, held, bodies; /* the limit; as of a place */
    uint32_t mask;              /* places - 1; at least twice as many as connections */
    struct place places[];
};

tide_status tide_conn_limit_open(struct tide_conn_limit **out, uint32_t most, uint32_t of_one,
                                 size_t bytes, struct tide_err *err)
{
    uint32_t places = 64;
    while (places < 2 * most)
        places *= 2;
    struct tide_conn_limit *limit = calloc(1, sizeof *limit + places * sizeof limit->places[0]);
    *out = limit;
    if (!limit)
        return tide_fail(err, TIDE_E_MEMORY, "no memory for a table of connections");
    limit->most = most;
    limit->of_one = of_one;
    limit->bytes = bytes;
    limit->mask = places - 1;
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

static uint32_t home(const struct tide_conn_limit *limit, const struct tide_peer *peer)
{
    uint32_t h = 2166136261u;
    for (size_t i = 0; i < sizeof peer->ip; i++)
        h = (h ^ peer->ip[i]) * 16777619u;
    return (h ^ h >> 15) & limit->mask;
}

/* The peer's place, or the free one where it would be. */
static uint32_t find(const struct tide_conn_limit *limit, const struct tide_peer *peer)
{
    uint32_t at = home(limit, peer);
    while (limit->places[at].count && memcmp(&limit->places[at].peer, peer, sizeof *peer) != 0)
        at = (at + 1) & limit->mask;
    return at;
}

bool tide_conn_limit_enter(struct tide_conn_limit *limit, const struct tide_peer *peer, bool alone)
{
    tide_lock_counted(&limit->mutex, &limit->waits);
    bool room = limit->count < limit->most;
    if (room) {
        struct place *place = &limit->places[find(limit, peer)];
        room = alone || !limit->of_one || place->count < limit->of_one;
        if (room) {
            place->peer = *peer;
            place->alone = alone;
            place->count++;
            limit->count++;
        }
    }
    pthread_mutex_unlock(&limit->mutex);
    return room;
}

/* Frees a slot and moves up entries that would not be found any more. */
static void vacate(struct tide_conn_limit *limit, uint32_t hole)
{
    for (uint32_t at = (hole + 1) & limit->mask; limit->places[at].count;
         at = (at + 1) & limit->mask) {
        uint32_t wanted = home(limit, &limit->places[at].peer);
        if (((at - wanted) & limit->mask) < ((at - hole) & limit->mask))
            continue;
        limit->places[hole] = limit->places[at];
        hole = at;
    }
    limit->places[hole] = (struct place){ 0 };
}

void tide_conn_limit_leave(struct tide_conn_limit *limit, const struct tide_peer *peer)
{
    tide_lock_counted(&limit->mutex, &limit->waits);
    uint32_t at = find(limit, peer);
    assert(limit->places[at].count && limit->count);
    limit->count--;
    if (--limit->places[at].count == 0) {
        assert(limit->places[at].held == 0);
        vacate(limit, at);
    }
    pthread_mutex_unlock(&limit->mutex);
}

/* Whether `more` fits beside what all hold, and beside the place's own within its share. */
static bool fits(size_t limit, size_t all, size_t own, bool alone, size_t more)
{
    size_t share = alone ? limit : limit / SHARES;
    assert(own <= all && all <= limit);
    return more <= limit - all && own <= share && more <= share - own;
}

bool tide_conn_limit_hold(struct tide_conn_limit *limit, const struct tide_peer *peer,
                          enum tide_conn_limit_bytes what, size_t bytes)
{
    tide_lock_counted(&limit->mutex, &limit->waits);
    struct place *place = &limit->places[find(limit, peer)];
    assert(place->count);
    bool body = what == TIDE_CONN_LIMIT_BODY;
    bool room =
        fits(limit->bytes, limit->held, place->held, place->alone, bytes) &&
        (!body || fits(limit->bytes / SHARES, limit->bodies, place->bodies, place->alone, bytes));
    size_t more = room ? bytes : 0;
    limit->held += more;
    place->held += more;
    limit->bodies += body ? more : 0;
    place->bodies += body ? more : 0;
    pthread_mutex_unlock(&limit->mutex);
    return room;
}

void tide_conn_limit_drop(struct tide_conn_limit *limit, const struct tide_peer *peer,
                          enum tide_conn_limit_bytes what, size_t bytes)
{
    tide_lock_counted(&limit->mutex, &limit->waits);
    struct place *place = &limit->places[find(limit, peer)];
    size_t bodies = what == TIDE_CONN_LIMIT_BODY ? bytes : 0;
    assert(place->count && place->held >= bytes && limit->held >= bytes);
    assert(place->bodies >= bodies && limit->bodies >= bodies);
    limit->held -= bytes;
    place->held -= bytes;
    limit->bodies -= bodies;
    place->bodies -= bodies;
    pthread_mutex_unlock(&limit->mutex);
}

uint64_t tide_conn_limit_waits(const struct tide_conn_limit *limit)
{
    return atomic_load_explicit(&limit->waits, memory_order_relaxed);
}
