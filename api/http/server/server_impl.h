/* The layers of the server, each above the ones that it calls:
 *
 *   server.c    opens, starts and stops; the callbacks of libmicrohttpd
 *   loop.c      the loop of a worker's thread
 *   run.c       runs the handler of a complete request; counts and logs the answer
 *   answer.c    from a reply to the library's response; complete.c: its ETag and compression
 *   request.c   from the head of a request to its body
 *   guard.c     guards against faults of the library; linger.c: the end of a connection
 *   conn.c      a connection: its state, deadline, memory, sleep
 *
 * Unless a comment says otherwise, a function runs on the thread of the connection's worker, and a
 * struct's members belong to that thread. */
#ifndef API_HTTP_SERVER_SERVER_IMPL_H
#define API_HTTP_SERVER_SERVER_IMPL_H

#include "api/http/server/conn_limit.h"
#include "api/http/server/rate.h"
#include "api/http/server/request_check.h"
#include "api/http/server/server.h"

#include <pthread.h>
#include <stdatomic.h>

struct MHD_Connection;
struct MHD_Daemon;

enum {
    SERVER_SWEEP_MS = 100,  /* between two checks of all deadlines */
    SERVER_HUNG_MS = 20000, /* a thread without progress for this long has hung (liveness) */
    /* The library's memory for a connection: the head of a request and the header lines of its
     * answer */
    SERVER_POOL_BYTES = 16384,
    /* A buffer up to this size is kept for the next request, and is part of a connection's cost;
     * larger ones are counted in conn_limit */
    SERVER_KEEP_BYTES = 16384,
    SERVER_TAG_BYTES = 40 /* an ETag: W/, quotes, 32 hex digits, NUL */
};

/* The states of a connection. README.md of this folder draws them. Each has its deadline
 * (server_set_state). */
enum server_state {
    STATE_HEAD,   /* waiting for, or receiving, a request's head */
    STATE_BODY,   /* receiving the body */
    STATE_WAIT,   /* suspended: an executor or the encoder works on the request */
    STATE_ENCODE, /* the reply is complete; the encoder shall compress it */
    STATE_ANSWER, /* the reply is complete and not yet queued in the library */
    STATE_WRITE,  /* sending the answer */
    STATE_STREAM, /* sending a stream */
    STATE_IDLE,   /* between requests */
    STATE_COUNT
};

/* A connection's entry in its worker's list of connections to wake. Other threads add it. */
struct tide_wake {
    struct server_conn *conn;
    struct tide_wake *next;
    bool listed; /* under the worker's mutex */
};

/* The head of a request, and the results of its checks (request.c). */
struct server_head {
    uint64_t start_us;               /* monotonic, start of the request */
    bool bodiless;                   /* the method is HEAD */
    bool matched;                    /* a route was found, and its parameters are good */
    const struct tide_route *likely; /* route of the previous request, tried first */
    /* A route of this path with another method, for CORS headers; set only if no route matched */
    const struct tide_route *near;
    struct tide_peer from;       /* the client's address, also behind proxies */
    struct tide_peer client_key; /* identity for limits: an address, or a key's digest */
    struct tide_rate_answer rate;
    struct tide_key_answer key;
    enum tide_rate_class class;
    tide_slice method;
    const struct tide_request_fault *fault; /* in the form of the head, or NULL */
    struct tide_request_head fields;        /* the header lines */
    char client[TIDE_PEER_TEXT];
    size_t target_len;
    /* One byte more than allowed, to detect a target that is too long */
    char target[TIDE_TARGET_MAX + 1];
    char scratch[TIDE_ROUTE_SCRATCH];
};

/* The variant of the reply that this client gets (complete.c). */
struct server_variant {
    char tag[SERVER_TAG_BYTES];  /* empty: the answer has no ETag */
    enum tide_encoding encoding; /* Content-Encoding of the reply */
    bool completed;              /* server_complete has set tag and encoding */
    bool varies;                 /* the answer depends on Accept-Encoding */
};

/* A connection as guard.c watches it. */
struct server_guard {
    enum { NUDGE_NONE, NUDGE_DUE, NUDGE_SET } nudge;
    bool asked_again; /* the library was already given one more call before it suspends */
    uint64_t sent;    /* bytes sent to the client before an early answer */
    uint64_t bytes;   /* bytes that had moved over the socket at the last check */
    /* Consecutive checks with unread bytes; sweeps since the connection should have closed */
    uint32_t unread, overdue;
};

