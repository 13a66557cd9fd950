/* Types and functions that the files of notify/ share. */
#ifndef API_KYC_NOTIFY_NOTIFY_IMPL_H
#define API_KYC_NOTIFY_NOTIFY_IMPL_H

#include "api/kyc/base/context.h"
#include "api/kyc/notify/notify.h"
#include "tidemark/retry.h"

#include <pthread.h>
#include <stdatomic.h>

/* Senders by index, as kyc.hook_claim knows their shares: up to NOTIFY_ANY take any delivery, up to
 * NOTIFY_NEW avoid slow endpoints, the others serve proven endpoints only. */
enum { NOTIFY_ANY = 2, NOTIFY_NEW = 4, NOTIFY_SENDERS = 8, NOTIFY_THREADS = NOTIFY_SENDERS + 1 };

struct notify_thread {
    struct tide_notify *all;
    uint32_t index; /* 0: the watcher; others are senders */
    pthread_t thread;
    bool opened, started, listening;
    bool busy; /* sender: a delivery is due, but another sender holds its integrator's lock */
    struct tide_kyc_context context;
    struct tide_http *http; /* a sender's client; connects to public addresses only */
    struct tide_retry retry;
    uint32_t db_failures; /* in a row */
};

/* A feed or market in the state that the watcher last stored. */
struct notify_seen {
    struct tide_hot_symbol symbol;
    bool state;     /* feed: stale. market: listed */
    uint64_t since; /* stale feed: time of its price, which tells one staleness from another */
};

/* Sorted by symbol. max: allocated items. */
struct notify_list {
    struct notify_seen *items;
    uint32_t count, max;
};

struct notify_watch {
    struct tide_hot_reader *reader;
    bool leads;      /* this node holds the advisory lock */
    uint32_t ledger; /* last compared ledger */
    /* False in the very first run of a deployment: existing markets and proposals are then stored
     * without a notification. */
    bool baseline;
    struct notify_list feeds, markets;
    /* next turn's first feed; a turn compares NOTIFY_WINDOW feeds */
    struct tide_hot_symbol next_feed;
    int64_t maintained_ms, counted_ms;
};

/* Results of kyc.hook_figures for all nodes together. Each node queries them itself. */
struct notify_figures {
    atomic_int_least64_t asked_ms; /* monotonic; 0: never queried */
    atomic_uint_least64_t waiting, oldest_ms, disabled, behind;
};

struct tide_notify {
    struct tide_notify_options options; /* copied */
    struct tide_api api; /* for tide_reader_trusted; only config, clock, select and hot are set */
    atomic_bool closing;
    struct notify_thread threads[NOTIFY_THREADS];
    struct notify_watch watch; /* only the watcher's thread uses it */
    atomic_uint_least64_t delivered, failed;
    atomic_bool leads;
    struct notify_figures figures;
};

#define NOTIFY_WINDOW 4096u /* feeds or markets read in one snapshot */

bool notify_is_closing(void *notify);
/* Sets *agree to false if the clocks of host, database and chain differ by more than clock_skew_s:
 * then nothing may be deleted or disabled because of its age. */
tide_status notify_clocks_agree(struct notify_thread *t, bool *agree, struct tide_err *err);
/* Do one piece of work. *more: call again without waiting. On failure the thread reconnects or
 * retries. */
tide_status notify_send_turn(struct notify_thread *t, bool *more, struct tide_err *err);
tide_status notify_watch_turn(struct notify_thread *t, bool *more, struct tide_err *err);
void notify_watch_forget(struct tide_notify *all); /* call after losing the connection */

#endif
