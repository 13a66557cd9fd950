#include "api/sql/worker_pool.h"
#include "tidemark/liveness.h"
#include "tidemark/lock.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

enum { RETRY_MS = 500 };

struct worker {
    struct tide_crew *crew;
    void *seat;
    pthread_t thread;
    bool counted; /* in stats.connected */
};

/* Jobs that are in it, and jobs that wait for room. A client's is free when both are 0. */
struct lane {
    uint32_t inside, waiting;
    struct tide_peer client;
};

struct tide_crew {
    struct tide_crew_options options;
    uint32_t opened, started;
    char *seats;
    pthread_mutex_t mutex; /* of all that follows */
    pthread_cond_t wake;
    struct tide_job *first, *last;
    struct tide_crew_stats stats;
    struct lane *lanes; /* lane_count + 1: lane 0 is none */
    uint32_t lane_count;
    bool connecting; /* a thread tries to reach the database */
    bool down;       /* the last attempt failed              */
    int64_t retry_ms;
    atomic_bool closing; /* also read while a statement runs */
    atomic_ullong waits; /* of who brings a job, for the mutex */
    struct worker workers[];
};

static int64_t now_ms(const struct tide_crew *crew)
{
    const struct tide_clock *clock = crew->options.clock;
    return clock->now_ms(clock->self);
}

bool tide_crew_is_closing(void *self)
{
    struct tide_crew *crew = self;
    return atomic_load(&crew->closing);
}

/* --- the connection --------------------------------------------------------------------- */

/* Under the mutex: whether this thread should try to connect now. */
static bool may_connect(struct tide_crew *crew)
{
    if (!crew->down)
        return true;
    return !crew->connecting && now_ms(crew) >= crew->retry_ms;
}

/* Under the mutex. */
static void count_connected(struct worker *worker, bool connected)
{
    struct tide_crew_stats *stats = &worker->crew->stats;
    stats->connected = stats->connected + connected - worker->counted;
    worker->counted = connected;
}

static bool connect_worker(struct worker *worker)
{
    struct tide_crew *crew = worker->crew;
    struct tide_err err;
    pthread_mutex_lock(&crew->mutex);
    bool may = may_connect(crew);
    if (may)
        crew->connecting = true;
    pthread_mutex_unlock(&crew->mutex);
    if (!may)
        return false;
    bool there = crew->options.work->connect(worker->seat, &err) == TIDE_OK;
    pthread_mutex_lock(&crew->mutex);
    bool news = crew->down == there;
    crew->connecting = false;
    crew->down = !there;
    crew->retry_ms = now_ms(crew) + RETRY_MS;
    crew->stats.connects += there;
    count_connected(worker, there);
    pthread_mutex_unlock(&crew->mutex);
    if (news)
        crew->options.work->told(worker->seat, there, &err);
    return there;
}

static void mark_lost(struct worker *worker)
{
    worker->crew->options.work->drop(worker->seat);
    pthread_mutex_lock(&worker->crew->mutex);
    count_connected(worker, false);
    pthread_mutex_unlock(&worker->crew->mutex);
}

/* --- jobs ------------------------------------------------------------------------------- */

static bool is_late(const struct tide_crew *crew, const struct tide_job *job)
{
    return job->context.deadline_ms != 0 && now_ms(crew) > job->context.deadline_ms;
}

/* Once more after a lost connection, or when the server says that another try may do. */
static tide_status attempt(struct worker *worker, struct tide_job *job, struct tide_err *err)
{
    const struct tide_crew_work *work = worker->crew->options.work;
    for (int round = 0;; round++) {
        if (!work->ready(worker->seat) && !connect_worker(worker))
            return tide_fail(err, TIDE_E_DB, "not connected");
        tide_status status = work->run(worker->seat, job, err);
        if (status == TIDE_OK)
            return status;
        bool lost = work->lost(worker->seat);
        bool again = lost || work->again(worker->seat, status);
        if (lost)
            mark_lost(worker);
        if (!again || round == 1 || is_late(worker->crew, job) ||
            tide_crew_is_closing(worker->crew))
            return status;
    }
}

/* Under the mutex. */
static void append(struct tide_crew *crew, struct tide_job *job)
{
    job->next = NULL;
    if (crew->last)
        crew->last->next = job;
    else
        crew->first = job;
    crew->last = job;
    crew->stats.waiting++;
    pthread_cond_signal(&crew->wake);
}

/* Under the mutex. Whoever waits for the room that is left is found by another thread, if this one
 * has something else to do. */
static void leave(struct tide_crew *crew, struct tide_job *job)
{
    if (!job->lane)
        return;
    crew->lanes[job->lane].inside--;
    if (crew->lanes[job->lane].waiting)
        pthread_cond_signal(&crew->wake);
}

static void put_back(struct tide_crew *crew, struct tide_job *job)
{
    pthread_mutex_lock(&crew->mutex);
    job->back = false;
    crew->stats.busy--;
    append(crew, job);
    pthread_mutex_unlock(&crew->mutex);
}