struct server_conn {
    struct server_worker *worker;
    struct server_conn *next, *prev; /* the worker's list of connections */
    struct MHD_Connection *mhd;
    int fd;
    enum server_state state; /* server_set_state moves it */
    int64_t deadline_ms;     /* INT64_MAX: none */
    uint32_t requests;
    bool counted;   /* the connection is counted in conn_limit */
    bool cut;       /* the socket was shut down: no more answers */
    bool suspended; /* the library does not look at the connection */
    bool close;     /* the connection ends after this answer */
    bool early;   /* the answer is queued in the library's first call, which ends the connection */
    bool unended; /* the client may still send the rest of the last request */
    bool refused; /* the reply is a problem, and the rest of the body is discarded */
    struct tide_peer peer;
    /* Bytes counted in conn_limit for request.client, by enum tide_conn_limit_bytes */
    size_t held[TIDE_CONN_LIMIT_ANSWER + 1];
    struct tide_wake wake;
    struct server_guard guard;
    struct server_conn *encode_next; /* the encoder's queue, under its mutex */
    struct tide_job job;             /* an executor's */
    struct tide_buf body;
    struct server_variant variant;
    struct tide_request request; /* the handler's view of head and body */
    struct tide_reply reply;     /* the handler or a check fills it */
    struct server_head head;
};

/* The counters of one route. Only the worker writes them, so that plain loads and stores
 * suffice. */
struct server_counters {
    atomic_uint_fast64_t status[TIDE_METRIC_STATUS_COUNT];
    atomic_uint_fast64_t bucket[TIDE_METRIC_BUCKET_COUNT];
    atomic_uint_fast64_t us;
    uint8_t fixed_tag[16]; /* digest of the route's static bytes, made at the first request */
    bool fixed_tagged;
};

struct server_totals {
#define TIDE_METRIC_FIELD(name) atomic_uint_fast64_t name;
    TIDE_METRIC_COUNTERS(TIDE_METRIC_FIELD)
    TIDE_METRIC_GAUGES(TIDE_METRIC_FIELD)
#undef TIDE_METRIC_FIELD
};

#define TIDE_STALL_EVERY_MS 500 /* between observations                              */
#define TIDE_STALL_CUT      12u /* observations without progress: connections are cut */
/* Still no progress after this many observations: the server reports that it is unhealthy */
#define TIDE_STALL_REPORT 16u

/* A worker as tide_server_observe saw it; all zero at first. */
struct tide_stall {
    uint64_t moved;
    uint32_t still; /* observations since moved changed */
};

struct server_worker {
    struct tide_server *server;
    struct MHD_Daemon *daemon;
    void *state; /* the handlers' state, from options.thread */
    pthread_t thread;
    bool started;
    atomic_bool ended;  /* the loop has ended */
    atomic_bool called; /* another thread writes to event_fd */
    int epoll_fd, event_fd, linger_fd;
    struct server_lingering *lingering;
    struct server_conn *conns;
    uint32_t lingering_count, conn_count;
    int64_t now_ms, swept_ms; /* monotonic, read once in each turn of the loop */
    uint64_t wall_ms;
    uint64_t ids; /* the next id, for requests without one */
    uint64_t requests, requests_seen;
    uint64_t slept, slept_seen; /* turns in which the worker waited and nothing was to be done */
    uint32_t sweeps, sampled;
    uint64_t moved_seen;       /* value of moved at the last check */
    uint64_t marked;           /* value of moved at the last liveness mark */
    struct tide_stall stall;   /* the thread's that observes */
    atomic_uint_fast64_t kept; /* connections that were cut and that the library does not close */
    /* progress: incremented with each effect, and with each turn that had nothing to do */
    atomic_uint_fast64_t moved;
    char network[SERVER_NETWORK_BYTES]; /* value of the header Network; empty while unknown */
    char date[32];                      /* value of the header Date, renewed every second */
    uint64_t date_s;
    /* Stopping: no new connections; quiet: the listening socket is closed; stop_ms: since when. */
    bool stopping, quiet;
    int64_t stop_ms;
    pthread_mutex_t mutex; /* guards woken, and changes to conns */
    atomic_ullong waits;   /* times that this worker waited for the mutex */
    struct tide_wake *woken;
    struct server_totals totals;
    /* By index of the route; the last is for requests without a route */
    struct server_counters *routes;
};

