/* A few threads, each with a seat of its own at the database, and the bounded queue of jobs before
 * them: what the pool of SQL routes and the desks of KYC have in common.
 *
 * Full   tide_crew_submit says so at once: 503.
 * Late   a job whose deadline passed while it waited is answered 503 without being run.
 * Down   while the database is away one thread tries to reach it, twice a second; jobs are refused
 *        at once by the others, and by it between attempts.
 * Lost   a job whose connection broke under it runs once more over a new one.
 * Lanes  a job that is about to wait for somebody else enters that one's lane; a lane has room for
 *        some of the threads only, so that whoever hangs holds up his own jobs and nobody else's.
 *        A crew of clients has one lane for each client instead. A job enters it when it is
 *        submitted. A free thread takes the first job of a client with the fewest running jobs.
 * Memory a job belongs to the caller from done() on, and to the crew before. */
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
    uint32_t lane;                       /* 0: it is in none */
    bool back;                           /* to the queue, until its lane has room */
};

struct tide_crew; /* opaque */

/* What a crew's threads do at their seats. */
struct tide_crew_work {
    size_t seat_size;
    /* Of zeroed memory, for the options' owner; connects to nobody yet. Failing leaves nothing. */
    tide_status (*open)(void *seat, void *owner, struct tide_crew *crew, struct tide_err *err);
    void (*close)(void *seat);
    bool (*ready)(const void *seat);
    /* Connects, if need be anew. */
    tide_status (*connect)(void *seat, struct tide_err *err);
    /* Whether it came, when that is news. */
    void (*told)(void *seat, bool there, const struct tide_err *err);
    /* Once; a transaction that an earlier one left is the callee's to undo. */
    tide_status (*run)(void *seat, struct tide_job *job, struct tide_err *err);
    /* After a failure: the connection is no good any more. */
    bool (*lost)(const void *seat);
    /* After a failure of a good one: whether another try may do. */
    bool (*again)(const void *seat, tide_status status);
    /* Makes it unready: it is connected before it is used again. */
    void (*drop)(void *seat);
    /* Answers what failed. */
    void (*refuse)(void *seat, struct tide_job *job, const struct tide_err *err);
    void (*over)(struct tide_job *job); /* before done(); may be NULL */
};

struct tide_crew_stats {
    uint32_t threads, connected, busy, waiting;
    uint64_t jobs, full, late, failed, connects; /* since the start; full: of the whole queue */
    uint64_t waits; /* jobs whose bringer found the queue's lock held */
};

#define TIDE_CREW_LANES 8u

struct tide_crew_options {
    const char *name; /* static: of its threads, when one hangs */
    const struct tide_crew_work *work;
    void *owner;
    const struct tide_clock *clock;
    uint32_t threads, queue; /* queue: jobs that wait */
    uint32_t lane_threads;   /* that one lane may hold; 0: there are no lanes */
    uint32_t lane_queue;     /* jobs that wait for one lane */
    bool by_client;          /* lanes are the jobs' clients; tide_crew_enter is not called */
};

/* A seat for each thread; *out is NULL when it fails. */
tide_status tide_crew_open(struct tide_crew **out, const struct tide_crew_options *options,
                           struct tide_err *err) TIDE_MUST_USE;
/* Starts the threads. */
tide_status tide_crew_start(struct tide_crew *crew, struct tide_err *err) TIDE_MUST_USE;
/* Any thread. If it is not QUEUED, the job stays the caller's.
 * TIDE_CREW_QUEUE_FULL   the queue is full, or the crew is closing
 * TIDE_CREW_CLIENT_FULL  its client has lane_threads + lane_queue jobs already */
enum tide_crew_submitted { TIDE_CREW_QUEUED, TIDE_CREW_QUEUE_FULL, TIDE_CREW_CLIENT_FULL };
enum tide_crew_submitted tide_crew_submit(struct tide_crew *crew,
                                          struct tide_job *job) TIDE_MUST_USE;
/* Answers what waits, ends the threads, closes the seats. NULL is fine. */
void tide_crew_close(struct tide_crew *crew);

/* Of the job that runs, before it waits for lane (1 to TIDE_CREW_LANES).
 * TIDE_CREW_ENTERED  it is in it until it is over; entering again is free
 * TIDE_CREW_BACK     there is no room: run returns TIDE_OK at once, without an answer, and runs
 *                    again when there is, or late
 * TIDE_CREW_FULL     lane_queue jobs wait for that lane already: run answers so */
enum tide_crew_room { TIDE_CREW_ENTERED, TIDE_CREW_BACK, TIDE_CREW_FULL };
enum tide_crew_room tide_crew_enter(struct tide_crew *crew, struct tide_job *job,
                                    uint32_t lane) TIDE_MUST_USE;
/* Asked while statements and calls run; self is the crew. */
bool tide_crew_is_closing(void *self);
void tide_crew_stats(struct tide_crew *crew, struct tide_crew_stats *out);

#endif
