/* A pool of worker threads, each with a database connection of its own, and their bounded queue.
 * SQL routes and KYC use it.
 *
 * Full      if the queue is full, submit says so at once and the caller answers 503.
 * Late      if a job's deadline passed while it waited, it gets 503 and is not run.
 * Down      while the database is away, one worker tries to connect twice a second. The others
 *           answer 503 at once, and so does that one between attempts.
 * Lost      a job whose connection broke under it runs once more over a new one.
 * Bulkheads limit how many workers one slow dependency may occupy. A job enters the dependency's
 *           bulkhead before it waits for it. In a pool with by_client each client has a bulkhead
 *           instead, which its jobs enter when they are submitted. A free worker takes the first
 *           job of the client with the fewest running jobs.
 * Memory    a job belongs to the pool until done() is called, then to the caller. */
#ifndef API_SQL_WORKER_POOL_H
#define API_SQL_WORKER_POOL_H

#include "api/http/route.h"
#include "tidemark/clock.h"

struct tide_worker_pool; /* opaque */

/* Callbacks that a worker runs. state is its own: its connection. */
struct tide_worker_calls {
    size_t state_size;
    /* state is zeroed memory. Does not connect yet. A failed one leaves nothing to close. */
    tide_status (*open)(void *state, void *owner, struct tide_worker_pool *pool,
                        struct tide_err *err);
    void (*close)(void *state);
    bool (*ready)(const void *state);
    /* Connects, if need be anew. */
    tide_status (*connect)(void *state, struct tide_err *err);
    /* The database became reachable, or unreachable. */
    void (*report)(void *state, bool there, const struct tide_err *err);
    /* Answers the job. Rolls back first what an earlier run may have left open. */
    tide_status (*run)(void *state, struct tide_job *job, struct tide_err *err);
    /* After a failure: whether the connection is broken. */
    bool (*lost)(const void *state);
    /* After a failure on a working connection: whether to run the job once more. */
    bool (*again)(const void *state, tide_status status);
    /* Makes it unready: connect is called before its next job. */
    void (*drop)(void *state);
    /* Answers a job that failed. */
    void (*refuse)(void *state, struct tide_job *job, const struct tide_err *err);
    void (*over)(struct tide_job *job); /* before done(); may be NULL */
    /* When the pool is closed, or could not be opened; may be NULL. */
    void (*release)(void *owner);
};

struct tide_worker_pool_stats {
    uint32_t threads, connected, busy, waiting;
    uint64_t jobs, full, late, failed, connects; /* since the start; full: of the whole queue */
    uint64_t waits;  /* submissions that had to wait for the queue's lock */
    bool no_primary; /* the last attempt to connect wanted a primary and met standbys only */
};

#define TIDE_BULKHEADS_MAX 8u

struct tide_worker_pool_options {
    const char *name; /* static: of its threads, when one hangs */
    const struct tide_worker_calls *work;
    void *owner; /* the pool's from open on, see release */
    const struct tide_clock *clock;
    uint32_t threads, queue;   /* queue: jobs that wait */
    uint32_t bulkhead_threads; /* that one bulkhead may hold; 0: there are no bulkheads */
    uint32_t bulkhead_queue;   /* jobs that wait for one bulkhead */
    bool by_client; /* bulkheads are the jobs' clients; tide_worker_pool_enter is not called */
};

/* *out is NULL if it fails. */
tide_status tide_worker_pool_open(struct tide_worker_pool **out,
                                  const struct tide_worker_pool_options *options,
                                  struct tide_err *err) TIDE_MUST_USE;
/* Starts the threads. */
tide_status tide_worker_pool_start(struct tide_worker_pool *pool,
                                   struct tide_err *err) TIDE_MUST_USE;
/* Any thread. Unless TIDE_JOB_QUEUED, the job stays the caller's.
 * TIDE_JOB_QUEUE_FULL   the queue is full, or the pool is closing
 * TIDE_JOB_CLIENT_FULL  its client has bulkhead_threads + bulkhead_queue jobs already */
enum tide_job_submitted tide_worker_pool_submit(struct tide_worker_pool *pool,
                                                struct tide_job *job) TIDE_MUST_USE;
/* Answers the jobs that wait, ends the threads, closes their states. NULL is fine. */
void tide_worker_pool_close(struct tide_worker_pool *pool);

/* Of the job that runs, before it waits for bulkhead (1 to TIDE_BULKHEADS_MAX).
 * TIDE_BULKHEAD_ENTERED  it is in it until it is over; entering again is free
 * TIDE_BULKHEAD_BACK     there is no room: run returns TIDE_OK at once, without an answer, and runs
 *                    again when there is, or late
 * TIDE_BULKHEAD_FULL     bulkhead_queue jobs wait for that bulkhead already: run answers so */
enum tide_worker_pool_room { TIDE_BULKHEAD_ENTERED, TIDE_BULKHEAD_BACK, TIDE_BULKHEAD_FULL };
enum tide_worker_pool_room tide_worker_pool_enter(struct tide_worker_pool *pool,
                                                  struct tide_job *job,
                                                  uint32_t bulkhead) TIDE_MUST_USE;
/* Whether statements and calls that run should end; self is the pool. */
bool tide_worker_pool_is_closing(void *self);
/* Of no pool (NULL): zeros. */
void tide_worker_pool_stats(struct tide_worker_pool *pool, struct tide_worker_pool_stats *out);

#endif