static void run_job(struct worker *worker, struct tide_job *job)
{
    struct tide_crew *crew = worker->crew;
    const struct tide_crew_work *work = crew->options.work;
    struct tide_err err;
    bool late = is_late(crew, job), failed = false;
    if (late) {
        tide_reply_problem(job->reply, 503, "overloaded", "Too many others were asking.");
        job->reply->retry_after_s = 1;
    } else if (attempt(worker, job, &err) != TIDE_OK) {
        failed = true;
        work->refuse(worker->seat, job, &err);
    } else if (job->back) {
        put_back(crew, job);
        return;
    }
    if (work->over)
        work->over(job);
    job->next = NULL;
    pthread_mutex_lock(&crew->mutex);
    crew->stats.busy--;
    crew->stats.jobs++;
    crew->stats.late += late;
    crew->stats.failed += failed;
    leave(crew, job);
    pthread_mutex_unlock(&crew->mutex);
    job->done(job); /* it is the caller's now */
}

/* Waits a while; a thread without a connection looks for the database meanwhile. */
static void wait_for_work(struct tide_crew *crew)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += RETRY_MS * INT64_C(1000000);
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_cond_timedwait(&crew->wake, &crew->mutex, &until);
}

#define NO_ROOM UINT32_MAX

/* Under the mutex: lower ones run first. Who is late is only told so. */
static uint32_t rank_of(struct tide_crew *crew, const struct tide_job *job)
{
    uint32_t inside = job->lane ? crew->lanes[job->lane].inside : 0;
    if (!job->lane || inside < crew->options.lane_threads)
        return crew->options.by_client ? inside : 0;
    return is_late(crew, job) || tide_crew_is_closing(crew) ? 0 : NO_ROOM;
}

/* Under the mutex: the first of the lowest rank; *before precedes it in the queue. */
static struct tide_job *choose_job(struct tide_crew *crew, struct tide_job **before)
{
    struct tide_job *chosen = NULL, *previous = NULL;
    uint32_t lowest = NO_ROOM;
    for (struct tide_job *job = crew->first; job && lowest > 0; job = job->next) {
        uint32_t rank = rank_of(crew, job);
        if (rank < lowest) {
            chosen = job;
            *before = previous;
            lowest = rank;
        }
        previous = job;
    }
    return chosen;
}

static struct tide_job *take_job(struct tide_crew *crew)
{
    struct tide_job *before = NULL, *job = choose_job(crew, &before);
    if (!job)
        return NULL;
    *(before ? &before->next : &crew->first) = job->next;
    if (crew->last == job)
        crew->last = before;
    crew->stats.waiting--;
    crew->stats.busy++;
    if (job->lane) {
        crew->lanes[job->lane].waiting--;
        crew->lanes[job->lane].inside++;
    }
    return job;
}

enum tide_crew_room tide_crew_enter(struct tide_crew *crew, struct tide_job *job, uint32_t lane)
{
    enum tide_crew_room room = TIDE_CREW_ENTERED;
    assert(!crew->options.by_client);
    assert(lane && lane <= TIDE_CREW_LANES && (!job->lane || job->lane == lane));
    if (!crew->options.lane_threads || job->lane)
        return room;
    pthread_mutex_lock(&crew->mutex);
    struct lane *of = &crew->lanes[lane];
    if (of->inside < crew->options.lane_threads || tide_crew_is_closing(crew))
        of->inside++;
    else
        room = of->waiting < crew->options.lane_queue ? TIDE_CREW_BACK : TIDE_CREW_FULL;
    of->waiting += room == TIDE_CREW_BACK;
    job->back = room == TIDE_CREW_BACK;
    job->lane = room == TIDE_CREW_FULL ? 0 : lane;
    pthread_mutex_unlock(&crew->mutex);
    return room;
}

static void *work(void *self)
{
    struct worker *worker = self;
    struct tide_crew *crew = worker->crew;
    bool over = false;
    tide_liveness_begin(crew->options.name, TIDE_LIVENESS_WAITS_MS);
    while (!over) {
        tide_liveness_mark();
        pthread_mutex_lock(&crew->mutex);
        bool idle = crew->options.work->ready(worker->seat) || !may_connect(crew);
        struct tide_job *job = take_job(crew);
        if (!job && idle && !tide_crew_is_closing(crew)) {
            wait_for_work(crew);
            job = take_job(crew);
        }
        over = !job && tide_crew_is_closing(crew);
        pthread_mutex_unlock(&crew->mutex);
        if (job)
            run_job(worker, job);
        else if (!over && !crew->options.work->ready(worker->seat))
            (void)connect_worker(worker);
    }
    tide_liveness_end();
    return NULL;
}

/* Under the mutex, with room in the queue: the client's lane, or a free one. There are as many as
 * jobs, so one is free. */
