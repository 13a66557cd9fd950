/* Routes. The program gives the server a table of them (struct tide_route_table); this module
 * does not know what a route is for.
 *
 * Class      how a route is served: what runs its handler, its cost, which pages may read its
 *            answers
 * Executor   runs handlers that may wait, on its own threads. A handler of a class without
 *            executor runs on the connection's thread and must never wait.
 * Parameters have types (param.def). Unknown, repeated and malformed ones get 400 with the field's
 *            name before the handler runs: a handler sees only valid values. */
#ifndef API_HTTP_ROUTE_H
#define API_HTTP_ROUTE_H

#include "api/http/reply.h"
#include "api/http/request.h"

#define TIDE_TARGET_MAX    2048u /* bytes of path and query */
#define TIDE_ROUTE_SCRATCH (TIDE_TARGET_MAX + 2 * TIDE_ROUTE_PARAMS_MAX)

struct tide_api; /* shared by the handlers of a process; opaque here */
struct tide_wake;

/* The things that a handler may use besides its request. */
struct tide_handler_context {
    struct tide_api *api;
    /* State of the server's thread (struct tide_server_thread_calls); NULL on other threads */
    void *thread;
    void *task;      /* set by the class's executor: an object that it shares with the handler */
    uint64_t now_ms; /* wall clock when the request came */
    int64_t host_ms; /* tide_clock's now_ms at that time: ages are measured by it */
    int64_t deadline_ms;    /* monotonic: afterwards no client waits for the answer */
    struct tide_wake *wake; /* for streams: argument of tide_server_wake */
    /* For streams: the client, as text, for the limit of streams per client */
    tide_slice client;
};

typedef void tide_handler_fn(struct tide_handler_context *context,
                             const struct tide_request *request, struct tide_reply *reply);

/* --- executors --------------------------------------------------------------------------- */

/* A request that an executor shall answer. It belongs to the executor from submit until done(),
 * and then to the submitter. */
struct tide_job {
    const struct tide_request *request;
    struct tide_reply *reply;            /* as tide_reply_reset left it */
    struct tide_handler_context context; /* deadline_ms 0: none           */
    /* Called on the executor's thread when the reply is complete */
    void (*done)(struct tide_job *job);
    struct tide_peer client; /* as the rate limit counts it */
    struct tide_job *next;   /* this and the members below are used by the executor */
    uint32_t bulkhead;       /* 0: in no bulkhead */
    /* The job went back to the queue, because its bulkhead was full */
    bool back;
};

/* Results of submit. Unless QUEUED, the job stays the caller's.
 *
 *  TIDE_JOB_ANSWERED     the reply is complete; done() is not called
 *  TIDE_JOB_QUEUED       done() follows
 *  TIDE_JOB_QUEUE_FULL   the queue is full, or the executor is closing
 *  TIDE_JOB_CLIENT_FULL  the job's client has its share of the queue already */
enum tide_job_submitted {
    TIDE_JOB_ANSWERED,
    TIDE_JOB_QUEUED,
    TIDE_JOB_QUEUE_FULL,
    TIDE_JOB_CLIENT_FULL
};

/* An executor. The functions are called on the connection's thread and must not wait. */
struct tide_executor {
    void *self;
    enum tide_job_submitted (*submit)(void *self, struct tide_job *job);
    /* Called before the body is read. Returns false with a problem in the reply. NULL: accepts
     * all. */
    bool (*accept)(void *self, const struct tide_request *request, struct tide_reply *reply);
    /* Returns whether pages of that origin may read answers (TIDE_ORIGINS_KNOWN). NULL: none
     * may. */
    bool (*knows_origin)(void *self, tide_slice origin);
    /* Turns the reply, a problem, into a page, for a person who followed a link. NULL: it stays
     * a problem. */
    void (*show_problem)(void *self, struct tide_reply *reply);
};

/* --- routes ------------------------------------------------------------------------------ */

enum tide_origins {
    TIDE_ORIGINS_ANY,   /* pages of any origin may read the answer     */
    TIDE_ORIGINS_KNOWN, /* pages of origins that the executor knows */
    TIDE_ORIGINS_NONE   /* no page */
};

#define TIDE_ROUTE_INLINE (-1) /* handlers run on the connection's thread */

