/* A pool of worker threads with a bounded queue; each worker owns a database connection. SQL
 * routes and KYC use it.
 *
 * Full      If the queue is full, submit returns that at once and the caller answers 503.
 * Late      If a job's deadline passed while it waited, it gets 503 and is not run.
 * Down      While the database is away, one worker tries to connect twice a second. The others
 *           answer 503 at once, and so does that one between attempts.
 * Lost      A job whose connection broke while it ran is run once more over a new one.
 * Bulkheads limit how many workers one slow dependency may occupy. A job enters the dependency's
 *           bulkhead before it waits for it. In a pool with by_client each client has a bulkhead
 *           instead, which its jobs enter when they are submitted. A free worker takes the first
 *           job of the client with the fewest running jobs.
 * Memory    A job belongs to the pool until done() is called, then to the caller. */
#ifndef API_SQL_WORKER_POOL_H
#define API_SQL_WORKER_POOL_H

#include "api/http/route.h"
#include "tidemark/clock.h"

struct tide_worker_pool; /* opaque */

/* The verdicts on a failed run. */
enum tide_worker_verdict {
    TIDE_WORKER_FAILED, /* the job fails */
    TIDE_WORKER_AGAIN,  /* the job may succeed if it runs once more */
    TIDE_WORKER_LOST    /* the same, over a new connection */
};

/* Callbacks that a worker runs, in this order. state is the worker's own, with its connection. Only
 * the callbacks read and write it, on the worker's thread: the pool knows what ready and judge say.
 *
 *   open                                  once; then for each job
 *   connect, report                       while the state is not ready
 *   run, and judge if it failed           at most twice
 *   refuse, if no run succeeded; over
 *   close, release                        once */
struct tide_worker_calls {
    size_t state_size;
    /* Initialises zeroed state without connecting. If it fails, close is not called. */
    tide_status (*open)(void *state, void *owner, struct tide_worker_pool *pool,
                        struct tide_err *err);
    void (*close)(void *state);
    bool (*ready)(const void *state);
    /* Connects or reconnects. */
    tide_status (*connect)(void *state, struct tide_err *err);
    /* Logs that the database became reachable or unreachable. */
    void (*report)(void *state, bool there, const struct tide_err *err);
    /* Answers the job; the reply is empty. Rolls back what an earlier run may have left open. */
    tide_status (*run)(void *state, struct tide_job *job, struct tide_err *err);
    /* Judges a failed run. After TIDE_WORKER_LOST the state is not ready. */
    enum tide_worker_verdict (*judge)(void *state, tide_status status);
    /* Answers a job that failed. */
    void (*refuse)(void *state, struct tide_job *job, const struct tide_err *err);
    void (*over)(struct tide_job *job); /* called before done(); may be NULL */
    /* Frees the owner, when the pool is closed or could not be opened. May be NULL. */
    void (*release)(void *owner);
};

struct tide_worker_pool_stats {
    uint32_t threads, connected, busy, waiting;
    /* Since the start; full: rejections by the whole queue */
    uint64_t jobs, full, late, failed, connects;
    uint64_t waits;  /* submissions that had to wait for the queue's lock */
    bool no_primary; /* the last attempt to connect needed a primary and found only standbys */
};

#define TIDE_BULKHEADS_MAX 8u

struct tide_worker_pool_options {
    const char *name; /* static; names the threads in the liveness report */
    const struct tide_worker_calls *work;
    void *owner; /* owned by the pool from open on, see release */
    const struct tide_clock *clock;
    uint32_t threads, queue;   /* queue: jobs that may wait */
    uint32_t bulkhead_threads; /* workers that one bulkhead may occupy; 0: no bulkheads */
    uint32_t bulkhead_queue;   /* jobs that wait for one bulkhead */
    bool by_client; /* bulkheads are the jobs' clients; tide_worker_pool_enter is not called */
};

/* Fails with TIDE_E_MEMORY or the error of a worker's open; then *out is NULL. */
tide_status tide_worker_pool_open(struct tide_worker_pool **out,
                                  const struct tide_worker_pool_options *options,
                                  struct tide_err *err) TIDE_MUST_USE;
/* Starts the threads. Fails with TIDE_E_MEMORY; then close the pool. */
tide_status tide_worker_pool_start(struct tide_worker_pool *pool,
                                   struct tide_err *err) TIDE_MUST_USE;
/* Queues a job. Any thread. Unless the result is TIDE_JOB_QUEUED, the job stays the caller's.
 * TIDE_JOB_QUEUE_FULL   the queue is full, or the pool is closing
 * TIDE_JOB_CLIENT_FULL  its client has bulkhead_threads + bulkhead_queue jobs already */
enum tide_job_submitted tide_worker_pool_submit(struct tide_worker_pool *pool,
                                                struct tide_job *job) TIDE_MUST_USE;
/* Runs or rejects the waiting jobs, ends the threads, closes their states. NULL is allowed. */
void tide_worker_pool_close(struct tide_worker_pool *pool);

/* Enters a bulkhead (1 to TIDE_BULKHEADS_MAX). The running job calls it before it waits for a
 * dependency.
 * TIDE_BULKHEAD_ENTERED  the job is inside until it is over; entering again is free
 * TIDE_BULKHEAD_BACK     no room: run must return TIDE_OK at once, without an answer; the job runs
 *                        again when there is room, or gets 503 when late
 * TIDE_BULKHEAD_FULL     bulkhead_queue jobs wait for that bulkhead already: run answers that */
enum tide_worker_pool_room { TIDE_BULKHEAD_ENTERED, TIDE_BULKHEAD_BACK, TIDE_BULKHEAD_FULL };
enum tide_worker_pool_room tide_worker_pool_enter(struct tide_worker_pool *pool,
                                                  struct tide_job *job,
                                                  uint32_t bulkhead) TIDE_MUST_USE;
/* Returns whether running statements and calls should end; self is the pool. */
bool tide_worker_pool_is_closing(void *self);
/* Copies the figures; zeros without a pool (NULL). */
void tide_worker_pool_stats(struct tide_worker_pool *pool, struct tide_worker_pool_stats *out);

#endif