static uint32_t lane_of_client(const struct tide_crew *crew, const struct tide_peer *client)
{
    uint32_t spare = 0;
    for (uint32_t i = 1; i <= crew->lane_count; i++) {
        const struct lane *lane = &crew->lanes[i];
        bool used = lane->inside || lane->waiting;
        if (used && memcmp(&lane->client, client, sizeof *client) == 0)
            return i;
        if (!used && !spare)
            spare = i;
    }
    assert(spare);
    return spare;
}

/* Under the mutex. */
static enum tide_crew_submitted enter_client(struct tide_crew *crew, struct tide_job *job)
{
    const struct tide_crew_options *options = &crew->options;
    uint32_t at = lane_of_client(crew, &job->client);
    struct lane *lane = &crew->lanes[at];
    if (lane->inside + lane->waiting >= options->lane_threads + options->lane_queue)
        return TIDE_CREW_CLIENT_FULL;
    lane->client = job->client;
    lane->waiting++;
    job->lane = at;
    return TIDE_CREW_QUEUED;
}

enum tide_crew_submitted tide_crew_submit(struct tide_crew *crew, struct tide_job *job)
{
    enum tide_crew_submitted submitted = TIDE_CREW_QUEUED;
    tide_lock_counted(&crew->mutex, &crew->waits);
    job->lane = 0;
    job->back = false;
    if (tide_crew_is_closing(crew) || crew->stats.waiting >= crew->options.queue)
        submitted = TIDE_CREW_QUEUE_FULL;
    else if (crew->options.by_client)
        submitted = enter_client(crew, job);
    if (submitted == TIDE_CREW_QUEUED)
        append(crew, job);
    crew->stats.full += submitted == TIDE_CREW_QUEUE_FULL;
    pthread_mutex_unlock(&crew->mutex);
    return submitted;
}

/* --- life ------------------------------------------------------------------------------- */

void tide_crew_stats(struct tide_crew *crew, struct tide_crew_stats *out)
{
    pthread_mutex_lock(&crew->mutex);
    *out = crew->stats;
    out->threads = crew->options.threads;
    out->waits = atomic_load(&crew->waits);
    pthread_mutex_unlock(&crew->mutex);
}

static tide_status open_seats(struct tide_crew *crew, struct tide_err *err)
{
    const struct tide_crew_options *options = &crew->options;
    size_t size = options->work->seat_size;
    tide_status status = TIDE_OK;
    crew->lane_count = options->by_client ? options->queue + options->threads : TIDE_CREW_LANES;
    crew->lanes = calloc(crew->lane_count + 1, sizeof crew->lanes[0]);
    crew->seats = calloc(options->threads, size);
    if (!crew->seats || !crew->lanes)
        return tide_fail(err, TIDE_E_MEMORY, "crew");
    for (uint32_t i = 0; i < options->threads && status == TIDE_OK; i++) {
        void *seat = crew->seats + i * size;
        crew->workers[i] = (struct worker){ .crew = crew, .seat = seat };
        status = options->work->open(seat, options->owner, crew, err);
        crew->opened += status == TIDE_OK;
    }
    return status;
}

tide_status tide_crew_open(struct tide_crew **out, const struct tide_crew_options *options,
                           struct tide_err *err)
{
    struct tide_crew *crew = calloc(1, sizeof *crew + options->threads * sizeof crew->workers[0]);
    pthread_condattr_t attr;
    *out = NULL;
    if (!crew)
        return tide_fail(err, TIDE_E_MEMORY, "crew");
    crew->options = *options;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&crew->wake, &attr);
    pthread_condattr_destroy(&attr);
    pthread_mutex_init(&crew->mutex, NULL);
    tide_status status = open_seats(crew, err);
    if (status == TIDE_OK)
        *out = crew;
    else
        tide_crew_close(crew);
    return status;
}

tide_status tide_crew_start(struct tide_crew *crew, struct tide_err *err)
{
    for (; crew->started < crew->opened; crew->started++) {
        struct worker *worker = &crew->workers[crew->started];
        if (pthread_create(&worker->thread, NULL, work, worker) != 0)
            return tide_fail(err, TIDE_E_MEMORY, "crew: no thread");
    }
    return TIDE_OK;
}

void tide_crew_close(struct tide_crew *crew)
{
    if (!crew)
        return;
    pthread_mutex_lock(&crew->mutex);
    atomic_store(&crew->closing, true);
    pthread_cond_broadcast(&crew->wake);
    pthread_mutex_unlock(&crew->mutex);
    for (uint32_t i = 0; i < crew->started; i++)
        pthread_join(crew->workers[i].thread, NULL);
    for (uint32_t i = 0; i < crew->opened; i++)
        crew->options.work->close(crew->workers[i].seat);
    pthread_cond_destroy(&crew->wake);
    pthread_mutex_destroy(&crew->mutex);
    free(crew->lanes);
    free(crew->seats);
    free(crew);
}
