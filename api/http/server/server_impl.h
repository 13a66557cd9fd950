/* What the files server*.c share. microhttpd.h stays in them. */
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
    SERVER_SWEEP_MS = 100,         /* between looks at deadlines                                 */
    SERVER_SILENT_MS = 20000,      /* a turn of a worker's loop that takes longer has hung       */
    SERVER_VAIN_TURNS = 256,       /* turns without any effect, before each one pauses            */
    SERVER_VAIN_MS = 2,            /* that pause                                                  */
    SERVER_TLS_MS = 5000,          /* a TLS handshake and a request's first line                  */
    SERVER_CUT_MS = 2000,          /* a connection that was cut should be gone after so long      */
    SERVER_FILTER_MS = 50,         /* a handshake that began before the stop has so long to end  */
    SERVER_LINGER_MS = 1000,       /* the stop waits so long for a request of an idle connection */
    SERVER_POOL_BYTES = 16384,     /* the library's memory of a connection: a request's head and
                                   the lines of its answer                                    */
    SERVER_TLS_POOL_BYTES = 65536, /* the same with TLS, where a head with many pairs cannot be
                                      answered in the library's place */
    SERVER_KEEP_BYTES = 16384,     /* of a buffer that is kept for the next request, and is counted
                                   with the connection; larger ones count in conn_limit       */
    SERVER_FILE_BYTES = 1 << 16, /* of a file, read at once                                      */
    SERVER_STREAM_BYTES = 4096,  /* of a stream, read at once                                  */
    SERVER_DROP_BYTES = 256 << 10, /* of a refused body; a larger one ends the connection */
    SERVER_TAG_BYTES = 40,         /* of an ETag: W/, quotes, 32 digits, NUL */
};

/* Where a connection stands; each has its deadline. */
enum server_step {
    STEP_HEAD,   /* headers come in                        */
    STEP_BODY,   /* the body comes in                      */
    STEP_WAIT,   /* suspended: the pool works on it        */
    STEP_ENCODE, /* the reply is complete, and is to be compressed on another thread */
    STEP_ANSWER, /* the reply is complete, not yet queued  */
    STEP_WRITE,  /* the answer goes out                    */
    STEP_STREAM, /* the same, without end                  */
    STEP_IDLE,   /* between requests                       */
};

/* A look of the library at a connection whose head does not come (server_progress.c). */
enum server_nudge { NUDGE_NONE, NUDGE_DUE, NUDGE_SET };

struct server_conn;

/* In the worker's list of those whom other threads want awake. */
struct tide_wake {
    struct server_conn *conn;
    struct tide_wake *next;
    bool listed; /* under the worker's mutex */
};

struct server_conn {
    struct server_worker *worker;
    struct server_conn *next, *prev; /* of the worker */
    struct MHD_Connection *mhd;
    int fd;
    enum server_step step;
    enum server_nudge nudge;
    int64_t deadline_ms; /* INT64_MAX: none */
    uint64_t start_ns;   /* of the request  */
    uint32_t requests;
    bool counted;                    /* in conn_limit                           */
    bool close;                      /* after this answer                       */
    bool cut;                        /* shut down: nothing more will be answered */
    bool suspended;                  /* in the library's sense                  */
    bool early;                      /* answered in the library's first call    */
    bool refused;                    /* the reply is a problem, the body is dropped */
    bool head_only;                  /* HEAD                                    */
    bool asked_again;                /* a call of the library before it runs    */
    const struct tide_route *likely; /* of the request before */
    const struct tide_route *near;   /* of the path, whatever the method; only where it decides */
    size_t target_len;
    uint64_t sent;            /* bytes to the client, before an early answer */
    uint64_t bytes;           /* that went over the socket, at the last look    */
    uint32_t unread, overdue; /* looks at unread bytes; sweeps since it should have gone */
    bool unended;             /* the last request may go on after its answer */
    size_t held[TIDE_CONN_LIMIT_ANSWER +
                1]; /* bytes of the body and of the answer, counted in conn_limit */
    struct tide_peer peer;
    struct tide_peer client_key; /* whom the rate limit counts: an address, or a key's digest */
    struct tide_rate_answer rate;
    struct tide_key_answer key;
    enum tide_rate_class class;
    struct tide_request_head head;
    struct tide_request request;
    struct tide_reply reply;
    char tag[SERVER_TAG_BYTES];  /* "": the answer has none          */
    enum tide_encoding encoding; /* of the reply's bytes             */
    bool completed;              /* tag and encoding are settled     */
    bool varies;                 /* by what Accept-Encoding may want */
    struct server_conn *next_encode;
    struct tide_buf body;
    struct tide_job job;
    struct tide_wake wake;
    char client[TIDE_PEER_TEXT];
    char target[TIDE_TARGET_MAX + 1]; /* one more than may be, which shows that it is too long */
    char scratch[TIDE_ROUTE_SCRATCH];
};

