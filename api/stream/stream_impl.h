/* Internal to api/stream: a subscriber, the ring of recent ledgers, the stream, and the functions
 * that the files of this folder share. Members marked "stream thread" have no lock: only the
 * thread in tide_event_stream_run touches them. */
#ifndef API_STREAM_STREAM_IMPL_H
#define API_STREAM_STREAM_IMPL_H

#include "api/stream/stream.h"
#include "tidemark/rule.h"

#include <pthread.h>
#include <stdatomic.h>

enum {
    STREAM_TURN_MS = 50,         /* longest pause between two turns                         */
    STREAM_HEAD_MS = 1000,       /* between two reads of the head without a notification    */
    STREAM_RETRY_MS = 250,       /* between a failed read of the database and the next      */
    STREAM_STALE_MS = 1000,      /* a database that fails for this long is reported as stale */
    STREAM_BEGINS_PER_TURN = 16, /* new subscribers that need a statement, in one turn */
    STREAM_UNTAKEN_MS = 5000,    /* a subscriber that reads nothing for this long may be dropped */
    STREAM_RESERVE = 1 << 10     /* bytes of each buffer that only notices may fill         */
};

/* The reasons of a "stale" message. STREAM_NO_INDEXER: the head is older than stale_ms.
 * STREAM_FORKED: validators contradict the index, so nothing new comes. The last
 * two are of single subscribers: the head is before the position, or it lacks an entry of the
 * compliance registry. */
enum stream_staleness {
    STREAM_FRESH,
    STREAM_NO_DATABASE,
    STREAM_NO_INDEXER,
    STREAM_FORKED,
    STREAM_BEHIND,
    STREAM_INCOMPLETE
};

/* An address whose compliance a subscriber follows. */
struct stream_watch {
    struct tide_hot_address address;
    struct tide_hot_person person; /* the compliance record as of the position  */
    struct tide_standing standing; /* as the subscriber was last sent it        */
    uint64_t lapses_at;            /* unix second at which time alone changes it; 0: never */
    bool due;                      /* the standing must be evaluated again                 */
};

/* A client: all subscribers with one client_name. Stream thread. */
struct stream_client {
    uint32_t subscribers; /* 0: the slot is free */
    uint64_t served;      /* number of the last page read for it; before that, for any client */
    uint64_t held;        /* bytes buffered for its subscribers, from the last sum_held */
};

struct tide_subscriber {
    struct tide_event_stream *stream;
    struct tide_stream_sink sink;
    char client_name[TIDE_STREAM_CLIENT_BYTES];
    /* The subscription: constant after subscribing. */
    uint32_t topics, kind_count, asset_count, watch_count;
    uint16_t kinds[TIDE_STREAM_NAMES_MAX];
    char contract[TIDE_HOT_ADDRESS_TEXT], party[TIDE_HOT_ADDRESS_TEXT]; /* empty: any */
    struct tide_hot_symbol pool;                                        /* empty: any */
    struct tide_hot_symbol *assets;
    struct stream_watch *watches; /* in ascending order of address */
    uint16_t deployment;          /* the head's at its admission; constant after that */
    /* Stream thread. */
    struct stream_client *client; /* NULL: the subscriber has not been in a turn yet */
    /* resumed: has a Last-Event-ID. greeted: "open" is in the buffer. begun: stream_begin
     * succeeded. moved: the last attempt to send stored at least one message. */
    bool resumed, greeted, begun, dropped, moved;
    enum stream_staleness stale_sent; /* the staleness last delivered */
    /* opening: begun is set, and not all present values are sent, so no message had an id yet. */
    bool opening, prices_sent;
    bool no_room;            /* total_max kept its last message out of the buffer      */
    uint32_t standings_sent; /* watches [0, standings_sent) were sent during the opening */
    struct tide_hot_symbol last_price_sent; /* during the opening; zero: none           */
    uint64_t served;                  /* number of the last page read for it, or of its beginning */
    struct stream_position delivered; /* everything up to here is in the buffer or read */
    uint64_t closed_ms;               /* close time of the last complete ledger, unix ms      */
    uint64_t seen;                    /* the second at which compliance was last evaluated    */
    /* time since which no message fitted into the buffer; 0: the last one fitted */
    int64_t full_ms;
    int64_t sent_ms; /* when something was last put into the buffer          */
    /* Under mutex. */
    pthread_mutex_t mutex;
    char *bytes; /* [start, start + len) is not read by the client yet; cap bytes allocated */
    size_t start, len, cap;
    int64_t taken_ms;        /* last read, or when bytes came into the empty buffer */
    bool reader_waits, over; /* reader_waits: a read returned 0, wake is owed       */
    atomic_bool gone;        /* closed by the reader: the stream thread frees the subscriber */
};

