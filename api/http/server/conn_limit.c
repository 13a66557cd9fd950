#include "api/http/server/conn_limit.h"
#include "tidemark/lock.h"

enum { SHARES = 4 };

struct place {
    struct tide_peer peer;
    uint32_t count; /* 0: free */
    bool alone;
    size_t held, bodies; /* bytes of bodies and answers; of bodies alone */
};

struct tide_crowd {
    pthread_mutex_t mutex;
    atomic_ullong waits;
    uint32_t most, of_one, count;
    size_t bytes, held, bodies; /* the limit; as of a place */
    uint32_t mask;              /* places - 1; at least twice as many as connections */
    struct place places[];
};

tide_status tide_crowd_open(struct tide_crowd **out, uint32_t most, uint32_t of_one, size_t bytes,
                            struct tide_err *err)
{
    uint32_t places = 64;
    while (places < 2 * most)
        places *= 2;
    struct tide_crowd *crowd = calloc(1, sizeof *crowd + places * sizeof crowd->places[0]);
    *out = crowd;
    if (!crowd)
        return tide_fail(err, TIDE_E_MEMORY, "no memory for a table of connections");
    crowd->most = most;
    crowd->of_one = of_one;
    crowd->bytes = bytes;
    crowd->mask = places - 1;
    pthread_mutex_init(&crowd->mutex, NULL);
    return TIDE_OK;
}

void tide_crowd_close(struct tide_crowd *crowd)
{
    if (!crowd)
        return;
    pthread_mutex_destroy(&crowd->mutex);
    free(crowd);
}

static uint32_t home(const struct tide_crowd *crowd, const struct tide_peer *peer)
{
    uint32_t h = 2166136261u;
    for (size_t i = 0; i < sizeof peer->ip; i++)
        h = (h ^ peer->ip[i]) * 16777619u;
    return (h ^ h >> 15) & crowd->mask;
}

/* The peer's place, or the free one where it would be. */
static uint32_t find(const struct tide_crowd *crowd, const struct tide_peer *peer)
{
    uint32_t at = home(crowd, peer);
    while (crowd->places[at].count && memcmp(&crowd->places[at].peer, peer, sizeof *peer) != 0)
        at = (at + 1) & crowd->mask;
    return at;
}

bool tide_crowd_enter(struct tide_crowd *crowd, const struct tide_peer *peer, bool alone)
{
    tide_lock_counted(&crowd->mutex, &crowd->waits);
    bool room = crowd->count < crowd->most;
    if (room) {
        struct place *place = &crowd->places[find(crowd, peer)];
        room = alone || !crowd->of_one || place->count < crowd->of_one;
        if (room) {
            place->peer = *peer;
            place->alone = alone;
            place->count++;
            crowd->count++;
        }
    }
    pthread_mutex_unlock(&crowd->mutex);
    return room;
}

/* Frees a place and moves up whoever would not be found any more. */
static void vacate(struct tide_crowd *crowd, uint32_t hole)
{
    for (uint32_t at = (hole + 1) & crowd->mask; crowd->places[at].count;
         at = (at + 1) & crowd->mask) {
        uint32_t wanted = home(crowd, &crowd->places[at].peer);
        if (((at - wanted) & crowd->mask) < ((at - hole) & crowd->mask))
            continue;
        crowd->places[hole] = crowd->places[at];
        hole = at;
    }
    crowd->places[hole] = (struct place){ 0 };
}

void tide_crowd_leave(struct tide_crowd *crowd, const struct tide_peer *peer)
{
    tide_lock_counted(&crowd->mutex, &crowd->waits);
    uint32_t at = find(crowd, peer);
    assert(crowd->places[at].count && crowd->count);
    crowd->count--;
    if (--crowd->places[at].count == 0) {
        assert(crowd->places[at].held == 0);
        vacate(crowd, at);
    }
    pthread_mutex_unlock(&crowd->mutex);
}

/* Whether `more` fits beside what all hold, and beside the place's own within its share. */
static bool fits(size_t limit, size_t all, size_t own, bool alone, size_t more)
{
    size_t share = alone ? limit : limit / SHARES;
    assert(own <= all && all <= limit);
    return more <= limit - all && own <= share && more <= share - own;
}

bool tide_crowd_hold(struct tide_crowd *crowd, const struct tide_peer *peer,
                     enum tide_crowd_what what, size_t bytes)
{
    tide_lock_counted(&crowd->mutex, &crowd->waits);
    struct place *place = &crowd->places[find(crowd, peer)];
    assert(place->count);
    bool body = what == TIDE_CROWD_BODY;
    bool room =
        fits(crowd->bytes, crowd->held, place->held, place->alone, bytes) &&
        (!body || fits(crowd->bytes / SHARES, crowd->bodies, place->bodies, place->alone, bytes));
    size_t more = room ? bytes : 0;
    crowd->held += more;
    place->held += more;
    crowd->bodies += body ? more : 0;
    place->bodies += body ? more : 0;
    pthread_mutex_unlock(&crowd->mutex);
    return room;
}

void tide_crowd_drop(struct tide_crowd *crowd, const struct tide_peer *peer,
                     enum tide_crowd_what what, size_t bytes)
{
    tide_lock_counted(&crowd->mutex, &crowd->waits);
    struct place *place = &crowd->places[find(crowd, peer)];
    size_t bodies = what == TIDE_CROWD_BODY ? bytes : 0;
    assert(place->count && place->held >= bytes && crowd->held >= bytes);
    assert(place->bodies >= bodies && crowd->bodies >= bodies);
    crowd->held -= bytes;
    place->held -= bytes;
    crowd->bodies -= bodies;
    place->bodies -= bodies;
    pthread_mutex_unlock(&crowd->mutex);
}

uint64_t tide_crowd_waits(const struct tide_crowd *crowd)
{
    return atomic_load_explicit(&crowd->waits, memory_order_relaxed);
}
