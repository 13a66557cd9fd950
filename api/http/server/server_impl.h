/* Internal to the files server*.c: connections, workers, the server. No other file includes
 * microhttpd.h. Unless a comment says otherwise, a function runs on the thread of the connection's
 * worker, and a struct's members belong to that thread. */
#ifndef API_HTTP_SERVER_SERVER_IMPL_H
#define API_HTTP_SERVER_SERVER_IMPL_H

#include "api/http/server/complete.h"
#include "api/http/server/conn_limit.h"
#include "api/http/server/encode.h"
#include "api/http/server/linger.h"
#include "api/http/server/loop.h"
#include "api/http/server/progress.h"
#include "api/http/server/request.h"
#include "api/http/server/run.h"
#include "api/http/server/server.h"
#include "api/http/server/stall.h"
#include "api/http/server/state.h"
#include "api/http/server/watch.h"

#include <pthread.h>
#include <stdatomic.h>

struct MHD_Connection;
struct MHD_Daemon;
struct MHD_Response;

enum {
    SERVER_SWEEP_MS = 100,  /* between two checks of all deadlines */
    SERVER_HUNG_MS = 20000, /* a worker's loop without progress for this long has hung (liveness) */
    /* After a shutdown, the library should close the connection within this time */
    SERVER_CUT_MS = 2000,
    SERVER_FILTER_MS = 50,   /* time for TCP handshakes to end, at the start of a stop */
    SERVER_LINGER_MS = 1000, /* time after which a stop cuts idle connections */
    /* The library's memory for a connection: the head of a request and the header lines of its
     * answer */
    SERVER_POOL_BYTES = 16384,
    /* A buffer up to this size is kept for the next request, and is part of a connection's cost;
     * larger ones are counted in conn_limit */
    SERVER_KEEP_BYTES = 16384,
    SERVER_FILE_BYTES = 1 << 16, /* bytes that one read of a file returns at most */
    SERVER_STREAM_BYTES = 4096,  /* bytes that one read of a stream returns at most */
    /* Bytes of a rejected request's body that are read and discarded. A longer body ends the
     * connection. */
    SERVER_DROP_BYTES = 256 << 10,
};

/* A connection. server_conn.c owns the members that stand here; each group belongs to the file
 * whose header defines the group. */
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
    bool suspended; /* MHD_suspend_connection was called */
    struct tide_peer peer;
    /* Bytes counted in conn_limit, by enum tide_conn_limit_bytes (server_answer.c) */
    size_t held[TIDE_CONN_LIMIT_ANSWER + 1];
    struct server_ending ending;
    struct server_progress progress;
    struct server_encode_entry encode;
    struct tide_wake wake;
    struct server_body body;
    struct server_run run;
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
    uint32_t sweeps;
    uint64_t moved_seen;       /* value of moved at the last check */
    uint64_t marked;           /* value of moved at the last liveness mark */
    struct tide_stall stall;   /* the watch's observations */
    atomic_uint_fast64_t kept; /* connections that were cut and that the library does not close */
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

struct tide_server {
    struct tide_server_options options;
    struct server_encoder encoder;
    struct server_watch watch;
    struct tide_conn_limit *limit;
    struct tide_rate *rate;
    struct tide_peer_proxies proxies;
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

/* Returns the executor with that index, or NULL for TIDE_ROUTE_INLINE. */
static inline const struct tide_executor *server_executor(const struct server_conn *conn, int index)
{
    return index < 0 ? NULL : &conn->worker->server->options.executors[index];
}

static inline bool server_has_body(const struct server_conn *conn)
{
    return conn->head.fields.length > 0; /* chunked bodies are rejected with the head */
}

/* --- server_conn.c: connections and deadlines ------------------------------------------------- */

/* Returns a new connection in STATE_HEAD, or NULL without memory. */
struct server_conn *server_conn_open(struct server_worker *worker, struct MHD_Connection *mhd,
                                     int fd, const struct tide_peer *peer);
void server_conn_close(struct server_conn *conn);
/* Moves the connection to the state, and sets the state's deadline. Ends the process if the
 * transition is not allowed (state.h). A connection that was cut keeps its deadline. */
void server_set_state(struct server_conn *conn, enum server_state state);
/* Cuts the connections whose deadline has passed. In each sweep. */
void server_sweep(struct server_worker *worker);
/* Shuts down the socket. The library then closes the connection; until then conn stays valid. */
void server_cut(struct server_conn *conn);

#endif
