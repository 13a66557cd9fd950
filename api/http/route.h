/* Routes: what the server matches, the requests and replies it and the handlers exchange.
 *
 * One list   route.def names every route; paths, methods, parameters and classes are nowhere
 *            else. api/openapi/ makes openapi.json of the same list.
 * Kinds      HOT     answered on the connection's own thread from the hot cache: never waits.
 *                    With ?ledger=N the same handler runs on a pool thread, over PostgreSQL.
 *            SQL     a statement of api/sql/queries/ on a pool thread; PostgreSQL builds the JSON
 *            LOCAL   answered on the connection's own thread from what the process knows itself
 *            STREAM  server-sent events
 *            KYC     pages and sessions of KYC: threads of their own (api/kyc/handler.h)
 *            HOOK    webhooks of KYC: the same; bodies of any bytes, nothing for other origins
 * Parameters are typed by param.def. The server refuses unknown, repeated and malformed ones
 * (400, with the field's name) before a handler runs: a handler sees only values that fit. */
#ifndef API_HTTP_ROUTE_H
#define API_HTTP_ROUTE_H

#include "api/http/peer.h"
#include "schema/store/hot_record.h"
#include "tidemark/buf.h"

#define TIDE_ROUTE_PARAMS_MAX 12u
#define TIDE_TARGET_MAX       2048u /* bytes of path and query */
#define TIDE_ROUTE_SCRATCH    (TIDE_TARGET_MAX + 2 * TIDE_ROUTE_PARAMS_MAX)
#define TIDE_REQUEST_ID_BYTES 33u
#define TIDE_REPLY_BODY_MAX   (8u << 20) /* bytes of one answer           */
#define TIDE_PROBLEM_FIELDS   16u        /* bad fields named in one answer */

enum tide_route_kind {
    TIDE_ROUTE_HOT,
    TIDE_ROUTE_SQL,
    TIDE_ROUTE_LOCAL,
    TIDE_ROUTE_STREAM,
    TIDE_ROUTE_KYC,
    TIDE_ROUTE_HOOK
};

/* One value per line of param.def: TIDE_PARAM_limit … */
enum tide_param_id {
#define TIDE_PARAM(name, type, min, max, def, words, help, example) TIDE_PARAM_##name,
#include "api/http/param.def"
#undef TIDE_PARAM
    TIDE_PARAM_COUNT
};

enum tide_param_type {
    TIDE_PARAM_U64,     /* decimal digits, min..max                                       */
    TIDE_PARAM_AMOUNT,  /* a whole number of at most 38 digits, without leading zeros     */
    TIDE_PARAM_ADDRESS, /* G… or C… strkey; an M… is refused with a text that names its G… */
    TIDE_PARAM_SYMBOL,  /* 1..32 of [A-Za-z0-9_]                                          */
    TIDE_PARAM_HASH,    /* 64 hex digits                                                  */
    TIDE_PARAM_TEXT,    /* min..max bytes of UTF-8 without control characters             */
    TIDE_PARAM_CHOICE,  /* one of its words, "a|b|c"                                      */
    TIDE_PARAM_BOOL,    /* true | false                                                   */
    TIDE_PARAM_TIME,    /* unix seconds, or RFC 3339: min..max                            */
    TIDE_PARAM_KIND,    /* a kind of event: enum tide_event_id                            */
    TIDE_PARAM_EVENT,   /* Stellar RPC's id of an event: 19 digits, '-', 10 digits        */
    TIDE_PARAM_CURSOR,  /* what an earlier answer gave as "next"                          */
};

struct tide_param_value {
    enum tide_param_id id;
    bool given;      /* false: text is the default, maybe empty  */
    tide_slice text; /* decoded; NUL follows it; dies with the request */
    uint64_t number; /* U64; TIME: unix seconds; CHOICE: index of the word; BOOL; KIND: its id */
    tide_i128 amount;
    struct tide_hot_address address;
    struct tide_hot_symbol symbol;
};

struct tide_route;
struct tide_request_head;

/* A request that matched a route and whose parameters fit. Dies when the handler returns. */
struct tide_request {
    const struct tide_route *route;
    struct tide_param_value params[TIDE_ROUTE_PARAMS_MAX]; /* of the route, path first */
    uint32_t param_count;
    tide_slice body;                      /* of POST: at most the route's, UTF-8 but of HOOK */
    tide_slice last_event_id;             /* of STREAM                           */
    const struct tide_request_head *head; /* for tide_request_header              */
    struct tide_peer client;              /* behind proxies; the /64 of an IPv6 one */
    char id[TIDE_REQUEST_ID_BYTES];       /* NUL-terminated, ours or the client's  */
};

/* The value of a header line, of any case of its name; how often it came (the value is the first's,
 * ptr NULL when it did not). As long as the request, on whatever thread. */
tide_slice tide_request_header(const struct tide_request *request, const char *name,
                               uint32_t *occurrences);

/* The parameter of that name, NULL when the route has none such. */
const struct tide_param_value *tide_request_param(const struct tide_request *request,
                                                  enum tide_param_id id);

/* The ledger an answer is true at. known false: the answer is about no ledger (documents, 404 of a
 * path). age_ms is since the indexer was last heard of (age.h); 0 for ?ledger=N. */
