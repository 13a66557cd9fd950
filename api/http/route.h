/* Routes. The program hands the server a table of them (struct tide_route_table). Nothing here
 * knows what a route is for.
 *
 * Class      how a route is served: who runs its handler, what it costs, which pages may read it
 * Executor   runs handlers that may wait, on threads of its own. A handler of a class without one
 *            runs on the connection's thread and never waits.
 * Parameters are typed by param.def. Unknown, repeated and malformed ones get 400 with the field's
 *            name before a handler runs: a handler sees only values that fit. */
#ifndef API_HTTP_ROUTE_H
#define API_HTTP_ROUTE_H

#include "api/http/reply.h"
#include "api/http/request.h"

#define TIDE_TARGET_MAX    2048u /* bytes of path and query */
#define TIDE_ROUTE_SCRATCH (TIDE_TARGET_MAX + 2 * TIDE_ROUTE_PARAMS_MAX)

struct tide_api; /* what the handlers of a process share; opaque here */
struct tide_wake;

/* What a handler may use beside its request. */
struct tide_handler_context {
    struct tide_api *api;
    void *
        thread; /* state of the server's thread (struct tide_server_thread_calls); NULL on others */
    void *task; /* of the class's executor: what it and the handler hand each other */
    uint64_t now_ms;        /* wall clock when the request came */
    int64_t host_ms;        /* tide_clock's now_ms then: what ages are measured by */
    int64_t deadline_ms;    /* monotonic: after it no client waits for the answer */
    struct tide_wake *wake; /* of streams: for tide_server_wake */
    tide_slice client;      /* of streams: the client whose limit it counts for, text */
};

typedef void tide_handler_fn(struct tide_handler_context *context,
                             const struct tide_request *request, struct tide_reply *reply);

/* --- executors --------------------------------------------------------------------------- */

/* A request that an executor is to answer. The executor's from submit until done(), then the
 * submitter's. */
struct tide_job {
    const struct tide_request *request;
    struct tide_reply *reply;            /* as tide_reply_reset leaves it */
    struct tide_handler_context context; /* deadline_ms 0: none           */
    void (*done)(struct tide_job *job);  /* reply is complete; on the executor's thread */
    struct tide_peer client;             /* as the rate limit counts it */
    struct tide_job *next;               /* the executor's, as the rest */
    uint32_t bulkhead;                   /* 0: it is in none */
    bool back;                           /* to the queue, until its bulkhead has room */
};

/* TIDE_JOB_ANSWERED     the reply is complete; done() is not called
 * TIDE_JOB_QUEUED       done() follows
 * TIDE_JOB_QUEUE_FULL   the queue is full, or the executor is closing
 * TIDE_JOB_CLIENT_FULL  the job's client has its share of the queue already
 * Unless QUEUED, the job stays the caller's. */
enum tide_job_submitted {
    TIDE_JOB_ANSWERED,
    TIDE_JOB_QUEUED,
    TIDE_JOB_QUEUE_FULL,
    TIDE_JOB_CLIENT_FULL
};

/* Called on the connection's thread: none of these may wait. */
struct tide_executor {
    void *self;
    enum tide_job_submitted (*submit)(void *self, struct tide_job *job);
    /* Before the body is read; false: the reply holds the problem. NULL: accepts all. */
    bool (*accept)(void *self, const struct tide_request *request, struct tide_reply *reply);
    /* Whether pages of that origin may read answers (TIDE_ORIGINS_KNOWN). NULL: of none. */
    bool (*knows_origin)(void *self, tide_slice origin);
    /* Makes a page of the reply, a problem with a link that a person followed. NULL: stays so. */
    void (*show_problem)(void *self, struct tide_reply *reply);
};

/* --- routes ------------------------------------------------------------------------------ */

