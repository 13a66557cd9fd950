/* The worker pool that answers from PostgreSQL. No look-up in the hot cache ever waits for it.
 *
 * Shares    a client runs at most threads - 1 statements at once, and at most a quarter of the
 *           queue waits for it. One thread is always left for the others, unless there is one.
 * Retries   jobs only read, so a job whose connection broke runs once more.
 * Closing   statements that run have TIDE_PG_GRACE_MS. */
#ifndef API_SQL_SQL_POOL_H
#define API_SQL_SQL_POOL_H

#include "api/sql/worker_pool.h"

struct tide_deployment_select;

struct tide_sql_pool_options {
    const char *conninfo;                  /* api_database_url, else database_url */
    const struct tide_route_table *routes; /* each route with a statement has a file of it */
    uint32_t threads;                      /* api_sql_threads */
    uint32_t queue;                        /* api_sql_queue: jobs that wait */
    struct tide_deployment_select *select; /* NULL: the only deployment */
};

/* Reads the statements (TIDE_E_SCHEMA if they are at fault) and starts the threads. They connect
 * later: the process starts without its database. */
tide_status tide_sql_pool_open(struct tide_worker_pool **out,
                               const struct tide_sql_pool_options *options,
                               struct tide_err *err) TIDE_MUST_USE;

#endif