/* Recent ledgers, a list of pieces in order. Stream thread. */
struct stream_ring {
    struct stream_piece *first, *last;
    struct stream_position start, end; /* contents: after start, up to and including end   */
    struct stream_piece *fresh;        /* the first piece of the last addition             */
    struct stream_position fresh_from; /* the end of the ring before that addition         */
    uint64_t bytes, ledgers;
};

struct tide_event_stream {
    struct tide_event_stream_options options;
    const struct tide_clock *clock;
    /* Under mutex. The stream thread alone removes from all, and reads head without the lock. */
    pthread_mutex_t mutex;
    struct tide_subscriber **all;
    uint32_t count;
    struct stream_head head;
    bool known; /* the head was read at least once; false again while stopping */
    struct tide_event_stream_stats stats;
    atomic_uint_fast64_t buffered, messages, bytes_out;
    atomic_ullong waits; /* times that a thread found a lock held */
    /* Stream thread. */
    struct tide_subscriber **turn; /* the subscribers of the current turn, not dropped */
    uint32_t turn_count;
    struct stream_ring ring;
    /* The last page of present prices of all assets, those after prices_from. NULL: none. */
    struct stream_piece *prices;
    struct tide_hot_symbol prices_from;
    bool news; /* a notification came: read the head in this turn */
    enum stream_staleness stale;
    uint64_t served;                  /* pages read for single subscribers, and beginnings */
    struct stream_client *clients;    /* subscribers_max + 1 slots                         */
    bool pressed;                     /* total_max kept a message out in this turn         */
    int64_t head_read_ms, head_ok_ms; /* last attempt to read the head; last success    */
    struct tide_buf text;             /* scratch for one message                        */
};

static inline int64_t stream_now_ms(const struct tide_event_stream *stream)
{
    return stream->clock->now_ms(stream->clock->self);
}

static inline uint64_t stream_wall_s(const struct tide_event_stream *stream)
{
    int64_t ms = stream->clock->wall_ms(stream->clock->self);
    return ms > 0 ? (uint64_t)ms / 1000 : 0;
}

static inline bool stream_wants_topic(const struct tide_subscriber *sub,
                                      enum tide_stream_topic topic)
{
    return (sub->topics & (uint32_t)topic) != 0;
}

/* Returns the scratch text, or an empty slice if memory ran out while it was written.
 * stream_sub_put stores no empty text, so a truncated message is never sent. */
static inline tide_slice stream_text(const struct tide_event_stream *stream)
{
    return stream->text.failed ? (tide_slice){ 0 } : tide_buf_view(&stream->text);
}

/* --- subscriber.c: one subscriber and its buffer ------------------------------------ */

void stream_sub_free(struct tide_subscriber *sub);
/* Appends "id: …" (unless id is NULL) and text, both or nothing. Returns false if there was no
 * room, no memory or no text: then the caller must not count the message as sent. */
bool stream_sub_put(struct tide_subscriber *sub, const struct stream_position *id,
                    tide_slice text) TIDE_MUST_USE;
/* Appends a notice (open, stale, heartbeat), which may use STREAM_RESERVE. Returns false like
 * stream_sub_put. */
