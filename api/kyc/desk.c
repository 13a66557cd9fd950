#include "api/kyc/desk.h"
#include "api/sql.h"
#include "tidemark/log.h"
#include "tidemark/sign.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

enum { RETRY_MS = 500 };

struct worker {
    struct tide_desk *desk;
    pthread_t thread;
    struct tide_kyc_place place;
    bool opened, started, counted; /* in stats.connected */
};

struct tide_desk {
    struct tide_desk_options options;
    struct worker *workers;
    pthread_mutex_t mutex; /* of all that follows */
    pthread_cond_t wake;
    struct tide_job *first, *last;
    struct tide_desk_stats stats;
    bool connecting; /* a thread tries to reach the database */
    bool down;       /* the last attempt failed              */
    int64_t retry_ms;
    atomic_bool closing; /* also read while a statement or a call runs */
};

static int64_t now_ms(const struct tide_desk *desk)
{
    const struct tide_clock *clock = desk->options.place.clock;
    return clock->now_ms(clock->self);
}

static bool is_closing(void *self)
{
    struct tide_desk *desk = self;
    return atomic_load(&desk->closing);
}

static void drop_work(struct tide_job *job)
{
    struct tide_kyc_work *work = job->context.later;
    job->context.later = NULL;
    if (work)
        tide_sign_wipe(work, work->size);
    free(work);
}

/* --- the connection --------------------------------------------------------------------- */

/* Under the mutex: whether this thread should try to connect now. */
static bool may_connect(struct tide_desk *desk)
{
    if (!desk->down)
        return true;
    return !desk->connecting && now_ms(desk) >= desk->retry_ms;
}

/* Under the mutex. */
static void count_connected(struct worker *worker, bool connected)
{
    struct tide_desk_stats *stats = &worker->desk->stats;
    stats->connected = stats->connected + connected - worker->counted;
    worker->counted = connected;
}

static void tell_connection(const struct tide_desk *desk, bool there, const struct tide_err *err)
{
    char quoted[TIDE_ERR_TEXT_MAX];
    if (there)
        tide_log(TIDE_INFO, "kyc.connected", "desk=%s", desk->options.name);
    else
        tide_log(err->code == TIDE_E_CONFIG ? TIDE_ERROR : TIDE_WARN, "kyc.away", "desk=%s text=%s",
                 desk->options.name, tide_log_quote(quoted, sizeof quoted, err->text));
}

static bool connect_worker(struct worker *worker)
{
    struct tide_desk *desk = worker->desk;
    struct tide_err err;
    pthread_mutex_lock(&desk->mutex);
    bool may = may_connect(desk);
    if (may)
        desk->connecting = true;
    pthread_mutex_unlock(&desk->mutex);
    if (!may)
        return false;
    bool there = tide_kyc_place_connect(&worker->place, &err) == TIDE_OK;
    pthread_mutex_lock(&desk->mutex);
    bool news = desk->down == there;
    desk->connecting = false;
    desk->down = !there;
    desk->retry_ms = now_ms(desk) + RETRY_MS;
    count_connected(worker, there);
    pthread_mutex_unlock(&desk->mutex);
    if (news)
        tell_connection(desk, there, &err);
    return there;
}

static void mark_lost(struct worker *worker)
{
    worker->place.ready = false;
    pthread_mutex_lock(&worker->desk->mutex);
    count_connected(worker, false);
    pthread_mutex_unlock(&worker->desk->mutex);
}

/* --- jobs ------------------------------------------------------------------------------- */

static bool is_late(const struct tide_desk *desk, const struct tide_job *job)
{
    return job->context.deadline_ms != 0 && now_ms(desk) > job->context.deadline_ms;
}

static tide_status run_once(struct worker *worker, struct tide_job *job, struct tide_err *err)
{
    struct tide_kyc_work *work = job->context.later;
    struct tide_kyc_place *place = &worker->place;
    int64_t until = job->context.deadline_ms;
    tide_kyc_rollback(place);
    tide_reply_reset(job->reply);
    place->deadline_ms = until ? until - worker->desk->options.grace_ms : 0;
    tide_status status = work->run(work, place, job, err);
    place->deadline_ms = 0;
    return status;
}

/* Once more after a lost connection, or when the server says that another try may do. */
static tide_status attempt(struct worker *worker, struct tide_job *job, struct tide_err *err)
{
    struct tide_kyc_place *place = &worker->place;
    for (int round = 0;; round++) {
        if (!tide_kyc_place_ready(place) && !connect_worker(worker))
            return tide_fail(err, TIDE_E_DB, "not connected");
        tide_status status = run_once(worker, job, err);
        if (status == TIDE_OK)
            return status;
        bool lost = !tide_kyc_place_ready(place) || tide_pg_remedy(place->pg) == TIDE_PG_RECONNECT;
        if (lost)
            mark_lost(worker);
        bool again = lost || status == TIDE_E_DB;
        if (!again || round == 1 || is_late(worker->desk, job) || is_closing(worker->desk))
            return status;
    }
}

static void refuse(struct worker *worker, struct tide_job *job, const struct tide_err *err)
{
    struct tide_kyc_place *place = &worker->place;
    struct tide_err away = { .code = TIDE_E_DB };
    if (err->code == TIDE_E_STOPPED || !tide_kyc_place_ready(place))
        tide_sql_problem(job->reply, NULL, &away);
    else
        tide_sql_problem(job->reply, place->pg, err);
    tide_kyc_rollback(place);
}

