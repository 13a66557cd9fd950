#include "indexer/base/supervise.h"
#include "tidemark/clock.h"
#include "tidemark/liveness.h"
#include "tidemark/log.h"
#include "tidemark/notify.h"
#include "tidemark/stop.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { TURN_MS = 50 };

struct tide_supervise {
    const char *path;         /* path of systemd's socket */
    struct tide_watchdog dog; /* used by this module's thread only */
    bool stalled;             /* a stall was logged; used by this module's thread only */
    bool watched;             /* the thread that called open is watched */
    atomic_bool closing, stopping;
    pthread_t thread;
};

void tide_supervise_stopping(struct tide_supervise *s)
{
    if (s && !atomic_exchange(&s->stopping, true))
        tide_notify(s->path, "STOPPING=1");
}

/* Returns whether all watched threads make progress. Logs a line when one falls silent, and another
 * one when all make progress again. */
static bool all_alive(struct tide_supervise *s)
{
    int64_t silent_ms;
    const char *name = tide_liveness_stalled(&silent_ms);
    if (name && !s->stalled)
        tide_log(TIDE_ERROR, "watchdog.stalled", "thread=%s silent_ms=%" PRId64, name, silent_ms);
    if (!name && s->stalled)
        tide_log(TIDE_WARN, "watchdog.back", "reason=%s", "\"all threads make progress again\"");
    s->stalled = name != NULL;
    return !name;
}

static void *run_supervise(void *self)
{
    struct tide_supervise *s = self;
    while (!atomic_load(&s->closing)) {
        if (tide_stop_asked(NULL))
            tide_supervise_stopping(s);
        if (s->dog.every_ms > 0 && all_alive(s))
            tide_watchdog_ping(&s->dog, tide_now_ms());
        tide_sleep_ms(TURN_MS);
    }
    return NULL;
}

tide_status tide_supervise_open(struct tide_supervise **out, const char *name, struct tide_err *err)
{
    const char *path = getenv("NOTIFY_SOCKET");
    *out = NULL;
    if (!path)
        return TIDE_OK;
    struct tide_supervise *s = calloc(1, sizeof *s);
    if (!s)
        return tide_fail(err, TIDE_E_MEMORY, "watchdog");
    s->path = path;
    tide_watchdog_init(&s->dog, path, getenv("WATCHDOG_USEC"), getenv("WATCHDOG_PID"));
    s->watched = s->dog.every_ms > 0;
    if (s->watched)
        tide_liveness_begin(name, s->dog.every_ms);
    if (pthread_create(&s->thread, NULL, run_supervise, s) != 0) {
        if (s->watched)
            tide_liveness_end();
        free(s);
        return tide_fail(err, TIDE_E_MEMORY, "watchdog: no thread");
    }
    *out = s;
    return TIDE_OK;
}

void tide_supervise_close(struct tide_supervise *s)
{
    if (!s)
        return;
    tide_supervise_stopping(s);
    atomic_store(&s->closing, true);
    pthread_join(s->thread, NULL);
    if (s->watched)
        tide_liveness_end();
    free(s);
}
