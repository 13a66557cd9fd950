/* The objects that the console's parts share. main.c makes them; they live as long as the
 * server. */
#ifndef API_CONSOLE_CONSOLE_H
#define API_CONSOLE_CONSOLE_H

#include "api/console/people.h"
#include "api/http/route.h"
#include "api/http/static_files.h"
#include "api/sql/deployment_select.h"
#include "api/sql/worker_pool.h"
#include "tidemark/api_key.h"
#include "tidemark/config.h"

#include <stdatomic.h>

#define CONSOLE_TARGET_BYTES 65u
#define CONSOLE_REASON_BYTES 64u
#define CONSOLE_AFTER_BYTES  128u
#define CONSOLE_DETAIL_BYTES 2560u

struct tide_server;

/* The pages that tools/dashboard built. They contain "console.html" only if it did. */
extern const struct tide_static_file tide_console_files[];
extern const size_t tide_console_file_count;

struct console {
    const struct tide_clock *clock;
    const char *conninfo; /* NULL: libpq's environment */
    struct console_people *people;
    struct tide_deployment_select *select;
    struct tide_worker_pool *pool;
    /* a check of the audit runs: only one at a time, because it reads all rows */
    atomic_bool checking;
    struct tide_server *server;
    /* counts requests of no known person, and of other origins */
    atomic_uint_least64_t refused, others;
    atomic_uint_least64_t actions, actions_refused;
    atomic_int_least64_t refused_logged_ms; /* monotonic: when a refusal was last logged */
};

/* A person's action, as its body orders it. */
struct console_order {
    char action[16];
    char target[CONSOLE_TARGET_BYTES]; /* subject of the action, or the proposal's id */
    char reason[CONSOLE_REASON_BYTES];
    char detail[CONSOLE_DETAIL_BYTES]; /* JSON for integrators and keys, else "" */
    struct tide_api_key key;           /* the key made for this request, else zeros */
};

/* A list or an action that one request asks a worker for; job->context.task points to it. */
struct console_task {
    const struct console_person *person;
    bool acts; /* true: an action; false: a list */
    struct console_order order;
};

/* --- pool.c --- */
/* Opens and starts the worker pool, which main.c closes. */
tide_status console_pool_open(struct console *console, uint32_t threads, uint32_t queue,
                              struct tide_err *err) TIDE_MUST_USE;

/* A worker's connection, as tidemark_console. */
struct console_session {
    struct console *console;
    struct tide_worker_pool *pool;
    struct tide_pg *pg;
    struct tide_deployment_selected selected;
    bool ready;
};

/* --- routes.c --- */
extern const struct tide_route_table console_route_table;
/* Executor 0, which serves all routes: identifies the person, then answers or submits to the
 * pool. */
struct tide_executor console_executor(struct console *console);

/* --- reads.c --- */
/* Answers a list. A status other than TIDE_OK: the database failed. */
tide_status console_read(struct console_session *session, const struct console_task *task,
                         struct tide_job *job, struct tide_err *err) TIDE_MUST_USE;

/* --- lists.c --- */
/* The lists' statements; lists.c explains their parameters. */
extern const char console_head_sql[], console_review_sql[], console_proposals_sql[],
    console_expiring_sql[], console_address_sql[], console_sessions_sql[], console_providers_sql[],
    console_attesters_sql[], console_integrators_sql[], console_keys_sql[], console_hooks_sql[],
    console_deliveries_sql[], console_audit_sql[], console_check_sql[];

/* --- metrics.c --- */
/* Answers GET /metrics, but only if no proxy passed the request on. */
void console_metrics(struct console *console, const struct tide_request *request,
                     struct tide_reply *reply);

/* --- order.c --- */
/* Reads and checks the body of a POST. Returns false if the reply holds the problem. */
bool console_order_read(struct console_task *task, const struct tide_request *request,
                        struct tide_reply *reply);
void console_task_free(struct console_task *task); /* wipes the key; NULL is allowed */

/* --- actions.c --- */
/* Carries out an action. A refusal is TIDE_OK with a problem in the reply. A status other than
 * TIDE_OK: the database failed. */
tide_status console_act(struct console_session *session, const struct console_task *task,
                        struct tide_job *job, struct tide_err *err) TIDE_MUST_USE;

#endif
