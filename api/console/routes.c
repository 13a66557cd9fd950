/* The routes, and the checks before a worker gets a request: a known person sends it, and no page
 * of another origin does. */
#include "api/console/console.h"
#include "tidemark/log.h"

#include <stdlib.h>

enum { BODY_MAX = 4096, LOG_MS = 1000 };

/* Class of all routes: answers are for the person that the proxy identified, and for no other
 * origin. */
static const struct tide_route_class class_console = {
    .executor = 0, .past_executor = 0, .origins = TIDE_ORIGINS_NONE, .query = true
};

#define GET(id, path, cost, cache, query, statement)                                             \
    {                                                                                            \
        id, "GET", path, sizeof path - 1, &class_console, cost, 0, cache, query, NULL, statement \
    }
#define POST(id, path)                                                                             \
    {                                                                                              \
        id, "POST", path, sizeof path - 1, &class_console, 5, BODY_MAX, "no-store", "", NULL, NULL \
    }

static const struct tide_route routes[] = {
    GET("metrics", "/metrics", 1, "no-store", "", NULL),
    GET("page", "/console", 1, "no-cache", "", NULL),
    GET("file", "/console/app/{file}", 1, "no-cache", "", NULL),
    GET("review", "/console/api/review", 1, "no-store", "limit after", console_review_sql),
    GET("proposals", "/console/api/proposals", 1, "no-store", "limit after", console_proposals_sql),
    GET("expiring", "/console/api/expiring", 5, "no-store", "limit after within",
        console_expiring_sql),
    GET("address", "/console/api/address/{address}", 1, "no-store", "limit after",
        console_address_sql),
    GET("sessions", "/console/api/sessions", 5, "no-store", "limit after", console_sessions_sql),
    GET("providers", "/console/api/providers", 5, "no-store", "limit after", console_providers_sql),
    GET("attesters", "/console/api/attesters", 1, "no-store", "limit after", console_attesters_sql),
    GET("integrators", "/console/api/integrators", 1, "no-store", "limit after",
        console_integrators_sql),
    GET("keys", "/console/api/keys", 1, "no-store", "limit after", console_keys_sql),
    GET("hooks", "/console/api/webhooks", 5, "no-store", "limit after", console_hooks_sql),
    GET("deliveries", "/console/api/webhooks/{webhookId}/deliveries", 1, "no-store", "limit after",
        console_deliveries_sql),
    GET("audit", "/console/api/audit", 1, "no-store", "limit after", console_audit_sql),
    GET("check", "/console/api/audit/check", 50, "no-store", "", console_check_sql),
    POST("act", "/console/api/actions"),
    POST("confirm", "/console/api/confirm"),
    POST("withdraw", "/console/api/withdraw"),
};

const struct tide_route_table console_route_table = { .routes = routes,
                                                      .count = TIDE_COUNT(routes) };

/* Counts a refusal, and logs at most one line a second: any client can cause refusals. */
static void count_refusal(struct console *console, const char *why)
{
    int64_t now = console->clock->now_ms(console->clock->self);
    uint64_t refused = atomic_fetch_add(&console->refused, 1) + 1;
    int64_t logged = atomic_load(&console->refused_logged_ms);
    if (now - logged >= LOG_MS &&
        atomic_compare_exchange_strong(&console->refused_logged_ms, &logged, now))
        tide_log(TIDE_WARN, "console.refused", "why=%s refused=%" PRIu64, why, refused);
}

/* Returns the person who sends the request. NULL: the reply holds the problem. */
static const struct console_person *
find_person(struct console *console, const struct tide_request *request, struct tide_reply *reply)
{
    const char *why;
    const struct console_person *person = console_person_of(console->people, request, &why);
    if (!person) {
        count_refusal(console, why);
        tide_reply_problem(reply, 403, "unknown_person",
                           "The console does not know you: its file does not have your "
                           "certificate, or the request did not come through its proxy.");
    }
    return person;
}

