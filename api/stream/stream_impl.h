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

/* A client: all subscribers of one name. The hub's alone. */
struct stream_client {
    uint32_t subscribers; /* 0: the place is free                                         */
    uint64_t served;      /* number of the page that was last read for it, or when it came */
    uint64_t held;        /* bytes that wait for its subscribers, by the last sum          */
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
    struct stream_client *client;                             /* NULL: no turn has seen it yet */
    bool resumed, greeted, begun, dropped, told_stale, moved; /* moved: something fitted */
    /* Begun, and the present values are not all told: it has no position yet. */
    bool opening, prices_told;
    bool no_room;            /* in all buffers together there was none for its last message */
    uint32_t standings_told; /* of watches, from the first on      */
    struct tide_hot_symbol price_told; /* the last asset; zero: none         */
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
    /* The page of present prices that was read last, of assets after prices_from. NULL: none */
    struct stream_piece *prices;
    struct tide_hot_symbol prices_from;
    bool news;
    enum stream_staleness stale;
    uint64_t served;               /* pages of the past that were read */
    struct stream_client *clients; /* subscribers_max places           */
    bool pressed;                  /* there was no room in all buffers together */
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

static inline bool stream_wants(const struct tide_subscriber *sub, enum tide_stream_topic topic)
{
    return (sub->topics & (uint32_t)topic) != 0;
}

/* The scratch text. Empty, which no buffer takes, if there was no memory for all of it. */
static inline tide_slice stream_text(const struct tide_stream_hub *stream)
{
    return stream->text.failed ? (tide_slice){ 0 } : tide_buf_view(&stream->text);
}

/* --- subscriber.c: one subscriber and its buffer ------------------------------------ */

struct tide_subscriber *stream_sub_new(struct tide_stream_hub *stream,
                                       const struct tide_stream_ask *ask,
                                       const struct tide_stream_sink *sink);
void stream_sub_free(struct tide_subscriber *sub);
/* Appends "id: …", unless id is NULL, and text: whole, or not at all where there is no room or no
 * memory. False: nothing was stored, so nothing may be noted as told. An empty text never is. */
bool stream_sub_put(struct tide_subscriber *sub, const struct stream_position *id,
                    tide_slice text) TIDE_MUST_USE;
/* The same for a message of the hub itself; room in the buffer is kept for those. */
bool stream_sub_say(struct tide_subscriber *sub, tide_slice text) TIDE_MUST_USE;
size_t stream_sub_waiting(struct tide_subscriber *sub);
/* What waits if nothing of it was taken since then, else 0. */
size_t stream_sub_untaken(struct tide_subscriber *sub, int64_t since_ms);
/* Wakes who reads, if there is something to read. */
void stream_sub_flush(struct tide_subscriber *sub);
/* Says "dropped" after the message that is on its way, leaves out the rest, and ends. */
void stream_sub_drop(struct tide_subscriber *sub, enum tide_stream_drop reason);

/* --- admit.c: which subscriptions are taken ------------------------------------------- */

/* Whether a subscriber to these topics at this position would miss the events of some ledgers. */
bool stream_lacks_events(const struct stream_head *head, uint32_t topics,
                         const struct stream_position *at);

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
/* Its place as the id of a message. */
struct stream_position stream_id(const struct tide_subscriber *sub);
bool stream_wants_note(const struct tide_subscriber *sub, const struct stream_note *note);

/* A standing's time: the last whole ledger, its close, when it was evaluated (unix seconds). */
struct stream_moment {
    uint32_t ledger;
    uint64_t close_time;
    uint64_t now;
};

/* Judges an address as of a ledger, at a time. */
struct tide_standing stream_judge(struct tide_subscriber *sub, struct stream_watch *watch,
                                  uint32_t ledger, uint64_t now);
/* The message, in the scratch text. */
tide_slice stream_standing_text(struct tide_stream_hub *stream, const struct stream_watch *watch,
                                const struct tide_standing *standing,
                                const struct stream_moment *when);

/* --- opening.c: the start of a subscription, and what the hub itself tells ------------- */

/* Tells once where the stream begins and whether it is stale; false: not all of that is stored. */
bool stream_greet(struct tide_subscriber *sub) TIDE_MUST_USE;
/* Tells whether the stream is stale, if the subscriber knows otherwise; false: no room for it. */
bool stream_tell_staleness(struct tide_subscriber *sub) TIDE_MUST_USE;
bool stream_heartbeat(struct tide_subscriber *sub) TIDE_MUST_USE;
/* Greets, and loads what is needed to go on from its place. *ready false: not yet possible. */
tide_status stream_begin(struct tide_subscriber *sub, bool *ready, struct tide_err *err);
/* While sub->opening: tells what fits of the present standings, then of the prices, then the
 * position, which ends the opening. page: prices that come next, or NULL. False: no more room. */
bool stream_tell_present(struct tide_subscriber *sub, const struct stream_piece *page);
/* Whether prices are what it is to be told next. */
bool stream_wants_prices(const struct tide_subscriber *sub);
/* The page at hand that holds them; NULL: one must be read. */
const struct stream_piece *stream_prices_for(const struct tide_subscriber *sub);

#endif
