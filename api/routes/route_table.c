/* The table of routes, made from route.def, with the classes of routes; and the connections between
 * the server and the parts of the API: executors, the check of API keys, and the state of each
 * server thread. */
#include "api/routes/route_table.h"
#include "api/kyc/keys/keys.h"
#include "api/kyc/kyc.h"
#include "api/kyc/pages/page.h"
#include "api/kyc/worker/webhook_route.h"
#include "api/sql/worker_pool.h"
#include "tidemark/lookup.h"

static_assert(TIDE_ROUTE_INLINE < 0, "no executor has this index");
static_assert(TIDE_PARAM_COUNT <= UINT8_MAX, "a statement binds parameters as bytes");

/* Look-ups: from memory, or of the past from PostgreSQL. */
#define HOT_CLASS                                                                      \
    .executor = TIDE_ROUTE_INLINE, .past_executor = TIDE_EXECUTOR_SQL, .lookup = true, \
    .encodes = true
/* Only pages of an integrator's own origins may read its sessions and webhooks. */
#define KYC_CLASS                                                      \
    .executor = TIDE_EXECUTOR_KYC, .past_executor = TIDE_EXECUTOR_KYC, \
    .origins = TIDE_ORIGINS_KNOWN, .query = true

static const struct tide_route_class
    class_HOT = { HOT_CLASS },
    class_SNAPSHOT = { HOT_CLASS, .scope = TIDE_KYC_SCOPE_SNAPSHOT },
    class_SQL = { .executor = TIDE_EXECUTOR_SQL,
                  .past_executor = TIDE_EXECUTOR_SQL,
                  .query = true,
                  .encodes = true },
    class_LOCAL = { .executor = TIDE_ROUTE_INLINE, .past_executor = TIDE_ROUTE_INLINE },
    class_STREAM = { .executor = TIDE_ROUTE_INLINE,
                     .past_executor = TIDE_ROUTE_INLINE,
                     .query = true,
                     .stream = true },
    class_KYC = { KYC_CLASS }, class_SESSION = { KYC_CLASS, .scope = TIDE_KYC_SCOPE_KYC },
    class_WEBHOOK = { KYC_CLASS, .scope = TIDE_KYC_SCOPE_WEBHOOKS },
    class_PAGE = { .executor = TIDE_EXECUTOR_KYC,
                   .past_executor = TIDE_EXECUTOR_KYC,
                   .origins = TIDE_ORIGINS_NONE,
                   .query = true,
                   .page = true },
    /* The signature covers the body's bytes, so they must not be checked or changed as text. */
    class_HOOK = { .executor = TIDE_EXECUTOR_WEBHOOK,
                   .past_executor = TIDE_EXECUTOR_WEBHOOK,
                   .origins = TIDE_ORIGINS_NONE,
                   .any_bytes = true };

#define TIDE_ROUTE(id, method, path, kind, cost, body_max, cache_control, query, handler) \
    tide_handler_fn tide_route_##handler;
#include "api/routes/route.def"

