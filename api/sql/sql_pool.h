/* The worker pool that answers from PostgreSQL. Look-ups in the hot cache never wait for it.
 *
 * Session   A connection is read-only, limits the time of statements, and prepares each statement
 *           at its first use. It is made when needed and made again when lost.
 * Rights    It logs in as the role in api_database_url. Routes of kind SQL run as tidemark_api,
 *           which cannot read jurisdictions; hot routes as of a ledger need these and run as the
 *           login. A login that is not a member of tidemark_api is rejected.
 * Shares    A client runs at most threads - 1 statements at once, and a quarter of the queue may
 *           wait for it. So one thread is left for other clients, unless there is only one.
 * Retries   Jobs only read, so a job whose connection broke runs once more.
 * Closing   Running statements have TIDE_PG_GRACE_MS to end. */
#ifndef API_SQL_SQL_POOL_H
#define API_SQL_SQL_POOL_H

#include "api/sql/worker_pool.h"

struct tide_deployment_select;

#define TIDE_SQL_SILENCE_MS 5000 /* silence of the server after which a connection is closed */

struct tide_sql_pool_options {
    const char *conninfo;                  /* api_database_url, else database_url */
    const struct tide_route_table *routes; /* each route with a statement needs its file */
    uint32_t threads;                      /* api_sql_threads */
    uint32_t queue;                        /* jobs that may wait */
    struct tide_deployment_select *select; /* NULL: the only deployment */
};

/* Reads the statements (TIDE_E_SCHEMA if one is wrong) and starts the threads. They connect
 * later, so that the process starts without its database. */
tide_status tide_sql_pool_open(struct tide_worker_pool **out,
                               const struct tide_sql_pool_options *options,
                               struct tide_err *err) TIDE_MUST_USE;

#endif
