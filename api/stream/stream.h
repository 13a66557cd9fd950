/* Live messages: one hub thread reads each new ledger once and gives it to all subscribers.
 *
 * Position   every message has one, in one order that is the same on every node and whatever the
 *            filter: within a ledger events (tx, op, event), prices (by asset), compliance (by
 *            address), then the ledger itself; after it, what time alone changed. As text it is
 *            the id of the message, see position.h.
 * Resuming   a subscriber has seen exactly what is not after its position. What is after it comes
 *            from the ring of recent ledgers or, page by page, from the database; at the end of
 *            that there is no joint: being live is having nothing left to send.
 * Start      a new subscriber is told the present standings and prices as of the head's ledger, in
 *            pieces, as its buffer drains; prices come page by page from the database. Its place,
 *            which is that ledger, is the last of it.
 * Told       nothing counts as told that was not stored in the buffer: what finds no room or no
 *            memory is tried again in the next turn.
 * Slow       each has a buffer of buffer_max bytes; while it is full nothing is read for it. One
 *            that does not empty half of it in full_ms is told "dropped", with the reason, and
 *            closed. When all buffers together reach total_max all wait, and the one that holds
 *            most of it and took nothing for five seconds is dropped. If all take something, and a
 *            client holds more than a quarter and twice as much as another that finds no room, its
 *            fullest subscriber is.
 * Behind     when the database has fewer ledgers than before (a late replica took over, or one that
 *            lacks commits), a subscriber that was given the others is told "stale", "behind". It
 *            is given nothing twice: its next message is of the first ledger after its place.
 * Stale      without the database, or when the head is older than stale_ms (age.h), subscribers
 *            stay and are told "stale" with the reason, then "fresh". Messages between the two are
 *            true as of their ledger only: present standings are not given until "fresh".
 *            Compliance still lapses by the clock.
 * Catching   pages of the past go to clients in turn, and to a client's subscribers in turn; a new
 * up         subscriber is last. So neither many subscriptions nor repeated ones take another
 *            client's share.
 * Memory     ring_max, total_max, one page that is being read, and one of present prices; nothing
 *            grows beyond.
 * Threads    tide_stream_hub_run is the hub thread's body. The others run on any thread. wake is
 *            called with the subscriber's lock held: it must not call back. */
#ifndef API_STREAM_STREAM_H
#define API_STREAM_STREAM_H

#include "api/stream/source.h"
#include "schema/store/hot_record.h"
#include "tidemark/clock.h"

#define TIDE_STREAM_NAMES_MAX 32u  /* kinds, assets, addresses of one subscriber, each      */
#define TIDE_STREAM_AHEAD_MAX 720u /* ledgers that a node may be behind a subscriber's place */
#define TIDE_STREAM_WHO_BYTES 48u

struct tide_stream_hub;
struct tide_subscriber;

enum tide_stream_topic {
    TIDE_TOPIC_LEDGER = 1,
    TIDE_TOPIC_EVENT = 2,
    TIDE_TOPIC_PRICE = 4,
    TIDE_TOPIC_COMPLIANCE = 8,
};

/* What a subscriber wants. An empty filter lets everything pass; all that are set must match. */
struct tide_stream_ask {
    uint32_t topics;
    uint32_t kind_count, asset_count, address_count;
    uint16_t kinds[TIDE_STREAM_NAMES_MAX]; /* of events: enum tide_event_id */
    bool has_contract, has_party, has_pool;
    char contract[TIDE_HOT_ADDRESS_TEXT];                     /* of events: that emitted them    */
    char party[TIDE_HOT_ADDRESS_TEXT];                        /* of events: an address in them   */
    struct tide_hot_symbol pool;                              /* of events: the pool in them     */
    struct tide_hot_symbol assets[TIDE_STREAM_NAMES_MAX];     /* of prices; none: all */
    struct tide_hot_address addresses[TIDE_STREAM_NAMES_MAX]; /* of compliance      */
    char who[TIDE_STREAM_WHO_BYTES]; /* whose limit it counts for, NUL-terminated     */
};