/* Counters are written by the worker alone: no read-modify-write is needed. */
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

static inline void server_add(atomic_uint_fast64_t *counter, int64_t by)
{
    uint64_t now = atomic_load_explicit(counter, memory_order_relaxed);
    atomic_store_explicit(counter, now + (uint64_t)by, memory_order_relaxed);
}

struct server_worker {
    struct tide_server *server;
    struct MHD_Daemon *daemon;
    void *state; /* of options.thread */
    pthread_t thread;
    bool started;
    int epoll_fd, event_fd, linger_fd;
    struct server_lingering *lingering;
    uint32_t lingering_count;
    struct server_conn *conns;
    uint32_t conn_count;
    int64_t now_ms, swept_ms; /* monotonic, as of this turn of the loop */
    uint64_t wall_ms;
    uint64_t ids; /* of requests that brought none */
    uint64_t requests, requests_seen;
    atomic_bool called;         /* a thread wrote to event_fd */
    uint64_t slept, slept_seen; /* turns that waited and had nothing to do */
    uint64_t vain_moved;        /* moved, as of the last turn */
    uint32_t vain;              /* turns in a row that had work to do and moved nothing */
    uint32_t sweeps;
    uint64_t moved_seen;        /* at the last look */
    uint64_t marked;            /* moved, as of the last mark for the watchdog */
    struct tide_stall stall;    /* the watch's */
    atomic_uint_fast64_t kept;  /* connections that were cut and stay */
    atomic_bool ended;          /* the loop */
    atomic_uint_fast64_t moved; /* counts what was done, and turns that had nothing to do */
    uint32_t sampled;
    char network[SERVER_NETWORK_BYTES]; /* header value; "" while unknown */
    char date[32];                      /* header value of this second */
    uint64_t date_s;
    uint32_t policy_quota[TIDE_RATE_CLASS_COUNT]; /* whose texts are in policy */
    char policy[TIDE_RATE_CLASS_COUNT][48];
    /* stopping */
    bool stopping, quiet;
    int64_t stop_ms;
    pthread_mutex_t mutex; /* of the list of the woken, and of changes to the list of connections */
    atomic_ullong waits;   /* its own, for that mutex */
    struct tide_wake *woken;
    struct server_totals totals;
    struct server_counters *routes; /* one more than there are */
};

/* server_encode.c: compresses large answers of look-ups, away from the workers. */
struct server_encoder {
    pthread_t thread;
    bool started, stopping;
    pthread_mutex_t mutex;
    pthread_cond_t wanted;
    struct server_conn *first, *last; /* to do */
    size_t bytes;                     /* of their bodies and of the one in work */
};