/* Refuses requests that a page of another origin sent. Browsers name the sending page with each
 * POST (Origin), and say with each request whether it comes from the same origin (Sec-Fetch-Site).
 * A link on another page may open the console's page and nothing else. Other programs send neither
 * header. */
static bool is_own_page(struct console *console, const struct tide_request *request,
                        struct tide_reply *reply)
{
    uint32_t times, sites, modes;
    tide_slice origin = tide_request_header(request, "Origin", &times);
    tide_slice site = tide_request_header(request, "Sec-Fetch-Site", &sites);
    tide_slice mode = tide_request_header(request, "Sec-Fetch-Mode", &modes);
    bool posts = request->route->body_max > 0;
    bool opens = strcmp(request->route->id, "page") == 0 && modes == 1 &&
                 tide_slice_eq_str(mode, "navigate");
    bool own = sites == 0 || (sites == 1 && (tide_slice_eq_str(site, "same-origin") || opens ||
                                             (!posts && tide_slice_eq_str(site, "none"))));
    if (posts || times)
        own = own && times == 1 && tide_slice_eq_str(origin, console->people->origin);
    if (!own) {
        atomic_fetch_add(&console->others, 1);
        tide_reply_problem(reply, 403, "other_origin", "Only a page of the console may send this.");
    }
    return own;
}

/* Answers with the console's page, or a file of it. */
static void send_file(const struct tide_request *request, struct tide_reply *reply)
{
    const struct tide_param_value *name = tide_request_param(request, TIDE_PARAM_file);
    const struct tide_static_file *file =
        tide_static_file_named(tide_console_files, tide_console_file_count,
                               name ? name->text : TIDE_SLICE("console.html"));
    if (!file) {
        tide_reply_problem(reply, 404, "not_found",
                           "There is no such file. tools/dashboard builds the console's pages.");
        return;
    }
    tide_static_file_send(reply, file);
    tide_static_file_tag(reply, file->text);
}

/* Answers metrics and files at once; queues lists and actions for a worker. */
static enum tide_job_submitted submit_request(void *self, struct tide_job *job)
{
    struct console *console = self;
    const struct tide_request *request = job->request;
    if (strcmp(request->route->id, "metrics") == 0) {
        console_metrics(console, request, job->reply);
        return TIDE_JOB_ANSWERED;
    }
    const struct console_person *person = find_person(console, request, job->reply);
    if (!person || !is_own_page(console, request, job->reply))
        return TIDE_JOB_ANSWERED;
    if (!request->route->statement && !request->route->body_max) {
        send_file(request, job->reply);
        return TIDE_JOB_ANSWERED;
    }
    struct console_task *task = calloc(1, sizeof *task);
    if (!task) {
        tide_reply_problem(job->reply, 503, "no_memory", "There is no memory for this request.");
        return TIDE_JOB_ANSWERED;
    }
    task->person = person;
    assert(person >= console->people->people &&
           person < console->people->people + console->people->count);
    if (request->route->body_max && !console_order_read(task, request, job->reply)) {
        console_task_free(task);
        return TIDE_JOB_ANSWERED;
    }
    job->context.task = task;
    job->context.thread = NULL; /* belongs to the connection's thread */
    /* The pool counts a person as one client, whatever address the requests come from. */
    static_assert(CONSOLE_PEOPLE_MAX <= UINT8_MAX + 1, "a client for each person");
    job->client = (struct tide_peer){ .ip = { (uint8_t)(person - console->people->people) } };
    enum tide_job_submitted submitted = tide_worker_pool_submit(console->pool, job);
    if (submitted != TIDE_JOB_QUEUED) {
        job->context.task = NULL;
        console_task_free(task);
    }
    return submitted;
}

struct tide_executor console_executor(struct console *console)
{
    return (struct tide_executor){ .self = console, .submit = submit_request };
}
