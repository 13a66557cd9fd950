/* The service behind GET /api/stream: one thread reads each new ledger once and distributes it to
 * all subscribers.
 *
 * Position   Every message has a position, its id (position.h). All positions have one order, the
 *            same on every node and for every filter: within a ledger events (tx, op, event), then
 *            prices (by asset), compliance (by address), the ledger itself; after it, statuses that
 *            lapsed by time alone.
 * Resuming   A subscriber has received everything up to its position. The rest comes from the ring
 *            of recent ledgers, or page by page from the database. A subscriber is live when
 *            nothing is left to send; there is no separate state for it.
 * Start      A new subscriber first gets the present standings and prices as of the head's ledger,
 *            in pieces, as its buffer drains. Prices come page by page from the database. Its
 *            position, that ledger, is sent last.
 * Delivery   A message counts as sent only when it is stored in the buffer. If there is no room or
 *            no memory, the next turn tries again.
 * Slow       Each subscriber has a buffer of buffer_max bytes; while it is full, nothing is read
 *            for the subscriber. A subscriber that does not empty half of it within full_ms gets
 *            "dropped" with the reason, and is closed.
 * Full       While all buffers together hold total_max, all wait. Among the subscribers that read
 *            nothing for 5 s, the one that holds most is dropped. If all read, but one client holds
 *            more than a quarter of total_max, and twice as much as another client that finds no
 *            room, the fullest subscriber of that client is dropped.
 * Behind     If the database has fewer ledgers than before (a late replica took over, or one that
 *            lacks commits), subscribers that received the missing ledgers get "stale" with
 *            "behind". They receive nothing twice: the next message is of the first ledger after
 *            their position.
 * Stale      Without the database, or when the head is older than stale_ms (api/sql/age.h),
 *            subscribers stay connected and get "stale" with the reason, later "fresh". Messages
 *            between the two are true as of their ledger only, and no present standings are sent.
 *            Standings still lapse by the clock.
 * Incomplete While an entry of the compliance registry cannot be decoded, subscribers of compliance
 *            are stale with "incomplete": no standing that they know is to be relied on.
 * Catching   Pages of the past are read for one client after the other, and within a client for one
 * up         subscriber after the other; a new subscriber comes last. Neither many subscriptions
 *            nor repeated ones take another client's share.
 * Memory     ring_max, total_max, one page that is being read, and one page of present prices.
 * Threads    tide_event_stream_run is the body of the stream thread. Any thread may call the other
 *            functions. The sink's wake is called with the subscriber's lock held: it must not call
 *            back into this interface. */
#ifndef API_STREAM_STREAM_H
#define API_STREAM_STREAM_H

#include "api/stream/source.h"
#include "tidemark/clock.h"
#include "tidemark/hot_record.h"

/* limit of one subscriber's kinds, assets and addresses, each */
#define TIDE_STREAM_NAMES_MAX    32u
#define TIDE_STREAM_AHEAD_MAX    720u /* ledgers that a node may be behind a resumed position     */
#define TIDE_STREAM_CLIENT_BYTES 48u

struct tide_event_stream;
struct tide_subscriber;

enum tide_stream_topic {
    TIDE_TOPIC_LEDGER = 1,
    TIDE_TOPIC_EVENT = 2,
    TIDE_TOPIC_PRICE = 4,
    TIDE_TOPIC_COMPLIANCE = 8,
};

/* A subscription: topics (a set of tide_stream_topic) and filters. An empty filter lets everything
 * pass; a message must match all that are set. */
struct tide_stream_ask {
    uint32_t topics;
    uint32_t kind_count, asset_count, address_count;
    uint16_t kinds[TIDE_STREAM_NAMES_MAX]; /* events: enum tide_event_id */
    bool has_contract, has_party, has_pool;
    char contract[TIDE_HOT_ADDRESS_TEXT];                     /* events: the emitting contract */
    char party[TIDE_HOT_ADDRESS_TEXT];                        /* events: an address in them    */
    struct tide_hot_symbol pool;                              /* events: their pool            */
    struct tide_hot_symbol assets[TIDE_STREAM_NAMES_MAX];     /* prices; none: all             */
    struct tide_hot_address addresses[TIDE_STREAM_NAMES_MAX]; /* compliance                    */
    char client_name[TIDE_STREAM_CLIENT_BYTES]; /* per_client_max counts by it; NUL-terminated */
};