static void run_job(struct worker *worker, struct tide_job *job)
{
    struct tide_desk *desk = worker->desk;
    struct tide_err err;
    bool late = is_late(desk, job), failed = false;
    if (late) {
        tide_reply_problem(job->reply, 503, "overloaded", "Too many others were asking.");
        job->reply->retry_after_s = 1;
    } else if (attempt(worker, job, &err) != TIDE_OK) {
        failed = true;
        refuse(worker, job, &err);
    }
    drop_work(job);
    job->next = NULL;
    pthread_mutex_lock(&desk->mutex);
    desk->stats.busy--;
    desk->stats.jobs++;
    desk->stats.late += late;
    desk->stats.failed += failed;
    pthread_mutex_unlock(&desk->mutex);
    job->done(job); /* it is the caller's now */
}

/* Waits a while; a thread without a connection looks for the database meanwhile. */
static void wait_for_work(struct tide_desk *desk)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += RETRY_MS * INT64_C(1000000);
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_cond_timedwait(&desk->wake, &desk->mutex, &until);
}

static struct tide_job *take_job(struct tide_desk *desk)
{
    struct tide_job *job = desk->first;
    if (job) {
        desk->first = job->next;
        if (!desk->first)
            desk->last = NULL;
        desk->stats.waiting--;
        desk->stats.busy++;
    }
    return job;
}

static void *work(void *self)
{
    struct worker *worker = self;
    struct tide_desk *desk = worker->desk;
    bool over = false;
    while (!over) {
        pthread_mutex_lock(&desk->mutex);
        bool idle = tide_kyc_place_ready(&worker->place) || !may_connect(desk);
        if (!desk->first && idle && !is_closing(desk))
            wait_for_work(desk);
        struct tide_job *job = take_job(desk);
        over = !job && is_closing(desk);
        pthread_mutex_unlock(&desk->mutex);
        if (job)
            run_job(worker, job);
        else if (!over && !tide_kyc_place_ready(&worker->place))
            (void)connect_worker(worker);
    }
    return NULL;
}

/* --- life ------------------------------------------------------------------------------- */

bool tide_desk_submit(struct tide_desk *desk, struct tide_job *job)
{
    pthread_mutex_lock(&desk->mutex);
    bool room = !is_closing(desk) && desk->stats.waiting < desk->options.queue;
    if (room) {
        job->next = NULL;
        if (desk->last)
            desk->last->next = job;
        else
            desk->first = job;
        desk->last = job;
        desk->stats.waiting++;
        pthread_cond_signal(&desk->wake);
    }
    desk->stats.full += !room;
    pthread_mutex_unlock(&desk->mutex);
    return room;
}

void tide_desk_stats(struct tide_desk *desk, struct tide_desk_stats *out)
{
    pthread_mutex_lock(&desk->mutex);
    *out = desk->stats;
    out->threads = desk->options.threads;
    pthread_mutex_unlock(&desk->mutex);
}

static void init_wake(struct tide_desk *desk)
{
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&desk->wake, &attr);
    pthread_condattr_destroy(&attr);
    pthread_mutex_init(&desk->mutex, NULL);
}

tide_status tide_desk_open(struct tide_desk **out, const struct tide_desk_options *options,
                           struct tide_err *err)
{
    struct tide_desk *desk = calloc(1, sizeof *desk);
    if (!desk)
        return tide_fail(err, TIDE_E_MEMORY, "desk");
    desk->options = *options;
    desk->options.place.stopped = is_closing;
    desk->options.place.stopped_self = desk;
    init_wake(desk);
    tide_status status = TIDE_OK;
    desk->workers = calloc(options->threads, sizeof *desk->workers);
    if (!desk->workers)
        status = tide_fail(err, TIDE_E_MEMORY, "desk");
    for (uint32_t i = 0; i < options->threads && status == TIDE_OK; i++) {
        struct worker *worker = &desk->workers[i];
        worker->desk = desk;
        status = tide_kyc_place_open(&worker->place, &desk->options.place, err);
        worker->opened = status == TIDE_OK;
    }
    if (status == TIDE_OK)
        *out = desk;
    else
        tide_desk_close(desk);
    return status;
}

tide_status tide_desk_start(struct tide_desk *desk, struct tide_err *err)
{
    for (uint32_t i = 0; i < desk->options.threads; i++) {
        struct worker *worker = &desk->workers[i];
        worker->started = pthread_create(&worker->thread, NULL, work, worker) == 0;
        if (!worker->started)
            return tide_fail(err, TIDE_E_MEMORY, "desk: no thread");
    }
    return TIDE_OK;
}

void tide_desk_close(struct tide_desk *desk)
{
    if (!desk)
        return;
    pthread_mutex_lock(&desk->mutex);
    atomic_store(&desk->closing, true);
    pthread_cond_broadcast(&desk->wake);
    pthread_mutex_unlock(&desk->mutex);
    for (uint32_t i = 0; desk->workers && i < desk->options.threads; i++) {
        if (desk->workers[i].started)
            pthread_join(desk->workers[i].thread, NULL);
        if (desk->workers[i].opened)
            tide_kyc_place_close(&desk->workers[i].place);
    }
    free(desk->workers);
    pthread_cond_destroy(&desk->wake);
    pthread_mutex_destroy(&desk->mutex);
    free(desk);
}
