/* What the parts of the console share. Made by main.c, lives as long as the server. */
#ifndef API_CONSOLE_CONSOLE_H
#define API_CONSOLE_CONSOLE_H

#include "api/console/people.h"
#include "api/http/route.h"
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

struct console {
    const struct tide_clock *clock;
    const char *conninfo; /* NULL: the environment's */
    struct console_people *people;
    struct tide_deployment_select *select;
    struct tide_worker_pool *pool;
    atomic_bool checking; /* the audit: one at a time, because it reads all of it */
    struct tide_server *server;
    atomic_uint_least64_t refused, others; /* no person; a page of another origin */
    atomic_uint_least64_t actions, actions_refused;
    atomic_int_least64_t told_ms; /* when the last refusal was logged */
};

struct console_order {
    char action[16];
    char target[CONSOLE_TARGET_BYTES]; /* what it is about, or a proposal's id */
    char reason[CONSOLE_REASON_BYTES];
    char detail[CONSOLE_DETAIL_BYTES]; /* of integrators and keys, JSON; else "" */
    struct tide_api_key key;           /* made for this request; else zeros */
};

/* What a worker does for one request. A job's task. */
struct console_ask {
    const struct console_person *person;
    bool acts; /* else it reads */
    struct console_order order;
};

/* --- pool.c --- */
tide_status console_pool_open(struct console *console, uint32_t threads, uint32_t queue,
                              struct tide_err *err) TIDE_MUST_USE;

/* One worker's connection. */
struct console_session {
    struct console *console;
    struct tide_pg *pg;
    struct tide_deployment_selected selected;
    bool ready;
    bool (*stopped)(void *self);
    void *stopped_self;
};

/* --- routes.c --- */
extern const struct tide_route_table console_route_table;
/* Executor 0, of all routes: looks who asks, then answers or submits to the pool. */
struct tide_executor console_executor(struct console *console);

/* --- reads.c --- */
tide_status console_read(struct console_session *session, const struct console_ask *ask,
                         struct tide_job *job, struct tide_err *err) TIDE_MUST_USE;

/* --- lists.c --- */
extern const char console_head_sql[], console_review_sql[], console_proposals_sql[],
    console_expiring_sql[], console_address_sql[], console_sessions_sql[], console_providers_sql[],
    console_attesters_sql[], console_integrators_sql[], console_keys_sql[], console_hooks_sql[],
    console_deliveries_sql[], console_audit_sql[], console_check_sql[];

/* --- metrics.c --- */
void console_metrics(struct console *console, const struct tide_request *request,
                     struct tide_reply *reply);

/* --- order.c --- */
/* Reads the body of a POST; false: the reply holds the problem. */
bool console_order_read(struct console_ask *ask, const struct tide_request *request,
                        struct tide_reply *reply);
void console_ask_free(struct console_ask *ask); /* NULL is fine */

/* --- actions.c --- */
tide_status console_act(struct console_session *session, const struct console_ask *ask,
                        struct tide_job *job, struct tide_err *err) TIDE_MUST_USE;

#endif
