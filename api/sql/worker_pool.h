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

/* A request that a thread is to answer. */
struct tide_job {
    const struct tide_request *request;
    struct tide_reply *reply;            /* as tide_reply_reset leaves it */
    struct tide_handler_context context; /* deadline_ms 0: none           */
    void (*done)(struct tide_job *job);  /* reply is complete; on the crew's thread */
    struct tide_peer client;             /* as the rate limit counts it: of a crew of clients */
    struct tide_job *next;               /* the crew's, as the rest */
    uint32_t bulkhead;                   /* 0: it is in none */
    bool back;                           /* to the queue, until its bulkhead has room */
};

struct tide_worker_pool; /* opaque */

/* What a crew's threads do at their seats. */
struct tide_worker_calls {
    size_t state_size;
    /* Of zeroed memory, for the options' owner; connects to nobody yet. Failing leaves nothing. */
    tide_status (*open)(void *state, void *owner, struct tide_worker_pool *pool,
                        struct tide_err *err);
    void (*close)(void *state);
    bool (*ready)(const void *state);
    /* Connects, if need be anew. */
    tide_status (*connect)(void *state, struct tide_err *err);
    /* Whether it came, when that is news. */
    void (*report)(void *state, bool there, const struct tide_err *err);
    /* Once; a transaction that an earlier one left is the callee's to undo. */
    tide_status (*run)(void *state, struct tide_job *job, struct tide_err *err);
    /* After a failure: the connection is no good any more. */
    bool (*lost)(const void *state);
    /* After a failure of a good one: whether another try may do. */
    bool (*again)(const void *state, tide_status status);
    /* Makes it unready: it is connected before it is used again. */
    void (*drop)(void *state);
    /* Answers what failed. */
    void (*refuse)(void *state, struct tide_job *job, const struct tide_err *err);
    void (*over)(struct tide_job *job); /* before done(); may be NULL */
};

struct tide_worker_pool_stats {
    uint32_t threads, connected, busy, waiting;
    uint64_t jobs, full, late, failed, connects; /* since the start; full: of the whole queue */
    uint64_t waits; /* jobs whose bringer found the queue's lock held */
};

#define TIDE_BULKHEADS_MAX 8u

struct tide_worker_pool_options {
    const char *name; /* static: of its threads, when one hangs */
    const struct tide_worker_calls *work;
    void *owner;
    const struct tide_clock *clock;
    uint32_t threads, queue;   /* queue: jobs that wait */
    uint32_t bulkhead_threads; /* that one bulkhead may hold; 0: there are no bulkheads */
    uint32_t bulkhead_queue;   /* jobs that wait for one bulkhead */
    bool by_client; /* bulkheads are the jobs' clients; tide_worker_pool_enter is not called */
};

/* A seat for each thread; *out is NULL when it fails. */
tide_status tide_worker_pool_open(struct tide_worker_pool **out,
                                  const struct tide_worker_pool_options *options,
                                  struct tide_err *err) TIDE_MUST_USE;
/* Starts the threads. */
tide_status tide_worker_pool_start(struct tide_worker_pool *pool,
                                   struct tide_err *err) TIDE_MUST_USE;
/* Any thread. If it is not QUEUED, the job stays the caller's.
 * TIDE_WORKER_POOL_QUEUE_FULL   the queue is full, or the crew is closing
 * TIDE_WORKER_POOL_CLIENT_FULL  its client has bulkhead_threads + bulkhead_queue jobs already */
enum tide_worker_pool_submitted {
    TIDE_WORKER_POOL_QUEUED,
    TIDE_WORKER_POOL_QUEUE_FULL,
    TIDE_WORKER_POOL_CLIENT_FULL
};
enum tide_worker_pool_submitted tide_worker_pool_submit(struct tide_worker_pool *pool,
                                                        struct tide_job *job) TIDE_MUST_USE;
/* Answers what waits, ends the threads, closes the seats. NULL is fine. */
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
/* Asked while statements and calls run; self is the crew. */
bool tide_worker_pool_is_closing(void *self);
void tide_worker_pool_stats(struct tide_worker_pool *pool, struct tide_worker_pool_stats *out);

#endif
