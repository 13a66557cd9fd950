/* What the files of notify/ share. */
#ifndef API_KYC_NOTIFY_NOTIFY_IMPL_H
#define API_KYC_NOTIFY_NOTIFY_IMPL_H

#include "api/kyc/base/context.h"
#include "api/kyc/notify/notify.h"
#include "tidemark/retry.h"

#include <pthread.h>
#include <stdatomic.h>

/* Senders up to NOTIFY_ANY take any delivery, those up to NOTIFY_NEW leave slow ones alone, the
 * others take those of proven endpoints: the shares of kyc.hook_claim. */
enum { NOTIFY_ANY = 2, NOTIFY_NEW = 4, NOTIFY_SENDERS = 8, NOTIFY_THREADS = NOTIFY_SENDERS + 1 };

struct notify_thread {
    struct tide_notify *all;
    uint32_t index; /* 0: the watcher */
    pthread_t thread;
    bool opened, started, listening;
    bool busy; /* a sender: something is due that another one kept it from */
    struct tide_kyc_context context;
    struct tide_http *http; /* of a sender: to public addresses alone */
    struct tide_retry retry;
    uint32_t db_failures; /* in a row */
};

/* A feed or a market as the watcher last saw it. */
struct notify_seen {
    struct tide_hot_symbol symbol;
    bool state; /* of a feed: stale */
};

/* In the order of symbols. */
struct notify_list {
    struct notify_seen *items;
    uint32_t count, max;
};

struct notify_watch {
    struct tide_hot_reader *reader;
    bool leads;      /* holds the lock, over the connection of the context */
    uint32_t ledger; /* compared up to it */
    bool baseline;   /* of what was there before is no news */
    struct notify_list feeds, markets;
    struct tide_hot_symbol next_feed; /* a turn compares NOTIFY_WINDOW feeds from here on */
    int64_t maintained_ms, counted_ms;
};

/* What kyc.hook_figures says: of all nodes. Each node asks for itself. */
struct notify_figures {
    atomic_int_least64_t asked_ms; /* 0: never */
    atomic_uint_least64_t waiting, oldest_ms, disabled, behind;
};

struct tide_notify {
    struct tide_notify_options options;
    struct tide_api api; /* for tide_reader_trusted: config, clock, select, hot */
    atomic_bool closing;
    struct notify_thread threads[NOTIFY_THREADS];
    struct notify_watch watch; /* of the watcher alone */
    atomic_uint_least64_t delivered, failed;
    atomic_bool leads;
    struct notify_figures figures;
};

#define NOTIFY_WINDOW 4096u /* feeds or markets that are read at once */

bool notify_is_closing(void *notify);
/* *more: there is more to do now. */
tide_status notify_send_turn(struct notify_thread *t, bool *more, struct tide_err *err);
tide_status notify_watch_turn(struct notify_thread *t, bool *more, struct tide_err *err);
void notify_watch_forget(struct tide_notify *all); /* after the connection was lost */

#endif