/* The thread that compresses large answers of look-ups (complete.c). */
struct server_encoder {
    pthread_t thread;
    bool started, stopping;
    pthread_mutex_t mutex;
    pthread_cond_t wanted;
    struct server_conn *first, *last; /* the queue */
    size_t bytes;                     /* bytes of the bodies in the queue and in work */
};

struct tide_server {
    struct tide_server_options options;
    struct server_encoder encoder;
    struct tide_conn_limit *limit;
    struct tide_rate *rate;
    struct tide_peer_proxies proxies;
    uint16_t port;
    uint64_t seed;
    atomic_bool draining, stopping, stalled;
    int64_t observed_ms; /* time of the last observation, and how many are left before the end */
    uint32_t observed_left;
    uint32_t worker_count;
    struct server_worker workers[];
};

/* Adds to a counter of which the caller's thread is the only writer. */
static inline void server_add(atomic_uint_fast64_t *counter, int64_t by)
{
    uint64_t now = atomic_load_explicit(counter, memory_order_relaxed);
    atomic_store_explicit(counter, now + (uint64_t)by, memory_order_relaxed);
}

/* Counts progress. */
static inline void server_moved(struct server_worker *worker)
{
    server_add(&worker->moved, 1);
}

/* Returns the executor with that index, or NULL for TIDE_ROUTE_INLINE. */
static inline const struct tide_executor *server_executor(const struct server_conn *conn, int index)
{
    return index < 0 ? NULL : &conn->worker->server->options.executors[index];
}

/* --- conn.c: a connection -------------------------------------------------------------------- */

/* Returns a new connection in STATE_HEAD, or NULL without memory. */
struct server_conn *server_conn_open(struct server_worker *worker, struct MHD_Connection *mhd,
                                     int fd, const struct tide_peer *peer);
/* Called when the library closes the connection. */
void server_conn_close(struct server_conn *conn);
/* Returns whether a connection in state `from` may enter the state `to`. Pure. */
bool server_state_may(enum server_state from, enum server_state to);
/* Sets *state. Ends the process if the transition is not allowed. */
void server_state_move(enum server_state *state, enum server_state to);
/* Moves the connection to the state, and sets the state's deadline. A connection that was cut
 * keeps its deadline. */
void server_set_state(struct server_conn *conn, enum server_state state);
/* Returns the time that a whole request has: two thirds of api_idle_ms. */
int64_t server_request_ms(const struct server_worker *worker);
/* Shuts down the socket. The library then closes the connection; until then conn stays valid. */
void server_cut(struct server_conn *conn);
/* Lets the library leave the connection alone until it is woken. */
void server_suspend(struct server_conn *conn);
/* Lets the library continue with a suspended connection. */
void server_resume(struct server_conn *conn);
/* Resumes all connections that other threads have woken. */
void server_resume_woken(struct server_worker *worker);
/* Removes the connection from the list of those to wake. */
void server_unlist(struct server_conn *conn);
/* Makes the loop's poll return. Any thread. */
void server_wake_loop(struct server_worker *worker);
/* Counts bytes that the connection is about to keep in memory, with a limit for all and a share for
 * each client. Returns false at a limit. */
bool server_hold(struct server_conn *conn, enum tide_conn_limit_bytes what, size_t bytes);
/* Returns all bytes that the request counted. */
void server_hold_end(struct server_conn *conn);
/* Sets a request id of the server's own. */
void server_make_id(struct server_conn *conn);
/* Makes the reply a 503 `overloaded`. */
void server_overloaded(struct server_conn *conn, const char *detail);
/* Returns the counters of the request's route, or those of requests without one. */
struct server_counters *server_counters_of(struct server_conn *conn);

/* --- linger.c: connections that end while their clients may still send ----------------------- */

tide_status server_linger_open(struct server_worker *worker, struct tide_err *err) TIDE_MUST_USE;
void server_linger_close(struct server_worker *worker);
/* Keeps the socket open if its client may still send. Called before the library closes the
 * connection. */
void server_linger_begin(struct server_conn *conn);
/* Discards what the clients send. In each turn of the loop. */
void server_linger_read(struct server_worker *worker);
/* Closes those whose time is up. In each sweep. */
void server_linger_sweep(struct server_worker *worker);
/* Writes a problem to the socket beside the library, without waiting. lines: further header
 * lines. */
void server_send_problem(struct server_conn *conn, const struct tide_request_fault *problem,
                         const char *lines);