struct tide_answer_at {
    bool known;
    uint32_t ledger;
    uint64_t close_time; /* unix seconds */
    uint64_t age_ms;
};

/* Where the bytes of a stream come from: see api/http/server/server.h. */
struct tide_stream_out {
    ptrdiff_t (*read)(void *self, char *to, size_t max);
    void (*close)(void *self);
    void *self;
};

/* What goes out. A handler fills body, and at; the rest is right as tide_reply_init leaves it for a
 * plain JSON answer. Header lines, CORS, Request-Id, ETag and rate fields are the server's. */
struct tide_reply {
    uint16_t status;
    struct tide_buf body;      /* ceiling TIDE_REPLY_BODY_MAX; kept between requests */
    tide_slice fixed;          /* ptr not NULL: static bytes of this route, sent instead of body */
    const char *content_type;  /* static; NULL: application/json; charset=utf-8     */
    const char *cache_control; /* static; NULL: as route.def says                   */
    uint32_t retry_after_s;    /* 0: none                                           */
    char allow[64];            /* of a 405: the methods of the path, "GET, HEAD"    */
    struct tide_answer_at at;
    uint8_t etag[16]; /* with has_etag: a weak one, instead of a strong one of the body */
    bool has_etag;
    uint32_t field_count;
    const char *security_policy;   /* static; NULL: default-src 'none' and no frames */
    struct tide_buf lines;         /* of tide_reply_header */
    struct tide_stream_out stream; /* of kind STREAM, read not NULL: instead of body */
};

void tide_reply_init(struct tide_reply *reply);  /* once  */
void tide_reply_reset(struct tide_reply *reply); /* per request; keeps memory */
void tide_reply_release(struct tide_reply *reply);

/* One more header line, or instead of the server's own of that name; value "": none of that name.
 * Texts are copied. A problem drops them. */
void tide_reply_header(struct tide_reply *reply, const char *name, const char *value);
/* The value that was set for name, NULL when none was. */
const char *tide_reply_header_of(const struct tide_reply *reply, const char *name);

/* Makes the reply a problem (RFC 9457): status, a stable code in snake case (its type is
 * "urn:tidemark:problem:CODE"), and a sentence for the person. Drops a body written before. */
void tide_reply_problem(struct tide_reply *reply, uint16_t status, const char *code,
                        const char *detail, ...) TIDE_PRINTF(4, 5);
/* Adds a bad field to the problem: where is a JSON Pointer into the body ("/addresses/3"; "" is all
 * of it), or "?name" of a query, or "{name}" of the path. Beyond TIDE_PROBLEM_FIELDS they are
 * counted only. */
void tide_reply_problem_field(struct tide_reply *reply, const char *where, const char *detail);
/* The same for a member of the body that the route does not know. A name that may be a secret is
 * not repeated: the pointer is "" then. */
void tide_reply_problem_unknown(struct tide_reply *reply, const char *name);

/* What a handler may use: the process's things (server.h), this thread's reader of the cache,
 * and, on a pool thread, its connection (NULL on a connection's thread). */
struct tide_api;
struct tide_hot_reader;
struct tide_pg;
struct tide_wake;
struct tide_kyc_work;
struct tide_handler_context {
    struct tide_api *api;
    struct tide_hot_reader *reader;
    struct tide_pg *pg;
    uint16_t deployment;         /* on a pool thread: what pg is asked about */
    const char *scope;           /* with it: what of it is kept (api/sql/scope.h) */
    uint64_t now_ms;             /* wall clock when the request came */
    int64_t host_ms;             /* tide_clock's now_ms then: what ages are measured by */
    int64_t deadline_ms;         /* monotonic: after it nobody waits for the answer */
    struct tide_wake *wake;      /* of kind STREAM: for tide_server_wake */
    tide_slice client;           /* of kind STREAM: whose limit it counts for, text */
    struct tide_kyc_work *later; /* of KYC, HOOK: what a desk is to do (api/kyc/handler.h) */
};

typedef void tide_handler_fn(struct tide_handler_context *context,
                             const struct tide_request *request, struct tide_reply *reply);

struct tide_route {
    const char *id; /* of route.def; OpenAPI's operationId */
    const char *method;
    const char *path; /* with {param}s, names of param.def */
    enum tide_route_kind kind;
    uint32_t cost;             /* tokens of the rate limit                */
    uint32_t body_max;         /* bytes; 0: has no body                   */
    const char *cache_control; /* of a success                            */
    const char *query;         /* names of param.def, separated by spaces; "name!" must be given;
                                  "*": whatever it is, nobody reads it */
    tide_handler_fn *handle;   /* HOT, LOCAL, and SQL that is not a plain statement */
    const char *statement;     /* SQL: api/sql/queries/SUBJECT/<statement>.sql, else NULL        */
};

const struct tide_route *tide_routes(size_t *count);

/* A request's target as it came, undecoded; query is what follows '?', empty without one. Never
 * log it: somebody may have put a secret seed into it. Log route->id and the status. */
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
                      const struct tide_target *target, char *scratch);

/* The first route of a path as it came, of any method; NULL: none. Pure. */
const struct tide_route *tide_route_at(tide_slice path);

#endif