bool stream_sub_put_notice(struct tide_subscriber *sub, tide_slice text) TIDE_MUST_USE;
/* Returns the bytes in the buffer that the client has not read. */
size_t stream_sub_waiting(struct tide_subscriber *sub);
/* Returns the same if the client read nothing after since_ms, else 0. */
size_t stream_sub_untaken(struct tide_subscriber *sub, int64_t since_ms);
/* Wakes the reader if it waits and there is something to read. */
void stream_sub_flush(struct tide_subscriber *sub);
/* Ends the stream: keeps the message that is being read, discards the rest, appends "dropped". */
void stream_sub_drop(struct tide_subscriber *sub, enum tide_stream_drop reason);

/* Returns whether topics include events and some events after the position are archived. */
bool stream_lacks_events(const struct stream_head *head, uint32_t topics,
                         const struct stream_position *at);

/* --- ring.c: recent pieces ------------------------------------------------------ */

/* Frees all pieces; the ring then starts and ends at the position. */
void stream_ring_reset(struct stream_ring *ring, const struct stream_position *at);
/* Appends the pieces and takes ownership. Frees the oldest pieces while the ring holds more than
 * max bytes, but none of those just added. */
void stream_ring_add(struct stream_ring *ring, struct stream_piece *pieces, uint64_t max);
/* Returns the first piece of the list that ends after the position, or NULL. */
const struct stream_piece *stream_piece_after(const struct stream_piece *first,
                                              const struct stream_position *position);

/* --- deliver.c: which part of a piece a subscriber gets ------------------------------ */

/* Sends what the piece holds after the subscriber's position, and moves the position. Returns false
 * if a message found no room: the next call continues there. */
bool stream_deliver(struct tide_subscriber *sub, const struct stream_piece *piece);
/* Sends the standings that lapsed by time alone, up to and including the unix second until. Returns
 * false like stream_deliver. */
bool stream_deliver_lapses(struct tide_subscriber *sub, uint64_t until);
/* Returns the subscriber's position as the id of a message. */
struct stream_position stream_id(const struct tide_subscriber *sub);
/* Returns whether the subscriber's topics and filters let the note pass. */
bool stream_wants_note(const struct tide_subscriber *sub, const struct stream_note *note);

/* A standing's time: the last complete ledger, its close (unix milliseconds), when it was evaluated
 * (unix seconds). */
struct stream_moment {
    uint32_t ledger;
    uint64_t closed_ms;
    uint64_t now;
};

/* Returns the standing of an address as of a ledger, evaluated at the unix second now. Clears
 * watch->due and sets watch->lapses_at. */
struct tide_standing stream_judge(struct tide_subscriber *sub, struct stream_watch *watch,
                                  uint32_t ledger, uint64_t now);
/* Returns a "compliance" message in the scratch text: valid until the next message is written. */
tide_slice stream_standing_text(struct tide_event_stream *stream, const struct stream_watch *watch,
                                const struct tide_standing *standing,
                                const struct stream_moment *when);

/* --- opening.c: the start of a subscription, and the notices ---------------------------- */

/* Sends "open" once, then the staleness. Returns false if one of them found no room. */
bool stream_send_open(struct tide_subscriber *sub) TIDE_MUST_USE;
enum stream_staleness stream_staleness_of(const struct tide_subscriber *sub);
/* Sends "stale" or "fresh" if the staleness differs from the one sent before. Returns false without
 * room. */
bool stream_send_staleness(struct tide_subscriber *sub) TIDE_MUST_USE;
bool stream_send_heartbeat(struct tide_subscriber *sub) TIDE_MUST_USE;
/* Sends "open" and loads the standings as of the subscriber's position. *ready is false if there
 * was no room, or if the index is stale and addresses are watched: call again in the next turn. */
tide_status stream_begin(struct tide_subscriber *sub, bool *ready, struct tide_err *err);
/* While sub->opening: sends as much as fits of the present standings, then of the prices, then
 * the position, which ends the opening. page: the prices that come next, or NULL. Returns false
 * if there was no room for more. */
bool stream_send_present(struct tide_subscriber *sub, const struct stream_piece *page);
/* Returns whether the subscriber is opening, has all standings, and still needs prices. */
bool stream_wants_prices(const struct tide_subscriber *sub);
/* Returns stream->prices if that page holds the prices to send next, or NULL: one must be read. */
const struct stream_piece *stream_prices_for(const struct tide_subscriber *sub);

#endif
