/* The watch: a thread that checks that the workers make progress. It finds a loop that turns
 * without effect and a call that does not return, whatever the library does:
 *
 *  6 s without progress   the watch shuts down the worker's connections
 *  8 s                    /healthz and /readyz answer 503, and the program shall stop
 *  then                   if the stop does not end in time, the watch ends the process
 *
 * A worker with a connection that was cut and stays (server_progress.c) is treated as after 8 s. */
#include "api/http/server/server_impl.h"
#include "api/http/server/stall.h"
#include "tidemark/log.h"

#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* Time for the stop of a stalled server: it cannot answer requests, so the grace is short unless
 * only single connections stay. */
enum { WATCH_GRACE_MS = 3000, WATCH_STOP_MS = TIDE_SERVER_STOP_MS + 5000 };

/* Returns the worker's CPU time: it tells a busy loop from a blocked call. */
static int64_t cpu_ms(const struct server_worker *worker)
{
    clockid_t clock;
    struct timespec ran = { 0 };
    if (pthread_getcpuclockid(worker->thread, &clock) == 0)
        clock_gettime(clock, &ran);
    return (int64_t)ran.tv_sec * 1000 + ran.tv_nsec / 1000000;
}

static void log_stall(const struct server_worker *worker, const char *action)
{
    tide_log(TIDE_ERROR, "server.stalled",
             "worker=%zu action=%s still=%u kept=%" PRIuFAST64 " cpu_ms=%" PRIi64,
             (size_t)(worker - worker->server->workers), action, worker->stall.still,
             atomic_load_explicit(&worker->kept, memory_order_relaxed), cpu_ms(worker));
}

/* Shuts down all sockets of the worker. Every descriptor in the list is open: the library closes
 * it only after the connection left the list, and the mutex keeps it there. */
static void cut_connections(struct server_worker *worker)
{
    log_stall(worker, "cut");
    pthread_mutex_lock(&worker->mutex);
    for (struct server_conn *conn = worker->conns; conn; conn = conn->next)
        shutdown(conn->fd, SHUT_RDWR);
    pthread_mutex_unlock(&worker->mutex);
}

static void report_stall(struct server_watch *watch, struct server_worker *worker, bool keeps)
{
    uint32_t drain_ms = worker->server->options.config->api_drain_ms;
    if (watch->stalled)
        return;
    log_stall(worker, "stop");
    watch->stalled = true;
    watch->left = (drain_ms + (keeps ? WATCH_STOP_MS : WATCH_GRACE_MS)) / TIDE_STALL_EVERY_MS;
    atomic_store(&worker->server->stalled, true);
}

/* Ends the process without freeing anything: the stalled thread cannot be joined and may still
 * use all of it. */
static void end_process(void)
{
    tide_log(TIDE_ERROR, "server.stalled", "action=end exit=%d", tide_status_exit(TIDE_E_STALLED));
    _exit(tide_status_exit(TIDE_E_STALLED));
}

static void observe_worker(struct server_watch *watch, struct server_worker *worker)
{
    bool ended = atomic_load(&worker->ended);
    bool keeps = atomic_load_explicit(&worker->kept, memory_order_relaxed) > 0;
    uint64_t moved = atomic_load_explicit(&worker->moved, memory_order_relaxed);
    enum tide_stall_step step =
        ended ? TIDE_STALL_NONE : tide_stall_observe(&worker->stall, moved, keeps);
    if (step == TIDE_STALL_CUT_NOW)
        cut_connections(worker);
    else if (step == TIDE_STALL_REPORT_NOW)
        report_stall(watch, worker, keeps);
}

/* Waits for one interval. Returns false if the watch shall stop. */
static bool wait_interval(struct server_watch *watch)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += TIDE_STALL_EVERY_MS * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_mutex_lock(&watch->mutex);
    if (!watch->stopping)
        pthread_cond_timedwait(&watch->wanted, &watch->mutex, &until);
    bool stopping = watch->stopping;
    pthread_mutex_unlock(&watch->mutex);
    return !stopping;
}

static void *watch_workers(void *self)
{
    struct tide_server *server = self;
    struct server_watch *watch = &server->watch;
    while (wait_interval(watch)) {
        for (uint32_t i = 0; i < server->worker_count; i++)
            observe_worker(watch, &server->workers[i]);
        if (watch->stalled && watch->left-- == 0)
            end_process();
    }
    return NULL;
}

void server_watch_init(struct server_watch *watch)
{
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_mutex_init(&watch->mutex, NULL);
    pthread_cond_init(&watch->wanted, &attr);
    pthread_condattr_destroy(&attr);
}

tide_status server_watch_start(struct tide_server *server, struct tide_err *err)
{
    struct server_watch *watch = &server->watch;
    int failed = pthread_create(&watch->thread, NULL, watch_workers, server);
    watch->started = !failed;
    return failed ? tide_fail(err, TIDE_E_MEMORY, "cannot start a thread: %s", strerror(failed))
                  : TIDE_OK;
}

void server_watch_stop(struct server_watch *watch)
{
    if (!watch->started)
        return;
    pthread_mutex_lock(&watch->mutex);
    watch->stopping = true;
    pthread_cond_signal(&watch->wanted);
    pthread_mutex_unlock(&watch->mutex);
    pthread_join(watch->thread, NULL);
    watch->started = false;
}

void server_watch_destroy(struct server_watch *watch)
{
    pthread_mutex_destroy(&watch->mutex);
    pthread_cond_destroy(&watch->wanted);
}
