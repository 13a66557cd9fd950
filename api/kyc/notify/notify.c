/* Opens, starts and closes the watcher and the senders. */
#include "api/kyc/notify/notify_impl.h"
#include "api/metrics/metrics.h"

#include <stdlib.h>

struct tide_notify {
    atomic_bool closing;
    struct notify_watch *watch;
    struct notify_sent sent;
    struct notify_sender senders[NOTIFY_SENDERS];
};

static bool is_closing(void *notify)
{
    return atomic_load(&((struct tide_notify *)notify)->closing);
}

tide_status tide_notify_open(struct tide_notify **out,
                             const struct tide_kyc_context_options *options, struct tide_hot *hot,
                             struct tide_err *err)
{
    struct tide_notify *all = calloc(1, sizeof *all);
    *out = NULL;
    if (!all)
        return tide_fail(err, TIDE_E_MEMORY, "out of memory: notifications");
    struct tide_kyc_context_options each = *options;
    each.stopped = is_closing;
    each.stopped_self = all;
    tide_status status = notify_watch_open(&all->watch, &each, hot, err);
    for (uint32_t i = 0; i < NOTIFY_SENDERS && status == TIDE_OK; i++) {
        struct notify_sender *sender = &all->senders[i];
        sender->sent = &all->sent;
        sender->index = i + 1;
        status = notify_sender_open(sender, &each, err);
    }
    if (status == TIDE_OK)
        *out = all;
    else
        tide_notify_close(all);
    return status;
}

tide_status tide_notify_start(struct tide_notify *notify, struct tide_err *err)
{
    tide_status status = notify_watch_start(notify->watch, err);
    for (uint32_t i = 0; i < NOTIFY_SENDERS && status == TIDE_OK; i++)
        status = tide_kyc_thread_start(&notify->senders[i].thread, err);
    return status;
}

/* Waits for each thread. A running HTTP call is cancelled by is_closing. */
void tide_notify_close(struct tide_notify *notify)
{
    if (!notify)
        return;
    atomic_store(&notify->closing, true);
    notify_watch_close(notify->watch);
    for (uint32_t i = 0; i < NOTIFY_SENDERS; i++)
        notify_sender_close(&notify->senders[i]);
    free(notify);
}

void tide_notify_metrics(const struct tide_notify *notify, struct tide_buf *out)
{
    tide_metric_counter(out, TIDE_M_kyc_notify_delivered_total,
                        atomic_load(&notify->sent.delivered));
    tide_metric_counter(out, TIDE_M_kyc_notify_failed_total, atomic_load(&notify->sent.failed));
    notify_watch_metrics(notify->watch, out);
}