enum tide_stream_refusal {
    TIDE_STREAM_TAKEN,
    TIDE_STREAM_FULL,         /* subscribers_max                                        */
    TIDE_STREAM_FULL_OF,      /* per_who_max                                            */
    TIDE_STREAM_BAD_POSITION, /* no id of ours                                          */
    TIDE_STREAM_ELSEWHERE,    /* of another deployment                                  */
    TIDE_STREAM_TOO_OLD,      /* before what is kept, or what may be asked for again    */
    TIDE_STREAM_ARCHIVED,     /* events after it are archived, and events are asked for  */
    TIDE_STREAM_AHEAD,        /* more than TIDE_STREAM_AHEAD_MAX after what is known    */
    TIDE_STREAM_UNKEPT,       /* a topic, or a kind of event, that the index does not keep */
    TIDE_STREAM_NOT_READY,    /* the database has not been seen yet, or no memory       */
};

struct tide_stream_sink {
    void (*wake)(void *self); /* there is something to read again; once after a read that gave 0 */
    void *self;
};

struct tide_stream_hub_options {
    const struct tide_clock *clock;
    struct stream_source source;
    uint32_t subscribers_max, per_who_max;
    uint32_t buffer_max;     /* bytes, of one subscriber      */
    uint64_t total_max;      /* bytes, of all buffers          */
    uint64_t ring_max;       /* bytes of recent messages       */
    uint32_t resume_ledgers; /* how far back one may resume    */
    uint32_t heartbeat_ms, full_ms;
    uint32_t stale_ms;           /* an older head is reported as stale */
    bool (*stopped)(void *self); /* NULL: never */
    void *stopped_self;
};

#define TIDE_STREAM_DROPS(X) \
    X(SLOW, slow)            \
    X(MEMORY, memory)        \
    X(GAP, gap) X(ARCHIVED, archived) X(DEPLOYMENT, deployment) X(SHUTDOWN, shutdown)
enum tide_stream_drop {
#define TIDE_STREAM_DROP(name, word) TIDE_DROPPED_##name,
    TIDE_STREAM_DROPS(TIDE_STREAM_DROP)
#undef TIDE_STREAM_DROP
        TIDE_DROPPED_COUNT
};
const char *tide_stream_drop_name(enum tide_stream_drop reason); /* "slow" */

struct tide_stream_hub_stats {
    uint32_t subscribers, behind;        /* behind: not live yet */
    uint32_t ledger;                     /* newest that was given out */
    uint32_t archived_from, archived_to; /* as of the source's head     */
    bool stale;
    uint64_t opened, refused, messages, bytes;
    uint64_t buffered; /* bytes of all buffers         */
    uint64_t waits;    /* who subscribed, read or closed found a lock held */
    uint64_t ring_bytes, ring_ledgers;
    uint64_t live_pages, catch_up_pages, failures;
    uint64_t dropped[TIDE_DROPPED_COUNT];
};

tide_status tide_stream_hub_open(struct tide_stream_hub **out,
                                 const struct tide_stream_hub_options *options,
                                 struct tide_err *err) TIDE_MUST_USE;
/* After the hub's thread ended and every subscriber was closed. */
void tide_stream_hub_close(struct tide_stream_hub *stream);
/* The body of the hub's thread, until stopped; then all subscribers are dropped, "shutdown". */
void tide_stream_hub_run(struct tide_stream_hub *stream);
/* One turn of it by hand: looks, reads at most a page of each kind, gives out. *more: at once
 * again. (Tests.) */
void tide_stream_hub_turn(struct tide_stream_hub *stream, bool *more);
void tide_stream_hub_stats(struct tide_stream_hub *stream, struct tide_stream_hub_stats *out);

/* last_event_id empty: from now on, with the present standing of each named address, and the price
 * of each named asset, or of all, first.
 * *out, when taken, is the caller's until tide_subscriber_close. */
enum tide_stream_refusal tide_stream_hub_subscribe(struct tide_stream_hub *stream,
                                                   const struct tide_stream_ask *ask,
                                                   tide_slice last_event_id,
                                                   const struct tide_stream_sink *sink,
                                                   struct tide_subscriber **out) TIDE_MUST_USE;
/* Bytes into out: their count; 0 when there are none: wake is called when there are; -1 when it is
 * over. */
ptrdiff_t tide_subscriber_read(struct tide_subscriber *subscriber, char *out, size_t max);
/* It is not read any more; once this returned wake is not called. */
void tide_subscriber_close(struct tide_subscriber *subscriber);

#endif
