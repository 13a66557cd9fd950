/* A few threads that answer from PostgreSQL, each over a connection of its own, and the bounded
 * queue before them. Nothing of a hot look-up ever waits here.
 *
 * Full      tide_sql_pool_submit says so at once: the caller answers 503.
 * Shares    a client runs at most threads - 1 statements at once, and at most a quarter of the
 *           queue waits for it. One thread is always left for the others, unless there is one.
 * Late      a job whose deadline passed while it waited is answered 503 without being run.
 * Down      while the database is away one thread tries to reach it, twice a second; jobs are
 *           answered 503 database_unavailable at once by the others, and by it between attempts.
 * Lost      a connection that breaks under a job is opened anew and the job runs once more: jobs
 *           only read.
 * Memory    a job belongs to the caller from done() on, and to the pool before. */
#ifndef API_SQL_SQL_POOL_H
#define API_SQL_SQL_POOL_H

#include "api/sql/worker_pool.h"

struct tide_sql_pool;
struct tide_deployment_select;

struct tide_sql_pool_options {
    const char *conninfo;                  /* api_database_url, else database_url */
    uint32_t threads;                      /* api_sql_threads */
    uint32_t queue;                        /* api_sql_queue: jobs that wait */
    struct tide_deployment_select *select; /* NULL: the only deployment */
};

/* Reads the statements (TIDE_E_SCHEMA when they are at fault), starts the threads. Connects to
 * nobody yet: that the database is away is no reason not to start. */
tide_status tide_sql_pool_open(struct tide_sql_pool **out,
                               const struct tide_sql_pool_options *options,
                               struct tide_err *err) TIDE_MUST_USE;
/* Any thread; job->client is set. Unless TIDE_WORKER_POOL_QUEUED, the job stays the caller's. */
enum tide_worker_pool_submitted tide_sql_pool_submit(struct tide_sql_pool *pool,
                                                     struct tide_job *job) TIDE_MUST_USE;
/* Answers what waits, then ends the threads. Statements that run have TIDE_PG_GRACE_MS. */
void tide_sql_pool_close(struct tide_sql_pool *pool);
/* Of no pool (NULL): zeros. */
void tide_sql_pool_stats(struct tide_sql_pool *pool, struct tide_worker_pool_stats *out);

#endif