static const struct tide_route routes[] = {
/* clang-format off */
#define TIDE_ROUTE(id, method, path, kind, cost, body_max, cache_control, query, handler) \
    { #id, #method, path, sizeof path - 1, &class_##kind, cost, body_max, cache_control, query, \
      tide_route_##handler, NULL },
#define TIDE_QUERY(id, path, cost, cache_control, query) \
    { #id, "GET", path, sizeof path - 1, &class_SQL, cost, 0, cache_control, query, NULL, #id },
#include "api/routes/route.def"
    /* clang-format on */
};

static const struct tide_route_hint hints[] = {
    { "stats", TIDE_PARAM_ledger,
      "is not taken here: totals exist for the present only; /api/stats/daily has each day" },
    { "coverage", TIDE_PARAM_ledger,
      "is not taken here: the indexed ranges exist for the present only" },
    { "ledger", TIDE_PARAM_ledger, "is not taken here: a ledger never changes" },
    { "event", TIDE_PARAM_ledger, "is not taken here: an event never changes" },
    { "transaction", TIDE_PARAM_ledger, "is not taken here: a transaction never changes" },
    { "stream", TIDE_PARAM_ledger, "is not taken here: resume with after, or Last-Event-ID" },
};

static const struct tide_route_conflict conflicts[] = {
    { "vaults", TIDE_PARAM_sort, TIDE_PARAM_state,
      "cannot be given with state: vaults of one state are sorted by risk" },
};

#define TIDE_FORM(param, media_type, cost) \
    static const struct tide_route_form receipt_form = { TIDE_PARAM_##param, media_type, cost };
#include "api/routes/route.def"

const struct tide_route_table tide_route_table = { .routes = routes,
                                                   .count = TIDE_COUNT(routes),
                                                   .hints = hints,
                                                   .hint_count = TIDE_COUNT(hints),
                                                   .conflicts = conflicts,
                                                   .conflict_count = TIDE_COUNT(conflicts),
                                                   .form = &receipt_form };

/* --- executors: self is the struct tide_api ------------------------------------------------- */

static enum tide_job_submitted submit_sql(void *self, struct tide_job *job)
{
    struct tide_api *api = self;
    if (!api->pool) {
        tide_reply_problem(
            job->reply, 404, "sql_not_configured",
            "this server answers look-ups only, without ?ledger (api_sql_threads is 0)");
        return TIDE_JOB_ANSWERED;
    }
    job->context.thread = NULL; /* its reader belongs to the connection's thread */
    return tide_worker_pool_submit(api->pool, job);
}

static enum tide_job_submitted submit_kyc(void *self, struct tide_job *job)
{
    struct tide_api *api = self;
    return tide_kyc_submit(api->kyc, job);
}

static bool accept_kyc(void *self, const struct tide_request *request, struct tide_reply *reply)
{
    const struct tide_api *api = self;
    (void)request;
    if (!api->kyc)
        tide_reply_problem(reply, 404, "kyc_not_configured",
                           "this server has no KYC configuration");
    return api->kyc != NULL;
}

static bool accept_webhook(void *self, const struct tide_request *request, struct tide_reply *reply)
{
    const struct tide_api *api = self;
    return accept_kyc(self, request, reply) &&
           tide_kyc_webhook_provider(api->kyc, request, reply) != NULL;
}

static bool knows_origin(void *self, tide_slice origin)
{
    const struct tide_api *api = self;
    return api->kyc && tide_kyc_keys_origin(api->keys, origin);
}

/* Replaces a problem by KYC's page for a link that is not valid any more. */
static void show_problem(void *self, struct tide_reply *reply)
{
    const struct tide_api *api = self;
    if (!api->kyc)
        return;
    tide_reply_reset(reply);
    tide_kyc_page_gone(reply, tide_kyc_visit_of(api->kyc, NULL), 400);
}

void tide_route_executors(struct tide_executor executors[TIDE_EXECUTOR_COUNT], struct tide_api *api)
{
    static_assert(TIDE_EXECUTOR_COUNT == 3, "each executor is set below");
    executors[TIDE_EXECUTOR_SQL] = (struct tide_executor){ .self = api, .submit = submit_sql };
    executors[TIDE_EXECUTOR_KYC] = (struct tide_executor){ .self = api,
                                                           .submit = submit_kyc,
                                                           .accept = accept_kyc,
                                                           .knows_origin = knows_origin,
                                                           .show_problem = show_problem };
    executors[TIDE_EXECUTOR_WEBHOOK] =
        (struct tide_executor){ .self = api, .submit = submit_kyc, .accept = accept_webhook };
}

/* --- API keys ------------------------------------------------------------------------------- */

static void reject_key(struct tide_key_answer *out, uint16_t status, const char *code,
                       const char *detail)
{
    assert(status >= 400); /* else the server would let the key pass */
    out->status = status;
    out->code = code;
    out->detail = detail;
    out->retry_after_s = status == 503 ? 5 : 0;
}

/* Checks X-API-Key on the connection's thread, from memory. If the keys are too old, only routes
 * that need a scope are rejected. */
static void check_key(void *self, struct tide_key_answer *out, const struct tide_route *route,
                      tide_slice key, const struct tide_peer *from)
{
    const struct tide_api *api = self;
    struct tide_kyc_key_use use;
    uint32_t scope = route ? route->class->scope : 0;
    static_assert(sizeof out->print.ip <= sizeof use.hash, "a prefix of the hash");
    if (!api->keys)
        return;
    switch (tide_kyc_keys_check(api->keys, &use, key, from)) {
    case TIDE_KYC_KEY_GOOD:
        out->known = true;
        memcpy(out->print.ip, use.hash, sizeof out->print.ip);
        out->rate = use.rate;
        out->burst = use.burst;
        if (scope && !(use.scopes & scope))
            reject_key(out, 403, "key_scope", "This key does not have the scope of this route.");
        break;
    case TIDE_KYC_KEY_UNKNOWN:
        reject_key(out, 401, "key_unknown", "X-API-Key is the key of no integrator here.");
        break;
    case TIDE_KYC_KEY_NETWORK:
        reject_key(out, 403, "key_network", "This key is not accepted from your network.");
        break;
    case TIDE_KYC_KEY_AWAY:
        if (scope)
            reject_key(out, 503, "key_unchecked", "The database that knows keys is away.");
        break;
    }
}

struct tide_key_check tide_route_keys(struct tide_api *api)
{
    return (struct tide_key_check){ .self = api, .check = check_key };
}

/* --- state of a server's thread: a reader of the hot cache ------------------------------------ */

static tide_status open_thread(void **thread, struct tide_api *api, struct tide_err *err)
{
    struct tide_hot_reader *reader = NULL;
    tide_status status = tide_hot_reader_open(&reader, api->hot, err);
    *thread = reader;
    return status;
}

static void close_thread(void *thread)
{
    tide_hot_reader_close(thread);
}

/* Writes the network's passphrase, with a question mark for each character that is not
 * printable. */
static void read_network(void *thread, char out[SERVER_NETWORK_BYTES])
{
    const struct tide_hot_meta *meta;
    struct tide_err err;
    char name[SERVER_NETWORK_BYTES];
    if (tide_hot_begin(thread, &meta, &err) != TIDE_OK)
        return;
    static_assert(sizeof name > sizeof meta->passphrase, "a passphrase is never cut");
    snprintf(name, sizeof name, "%.*s", (int)sizeof meta->passphrase, meta->passphrase);
    for (char *c = name; *c; c++)
        if (*c < ' ' || *c > '~')
            *c = '?';
    if (tide_hot_end(thread) == TIDE_OK)
        memcpy(out, name, sizeof name);
}

const struct tide_server_thread_calls tide_route_thread_calls = { .open = open_thread,
                                                                  .close = close_thread,
                                                                  .network = read_network };
