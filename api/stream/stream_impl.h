/* What the files api/stream*.c share. */
#ifndef API_STREAM_STREAM_IMPL_H
#define API_STREAM_STREAM_IMPL_H

#include "api/stream/stream.h"
#include "schema/rule/rule.h"

#include <pthread.h>
#include <stdatomic.h>

enum {
    STREAM_TURN_MS = 50,      /* between turns without news                    */
    STREAM_LOOK_MS = 1000,    /* between looks at the database without news    */
    STREAM_RETRY_MS = 250,    /* after a failure                               */
    STREAM_STALE_MS = 1000,   /* without the database, until it is told        */
    STREAM_BEGINS = 16,       /* subscribers with a question that begin a turn */
    STREAM_CLIENTS = 1024,    /* turns of clients are counted in as many slots */
    STREAM_PRESSED_MS = 5000, /* what is not taken for so long gives way to others  */
    STREAM_RESERVE = 1 << 10  /* of a buffer, for what the hub itself must say */
};

/* Why what subscribers know may be out of date. */
enum stream_staleness { STREAM_FRESH, STREAM_NO_DATABASE, STREAM_NO_INDEXER };

/* An address that is watched for a subscriber. */
struct stream_watch {
    struct tide_hot_address address;
    struct tide_hot_person person;
    struct tide_standing standing; /* as the subscriber knows it             */
    uint64_t turns;                /* when time alone may change it; 0: never */
    bool due;                      /* to be judged again                      */
};

struct tide_subscriber {
    struct tide_stream_hub *stream;
    struct tide_stream_sink sink;
    char who[TIDE_STREAM_WHO_BYTES];
    /* what is wanted */
    uint32_t topics, kind_count, asset_count, watch_count;
    uint16_t kinds[TIDE_STREAM_NAMES_MAX];
    char contract[TIDE_HOT_ADDRESS_TEXT], party[TIDE_HOT_ADDRESS_TEXT]; /* "": any */
    struct tide_hot_symbol pool;                                        /* "": any */
    struct tide_hot_symbol *assets;
    struct stream_watch *watches; /* in the order of addresses */
    /* the hub's alone */
    bool resumed, greeted, begun, dropped, told_stale, moved; /* moved: something fitted */
    uint64_t served;           /* number of the page that was last read for it, or when it began */
    struct stream_position at; /* everything up to here was given            */
    uint64_t closed;           /* close time of the last whole ledger        */
    uint64_t seen;             /* the time that compliance was evaluated at  */
    int64_t full_ms;           /* since when nothing fits; 0: something does  */
    int64_t said_ms;           /* when it was last told something            */
    /* under mutex */
    pthread_mutex_t mutex;
    char *bytes; /* start .. start + len wait to be read */
    size_t start, len, cap;
    int64_t taken_ms; /* when something was last read, or began to wait */
    bool parked, over;
    atomic_bool gone; /* not read any more: the service frees it */
};

struct stream_ring {
    struct stream_piece *first, *last;
    struct stream_position start, end; /* it holds what is after start up to end */
    struct stream_piece *fresh;        /* what was added last, and where that begins */
    struct stream_position fresh_from;
    uint64_t bytes, ledgers;
};

struct tide_stream_hub {
    struct tide_stream_hub_options options;
    const struct tide_clock *clock;
    /* under mutex */
    pthread_mutex_t mutex;
    struct tide_subscriber **all;
    uint32_t count;
    struct stream_head head;
    bool known; /* the head was seen at least once */
    struct tide_stream_hub_stats stats;
    atomic_uint_fast64_t buffered, messages, bytes_out;
    atomic_ullong waits; /* of readers, for a lock */
    /* the hub's alone */
    struct tide_subscriber **turn; /* of all, those of this turn */
    uint32_t turn_count;
    struct stream_ring ring;
    struct stream_piece *prices; /* of all assets, as of a recent head */
    bool news;
    enum stream_staleness stale;
    uint64_t served;                    /* pages of the past that were read */
    uint64_t served_of[STREAM_CLIENTS]; /* the last of them for each slot   */
    bool pressed;                       /* there was no room in all buffers together */
    int64_t looked_ms, good_ms;
    struct tide_buf text; /* scratch */
};

static inline int64_t stream_now_ms(const struct tide_stream_hub *stream)
{
    return stream->clock->now_ms(stream->clock->self);
}

static inline uint64_t stream_wall_s(const struct tide_stream_hub *stream)
{
    int64_t ms = stream->clock->wall_ms(stream->clock->self);
    return ms > 0 ? (uint64_t)ms / 1000 : 0;
}

/* --- subscriber.c: one subscriber and its buffer ------------------------------------ */

struct tide_subscriber *stream_sub_new(struct tide_stream_hub *stream,
                                       const struct tide_stream_ask *ask,
                                       const struct tide_stream_sink *sink);
void stream_sub_free(struct tide_subscriber *sub);
/* Appends "id: …" and text, whole or, where there is no room, not at all. */
bool stream_sub_put(struct tide_subscriber *sub, const struct stream_position *id, tide_slice text);
/* Reports to it whether the stream is stale, if it knows otherwise. */
void stream_tell_staleness(struct tide_subscriber *sub);
/* What the hub itself says; room is kept for it. */
void stream_sub_say(struct tide_subscriber *sub, tide_slice text);
size_t stream_sub_waiting(struct tide_subscriber *sub);
/* What waits if nothing of it was taken since then, else 0. */
size_t stream_sub_untaken(struct tide_subscriber *sub, int64_t since_ms);
/* Wakes who reads, if there is something to read. */
void stream_sub_flush(struct tide_subscriber *sub);
/* Says "dropped" after the message that is on its way, leaves out the rest, and ends. */
void stream_sub_drop(struct tide_subscriber *sub, enum tide_stream_drop reason);

/* --- ring.c: recent pieces ------------------------------------------------------ */

void stream_ring_reset(struct stream_ring *ring, const struct stream_position *at);
/* Takes them over; what is oldest goes while there is more than max bytes. */
void stream_ring_add(struct stream_ring *ring, struct stream_piece *pieces, uint64_t max);
/* The first piece of the list that holds something after the place; NULL: none. */
const struct stream_piece *stream_piece_after(const struct stream_piece *first,
                                              const struct stream_position *position);

/* --- deliver.c: what of a piece a subscriber gets ---------------------------------- */

/* Gives what is after its place; false when there was no room for all. */
bool stream_give(struct tide_subscriber *sub, const struct stream_piece *piece);
/* What time alone changed since, up to the second until. */
bool stream_give_lapses(struct tide_subscriber *sub, uint64_t until);
/* The first message, once: where it begins, and whether the stream is stale. */
void stream_greet(struct tide_subscriber *sub);
/* Greets, and loads what is needed to go on from its place. *ready false: not yet possible. */
tide_status stream_begin(struct tide_subscriber *sub, bool *ready, struct tide_err *err);
/* Its place as the id of a message. */
struct stream_position stream_id(const struct tide_subscriber *sub);

#endif
