/* Notifications to partners: a watcher finds changes, PostgreSQL queues them, senders deliver them.
 *
 * Queue     tables kyc.hook, kyc.hook_… (migrations/0006_kyc.sql), which the senders of every node
 *           share. A trigger queues changes of sessions, in the transaction of the change.
 * Watcher   one thread of one node for each deployment: the holder of an advisory lock. It compares
 *           compliance, prices, markets and proposals with the states that were last notified
 *           (watch.c)
 * Senders   threads that each send one notification at a time (send.c). Of eight, two take any
 *           delivery, two avoid slow endpoints, and four serve proven endpoints only. Neither dead
 *           nor new endpoints, nor an integrator that keeps making slow ones, can therefore occupy
 *           all.
 * Crash     a sender leases a delivery. If its node dies, the lease ends and another sender takes
 *           the delivery. A notified state and its notification are stored in one transaction. */
#ifndef API_KYC_NOTIFY_NOTIFY_H
#define API_KYC_NOTIFY_NOTIFY_H

#include "api/hot/api.h"
#include "api/kyc/base/context.h"
#include "tidemark/buf.h"

struct tide_notify;

/* Opens the threads' connections and clients, without starting the threads. The settings have a
 * webhookKey; hot is the cache that the watcher compares. Borrows the options' pointers, and sets
 * stopped and stopped_self itself. TIDE_E_MEMORY and the errors of the cache's reader. */
tide_status tide_notify_open(struct tide_notify **out,
                             const struct tide_kyc_context_options *options, struct tide_hot *hot,
                             struct tide_err *err) TIDE_MUST_USE;
tide_status tide_notify_start(struct tide_notify *notify, struct tide_err *err) TIDE_MUST_USE;
void tide_notify_close(struct tide_notify *notify); /* stops the threads; NULL is allowed */
/* Appends to /metrics. Any thread; never blocks. */
void tide_notify_metrics(const struct tide_notify *notify, struct tide_buf *out);

#endif
