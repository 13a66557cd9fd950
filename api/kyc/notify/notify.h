/* Notifications to partners: what happened is found, queued in PostgreSQL and sent.
 *
 * Queue     tables kyc.hook, kyc.hook_… (migrations/0006_kyc.sql), which any node works on. Changes
 *           of sessions are queued by a trigger, in the transaction of the change.
 * Watcher   one thread of one node for a deployment, the holder of an advisory lock, compares
 *           compliance, prices, markets and proposals with what was last told (watch.c)
 * Senders   threads that each send one notification at a time (send.c). Of eight, two take
 *           anything, two leave slow ones alone, and four serve proven endpoints: so neither dead
 *           endpoints nor new ones, nor an integrator that makes hanging ones again and again,
 *           occupy all.
 * Kill      a delivery is taken for a while; if its node dies, another one sends it again. What was
 *           told and that it is to be told are one transaction. */
#ifndef API_KYC_NOTIFY_NOTIFY_H
#define API_KYC_NOTIFY_NOTIFY_H

#include "api/hot/api.h"
#include "api/kyc/base/settings.h"
#include "tidemark/buf.h"

struct tide_notify;

struct tide_notify_options {
    const struct tide_kyc_settings *settings; /* with webhookKey */
    const struct tide_config *config;
    const struct tide_clock *clock;
    struct tide_deployment_select *select;
    struct tide_hot *hot; /* what the watcher compares */
    const char *conninfo; /* kyc_database_url, else database_url */
};

tide_status tide_notify_open(struct tide_notify **out, const struct tide_notify_options *options,
                             struct tide_err *err) TIDE_MUST_USE;
tide_status tide_notify_start(struct tide_notify *notify, struct tide_err *err) TIDE_MUST_USE;
void tide_notify_close(struct tide_notify *notify); /* NULL is fine */
/* Appends to what /metrics says. Any thread; does not wait. */
void tide_notify_metrics(const struct tide_notify *notify, struct tide_buf *out);

#endif
