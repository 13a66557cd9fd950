/* Internal to the files server*.c: connections, workers, the encoder and the watch. No other
 * file includes microhttpd.h. Unless a comment says otherwise, a function runs on the thread of
 * the connection's worker, and a struct's members belong to that thread. */
#ifndef API_HTTP_SERVER_SERVER_IMPL_H
#define API_HTTP_SERVER_SERVER_IMPL_H

#include "api/http/server/conn_limit.h"
#include "api/http/server/rate.h"
#include "api/http/server/request_check.h"
#include "api/http/server/server.h"
#include "api/http/server/stall.h"

#include <pthread.h>
#include <stdatomic.h>

struct MHD_Connection;
struct MHD_Daemon;
struct MHD_Response;

enum {
    SERVER_SWEEP_MS = 100,  /* between two checks of all deadlines */
    SERVER_HUNG_MS = 20000, /* without progress for so long, a worker's loop has hung (liveness) */
    SERVER_NO_EFFECT_TURNS = 256, /* turns without any effect after which each turn pauses */
    SERVER_NO_EFFECT_MS = 2,      /* the pause */
    SERVER_TLS_MS = 5000, /* limit of a TLS handshake together with a request's first line */
    /* After a shutdown, the library should close the connection within this time */
    SERVER_CUT_MS = 2000,
    SERVER_FILTER_MS = 50,   /* the stop first lets TCP handshakes end for so long */
    SERVER_LINGER_MS = 1000, /* the stop waits so long before it cuts idle connections */
    /* The library's memory for a connection: the head of a request and the header lines of its
     * answer */
    SERVER_POOL_BYTES = 16384,
    /* The same with TLS. The server cannot answer beside TLS itself, so a head with many pairs
     * must fit. */
    SERVER_TLS_POOL_BYTES = 65536,
    /* A buffer up to this size is kept for the next request, and is part of a connection's cost;
     * larger ones are counted in conn_limit */
    SERVER_KEEP_BYTES = 16384,
    SERVER_FILE_BYTES = 1 << 16, /* bytes that one read of a file returns at most */
    SERVER_STREAM_BYTES = 4096,  /* bytes that one read of a stream returns at most */
    /* Bytes of a rejected request's body that are read and discarded. A longer body ends the
     * connection. */
    SERVER_DROP_BYTES = 256 << 10,
    SERVER_TAG_BYTES = 40, /* an ETag: W/, quotes, 32 hex digits, NUL */
};

/* The state of a connection. Each state has its deadline (server_step). */
enum server_step {
    STEP_HEAD,   /* waiting for, or receiving, a request's head */
    STEP_BODY,   /* receiving the body */
    STEP_WAIT,   /* suspended: an executor or the encoder works on the request */
    STEP_ENCODE, /* the reply is complete; the encoder shall compress it */
    STEP_ANSWER, /* the reply is complete and not yet queued in the library */
    STEP_WRITE,  /* sending the answer */
    STEP_STREAM, /* sending a stream */
    STEP_IDLE,   /* between requests                       */
};

/* Makes the library check a connection whose head does not arrive (server_progress.c). */
enum server_nudge { NUDGE_NONE, NUDGE_DUE, NUDGE_SET };

struct server_conn;

/* A connection's entry in its worker's list of connections to wake. Other threads add it. */
struct tide_wake {
    struct server_conn *conn;
    struct tide_wake *next;
    bool listed; /* under the worker's mutex */
};