/* The way in which routes are served. */
struct tide_route_class {
    int executor;      /* index into the server's executors, or TIDE_ROUTE_INLINE */
    int past_executor; /* the same for requests with ?ledger= */
    enum tide_origins origins;
    uint32_t scope; /* right that a key needs, as the check of keys knows it; 0: none */
    bool lookup;    /* answered inline from memory, in microseconds   */
    bool query;     /* counts as a query for the rate limit, not as a look-up */
    bool stream;    /* server-sent events: reply->stream              */
    bool page;      /* for persons: forms may be posted, and problems become pages (show_problem) */
    bool any_bytes; /* a body may be other than text */
    /* Answers may be compressed: they contain no secret that their length could reveal */
    bool encodes;
};

struct tide_route {
    const char *id; /* OpenAPI's operationId */
    const char *method;
    const char *path; /* with {param}s, which are names of param.def */
    size_t path_len;
    const struct tide_route_class *class;
    uint32_t cost;             /* tokens of the rate limit for one request */
    uint32_t body_max;         /* bytes; 0: no body */
    const char *cache_control; /* Cache-Control of a 200 */
    /* Names of param.def, separated by spaces; "name!" is required; "*": any query, which is not
     * parsed */
    const char *query;
    tide_handler_fn *handle; /* NULL: the executor needs none */
    const char *statement;   /* for the executor; NULL: none */
};

/* The reason why a route does not accept a parameter that similar routes accept. */
struct tide_route_hint {
    const char *route;
    enum tide_param_id param;
    const char *why; /* continues the parameter's name: "is not taken here: …" */
};

/* Two parameters that a route does not accept together. */
struct tide_route_conflict {
    const char *route;
    enum tide_param_id param, with;
    const char *why; /* continues the name of param: "cannot be given with …" */
};

/* The second form of answers. Routes with this parameter have it; the parameter or Accept
 * selects it (tide_request.form). */
struct tide_route_form {
    enum tide_param_id param;
    const char *media_type; /* in lower case                      */
    uint32_t cost;          /* tokens added to the route's cost */
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

/* A request's target as received, not decoded. query follows '?', or is empty. Never log it: a
 * client may have put a secret seed into it. Log route->id and the status. */
struct tide_target {
    tide_slice method;
    tide_slice path;
    tide_slice query;
    /* NULL, or the connection's previous route, which is tried first */
    const struct tide_route *likely;
};

/* Finds the route of a target and reads its parameters. Fills request except body, last_event_id
 * and id. Its texts are in scratch (TIDE_ROUTE_SCRATCH bytes of the caller's), which must live
 * as long as the request. HEAD finds the route of GET.
 *
 * Returns false with a problem in reply:
 *  404 no_route            no such path, also "//", "." and ".." in it
 *  405 method_not_allowed  with reply->allow
 *  414 target_too_long     more than TIDE_TARGET_MAX
 *  400 malformed_target    a bad escape, %00, a control character, no UTF-8, ';', '\', '#'
 *  400 invalid_parameters  unknown, repeated, missing or invalid ones, each a field
 *
 * Literal parts of a path are compared as received: an escape in one makes another path. Pure. */
bool tide_route_match(struct tide_request *request, struct tide_reply *reply,
                      const struct tide_route_table *table, const struct tide_target *target,
                      char *scratch);

/* Returns the first route of a path as received, of any method, or NULL. Pure. */
const struct tide_route *tide_route_at(const struct tide_route_table *table, tide_slice path);

/* --- keys: how the server asks the program about a request's X-API-Key ---------------------- */

struct tide_key_answer {
    /* 0: accepted; otherwise the status of the rejection, with the next three members */
    uint16_t status;
    uint16_t retry_after_s;
    const char *code, *detail;
    bool known;             /* the key is known: its limits are counted by print */
    struct tide_peer print; /* 16 bytes of the key's hash */
    uint32_t rate, burst;   /* requests a second; requests at once; 0: the limits of api_rate_* */
};

/* Check runs on the connection's thread and must not wait. route: NULL if none matched. from:
 * the client behind proxies. *out is zeroed before the call. */
struct tide_key_check {
    void *self;
    void (*check)(void *self, struct tide_key_answer *out, const struct tide_route *route,
                  tide_slice key, const struct tide_peer *from);
};

#endif