/* server_watch.c: whether the workers make progress. */
struct server_watch {
    pthread_t thread;
    bool started, stopping;
    pthread_mutex_t mutex;
    pthread_cond_t wanted;
    bool stalled;  /* said so */
    uint32_t left; /* observations until the process ends */
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

/* Something happened that is progress. On the worker. */
static inline void server_moved(struct server_worker *worker)
{
    server_add(&worker->moved, 1);
}

/* --- server_loop.c: the worker's thread -------------------------------------------------- */

void *server_loop(void *worker);
void server_wake_loop(struct server_worker *worker);
/* On the worker: takes it out of the list of the woken. */
void server_unlist(struct tide_wake *wake);

/* --- server_conn.c: connections come and go ---------------------------------------------- */

struct server_conn *server_conn_open(struct server_worker *worker, struct MHD_Connection *mhd,
                                     int fd, const struct tide_peer *peer);
void server_conn_close(struct server_conn *conn);
void server_step(struct server_conn *conn, enum server_step step);
/* Cuts those whose deadline has passed. */
void server_sweep(struct server_worker *worker);
void server_cut(struct server_conn *conn);

/* --- server_watch.c ---------------------------------------------------------------------- */

void server_watch_init(struct server_watch *watch);
void server_watch_destroy(struct server_watch *watch);
tide_status server_watch_start(struct tide_server *server, struct tide_err *err);
/* After the workers have ended. */
void server_watch_stop(struct server_watch *watch);

/* --- server_progress.c: what a worker sees of it ----------------------------------------- */

/* In each sweep. Cuts connections whose bytes the library leaves unread. */
void server_progress(struct server_worker *worker);
/* In the sweep after a head has begun, and in the one after that. */
void server_progress_nudge(struct server_conn *conn);
/* In each sweep, of a connection that was cut SERVER_CUT_MS ago: the library keeps it. */
void server_progress_overdue(struct server_conn *conn);
void server_progress_closed(const struct server_conn *conn);

/* --- server_linger.c: connections that end while their clients may still send ------------- */

tide_status server_linger_open(struct server_worker *worker, struct tide_err *err);
void server_linger_close(struct server_worker *worker);
/* The library is about to close the connection. */
void server_linger_begin(struct server_conn *conn);
void server_linger_read(struct server_worker *worker);
void server_linger_sweep(struct server_worker *worker);
/* Cuts a connection beyond the limit, with 503. */
void server_turn_away(struct server_conn *conn);
/* Cuts a connection whose deadline has passed; with 408 if a request has begun. */
void server_time_out(struct server_conn *conn);
/* The library ends a request with an error, or closes the connection. If that leaves a request
 * without an answer, it gets 414 or 431. */
void server_answer_unsent(struct server_conn *conn);
void server_answer_unread(struct server_conn *conn);
/* Bytes that were given to the connection's socket; and those plus the bytes read from it. */
uint64_t server_bytes_sent(const struct server_conn *conn);
uint64_t server_bytes_moved(const struct server_conn *conn);

/* NULL for TIDE_ROUTE_INLINE. */
static inline const struct tide_executor *server_executor(const struct server_conn *conn, int index)
{
    return index < 0 ? NULL : &conn->worker->server->options.executors[index];
}

/* --- server_request.c: from the head of a request to its body ----------------------------- */

/* The head is here: checks it and finds the route. wrong: NULL, or what the form lacks. Leaves
 * either STEP_BODY or, when there is nothing more to do, STEP_ANSWER with a reply. */
void server_request_begin(struct server_conn *conn, tide_slice method,
                          const struct tide_refusal_of_form *wrong);
static inline bool server_has_body(const struct server_conn *conn)
{
    return conn->head.length > 0; /* chunks are refused before */
}

/* Whether the request's route has a second form (struct tide_route_form): its answers vary by
 * Accept. */
bool server_has_form(const struct server_conn *conn);
/* Gives the request an id of the server's. */
void server_request_name(struct server_conn *conn);
/* A part of the body. */
void server_request_body(struct server_conn *conn, tide_slice part);

/* --- server_run.c: from a whole request to its reply, and its end ------------------------ */

/* Runs the handler of the request's route; NULL: the connection's thread does. */
const struct tide_executor *server_executor_of(const struct server_conn *conn);
/* Whether server_request_run hands the request to an executor. */
bool server_request_waits(const struct server_conn *conn);
/* All is here: runs the handler, or hands the job to an executor (STEP_WAIT). */
void server_request_run(struct server_conn *conn);
/* The answer went out, or not: counts, logs, forgets. */
void server_request_end(struct server_conn *conn, bool whole);

/* --- server_answer.c: from a reply to the library's response ----------------------------- */

/* Completes the reply and queues it; false when the library takes it not. */
bool server_answer(struct server_conn *conn);
/* Counts bytes that the connection is about to keep: false when there is no room. */
bool server_hold(struct server_conn *conn, enum tide_conn_limit_bytes what, size_t bytes);
/* The request is over: its bytes are counted no more. */
void server_hold_end(struct server_conn *conn);
/* The counters of the request's route, or of requests without one. */
struct server_counters *server_counters_of(struct server_conn *conn);
/* server_origin.c: who may read an answer from another page. */
void server_origin_add(struct MHD_Response *response, const struct server_conn *conn);

/* --- server_complete.c: what a reply lacks that takes time: its ETag, its compression ----- */

/* Settles tag, a 304, and the coding. An executor's reply is compressed here: on its thread. Leaves
 * STEP_ENCODE to the worker where a look-up's answer is worth it. Once a request. */
void server_complete(struct server_conn *conn, bool on_executor);
/* Compresses the body as the client wants it, if that makes it smaller. Any thread. */
void server_compress(struct server_conn *conn);
/* The answer's Cache-Control. */
const char *server_cache_control(const struct server_conn *conn);

/* --- server_encode.c --------------------------------------------------------------------- */

void server_encoder_init(struct server_encoder *encoder);
tide_status server_encoder_start(struct tide_server *server, struct tide_err *err);
/* After the workers have ended. */
void server_encoder_stop(struct tide_server *server);
/* Leaves STEP_WAIT, or STEP_ANSWER when the encoder has enough to do: the answer goes as it is. */
void server_encoder_submit(struct server_conn *conn);

/* --- server_stream.c --------------------------------------------------------------------- */

struct MHD_Response *server_stream_response(struct server_conn *conn);
void server_stream_end(struct server_conn *conn);

#endif