struct server_conn {
    struct server_worker *worker;
    struct server_conn *next, *prev; /* the worker's list of connections */
    struct MHD_Connection *mhd;
    int fd;
    enum server_step step;
    enum server_nudge nudge;
    int64_t deadline_ms; /* INT64_MAX: none */
    uint64_t start_ns;   /* monotonic, start of the request */
    uint32_t requests;
    bool counted;   /* the connection is counted in conn_limit */
    bool close;     /* close the connection after this answer */
    bool cut;       /* the socket was shut down: no more answers */
    bool suspended; /* MHD_suspend_connection was called */
    bool early;   /* the answer is queued in the library's first call, which ends the connection */
    bool refused; /* the reply is a problem, and the rest of the body is discarded */
    bool head_only;   /* HEAD                                    */
    bool asked_again; /* the library was already given one more call before the job starts */
    const struct tide_route *likely; /* route of the previous request, tried first */
    /* A route of this path with another method, for CORS headers; set only if no route matched */
    const struct tide_route *near;
    size_t target_len;
    uint64_t sent;  /* bytes sent to the client before an early answer */
    uint64_t bytes; /* bytes that had moved over the socket at the last check */
    /* Consecutive checks with unread bytes; sweeps since the connection should have closed */
    uint32_t unread, overdue;
    bool unended; /* the client may still send the rest of the last request */
    /* Bytes counted in conn_limit, by enum tide_conn_limit_bytes */
    size_t held[TIDE_CONN_LIMIT_ANSWER + 1];
    struct tide_peer peer;
    struct tide_peer client_key; /* identity for the rate limit: an address, or a key's digest */
    struct tide_rate_answer rate;
    struct tide_key_answer key;
    enum tide_rate_class class;
    struct tide_request_head head;
    struct tide_request request;
    struct tide_reply reply;
    char tag[SERVER_TAG_BYTES];  /* empty: the answer has no ETag */
    enum tide_encoding encoding; /* Content-Encoding of the reply */
    bool completed;              /* server_complete has set tag and encoding */
    bool varies;                 /* the answer depends on Accept-Encoding */
    struct server_conn *next_encode;
    struct tide_buf body;
    struct tide_job job;
    struct tide_wake wake;
    char client[TIDE_PEER_TEXT];
    /* One byte more than allowed, to detect a target that is too long */
    char target[TIDE_TARGET_MAX + 1];
    char scratch[TIDE_ROUTE_SCRATCH];
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

/* Adds to a counter of which the caller's thread is the only writer. */
static inline void server_add(atomic_uint_fast64_t *counter, int64_t by)
{
    uint64_t now = atomic_load_explicit(counter, memory_order_relaxed);
    atomic_store_explicit(counter, now + (uint64_t)by, memory_order_relaxed);
}

struct server_worker {
    struct tide_server *server;
    struct MHD_Daemon *daemon;
    void *state; /* the handlers' state, from options.thread */
    pthread_t thread;
    bool started;
    int epoll_fd, event_fd, linger_fd;
    struct server_lingering *lingering;
    uint32_t lingering_count;
    struct server_conn *conns;
    uint32_t conn_count;
    int64_t now_ms, swept_ms; /* monotonic, read once in each turn of the loop */
    uint64_t wall_ms;
    uint64_t ids; /* the next id, for requests without one */
    uint64_t requests, requests_seen;
    atomic_bool called;         /* another thread wrote to event_fd */
    uint64_t slept, slept_seen; /* turns in which the worker waited and nothing was to be done */
    uint64_t no_effect_moved;   /* value of moved in the last turn */
    /* Consecutive turns in which the library had work and moved did not change */
    uint32_t no_effect_turns;
    uint32_t sweeps;
    uint64_t moved_seen;       /* value of moved at the last check */
    uint64_t marked;           /* value of moved at the last liveness mark */
    struct tide_stall stall;   /* the watch's observations */
    atomic_uint_fast64_t kept; /* connections that were cut and that the library does not close */
    atomic_bool ended;         /* the loop has ended */
    /* progress: incremented with each effect, and with each turn that had nothing to do */
    atomic_uint_fast64_t moved;
    uint32_t sampled;
    char network[SERVER_NETWORK_BYTES]; /* value of the header Network; empty while unknown */
    char date[32];                      /* value of the header Date, renewed every second */
    uint64_t date_s;
    uint32_t policy_quota[TIDE_RATE_CLASS_COUNT]; /* the quotas for which policy holds the texts */
    char policy[TIDE_RATE_CLASS_COUNT][48];

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

/* The encoder (server_encode.c): a thread that compresses large answers of look-ups. */
struct server_encoder {
    pthread_t thread;
    bool started, stopping;
    pthread_mutex_t mutex;
    pthread_cond_t wanted;
    struct server_conn *first, *last; /* the queue */
    size_t bytes;                     /* bytes of the bodies in the queue and in work */
};

/* The watch (server_watch.c): a thread that checks that the workers make progress. */
struct server_watch {
    pthread_t thread;
    bool started, stopping;
    pthread_mutex_t mutex;
    pthread_cond_t wanted;
    bool stalled;  /* the stall was reported */
    uint32_t left; /* observations left before the watch ends the process */
};

struct tide_server {
    struct tide_server_options options;
    struct server_encoder encoder;
    struct server_watch watch;
    struct tide_conn_limit *limit;
    struct tide_rate *rate;
    struct tide_peer_proxies proxies;
    struct tide_buf tls_key, tls_cert;
    bool tls;
    uint16_t port;
    uint64_t seed;
    atomic_bool draining, stopping, stalled;
    uint32_t worker_count;
    struct server_worker workers[];
};

/* Counts progress. On the worker. */
static inline void server_moved(struct server_worker *worker)
{
    server_add(&worker->moved, 1);
}

/* --- server_loop.c: the worker's loop --------------------------------------------------------- */

void *server_loop(void *self); /* self: the worker */
/* Makes the loop's poll return. Any thread. */
void server_wake_loop(struct server_worker *worker);
/* Removes the entry from the list of connections to wake. */
void server_unlist(struct tide_wake *wake);

/* --- server_conn.c: connections and deadlines ------------------------------------------------- */

/* Returns a new connection in STEP_HEAD, or NULL without memory. */
struct server_conn *server_conn_open(struct server_worker *worker, struct MHD_Connection *mhd,
                                     int fd, const struct tide_peer *peer);
void server_conn_close(struct server_conn *conn);
/* Sets the state and its deadline. A connection that was cut keeps its deadline. */
void server_step(struct server_conn *conn, enum server_step step);
/* Cuts the connections whose deadline has passed. In each sweep. */
void server_sweep(struct server_worker *worker);
/* Shuts down the socket. The library then closes the connection; until then conn stays valid. */
void server_cut(struct server_conn *conn);

/* --- server_watch.c: the thread that detects stalled workers -------------------------------- */

void server_watch_init(struct server_watch *watch);
void server_watch_destroy(struct server_watch *watch);
tide_status server_watch_start(struct tide_server *server, struct tide_err *err);
/* Stops the thread. Call after the workers have ended. */
void server_watch_stop(struct server_watch *watch);

/* --- server_progress.c: connections that the library neglects
 * ---------------------------------- */

/* Cuts connections whose bytes the library leaves unread. In each sweep. */
void server_progress(struct server_worker *worker);
/* Makes the library check the connection. In the two sweeps after a head begins. */
void server_progress_nudge(struct server_conn *conn);
/* Counts the sweeps of a connection that was cut SERVER_CUT_MS ago and is still there. */
void server_progress_overdue(struct server_conn *conn);
void server_progress_closed(const struct server_conn *conn);

/* --- server_linger.c: connections that end while their clients may still send ------------- */

tide_status server_linger_open(struct server_worker *worker, struct tide_err *err);
void server_linger_close(struct server_worker *worker);
/* Keeps the socket open if its client may still send. Called before the library closes the
 * connection. */
void server_linger_begin(struct server_conn *conn);
void server_linger_read(struct server_worker *worker);
void server_linger_sweep(struct server_worker *worker);
/* Answers 503 and cuts: the connection is beyond the limit. */
void server_reject_connection(struct server_conn *conn);
/* Cuts a connection whose deadline has passed, after a 408 if a request has begun. */
void server_time_out(struct server_conn *conn);
/* Answers 414 or 431 if the library ends a request with an error (unsent), or closes the
 * connection (unread), and the request would get no answer. */
void server_answer_unsent(struct server_conn *conn);
void server_answer_unread(struct server_conn *conn);
/* Return the bytes written to the connection's socket, and those plus the bytes read from it. 0
 * if the system does not say. */
uint64_t server_bytes_sent(const struct server_conn *conn);
uint64_t server_bytes_moved(const struct server_conn *conn);

/* Returns the executor with that index, or NULL for TIDE_ROUTE_INLINE. */
static inline const struct tide_executor *server_executor(const struct server_conn *conn, int index)
{
    return index < 0 ? NULL : &conn->worker->server->options.executors[index];
}

/* --- server_request.c: from the head of a request to its body ----------------------------- */

/* Checks the head, its rate and its key, and finds the route. wrong: NULL, or the fault in the
 * head's form. Afterwards the state is STEP_BODY, or STEP_ANSWER with a reply in conn->reply. */
void server_request_begin(struct server_conn *conn, tide_slice method,
                          const struct tide_request_fault *wrong);
static inline bool server_has_body(const struct server_conn *conn)
{
    return conn->head.length > 0; /* chunked bodies are rejected with the head */
}

/* Returns whether the request's route has a second form (struct tide_route_form): its answers
 * vary by Accept. */
bool server_has_form(const struct server_conn *conn);
/* Sets a request id of the server's own. */
void server_request_make_id(struct server_conn *conn);
/* Stores a part of the body, or discards it if the request was rejected. */
void server_request_body(struct server_conn *conn, tide_slice part);

/* --- server_run.c: from a complete request to its reply, and its end ------------------------ */

/* Returns the executor that runs the request's handler, or NULL if the worker runs it. */
const struct tide_executor *server_executor_of(const struct server_conn *conn);
/* Returns whether server_request_run will hand the request to an executor. */
bool server_request_waits(const struct server_conn *conn);
/* Runs the handler of a complete request (then STEP_ANSWER or STEP_ENCODE), or hands the job to
 * an executor (STEP_WAIT). */
void server_request_run(struct server_conn *conn);
/* Counts and logs the request, and resets the connection for the next one. whole: the answer was
 * sent completely. */
void server_request_end(struct server_conn *conn, bool whole);

/* --- server_answer.c: from a reply to the library's response ----------------------------- */

/* Completes the reply and queues it. Returns false if the library rejects it or there is no
 * memory. */
bool server_answer(struct server_conn *conn);
/* Counts bytes that the connection is about to keep in memory. Returns false at a limit. */
bool server_hold(struct server_conn *conn, enum tide_conn_limit_bytes what, size_t bytes);
/* Returns all bytes that the request counted. */
void server_hold_end(struct server_conn *conn);
/* Returns the counters of the request's route, or those of requests without one. */
struct server_counters *server_counters_of(struct server_conn *conn);
/* server_origin.c: adds the CORS headers, which decide which pages may read the answer. */
void server_origin_add(struct MHD_Response *response, const struct server_conn *conn);

/* --- server_complete.c: ETag and compression of a reply ------------------------------------- */

/* Sets the tag, turns the reply into a 304 if the client has it, and chooses the encoding. On an
 * executor's thread it also compresses; on a worker it leaves STEP_ENCODE if compressing is
 * worth it. Once for each request. */
void server_complete(struct server_conn *conn, bool on_executor);
/* Compresses the body with conn->encoding, or clears that if the result is not smaller. Any
 * thread. */
void server_compress(struct server_conn *conn);
/* Returns the value of the answer's Cache-Control. */
const char *server_cache_control(const struct server_conn *conn);

/* --- server_encode.c: the thread that compresses ------------------------------------------- */

void server_encoder_init(struct server_encoder *encoder);
tide_status server_encoder_start(struct tide_server *server, struct tide_err *err);
/* Stops the thread. Call after the workers have ended. */
void server_encoder_stop(struct tide_server *server);
/* Queues the reply for compression (STEP_WAIT). If the encoder has enough to do, the answer goes
 * uncompressed (STEP_ANSWER). */
void server_encoder_submit(struct server_conn *conn);

/* --- server_stream.c: bodies of streams ------------------------------------------------------ */

/* Returns a response that reads from reply->stream, or NULL without memory. */
struct MHD_Response *server_stream_response(struct server_conn *conn);
/* Closes the reply's stream, if it has one. */
void server_stream_end(struct server_conn *conn);

#endif