/* --- guard.c: guards against faults of the library ------------------------------------------- */

enum tide_stall_step {
    TIDE_STALL_NONE,
    TIDE_STALL_CUT_NOW,
    TIDE_STALL_REPORT_NOW,
};

/* Decides when a thread counts as stalled: by repeated observations, not by a clock. A machine that
 * was paused makes no observations meanwhile. Notes one observation and returns the step that is
 * due. moved: a count that the thread raises with each progress, and with each turn that had
 * nothing to do. keeps: the thread has a connection that was cut and does not close. CUT_NOW and
 * REPORT_NOW are returned once until the thread moves again, except that keeps always returns
 * REPORT_NOW. Pure. */
enum tide_stall_step tide_stall_observe(struct tide_stall *stall, uint64_t moved, bool keeps);
/* Returns true at the first call for a request: the library must be called once more before the
 * connection is suspended. */
bool server_guard_once_more(struct server_conn *conn);
/* Notes that a head begins: the first of a connection, or the request line of one. */
void server_guard_head(struct server_conn *conn);
/* Notes the bytes sent before an early answer is queued. */
void server_guard_early(struct server_conn *conn);
/* Answer 414 or 431 if the library ends a request with an error (unsent), or closes the
 * connection (unread), and the request would get no answer. */
void server_guard_unsent(struct server_conn *conn);
void server_guard_unread(struct server_conn *conn);
/* Makes the library check a connection whose head does not arrive, and closes one that was cut and
 * is still there. In each sweep, for each connection. */
void server_guard_sweep(struct server_conn *conn);
/* Notes that the library closes the connection. */
void server_guard_closed(struct server_conn *conn);
/* Cuts connections whose bytes the library leaves unread. In each sweep. */
void server_guard_progress(struct server_worker *worker);

/* --- request.c: from the head of a request to its body --------------------------------------- */

/* Checks the head, its rate and its key, and finds the route. Afterwards the state is STATE_BODY,
 * or STATE_ANSWER with a reply. */
void server_request_begin(struct server_conn *conn, const char *method, const char *version);
/* Stores a part of the body, or discards it if the request was rejected. */
void server_request_body(struct server_conn *conn, tide_slice part);
/* Returns whether the request's route has a second form (struct tide_route_form): its answers
 * vary by Accept. */
bool server_has_form(const struct server_conn *conn);
/* Returns the executor that runs the request's handler, or NULL if the worker runs it. */
const struct tide_executor *server_executor_of(const struct server_conn *conn);

/* --- complete.c: ETag, 304 and compression of a reply ---------------------------------------- */

/* Sets the tag, turns the reply into a 304 if the client has it, and chooses the encoding.
 * Returns whether the body must still be compressed for that encoding. Once for each request, on
 * the worker or on the executor's thread. */
bool server_complete(struct server_conn *conn);
/* Compresses the body with the chosen encoding, or clears that if the result is not smaller. Any
 * thread. */
void server_compress(struct server_conn *conn);
/* Returns the value of the answer's Cache-Control. */
const char *server_cache_control(const struct server_conn *conn);
tide_status server_encoder_start(struct server_encoder *encoder,
                                 struct tide_err *err) TIDE_MUST_USE;
/* Stops the thread. Call after the workers have ended. */
void server_encoder_stop(struct server_encoder *encoder);
/* Queues the reply for compression (STATE_WAIT). If the encoder has enough to do, the answer goes
 * uncompressed (STATE_ANSWER). */
void server_encoder_submit(struct server_conn *conn);

/* --- answer.c: from a reply to the library's response ---------------------------------------- */

/* Completes the reply and queues it. Returns false if the library rejects it or there is no
 * memory. */
bool server_answer(struct server_conn *conn);
/* Closes the reply's stream, if it has one. */
void server_stream_end(struct server_conn *conn);

/* --- run.c: from a complete request to its reply, and the end of the request ----------------- */

/* Runs the handler of a complete request (then STATE_ANSWER or STATE_ENCODE), or hands the job to
 * an executor (STATE_WAIT). Returns false if the library shall first call once more. */
bool server_request_run(struct server_conn *conn);
/* Counts and logs the request, and resets the connection for the next one. whole: the answer was
 * sent completely. */
void server_request_end(struct server_conn *conn, bool whole);

/* --- loop.c: the loop of a worker's thread --------------------------------------------------- */

void *server_loop(void *worker);

#endif