/* The results of tide_event_stream_subscribe. */
enum tide_stream_refusal {
    TIDE_STREAM_TAKEN,            /* accepted                                                 */
    TIDE_STREAM_FULL,             /* subscribers_max is reached                               */
    TIDE_STREAM_CLIENT_FULL,      /* per_client_max is reached                                */
    TIDE_STREAM_BAD_POSITION,     /* the id is not a position                                 */
    TIDE_STREAM_OTHER_DEPLOYMENT, /* the id is of another deployment                          */
    TIDE_STREAM_TOO_OLD,          /* the id is before the indexed range, or resume_ledgers back   */
    TIDE_STREAM_ARCHIVED,         /* events are requested, and some after the id are archived     */
    TIDE_STREAM_AHEAD,            /* the id is more than TIDE_STREAM_AHEAD_MAX after the head     */
    TIDE_STREAM_NOT_READY,        /* the head has not been read yet, or no memory                 */
};

struct tide_stream_sink {
    void (*wake)(void *self); /* called once after a read that returned 0: read again */
    void *self;
};

struct tide_event_stream_options {
    const struct tide_clock *clock;
    struct stream_source source;
    uint32_t subscribers_max, per_client_max;
    uint32_t buffer_max;     /* bytes of one subscriber's buffer        */
    uint64_t total_max;      /* bytes of all buffers                    */
    uint64_t ring_max;       /* bytes of recent ledgers                 */
    uint32_t resume_ledgers; /* how far back a subscriber may resume    */
    uint32_t heartbeat_ms, full_ms;
    uint32_t stale_ms;           /* an older head is reported as stale  */
    bool (*stopped)(void *self); /* NULL: never                         */
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
/* Returns the reason as the client reads it: "slow". */
const char *tide_stream_drop_name(enum tide_stream_drop reason);

struct tide_event_stream_stats {
    uint32_t subscribers, behind;        /* behind: not live yet                          */
    uint32_t ledger;                     /* the newest that was distributed               */
    uint32_t archived_from, archived_to; /* as of the head                                */
    bool stale;
    uint64_t opened, refused, messages, bytes;
    uint64_t buffered; /* bytes of all buffers                                             */
    uint64_t waits;    /* times that subscribing, reading or closing had to wait for a lock */
    uint64_t ring_bytes, ring_ledgers;
    uint64_t live_pages, catch_up_pages, failures;
    uint64_t dropped[TIDE_DROPPED_COUNT];
};

/* Fails with TIDE_E_MEMORY. *out is the caller's until tide_event_stream_close. */
tide_status tide_event_stream_open(struct tide_event_stream **out,
                                   const struct tide_event_stream_options *options,
                                   struct tide_err *err) TIDE_MUST_USE;
/* Call after the stream thread ended and every subscriber was closed. NULL is allowed. */
void tide_event_stream_close(struct tide_event_stream *stream);
/* Runs turns until options.stopped, then drops all subscribers with "shutdown". */
void tide_event_stream_run(struct tide_event_stream *stream);
/* Runs one turn: reads the head and at most one page of each kind, and distributes them. *more:
 * there is more to do at once. For tests. */
void tide_event_stream_turn(struct tide_event_stream *stream, bool *more);
void tide_event_stream_stats(struct tide_event_stream *stream, struct tide_event_stream_stats *out);

/* Subscribes. If last_event_id is empty, the stream starts at the head, and first sends the present
 * standing of each named address and the price of each named asset (none named: of all).
 * *out is set if the result is TIDE_STREAM_TAKEN; the caller must call tide_subscriber_close. */
enum tide_stream_refusal tide_event_stream_subscribe(struct tide_event_stream *stream,
                                                     const struct tide_stream_ask *ask,
                                                     tide_slice last_event_id,
                                                     const struct tide_stream_sink *sink,
                                                     struct tide_subscriber **out) TIDE_MUST_USE;
/* Moves at most max bytes into out and returns their count. Returns 0 if there are none (the sink's
 * wake follows when there are), and -1 at the end of the stream. */
ptrdiff_t tide_subscriber_read(struct tide_subscriber *subscriber, char *out, size_t max);
/* Ends the subscription. After the return, wake is not called and the stream thread owns the
 * subscriber. */
void tide_subscriber_close(struct tide_subscriber *subscriber);

#endif