enum tide_origins {
    TIDE_ORIGINS_ANY,   /* pages of any origin may read the answer     */
    TIDE_ORIGINS_KNOWN, /* those that the executor knows               */
    TIDE_ORIGINS_NONE   /* none                                        */
};

#define TIDE_ROUTE_INLINE (-1) /* on the connection's thread */

/* How routes are served. */
struct tide_route_class {
    int executor;      /* index of the server's executors, or TIDE_ROUTE_INLINE */
    int past_executor; /* the same, for requests with ?ledger=                  */
    enum tide_origins origins;
    bool lookup;    /* answered inline from memory, in microseconds   */
    bool query;     /* counts as a query for the rate limit, not as a look-up */
    bool stream;    /* server-sent events: reply->stream              */
    bool page;      /* for people: forms may be posted, see tide_executor.show_problem */
    bool any_bytes; /* a body need not be text                        */
    bool encodes;   /* answers may be compressed: nothing in them is secret, so their length tells
                       no secret beside what the client sent                                   */
};

struct tide_route {
    const char *id; /* OpenAPI's operationId */
    const char *method;
    const char *path; /* with {param}s, names of param.def */
    size_t path_len;
    const struct tide_route_class *class;
    uint32_t cost;             /* tokens of the rate limit                */
    uint32_t body_max;         /* bytes; 0: has no body                   */
    const char *cache_control; /* of a success                            */
    const char *query;         /* names of param.def, separated by spaces; "name!" must be given;
                                  "*": any query, which is not read */
    tide_handler_fn *handle;   /* NULL: its executor needs none */
    const char *statement;     /* for its executor; NULL: none  */
};

/* Why a route does not take a parameter that others of its kind do. */
struct tide_route_hint {
    const char *route;
    enum tide_param_id param;
    const char *why; /* "is not taken here: …" */
};

/* Two parameters that a route does not take together. */
struct tide_route_conflict {
    const char *route;
    enum tide_param_id param, with;
    const char *why; /* of param: "cannot be given with …" */
};

/* Routes that take this parameter have a second form of their answers: given, or named by Accept,
 * it is asked for (tide_request.form). */
struct tide_route_form {
    enum tide_param_id param;
    const char *media_type; /* in lower case                      */
    uint32_t cost;          /* tokens beside those of the route   */
};

struct tide_route_table {
    const struct tide_route *routes;
    size_t count;
    const struct tide_route_hint *hints;
    size_t hint_count;
    const struct tide_route_conflict *conflicts;
    size_t conflict_count;
    const struct tide_route_form *form; /* NULL: none */
};

/* A request's target as it came, undecoded; query is what follows '?', empty without one. Never
 * log it: a client may have put a secret seed into it. Log route->id and the status. */
struct tide_target {
    tide_slice method;
    tide_slice path;
    tide_slice query;
    const struct tide_route *likely; /* NULL, or the one asked for before: found sooner if again */
};

/* Finds the route of a target and its parameters' values. request is filled but for body,
 * last_event_id and id; its texts lie in scratch (TIDE_ROUTE_SCRATCH bytes, the caller's, as long
 * as the request). HEAD finds what GET does.
 *
 * False with a problem in reply:
 *   404 no_route            no such path; "//", "." and ".." are no path of ours
 *   405 method_not_allowed  with reply->allow
 *   414 target_too_long     more than TIDE_TARGET_MAX
 *   400 malformed_target    a bad escape, %00, a control character, no UTF-8, ';', '\', '#'
 *   400 invalid_parameters  unknown, repeated, missing or ill-formed ones, each a field
 *
 * Literal parts of a path are compared as they came: an escape in one is another path. Pure. */
bool tide_route_match(struct tide_request *request, struct tide_reply *reply,
                      const struct tide_route_table *table, const struct tide_target *target,
                      char *scratch);

/* The first route of a path as it came, of any method; NULL: none. Pure. */
const struct tide_route *tide_route_at(const struct tide_route_table *table, tide_slice path);

#endif
